//! Responses.

use arbitrary::{Result, Unstructured};
use eifel_recovery::congest::Window;
use eifel_recovery::episode::{Estimate, Saved};
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Seam, part};
use eifel_recovery::respond::Verdict;

use crate::input::{MOST_BYTES, cause, choice, duration, magnitude, mss, window};

/// Gives any verdict on any episode. Nothing panics or overflows. The window is at least a byte. It
/// is at most the largest of four: the saved window, the ssthresh that the loss signal left, the
/// present window, and the limit of RFC 4015's step 9.
///
/// # Panics
/// If an invariant does not hold.
pub fn respond(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut response = part::response(&choice(u, Seam::Respond)?).expect("the registry's own");
    loop {
        let verdict = verdict(u)?;
        let saved = saved(u)?;
        let verdict = Verdict { before_repair: saved.window, ..verdict };
        let now = window(u)?;
        let adjusted = response.respond(&verdict, &saved, &now).window;
        assert!(adjusted.cwnd > 0 && adjusted.ssthresh > 0, "{adjusted:?}");
        // In fast recovery the receiver's SACK blocks grow the flight beyond any window.
        let step_9 = match verdict.cause {
            Cause::Timeout => verdict.flight + verdict.acked.min(verdict.initial_window),
            Cause::FastRetransmit => 0,
        };
        let least = saved.reduced.ssthresh.max(u64::from(verdict.mss));
        let most = saved.window.cwnd.max(now.cwnd).max(step_9).max(least);
        assert!(adjusted.cwnd <= most, "{adjusted:?} for {verdict:?} with {saved:?} at {now:?}");
        if u.is_empty() {
            return Ok(());
        }
    }
}

fn verdict(u: &mut Unstructured<'_>) -> Result<Verdict> {
    let cause = cause(u)?;
    let acked = 1 + magnitude(u, MOST_BYTES)?;
    let mss = mss(u)?;
    Ok(Verdict {
        cause,
        timeouts: if cause == Cause::Timeout { u.int_in_range(1..=u32::MAX)? } else { 0 },
        flight: magnitude(u, MOST_BYTES)?,
        acked,
        ece: u.arbitrary()?,
        ece_in_episode: u.arbitrary()?,
        before_repair: Window { cwnd: 1, ssthresh: 1 },
        loss_seen: u.arbitrary()?,
        mss,
        initial_window: u64::from(mss) * u.int_in_range(1..=1_000_000)?,
        fast_retransmitted: cause == Cause::Timeout && u.arbitrary()?,
    })
}

fn saved(u: &mut Unstructured<'_>) -> Result<Saved> {
    let estimate = Estimate { srtt: duration(u)?, rttvar: duration(u)? };
    Ok(Saved {
        window: window(u)?,
        // A loss signal sets ssthresh, whatever its value was.
        reduced: Window { cwnd: 1 + magnitude(u, MOST_BYTES)?, ssthresh: 1 + magnitude(u, MOST_BYTES)? },
        flight: magnitude(u, MOST_BYTES)?,
        peer_window: magnitude(u, MOST_BYTES)?,
        estimate: u.arbitrary::<bool>()?.then_some(estimate),
    })
}
