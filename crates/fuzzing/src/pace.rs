//! Burst limits and pacing.

use arbitrary::{Result, Unstructured};
use eifel_base::time::Instant;
use eifel_recovery::pace::Permit;
use eifel_recovery::registry::{Seam, part};

use crate::input::{choice, duration, window};

/// Lets segments leave when permitted. Nothing panics or overflows. If a segment must wait for a
/// time, that time is in the future, and the segment may leave then. An input ends a wait for an
/// input.
///
/// # Panics
/// If an invariant does not hold.
pub fn pace(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut pace = part::pace(&choice(u, Seam::Pace)?).expect("the registry's own");
    let mut now = Instant::ZERO;
    while !u.is_empty() {
        now += duration(u)?;
        match pace.permit(now) {
            Permit::Now => {}
            Permit::At(at) => {
                assert!(at > now, "{at:?} has come at {now:?}");
                if u.arbitrary()? {
                    continue;
                }
                now = at;
                assert_eq!(pace.permit(now), Permit::Now, "it was to go at {at:?}");
            }
            Permit::NextInput => {
                pace.on_input();
                assert_ne!(pace.permit(now), Permit::NextInput, "an input came");
                continue;
            }
        }
        let srtt = if u.arbitrary()? { Some(duration(u)?) } else { None };
        pace.on_sent(now, u.int_in_range(1..=65_536)?, &window(u)?, srtt);
        if u.arbitrary()? {
            pace.on_input();
        }
    }
    Ok(())
}
