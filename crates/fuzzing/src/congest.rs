//! Congestion control.

use arbitrary::{Result, Unstructured};
use eifel_base::time::Instant;
use eifel_recovery::congest::{Idle, Loss, Progress, Window};
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Seam, part};
use eifel_recovery::rtt::RoundTrips;

use crate::input::{MOST_BYTES, cause, choice, duration, magnitude, mss, view, window};

/// Gives ACKs, losses, idle times and undone losses in any order. Nothing panics or overflows. The
/// window never falls below a segment unless it was below before. A first loss never sets ssthresh
/// below two segments. An ACK never shrinks the window, and grows it by at most half plus the bytes
/// acknowledged. A loss never grows it beyond a loss window, and an idle time never grows it.
///
/// # Panics
/// If an invariant does not hold.
pub fn congest(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut control = part::congest(&choice(u, Seam::Congest)?).expect("the registry's own");
    let mss = mss(u)?;
    let segment = u64::from(mss);
    let round_trips = RoundTrips::new(true);
    let mut now = Instant::ZERO;
    let mut window = control.initial(mss);
    assert!(window.cwnd >= segment, "{window:?}: an initial window below a segment");
    while !u.is_empty() {
        now += duration(u)?;
        let view = view(now, mss, &round_trips);
        let before = window;
        match u.int_in_range(0..=4)? {
            0 | 1 => {
                let flight = magnitude(u, MOST_BYTES)?.max(1);
                let acked = 1 + magnitude(u, flight - 1)?;
                window = control.on_ack(&before, &Progress { acked, sacked: 0, delivered: acked, flight }, &view);
                assert!(window.cwnd >= before.cwnd, "{before:?}, then {window:?}: shrunk by an ACK");
                let most = before.cwnd + before.cwnd / 2 + acked.max(segment);
                assert!(window.cwnd <= most, "{before:?}, then {window:?} by an ACK of {acked} bytes");
            }
            2 => window = lose(u, control.as_mut(), &before, &view)?,
            3 => {
                window = control.on_idle(&before, &Idle { time: duration(u)?, rto: duration(u)?, mss });
                assert!(window.cwnd <= before.cwnd, "{before:?}, then {window:?}: grown by idling");
            }
            _ => window = self::window(u)?,
        }
        assert!(window.cwnd >= segment.min(before.cwnd) || window.cwnd > 0, "{window:?}");
        window.cwnd = window.cwnd.min(MOST_BYTES);
    }
    Ok(())
}

fn lose(
    u: &mut Unstructured<'_>,
    control: &mut dyn eifel_recovery::congest::Congest,
    before: &Window,
    view: &eifel_recovery::view::View,
) -> Result<Window> {
    let cause = cause(u)?;
    let again = cause == Cause::Timeout && u.arbitrary()?;
    let loss =
        Loss { cause, flight: magnitude(u, MOST_BYTES)?, limit: magnitude(u, before.cwnd)?, timeout_again: again };
    let window = control.on_loss(before, &loss, view);
    let segment = u64::from(view.mss);
    assert!(window.cwnd >= segment, "{window:?} after {loss:?}");
    assert!(again || window.ssthresh >= 2 * segment, "{window:?} after {loss:?}");
    let most = before.cwnd.max(loss.flight).max(2 * segment);
    assert!(window.cwnd <= most, "{before:?}, then {window:?} after {loss:?}");
    Ok(window)
}
