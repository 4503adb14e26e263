//! RFC 7323, sections 4.3 and 5.

use eifel_base::time::{Duration, Instant};
use eifel_tcp::settings::EchoRule;

pub struct Stamps {
    /// TS.Recent. `recent_at` is when it was set.
    pub recent: u32,
    recent_at: Instant,
    pub last_ack_sent: u64,
    rule: EchoRule,
}

const TWENTY_FOUR_DAYS: Duration = Duration::from_secs(24 * 24 * 3600);

impl Stamps {
    pub fn new(recent: u32, now: Instant, rule: EchoRule) -> Self {
        Self { recent, recent_at: now, last_ack_sent: 1, rule }
    }

    /// Returns whether `value` precedes TS.Recent, modulo 2^32.
    fn is_earlier(&self, value: u32) -> bool {
        let behind = (u64::from(self.recent) + (1 << 32) - u64::from(value)) % (1 << 32);
        behind > 0 && behind < 1 << 31
    }

    /// R1, with section 5.5: after 24 days TS.Recent is no longer valid.
    pub fn is_acceptable(&self, value: u32, now: Instant) -> bool {
        !self.is_earlier(value) || now.since(self.recent_at) > TWENTY_FOUR_DAYS
    }

    /// Section 4.3, (2): a segment that begins at or before Last.ACK.sent, and is not older than
    /// TS.Recent.
    pub fn accept(&mut self, value: u32, start: u64, now: Instant) {
        if start <= self.last_ack_sent {
            (self.recent, self.recent_at) = (value, now);
        }
    }

    /// The variant in which complete duplicates count too.
    pub fn duplicate(&mut self, value: u32, now: Instant) {
        if self.rule == EchoRule::OnDuplicates {
            (self.recent, self.recent_at) = (value, now);
        }
    }
}
