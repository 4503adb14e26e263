//! Parameters of algorithms: those that exist, and the values that were set.

use core::fmt;

use super::{Entry, Seam};
use eifel_base::time::Duration;

/// A parameter of an algorithm.
#[derive(Debug)]
pub struct Parameter {
    /// Its key in scenarios, with its unit.
    pub name: &'static str,
    /// What it changes, in one line.
    pub summary: &'static str,
    /// Its type, default and bounds.
    pub kind: Kind,
}

impl Parameter {
    /// Declares a time in milliseconds.
    pub const fn milliseconds(
        name: &'static str,
        summary: &'static str,
        default_ms: u64,
        (minimum, maximum): (Duration, Duration),
    ) -> Self {
        let default = Duration::from_millis(default_ms);
        Self { name, summary, kind: Kind::Milliseconds { default, minimum, maximum } }
    }

    /// Declares a whole number.
    pub const fn integer(
        name: &'static str,
        summary: &'static str,
        default: i64,
        (minimum, maximum): (i64, i64),
    ) -> Self {
        Self { name, summary, kind: Kind::Integer { default, minimum, maximum } }
    }

    /// Declares a switch.
    pub const fn switch(name: &'static str, summary: &'static str, default: bool) -> Self {
        Self { name, summary, kind: Kind::Switch { default } }
    }

    /// Declares a choice between words.
    pub const fn word(
        name: &'static str,
        summary: &'static str,
        default: &'static str,
        allowed: &'static [&'static str],
    ) -> Self {
        Self { name, summary, kind: Kind::Word { default, allowed } }
    }
}

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// Value if nothing is set.
        default: i64,
        /// The smallest value allowed.
        minimum: i64,
        /// The largest value allowed.
        maximum: i64,
    },
    /// A time. It is written in milliseconds, with fractions if needed.
    Milliseconds {
        /// Value if nothing is set.
        default: Duration,
        /// The smallest value allowed.
        minimum: Duration,
        /// The largest value allowed.
        maximum: Duration,
    },
    /// On or off.
    Switch {
        /// Value if nothing is set.
        default: bool,
    },
    /// One of several words.
    Word {
        /// Value if nothing is set.
        default: &'static str,
        /// All words that are allowed.
        allowed: &'static [&'static str],
    },
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A time.
    Duration(Duration),
    /// On or off.
    Switch(bool),
    Word(String),
}

/// An algorithm by name, with the parameters that are set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    pub name: String,
    /// The parameters that are set. All others have their defaults.
    pub parameters: Vec<(String, Value)>,
}

impl Choice {
    /// Chooses an algorithm with all its defaults.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), parameters: Vec::new() }
    }

    /// Sets one parameter.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: Value) -> Self {
        self.parameters.push((parameter.into(), value));
        self
    }

    /// Returns a time among the parameters of this algorithm of `seam`: as it is set, or its default.
    /// `None` if the algorithm is unknown or has no such parameter.
    pub fn duration(&self, seam: Seam, parameter: &str) -> Option<Duration> {
        let set = self.parameters.iter().rev().find(|(name, _)| name == parameter);
        if let Some((_, Value::Duration(set))) = set {
            return Some(*set);
        }
        let known = seam.any_entry(&self.name)?.parameters.iter().find(|known| known.name == parameter)?;
        if let Kind::Milliseconds { default, .. } = known.kind { Some(default) } else { None }
    }
}

/// Parameters checked against an entry. Each has a value.
#[derive(Debug)]
pub struct Parameters {
    values: Vec<(&'static str, Value)>,
}

impl Parameters {
    /// Checks the parameters that are set, and fills in the defaults.
    ///
    /// # Errors
    /// An unknown parameter, a wrong type, or a value out of its bounds.
    pub fn check(entry: &'static Entry, set: &[(String, Value)]) -> Result<Self, Error> {
        if let Some((name, _)) = set.iter().find(|(name, _)| !entry.parameters.iter().any(|known| known.name == name)) {
            return Err(Error::UnknownParameter { algorithm: entry.name, name: name.clone(), known: entry.parameters });
        }
        let value_of = |parameter: &'static Parameter| {
            let value = match set.iter().rev().find(|(name, _)| name == parameter.name) {
                Some((_, value)) if parameter.kind.allows(value) => value.clone(),
                Some((_, value)) => {
                    return Err(Error::BadValue { algorithm: entry.name, parameter, value: value.clone() });
                }
                None => parameter.kind.default(),
            };
            Ok((parameter.name, value))
        };
        Ok(Self { values: entry.parameters.iter().map(value_of).collect::<Result<_, _>>()? })
    }

    /// Iterates over names and values, in the entry's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    fn value(&self, name: &str) -> &Value {
        let found = self.values.iter().find(|(known, _)| *known == name);
        &found.unwrap_or_else(|| panic!("the registry declares no parameter {name}")).1
    }

    pub(crate) fn integer(&self, name: &str) -> u64 {
        let Value::Integer(value) = self.value(name) else { panic!("{name} is not declared as an integer") };
        value.unsigned_abs()
    }

    pub(crate) fn duration(&self, name: &str) -> Duration {
        let Value::Duration(value) = self.value(name) else { panic!("{name} is not declared as a time") };
        *value
    }

    pub(crate) fn switch(&self, name: &str) -> bool {
        let Value::Switch(value) = self.value(name) else { panic!("{name} is not declared as a switch") };
        *value
    }

    /// Returns the meaning of the configured word.
    pub(crate) fn word<T: Copy>(&self, name: &str, meanings: &[(&str, T)]) -> T {
        let Value::Word(value) = self.value(name) else { panic!("{name} is not declared as a word") };
        let found = meanings.iter().find(|(word, _)| word == value);
        found.unwrap_or_else(|| panic!("the registry allows {value} for {name}, which has no meaning")).1
    }
}

impl Kind {
    fn default(&self) -> Value {
        match *self {
            Self::Integer { default, .. } => Value::Integer(default),
            Self::Milliseconds { default, .. } => Value::Duration(default),
            Self::Switch { default } => Value::Switch(default),
            Self::Word { default, .. } => Value::Word(default.into()),
        }
    }

    fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer { minimum, maximum, .. }, Value::Integer(value)) => (minimum..=maximum).contains(&value),
            (Self::Milliseconds { minimum, maximum, .. }, Value::Duration(value)) => {
                (minimum..=maximum).contains(&value)
            }
            (Self::Switch { .. }, Value::Switch(_)) => true,
            (Self::Word { allowed, .. }, Value::Word(word)) => allowed.contains(&word.as_str()),
            _ => false,
        }
    }
}

/// Why an algorithm cannot be built.
#[derive(Clone, Debug)]
pub enum Error {
    /// No algorithm has this name.
    UnknownAlgorithm {
        /// The seam in which the name was looked up.
        seam: Seam,
        /// As the choice gave it.
        name: String,
    },
    /// The algorithm has no parameter of this name.
    UnknownParameter {
        algorithm: &'static str,
        /// As the choice gave it.
        name: String,
        /// The parameters that the algorithm has.
        known: &'static [Parameter],
    },
    /// The parameter cannot have this value.
    BadValue {
        algorithm: &'static str,
        parameter: &'static Parameter,
        /// As the choice gave it.
        value: Value,
    },
    /// The program that provides an algorithm cannot find it, for this reason.
    NotProvided(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAlgorithm { seam, name } => {
                let names: Vec<_> = seam.entries().iter().map(|entry| entry.name).collect();
                write!(f, "unknown algorithm \"{name}\" for {}", seam.name())?;
                write_known(f, name, &names)
            }
            Self::UnknownParameter { algorithm, name, known } => {
                let names: Vec<_> = known.iter().map(|parameter| parameter.name).collect();
                write!(f, "unknown parameter \"{name}\" for {algorithm}")?;
                write_known(f, name, &names)
            }
            Self::BadValue { algorithm, parameter, value } => {
                write!(f, "{} = {value} for {algorithm}; allowed: {}", parameter.name, parameter.kind)
            }
            Self::NotProvided(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Duration(value) => write!(f, "{}", value.as_nanos() as f64 / 1e6),
            Self::Switch(value) => write!(f, "{value}"),
            Self::Word(word) => write!(f, "\"{word}\""),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { minimum, maximum, .. } => write!(f, "an integer from {minimum} to {maximum}"),
            Self::Milliseconds { minimum, maximum, .. } => {
                write!(f, "a time from {} to {} ms", Value::Duration(*minimum), Value::Duration(*maximum))
            }
            Self::Switch { .. } => f.write_str("true or false"),
            Self::Word { allowed, .. } => f.write_str(&allowed.join(", ")),
        }
    }
}

fn write_known(f: &mut fmt::Formatter<'_>, name: &str, known: &[&str]) -> fmt::Result {
    if let Some(nearest) = known.iter().min_by_key(|candidate| strsim::levenshtein(name, candidate)) {
        write!(f, " (did you mean \"{nearest}\"?); allowed: {}", known.join(", "))
    } else {
        f.write_str("; it has none")
    }
}
