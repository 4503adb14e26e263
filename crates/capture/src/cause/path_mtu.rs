//! Retransmissions of segments that were longer than the path's MTU (RFC 1191, RFC 8201).
//!
//! A router reports such a segment to the sender by an ICMP message. The sender repeats all
//! segments that are too long in shorter ones, without waiting for its timer. Routers may limit the
//! rate of their messages, so a message is taken to speak of all longer segments sent before it.

use std::collections::BTreeMap;

use crate::frame::decode::TooBig;
use crate::order::Transmission;
use crate::result::When;
use crate::stream::{Data, Stream};
use eifel_base::ranges::Block;
use eifel_packet::seq::unwrap;

/// Bytes of a TCP header without options, and of the timestamps option with its padding.
const TCP_HEADER: u32 = 20;
const TIMESTAMPS: u32 = 12;
/// Nanoseconds after which the retransmission timer may be the cause, beyond a smoothed round trip:
/// the smallest difference between the two that known stacks have.
const SOON: u64 = 200_000_000;
/// Reported segments remembered per direction.
const MOST_REPORTED: usize = 1 << 12;

/// The reports of one direction.
#[derive(Debug, Default)]
pub(crate) struct PathMtu {
    /// Data below this position were sent before the last message. 0 if a retransmission can no
    /// longer be due to it.
    below: u64,
    /// The longest payload of a segment that passes, in bytes.
    most: u32,
    /// The end of the last segment that was too long and of which a part was repeated.
    rest: u64,
    /// When the last message, or the last retransmission due to it, passed, in nanoseconds.
    last: u64,
    /// The reported segments by start position: the end, and the frame of the message.
    reported: BTreeMap<u64, (u64, u64)>,
}

/// Returns the outstanding segment that a router's report is about, and the longest payload that
/// passes. A report about data that are not outstanding is ignored, as senders do (RFC 5927).
pub(crate) fn reported(stream: &Stream, message: &TooBig) -> Option<(Transmission, u32)> {
    let position = unwrap(stream.nxt, stream.initial?, message.seq);
    let (ip_header_len, _) = message.lengths;
    let headers = ip_header_len + TCP_HEADER + if stream.is_stamped() { TIMESTAMPS } else { 0 };
    let most = message.mtu.saturating_sub(headers);
    let sent = *stream.out.overlapping(Block { start: position, end: position.saturating_add(1) }).next()?;
    is_longer(&sent, most).then_some((sent, most))
}

/// Returns whether a segment is known to carry more than `most` bytes.
fn is_longer(sent: &Transmission, most: u32) -> bool {
    !sent.missing && sent.len > most
}

impl PathMtu {
    /// Handles a router's report about `sent`, when everything below `nxt` was sent.
    pub(crate) fn on_message(&mut self, sent: &Transmission, most: u32, (una, nxt): (u64, u64), when: When) {
        self.reported = self.reported.split_off(&una);
        // Of a segment that was sent again, the message may be about either transmission.
        if sent.copies == 1 && self.reported.len() < MOST_REPORTED {
            self.reported.insert(sent.start, (sent.end(), when.frame));
        }
        (self.below, self.most, self.last) = (nxt, most, when.nanos);
    }

    /// Returns the frame of the message that reports the segment at `start` as dropped.
    pub(crate) fn report(&self, start: u64) -> Option<u64> {
        let (_, &(end, frame)) = self.reported.range(..=start).next_back()?;
        (start < end).then_some(frame)
    }

    /// Returns whether a retransmission of `block` is due to a message. `is_missed` says whether
    /// ACKs have reported a loss.
    pub(crate) fn explains(
        &mut self,
        block: Block,
        data: &Data,
        stream: &Stream,
        (is_missed, trip): (bool, Option<u64>),
    ) -> bool {
        if block.start >= self.below {
            return false;
        }
        let smoothed = stream.round_trip_estimate(trip).map_or(0, |(smoothed, _)| smoothed);
        // A capture at the sender may show several segments as one. Then its length tells nothing.
        // But a repair of the usual length that follows reports is an answer to those.
        if data.left.saturating_sub(self.last) > SOON + smoothed || is_missed && data.payload > self.most {
            self.below = 0;
            return false;
        }
        let longer = stream.out.overlapping(block).filter(|sent| sent.copies == 1 && is_longer(sent, self.most));
        match longer.last() {
            Some(sent) => self.rest = self.rest.max(sent.end()),
            None if block.start < self.rest => {}
            None => return false,
        }
        self.last = data.left;
        true
    }
}
