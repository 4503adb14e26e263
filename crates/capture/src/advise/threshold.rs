//! The duplicate threshold (`net.ipv4.tcp_reordering`), and of QUIC the packet threshold.
//!
//! *Looks at* fast retransmissions, when segments that left later were reported, and when the ACK of the data
//! came.
//! *Decides* whether that ACK would have come before as many reports as another threshold asks for. With RACK,
//! a quarter of the shortest round trip declares the data lost in any case.
//! *Blind to* senders without SACK; to a smaller threshold, since what it would have let leave did not leave.
//! *From* RFC 6675, section 4 (IsLost), RFC 8985, section 6.2, RFC 9002, section 6.1.1.

use super::curve::{Curve, Fate, Knob, values};
use super::{Asked, Resent, Settings};
use crate::result::{Cause, Trigger, Verdict};

/// The threshold of all stacks, until the path reorders.
const NOW: f64 = 3.0;
/// The largest threshold without another sysctl (`net.ipv4.tcp_max_reordering`).
const LARGEST: f64 = 300.0;
const NONE: &str = "the input has no fast retransmission";
const NOT_SHOWN: &str = "the input does not show which later segments were reported, or the sender had no SACK";
const NO_NEEDLESS: &str = "no needless fast retransmission would go: it is not shown, or RACK would have sent it";

pub(super) fn curve(ordered: &[&Resent], settings: &Settings, asked: &Asked) -> Curve {
    let (knob, now) = (Knob::DuplicateThreshold, Some(NOW));
    let fast: Vec<&Resent> = ordered.iter().filter(|one| one.cause == Cause::Fast).copied().collect();
    if fast.is_empty() {
        return Curve::without(knob, now, NONE);
    }
    if fast.iter().all(|one| reports(one).is_none()) {
        return Curve::without(knob, now, NOT_SHOWN);
    }
    let least = |one: &&Resent| {
        let after = one.answered_after_ms().filter(|_| one.verdict == Verdict::Spurious)?;
        let (_, reports) = reports(one).filter(|(_, reports)| by_threshold(reports))?;
        let value = reports.iter().filter(|at| **at < after).count() as u64 + 1;
        (fate(one, value as f64, settings) == Fate::NeedlessGone { repeats: 0 }).then_some(value)
    };
    let values = values(asked, knob, || fast.iter().filter_map(least).collect());
    let fates = |value| fates(&fast, value, settings);
    let is_quic = fast.iter().all(|one| one.is_quic);
    Curve::over((knob, now), values, NO_NEEDLESS, fates, |value| {
        let most = (value > LARGEST).then(|| format!("sysctl -w net.ipv4.tcp_max_reordering={value}"));
        let set = (!is_quic).then(|| format!("sysctl -w net.ipv4.tcp_reordering={value}"));
        set.into_iter().chain(most.filter(|_| !is_quic)).collect()
    })
}

/// Returns whether enough reports had come that the threshold let the retransmission leave.
fn by_threshold(reports: &[f64]) -> bool {
    reports.iter().filter(|at| **at <= 0.0).count() as f64 >= NOW
}

/// Returns what a value does to each. One that left without enough reports belongs to the fast recovery that
/// the one before it began, and goes or waits with that.
fn fates(fast: &[&Resent], value: f64, settings: &Settings) -> Vec<Fate> {
    let mut fates: Vec<Fate> = Vec::new();
    for (index, one) in fast.iter().enumerate() {
        let begins = reports(one).is_none_or(|(_, reports)| by_threshold(reports));
        let before =
            index.checked_sub(1).filter(|before| fast[*before].sender == one.sender).map(|before| fates[before]);
        fates.push(match (begins, one.verdict, before) {
            (true, ..) => fate(one, value, settings),
            (false, Verdict::Spurious, Some(Fate::NeedlessGone { .. })) => Fate::NeedlessGone { repeats: 0 },
            (false, Verdict::Spurious, _) => Fate::NeedlessLeft,
            (false, Verdict::Needed, Some(Fate::Needed(later))) => Fate::Needed(later),
            (false, Verdict::Needed, Some(Fate::NeedlessGone { .. } | Fate::Undecidable)) => Fate::Undecidable,
            (false, Verdict::Needed, _) => Fate::Needed(0.0),
            (false, Verdict::Undecidable, _) => Fate::Undecidable,
        });
    }
    fates
}

fn reports(one: &Resent) -> Option<(&Trigger, &[f64])> {
    let trigger = one.trigger.as_ref()?;
    trigger.reports_ms.as_deref().map(|reports| (trigger, reports))
}

/// Returns when RACK would have declared the data lost, in milliseconds after the retransmission; never
/// without it.
fn by_rack(trigger: &Trigger, settings: &Settings) -> f64 {
    let quarter = trigger.rtt_min_ms.map(|trip| trip / 4.0);
    let declared = trigger.overtaken_ms.zip(quarter).map(|(overtaken, quarter)| (overtaken + quarter).max(0.0));
    declared.filter(|_| settings.rack).unwrap_or(f64::INFINITY)
}

fn fate(one: &Resent, value: f64, settings: &Settings) -> Fate {
    let Some((trigger, reports)) = reports(one) else { return Fate::Undecidable };
    let reported = reports.get((value as usize).saturating_sub(1)).copied();
    let rack = by_rack(trigger, settings);
    let leaves = reported.unwrap_or(f64::INFINITY).min(rack).max(0.0);
    match (one.verdict, one.answered_after_ms()) {
        (Verdict::Spurious, Some(after)) if leaves >= after => Fate::NeedlessGone { repeats: 0 },
        (Verdict::Spurious, Some(_)) => Fate::NeedlessLeft,
        // Fewer reports are shown than it would wait for: more might have come, or a timer.
        (Verdict::Needed, _) if leaves.is_finite() => Fate::Needed(leaves),
        _ => Fate::Undecidable,
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::tests::resent;
    use super::*;

    const WITHOUT_RACK: Settings = Settings { rto_min_ms: 200.0, rack: false };

    /// Three reports let it leave, two more follow, and the ACK comes after 12 ms.
    fn fast(verdict: Verdict) -> Resent {
        let trigger = Trigger {
            rtt_min_ms: Some(40.0),
            overtaken_ms: Some(-2.0),
            reports_ms: Some(vec![-2.0, -1.0, 0.0, 5.0, 9.0]),
            ..Trigger::default()
        };
        Resent {
            since_first_ms: Some(50.0),
            answered_ms: Some(62.0),
            trigger: Some(trigger),
            ..resent(Cause::Fast, verdict)
        }
    }

    #[test]
    fn a_needless_repair_goes_with_more_reports_than_came_before_its_ack() {
        let one = fast(Verdict::Spurious);
        assert_eq!(fate(&one, 5.0, &WITHOUT_RACK), Fate::NeedlessLeft);
        assert_eq!(fate(&one, 6.0, &WITHOUT_RACK), Fate::NeedlessGone { repeats: 0 });
        let curve = curve(&[&one], &WITHOUT_RACK, &Asked::new());
        assert_eq!((curve.points[0].value, curve.points.len()), (6.0, 1));
        assert_eq!(curve.commands, ["sysctl -w net.ipv4.tcp_reordering=6"]);
    }

    #[test]
    fn rack_sends_it_a_quarter_of_the_round_trip_after_it_was_overtaken() {
        // 8 ms after the retransmission.
        let one = fast(Verdict::Spurious);
        assert_eq!(fate(&one, 6.0, &Settings::default()), Fate::NeedlessLeft);
        assert_eq!(curve(&[&one], &Settings::default(), &Asked::new()).reason, Some(NO_NEEDLESS));
        let early = Resent { answered_ms: Some(57.0), ..one };
        assert_eq!(fate(&early, 6.0, &Settings::default()), Fate::NeedlessGone { repeats: 0 });
        assert_eq!(fate(&fast(Verdict::Needed), 5.0, &Settings::default()), Fate::Needed(8.0));
    }

    #[test]
    fn a_needed_repair_waits_for_the_report_that_reaches_the_threshold() {
        let one = fast(Verdict::Needed);
        assert_eq!(fate(&one, 3.0, &WITHOUT_RACK), Fate::Needed(0.0));
        assert_eq!(fate(&one, 4.0, &WITHOUT_RACK), Fate::Needed(5.0));
        assert_eq!(fate(&one, 6.0, &WITHOUT_RACK), Fate::Undecidable);
    }

    #[test]
    fn what_left_without_enough_reports_shares_the_fate_of_the_one_before() {
        let first = fast(Verdict::Spurious);
        let trigger = Trigger { reports_ms: Some(vec![-1.0, 3.0]), ..first.trigger.clone().unwrap() };
        let follows = |verdict| Resent { left_ms: 1.0, trigger: Some(trigger.clone()), ..fast(verdict) };
        let of = |all: &[&Resent], value| fates(all, value, &WITHOUT_RACK);
        let (spurious, needed) = (follows(Verdict::Spurious), follows(Verdict::Needed));
        assert_eq!(of(&[&first, &spurious], 6.0)[1], Fate::NeedlessGone { repeats: 0 });
        assert_eq!(of(&[&first, &spurious], 5.0)[1], Fate::NeedlessLeft);
        assert_eq!(of(&[&fast(Verdict::Needed), &needed], 4.0)[1], Fate::Needed(5.0));
        assert_eq!(of(&[&first, &needed], 6.0)[1], Fate::Undecidable);
        assert_eq!(of(&[&first, &Resent { sender: 4, ..spurious }], 6.0)[1], Fate::NeedlessLeft);
    }

    #[test]
    fn without_reports_nothing_is_judged() {
        let one = Resent { trigger: None, ..fast(Verdict::Spurious) };
        assert_eq!(curve(&[&one], &WITHOUT_RACK, &Asked::new()).reason, Some(NOT_SHOWN));
        assert_eq!(curve(&[], &WITHOUT_RACK, &Asked::new()).reason, Some(NONE));
        assert_eq!(fate(&one, 6.0, &WITHOUT_RACK), Fate::Undecidable);
    }
}
