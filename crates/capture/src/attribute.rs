//! Which sending of a segment an acknowledgement answers.
//!
//! The rules, all of which narrow a range of sendings and none of which guesses:
//!
//! - No sending is answered sooner than the smallest unambiguous round trip: that of a segment that was sent once. The path may
//!   have been a little faster than any of those shows, so a sixteenth is left as margin.
//! - Where an ACK fills the gap at the front of the window, the timestamp that it echoes is that of the sending which filled
//!   it (RFC 7323, section 4.3, rule (2)). An ACK that reports by SACK, or repeats, echoes an older segment: it says nothing.
//! - Of `n` sendings of which the peer has reported `d` as duplicates, at least `d + 1` have arrived (RFC 2883).
//!
//! A missing or constant IP identification is evidence of nothing, and is not looked at.

use eifel_base::units::Timestamp;

/// One sending, as it passed the place of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sending {
    /// Nanoseconds since 1970.
    pub nanos: u64,
    /// TSval that it carries.
    pub stamp: Option<Timestamp>,
}

/// An acknowledgement that covers a segment for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Nanoseconds since 1970.
    pub nanos: u64,
    /// The timestamp that it echoes, if it fills the gap at the front of the window with this segment.
    pub echo: Option<Timestamp>,
}

/// The sendings that an ACK can be an answer to: from `first` to `last`, counted from 0, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidates {
    /// The earliest.
    pub first: usize,
    /// The latest.
    pub last: usize,
    /// Whether the echoed timestamp chose them, and rules all others out.
    pub by_echo: bool,
}

/// Narrows down which of `sendings`, in the order in which they left, `answer` answers. `shortest` is the smallest round trip
/// from here to the receiver and back, in nanoseconds.
///
/// Where an echo and the time contradict each other, as with a peer that rewrites timestamps, the time counts.
pub fn candidates(sendings: &[Sending], answer: Answer, shortest: u64) -> Candidates {
    let soonest = shortest - shortest / 16;
    let in_time = sendings.iter().filter(|sending| sending.nanos.saturating_add(soonest) <= answer.nanos).count();
    // Of several, the first may answer at any time; what is quicker than any known round trip can be its answer alone.
    let last = in_time.max(1) - 1;
    let all = Candidates { first: 0, last, by_echo: false };
    let Some(echo) = answer.echo else { return all };
    let stamped = |sending: &Sending| sending.stamp == Some(echo);
    // Round trips of segments that waited behind others may all have been too long: an echo is worth more, unless it comes much
    // sooner.
    let far = |sending: &Sending| sending.nanos.saturating_add(shortest / 2) >= answer.nanos;
    let last =
        sendings.iter().rposition(|sending| stamped(sending) && !far(sending)).map_or(last, |place| place.max(last));
    let all = Candidates { last, ..all };
    // Where a later sending carries the same timestamp, the time alone has ruled it out.
    let by_echo = !sendings[last + 1..].iter().any(stamped);
    let first = sendings[..=last].iter().position(stamped);
    let end = sendings[..=last].iter().rposition(stamped);
    if let (Some(first), Some(last)) = (first, end) {
        return Candidates { first, last, by_echo };
    }
    // The receiver delays ACKs: it echoes the earliest segment that it has not acknowledged, which left no later than the
    // one that filled the gap. So an echo that is older than a sending rules that sending out.
    let older = |sending: &Sending| sending.stamp.is_some_and(|stamp| echo.precedes(stamp));
    match sendings[..=last].iter().position(older) {
        Some(0) | None => all,
        Some(ruled_out) => Candidates { first: 0, last: ruled_out - 1, by_echo: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn sendings(times: &[u64], stamps: &[u32]) -> Vec<Sending> {
        let stamp = |index: usize| stamps.get(index).map(|stamp| Timestamp(*stamp));
        times.iter().enumerate().map(|(index, time)| Sending { nanos: time * MS, stamp: stamp(index) }).collect()
    }

    fn answered(times: &[u64], stamps: &[u32], at: u64, echo: Option<u32>) -> (usize, usize, bool) {
        let answer = Answer { nanos: at * MS, echo: echo.map(Timestamp) };
        let Candidates { first, last, by_echo } = candidates(&sendings(times, stamps), answer, 100 * MS);
        (first, last, by_echo)
    }

    #[test]
    fn nothing_is_answered_sooner_than_the_smallest_round_trip() {
        assert_eq!(answered(&[0, 500], &[], 593, None), (0, 0, false));
        assert_eq!(answered(&[0, 500], &[], 594, None), (0, 1, false));
        assert_eq!(answered(&[0, 500, 900], &[], 700, None), (0, 1, false));
        // Sooner than any round trip so far: the path has become shorter, and only the first can have been answered.
        assert_eq!(answered(&[0, 50], &[], 60, None), (0, 0, false));
    }

    #[test]
    fn the_echo_of_the_segment_that_fills_the_gap_names_its_sending() {
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(7)), (0, 0, true));
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(9)), (1, 1, true));
        assert_eq!(answered(&[0, 500, 501], &[7, 9, 9], 700, Some(9)), (1, 2, true));
        // A delayed ACK echoes the segment before.
        assert_eq!(answered(&[0, 500], &[7, 9], 700, Some(6)), (0, 1, false));
        assert_eq!(answered(&[0, 500, 800], &[7, 9, 12], 950, Some(8)), (0, 0, true));
        // In one tick of the clock both carry the same.
        assert_eq!(answered(&[0, 500], &[7, 7], 700, Some(7)), (0, 1, true));
        // Sooner than the second can be answered: the time says so, and not the echo.
        assert_eq!(answered(&[0, 500], &[7, 7], 540, Some(7)), (0, 0, false));
        // The clock wraps.
        assert_eq!(answered(&[0, 500], &[u32::MAX, 3], 700, Some(u32::MAX)), (0, 0, true));
    }

    #[test]
    fn an_echo_of_what_cannot_have_arrived_yet_is_not_believed() {
        assert_eq!(answered(&[0, 500], &[7, 9], 550, Some(9)), (0, 0, false));
    }
}
