//! The limit on challenge ACKs (RFC 5961, section 7). A known limit, shared by connections, tells
//! an off-path attacker whether its guesses were challenged (CVE-2016-5696). So each connection
//! counts its own challenge ACKs, and draws each interval's limit at random.

use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;

use crate::settings::ChallengeLimit;

/// The challenge ACKs left in the current interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Challenges {
    /// Maximum number of challenge ACKs per interval.
    most: u32,
    left: u32,
    interval: Duration,
    ends: Instant,
    drawn: u64,
}

impl Challenges {
    /// Makes the limit. `secret` seeds the draws. It is the initial sequence number, which an
    /// off-path attacker does not know.
    pub(crate) fn new(limit: ChallengeLimit, secret: Seq) -> Self {
        let ChallengeLimit { acks: most, interval } = limit;
        Self { most, left: 0, interval, ends: Instant::ZERO, drawn: u64::from(secret.0) }
    }

    /// Draws the number of challenge ACKs of an interval: from half of the limit up to the limit.
    fn allowance(&mut self) -> u32 {
        // SplitMix64.
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.drawn ^ (self.drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let choices = u64::from(self.most / 2) + 1;
        self.most - ((mixed ^ (mixed >> 31)) % choices) as u32
    }

    /// Takes a challenge ACK. Returns `false` if the interval has none left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        if now >= self.ends {
            self.ends = now + self.interval;
            self.left = self.allowance();
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

    #[test]
    fn each_interval_allows_between_half_the_limit_and_the_limit() {
        let mut challenges = Challenges::new(ChallengeLimit { acks: 4, interval: Duration::from_secs(5) }, Seq(7));
        let counts: Vec<usize> = (0..100)
            .map(|interval| {
                let at = Instant::ZERO + Duration::from_secs(5 * interval);
                (0..10).filter(|_| challenges.take(at)).count()
            })
            .collect();
        for count in 2..=4 {
            assert!(counts.contains(&count), "{counts:?}");
        }
        assert!(counts.iter().all(|count| (2..=4).contains(count)), "{counts:?}");
    }
}
