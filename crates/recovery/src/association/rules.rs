//! The rules by which an association finds and repairs losses: RFC 9260's, or those of RFC 2960 before it.

/// Which specification an association follows, where the two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rules {
    /// Three miss indications, counted below the highest newly acknowledged TSN; fast recovery;
    /// after a timeout as many packets on another path as its cwnd allows.
    #[default]
    Rfc9260,
    /// Four miss indications, counted below every reported TSN; each fast retransmit cuts the
    /// window, and only a SACK that advances the cumulative TSN lets it grow; after a timeout one
    /// packet until the next SACK (sections 6.3.3, E3, and 7.2).
    Rfc2960,
}

impl Rules {
    /// Returns the miss indications that make a chunk count as lost (section 7.2.4 of both).
    pub(super) fn miss_indications(self) -> usize {
        match self {
            Self::Rfc9260 => 3,
            Self::Rfc2960 => 4,
        }
    }

    /// Returns whether a fast retransmit begins a recovery in which the window is not cut again.
    pub(super) fn has_fast_recovery(self) -> bool {
        self == Self::Rfc9260
    }
}

/// What lets a chunk leave that is marked for retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Permission {
    /// The window of its path.
    #[default]
    Window,
    /// Nothing limits the next packet: the first after a fast retransmit or a timeout. The window
    /// limits those behind it.
    OnePacket,
    /// Nothing limits the next packet. Those behind it wait for a SACK.
    OnePacketThenSack,
    /// Only the next SACK.
    Sack,
}

impl Permission {
    /// Returns whether a packet may leave although its path's window does not allow it.
    pub(super) fn is_forced(self) -> bool {
        matches!(self, Self::OnePacket | Self::OnePacketThenSack)
    }

    /// Returns the permission after a packet of retransmissions.
    pub(super) fn after_packet(self) -> Self {
        match self {
            Self::OnePacket => Self::Window,
            Self::OnePacketThenSack => Self::Sack,
            other => other,
        }
    }

    /// Returns the permission after a SACK.
    pub(super) fn after_sack(self) -> Self {
        if self == Self::Sack { Self::Window } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Engine, Offer, PacketContents, PathId, Sack, Size};
    use super::*;
    use crate::fact::Block;
    use eifel_base::time::{Duration, Instant};

    const SIZE: Size = Size { data: 984, wire: 1000 };
    const PRIMARY: PathId = PathId(0);
    const BOTH: [Rules; 2] = [Rules::Rfc9260, Rules::Rfc2960];

    /// An association with two paths. Time passes only where a test says so.
    struct Sender(Engine, Instant);

    impl Sender {
        /// Opens an association whose primary has ten packets under way, of which none is acknowledged.
        fn with_ten_under_way(rules: Rules) -> Self {
            let mut engine = Engine::new(Config::by(rules)).unwrap();
            for _ in 0..2 {
                let path = engine.add_path(Instant::ZERO, SIZE.wire, false);
                engine.set_usable(path, true);
            }
            let mut sender = Self(engine, Instant::ZERO);
            while sender.0.window(PRIMARY).cwnd < 10_000 {
                sender.send();
                sender.1 += Duration::from_millis(100);
                for cumulative in sender.0.una() + 1..=sender.0.nxt() {
                    sender.sack(cumulative, &[]);
                    sender.send();
                }
            }
            assert!(sender.0.nxt() - sender.0.una() >= 10);
            sender
        }

        fn sack(&mut self, cumulative: u64, blocks: &[Block]) {
            let sack = Sack { cumulative, blocks, duplicates: &[], echo: None, echo_of: None, mark: None };
            self.0.on_sack(self.1, &sack);
        }

        /// Sends all that may be sent, and returns the retransmitted positions.
        fn send(&mut self) -> Vec<u64> {
            let (mut again, now) = (Vec::new(), self.1);
            while let Some(go) = self.0.poll(now, &Offer { path: PRIMARY, next: Some(SIZE), a_rwnd: 60_000 }) {
                if go.contents == PacketContents::Retransmissions {
                    let (position, _) = self.0.next_retransmission(go.path, 0).unwrap();
                    self.0.on_retransmitted(now, position, go.path, None);
                    again.push(position);
                } else {
                    self.0.on_new(now, go.path, SIZE, None);
                }
                self.0.on_packet(now, &go, SIZE.wire);
            }
            again
        }
    }

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    #[test]
    fn a_chunk_is_lost_with_the_third_report_or_by_rfc_2960_with_the_fourth() {
        for (rules, reports) in [(Rules::Rfc9260, 3), (Rules::Rfc2960, 4)] {
            let mut sender = Sender::with_ten_under_way(rules);
            let una = sender.0.una();
            let lost = (1..8).find(|&report| {
                sender.sack(una, &[block(una + 1, una + 1 + report)]);
                sender.send() == [una]
            });
            assert_eq!(lost, Some(reports), "{rules:?}");
        }
    }

    /// A SACK may report nothing above a missing chunk that is new. RFC 2960 counts it all the same.
    #[test]
    fn a_report_counts_by_rfc_2960_although_only_lower_chunks_are_new() {
        for (rules, expected) in [(Rules::Rfc9260, vec![]), (Rules::Rfc2960, vec![2])] {
            let mut sender = Sender::with_ten_under_way(rules);
            let una = sender.0.una();
            // Chunk 2 is missing. Chunk 3 is reported first, then one chunk after the other below 2.
            sender.sack(una, &[block(una + 3, una + 4)]);
            sender.sack(una + 1, &[block(una + 3, una + 4)]);
            sender.sack(una + 2, &[block(una + 3, una + 4)]);
            sender.sack(una + 2, &[block(una + 3, una + 5)]);
            let again: Vec<_> = sender.send().iter().map(|position| position - una).collect();
            assert_eq!(again, expected, "{rules:?}");
        }
    }

    #[test]
    fn each_fast_retransmit_cuts_the_window_by_rfc_2960_and_the_first_of_a_recovery_by_rfc_9260() {
        for rules in BOTH {
            let mut sender = Sender::with_ten_under_way(rules);
            let una = sender.0.una();
            for report in 1..=4 {
                sender.sack(una, &[block(una + 1, una + 1 + report)]);
            }
            let once = sender.0.window(PRIMARY).cwnd;
            for report in 1..=4 {
                sender.sack(una, &[block(una + 1, una + 5), block(una + 6, una + 6 + report)]);
            }
            assert_eq!(sender.0.window(PRIMARY).cwnd < once, rules == Rules::Rfc2960, "{rules:?}");
        }
    }

    #[test]
    fn a_timeout_sends_what_the_alternate_allows_or_by_rfc_2960_one_packet_until_the_next_sack() {
        for (rules, packets) in [(Rules::Rfc9260, 4), (Rules::Rfc2960, 1)] {
            let mut sender = Sender::with_ten_under_way(rules);
            let una = sender.0.una();
            sender.1 = sender.0.deadline();
            sender.0.on_timeout(sender.1).unwrap();
            assert_eq!(sender.send(), (una..una + packets).collect::<Vec<_>>(), "{rules:?}");
            sender.1 += Duration::from_millis(10);
            assert_eq!(sender.send(), [], "{rules:?}");
            sender.sack(una + 1, &[]);
            assert!(!sender.send().is_empty(), "{rules:?}");
        }
    }

    #[test]
    fn the_window_grows_by_rfc_2960_only_if_the_cumulative_tsn_advances() {
        let mut sender = Sender::with_ten_under_way(Rules::Rfc2960);
        let (una, before) = (sender.0.una(), sender.0.window(PRIMARY).cwnd);
        sender.sack(una, &[block(una + 1, una + 2)]);
        assert_eq!(sender.0.window(PRIMARY).cwnd, before);
        sender.send();
        sender.sack(una + 2, &[]);
        assert_eq!(sender.0.window(PRIMARY).cwnd, before + 1000);
    }

    #[test]
    fn rfc_2960_starts_with_two_packets_and_three_seconds() {
        let mut engine = Engine::new(Config::by(Rules::Rfc2960)).unwrap();
        let path = engine.add_path(Instant::ZERO, SIZE.wire, false);
        assert_eq!((engine.window(path).cwnd, engine.rto(path)), (2000, Duration::from_secs(3)));
    }
}
