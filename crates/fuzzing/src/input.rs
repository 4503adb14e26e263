//! Values that targets read from their input. Zeros follow the last byte, so that every input is
//! valid.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::congest::Window;
use eifel_recovery::fact::{Block, Cause, Echo, Mark};
use eifel_recovery::registry::{Choice, Kind, Seam, Value};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

/// A window in bytes that no connection reaches. Sums below it must not overflow.
pub const MOST_BYTES: u64 = 1 << 50;
/// A round trip longer than that of any path.
pub const LONGEST: Duration = Duration::from_secs(1 << 20);

/// Draws an algorithm of the seam, with any allowed parameters.
pub fn choice(u: &mut Unstructured<'_>, seam: Seam) -> Result<Choice> {
    let entry = u.choose(seam.entries())?;
    let mut choice = Choice::named(entry.name);
    for parameter in entry.parameters {
        if u.ratio(1, 4)? {
            choice = choice.with(parameter.name, value(u, &parameter.kind)?);
        }
    }
    Ok(choice)
}

fn value(u: &mut Unstructured<'_>, kind: &Kind) -> Result<Value> {
    Ok(match *kind {
        Kind::Integer { minimum, maximum, .. } => Value::Integer(edge_or_within(u, minimum, maximum)?),
        Kind::Milliseconds { minimum, maximum, .. } => {
            Value::Duration(Duration::from_nanos(edge_or_within(u, minimum.as_nanos(), maximum.as_nanos())?))
        }
        Kind::Switch { .. } => Value::Switch(u.arbitrary()?),
        Kind::Word { allowed, .. } => Value::Word((*u.choose(allowed)?).to_owned()),
    })
}

/// Draws a number within the bounds. Draws the bounds themselves more often than chance would.
fn edge_or_within<T: arbitrary::unstructured::Int>(u: &mut Unstructured<'_>, low: T, high: T) -> Result<T> {
    Ok(match u.int_in_range(0..=3)? {
        0 => low,
        1 => high,
        _ => u.int_in_range(low..=high)?,
    })
}

/// Draws a number up to `most`. All magnitudes are equally likely.
pub fn magnitude(u: &mut Unstructured<'_>, most: u64) -> Result<u64> {
    let shift = u.int_in_range(0..=63)?;
    Ok((u.arbitrary::<u64>()? >> shift).min(most))
}

/// Draws a duration up to [`LONGEST`].
pub fn duration(u: &mut Unstructured<'_>) -> Result<Duration> {
    magnitude(u, LONGEST.as_nanos()).map(Duration::from_nanos)
}

/// Draws the payload bytes of a full segment that a connection may agree on.
pub fn mss(u: &mut Unstructured<'_>) -> Result<u32> {
    u.int_in_range(1..=65_535)
}

/// Draws a window that congestion control may leave.
pub fn window(u: &mut Unstructured<'_>) -> Result<Window> {
    let ssthresh = if u.arbitrary()? { u64::MAX } else { magnitude(u, MOST_BYTES)?.max(1) };
    Ok(Window { cwnd: magnitude(u, MOST_BYTES)?.max(1), ssthresh })
}

/// Draws the cause of an episode.
pub fn cause(u: &mut Unstructured<'_>) -> Result<Cause> {
    Ok(if u.arbitrary()? { Cause::Timeout } else { Cause::FastRetransmit })
}

/// Draws an echo that may have been stamped at any time so far.
pub fn echo(u: &mut Unstructured<'_>, now: Instant) -> Result<Option<Echo>> {
    if u.arbitrary()? {
        return Ok(None);
    }
    let age = Duration::from_nanos(magnitude(u, now.as_nanos())?);
    Ok(Some(Echo::Known { value: Timestamp(u.arbitrary()?), age }))
}

/// Draws the mark of an ACK, or none if marks were not agreed on.
pub fn mark(u: &mut Unstructured<'_>) -> Result<Option<Mark>> {
    Ok(*u.choose(&[None, Some(Mark::Original), Some(Mark::Retransmission)])?)
}

/// Draws a block of positions within `low..=high`, which may be empty.
pub fn block(u: &mut Unstructured<'_>, low: u64, high: u64) -> Result<Block> {
    let start = low + magnitude(u, high - low)?;
    Ok(Block { start, end: start + magnitude(u, high - start)? })
}

/// Returns the view of a connection that has sent nothing.
pub fn view(now: Instant, mss: u32, round_trips: &RoundTrips) -> View {
    View { now, una: 1, nxt: 1, mss, sack: true, round_trips: *round_trips }
}
