//! RACK's reordering window, in quarters of the shortest round trip.
//!
//! *Looks at* fast retransmissions, when RACK would have declared their data lost without a window, and when
//! the ACK of the data came.
//! *Decides* whether that ACK would have come within another window.
//! *Blind to* senders without SACK; to a narrower window, since what it would have let leave did not leave.
//! *From* RFC 8985, section 6.2, step 4: the window is a multiple of a quarter of the shortest round trip, and
//! at most the smoothed one. Linux widens it after reports of duplicates (`tcp_recovery`).

use super::curve::{Curve, Fate, Knob, values};
use super::{Asked, Resent};
use crate::result::{Cause, Verdict};

const NONE: &str = "the input has no fast retransmission";
const NOT_SHOWN: &str = "the input does not show when later segments were reported, or the sender had no SACK";
const NO_NEEDLESS: &str = "no needless fast retransmission would go within a smoothed round trip";

pub(super) fn curve(ordered: &[&Resent], asked: &Asked) -> Curve {
    let (knob, now) = (Knob::ReorderingWindow, None);
    let fast: Vec<&Resent> = ordered.iter().filter(|one| one.cause == Cause::Fast).copied().collect();
    if fast.is_empty() {
        return Curve::without(knob, now, NONE);
    }
    let windows: Vec<Option<Window>> = fast.iter().map(|one| Window::of(one)).collect();
    if windows.iter().all(Option::is_none) {
        return Curve::without(knob, now, NOT_SHOWN);
    }
    let both = || fast.iter().zip(&windows);
    let least = |(one, window): (&&Resent, &Option<Window>)| {
        let after = one.answered_after_ms().filter(|_| one.verdict == Verdict::Spurious)?;
        window.as_ref()?.least(after)
    };
    let values = values(asked, knob, || both().filter_map(least).collect());
    let fates = |value| both().map(|(one, window)| fate(one, window.as_ref(), value)).collect();
    Curve::over((knob, now), values, NO_NEEDLESS, fates, commands)
}

/// Linux can be told to wait a quarter, and no longer.
fn commands(quarters: f64) -> Vec<String> {
    let it_takes = (quarters <= 1.0).then(|| "sysctl -w net.ipv4.tcp_recovery=5".to_owned());
    it_takes.into_iter().collect()
}

/// When RACK declares data lost, in milliseconds after the retransmission.
struct Window {
    /// Without a window.
    from: f64,
    quarter: f64,
    largest: f64,
}

impl Window {
    fn of(one: &Resent) -> Option<Self> {
        let trigger = one.trigger.as_ref()?;
        let quarter = trigger.rtt_min_ms.filter(|trip| *trip > 0.0)? / 4.0;
        let largest = trigger.smoothed_ms.unwrap_or(4.0 * quarter).max(quarter);
        Some(Self { from: trigger.overtaken_ms?, quarter, largest })
    }

    fn declares(&self, quarters: f64) -> f64 {
        (self.from + (quarters * self.quarter).min(self.largest)).max(0.0)
    }

    /// Returns the fewest quarters with which data are not declared lost before `after`.
    fn least(&self, after: f64) -> Option<u64> {
        let quarters = ((after - self.from) / self.quarter).ceil().max(1.0);
        (quarters * self.quarter <= self.largest && self.declares(quarters) >= after).then_some(quarters as u64)
    }
}

fn fate(one: &Resent, window: Option<&Window>, value: f64) -> Fate {
    let Some(window) = window else { return Fate::Undecidable };
    let leaves = window.declares(value);
    match (one.verdict, one.answered_after_ms()) {
        (Verdict::Spurious, Some(after)) if leaves >= after => Fate::NeedlessGone { repeats: 0 },
        (Verdict::Spurious, Some(_)) => Fate::NeedlessLeft,
        (Verdict::Needed, _) => Fate::Needed(leaves),
        _ => Fate::Undecidable,
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::tests::resent;
    use super::*;
    use crate::result::Trigger;

    /// It left 2 ms after RACK's time without a window. The round trip is 40 ms.
    fn fast(verdict: Verdict, answered_after: f64) -> Resent {
        let trigger =
            Trigger { smoothed_ms: Some(45.0), rtt_min_ms: Some(40.0), overtaken_ms: Some(-2.0), ..Trigger::default() };
        Resent {
            since_first_ms: Some(50.0),
            answered_ms: Some(50.0 + answered_after),
            trigger: Some(trigger),
            ..resent(Cause::Fast, verdict)
        }
    }

    fn of(one: &Resent, value: f64) -> Fate {
        fate(one, Window::of(one).as_ref(), value)
    }

    #[test]
    fn a_needless_repair_goes_with_a_window_that_covers_its_lateness() {
        let one = fast(Verdict::Spurious, 12.0);
        assert_eq!(of(&one, 1.0), Fate::NeedlessLeft);
        assert_eq!(of(&one, 2.0), Fate::NeedlessGone { repeats: 0 });
        assert_eq!(curve(&[&one], &Asked::new()).points[0].value, 2.0);
        // Only a quarter can be set.
        let early = fast(Verdict::Spurious, 7.0);
        assert_eq!(
            (curve(&[&one], &Asked::new()).commands.len(), curve(&[&early], &Asked::new()).commands.len()),
            (0, 1)
        );
        // A window is at most the smoothed round trip: 43 ms after the retransmission.
        let late = fast(Verdict::Spurious, 44.0);
        assert_eq!(of(&late, 100.0), Fate::NeedlessLeft);
        assert_eq!(curve(&[&late], &Asked::new()).reason, Some(NO_NEEDLESS));
    }

    #[test]
    fn a_needed_repair_waits_for_the_end_of_the_window() {
        let one = fast(Verdict::Needed, 60.0);
        assert_eq!(
            (of(&one, 0.0), of(&one, 1.0), of(&one, 9.0)),
            (Fate::Needed(0.0), Fate::Needed(8.0), Fate::Needed(43.0))
        );
    }

    #[test]
    fn without_the_time_of_a_later_report_nothing_is_judged() {
        let one = Resent { trigger: Some(Trigger::default()), ..fast(Verdict::Spurious, 1.0) };
        assert_eq!((of(&one, 1.0), curve(&[&one], &Asked::new()).reason), (Fate::Undecidable, Some(NOT_SHOWN)));
        assert_eq!(curve(&[], &Asked::new()).reason, Some(NONE));
    }
}
