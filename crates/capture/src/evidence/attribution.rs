//! Finds which transmission of a segment an acknowledgement answers.
//!
//! All rules narrow a range of transmissions; none of them guesses:
//!
//! - No transmission is answered sooner than the shortest unambiguous round trip, which is that of
//!   a segment sent once. The path may have been a little faster than the shortest sample, so a
//!   sixteenth is left as margin.
//! - If an ACK fills the gap at the front of the window, it echoes the timestamp of the
//!   transmission that filled the gap (RFC 7323, section 4.3, rule (2)). A duplicate ACK, or an ACK
//!   that reports by SACK, echoes an older segment and shows nothing.
//! - If the peer has reported `d` of `n` transmissions as duplicates, at least `d + 1` have arrived
//!   (RFC 2883).
//!
//! A missing or constant IP identification is no evidence and is ignored.

use super::{Answered, SegmentEvidence};
use crate::order::Transmission;

/// Retransmissions in a row that show a round trip.
const IN_A_ROW: u32 = 3;

/// The transmissions that an ACK may answer, counted from 0: from `first` to `last`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Candidates {
    /// Index of the earliest.
    pub(crate) first: usize,
    /// Index of the latest.
    pub(crate) last: usize,
    /// Whether the echoed timestamp selected them and excludes all others.
    pub(crate) by_echo: bool,
}

/// Returns which of `transmissions`, in the order in which they left, `answer` may answer.
/// `shortest` is the shortest round trip from here to the receiver and back, in nanoseconds.
pub(crate) fn candidates(transmissions: &[Transmission], answer: &Answered, shortest: u64) -> Candidates {
    let soonest = shortest - shortest / 16;
    let in_time = transmissions.iter().filter(|sent| sent.nanos.saturating_add(soonest) <= answer.when.nanos).count();
    // The first transmission can be answered at any time. An ACK that is faster than any known
    // round trip can only answer the first.
    let last = in_time.max(1) - 1;
    let all = Candidates { first: 0, last, by_echo: false };
    let Some(echo) = answer.echo else { return all };
    let stamped = |sent: &Transmission| sent.stamp() == Some(echo);
    // Segments that waited behind others may have made all known round trips too long. So the echo of a
    // timestamp that no earlier transmission had decides, however soon it comes.
    let sent_before = |sent: &Transmission| stamped(sent) && sent.nanos < answer.when.nanos;
    let later = transmissions.iter().position(sent_before).is_some_and(|place| place > last);
    let last = transmissions.iter().rposition(sent_before).filter(|_| later).unwrap_or(last);
    let all = Candidates { last, ..all };
    // If a later transmission carries an equal timestamp, only the time has excluded it.
    let by_echo = !transmissions[last + 1..].iter().any(stamped);
    let first = transmissions[..=last].iter().position(stamped);
    let end = transmissions[..=last].iter().rposition(stamped);
    if let (Some(first), Some(last)) = (first, end) {
        return Candidates { first, last, by_echo };
    }
    // A receiver that delays ACKs echoes the earliest segment that it has not acknowledged. That
    // segment left no later than the filler of the gap. So an echo excludes transmissions with a
    // newer timestamp.
    let older = |sent: &Transmission| sent.stamp().is_some_and(|stamp| echo.precedes(stamp));
    match transmissions[..=last].iter().position(older) {
        Some(0) | None => all,
        Some(ruled_out) => Candidates { first: 0, last: ruled_out - 1, by_echo: true },
    }
}

/// Returns whether the receiver may be nearer than any round trip shows, as when all samples waited in the queue
/// that other connections filled. Retransmissions show it that the sender delayed: each was answered much sooner
/// than it had been delayed. An ACK of an original does not wait for its retransmission.
pub(crate) fn is_nearer<'a>(segments: impl Iterator<Item = &'a SegmentEvidence>, shortest: u64) -> bool {
    let answered = segments.filter_map(|one| {
        let sent = one.transmissions.last().filter(|_| one.transmissions.len() > 1)?;
        one.answer.map(|answer| (sent.nanos, answer.when.nanos)).filter(|(sent, answer)| sent <= answer)
    });
    let mut answered: Vec<_> = answered.collect();
    answered.sort_unstable();
    let (mut last, mut in_a_row) = (None, 0);
    answered.into_iter().any(|(sent, answer)| {
        let delayed = last.replace(answer).map_or(0, |last| sent.saturating_sub(last));
        let took = answer - sent;
        in_a_row = if 4 * took < delayed && 2 * took < shortest { in_a_row + 1 } else { 0 };
        in_a_row == IN_A_ROW
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::When;
    use eifel_base::units::Timestamp;

    const MS: u64 = 1_000_000;

    fn transmissions(times: &[u64], stamps: &[u32]) -> Vec<Transmission> {
        let stamp = |index: usize| stamps.get(index).map(|stamp| Timestamp(*stamp));
        times.iter().enumerate().map(|(index, time)| Transmission::new(0, 1, time * MS, stamp(index))).collect()
    }

    fn answered(times: &[u64], stamps: &[u32], at: u64, echo: Option<u32>) -> (usize, usize, bool) {
        let when = When { nanos: at * MS, frame: 1 };
        let answer = &Answered { when, echo: echo.map(Timestamp), newest: 0, up_to: None };
        let Candidates { first, last, by_echo } = candidates(&transmissions(times, stamps), answer, 100 * MS);
        (first, last, by_echo)
    }

    #[test]
    fn an_ack_sooner_than_the_shortest_round_trip_answers_an_earlier_transmission() {
        assert_eq!(answered(&[0, 500], &[], 593, None), (0, 0, false));
        assert_eq!(answered(&[0, 500], &[], 594, None), (0, 1, false));
        assert_eq!(answered(&[0, 500, 900], &[], 700, None), (0, 1, false));
        // Sooner than any round trip so far: the path became shorter, and only the first can be
        // answered.
        assert_eq!(answered(&[0, 50], &[], 60, None), (0, 0, false));
    }

    #[test]
    fn the_echo_of_the_segment_that_fills_the_gap_names_its_transmission() {
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(7)), (0, 0, true));
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(9)), (1, 1, true));
        assert_eq!(answered(&[0, 500, 501], &[7, 9, 9], 700, Some(9)), (1, 2, true));
        // A delayed ACK echoes the previous segment.
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(6)), (0, 1, false));
        assert_eq!(answered(&[0, 500, 800], &[7, 9, 12], 950, Some(8)), (0, 0, true));
        // Within one tick of the clock both transmissions carry equal timestamps.
        assert_eq!(answered(&[0, 500], &[7, 7], 700, Some(7)), (0, 1, true));
        // Too soon for the second transmission: the time excludes it, not the echo.
        assert_eq!(answered(&[0, 500], &[7, 7], 540, Some(7)), (0, 0, false));
        // The timestamp clock wraps.
        assert_eq!(answered(&[0, 500], &[u32::MAX, 3], 700, Some(u32::MAX)), (0, 0, true));
    }

    #[test]
    fn the_echo_of_a_timestamp_that_no_earlier_transmission_had_decides_however_soon_it_comes() {
        // The handshake waited in a queue, and set a round trip that is much too long.
        assert_eq!(answered(&[0, 500], &[7, 9], 501, Some(9)), (1, 1, true));
        assert_eq!(answered(&[0, 500, 501], &[7, 9, 9], 502, Some(9)), (1, 2, true));
        // No transmission is answered before it leaves.
        assert_eq!(answered(&[0, 500], &[7, 9], 499, Some(9)), (0, 0, false));
    }

    #[test]
    fn quick_answers_to_delayed_retransmissions_show_a_near_receiver() {
        let near = |delay: u64, took: u64| {
            let segments = (0..4).map(|number: u64| {
                let sent = 1_000_000 + number * (delay + took);
                let mut one = SegmentEvidence::new(10 * number + 10, Transmission::new(10 * number, 10, 10, None));
                one.transmissions.push(Transmission::new(10 * number, 10, sent, None));
                one.answer =
                    Some(Answered { when: When { nanos: sent + took, frame: 1 }, echo: None, newest: 0, up_to: None });
                one
            });
            is_nearer(segments.collect::<Vec<_>>().iter(), 100)
        };
        assert!(near(170, 40) && !near(160, 40) && !near(1000, 50) && !near(10, 1000));
    }
}
