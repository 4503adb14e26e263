//! Numbers of bytes, fixed or drawn.

use eifel_path::config::ConfigError;
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

/// The number of bytes that an application sends at a time.
#[derive(Clone, PartialEq, Debug)]
pub struct Amount(
    /// Its seconds stand for bytes.
    Draw,
);

impl Amount {
    /// Creates a constant number of bytes.
    pub fn fixed(bytes: u64) -> Self {
        Self(Draw::Constant { value_s: bytes as f64 })
    }

    /// Creates an amount that is drawn from a distribution. `key` names the setting in the error.
    pub fn drawn(draw: Draw, key: &str) -> Result<Self, ConfigError> {
        draw.check_up_to(key, "bytes", MOST_BYTES)?;
        Ok(Self(draw))
    }

    /// Draws a number of bytes, from 1 to `MOST_BYTES`. A fixed number is returned without a
    /// draw.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self.if_fixed() {
            Some(bytes) => bytes,
            None => self.0.number(stream).round().clamp(1.0, MOST_BYTES) as u64,
        }
    }

    /// Returns the number of bytes; `None` if it is drawn.
    pub fn if_fixed(&self) -> Option<u64> {
        if let Draw::Constant { value_s } = self.0 { Some(value_s as u64) } else { None }
    }

    /// Returns the distribution. Its seconds stand for bytes.
    pub fn distribution(&self) -> &Draw {
        &self.0
    }
}

/// The most bytes of one draw. It cuts off a heavy tail.
pub const MOST_BYTES: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(amount: &Amount) -> Vec<u64> {
        let mut stream = Stream::new(1, &["amount"]);
        (0..1000).map(|_| amount.draw(&mut stream)).collect()
    }

    #[test]
    fn amounts_are_whole_and_never_nothing() {
        assert!(draws(&Amount::fixed(1_000_000_000_000_000)).iter().all(|&bytes| bytes == 1_000_000_000_000_000));
        let small = draws(&Amount::drawn(Draw::Exponential { mean_s: 0.6 }, "bytes").unwrap());
        assert!(small.contains(&1) && small.contains(&2) && !small.contains(&0));
        let tail = draws(&Amount::drawn(Draw::Pareto { minimum_s: 1e9, shape: 0.1 }, "bytes").unwrap());
        assert_eq!(tail.iter().max(), Some(&1_000_000_000_000));
        let listed = Amount::drawn(Draw::Listed { values_s: [300.0, 700.0].into() }, "bytes").unwrap();
        let listed = draws(&listed);
        let short = listed.iter().filter(|&&bytes| bytes == 300).count();
        // Standard deviation 16.
        assert!((420..580).contains(&short) && listed.iter().all(|&bytes| bytes == 300 || bytes == 700), "{short}");
    }
}
