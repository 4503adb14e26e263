//! How QUIC stacks undo a congestion response, one rule a file, as their sources have it today.
//!
//! A rule hears of losses and ACKs on one path, and says when the window from before the latest
//! congestion event is to be restored. It neither holds nor sees the connection, so a sender can
//! use the same rules.

mod all_acknowledged;
mod each_acknowledged;
mod few_or_any;
mod in_recovery;
mod of_cutback;
mod within_two_pto;

use super::qlog::Key;
use eifel_base::time::{Duration, Instant};

/// A rule that decides whether a congestion response is undone.
pub trait UndoRule {
    /// A packet in flight was declared lost.
    fn on_lost(&mut self, lost: &Loss);

    /// An ACK arrived. Returns whether the window from before the latest event is restored.
    fn on_ack(&mut self, ack: &News<'_>) -> bool;
}

/// A packet that was declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub packet: Key,
    pub sent: Instant,
    pub now: Instant,
    /// Whether it begins a congestion event, for which the window is reduced.
    pub begins: bool,
    /// The largest number sent until now in its number space.
    pub largest_sent: u64,
    /// The window before the event, in packets; `None` if it is unknown.
    pub window: Option<u64>,
    /// Whether the sender was in slow start before the event.
    pub slow_start: bool,
}

/// What an ACK brings.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    pub now: Instant,
    /// Packets that were declared lost and are acknowledged now.
    pub late: &'a [Key],
    /// The largest acknowledged number, and when its packet left.
    pub largest: Key,
    pub largest_sent: Instant,
    pub smoothed_rtt: Duration,
    pub rtt_variation: Duration,
    pub max_ack_delay: Duration,
}

impl News<'_> {
    /// Returns the probe timeout without back-off and without the delay of ACKs (RFC 9002, section
    /// 6.2.1).
    fn pto(&self) -> Duration {
        self.smoothed_rtt + (self.rtt_variation * 4).max(GRANULARITY)
    }
}

/// The least variation in a probe timeout.
const GRANULARITY: Duration = Duration::from_millis(1);

/// A rule as it is listed.
pub struct Entry {
    /// The rule's name in the output.
    pub name: &'static str,
    /// The stacks that use it, with the versions whose sources were read; comma-separated.
    pub stacks: &'static str,
    /// Where the rule is in the sources of these stacks.
    pub source: &'static str,
    /// Makes the rule for one path.
    pub make: fn() -> Box<dyn UndoRule>,
}

/// All rules of stacks, in the order of the output.
pub const RULES: [&Entry; 7] = [
    &all_acknowledged::ENTRY,
    &of_cutback::ENTRY,
    &in_recovery::ENTRY,
    &within_two_pto::ENTRY,
    &few_or_any::ENTRY,
    &each_acknowledged::ENTRY,
    &NONE,
];

const NONE: Entry = Entry {
    name: "none",
    stacks: "quinn 0.11.19, quicly b11d363, aioquic 1.7.2",
    source: "quinn-proto and aioquic: nothing looks for late ACKs; quicly: lib/quicly.c counts them (late_acked), and \
             quicly_loss_on_ack_received only widens its thresholds",
    make: || Box::new(Never),
};

/// The rule of stacks without one.
struct Never;

impl UndoRule for Never {
    fn on_lost(&mut self, _: &Loss) {}

    fn on_ack(&mut self, _: &News<'_>) -> bool {
        false
    }
}
