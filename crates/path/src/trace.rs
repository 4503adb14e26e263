//! Recorded links in the format of the Mahimahi tools: when a packet could leave.
//!
//! The text has one integer per line: a time in milliseconds at which 1500 bytes may leave. A
//! repeated line is one more opportunity in that millisecond. The last time is the length of the
//! recording, after which it repeats. The last opportunity of a lap and an opportunity at 0 of the
//! next lap coincide, and both count.

use core::fmt;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;

/// The expected end of a recording, for errors.
const LENGTH: &str = "a last time above 0, the length of the recording";

/// Bytes of one opportunity.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// A recorded link. It is large and never changes, so links share it.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Milliseconds since the beginning of a lap, in order. Never empty; the last is not 0.
    opportunities: Vec<u32>,
}

/// An opportunity: lap and line, both from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Opportunity {
    pub lap: u64,
    pub index: usize,
}

/// Why a text is not a recorded link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub line: usize,
    /// The offending text, shortened.
    pub found: String,
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}; expected {}", self.line, self.found, self.expected)
    }
}

impl core::error::Error for ParseError {}

impl Trace {
    /// Reads the text of a recording.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut opportunities = Vec::new();
        let mut last = 0;
        for (line, content) in (1..).zip(text.lines()) {
            let refuse = |found: String, expected| ParseError { line, found, expected };
            let digits = content.trim_end();
            let shown = || if digits.is_empty() { "an empty line".to_owned() } else { quoted(digits) };
            // `parse` would accept a sign; the format has none.
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(refuse(shown(), "a time in whole milliseconds"));
            }
            let Ok(time) = digits.parse::<u32>() else {
                return Err(refuse(shown(), "a time in whole milliseconds, at most 4294967295"));
            };
            if time < last {
                return Err(refuse(format!("{time} after {last}"), "times that never decrease"));
            }
            last = time;
            opportunities.push(time);
        }
        let line = opportunities.len().max(1);
        if opportunities.is_empty() {
            return Err(ParseError { line, found: "an empty file".to_owned(), expected: "at least one time" });
        }
        if last == 0 {
            let found = "no time above 0".to_owned();
            return Err(ParseError { line, found, expected: LENGTH });
        }
        Ok(Self { opportunities })
    }

    /// Makes a recording with opportunities at these milliseconds.
    ///
    /// # Errors
    ///
    /// The expected input, if the times decrease or the last time is 0.
    pub fn of_times(opportunities: Vec<u32>) -> Result<Self, &'static str> {
        if !opportunities.is_sorted() {
            return Err("times that never decrease");
        }
        match opportunities.last() {
            None | Some(0) => Err(LENGTH),
            Some(_) => Ok(Self { opportunities }),
        }
    }

    /// Returns the length of the recording, after which it begins again.
    pub fn lap(&self) -> Duration {
        Duration::from_nanos(self.lap_nanos())
    }

    /// Returns the number of opportunities in a lap.
    pub fn len(&self) -> usize {
        self.opportunities.len()
    }

    /// Returns `false`: a recording always has an opportunity.
    pub fn is_empty(&self) -> bool {
        self.opportunities.is_empty()
    }

    /// Returns the time of an opportunity, if the recording starts with the run.
    pub fn time(&self, opportunity: Opportunity) -> Instant {
        let millis = self.opportunities.get(opportunity.index).copied().unwrap_or(u32::MAX);
        let since_lap = u64::from(millis) * NANOS_PER_MILLI;
        Instant::from_nanos(opportunity.lap.saturating_mul(self.lap_nanos()).saturating_add(since_lap))
    }

    /// Returns the next opportunity.
    pub fn after(&self, Opportunity { lap, index }: Opportunity) -> Opportunity {
        if index + 1 < self.len() {
            Opportunity { lap, index: index + 1 }
        } else {
            Opportunity { lap: lap + 1, index: 0 }
        }
    }

    /// Returns the first opportunity at `at` or later.
    pub fn first_from(&self, at: Instant) -> Opportunity {
        let (mut lap, mut within) = (at.as_nanos() / self.lap_nanos(), at.as_nanos() % self.lap_nanos());
        if within == 0 && lap > 0 {
            // At the instant at which laps meet, the last opportunities of the earlier lap come
            // first.
            (lap, within) = (lap - 1, self.lap_nanos());
        }
        let millis = within.div_ceil(NANOS_PER_MILLI);
        Opportunity { lap, index: self.opportunities.partition_point(|&time| u64::from(time) < millis) }
    }

    /// Returns the mean rate to the nearest bit per second, but at least one.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.len() as u128 * u128::from(OPPORTUNITY_BYTES) * 8;
        let lap = u128::from(self.lap_nanos());
        let per_second = (bits * 1_000_000_000 + lap / 2) / lap;
        let at_least_one = u64::try_from(per_second).unwrap_or(u64::MAX).max(1);
        Rate::from_bps(at_least_one).unwrap_or(SLOWEST)
    }

    fn lap_nanos(&self) -> u64 {
        u64::from(self.opportunities.last().copied().unwrap_or(1).max(1)) * NANOS_PER_MILLI
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} opportunities in {} ms)", self.len(), self.lap_nanos() / NANOS_PER_MILLI)
    }
}

/// Quotes the text, and cuts it so that a long line of garbage does not fill the screen.
fn quoted(text: &str) -> String {
    let start: String = text.chars().take(24).collect();
    if start.len() < text.len() { format!("{start:?}...") } else { format!("{start:?}") }
}

const NANOS_PER_MILLI: u64 = 1_000_000;
const SLOWEST: Rate = match Rate::from_bps(1) {
    Some(rate) => rate,
    None => unreachable!(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(value: u64) -> Instant {
        Instant::from_nanos(value * NANOS_PER_MILLI)
    }

    fn at(lap: u64, index: usize) -> Opportunity {
        Opportunity { lap, index }
    }

    #[test]
    fn reads_repeated_lines_and_any_line_end() {
        let trace = Trace::parse("0\n5\r\n5\n20").unwrap();
        assert_eq!(trace.opportunities, [0, 5, 5, 20]);
        // 4 opportunities of 12 000 bits in 20 ms.
        assert_eq!(trace.mean_rate().as_bps(), 2_400_000);
    }

    #[test]
    fn a_long_line_of_garbage_is_cut() {
        let said = |line: &str| Trace::parse(line).unwrap_err().to_string();
        let letters = |count| "x".repeat(count);
        assert!(said(&letters(24)).contains(&format!("{:?}", letters(24))) && !said(&letters(24)).contains("..."));
        assert!(said(&letters(25)).contains(&format!("{:?}...", letters(24))), "{}", said(&letters(25)));
    }

    #[test]
    fn the_mean_rate_is_the_nearest_whole_one() {
        let mean = |text: &str| Trace::parse(text).unwrap().mean_rate().as_bps();
        // 12 000 bits in 7 ms are 1 714 285.7 a second, 36 000 bits are 5 142 857.1.
        assert_eq!([mean("7"), mean("1\n1\n7")], [1_714_286, 5_142_857]);
        // 12 000 bits in 16 ms and 4 lines of them in 7 ms: at a half, and above it.
        assert_eq!([mean("16"), mean("1\n2\n3\n7")], [750_000, 6_857_143]);
        // 12 000 bits in 32 000 s are 0.375 a second; in 24 000 s, 0.5.
        assert_eq!([mean("32000000"), mean("24000000")], [1, 1]);
        // 1.5 a second are 2, 1.49 are 1.
        assert_eq!([mean("8000000"), mean("8053692")], [2, 1]);
    }

    #[test]
    fn a_recording_from_times_equals_one_from_text() {
        assert_eq!(Trace::of_times(vec![0, 5, 5, 20]), Ok(Trace::parse("0\n5\n5\n20").unwrap()));
        assert_eq!(Trace::of_times(vec![3, 20]).unwrap().lap(), Duration::from_millis(20));
        assert_eq!(Trace::of_times(vec![5, 4]), Err("times that never decrease"));
        assert_eq!(Trace::of_times(vec![0, 0]), Err(LENGTH));
        assert_eq!(Trace::of_times(Vec::new()), Err(LENGTH));
    }

    #[test]
    fn a_malformed_recording_is_refused_with_its_line() {
        let error = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 1: an empty file; expected at least one time");
        assert_eq!(error("1\nx7\n"), "line 2: \"x7\"; expected a time in whole milliseconds");
        assert_eq!(error("1\n-7\n"), "line 2: \"-7\"; expected a time in whole milliseconds");
        assert_eq!(error("1\n+7\n"), "line 2: \"+7\"; expected a time in whole milliseconds");
        assert_eq!(error("1\n2.5\n"), "line 2: \"2.5\"; expected a time in whole milliseconds");
        assert_eq!(error("1\n\n2"), "line 2: an empty line; expected a time in whole milliseconds");
        assert_eq!(error("1\n4\n3\n"), "line 3: 3 after 4; expected times that never decrease");
        assert_eq!(
            error("4294967296"),
            "line 1: \"4294967296\"; expected a time in whole milliseconds, at most 4294967295"
        );
        assert_eq!(
            error("0\n0\n"),
            "line 2: no time above 0; expected a last time above 0, the length of the recording"
        );
        assert!(error(&"z".repeat(500)).len() < 90);
    }

    #[test]
    fn each_lap_begins_at_the_end_of_the_last() {
        let trace = Trace::parse("0\n5\n5\n20\n").unwrap();
        assert_eq!(trace.time(at(0, 3)), millis(20));
        assert_eq!(trace.after(at(0, 3)), at(1, 0));
        assert_eq!(trace.time(at(1, 0)), millis(20));
        assert_eq!(trace.time(at(2, 1)), millis(45));
    }

    #[test]
    fn finds_the_first_opportunity_from_an_instant() {
        let trace = Trace::parse("0\n5\n5\n20\n").unwrap();
        assert_eq!(trace.first_from(Instant::ZERO), at(0, 0));
        assert_eq!(trace.first_from(Instant::from_nanos(1)), at(0, 1));
        assert_eq!(trace.first_from(millis(5)), at(0, 1));
        assert_eq!(trace.first_from(Instant::from_nanos(5_000_001)), at(0, 3));
        assert_eq!(trace.first_from(millis(20)), at(0, 3));
        assert_eq!(trace.first_from(Instant::from_nanos(20_000_001)), at(1, 1));
        assert_eq!(trace.first_from(millis(60)), at(2, 3));
    }
}
