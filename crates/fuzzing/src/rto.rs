//! Retransmission timers, and their adaptation to verdicts.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome;
use eifel_recovery::episode::Estimate;
use eifel_recovery::registry::{Choice, Kind, Seam, Value, part};
use eifel_recovery::rto::{Rto, Sample, TimerChange};
use eifel_recovery::rtt::RoundTrips;

use crate::input::{MOST_BYTES, choice, duration, magnitude, mss, view, window};

/// Gives samples, expiries and verdicts in any order. Nothing panics or overflows. The timeout
/// stays within the configured bounds, and an expiry never shortens it.
///
/// # Panics
/// If an invariant does not hold.
pub fn rto(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

/// The limits of the timeout.
struct Bounds {
    minimum: Duration,
    maximum: Duration,
    /// The amount by which verdicts have raised the minimum.
    raised: Duration,
}

impl Bounds {
    /// Returns the limits set by the choice, or the defaults of its algorithm.
    fn of(choice: &Choice) -> Self {
        let set = |name, without| {
            let given = choice.parameters.iter().rev().find(|(key, _)| key == name);
            match given.map(|(_, value)| value) {
                Some(Value::Duration(value)) => *value,
                _ => default(choice, name).unwrap_or(without),
            }
        };
        // The Lite timer waits at least two ticks of its heartbeat, whatever the configured minimum
        // is.
        let minimum = match choice.name.as_str() {
            "fixed" => set("rto_ms", Duration::ZERO),
            "lite" => set("granularity_ms", Duration::ZERO) * 2,
            _ => set("minimum_ms", Duration::ZERO),
        };
        let maximum = match choice.name.as_str() {
            // Their maximum yields to the latest sample plus two ticks, so it is no bound.
            "eifel" | "self-trained" => Duration::MAX,
            _ => set("maximum_ms", Duration::MAX),
        };
        Self { minimum, maximum, raised: Duration::ZERO }
    }

    fn note(&mut self, change: TimerChange) {
        match change {
            TimerChange::RaiseMinimum(step) => self.raised = self.raised + step,
            TimerChange::RaiseMinimumTo(least) => self.raised = self.raised.max(least),
            TimerChange::ResetMinimum => self.raised = Duration::ZERO,
            _ => {}
        }
    }

    fn check(&self, rto: Duration) {
        // If the two bounds contradict each other, an algorithm may apply either.
        let most = self.maximum.max(self.minimum + self.raised);
        let least = self.minimum.min(self.maximum);
        assert!(rto >= least, "{rto:?} is below the minimum of {least:?}");
        assert!(rto <= most, "{rto:?} is above the maximum of {most:?}");
        assert!(rto > Duration::ZERO, "a timer of no length expires without an end");
    }
}

fn default(choice: &Choice, name: &str) -> Option<Duration> {
    let entry = Seam::Rto.entry(&choice.name)?;
    match entry.parameters.iter().find(|parameter| parameter.name == name)?.kind {
        Kind::Milliseconds { default, .. } => Some(default),
        _ => None,
    }
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let chosen = choice(u, Seam::Rto)?;
    let mut timer = part::rto(&chosen).expect("the registry's own");
    let mut adaptation = part::after_spurious(&choice(u, Seam::AfterSpurious)?).expect("the registry's own");
    let mut bounds = Bounds::of(&chosen);
    let round_trips = RoundTrips::new(true);
    let (mut now, mss) = (Instant::ZERO, mss(u)?);
    bounds.check(timer.rto());
    while !u.is_empty() {
        now += duration(u)?;
        let before = timer.rto();
        match u.int_in_range(0..=5)? {
            0 | 1 => {
                let sample = sample(u)?;
                timer.sample(&sample, &view(now, mss, &round_trips));
            }
            2 => {
                timer.back_off();
                assert!(timer.rto() >= before, "{:?} after {before:?}: shorter for an expiry", timer.rto());
            }
            3 => {
                let outcome = if u.arbitrary()? { Outcome::Spurious } else { Outcome::Genuine };
                let sample = if u.arbitrary()? { Some(duration(u)?) } else { None };
                let change = adaptation.on_verdict(outcome, sample, u.int_in_range(1..=u32::MAX)?);
                timer.on_verdict(outcome);
                teach(timer.as_mut(), change, &mut bounds);
            }
            4 => {
                let oldest = Instant::from_nanos(magnitude(u, now.as_nanos())?);
                let expires = timer.expires(now, oldest);
                assert!(expires > oldest, "started at {now:?}, it expires at {expires:?}: before what it is for");
                assert!(
                    expires <= now + timer.rto(),
                    "{expires:?} is later than all of {:?} from {now:?}",
                    timer.rto()
                );
            }
            _ => {
                let change = engines_own(u)?;
                teach(timer.as_mut(), change, &mut bounds);
            }
        }
        bounds.check(timer.rto());
    }
    Ok(())
}

fn sample(u: &mut Unstructured<'_>) -> Result<Sample> {
    Ok(Sample { rtt: duration(u)?, acked: 1 + magnitude(u, MOST_BYTES)?, window: window(u)? })
}

fn teach(timer: &mut dyn Rto, change: TimerChange, bounds: &mut Bounds) {
    timer.change(change);
    bounds.note(change);
}

/// Draws a change that an engine makes on its own: for RFC 4015, for a lost SYN, or at the start of a
/// connection that inherits an estimate.
fn engines_own(u: &mut Unstructured<'_>) -> Result<TimerChange> {
    Ok(match u.int_in_range(0..=2)? {
        0 => TimerChange::RaiseInitial(duration(u)?),
        1 => TimerChange::ReseedAtLeast { sample: duration(u)?, before: estimate(u)? },
        _ => TimerChange::Inherit(estimate(u)?),
    })
}

fn estimate(u: &mut Unstructured<'_>) -> Result<Estimate> {
    Ok(Estimate { srtt: duration(u)?, rttvar: duration(u)? })
}
