//! The limit on challenge ACKs (RFC 5961, section 7).

use eifel_recovery::time::Instant;

use crate::settings::ChallengeLimit;

/// What is left of the current interval's challenge ACKs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Challenges {
    limit: ChallengeLimit,
    ends: Instant,
    left: u32,
}

impl Challenges {
    pub(crate) fn new(limit: ChallengeLimit) -> Self {
        Self { limit, ends: Instant::ZERO, left: limit.acks }
    }

    /// Takes one, if the interval has one left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        if now >= self.ends {
            self.ends = now + self.limit.interval;
            self.left = self.limit.acks;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_recovery::time::Duration;

    #[test]
    fn an_interval_has_its_number_and_the_next_has_it_again() {
        let mut challenges = Challenges::new(ChallengeLimit { acks: 2, interval: Duration::from_secs(5) });
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        assert_eq!([1, 1, 2, 5].map(|secs| challenges.take(at(secs))), [true, true, false, false]);
        assert_eq!([6, 7, 8].map(|secs| challenges.take(at(secs))), [true, true, false]);
    }
}
