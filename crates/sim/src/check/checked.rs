//! One end of a flow, as its checkers see it.

use crate::end::End;
use eifel_packet::seq::Seq;
use eifel_sctp::Association;
use eifel_tcp::Connection;

/// One end of a TCP flow.
#[derive(Clone, Copy)]
pub struct CheckedConnection<'a> {
    pub flow: u32,
    pub end: End,
    pub connection: &'a Connection,
    pub isn: Seq,
    /// Bytes that its application has read.
    pub read: u64,
}

/// One end of a flow over SCTP.
#[derive(Clone, Copy)]
pub struct CheckedAssociation<'a> {
    pub flow: u32,
    pub end: End,
    /// `None` before the end has accepted the association.
    pub association: Option<&'a Association>,
}

/// Returns the index of an end among the ends of all flows.
pub(super) fn place(flow: u32, end: End) -> usize {
    2 * flow as usize + end.index()
}
