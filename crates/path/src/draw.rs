//! Lengths of time, constant or drawn from a distribution. Amounts of other units are drawn in the same way.

use crate::config::ConfigError;
use crate::stream::Stream;
use eifel_base::time::Duration;
use std::sync::Arc;

/// A length of time. All times are in seconds.
#[derive(Clone, PartialEq, Debug)]
pub enum Draw {
    /// Always the same length; takes no draw.
    Constant {
        value_s: f64,
    },
    Uniform {
        low_s: f64,
        high_s: f64,
    },
    /// Exponential: the gaps of a Poisson process.
    Exponential {
        mean_s: f64,
    },
    /// Normal, truncated: a draw outside the bounds is drawn again.
    Normal {
        /// Mean, before truncation; within the bounds.
        mean_s: f64,
        /// Standard deviation, before truncation.
        deviation_s: f64,
        /// Shortest length; not negative.
        minimum_s: f64,
        /// Longest length; infinite for no bound.
        maximum_s: f64,
    },
    /// Log-normal: the logarithm is normal.
    LogNormal {
        median_s: f64,
        /// Standard deviation of the natural logarithm; no unit.
        sigma: f64,
    },
    /// Pareto: a heavy tail, with an infinite mean for a shape of 1 or less.
    Pareto {
        minimum_s: f64,
        /// Exponent of the tail; no unit.
        shape: f64,
    },
    /// Measured values, all equally likely. Not empty.
    Listed {
        values_s: Arc<[f64]>,
    },
}

impl Draw {
    /// Draws a length, to the nearest nanosecond.
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        Duration::from_secs_f64(self.number(stream))
    }

    /// Draws a number, in the unit of the parameters.
    pub fn number(&self, stream: &mut Stream) -> f64 {
        match *self {
            Self::Constant { value_s } => value_s,
            Self::Uniform { low_s, high_s } => low_s + (high_s - low_s) * stream.unit(),
            Self::Exponential { mean_s } => -mean_s * libm::log(1.0 - stream.unit()),
            Self::Normal { mean_s, deviation_s, minimum_s, maximum_s } => {
                let within = |s: &f64| (minimum_s..=maximum_s).contains(s);
                // Bounds that hardly ever hold must not stall the run: after `REDRAWS` draws the
                // mean is used.
                (0..REDRAWS).map(|_| mean_s + deviation_s * normal(stream)).find(within).unwrap_or(mean_s)
            }
            Self::LogNormal { median_s, sigma } => median_s * libm::exp(sigma * normal(stream)),
            Self::Pareto { minimum_s, shape } => minimum_s * libm::pow(1.0 - stream.unit(), -1.0 / shape),
            Self::Listed { ref values_s } => {
                values_s.get(stream.below(values_s.len() as u64) as usize).copied().unwrap_or_default()
            }
        }
    }

    /// Returns the mean length in seconds; infinite for the heaviest Pareto tails. For a truncated
    /// normal, the mean before truncation.
    pub fn mean_s(&self) -> f64 {
        match *self {
            Self::Constant { value_s } => value_s,
            Self::Uniform { low_s, high_s } => f64::midpoint(low_s, high_s),
            Self::Exponential { mean_s } | Self::Normal { mean_s, .. } => mean_s,
            Self::LogNormal { median_s, sigma } => median_s * libm::exp(sigma * sigma / 2.0),
            Self::Pareto { shape, .. } if shape <= 1.0 => f64::INFINITY,
            Self::Pareto { minimum_s, shape } => minimum_s * shape / (shape - 1.0),
            Self::Listed { ref values_s } => values_s.iter().sum::<f64>() / values_s.len() as f64,
        }
    }

    /// Checks the parameters. `key` names the setting in the error.
    pub fn check(&self, key: &str) -> Result<(), ConfigError> {
        self.check_up_to(key, "s", LONGEST_S)
    }

    /// Checks parameters in another unit, each of which may be at most `most`.
    pub fn check_up_to(&self, key: &str, unit: &str, most: f64) -> Result<(), ConfigError> {
        let time = |name: &str, value: f64| {
            let allowed = (0.0..=most).contains(&value);
            ConfigError::unless(allowed, key, || format!("{name} is {value} {unit}; allowed: 0 to {most} {unit}"))
        };
        let number = |name: &str, value: f64, most: f64| {
            let allowed = value > 0.0 && value <= most;
            ConfigError::unless(allowed, key, || format!("{name} is {value}; allowed: above 0, up to {most}"))
        };
        match *self {
            Self::Constant { value_s } => time("the length", value_s),
            Self::Uniform { low_s, high_s } => {
                time("the lower end", low_s)?;
                time("the upper end", high_s)?;
                let ordered = low_s <= high_s;
                ConfigError::unless(ordered, key, || {
                    format!("the lower end {low_s} {unit} is above the upper {high_s} {unit}")
                })
            }
            Self::Exponential { mean_s } => time("the mean", mean_s),
            Self::Normal { mean_s, deviation_s, minimum_s, maximum_s } => {
                time("the mean", mean_s)?;
                time("the standard deviation", deviation_s)?;
                time("the minimum", minimum_s)?;
                let within = minimum_s <= mean_s && mean_s <= maximum_s;
                ConfigError::unless(within, key, || {
                    format!("the mean {mean_s} {unit} is outside the bounds {minimum_s} {unit} to {maximum_s} {unit}")
                })
            }
            Self::LogNormal { median_s, sigma } => {
                time("the median", median_s)?;
                number("sigma", sigma, 5.0)
            }
            Self::Pareto { minimum_s, shape } => {
                time("the minimum", minimum_s)?;
                number("the shape", shape, 1000.0)
            }
            Self::Listed { ref values_s } => {
                ConfigError::unless(!values_s.is_empty(), key, || {
                    "an empty list; allowed: one value or more".to_owned()
                })?;
                values_s.iter().try_for_each(|&value| time("a value", value))
            }
        }
    }
}

/// Draws a standard normal number by Marsaglia's polar method. The second number of each pair is
/// discarded, so that draws keep no state.
fn normal(stream: &mut Stream) -> f64 {
    loop {
        let (x, y) = (2.0 * stream.unit() - 1.0, 2.0 * stream.unit() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}

const REDRAWS: usize = 1000;
/// Ten years. Sums of a few of them in nanoseconds stay far below 2^64.
const LONGEST_S: f64 = 315_360_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_quantiles(draw: &Draw) -> (f64, [f64; 3]) {
        let mut stream = Stream::new(11, &["draw"]);
        let mut all: Vec<f64> = (0..40_000).map(|_| draw.draw(&mut stream).as_secs_f64()).collect();
        all.sort_by(f64::total_cmp);
        (all.iter().sum::<f64>() / 40_000.0, [all[4_000], all[20_000], all[36_000]])
    }

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn a_constant_draws_nothing() {
        let mut stream = Stream::new(1, &["a"]);
        let untouched = stream.clone().unit();
        assert_eq!(Draw::Constant { value_s: 0.25 }.draw(&mut stream), Duration::from_millis(250));
        assert_eq!(stream.unit(), untouched);
    }

    #[test]
    fn uniform_has_its_quantiles_and_stays_inside() {
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&Draw::Uniform { low_s: 3.0, high_s: 15.0 });
        near(mean, 9.0, 0.01);
        near(tenth, 4.2, 0.02);
        near(half, 9.0, 0.02);
        near(ninth, 13.8, 0.01);
    }

    #[test]
    fn exponential_has_its_quantiles() {
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&Draw::Exponential { mean_s: 2.0 });
        near(mean, 2.0, 0.02);
        near(tenth, 2.0 * 0.105_36, 0.05);
        near(half, 2.0 * core::f64::consts::LN_2, 0.03);
        near(ninth, 2.0 * core::f64::consts::LN_10, 0.03);
    }

    #[test]
    fn normal_has_its_quantiles_and_keeps_its_bounds() {
        let wide = Draw::Normal { mean_s: 10.0, deviation_s: 2.0, minimum_s: 0.0, maximum_s: f64::INFINITY };
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&wide);
        near(mean, 10.0, 0.01);
        near(tenth, 10.0 - 2.0 * 1.281_55, 0.01);
        near(half, 10.0, 0.01);
        near(ninth, 10.0 + 2.0 * 1.281_55, 0.01);
        let mut stream = Stream::new(3, &["draw"]);
        let narrow = Draw::Normal { mean_s: 1.0, deviation_s: 5.0, minimum_s: 0.5, maximum_s: 1.5 };
        assert!((0..2_000).all(|_| {
            let drawn = narrow.draw(&mut stream).as_secs_f64();
            (0.5..=1.5).contains(&drawn)
        }));
        let impossible = Draw::Normal { mean_s: 1.0, deviation_s: 5.0, minimum_s: 1.0, maximum_s: 1.0 };
        assert_eq!(impossible.draw(&mut stream), Duration::from_secs(1));
    }

    #[test]
    fn lognormal_and_pareto_have_their_quantiles() {
        let lognormal = Draw::LogNormal { median_s: 2.0, sigma: 0.5 };
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&lognormal);
        near(mean, 2.0 * 1.133_15, 0.02);
        near(mean, lognormal.mean_s(), 0.02);
        near(tenth, 2.0 * 0.526_9, 0.02);
        near(half, 2.0, 0.02);
        near(ninth, 2.0 * 1.898_0, 0.02);
        let pareto = Draw::Pareto { minimum_s: 1.0, shape: 3.0 };
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&pareto);
        near(mean, 1.5, 0.02);
        near(pareto.mean_s(), 1.5, 1e-12);
        near(tenth, 1.035_74, 0.01);
        near(half, 1.259_92, 0.01);
        near(ninth, 2.154_43, 0.02);
    }

    #[test]
    fn listed_values_are_as_likely() {
        let listed = Draw::Listed { values_s: [1.0, 2.0, 6.0, 7.0].into() };
        let (mean, [tenth, half, ninth]) = mean_and_quantiles(&listed);
        near(mean, 4.0, 0.02);
        near(listed.mean_s(), 4.0, 1e-12);
        assert_eq!((tenth, ninth), (1.0, 7.0));
        assert!(half == 2.0 || half == 6.0, "{half}");
    }

    #[test]
    fn senseless_parameters_are_named() {
        let message = |draw: Draw| draw.check("length").unwrap_err().to_string();
        assert_eq!(message(Draw::Constant { value_s: -1.0 }), "length: the length is -1 s; allowed: 0 to 315360000 s");
        assert!(message(Draw::Constant { value_s: f64::NAN }).contains("NaN"));
        assert!(message(Draw::Uniform { low_s: 2.0, high_s: 1.0 }).contains("above the upper"));
        assert!(message(Draw::Pareto { minimum_s: 1.0, shape: 0.0 }).contains("shape is 0"));
        assert!(message(Draw::LogNormal { median_s: 1.0, sigma: 9.0 }).contains("sigma is 9"));
        let outside = Draw::Normal { mean_s: 5.0, deviation_s: 1.0, minimum_s: 0.0, maximum_s: 2.0 };
        assert!(message(outside).contains("outside the bounds"));
        assert_eq!(message(Draw::Listed { values_s: [].into() }), "length: an empty list; allowed: one value or more");
        assert!(message(Draw::Listed { values_s: [1.0, -2.0].into() }).contains("a value is -2 s"));
        let bytes = Draw::Exponential { mean_s: 1e10 }.check_up_to("size", "bytes", 1e9).unwrap_err();
        assert_eq!(bytes.to_string(), "size: the mean is 10000000000 bytes; allowed: 0 to 1000000000 bytes");
        assert!(Draw::Uniform { low_s: 3.0, high_s: 15.0 }.check("length").is_ok());
    }
}
