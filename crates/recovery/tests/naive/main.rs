//! Compares the seams' algorithms with plain transcriptions of their RFCs and papers, line by line,
//! without regard to speed. After each random operation both must be equal.

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
