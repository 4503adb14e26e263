//! Searches for counterexamples, the program, and the counterexamples that were found.

mod claims;
mod command;
mod counterexamples;
mod golden;
