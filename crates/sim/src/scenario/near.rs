//! Finds the known name nearest to an unknown name, and the units in keys.

/// The units at the end of keys, and their words. If a unit is a suffix of another, the longer must
/// come first.
const UNITS: &[(&str, &str)] = &[
    ("_bps", "of bits per second"),
    ("_bytes", "of bytes"),
    ("_packets", "of packets"),
    ("_segments", "of segments"),
    ("_ms", "of milliseconds"),
    ("_s", "of seconds"),
];

/// Endings that are units in other tools, but not here.
const FOREIGN_UNITS: &[&str] = &[
    "_kbps", "_mbps", "_gbps", "_kbit", "_mbit", "_kb", "_mb", "_kib", "_mib", "_us", "_ns", "_sec", "_secs",
    "_seconds", "_msec", "_millis", "_min", "_bits", "_b", "_pkts",
];

/// Returns the unit at the end of a key, in words.
pub(super) fn unit_of(key: &str) -> Option<&'static str> {
    match key {
        "packets" | "segments" | "bytes" => UNITS.iter().find(|(end, _)| end[1..] == *key).map(|&(_, words)| words),
        _ => UNITS.iter().find(|(end, _)| key.ends_with(end)).map(|&(_, words)| words),
    }
}

/// Returns a key without its unit.
fn stem(key: &str) -> &str {
    let ends = UNITS.iter().map(|&(end, _)| end).chain(FOREIGN_UNITS.iter().copied());
    ends.filter_map(|end| key.strip_suffix(end)).min_by_key(|stem| stem.len()).unwrap_or(key)
}

/// Returns the known keys that differ from the unknown key only in the unit.
pub(super) fn in_other_units<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = unknown.to_lowercase();
    known.filter(|known| unit_of(known).is_some() && stem(known) == stem(&lower)).collect()
}

/// Returns the known name that is most similar to `unknown`; `None` if none is similar enough.
pub(super) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let wanted = plain(unknown);
    known
        .map(|name| (strsim::jaro_winkler(&wanted, &plain(name)), name))
        .filter(|&(likeness, _)| likeness >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Returns the message for a name that is not in a list: `unknown …; nearest: …`.
pub(super) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {what} {name:?}; nearest: {near}"),
        None => format!("unknown {what} {name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_quantity_in_another_unit_is_found() {
        let known = ["rate_bps", "rate_changes", "delay_ms"];
        assert_eq!(in_other_units("rate_mbps", known.into_iter()), ["rate_bps"]);
        assert_eq!(in_other_units("rate", known.into_iter()), ["rate_bps"]);
        assert_eq!(in_other_units("delay_s", known.into_iter()), ["delay_ms"]);
        assert!(in_other_units("loss", known.into_iter()).is_empty());
    }

    #[test]
    fn only_a_likely_name_is_offered() {
        let known = ["reno-sack", "newreno", "fack"];
        assert_eq!(nearest("reno_sak", known.into_iter()), Some("reno-sack"));
        assert_eq!(nearest("xyz", known.into_iter()), None);
    }

    #[test]
    fn units_are_read_off_the_key() {
        assert_eq!(unit_of("duration_s"), Some("of seconds"));
        assert_eq!(unit_of("delay_ms"), Some("of milliseconds"));
        assert_eq!(unit_of("rate_bps"), Some("of bits per second"));
        assert_eq!(unit_of("packets"), Some("of packets"));
        assert_eq!(unit_of("seed"), None);
    }
}
