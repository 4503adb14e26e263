//! Scenarios drawn from seeds, their judge, and the command.

mod bounds;
mod closed_pipe;
mod command;
mod generator;
mod golden;
mod hostile;
mod judge;
