//! Paths from captures, and what other senders would have done over them.

mod golden;
mod kinds;
mod known;
mod receivers;
mod traces;
