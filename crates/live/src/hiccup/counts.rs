//! Counts of the packets that passed the box, and expectations about them.

use super::{Direction, Fate, Transit};
use std::fmt;

/// Packets of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets that came in.
    pub packets: u64,
    /// Bytes of the packets that came in.
    pub bytes: u64,
    /// Packets that came out, without copies.
    pub delivered: u64,
    /// Copies that the box has made and delivered.
    pub copied: u64,
    /// Packets dropped by the links or by an order.
    pub dropped: u64,
}

impl Counts {
    /// Counts the fate of a packet, or of a copy of it.
    pub fn note(&mut self, passage: &Transit) {
        if passage.fate != Fate::Copied {
            self.packets += 1;
            self.bytes += u64::from(passage.bytes);
        }
        match passage.fate {
            Fate::Delivered => self.delivered += 1,
            Fate::Copied => self.copied += 1,
            Fate::Dropped(_) | Fate::Ordered => self.dropped += 1,
            Fate::Inside => {}
        }
    }
}

/// Numbers by name, as `there.dropped`.
pub type Numbers = Vec<(String, f64)>;

/// Returns the counts of both directions by name.
pub fn numbers(counts: &[Counts; 2]) -> Numbers {
    let of = |direction: Direction| {
        let counts = counts[direction as usize];
        let named = [
            ("packets", counts.packets),
            ("bytes", counts.bytes),
            ("delivered", counts.delivered),
            ("copied", counts.copied),
            ("dropped", counts.dropped),
        ];
        named.map(|(name, count)| (format!("{}.{name}", direction.name()), count as f64))
    };
    Direction::ALL.into_iter().flat_map(of).collect()
}

/// An expectation about a number.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    name: String,
    compares: Comparison,
    bound: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    AtMost,
    AtLeast,
    Equals,
    Below,
    Above,
}

/// The signs. Longer signs come first, so that `<` is not found in `<=`.
const SIGNS: [(&str, Comparison); 5] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equals),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

impl Expectation {
    /// Parses an expectation, as `there.dropped==3` or `spurious <= 2`.
    ///
    /// # Errors
    /// A line that describes the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?}: expected NAME<=NUMBER, with <=, >=, ==, < or >");
        let (sign, compares) = SIGNS.into_iter().find(|(sign, _)| text.contains(sign)).ok_or_else(wrong)?;
        let (name, bound) = text.split_once(sign).ok_or_else(wrong)?;
        let bound = bound.trim().parse().map_err(|_| wrong())?;
        Ok(Self { name: name.trim().to_owned(), compares, bound })
    }

    /// Returns the number that the expectation names.
    ///
    /// # Errors
    /// A line that says that there is no number of this name.
    pub fn of(&self, numbers: &Numbers) -> Result<f64, String> {
        numbers.iter().find(|(name, _)| *name == self.name).map(|&(_, found)| found).ok_or_else(|| {
            let names: Vec<&str> = numbers.iter().map(|(name, _)| name.as_str()).collect();
            format!("{}: no such number; allowed: {}", self.name, names.join(", "))
        })
    }

    /// Checks that the expectation is met.
    ///
    /// # Errors
    /// A line with the number found, or that says that there is no number of this name.
    pub fn check(&self, numbers: &Numbers) -> Result<(), String> {
        let found = self.of(numbers)?;
        let met = match self.compares {
            Comparison::AtMost => found <= self.bound,
            Comparison::AtLeast => found >= self.bound,
            Comparison::Equals => found == self.bound,
            Comparison::Below => found < self.bound,
            Comparison::Above => found > self.bound,
        };
        if met { Ok(()) } else { Err(format!("expected {self}, found {found}")) }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS.iter().find(|(_, compares)| *compares == self.compares).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {}", self.name, self.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmet_expectation_says_the_value_found() {
        let numbers = vec![("there.dropped".to_owned(), 3.0)];
        let check = |text: &str| Expectation::parse(text).unwrap().check(&numbers);
        for met in
            ["there.dropped==3", "there.dropped <= 3", "there.dropped>2.5", "there.dropped >=3", "there.dropped<4"]
        {
            assert_eq!(check(met), Ok(()));
        }
        assert_eq!(check("there.dropped<3"), Err("expected there.dropped < 3, found 3".to_owned()));
        assert_eq!(check("x==1"), Err("x: no such number; allowed: there.dropped".to_owned()));
        assert!(Expectation::parse("there.dropped = 3").unwrap_err().contains("expected NAME<=NUMBER"));
        assert!(Expectation::parse("a==b").is_err());
    }
}
