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
mod within_three_pto;
mod within_two_pto;

use super::qlog::Key;
use eifel_base::time::{Duration, Instant};
use std::collections::BTreeMap;

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
pub const RULES: [&Entry; 8] = [
    &all_acknowledged::ENTRY,
    &of_cutback::ENTRY,
    &in_recovery::ENTRY,
    &within_two_pto::ENTRY,
    &within_three_pto::ENTRY,
    &few_or_any::ENTRY,
    &each_acknowledged::ENTRY,
    &NONE,
];

const NONE: Entry = Entry {
    name: "none",
    stacks: "quinn 0.11.19, quicly b11d363, aioquic 1.7.2, s2n-quic a33d369b9, lsquic 1954740, mvfst 979f26a93",
    source: "quinn-proto, aioquic and s2n-quic: nothing looks for late ACKs; quicly (quicly_loss_on_ack_received) and lsquic \
             (send_ctl_maybe_increase_reord_thresh) only widen their thresholds; mvfst (QuicCubic.cpp, undoSpuriousLoss) \
             undoes only if enableSpuriousLossRecovery is set",
    make: || Box::new(Never),
};

/// Removes the first losses that are to be forgotten. The first ones of a path left first.
fn forget(lost: &mut BTreeMap<Key, Instant>, is_old: impl Fn(Key, Instant) -> bool) {
    while let Some(first) = lost.first_entry().filter(|first| is_old(*first.key(), *first.get())) {
        first.remove();
    }
}

/// The rule of stacks without one.
struct Never;

impl UndoRule for Never {
    fn on_lost(&mut self, _: &Loss) {}

    fn on_ack(&mut self, _: &News<'_>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quic::qlog::Space;

    const RTT_MS: u64 = 50;

    /// Runs one rule by name. Packets leave a millisecond apart, in the order of their numbers.
    struct Run {
        rule: Box<dyn UndoRule>,
        largest_sent: u64,
        window: u64,
    }

    impl Run {
        fn new(name: &str) -> Self {
            let entry = RULES.iter().find(|entry| entry.name == name).unwrap();
            Self { rule: (entry.make)(), largest_sent: 100, window: 100 }
        }

        fn lost(&mut self, number: u64, now_ms: u64, begins: bool) {
            self.rule.on_lost(&Loss {
                packet: (Space::Application, 0, number),
                sent: at(number),
                now: at(now_ms),
                begins,
                largest_sent: self.largest_sent,
                window: Some(self.window),
                slow_start: false,
            });
        }

        fn ack(&mut self, now_ms: u64, late: &[u64], largest: u64) -> bool {
            let late: Vec<Key> = late.iter().map(|number| (Space::Application, 0, *number)).collect();
            self.rule.on_ack(&News {
                now: at(now_ms),
                late: &late,
                largest: (Space::Application, 0, largest),
                largest_sent: at(largest),
                smoothed_rtt: Duration::from_millis(RTT_MS),
                rtt_variation: Duration::from_millis(10),
                max_ack_delay: Duration::from_millis(25),
            })
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Two packets are declared lost at 60 ms and acknowledged at 70 ms and 80 ms.
    #[test]
    fn rules_differ_in_how_many_losses_have_to_be_acknowledged() {
        let decided = |name: &str| {
            let mut run = Run::new(name);
            run.lost(3, 60, true);
            run.lost(4, 60, false);
            [run.ack(70, &[3], 20), run.ack(80, &[4], 30), run.ack(85, &[], 35)]
        };
        for name in [
            "all-acknowledged",
            "all-acknowledged-of-cutback",
            "all-acknowledged-in-recovery",
            "all-acknowledged-within-two-pto",
            "all-acknowledged-within-three-pto",
        ] {
            assert_eq!(decided(name), [false, true, false], "{name}");
        }
        assert_eq!(decided("each-acknowledged"), [true, true, false]);
        assert_eq!(decided("any-acknowledged-or-few-lost"), [true, false, false]);
        assert_eq!(decided("none"), [false, false, false]);
    }

    #[test]
    fn msquic_undoes_only_until_a_packet_sent_in_recovery_is_acknowledged() {
        for (largest, undone) in [(100, true), (101, false)] {
            let mut run = Run::new("all-acknowledged-in-recovery");
            run.lost(3, 60, true);
            assert!(!run.ack(110, &[], largest));
            assert_eq!(run.ack(111, &[3], largest), undone, "{largest}");
        }
    }

    /// Packet 3 is really lost. Two probe timeouts, of 115 ms each, after it left, neqo forgets it.
    #[test]
    fn neqo_undoes_although_a_forgotten_packet_was_lost() {
        for (now_ms, undone) in [(230, false), (240, true)] {
            let mut run = Run::new("all-acknowledged-within-two-pto");
            run.lost(3, 60, true);
            run.lost(50, 110, false);
            assert_eq!(run.ack(now_ms, &[50], 60), undone, "{now_ms} ms");
        }
    }

    /// Half of a window of 8 packets is 4. Packet 1, really lost, is forgotten after 4 more losses.
    #[test]
    fn ngtcp2_remembers_only_half_a_window_of_losses() {
        for (losses, undone) in [(4, false), (5, true)] {
            let mut run = Run::new("all-acknowledged-within-three-pto");
            run.window = 8;
            for number in 1..=losses {
                run.lost(number, 60, number == 1);
            }
            assert_eq!(run.ack(70, &[2, 3, 4, 5][..losses as usize - 1], 20), undone, "{losses}");
        }
    }

    #[test]
    fn quic_go_counts_only_losses_since_the_reduction_before() {
        let mut run = Run::new("all-acknowledged-of-cutback");
        run.lost(3, 60, true);
        run.largest_sent = 200;
        // A second reduction; the loss of packet 90 belongs to the first one.
        run.lost(150, 210, true);
        run.lost(90, 215, false);
        assert!(!run.ack(220, &[90], 160));
        assert!(run.ack(221, &[150], 160));
    }

    #[test]
    fn quiche_undoes_after_recovery_if_few_packets_were_lost() {
        // A fifth of 70 packets, to which the window of 100 was reduced, is 14.
        for (losses, undone) in [(13, true), (14, false)] {
            let mut run = Run::new("any-acknowledged-or-few-lost");
            for number in 0..losses {
                run.lost(number, 60, number == 0);
            }
            assert!(!run.ack(100, &[], 60));
            assert_eq!(run.ack(115, &[], 61), undone, "{losses}");
        }
    }

    #[test]
    fn picoquic_remembers_a_loss_for_a_second() {
        for (largest, undone) in [(1003, true), (1004, false)] {
            let mut run = Run::new("each-acknowledged");
            run.lost(3, 60, true);
            assert!(!run.ack(1060, &[], largest));
            assert_eq!(run.ack(1061, &[3], largest), undone);
        }
    }
}
