//! The fast path for packets that change little. In most captures nearly all packets are of this
//! kind; header prediction in TCP implementations relies on that too.
//!
//! A packet on this path has no SYN, FIN, RST or SACK blocks, differs from the packets just before
//! it, and acknowledges data of an idle direction. Its effects are the same as on the full path,
//! [`Connection::on_packet`].

use super::connection::Connection;
use crate::frame::decode::common::Common;
use crate::order::{CapturePoint, fingerprint_of};
use crate::result::When;
use crate::stream::{Data, SpareRings, stamp_and_echo};

impl Connection {
    /// Handles a packet that comes from end `side`. Returns `false` if the packet needs the full
    /// path; then nothing has changed.
    #[inline(always)]
    pub(crate) fn on_common<const STAMPED: bool>(
        &mut self,
        common: &Common<'_, STAMPED>,
        (side, spare): (usize, Option<&mut SpareRings>),
        when: When,
    ) -> bool {
        // With constants, the compiler knows where every field is, and removes the code for payload
        // from packets without payload.
        match (side, common.payload_len) {
            (0, 0) => self.fast::<STAMPED, 0, true>(common, when, spare),
            (0, _) => self.fast::<STAMPED, 0, false>(common, when, spare),
            (_, 0) => self.fast::<STAMPED, 1, true>(common, when, spare),
            _ => self.fast::<STAMPED, 1, false>(common, when, spare),
        }
    }

    #[inline(always)]
    fn fast<const STAMPED: bool, const SIDE: usize, const BARE: bool>(
        &mut self,
        common: &Common<'_, STAMPED>,
        when: When,
        mut spare: Option<&mut SpareRings>,
    ) -> bool {
        let (shift, stamps) = (self.shift(SIDE), common.stamps());
        // Computed only if the other direction exists and uses it.
        let window = || (u32::from(common.window()) << shift, common.window());
        let ([one, other], [forth, back]) = (&mut self.sides, &mut self.directions);
        let (from, to, sent, acked) = if SIDE == 0 { (one, other, forth, back) } else { (other, one, back, forth) };
        let identification = common.identification();
        let fingerprint = (!from.duplicates.is_unrecognisable(identification)).then(|| fingerprint_of(common));
        if fingerprint.is_some_and(|fingerprint| from.duplicates.may_be_duplicate(fingerprint)) {
            return false;
        }
        let quiet = match acked {
            None => None,
            Some(direction) if !BARE && direction.ignores(common.ack(), window()) => None,
            Some(direction) => match direction.quiet(common.ack(), BARE, window()) {
                Some(quiet) => Some((direction, quiet)),
                None => return false,
            },
        };
        let number = fingerprint.map_or(0, |fingerprint| from.duplicates.note(fingerprint, identification, when));
        self.last = when.nanos;
        self.packets += 1;
        let sack = self.sacks;
        if let Some(stamps) = stamps {
            to.round_trip.on_packet_to(stamps.value, when);
            if let Some(took) = from.round_trip.on_packet_from(stamps.echo, when)
                && let Some(direction) = sent
            {
                direction.stream.order.sample(took);
            }
        }
        if let Some((direction, quiet)) = quiet {
            direction.on_numbered_ack(from.duplicates.skips(identification), when);
            let point =
                CapturePoint { when, to_receiver: from.round_trip.stored(), to_sender: to.round_trip.stored(), sack };
            if let Some(took) = direction.on_quiet(quiet, stamps, &point) {
                from.round_trip.sample(took);
            }
            if let Some(spare) = &mut spare {
                direction.stream.out.give_memory(spare);
            }
        }
        if !BARE {
            let point =
                CapturePoint { when, to_receiver: to.round_trip.stored(), to_sender: from.round_trip.stored(), sack };
            let direction = match sent {
                Some(direction) => direction,
                None => sent.insert(Box::default()),
            };
            if let Some(spare) = spare {
                direction.stream.out.take_memory(spare);
            }
            let (stamp, echo) = stamp_and_echo(stamps);
            let left = direction.stream.order.departure(stamp, &point);
            let (seq, len, numbered) = (common.seq(), common.payload_len, from.duplicates.counts());
            let data = Data {
                seq,
                len,
                payload: len,
                syn: false,
                answers: false,
                stamp,
                identification,
                number,
                numbered,
                follows: from.duplicates.follows(identification),
                left,
                echo,
            };
            direction.on_data(&data, &point);
        }
        true
    }
}
