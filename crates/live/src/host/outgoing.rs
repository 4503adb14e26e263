//! The packets to send, one by one.

use super::table::{Handle, Key};
use super::{Host, header, too_long};
use eifel_base::time::Instant;
use eifel_packet::datagram;

/// A packet that leaves. Its payload stays in the connection's buffer.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingPacket<'a> {
    /// The headers.
    pub head: &'a [u8],
    /// The payload; the second piece follows the first.
    pub payload: [&'a [u8]; 2],
}

impl<'a> OutgoingPacket<'a> {
    /// Returns the packet's length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "no packet is empty")]
    pub fn len(&self) -> usize {
        self.pieces().iter().map(|piece| piece.len()).sum()
    }

    /// Returns its pieces in order.
    pub fn pieces(&self) -> [&'a [u8]; 3] {
        [self.head, self.payload[0], self.payload[1]]
    }

    /// Appends it to `packet`, in one piece.
    pub fn append_to(&self, packet: &mut Vec<u8>) {
        self.pieces().into_iter().for_each(|piece| packet.extend_from_slice(piece));
    }
}

impl Host {
    /// Writes the next packet that leaves into `packet`, replacing its content. Returns `false` if
    /// there is none. It is [`poll_outgoing`](Self::poll_outgoing) for callers that need the packet
    /// in one piece.
    pub fn poll_packet(&mut self, now: Instant, packet: &mut Vec<u8>) -> bool {
        packet.clear();
        let Some(leaving) = self.poll_outgoing(now) else { return false };
        leaving.append_to(packet);
        true
    }

    /// Returns the next packet that leaves. Call it after every input until there is none, unless
    /// the host [may wait](Self::may_wait). If the application reads before this call, the
    /// acknowledgement announces the freed window.
    pub fn poll_outgoing(&mut self, now: Instant) -> Option<OutgoingPacket<'_>> {
        self.head.clear();
        if let Some((addresses, segment)) = self.replies.pop_front() {
            let header = header(addresses, &mut self.identification);
            datagram::emit_head(&header, &segment, [&[]; 2], &mut self.head).unwrap_or_else(too_long);
            return Some(OutgoingPacket { head: &self.head, payload: [&[]; 2] });
        }
        let (key, handle, start) = self.next_segment(now)?;
        let payload = self.table.payload(handle, start, self.segment.payload_len);
        let header = header(key.caller.addresses.reversed(), &mut self.identification);
        datagram::emit_head(&header, &self.segment, payload, &mut self.head).unwrap_or_else(too_long);
        Some(OutgoingPacket { head: &self.head, payload })
    }

    /// Puts the next segment of a connection into `self.segment`. Returns the connection, and the
    /// offset of the segment's payload.
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<(Key, Handle, u64)> {
        while let Some(&handle) = self.ready.front() {
            let Some((key, connection, tally)) = self.table.entry(handle) else {
                self.ready.pop_front();
                continue;
            };
            let outgoing = match self.stashed.take().filter(|(of, ..)| *of == handle) {
                Some((_, segment, outgoing)) => {
                    self.segment = segment;
                    Some(outgoing)
                }
                None => connection.poll_transmit(now, &mut self.segment),
            };
            let Some(outgoing) = outgoing else {
                self.ready.pop_front();
                self.settle(now, handle);
                continue;
            };
            tally.count(&outgoing);
            if let Some(witness) = &mut self.witness {
                witness.leaves(now, handle, connection, (&self.segment, &outgoing));
            }
            return Some((key, handle, outgoing.start));
        }
        None
    }
}
