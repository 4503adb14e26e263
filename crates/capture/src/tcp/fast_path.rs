//! The fast path for packets that change little. In most captures nearly all packets are of this
//! kind; header prediction in TCP implementations relies on that too.
//!
//! A packet on this path has no SYN, FIN, RST or SACK blocks, differs from the packets just before
//! it, and acknowledges data of a calm direction. Its effects are the same as on the full path,
//! [`Connection::on_packet`].

use super::When;
use super::connection::Connection;
use super::half::{Data, Setting};
use super::sent::Spare;
use super::twin::fingerprint_of;
use crate::decode::common::Common;
use eifel_base::units::Timestamp;

impl Connection {
    /// Handles a packet that comes from end `side`. Returns `false` if the packet needs the full
    /// path; then nothing has changed.
    #[inline(always)]
    pub(crate) fn on_common<const STAMPED: bool>(
        &mut self,
        common: &Common<'_, STAMPED>,
        (side, spare): (usize, Option<&mut Spare>),
        when: When,
    ) -> bool {
        // With constants, the compiler knows where every field is, and removes the code for payload
        // from packets without payload.
        match (side, common.payload_len) {
            (0, 0) => self.straight::<STAMPED, 0, true>(common, when, spare),
            (0, _) => self.straight::<STAMPED, 0, false>(common, when, spare),
            (_, 0) => self.straight::<STAMPED, 1, true>(common, when, spare),
            _ => self.straight::<STAMPED, 1, false>(common, when, spare),
        }
    }

    #[inline(always)]
    fn straight<const STAMPED: bool, const SIDE: usize, const BARE: bool>(
        &mut self,
        common: &Common<'_, STAMPED>,
        when: When,
        mut spare: Option<&mut Spare>,
    ) -> bool {
        let (shift, stamps) = (self.shift(SIDE), common.stamps());
        // Computed only if the other direction exists and uses it.
        let window = || (u32::from(common.window()) << shift, common.window());
        let ([one, other], [half, back]) = (&mut self.sides, &mut self.halves);
        let (from, to, sent, heard) = if SIDE == 0 { (one, other, half, back) } else { (other, one, back, half) };
        let identification = common.identification();
        let print = (!from.twins.are_none(identification)).then(|| fingerprint_of(common));
        if print.is_some_and(|print| from.twins.may_know(print)) {
            return false;
        }
        let quiet = match heard {
            None => None,
            Some(half) if !BARE && half.has_heard(common.ack(), window()) => None,
            Some(half) => match half.quiet(common.ack(), BARE, window()) {
                Some(quiet) => Some((half, quiet)),
                None => return false,
            },
        };
        if let Some(print) = print {
            from.twins.note(print, identification, when);
        }
        self.last = when.nanos;
        self.packets += 1;
        let sack = self.sacks;
        if let Some(stamps) = stamps {
            to.trip.passes(stamps.value, when);
            if let Some(took) = from.trip.returns(stamps.echo, when)
                && let Some(half) = sent
            {
                half.sample_of_sender(took);
            }
        }
        if let Some((half, quiet)) = quiet {
            let setting = Setting { when, to_receiver: from.trip.kept(), to_sender: to.trip.kept(), sack };
            if let Some(took) = half.on_quiet(quiet, stamps, &setting) {
                from.trip.sample(took);
            }
            if let Some(spare) = &mut spare {
                half.out.leave(spare);
            }
        }
        if !BARE {
            let setting = Setting { when, to_receiver: to.trip.kept(), to_sender: from.trip.kept(), sack };
            let half = match sent {
                Some(half) => half,
                None => sent.insert(Box::default()),
            };
            let stamp = stamps.map(|stamps| Timestamp(stamps.value));
            if let Some(spare) = spare {
                half.out.settle_in(spare);
            }
            let left = half.left(stamp, &setting);
            let (len, echo) = (common.payload_len, stamps.map(|stamps| Timestamp(stamps.echo)));
            half.on_data(&Data { seq: common.seq(), len, payload: len, syn: false, stamp, left, echo }, &setting);
        }
        true
    }
}
