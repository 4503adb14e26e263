//! Virtual time: the queue of what happens next.

pub mod queue;
