//! Virtual time: the queue of future events.

pub mod queue;
