//! Algorithms of a program that embeds this crate, such as detectors that are classes of Python.
//!
//! A program provides them once, under names with a colon (`module:Class`), which no algorithm of
//! this crate has. From then on such a name stands wherever the registry's names do.

use super::part::Provided;
use super::{Entry, Need, Parameter, Seam};
use std::sync::OnceLock;

/// Finds the algorithms that a program provides.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Returns the algorithm of a seam that a name with a colon names, or why there is none.
    pub find: fn(Seam, &str) -> Result<&'static Entry, String>,
    /// Returns the detectors that watch over captures beside the registry's.
    pub over_captures: fn() -> Vec<&'static Entry>,
}

static PROVIDER: OnceLock<Provider> = OnceLock::new();

/// Sets the provider of this process. Only the first call has an effect.
pub fn provide(provider: Provider) {
    PROVIDER.get_or_init(|| provider);
}

/// Returns the provided algorithm of a seam, or why there is none. `None` for a name without colon,
/// or without a provider.
pub fn provided(seam: Seam, name: &str) -> Option<Result<&'static Entry, String>> {
    let provider = PROVIDER.get()?;
    name.contains(':').then(|| (provider.find)(seam, name))
}

/// Returns the provided detectors that watch over captures.
pub fn over_captures() -> Vec<&'static Entry> {
    PROVIDER.get().map(|provider| (provider.over_captures)()).unwrap_or_default()
}

impl Entry {
    /// Creates the entry of a provided algorithm: its name, summary and source. `needs` and `probes` are as in
    /// [`Entry`].
    pub fn provided(
        (name, summary, source): (&'static str, &'static str, &'static str),
        parameters: &'static [Parameter],
        (needs, probes): (Option<Need>, bool),
        make: Provided,
    ) -> Self {
        let (seam, build) = make.build();
        Self { seam, name, summary, source, parameters, needs, weakness: None, probes, build }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Detector, Judgement};
    use crate::fact::Fact;
    use crate::registry::{Choice, Value, part};
    use crate::view::View;

    /// Has a verdict on nothing; shows its parameter.
    #[derive(Clone, Debug)]
    struct Limited(#[expect(dead_code, reason = "shown by Debug")] u64);

    impl Detector for Limited {
        fn observe(&mut self, _: &Fact<'_>, _: &View) -> Judgement {
            Judgement::Undecided
        }
    }

    fn find(seam: Seam, name: &str) -> Result<&'static Entry, String> {
        if (seam, name) != (Seam::Detect, "mine:Limited") {
            return Err(format!("{name}: not mine"));
        }
        const PARAMETERS: &[Parameter] = &[Parameter::integer("limit", "a limit", 7, (0, 9))];
        Ok(Box::leak(Box::new(Entry::provided(
            ("mine:Limited", "waits", "a test"),
            PARAMETERS,
            (None, false),
            Provided::Detect(&|parameters| Box::new(Limited(parameters.integer("limit")))),
        ))))
    }

    #[test]
    fn a_provided_detector_is_built_by_its_name_and_checked_like_any_other() {
        provide(Provider { find, over_captures: Vec::new });
        let built = |choice: &Choice| part::detector(choice).map(|detector| format!("{detector:?}"));
        assert_eq!(built(&Choice::named("mine:Limited")).unwrap(), "Limited(7)");
        assert_eq!(built(&Choice::named("mine:Limited").with("limit", Value::Integer(3))).unwrap(), "Limited(3)");
        let refused = |choice: &Choice| built(choice).unwrap_err().to_string();
        assert_eq!(
            refused(&Choice::named("mine:Limited").with("limit", Value::Integer(10))),
            "limit = 10 for mine:Limited; allowed: an integer from 0 to 9"
        );
        assert_eq!(refused(&Choice::named("other:Limited")), "other:Limited: not mine");
        assert_eq!(part::response(&Choice::named("mine:Limited")).unwrap_err().to_string(), "mine:Limited: not mine");
        assert!(Seam::Detect.entry("mine:Limited").unwrap().is_provided());
        assert!(!Seam::Detect.entry("none").unwrap().is_provided());
    }
}
