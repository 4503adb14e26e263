//! The seams' algorithms against plain transcriptions of what they come from: RFCs and papers, line by line, with no
//! thought of speed. Random operations, and both equal after every one.

mod after_spurious;
mod clock;
mod congest;
mod detect;
mod dice;
mod echo;
mod grant;
mod pace;
mod recover;
mod registry;
mod repair;
mod respond;
mod rto;
mod sampling;
mod sender;
