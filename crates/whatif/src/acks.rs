//! How the receiver acknowledges, and how many ACKs the return path loses.
//!
//! *Looks at* how many segments each ACK is the first to report, at how long a single segment waits
//! for its ACK, and at the numbers that the receiver gives its packets (the identification of IPv4).
//! *Decides* after how many segments the receiver acknowledges, how long it delays an ACK, and how many ACKs are missing.
//! *Blind to* ACKs that are missing after a hold: there the segments come at once, and a receiver
//! sends one ACK for many.
//! *From* RFC 5681, section 4.2: an ACK for at least every second segment, and at once for a
//! segment that leaves or closes a gap.

use crate::answers::{Answers, PacketOutcome};
use crate::fifo::{Fitted, LEAST_HOLD_S};
use crate::trace::Trace;
use serde::Serialize;

/// Delays of an ACK in seconds: first that of most stacks, then those that Linux, Windows and the
/// BSDs may use.
pub const USUAL_DELAYS_S: [f64; 4] = [0.2, 0.04, 0.1, 0.05];

/// Fewer missing ACKs than this do not count as lost.
const FEW: u32 = 5;

/// An ACK that reports pieces for the first time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// When the sender received the ACK, in seconds.
    pub at: f64,
    pub pieces: u32,
    /// Whether the ACK reports the pieces by SACK.
    pub gap: bool,
    /// How many of the receiver's packets are missing before it; `None` if it does not number them.
    pub missing: Option<u32>,
}

/// How the receiver acknowledges, and how many ACKs the return path loses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Acks {
    pub every: u32,
    pub delay_ms: f64,
    /// Whether ACKs show how long the receiver delays them.
    pub delay_seen: bool,
    /// ACKs that the sender received, except those right after a hold.
    pub heard: u32,
    /// ACKs that are missing between them.
    pub lost: u32,
}

/// Determines how the receiver of a trace acknowledges.
pub(crate) fn acks(trace: &Trace, answers: &Answers, fitted: &Fitted) -> Acks {
    // How long a single segment waits for its ACK if the receiver waits for another segment. If
    // another segment triggers the ACK, the wait is shorter.
    let mut waits = Vec::new();
    for index in 0..trace.transmissions.len() {
        let alone = answers.causes[index].filter(|answer| !answer.at_once && answer.count < answers.every);
        if let Some(answer) = alone.filter(|_| answers.outcomes[index] == PacketOutcome::Arrived) {
            waits.push(answer.at - fitted.server.base - fitted.departed[index]);
        }
    }
    let steady: Vec<Report> = answers.reports.iter().copied().filter(|one| !after_a_hold(one, fitted)).collect();
    let delay = usual_delay(&waits);
    Acks {
        every: answers.every,
        delay_ms: delay.unwrap_or(USUAL_DELAYS_S[0]) * 1e3,
        delay_seen: delay.is_some(),
        heard: steady.len() as u32,
        lost: lost(&steady, answers.every),
    }
}

/// Returns the first usual delay that more than a fifth of the waits are near to.
fn usual_delay(waits: &[f64]) -> Option<f64> {
    let near = |usual: f64| waits.iter().filter(|wait| (*wait / usual - 1.0).abs() < 0.1).count();
    USUAL_DELAYS_S.into_iter().find(|usual| near(*usual) * 5 > waits.len())
}

/// Returns how many segments an ACK in order usually covers: 1 or 2.
pub(crate) fn usual(reports: &[Report]) -> u32 {
    let in_order: Vec<u32> = reports.iter().filter(|one| !one.gap).map(|one| one.pieces).collect();
    let singles = in_order.iter().filter(|count| **count == 1).count();
    if in_order.is_empty() || singles * 5 >= in_order.len() * 3 { 1 } else { 2 }
}

/// Returns whether an ACK answers segments that came at once after a hold of the path.
fn after_a_hold(report: &Report, fitted: &Fitted) -> bool {
    let burst = (2.0 * LEAST_HOLD_S).max(fitted.server.base / 4.0);
    fitted.holds.iter().any(|hold| (report.at - hold.end_s - fitted.server.base).abs() < burst)
}

/// Returns how many ACKs were lost, judging by the number of pieces that the received ACKs report.
fn lost(reports: &[Report], every: u32) -> u32 {
    let own = if chooses(reports) { 2 } else { every };
    let each = |one: &Report| if one.gap { 1 } else { own };
    // An ACK for many segments may also come from a receiver that joins segments before it answers,
    // as network cards and Linux do. Then no number is missing. If more are missing than segments
    // were acknowledged, the host numbers all its packets, not those of a connection.
    let before = |one: &Report| match one.missing {
        Some(missing) if missing > one.pieces => 0,
        Some(missing) => missing.min(one.pieces - 1),
        None => one.pieces.div_ceil(each(one)) - 1,
    };
    let lost = reports.iter().map(before).sum();
    // An ACK that waited for one more segment looks similar, so a few missing ACKs do not count.
    let few = lost < FEW || lost * 100 < reports.len() as u32;
    if few { 0 } else { lost }
}

/// Returns whether the receiver sometimes acknowledges each segment and sometimes every second, as
/// Linux does.
///
/// If single ACKs are lost at random, two losses cause an ACK for three segments as often as two
/// successive ACKs for two segments. A receiver that changes its policy causes only the latter.
fn chooses(reports: &[Report]) -> bool {
    let more = reports.iter().filter(|one| one.pieces > 2 && !one.gap).count();
    let two = |one: &Report| one.pieces == 2 && !one.gap;
    let in_turn = reports.windows(2).filter(|pair| pair.iter().all(two)).count();
    in_turn > 3 * more + FEW as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(gap: bool, pieces: &[u32]) -> Vec<Report> {
        pieces.iter().map(|pieces| Report { at: 0.0, pieces: *pieces, gap, missing: None }).collect()
    }

    fn in_order(pieces: &[u32]) -> Vec<Report> {
        reports(false, pieces)
    }

    #[test]
    fn a_delay_is_usual_if_more_than_a_fifth_of_the_waits_are_near_to_it() {
        assert_eq!(usual_delay(&[]), None);
        assert_eq!([0.2, 0.04, 0.1, 0.05].map(|wait| usual_delay(&[wait])), USUAL_DELAYS_S.map(Some));
        // Two of ten are a fifth, three are more.
        let waits = |near: usize| [vec![0.1; near], vec![0.01; 10 - near]].concat();
        assert_eq!([2, 3].map(|near| usual_delay(&waits(near))), [None, Some(0.1)]);
        // A tenth off is too far.
        assert_eq!([0.179, 0.181, 0.219, 0.221].map(|wait| usual_delay(&[wait]).is_some()), [false, true, true, false]);
        // If two delays are frequent enough, the one that more stacks use.
        assert_eq!(usual_delay(&[0.05, 0.04]), Some(0.04));
        assert_eq!(usual_delay(&[0.04, 0.2]), Some(0.2));
    }

    #[test]
    fn a_receiver_that_changes_its_policy_has_lost_no_ack() {
        // Sixteen segments are acknowledged each, then every second, then each again.
        let counts = in_order(&[[1; 16], [2; 16], [1; 16]].concat());
        assert_eq!(usual(&counts), 1);
        assert_eq!(lost(&counts, 1), 0);
        // Some of the receiver's ACKs are lost.
        let lossy = in_order(&[&[1; 32][..], &[2; 20], &[4, 4, 3, 6], &[1; 16]].concat());
        assert_eq!(lost(&lossy, 1), 5);
    }

    #[test]
    fn occasional_acks_of_two_segments_are_lost_acks() {
        let counts = in_order(&[1, 1, 2, 1, 1, 1, 2, 2, 1, 3, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1]);
        assert_eq!(lost(&counts, usual(&counts)), 7);
    }

    #[test]
    fn numbers_of_packets_tell_lost_acks_from_joined_segments() {
        let numbered = |missing: &dyn Fn(usize) -> u32| {
            let each = in_order(&[12; 20]).into_iter().enumerate();
            each.map(|(at, one)| Report { missing: Some(missing(at)), ..one }).collect::<Vec<_>>()
        };
        assert_eq!(lost(&numbered(&|_| 0), 1), 0);
        assert_eq!(lost(&numbered(&|at| u32::from(at > 9) * 5), 1), 50);
        // The host sent a hundred packets to others between two ACKs.
        assert_eq!(lost(&numbered(&|_| 100), 2), 0);
    }

    #[test]
    fn many_successive_acks_of_two_segments_are_a_policy_of_the_receiver() {
        // Seven successive ACKs are six pairs, one more than count as chance.
        for (in_turn, lost) in [(6, 6), (7, 0)] {
            let counts = in_order(&[&[1; 16][..], &vec![2; in_turn], &[1; 16]].concat());
            assert_eq!(super::lost(&counts, 1), lost, "{in_turn}");
        }
        // With an ACK for three segments, three more pairs count as chance.
        for (in_turn, lost) in [(9, 11), (10, 0)] {
            let counts = in_order(&[&[1; 16][..], &vec![2; in_turn], &[3], &[1; 16]].concat());
            assert_eq!(super::lost(&counts, 1), lost, "{in_turn}");
        }
        // An ACK that reports a gap is sent at once under any policy.
        let gaps = [in_order(&[1; 16]), reports(true, &[2; 9])].concat();
        assert_eq!(lost(&gaps, 1), 9);
    }
}
