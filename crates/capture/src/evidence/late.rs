//! Finds originals that pass behind their retransmission or behind later data.

use super::Evidence;
use crate::order::{CapturePoint, Original, Transmission, is_late_original};
use crate::stream::Stream;
use eifel_base::units::Timestamp;

/// The least timeout, in nanoseconds. Without SACK, a repair is repeated only after one.
const LEAST_TIMEOUT: u64 = 20_000_000;

impl Evidence {
    /// Returns whether `passing` is the first transmission of a segment that passed only as a
    /// retransmission so far. Marks the segment if so. No sender repeats a repair within `within`, nor if it
    /// `has_heard` of a repair that passed at the one time and was answered at the other.
    pub(crate) fn accept_late(
        &mut self,
        passing: &Transmission,
        frame: u64,
        within: u64,
        has_heard: impl FnOnce(u64, u64) -> bool,
    ) -> bool {
        let unseen = self.segments.get_mut(&passing.start).filter(|one| one.original == Original::Unseen);
        let Some((one, again)) = unseen.and_then(|one| one.transmissions.get(1).copied().map(|again| (one, again)))
        else {
            return false;
        };
        let is_over = one.answer.is_some_and(|answer| has_heard(again.nanos, answer.when.nanos));
        let within = if is_over { u64::MAX } else { within };
        let late = is_late_original(passing, &again, within) && !one.is_sent_after(passing);
        if late {
            let shown = passing.departure(&again).is_some();
            one.original = if shown { Original::Late { frame } } else { Original::LateOrCopied };
        }
        late
    }

    /// Does the same as [`accept_late`](Self::accept_late), with what is known of the round trip.
    pub(crate) fn accept_late_original(
        &mut self,
        passing: &Transmission,
        stream: &Stream,
        point: &CapturePoint,
    ) -> bool {
        // Nothing prompts a sender to repeat a repair before its timer expires.
        let reaction = stream.reaction(false, point);
        let timeout = if point.sack || reaction.timer.is_none() { 0 } else { LEAST_TIMEOUT };
        // A sender that has received the ACK repeats nothing. What left before passes a round trip later, and the path
        // may have held it.
        let smoothed = stream.order.round_trip().map(|(smoothed, variation)| smoothed + 4 * variation);
        let acked = smoothed.or_else(|| point.sender_rtt().map(|shortest| 2 * shortest));
        let acked = acked
            .filter(|_| !point.is_next_to_sender())
            .filter(|acked| !stream.order.is_after_silence(passing.nanos, *acked));
        // Before that, only the timer repeats a repair that was answered, and it expires in a pause.
        let has_heard = |again: u64, answered: u64| {
            acked.is_some_and(|acked| passing.nanos > answered + acked)
                || stream.order.is_without_pause(again, passing.nanos)
        };
        let within = reaction.takes_at_least.max(timeout);
        self.accept_late(passing, point.when.frame, within, has_heard)
    }

    /// Returns whether `passing` is the first transmission of outstanding segment `index`, which
    /// was passed over, or passed only as a retransmission so far. Marks the segment if so. It echoes
    /// `echo`.
    pub(crate) fn accept_original(
        &mut self,
        stream: &mut Stream,
        index: usize,
        (passing, echo): (&Transmission, Option<Timestamp>),
        point: &CapturePoint,
    ) -> bool {
        let Some(sent) = stream.out.get(index).copied() else { return false };
        let reaction = self.reaction(stream, (sent.start, echo), point);
        if self.accept_late_original(&Transmission { start: sent.start, ..*passing }, stream, point) {
            return true;
        }
        if !sent.missing || self.segments.contains_key(&sent.start) {
            return false;
        }
        let next = stream.out.iter().skip(index + 1).find(|next| !next.missing).copied();
        let late =
            stream.may_be_older(sent.start) || stream.order.is_reordered(passing, &sent, next.as_ref(), &reaction);
        if let Some(sent) = stream.out.get_mut(index) {
            let Transmission { start, len, copies, .. } = *sent;
            if late {
                *sent = Transmission { start, len, copies, ..*passing };
            } else if let Some(Transmission { stamp, stamped, number, .. }) = next {
                // It left before the data behind it.
                *sent = Transmission { stamp, stamped, number, ..*sent };
            }
        }
        late
    }
}
