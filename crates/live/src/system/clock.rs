//! The real clock, as the core's integer time.

use eifel_base::time::Instant;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time since a start, and the date of that start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: std::time::Instant,
    start_unix_nanos: u64,
}

impl Clock {
    /// Starts a clock.
    #[expect(clippy::disallowed_methods, reason = "here is where time comes from")]
    pub fn start() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: std::time::Instant::now(), start_unix_nanos: nanos(unix) }
    }

    /// Returns the time since the start. It never goes back.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(nanos(self.start.elapsed()))
    }

    /// Returns the nanoseconds since 1970 at `at`, for capture files.
    pub fn unix_nanos(&self, at: Instant) -> u64 {
        self.start_unix_nanos.saturating_add(at.as_nanos())
    }
}

fn nanos(length: std::time::Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}
