//! A performance-enhancing proxy between a wired network and a wireless link, for one direction of
//! one connection. Data that the receiver has acknowledged does not cross the link again. The
//! duplicate ACKs that needless retransmissions cause do not go back.
//!
//! *Looks at* the positions of the data that goes down to the link, and at the cumulative ACKs, windows and SACK blocks that
//! come back.
//! *Decides* that data is needless when every byte of it has been acknowledged through the proxy. A
//! duplicate ACK is needless when a retransmission that went down accounts for it.
//! *Blind to* data that the link still holds: the link may have lost unacknowledged data, so its
//! retransmission passes. If the retransmission was needed, at most one duplicate ACK for the
//! segments behind it is removed. Also blind to ACKs lost between the proxy and the sender, so
//! nothing is withheld twice.
//! *From* the proxy of Kim et al. as the DualRTT paper, section I, describes it. It tracks data and
//! acknowledgement numbers of each connection, filters needless retransmissions and removes
//! duplicate ACKs. Neither paper says what happens when the ACK that made a retransmission needless
//! is lost. The Snoop protocol (Balakrishnan et al. 1995) would answer in the receiver's place, but
//! its answers would be the duplicate ACKs that the proxy removes.

/// The acknowledgement and window of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Says {
    /// First position that its sender waits for.
    pub ack: u64,
    /// The window field of the header.
    pub window: u16,
}

/// A proxy's decision about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filtered {
    /// The segment goes on.
    Passes,
    /// The proxy withholds the segment.
    Needless,
}

/// Retransmissions that went down, each of which may bring back one duplicate ACK. Over a link that
/// keeps order, these duplicates show that all data before `below` has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Repeats {
    count: u32,
    /// First position beyond all data that had gone down by the last retransmission.
    below: u64,
}

/// The proxy's memory of one direction of one connection.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// First position beyond all data that went down.
    passed: u64,
    /// First position beyond all acknowledged data.
    acked: u64,
    /// First position beyond all withheld data.
    withheld: u64,
    /// `None` if no retransmission accounts for a duplicate ACK.
    repeats: Option<Repeats>,
    /// Acknowledgement and window of the sender's last segment.
    sender_said: Says,
    /// Window of the receiver's last segment.
    window: u16,
}

impl Proxy {
    /// Makes the memory of a proxy that has seen no data below `start`.
    pub fn new(start: u64) -> Self {
        Self { passed: start, acked: start, withheld: start, repeats: None, sender_said: Says::default(), window: 0 }
    }

    /// Returns the first position beyond all acknowledged data.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Filters data of the positions `start..end` on its way down.
    ///
    /// Data is withheld at most once. If it comes again, the sender has not got the ACK, and the
    /// receiver must send another.
    pub fn data(&mut self, start: u64, end: u64, says: Says) -> Filtered {
        let told = std::mem::replace(&mut self.sender_said, says);
        if end <= self.acked {
            if end > self.withheld && says == told {
                self.withheld = end;
                return Filtered::Needless;
            }
            self.repeats = None;
        } else if start < self.passed {
            let count = self.repeats.map_or(0, |repeats| repeats.count);
            self.repeats = Some(Repeats { count: count + 1, below: self.passed.max(end) });
        }
        self.passed = self.passed.max(end);
        Filtered::Passes
    }

    /// Records a SYN or FIN without data. It is never withheld.
    pub fn control(&mut self, end: u64) {
        if end <= self.acked {
            self.repeats = None;
        }
        self.passed = self.passed.max(end);
    }

    /// Filters a segment on its way back. Only a `bare` segment can be a needless duplicate ACK: it
    /// has no data, SYN, FIN or RST, and no SACK blocks beyond its cumulative ACK.
    pub fn acknowledgement(&mut self, says: Says, bare: bool) -> Filtered {
        // Data that never went down cannot have arrived.
        let ack = says.ack.min(self.passed);
        let duplicate = bare && ack == self.acked && says.window == self.window;
        self.window = says.window;
        self.acked = self.acked.max(ack);
        match self.repeats {
            Some(Repeats { below, .. }) if ack > below => self.repeats = None,
            Some(Repeats { count, below }) if duplicate && ack == below => {
                self.repeats = (count > 1).then(|| Repeats { count: count - 1, below });
                return Filtered::Needless;
            }
            _ => {}
        }
        Filtered::Passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Filtered::{Needless, Passes};
    use proptest::prelude::*;

    const SAYS: Says = Says { ack: 0, window: 100 };

    /// Makes a proxy that has passed segments `0..segments` of ten bytes.
    fn after(segments: u64) -> Proxy {
        let mut proxy = Proxy::new(0);
        for segment in 0..segments {
            assert_eq!(send(&mut proxy, segment), Passes);
        }
        proxy
    }

    fn send(proxy: &mut Proxy, segment: u64) -> Filtered {
        proxy.data(10 * segment, 10 * segment + 10, SAYS)
    }

    fn ack(proxy: &mut Proxy, segments: u64) -> Filtered {
        proxy.acknowledgement(Says { ack: 10 * segments, window: 100 }, true)
    }

    /// The timer expires twice while the link holds all data. Then everything arrives, and the
    /// sender retransmits its whole window.
    #[test]
    fn after_a_spike_needless_retransmissions_and_their_duplicate_acks_are_removed() {
        let mut proxy = after(5);
        assert_eq!([send(&mut proxy, 0), send(&mut proxy, 0)], [Passes; 2]);
        for arrived in 1..=5 {
            assert_eq!(ack(&mut proxy, arrived), Passes);
        }
        for again in 1..5 {
            assert_eq!(send(&mut proxy, again), Needless, "{again}");
        }
        assert_eq!([ack(&mut proxy, 5), ack(&mut proxy, 5)], [Needless; 2]);
        assert_eq!(ack(&mut proxy, 5), Passes, "two came back for two that went down; a third is news");
    }

    #[test]
    fn new_data_in_between_does_not_change_which_duplicate_acks_are_removed() {
        let mut proxy = after(5);
        assert_eq!([send(&mut proxy, 0), send(&mut proxy, 5)], [Passes; 2]);
        assert_eq!(
            [ack(&mut proxy, 5), ack(&mut proxy, 5), ack(&mut proxy, 6), ack(&mut proxy, 6)],
            [Passes, Needless, Passes, Passes]
        );
    }

    #[test]
    fn segments_lost_on_the_link_and_the_duplicate_acks_about_them_pass() {
        let mut proxy = after(5);
        assert_eq!(ack(&mut proxy, 1), Passes);
        assert_eq!([ack(&mut proxy, 1), ack(&mut proxy, 1), ack(&mut proxy, 1)], [Passes; 3]);
        assert_eq!(send(&mut proxy, 1), Passes);
        // Lost once more: each further copy passes too.
        assert_eq!([ack(&mut proxy, 1), send(&mut proxy, 1), send(&mut proxy, 1)], [Passes; 3]);
        assert_eq!(ack(&mut proxy, 5), Passes);
    }

    #[test]
    fn a_segment_that_is_acknowledged_in_part_passes() {
        let mut proxy = after(5);
        assert_eq!(proxy.acknowledgement(Says { ack: 15, window: 100 }, true), Passes);
        assert_eq!([send(&mut proxy, 1), send(&mut proxy, 0)], [Passes, Needless]);
    }

    #[test]
    fn after_a_lost_ack_the_second_copy_and_its_ack_pass() {
        let mut proxy = after(5);
        assert_eq!(send(&mut proxy, 0), Passes);
        assert_eq!(ack(&mut proxy, 5), Passes);
        assert_eq!([send(&mut proxy, 4), send(&mut proxy, 4)], [Needless, Passes]);
        assert_eq!(ack(&mut proxy, 5), Passes);
        assert_eq!([send(&mut proxy, 4), ack(&mut proxy, 5)], [Passes; 2]);
    }

    #[test]
    fn reordering_in_front_of_the_proxy_withholds_nothing() {
        let mut proxy = after(0);
        assert_eq!([1, 2, 3, 0, 4].map(|segment| send(&mut proxy, segment)), [Passes; 5]);
        assert_eq!([0, 0, 0, 4].map(|segments| ack(&mut proxy, segments)), [Passes; 4]);
    }

    #[test]
    fn a_segment_with_news_always_passes() {
        let mut proxy = after(2);
        assert_eq!([send(&mut proxy, 0), send(&mut proxy, 0), ack(&mut proxy, 2)], [Passes; 3]);
        assert_eq!(proxy.data(0, 10, Says { ack: 7, ..SAYS }), Passes, "data that acknowledges");
        let mut proxy = after(2);
        assert_eq!([send(&mut proxy, 0), send(&mut proxy, 0), ack(&mut proxy, 2)], [Passes; 3]);
        assert_eq!(proxy.acknowledgement(Says { ack: 20, window: 50 }, true), Passes, "a window");
        assert_eq!(proxy.acknowledgement(Says { ack: 20, window: 50 }, false), Passes, "data, a flag, or a hole");
        assert_eq!(proxy.acknowledgement(Says { ack: 20, window: 50 }, true), Needless);
    }

    #[test]
    fn a_retransmitted_fin_gets_its_ack() {
        let mut proxy = after(2);
        assert_eq!([send(&mut proxy, 0), send(&mut proxy, 0), ack(&mut proxy, 2)], [Passes; 3]);
        proxy.control(21);
        let of_the_fin = Says { ack: 21, window: 100 };
        assert_eq!(proxy.acknowledgement(of_the_fin, true), Passes);
        proxy.control(21);
        assert_eq!(proxy.acknowledgement(of_the_fin, true), Passes);
    }

    #[test]
    fn data_that_never_passed_down_does_not_count_as_received() {
        let mut proxy = after(2);
        assert_eq!(ack(&mut proxy, 9), Passes);
        assert_eq!([send(&mut proxy, 2), send(&mut proxy, 3), send(&mut proxy, 2)], [Passes; 3]);
    }

    proptest! {
        /// Segments come in any order. No unacknowledged byte is withheld, and no byte twice.
        #[test]
        fn only_acknowledged_data_is_withheld_and_only_once(
            steps in prop::collection::vec((any::<bool>(), 0u64..40, 1u64..8), 0..300),
        ) {
            let mut proxy = Proxy::new(0);
            let (mut acknowledged, mut withheld) = (0, 0);
            for (down, start, length) in steps {
                if down {
                    if proxy.data(start, start + length, SAYS) == Needless {
                        prop_assert!(start + length <= acknowledged && start + length > withheld);
                        withheld = start + length;
                    }
                } else {
                    proxy.acknowledgement(Says { ack: start, window: 100 }, true);
                    acknowledged = acknowledged.max(start);
                }
            }
        }
    }
}
