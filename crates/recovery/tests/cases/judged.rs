//! Shared by the detectors' cases: a sender that would restore everything, and its verdicts.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::talk::{Talk, eifel};

/// Returns Reno-SACK with this detector and option 1.
pub fn with(detect: Choice) -> Config {
    Config { detect, ..eifel("reno-sack", "option-1") }
}

pub fn named(detect: &str) -> Config {
    with(Choice::named(detect))
}

/// Checks the verdicts since the last check, and the window.
pub fn check(talk: &mut Talk, verdicts: &[(&str, &str)], window: (u64, u64)) {
    let found = talk.verdicts();
    let found: Vec<_> = found.iter().map(|(outcome, reason)| (outcome.as_str(), *reason)).collect();
    assert_eq!(found, verdicts);
    assert_eq!((talk.cwnd(), talk.ssthresh()), window);
}
