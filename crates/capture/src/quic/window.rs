//! The congestion window after a congestion event.

/// The most windows kept per event.
const MOST_WINDOWS: usize = 1 << 12;
/// A window grows back from a reduction of at most this many bytes within two ACKs. Such growth shows no undo.
const SMALL_REDUCTION: u64 = 2 * PACKET;
/// The most bytes by which an ACK of one packet raises the window.
const PACKET: u64 = 1500;

/// Follows the window from an event on.
pub(super) struct Track {
    /// Bytes before the event; `None` if the log does not show it.
    pub(super) before: Option<u64>,
    /// When the stack restored the window: it was smaller, and one report raised it by at least half
    /// of the reduction, to at least what it was. In milliseconds.
    pub(super) restored_ms: Option<f64>,
    /// Whether one report raised it by at least a quarter of the reduction: a part was undone.
    pub(super) raised: bool,
    began_ms: f64,
    /// The reported windows: the time in milliseconds, and the bytes.
    reports: Vec<(f64, u64)>,
    least: Option<u64>,
    last: Option<u64>,
}

impl Track {
    pub(super) fn new(began_ms: f64, before: Option<u64>) -> Self {
        Self { before, restored_ms: None, raised: false, began_ms, reports: Vec::new(), least: None, last: before }
    }

    pub(super) fn report(&mut self, now: f64, cwnd: u64) {
        if self.reports.len() < MOST_WINDOWS {
            self.reports.push((now, cwnd));
        }
        if let (Some(before), Some(least), Some(last)) = (self.before, self.least, self.last) {
            let (reduction, rise) = (before - least, cwnd.saturating_sub(last));
            let by_acks = rise <= PACKET && reduction > SMALL_REDUCTION;
            self.raised |= rise * 4 >= reduction && !by_acks;
            if cwnd >= before && reduction > SMALL_REDUCTION && rise * 2 >= reduction {
                self.restored_ms.get_or_insert(now);
            }
        }
        if self.before.is_some_and(|before| cwnd < before) {
            self.least = Some(self.least.map_or(cwnd, |least| least.min(cwnd)));
        }
        self.last = Some(cwnd);
    }

    /// Returns the smallest window reported from the event until `until`, in milliseconds.
    pub(super) fn smallest(&self, until: f64) -> Option<u64> {
        let within = self.reports.iter().filter(|(at, _)| (self.began_ms..=until).contains(at));
        within.map(|(_, cwnd)| *cwnd).min()
    }
}
