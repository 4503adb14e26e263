//! Means of repeated runs, with Student's confidence intervals.

use std::f64::consts::FRAC_2_PI;

/// The probability of both tails of an interval, beyond its ends.
const TAILS: f64 = 0.05;

/// A mean, and the half-width of its interval; none of a single value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mean {
    pub mean: f64,
    pub half_width: Option<f64>,
}

impl Mean {
    /// Returns the mean of independent repetitions, with the [`quantile`] of their number; nothing of none.
    pub fn of(values: &[f64], quantile: f64) -> Option<Self> {
        let count = values.len();
        match values {
            [] => None,
            [value] => Some(Self { mean: *value, half_width: None }),
            _ => {
                let mean = sum(values) / count as f64;
                let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
                let deviation = (sum(&squares) / (count - 1) as f64).sqrt();
                Some(Self { mean, half_width: Some(quantile * (deviation / (count as f64).sqrt())) })
            }
        }
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half_width.map(|width| (self.mean - width, self.mean + width))
    }
}

/// Adds values pairwise, in NumPy's order: the Python package's means of the same runs are the same.
fn sum(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    if values.len() < LANES {
        return values.iter().fold(-0.0, |sum, value| sum + value);
    }
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (low, high) = values.split_at(half - half % LANES);
        return sum(low) + sum(high);
    }
    let whole = values.len() - values.len() % LANES;
    let mut lanes: [f64; LANES] = std::array::from_fn(|lane| values[lane]);
    for eight in values[LANES..whole].chunks(LANES) {
        lanes.iter_mut().zip(eight).for_each(|(lane, value)| *lane += value);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let folded = ((a + b) + (c + d)) + ((e + f) + (g + h));
    values[whole..].iter().fold(folded, |sum, value| sum + value)
}

/// Returns the quantile of Student's t at the upper end of an interval of `count` values; 0 where there is no
/// interval.
pub fn quantile(count: u32) -> f64 {
    let freedom = count.checked_sub(1).filter(|freedom| *freedom > 0);
    freedom.map_or(0.0, |freedom| t_quantile(1.0 - TAILS / 2.0, freedom))
}

/// Returns the quantile of Student's t. `probability` is from 0.5 on and below 1, and there is at least one
/// degree of freedom.
pub fn t_quantile(probability: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while t_cumulative(high, freedom) < probability {
        high *= 2.0;
    }
    loop {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        match t_cumulative(middle, freedom) < probability {
            true => low = middle,
            false => high = middle,
        }
    }
}

/// Returns the probability of a value below a positive `t`: Abramowitz and Stegun 26.7.1, by the finite sums
/// 26.7.3 and 26.7.4 for odd and even degrees of freedom.
fn t_cumulative(t: f64, freedom: u32) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (mut power, mut term) = if is_odd { (1, cos) } else { (0, 1.0) };
    let mut sum = if freedom > 1 { term } else { 0.0 };
    while power + 4 <= freedom {
        power += 2;
        term *= f64::from(power - 1) / f64::from(power) * cos * cos;
        sum += term;
    }
    let within = if is_odd { FRAC_2_PI * (angle + sin * sum) } else { sin * sum };
    0.5 + within / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // Table 26.10 of Abramowitz and Stegun has three to five digits; those of one and two degrees of freedom
        // have closed forms.
        for (freedom, expected) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (120, 1.980)]
        {
            let found = quantile(freedom + 1);
            assert!((found - expected).abs() < 6e-4, "{freedom}: {found}");
        }
        assert!((quantile(2) - (0.475 * std::f64::consts::PI).tan()).abs() < 1e-12);
        assert!((quantile(3) - 0.95 * (2.0 / (1.0 - 0.95 * 0.95f64)).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_interval_is_about_the_mean_of_several_values() {
        let found = Mean::of(&[1.0, 2.0, 3.0], quantile(3)).unwrap();
        // Their standard deviation is 1.
        assert_eq!(found.mean, 2.0);
        assert!((found.half_width.unwrap() - quantile(3) / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(Mean::of(&[4.0], quantile(1)), Some(Mean { mean: 4.0, half_width: None }));
        assert_eq!(Mean::of(&[], quantile(0)), None);
        assert_eq!(Mean::of(&[2.0; 9], quantile(9)).unwrap().interval(), Some((2.0, 2.0)));
    }

    #[test]
    fn sums_are_exact_where_numbers_are_whole() {
        for count in [0, 1, 7, 8, 9, 127, 128, 129, 300, 1000] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            assert_eq!(sum(&values), f64::from(count * (count + 1) / 2), "{count}");
        }
    }
}
