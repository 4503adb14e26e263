//! A connection in conversations, against itself, and against hostile segments.

mod acknowledging;
mod both_ends;
mod closing;
mod embedding;
mod handshake;
mod hostile;
mod lengths;
mod listener;
mod marks;
mod resets;
mod short_segments;
mod shortcuts;
mod talk;
mod timestamps;
mod windows;
