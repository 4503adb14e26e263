//! Measures how well the time of a retransmission fits a cause.
//!
//! Away from the sender, a path may have held a retransmission and the ACKs before it. So the time
//! at which it left is a range, and so is the time at which its timer was set. A time that fits
//! only if the path held the packet costs [`HELD`].

use super::Retransmitted;
use crate::order::AT_ONCE;

/// The cost of a retransmission that a path must have held.
pub(super) const HELD: f64 = 1.0;
/// The factor of an early expiry's cost, and its limit: a stack may have other settings.
const EARLY: f64 = 6.0;
const IMPOSSIBLE: f64 = 4.0;
/// The assumed round trip before one is known, in nanoseconds.
const ROUND_TRIP: u64 = 400_000_000;

/// Returns the natural logarithm in steps of 2^-24. Libraries differ in the last bits, and which of two
/// equal readings wins must not depend on the machine.
pub(super) fn ln(ratio: f64) -> f64 {
    const STEPS: f64 = 16_777_216.0;
    (ratio.ln() * STEPS).round() / STEPS
}

/// Returns the distance of a time from the expected one, in powers of e.
pub(super) fn misfit(took: u64, expected: u64) -> f64 {
    ln(took.max(1) as f64 / expected.max(1) as f64).abs()
}

/// Returns the distance of a retransmission from the expiry of a timer of `expected` nanoseconds
/// that was set between `set.0` and `set.1`.
pub(super) fn misfit_of_timer(resent: &Retransmitted, set: (u64, u64), expected: u64) -> f64 {
    let passes = misfit_by(resent, resent.now.saturating_sub(set.1), expected);
    let held = departure(resent, set, expected);
    let closest = expected.clamp(held.saturating_sub(set.1), held.saturating_sub(set.0));
    passes.min(HELD + misfit_by(resent, closest, expected))
}

/// Returns the distance of a time from the expected one. A timer never expires early, so next to the
/// sender, where times are known, an early expiry costs much more than a late one.
fn misfit_by(resent: &Retransmitted, took: u64, expected: u64) -> f64 {
    let distance = misfit(took, expected);
    if took < expected && !resent.may_be_unseen { (distance * EARLY).min(IMPOSSIBLE) } else { distance }
}

/// Returns when a retransmission left, within its limits, if a timer caused it. The timer takes
/// `expected` nanoseconds and was set between `set.0` and `set.1`.
pub(super) fn departure(resent: &Retransmitted, set: (u64, u64), expected: u64) -> u64 {
    let earliest = resent.earliest.min(resent.now);
    let [soonest, latest] = [set.0, set.1].map(|set| set.saturating_add(expected));
    if latest <= resent.now { latest.max(earliest) } else { soonest.clamp(earliest, resent.now) }
}

/// Returns the distance of a retransmission from an immediate reaction to the last ACK.
pub(super) fn clocked(resent: &Retransmitted) -> f64 {
    let at_once = at_once(resent);
    let late = |left: u64| {
        let gap = left.saturating_sub(resent.last_ack).saturating_sub(at_once);
        (gap as f64 / (smoothed(resent) / 4).max(AT_ONCE) as f64).ln_1p()
    };
    // A sender whose echo is new answers the ACK with that timestamp. Then a queue explains the
    // delay.
    let held = if resent.echo_is_new == Some(true) { 0.0 } else { HELD };
    late(resent.now).min(held + late(resent.earliest))
}

/// Returns whether a retransmission left within the time in which a sender answers an ACK that came
/// at `since`.
pub(super) fn is_at_once(resent: &Retransmitted, since: u64) -> bool {
    resent.now.saturating_sub(since) <= at_once(resent)
}

/// Returns the time within which an answer to an ACK passes here, in nanoseconds. Far from the
/// sender, the arrival of the ACK is known only to within a round trip.
fn at_once(resent: &Retransmitted) -> u64 {
    if resent.may_be_unseen { smoothed(resent).max(AT_ONCE) } else { AT_ONCE }
}

fn smoothed(resent: &Retransmitted) -> u64 {
    resent.estimate.map_or(ROUND_TRIP, |(smoothed, _)| smoothed)
}

#[cfg(test)]
mod tests {
    use super::super::hypotheses::tests::resent;
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_timeout_in_time_costs_nothing_and_a_held_one_little() {
        let passes = resent();
        let set = (800 * MS, 800 * MS);
        assert!(misfit_of_timer(&passes, set, 200 * MS) < 1e-7);
        assert!((misfit_of_timer(&passes, set, 100 * MS) - 2_f64.ln()).abs() < 1e-7);
        // It may have left up to 150 ms before it passed.
        let held = Retransmitted { earliest: 850 * MS, ..passes };
        assert_eq!(departure(&held, set, 100 * MS), 900 * MS);
        assert!((misfit_of_timer(&held, set, 20 * MS) - (HELD + 2.5_f64.ln())).abs() < 1e-7);
        // A timer that may have been set shortly before is taken to have expired as early as
        // possible.
        assert_eq!(departure(&held, (790 * MS, 990 * MS), 100 * MS), 890 * MS);
        assert!((misfit_of_timer(&held, (790 * MS, 990 * MS), 100 * MS) - HELD).abs() < 1e-7);
    }

    #[test]
    fn a_repair_soon_after_its_ack_costs_nothing_and_a_held_one_little() {
        let near = Retransmitted { may_be_unseen: false, last_ack: 996 * MS, ..resent() };
        assert!(clocked(&near) < 1e-7);
        let late = Retransmitted { last_ack: 946 * MS, ..near };
        assert!((clocked(&late) - 2_f64.ln()).abs() < 1e-7);
        let held = Retransmitted { last_ack: 500 * MS, earliest: 500 * MS, ..near };
        assert!((clocked(&held) - HELD).abs() < 1e-7);
        assert!(clocked(&Retransmitted { echo_is_new: Some(true), ..held }) < 1e-7);
    }
}
