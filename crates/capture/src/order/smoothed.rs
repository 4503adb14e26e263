//! A smoothed round trip and its variation (RFC 6298, section 2).

/// Both in nanoseconds. The mean is `u64::MAX` without samples: an `Option` would be larger, and a
/// capture may hold a hundred thousand of these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothed {
    mean: u64,
    variation: u64,
}

impl Default for Smoothed {
    fn default() -> Self {
        Self { mean: u64::MAX, variation: 0 }
    }
}

impl Smoothed {
    /// Returns the mean and the variation, if there are samples.
    #[inline]
    pub(crate) fn get(self) -> Option<(u64, u64)> {
        (self.mean != u64::MAX).then_some((self.mean, self.variation))
    }

    /// Adds one of many samples in a round trip.
    #[inline]
    pub(crate) fn sample(&mut self, nanos: u64) {
        *self = match self.get() {
            None => Self { mean: nanos, variation: nanos / 2 },
            Some((mean, variation)) => {
                Self { mean: (7 * mean + nanos) / 8, variation: (3 * variation + mean.abs_diff(nanos)) / 4 }
            }
        };
    }

    /// Adds the only sample in a round trip, which counts for half of the mean.
    pub(crate) fn sample_of_all(&mut self, nanos: u64) {
        *self = match self.get() {
            None => Self { mean: nanos, variation: nanos / 2 },
            Some((mean, variation)) => {
                Self { mean: (mean + nanos) / 2, variation: (3 * variation + mean.abs_diff(nanos)) / 4 }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_for_an_eighth_or_for_half() {
        let mut smoothed = Smoothed::default();
        assert_eq!(smoothed.get(), None);
        smoothed.sample(80);
        assert_eq!(smoothed.get(), Some((80, 40)));
        smoothed.sample(160);
        assert_eq!(smoothed.get(), Some((90, 50)));
        smoothed.sample_of_all(10);
        assert_eq!(smoothed.get(), Some((50, 57)));
    }
}
