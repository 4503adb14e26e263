//! Tail-loss probes (`net.ipv4.tcp_early_retrans`).
//!
//! *Looks at* probes that repeated data, how long their timer had run, and when the ACK of the data came.
//! *Decides* what the retransmission timer would have done without probes.
//! *Blind to* probes of new data, which repeat nothing; to a sender that had none.
//! *From* RFC 8985, section 7, and RFC 6298, section 2, in Linux's form.

use super::curve::{Curve, Fate, Knob};
use super::{Resent, Settings};
use crate::result::{Cause, Verdict};
use std::collections::BTreeSet;

/// The value of `net.ipv4.tcp_early_retrans` with probes, and without.
const ON: f64 = 3.0;
const OFF: u64 = 0;
const NONE: &str = "the input has no tail-loss probe that repeats data";
const NOT_SHOWN: &str = "the input does not show round trips, so the timer that a probe came before is not known";
const NO_NEEDLESS: &str = "no probe is shown to be needless, so probes are worth it";

pub(super) fn curve(ordered: &[&Resent], settings: &Settings) -> Curve {
    let (knob, now) = (Knob::TailLossProbes, Some(ON));
    let probes: Vec<&Resent> = ordered.iter().filter(|one| one.cause == Cause::Tlp).copied().collect();
    if probes.is_empty() {
        return Curve::without(knob, now, NONE);
    }
    if probes.iter().all(|one| expires(one, settings).is_none()) {
        return Curve::without(knob, now, NOT_SHOWN);
    }
    let is_needless = probes.iter().any(|one| one.verdict == Verdict::Spurious);
    let values: BTreeSet<u64> = is_needless.then_some(OFF).into_iter().collect();
    let fates = |_| probes.iter().map(|one| fate(one, settings)).collect();
    Curve::over((knob, now), values, NO_NEEDLESS, fates, |value| {
        vec![format!("sysctl -w net.ipv4.tcp_early_retrans={value}")]
    })
}

/// Returns when the retransmission timer would have expired, in milliseconds after the probe.
fn expires(one: &Resent, settings: &Settings) -> Option<f64> {
    let trigger = one.trigger.as_ref()?;
    let timeout = trigger.smoothed_ms? + trigger.variation_ms?.max(settings.rto_min_ms);
    Some((timeout - trigger.timer_ms?).max(0.0))
}

fn fate(one: &Resent, settings: &Settings) -> Fate {
    match (one.verdict, expires(one, settings), one.answer_after_ms()) {
        (Verdict::Spurious, Some(expires), Some((_, latest))) if latest < expires => Fate::NeedlessGone { repeats: 0 },
        // A needless timeout would take the probe's place.
        (Verdict::Spurious, Some(expires), Some((soonest, _))) if soonest >= expires => Fate::NeedlessLeft,
        (Verdict::Needed, Some(expires), _) => Fate::Needed(expires),
        _ => Fate::Undecidable,
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::tests::resent;
    use super::*;
    use crate::result::Trigger;

    /// The probe left after 100 ms; the timer would have run 250 ms.
    fn probe(verdict: Verdict, answered_after: f64) -> Resent {
        let trigger =
            Trigger { timer_ms: Some(100.0), smoothed_ms: Some(50.0), variation_ms: Some(20.0), ..Trigger::default() };
        Resent {
            since_first_ms: Some(100.0),
            answered_ms: Some(100.0 + answered_after),
            trigger: Some(trigger),
            ..resent(Cause::Tlp, verdict)
        }
    }

    #[test]
    fn without_probes_the_timer_decides() {
        let of = |one: &Resent| fate(one, &Settings::default());
        assert_eq!(of(&probe(Verdict::Spurious, 149.0)), Fate::NeedlessGone { repeats: 0 });
        assert_eq!(of(&probe(Verdict::Spurious, 150.0)), Fate::NeedlessLeft);
        assert_eq!(of(&probe(Verdict::Needed, 300.0)), Fate::Needed(150.0));
        let all = [probe(Verdict::Spurious, 10.0), probe(Verdict::Needed, 300.0)];
        let curve = curve(&[&all[0], &all[1]], &Settings::default());
        assert_eq!((curve.points[0].value, curve.points[0].later_ms), (0.0, 150.0));
    }

    #[test]
    fn the_row_says_why_probes_are_not_judged() {
        let settings = Settings::default();
        assert_eq!(curve(&[], &settings).reason, Some(NONE));
        let unknown = Resent { trigger: None, ..probe(Verdict::Spurious, 1.0) };
        assert_eq!(curve(&[&unknown], &settings).reason, Some(NOT_SHOWN));
        assert_eq!(curve(&[&probe(Verdict::Needed, 1.0)], &settings).reason, Some(NO_NEEDLESS));
    }
}
