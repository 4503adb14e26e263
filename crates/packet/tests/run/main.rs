//! Packets as bytes and values: written, read back, damaged, and compared with other readers and writers.

mod common;
mod etherparse;
mod hostile;
mod sctp;
mod tshark;
mod tshark_sctp;
mod vectors;
