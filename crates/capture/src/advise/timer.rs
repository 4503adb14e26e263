//! The smallest timeout (`rto_min`).
//!
//! *Looks at* timeouts, how long their timer had run, and when the ACK of the data came.
//! *Decides* whether that ACK would have come before a timer with a larger smallest value had expired.
//! *Blind to* timers that did not expire, so a smaller value cannot be judged; to what the sender would have
//! sent afterwards.
//! *From* RFC 6298, section 2, in Linux's form: the timeout is the smoothed round trip and the larger of four
//! times its variation and `rto_min`; it doubles at each expiry.

use super::curve::{Curve, Fate, Knob, values};
use super::{Asked, Resent, Settings};
use crate::result::{Cause, Verdict};

/// By how much a timer may differ from the model's, in milliseconds: two ticks of a kernel with 250 a second.
const TICKS: f64 = 8.0;
/// Expiries after which the timer does not double any more.
const MOST_DOUBLINGS: u32 = 10;
/// Data that waited for this many timeouts have waited for two: round trips vary, and so does the timeout.
const TWICE: f64 = 1.7;
const NO_TIMEOUT: &str = "no timeout is shown to be needless, so a larger value would only delay";
const NONE: &str = "the input has no timeout";

/// Timeouts of the same data, one after another.
struct Silence<'a> {
    expiries: Vec<&'a Resent>,
    /// Whether a probe of the same data came before, when the first timeout was due. Linux lets it take the
    /// timeout's place where one segment is outstanding, or where new data left until then, and sets the timer
    /// again.
    probed: bool,
    /// Needless segments of go-back-N that followed.
    repeats: usize,
}

pub(super) fn curve(ordered: &[&Resent], settings: &Settings, asked: &Asked) -> Curve {
    let (knob, now) = (Knob::SmallestRto, Some(settings.rto_min_ms));
    let silences = silences(ordered, settings);
    if silences.is_empty() {
        return Curve::without(knob, now, NONE);
    }
    let least = || silences.iter().flat_map(|silence| silence.least_values(settings));
    let values = values(asked, knob, || least().map(|value| value.floor() as u64 + 1).collect());
    let fates = |value| silences.iter().flat_map(|silence| silence.fates(value, settings)).collect();
    Curve::over((knob, now), values, NO_TIMEOUT, fates, |value| {
        vec![
            format!("ip route change $(ip route show default | head -n 1) rto_min {value}ms"),
            format!("sysctl -w net.ipv4.tcp_rto_min_us={}", value * 1e3),
        ]
    })
}

fn silences<'a>(ordered: &[&'a Resent], settings: &Settings) -> Vec<Silence<'a>> {
    let mut silences: Vec<Silence<'a>> = Vec::new();
    let mut before: Option<&Resent> = None;
    for one in ordered {
        let last = silences.last_mut();
        let of_sender = |other: &Resent| other.sender == one.sender;
        match one.cause {
            Cause::Rto => match last.filter(|last| last.goes_on_with(one)) {
                Some(last) => last.expiries.push(one),
                None => {
                    let is_probe =
                        |other: &&Resent| of_sender(other) && other.cause == Cause::Tlp && other.number == one.number;
                    let probed = match before.filter(is_probe) {
                        Some(probe) => is_in_place(timer_ms(probe), probe, settings),
                        None => was_probed(one, settings),
                    };
                    silences.push(Silence { expiries: vec![one], probed, repeats: 0 });
                }
            },
            Cause::Loss if one.verdict == Verdict::Spurious => {
                if let Some(last) = last.filter(|last| last.expiries.iter().any(|other| of_sender(other))) {
                    last.repeats += 1;
                }
            }
            _ => {}
        }
        before = Some(one);
    }
    silences
}

/// Returns how long the timer of a retransmission had run, in milliseconds.
fn timer_ms(one: &Resent) -> Option<f64> {
    one.trigger.as_ref().and_then(|trigger| trigger.timer_ms).or(one.since_first_ms)
}

/// Returns whether a probe left when the timeout was due: after the timer had run for `ran` milliseconds.
fn is_in_place(ran: Option<f64>, one: &Resent, settings: &Settings) -> bool {
    ran.is_some_and(|ran| ran + TICKS >= timeout_ms(one, settings).unwrap_or(settings.rto_min_ms))
}

/// Returns the sender's timeout at a retransmission, in milliseconds.
fn timeout_ms(one: &Resent, settings: &Settings) -> Option<f64> {
    let trigger = one.trigger.as_ref()?;
    Some(trigger.smoothed_ms? + trigger.variation_ms.unwrap_or_default().max(settings.rto_min_ms))
}

/// Returns whether a probe of new data took the place of the timeout. New data push a probe back until the timeout is
/// due, and where they do not stop before, no packet tells it from them: then the timer seems to run twice.
fn was_probed(one: &Resent, settings: &Settings) -> bool {
    // A timer that expired too soon for that was not set by those data.
    let is_set = timer_ms(one).is_some_and(|ran| ran + TICKS >= settings.rto_min_ms);
    let probed = one.trigger.as_ref().and_then(|trigger| trigger.probed_ms).filter(|_| is_set);
    let twice = timer_ms(one).zip(timeout_ms(one, settings)).is_some_and(|(ran, timeout)| ran > TWICE * timeout);
    twice || is_in_place(probed, one, settings)
}

impl Silence<'_> {
    fn goes_on_with(&self, one: &Resent) -> bool {
        self.expiries.iter().any(|other| other.sender == one.sender && other.number == one.number)
    }

    /// Returns what the timeout added to the smoothed round trip, in milliseconds. `None` if the timer expired
    /// before it could have with these settings.
    fn added(&self, settings: &Settings) -> Option<f64> {
        let least = settings.rto_min_ms;
        let first = self.expiries[0];
        let trigger = first.trigger.as_ref();
        let ran = timer_ms(first)?;
        let ran = if self.probed { first.since_first_ms.map_or(ran, |waited| ran.min(waited / 2.0)) } else { ran };
        // Without a smoothed round trip the timeout is taken to be at its smallest.
        let smoothed = trigger.and_then(|trigger| trigger.smoothed_ms);
        if ran + TICKS < least {
            // New data and probes seem to have set the timer. Linux 6.18 lets it expire soon after them where it was due
            // before, with at most one probe outstanding.
            let due = least + smoothed.unwrap_or_default();
            return first.since_first_ms.filter(|waited| waited + TICKS >= due).map(|_| least);
        }
        let added = smoothed.map_or(least, |smoothed| ran - smoothed);
        Some(if added <= least + TICKS.max(least / 10.0) { least } else { added })
    }

    /// Returns how often the timer of the expiry at `index` and of those before it had run, in first timeouts: without
    /// the one whose place a probe took.
    fn units(&self, index: usize) -> f64 {
        let doublings = u32::try_from(index + 1).unwrap_or(u32::MAX).min(MOST_DOUBLINGS);
        f64::from((1_u32 << doublings) - 1)
    }

    /// Returns in how many first timeouts the expiry at `index` moves away from the ACK that shows it to be
    /// needless, at least and at most. That ACK answers the transmission before it that was needed, if there is one.
    ///
    /// New data push a probe back, at most until the timeout is due. With a larger timeout the probe leaves then, if
    /// new data go on until then; and no later than before if they had ended. No packet shows which it would be.
    fn moves(&self, index: usize) -> (f64, f64) {
        let needed = self.expiries[..index].iter().rposition(|one| one.verdict == Verdict::Needed);
        match needed {
            Some(needed) => [self.units(index) - self.units(needed); 2].into(),
            None => (self.units(index), self.units(index) + f64::from(u8::from(self.probed))),
        }
    }

    /// Returns the smallest value with which each needless timeout surely goes.
    fn least_values<'a>(&'a self, settings: &Settings) -> impl Iterator<Item = f64> + use<'a> {
        let added = self.added(settings);
        let value = move |(index, one): (usize, &&Resent)| {
            let (_, latest) = one.answer_after_ms().filter(|_| one.verdict == Verdict::Spurious)?;
            Some(added? + latest / self.moves(index).0)
        };
        self.expiries.iter().enumerate().filter_map(value)
    }

    fn fates(&self, value: f64, settings: &Settings) -> Vec<Fate> {
        let Some(added) = self.added(settings) else { return vec![Fate::Undecidable; self.expiries.len()] };
        let longer = (value - added).max(0.0);
        let last_needed = self.expiries.iter().rposition(|one| one.verdict == Verdict::Needed);
        let fate = |(index, one): (usize, &&Resent)| match (one.verdict, one.answer_after_ms()) {
            (Verdict::Spurious, Some((_, latest))) if latest < longer * self.moves(index).0 => {
                Fate::NeedlessGone { repeats: if index == 0 { self.repeats } else { 0 } }
            }
            (Verdict::Spurious, Some((soonest, _))) if soonest >= longer * self.moves(index).1 => Fate::NeedlessLeft,
            // The data wait until the last of them: earlier ones delay nothing more.
            (Verdict::Needed, _) if Some(index) == last_needed => Fate::Needed(longer * self.units(index)),
            (Verdict::Needed, _) => Fate::Needed(0.0),
            _ => Fate::Undecidable,
        };
        self.expiries.iter().enumerate().map(fate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::Resent;
    use super::super::input::tests::resent;
    use super::*;
    use crate::result::Trigger;

    fn timeout(verdict: Verdict, since_first: f64, answered: f64) -> Resent {
        let trigger = Trigger { timer_ms: Some(since_first), smoothed_ms: Some(50.0), ..Trigger::default() };
        Resent {
            since_first_ms: Some(since_first),
            answered_ms: Some(answered),
            trigger: Some(trigger),
            ..resent(Cause::Rto, verdict)
        }
    }

    fn of(all: &[Resent], value: f64) -> Vec<Fate> {
        let all: Vec<&Resent> = all.iter().collect();
        let settings = Settings::default();
        silences(&all, &settings).iter().flat_map(|silence| silence.fates(value, &settings)).collect()
    }

    #[test]
    fn a_needless_timeout_goes_once_the_timer_outlasts_the_ack() {
        // The timer ran 250 ms; the ACK came 60 ms later.
        let one = [timeout(Verdict::Spurious, 250.0, 310.0)];
        assert_eq!(of(&one, 260.0), [Fate::NeedlessLeft]);
        assert_eq!(of(&one, 261.0), [Fate::NeedlessGone { repeats: 0 }]);
        let curve = curve(&[&one[0]], &Settings::default(), &Asked::new());
        assert_eq!(curve.points.iter().map(|point| point.value).collect::<Vec<_>>(), [261.0]);
        assert_eq!(curve.commands[1], "sysctl -w net.ipv4.tcp_rto_min_us=261000");
    }

    #[test]
    fn an_ack_that_reports_the_duplicate_too_may_have_waited_for_it() {
        // The timer ran 250 ms; the ACK came 60 ms later, and that of the original alone up to half a second after.
        let one = [Resent { answered_as_duplicate: true, ..timeout(Verdict::Spurious, 250.0, 310.0) }];
        assert_eq!(of(&one, 260.0), [Fate::NeedlessLeft]);
        assert_eq!([of(&one, 261.0), of(&one, 760.0)], [[Fate::Undecidable]; 2]);
        assert_eq!(of(&one, 761.0), [Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn where_the_variation_is_larger_the_smallest_value_changes_nothing_below_it() {
        // 50 ms of round trip, and 350 ms of variation.
        let one = [timeout(Verdict::Spurious, 400.0, 440.0)];
        assert_eq!(of(&one, 390.0), [Fate::NeedlessLeft]);
        assert_eq!(of(&one, 391.0), [Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn a_repeated_timeout_moves_by_all_timers_before_it() {
        let first = timeout(Verdict::Spurious, 250.0, 900.0);
        let second = Resent { left_ms: 500.0, ..timeout(Verdict::Spurious, 750.0, 900.0) };
        let both = [first, second];
        // 150 ms over three first timeouts.
        assert_eq!(of(&both, 250.0), [Fate::NeedlessLeft, Fate::NeedlessLeft]);
        assert_eq!(of(&both, 251.0), [Fate::NeedlessLeft, Fate::NeedlessGone { repeats: 0 }]);
        let needed = [
            timeout(Verdict::Needed, 250.0, 800.0),
            Resent { left_ms: 500.0, ..timeout(Verdict::Needed, 750.0, 800.0) },
        ];
        assert_eq!(of(&needed, 300.0), [Fate::Needed(0.0), Fate::Needed(300.0)]);
    }

    #[test]
    fn a_copy_after_a_needed_one_is_judged_by_the_answer_to_that_one() {
        let both = [
            timeout(Verdict::Needed, 250.0, 800.0),
            Resent { left_ms: 500.0, ..timeout(Verdict::Spurious, 750.0, 800.0) },
        ];
        // The second moves by two first timeouts more than the answer to the first.
        assert_eq!(of(&both, 225.0)[1], Fate::NeedlessLeft);
        assert_eq!(of(&both, 226.0)[1], Fate::NeedlessGone { repeats: 0 });
    }

    #[test]
    fn a_probe_in_the_place_of_the_timeout_may_move_it_too() {
        let probe = Resent { since_first_ms: Some(250.0), ..resent(Cause::Tlp, Verdict::Spurious) };
        let timeout = Resent { left_ms: 250.0, ..timeout(Verdict::Spurious, 500.0, 560.0) };
        let timeout = Resent {
            trigger: Some(Trigger { timer_ms: Some(250.0), smoothed_ms: Some(50.0), ..Trigger::default() }),
            ..timeout
        };
        // It moves by the difference, and by as much again if new data push the probe back.
        let both = [probe.clone(), timeout.clone()];
        assert_eq!([230.0, 231.0].map(|value| of(&both, value)[0]), [Fate::NeedlessLeft, Fate::Undecidable]);
        assert_eq!(
            [260.0, 261.0].map(|value| of(&both, value)[0]),
            [Fate::Undecidable, Fate::NeedlessGone { repeats: 0 }]
        );
        let early = Resent { trigger: Some(Trigger { timer_ms: Some(100.0), ..Trigger::default() }), ..probe };
        let timeout = Resent { since_first_ms: Some(350.0), answered_ms: Some(410.0), ..timeout };
        assert_eq!(of(&[early, timeout], 231.0), [Fate::NeedlessLeft]);
    }

    #[test]
    fn a_probe_of_new_data_may_move_the_timeout_only_if_it_took_its_place() {
        // The probe set the timer, which ran 250 ms; the ACK came 60 ms later.
        let after = |probed| {
            let trigger = Trigger {
                timer_ms: Some(250.0),
                probed_ms: Some(probed),
                smoothed_ms: Some(50.0),
                ..Trigger::default()
            };
            [Resent { trigger: Some(trigger), ..timeout(Verdict::Spurious, 500.0, 560.0) }]
        };
        assert_eq!(of(&after(241.0), 231.0), [Fate::NeedlessLeft]);
        assert_eq!(of(&after(242.0), 231.0), [Fate::Undecidable]);
        assert_eq!(of(&after(242.0), 261.0), [Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn a_timeout_soon_after_a_probe_was_due_before() {
        let after = |waited| {
            let trigger =
                Trigger { timer_ms: Some(70.0), probed_ms: Some(242.0), smoothed_ms: Some(50.0), ..Trigger::default() };
            [Resent { trigger: Some(trigger), ..timeout(Verdict::Spurious, waited, waited + 60.0) }]
        };
        assert_eq!(of(&after(241.0), 261.0), [Fate::Undecidable]);
        assert_eq!(of(&after(310.0), 260.0), [Fate::NeedlessLeft]);
        assert_eq!(of(&after(310.0), 261.0), [Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn data_that_waited_for_two_timers_had_a_probe() {
        let trigger =
            Trigger { timer_ms: Some(480.0), smoothed_ms: Some(50.0), variation_ms: Some(20.0), ..Trigger::default() };
        let one = Resent { trigger: Some(trigger), ..timeout(Verdict::Spurious, 500.0, 560.0) };
        // 60 ms over two timers, or over one.
        let fates = [230.0, 231.0, 261.0].map(|value| of(std::slice::from_ref(&one), value)[0]);
        assert_eq!(fates, [Fate::NeedlessLeft, Fate::Undecidable, Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn needless_repeats_go_with_their_timeout() {
        let repeat = |verdict| Resent { left_ms: 1.0, number: 5, ..resent(Cause::Loss, verdict) };
        let all = [timeout(Verdict::Spurious, 250.0, 310.0), repeat(Verdict::Spurious), repeat(Verdict::Needed)];
        assert_eq!(of(&all, 300.0), [Fate::NeedlessGone { repeats: 1 }]);
        let other = Resent { sender: 9, ..repeat(Verdict::Spurious) };
        assert_eq!(of(&[timeout(Verdict::Spurious, 250.0, 310.0), other], 300.0), [Fate::NeedlessGone { repeats: 0 }]);
    }

    #[test]
    fn what_contradicts_the_settings_or_is_not_shown_is_undecidable() {
        assert_eq!(of(&[timeout(Verdict::Spurious, 100.0, 310.0)], 500.0), [Fate::Undecidable]);
        let unanswered = Resent { answered_ms: None, ..timeout(Verdict::Spurious, 250.0, 310.0) };
        assert_eq!(of(&[unanswered], 500.0), [Fate::Undecidable]);
        assert_eq!(of(&[timeout(Verdict::Undecidable, 250.0, 310.0)], 500.0), [Fate::Undecidable]);
        assert_eq!(curve(&[], &Settings::default(), &Asked::new()).reason, Some(NONE));
        let needed = timeout(Verdict::Needed, 250.0, 310.0);
        assert_eq!(curve(&[&needed], &Settings::default(), &Asked::new()).reason, Some(NO_TIMEOUT));
    }
}
