//! Times of events.

use super::cursor::Cursor;
use super::lexer::Kind;
use crate::error::Fault;
use crate::script::When;
use eifel_base::time::{Duration, Instant};

const TIME: &str = "a time in seconds, with at most nine places";

/// Reads `1.5`, `+1.5`, `1.5~1.6`, `+1.5~+1.6` or `*`.
pub(super) fn when(cursor: &mut Cursor<'_>) -> Result<When, Fault> {
    if cursor.take('*') {
        return Ok(When::Any);
    }
    let relative = cursor.take('+');
    let place = cursor.place();
    let from = seconds(cursor)?;
    if !cursor.take('~') {
        return Ok(if relative { When::After(from) } else { When::At(Instant::ZERO + from) });
    }
    if relative {
        cursor.need('+')?;
    }
    let to = seconds(cursor)?;
    if to < from {
        return Err(Fault::new(place, "the range of times is backwards", "the earlier time first"));
    }
    Ok(match relative {
        true => When::AfterBetween(from, to),
        false => When::Between(Instant::ZERO + from, Instant::ZERO + to),
    })
}

/// Reads a number of seconds.
pub(super) fn seconds(cursor: &mut Cursor<'_>) -> Result<Duration, Fault> {
    let found = match cursor.kind() {
        Kind::Integer(whole) => u64::try_from(*whole).ok().and_then(|whole| nanos(whole, "")),
        Kind::Decimal(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let whole = if whole.is_empty() { Some(0) } else { whole.parse().ok() };
            whole.and_then(|whole| nanos(whole, fraction))
        }
        _ => None,
    };
    let found = found.ok_or_else(|| cursor.unfit(TIME))?;
    cursor.next();
    Ok(Duration::from_nanos(found))
}

/// Converts seconds and the digits after the point to nanoseconds without rounding.
fn nanos(whole: u64, fraction: &str) -> Option<u64> {
    if fraction.len() > 9 {
        return None;
    }
    let digits: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let parts = digits * 10_u64.pow(9 - fraction.len() as u32);
    whole.checked_mul(1_000_000_000)?.checked_add(parts)
}
