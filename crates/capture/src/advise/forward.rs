//! F-RTO (`net.ipv4.tcp_frto`).
//!
//! *Looks at* the judgement of the registry's detectors `linux`, `f-rto` and `f-rto-sack` over the ACKs after each
//! timeout, and at what go-back-N repeated.
//! *Decides* which timeouts F-RTO calls spurious: those whose first ACK shows it. A sender without F-RTO repeats the
//! next segments where F-RTO sends new data, so what later ACKs would have shown is open, and undecidable. Not
//! open is it where F-RTO gives up: the timeout had sent several segments as one, of which the first ACK covers a
//! part only, or no new data waited.
//! *Blind to* whether new data waited to be sent: it is taken from whether new data left until the timeout; to what
//! timestamps tell first.
//! *From* RFC 5682, section 3.1, in Linux's form (`tcp_process_loss`).

use super::curve::{Curve, Fate, Knob};
use super::{ByFRto, Resent};
use crate::result::{Cause, Verdict};
use std::collections::BTreeSet;

/// The value of `net.ipv4.tcp_frto` that switches it on.
const ON: u64 = 2;
const NONE: &str = "the input has no timeout";
const NOT_SHOWN: &str = "the input does not show the ACKs after its timeouts";
const NO_NEEDLESS: &str = "no timeout is shown to be needless";

pub(super) fn curve(ordered: &[&Resent]) -> Curve {
    let knob = Knob::FRto;
    let timeouts = timeouts(ordered);
    if timeouts.is_empty() {
        return Curve::without(knob, None, NONE);
    }
    if timeouts.iter().all(|(one, _)| one.by_f_rto.is_none()) {
        return Curve::without(knob, None, NOT_SHOWN);
    }
    let is_needless = timeouts.iter().any(|(one, _)| one.verdict == Verdict::Spurious);
    let values: BTreeSet<u64> = is_needless.then_some(ON).into_iter().collect();
    let fates = |_| timeouts.iter().map(|(one, repeats)| fate(one, *repeats)).collect();
    Curve::over((knob, None), values, NO_NEEDLESS, fates, |value| vec![format!("sysctl -w net.ipv4.tcp_frto={value}")])
}

/// Returns the first timeout of each silence, with the needless segments of go-back-N that followed.
fn timeouts<'a>(ordered: &[&'a Resent]) -> Vec<(&'a Resent, usize)> {
    let mut timeouts: Vec<(&Resent, usize)> = Vec::new();
    for one in ordered {
        match (timeouts.last_mut().filter(|(last, _)| last.sender == one.sender), one.cause) {
            (Some((last, _)), Cause::Rto) if last.number == one.number => {}
            (_, Cause::Rto) => timeouts.push((one, 0)),
            (Some((_, repeats)), Cause::Loss) => *repeats += usize::from(one.verdict == Verdict::Spurious),
            _ => {}
        }
    }
    timeouts
}

/// Returns what F-RTO would do. A detected timeout counts as gone: its consequences are.
fn fate(one: &Resent, repeats: usize) -> Fate {
    // A sender that went on sending new data had nothing to wait, and nothing for F-RTO to send.
    let could_ask = one.trigger.as_ref().is_some_and(|trigger| {
        trigger.segments <= 1 && trigger.timer_ms.is_some_and(|ran| trigger.quiet_ms > ran / 4.0)
    });
    match (one.verdict, one.by_f_rto) {
        (Verdict::Undecidable, _) | (_, None) => Fate::Undecidable,
        (Verdict::Needed, Some(ByFRto::Detected)) => Fate::Mistaken,
        // F-RTO holds nothing back: it sends new data before the next retransmission.
        (Verdict::Needed, _) => Fate::Needed(0.0),
        (Verdict::Spurious, Some(ByFRto::Detected)) => Fate::NeedlessGone { repeats },
        // Linux may repeat a segment before the second ACK comes, and then that ACK shows nothing.
        (Verdict::Spurious, Some(ByFRto::Open)) if repeats > 0 && could_ask => Fate::Undecidable,
        (Verdict::Spurious, Some(ByFRto::Open)) if one.trigger.is_none() => Fate::Undecidable,
        (Verdict::Spurious, _) => Fate::NeedlessLeft,
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::tests::resent;
    use super::*;
    use crate::result::Trigger;

    #[test]
    fn a_detected_timeout_takes_its_needless_repeats_along() {
        let timeout = |verdict, by_f_rto| Resent { by_f_rto, ..resent(Cause::Rto, verdict) };
        let detected = timeout(Verdict::Spurious, Some(ByFRto::Detected));
        let again = Resent { left_ms: 1.0, ..detected.clone() };
        let repeat = Resent { left_ms: 2.0, number: 4, ..resent(Cause::Loss, Verdict::Spurious) };
        let mistaken = Resent { sender: 2, ..timeout(Verdict::Needed, Some(ByFRto::Detected)) };
        let other = Resent { sender: 1, ..timeout(Verdict::Spurious, Some(ByFRto::Missed)) };
        let curve = curve(&[&detected, &again, &repeat, &repeat, &other, &mistaken]);
        let point = curve.points[0];
        assert_eq!((point.value, point.needless_gone, point.needless_left, point.repeats_gone), (2.0, 1, 1, 2));
        assert_eq!(point.mistaken, 1);
        assert_eq!(curve.commands, ["sysctl -w net.ipv4.tcp_frto=2"]);
    }

    #[test]
    fn needless_repeats_leave_open_what_new_data_would_have_shown() {
        let timeout = |segments| Resent {
            by_f_rto: Some(ByFRto::Open),
            trigger: Some(Trigger { segments, timer_ms: Some(250.0), quiet_ms: 240.0, ..Trigger::default() }),
            ..resent(Cause::Rto, Verdict::Spurious)
        };
        assert_eq!(fate(&timeout(1), 3), Fate::Undecidable);
        assert_eq!((fate(&timeout(1), 0), fate(&timeout(2), 3)), (Fate::NeedlessLeft, Fate::NeedlessLeft));
        assert_eq!(fate(&Resent { trigger: None, ..timeout(1) }, 3), Fate::Undecidable);
        let trigger = Trigger { quiet_ms: 10.0, ..timeout(1).trigger.unwrap() };
        assert_eq!(fate(&Resent { trigger: Some(trigger), ..timeout(1) }, 3), Fate::NeedlessLeft);
    }

    #[test]
    fn the_row_says_why_f_rto_is_not_judged() {
        let timeout = |by_f_rto| Resent { by_f_rto, ..resent(Cause::Rto, Verdict::Spurious) };
        assert_eq!(curve(&[]).reason, Some(NONE));
        assert_eq!(curve(&[&timeout(None)]).reason, Some(NOT_SHOWN));
        let needed = Resent { verdict: Verdict::Needed, ..timeout(Some(ByFRto::Missed)) };
        assert_eq!(curve(&[&needed]).reason, Some(NO_NEEDLESS));
    }
}
