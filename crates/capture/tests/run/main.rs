//! The analysis of captures: recorded, drawn, damaged and changed ones.

mod advice;
mod associations;
mod bombs;
mod chunks;
mod coarse;
mod embedding;
mod facts;
mod faults;
mod files;
mod golden;
mod hostile;
mod losses;
mod metamorphic;
mod places;
mod printed;
mod qlogs;
mod strangers;
mod vantages;
