//! Cover ACKs: ACKs that acknowledge everything that was retransmitted (the SCTP paper, figure 6).

use crate::fact::{Acked, Block, Cause, Kind, Transmission};
use eifel_base::ranges::Ranges;

/// The retransmissions of an episode, with the variables of figure 6. Positions are TSNs.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// First position beyond MaxRetransmit.
    max: u64,
    /// First position beyond all retransmissions so far. Step 2 sets MaxRetransmit to it.
    highest: u64,
    /// "AckRcvd": whether an ACK has come that is no cover ACK.
    heard: bool,
    cause: Cause,
    resent: Ranges,
    /// Duplicates that the peer has reported.
    duplicates: Ranges,
}

impl Cover {
    /// Step 1: starts with the first retransmission of an episode.
    pub(super) fn begin(first: &Transmission) -> Self {
        let cause = match first.kind {
            Kind::Retransmission(cause) => cause,
            _ => Cause::Timeout,
        };
        let mut cover =
            Self { max: 0, highest: 0, heard: false, cause, resent: Ranges::default(), duplicates: Ranges::default() };
        cover.add(first);
        cover
    }

    /// Adds a further retransmission. In fast recovery, what an ACK makes leave was reported missing, and
    /// has to be covered too (section 4: "all data up to the highest TSN retransmitted"). After a timeout
    /// go-back-N runs ahead of the originals' ACKs, and would leave none that covers.
    pub(super) fn add(&mut self, transmission: &Transmission) {
        let end = transmission.start + u64::from(transmission.len);
        self.resent.add(Block { start: transmission.start, end });
        self.highest = self.highest.max(end);
        // The first packet may bundle several chunks.
        if !self.heard || self.cause != Cause::Timeout {
            self.max = self.highest;
        }
    }

    /// Step 3: returns whether this is a cover ACK. If it is none, step 2 sets MaxRetransmit again.
    pub(super) fn covers(&mut self, acked: &Acked<'_>) -> bool {
        acked.dsacks.iter().for_each(|block| self.duplicates.add(*block));
        if acked.cumulative >= self.max {
            return true;
        }
        self.heard = true;
        self.max = self.highest;
        false
    }

    /// Step 5: returns whether the first ACK after a timeout reports all retransmissions as
    /// duplicates. Then all ACKs of the originals were lost.
    pub(super) fn acks_were_lost(&self) -> bool {
        let reported = |block: Block| self.duplicates.covers(block);
        self.cause == Cause::Timeout
            && !self.heard
            && self.resent.within(Block { start: 0, end: self.max }).all(reported)
    }
}
