//! Reads durations and amounts that are fixed or drawn.

use super::amount::Amount;
use super::error::Fault;
use super::reader::Reader;
use eifel_path::draw::Draw;

/// Reads the duration under `key`, fixed or drawn. The key must exist or have a default. Its name
/// ends with its unit.
pub(super) fn read(table: &Reader<'_>, key: &str) -> Result<Draw, Fault> {
    let seconds = if key.ends_with("_ms") { 1e-3 } else { 1.0 };
    let drawn = match table.maybe_table(key) {
        Some(distribution) => distributed(&distribution, seconds)?,
        // Rounded like other times, so that 300 ms is 0.3 s.
        None => Draw::Constant { value_s: table.duration(key).as_secs_f64() },
    };
    drawn.check("").map_err(|error| super::link::problem(table, key, &error.problem))?;
    Ok(drawn)
}

/// Reads a number of bytes that is fixed or drawn.
pub(super) fn amount(table: &Reader<'_>, key: &str) -> Result<Amount, Fault> {
    match table.maybe_table(key) {
        Some(distribution) => Amount::drawn(distributed(&distribution, 1.0)?, "")
            .map_err(|error| super::link::problem(table, key, &error.problem)),
        None => Ok(Amount::fixed(table.integer(key))),
    }
}

/// Reads a distribution. `seconds` is the unit of its numbers in seconds; 1 for numbers that are
/// not times.
pub(super) fn distributed(table: &Reader<'_>, seconds: f64) -> Result<Draw, Fault> {
    if let Some(mean) = table.maybe_number("exponential") {
        return Ok(Draw::Exponential { mean_s: mean * seconds });
    }
    let number = |table: &Reader<'_>, key: &str| table.number(key) * seconds;
    if let Some(normal) = table.table("normal") {
        return Ok(Draw::Normal {
            mean_s: number(&normal, "mean"),
            deviation_s: number(&normal, "deviation"),
            minimum_s: number(&normal, "minimum"),
            maximum_s: normal.maybe_number("maximum").map_or(f64::INFINITY, |maximum| maximum * seconds),
        });
    }
    if let Some(log_normal) = table.table("log_normal") {
        return Ok(Draw::LogNormal { median_s: number(&log_normal, "median"), sigma: log_normal.number("sigma") });
    }
    if let Some(pareto) = table.table("pareto") {
        return Ok(Draw::Pareto { minimum_s: number(&pareto, "minimum"), shape: pareto.number("shape") });
    }
    let listed = table.items("listed");
    if !listed.is_empty() {
        return Ok(Draw::Listed { values_s: listed.iter().map(|value| value.number() * seconds).collect() });
    }
    match table.items("uniform").as_slice() {
        [low, high] if low.number() <= high.number() => {
            Ok(Draw::Uniform { low_s: low.number() * seconds, high_s: high.number() * seconds })
        }
        [low, high] => {
            let what = format!("{} is more than {}", low.number(), high.number());
            Err(table.fault("uniform", what).allowed("the smaller number, then the larger"))
        }
        _ => Err(table.fault("uniform", "too many numbers").allowed("two: the smallest, the largest")),
    }
}
