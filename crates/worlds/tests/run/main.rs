//! Small worlds: exact totals, other ways of counting, and lies.

mod association;
mod golden;
mod lying;
mod worlds;
