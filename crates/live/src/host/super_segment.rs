//! Large segments, for a device that cuts them into segments itself.

use super::table::{Handle, Key};
use super::{Host, OutgoingPacket, header, too_long};
use crate::system::tun::Offload;
use eifel_base::time::Instant;
use eifel_packet::datagram;
use eifel_packet::ip::{Header, Version};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::tcp;
use eifel_tcp::Outgoing;

/// The most payload bytes of a large segment, with room for all options in its headers.
const MOST: u32 = 65_535 - 40 - 60;

/// A segment that was polled and leaves next.
pub(super) type Stashed = (Handle, Segment, Outgoing);

impl Host {
    /// Returns the next packet that leaves, as [`poll_outgoing`](Self::poll_outgoing) does, but
    /// without a finished checksum. Consecutive segments are joined if the device can cut them into
    /// the same segments again.
    pub fn poll_super_segment(&mut self, now: Instant) -> Option<(Offload, OutgoingPacket<'_>)> {
        self.head.clear();
        if let Some((addresses, segment)) = self.replies.pop_front() {
            let header = header(addresses, &mut self.identification);
            let how = unfinished(&header, &segment, 0, &mut self.head);
            return Some((how, OutgoingPacket { head: &self.head, payload: [&[]; 2] }));
        }
        let Joined { key, handle, start, unit, count } = self.next_large(now)?;
        let payload = self.table.payload(handle, start, self.segment.payload_len);
        let header = header(key.caller.addresses.reversed(), &mut self.identification);
        // The device gives each segment that it cuts its own identification.
        self.identification = self.identification.wrapping_add(count - 1);
        let how = unfinished(&header, &self.segment, if count > 1 { unit } else { 0 }, &mut self.head);
        Some((how, OutgoingPacket { head: &self.head, payload }))
    }

    /// Joins the next segments of a connection in `self.segment`. The first segment that does not
    /// fit is kept for the next call.
    fn next_large(&mut self, now: Instant) -> Option<Joined> {
        let (key, handle, start) = self.next_segment(now)?;
        let (_, connection, tally) = self.table.entry(handle)?;
        let whole = &mut self.segment;
        let unit = whole.payload_len;
        let mut count = 1;
        while unit > 0 && goes_on(whole) && whole.payload_len + unit <= MOST {
            let mut next = Segment::EMPTY;
            let Some(sent) = connection.poll_transmit(now, &mut next) else { break };
            if !follows(whole, &next, unit) {
                self.stashed = Some((handle, next, sent));
                break;
            }
            tally.count(&sent);
            if let Some(witness) = &mut self.witness {
                witness.leaves(now, handle, connection, (&next, &sent));
            }
            whole.payload_len += next.payload_len;
            whole.flags = next.flags;
            count += 1;
            if next.payload_len < unit {
                break;
            }
        }
        Some(Joined { key, handle, start, unit, count })
    }
}

/// Segments of a connection that leave as one.
struct Joined {
    key: Key,
    handle: Handle,
    /// The offset of their payload.
    start: u64,
    /// Payload bytes of each.
    unit: u32,
    count: u16,
}

/// Returns whether segments may follow in the same large segment: only its last may have PSH or
/// FIN.
fn goes_on(segment: &Segment) -> bool {
    segment.flags.0 & !Flags::ACK.0 == 0
}

/// Returns whether `next` may be joined to `whole`: a device that cuts after every `unit` bytes
/// would cut off `next` again.
fn follows(whole: &Segment, next: &Segment, unit: u32) -> bool {
    next.seq.0 == whole.seq.0.wrapping_add(whole.payload_len)
        && (1..=unit).contains(&next.payload_len)
        && next.flags.0 & !(Flags::ACK.0 | Flags::PSH.0 | Flags::FIN.0) == 0
        && (next.ack, next.window, next.options) == (whole.ack, whole.window, whole.options)
}

fn unfinished(header: &Header, segment: &Segment, unit: u32, head: &mut Vec<u8>) -> Offload {
    datagram::emit_head_unsummed(header, segment, head).unwrap_or_else(too_long);
    let version = header.addresses.version();
    let headers_len = version.header_len() + tcp::header_len(&segment.options);
    Offload {
        ip_len: version.header_len() as u16,
        headers_len: headers_len as u16,
        unit: unit as u16,
        is_v6: version == Version::V6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::segment::{Options, Timestamps};
    use eifel_packet::seq::Seq;

    /// A segment of 3000 bytes that is made of three, and the next one.
    #[test]
    fn a_segment_joins_a_super_segment_that_the_device_cuts_the_same_way() {
        let timestamps = Some(Timestamps { value: 7, echo: 8 });
        let options = Options { timestamps, ..Options::default() };
        let all = Segment {
            seq: Seq(u32::MAX - 999),
            ack: Seq(5),
            flags: Flags::ACK,
            window: 100,
            options,
            ..Segment::EMPTY
        };
        let whole = Segment { payload_len: 3000, ..all };
        let next = Segment { seq: Seq(2000), payload_len: 1000, ..all };
        let later = Options { timestamps: Some(Timestamps { value: 8, echo: 8 }), ..options };
        let cases = [
            (next, true),
            (Segment { payload_len: 1, ..next }, true),
            (Segment { flags: Flags::ACK.with(Flags::PSH), ..next }, true),
            (Segment { flags: Flags::ACK.with(Flags::FIN).with(Flags::PSH), ..next }, true),
            (Segment { payload_len: 0, ..next }, false),
            (Segment { payload_len: 1001, ..next }, false),
            (Segment { seq: Seq(1999), ..next }, false),
            (Segment { seq: Seq(2001), ..next }, false),
            (Segment { flags: Flags::ACK.with(Flags::RST), ..next }, false),
            (Segment { flags: Flags::ACK.with(Flags::ECE), ..next }, false),
            (Segment { ack: Seq(6), ..next }, false),
            (Segment { window: 99, ..next }, false),
            (Segment { options: later, ..next }, false),
        ];
        for (next, expected) in cases {
            assert_eq!(follows(&whole, &next, 1000), expected, "{next:?}");
        }
        for (flags, expected) in [
            (Flags::ACK, true),
            (Flags::ACK.with(Flags::PSH), false),
            (Flags::ACK.with(Flags::FIN), false),
            (Flags::ACK.with(Flags::CWR), false),
        ] {
            assert_eq!(goes_on(&Segment { flags, ..whole }), expected, "{flags:?}");
        }
    }
}
