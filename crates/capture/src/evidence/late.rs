//! Finds originals that pass behind their retransmission or behind later data.

use super::Evidence;
use crate::order::{CapturePoint, Original, Transmission, is_late_original};
use crate::stream::Stream;
use eifel_base::units::Timestamp;

/// The least timeout, in nanoseconds. Without SACK, a repair is repeated only after one.
const LEAST_TIMEOUT: u64 = 20_000_000;

impl Evidence {
    /// Returns whether `passing`, which ends at `end`, is the first transmission of data that passed only as a
    /// retransmission so far, or a part of it. Marks the segments of the data if so. No sender repeats a
    /// repair within `within`, nor if it `has_heard` of a repair that passed at the one time and was
    /// answered at the other.
    pub(crate) fn accept_late(
        &mut self,
        (passing, end): (&Transmission, u64),
        frame: u64,
        within: u64,
        has_heard: impl FnOnce(u64, u64) -> bool,
    ) -> bool {
        let below = self.segments.range(..=passing.start).next_back().filter(|(_, one)| one.end > passing.start);
        // A network card may have divided the original. If its begin was late, so is the rest.
        let open = below.filter(|(start, one)| match one.original {
            Original::Seen => false,
            Original::Unseen => **start == passing.start,
            Original::Late { .. } | Original::LateOrCopied => **start < passing.start,
        });
        let Some((one, again)) = open.and_then(|(_, one)| one.transmissions.get(1).map(|again| (one, again))) else {
            return false;
        };
        let is_over = one.answer.is_some_and(|answer| has_heard(again.nanos, answer.when.nanos));
        let within = if is_over { u64::MAX } else { within };
        let late = is_late_original(passing, again, within) && !one.is_sent_after(passing);
        if late {
            // The data may have been sent again in several segments.
            let all = self.segments.range_mut(passing.start..end);
            for (_, one) in all.filter(|(_, one)| one.original == Original::Unseen) {
                let shown = one.transmissions.get(1).is_some_and(|again| passing.departure(again).is_some());
                one.original = if shown { Original::Late { frame } } else { Original::LateOrCopied };
            }
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
        self.accept_late((passing, passing.end()), point.when.frame, within, has_heard)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::SegmentEvidence;

    fn sent(start: u64, len: u32, stamp: u32) -> Transmission {
        Transmission::new(start, len, u64::from(stamp), Some(Timestamp(stamp)))
    }

    /// Returns evidence about segments of these lengths, each of which passed as a retransmission alone.
    fn repaired(lengths: &[u32]) -> Evidence {
        let (mut evidence, mut start) = (Evidence::default(), 0);
        for &len in lengths {
            let mut one = SegmentEvidence::new(start + u64::from(len), Transmission::missing(start, len, 0));
            one.transmissions.push(sent(start, len, 50));
            evidence.segments.insert(start, Box::new(one));
            start += u64::from(len);
        }
        evidence
    }

    fn are_late(evidence: &Evidence) -> Vec<bool> {
        evidence.segments.values().map(|one| one.original == Original::Late { frame: 9 }).collect()
    }

    fn accepts(evidence: &mut Evidence, passing: &Transmission) -> bool {
        evidence.accept_late((passing, passing.end()), 9, 0, |_, _| false)
    }

    #[test]
    fn a_late_original_is_that_of_all_segments_that_repeat_its_data() {
        let mut evidence = repaired(&[10, 20, 30]);
        assert!(!accepts(&mut evidence, &sent(0, 30, 60)), "it left after the retransmissions");
        assert!(accepts(&mut evidence, &sent(0, 30, 40)));
        assert_eq!(are_late(&evidence), [true, true, false]);
    }

    #[test]
    fn parts_of_a_late_original_are_no_retransmissions() {
        let mut evidence = repaired(&[30]);
        assert!(!accepts(&mut evidence, &sent(10, 20, 40)), "its begin has not passed");
        assert!(accepts(&mut evidence, &sent(0, 10, 40)) && accepts(&mut evidence, &sent(10, 20, 40)));
        assert!(!accepts(&mut evidence, &sent(10, 20, 60)) && !accepts(&mut evidence, &sent(30, 10, 40)));
        assert_eq!(are_late(&evidence), [true]);
    }
}
