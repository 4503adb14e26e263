//! The algorithms that recorded cases combine.

/// The algorithms of each seam from which a golden file's random cases are drawn, by index. A new
/// algorithm is not added here: then it shifts no draw, and changes no recorded case.
pub const RECORDED: [(&str, &[&str]); 10] = [
    (
        "detect",
        &[
            "none",
            "eifel-timestamps",
            "eifel-or-f-rto",
            "eifel-bit",
            "f-rto",
            "f-rto-sack",
            "dsack",
            "dual-rtt",
            "min-rtt",
            "f-rto-sctp",
            "eifel-cover-timestamps",
            "eifel-cover-bit",
            "eifel-cover-or-dsack",
        ],
    ),
    (
        "respond",
        &[
            "none",
            "option-1",
            "option-2",
            "option-3",
            "option-4",
            "option-4-ssthresh",
            "by-retransmissions",
            "rfc4015",
            "rfc3708",
            "partial-credit",
            "as-carried",
        ],
    ),
    ("grant", &["always", "once-a-round-trip", "unless-losses-follow"]),
    ("rto", &["rfc6298", "lite", "eifel", "self-trained", "linux", "fixed", "rfc9260"]),
    ("after-spurious", &["none", "reseed", "back-off", "min-plus-plus"]),
    ("recover", &["reno", "newreno", "reno-sack", "newreno-sack", "fack", "rfc6675", "rack-tlp"]),
    ("congest", &["reno", "cubic", "sctp"]),
    ("pace", &["none", "burst-limit", "pacing", "burst-pacer", "lasting-pacing"]),
    ("retransmit", &["rfc9260", "all-to-alternate", "same-path", "largest-window"]),
    ("credit", &["last-path", "unambiguous", "evidence"]),
];

/// Parameters that recorded algorithms have got since: the algorithm, and its parameter. Recorded
/// cases never draw them, so that an added parameter shifts no draw either.
const ADDED: &[(&str, &str)] = &[
    ("min-plus-plus", "on_genuine"),
    ("rfc4015", "decay"),
    ("rfc6675", "after_spurious_fast_retransmit"),
    ("fack", "off_when_reordered"),
    ("rfc6298", "restarted_by"),
];

/// Returns whether an algorithm has got this parameter since cases were recorded.
pub fn is_added(algorithm: &str, parameter: &str) -> bool {
    ADDED.contains(&(algorithm, parameter))
}

/// Returns the recorded algorithms of the seam with this name.
///
/// # Panics
/// If no seam has this name.
pub fn recorded(seam: &str) -> &'static [&'static str] {
    RECORDED.iter().find(|(name, _)| *name == seam).expect("a seam of the registry").1
}

/// Returns whether an algorithm of a seam is recorded. `name` may end with parameters, after a comma.
pub fn is_recorded(seam: &str, name: &str) -> bool {
    recorded(seam).contains(&name.split(", ").next().unwrap_or(name))
}
