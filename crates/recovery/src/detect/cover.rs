//! Cover ACKs: those that acknowledge everything that was sent again (the SCTP paper, figure 6).

use crate::fact::{Acked, Block, Cause, Kind, Transmission};
use eifel_base::ranges::Ranges;

/// The retransmissions of an episode, as far as figure 6 keeps account of them. Positions are TSNs.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    /// First position beyond MaxRetransmit.
    max: u64,
    /// First position beyond all that was sent again so far: MaxRetransmit, once step 2 is done anew.
    highest: u64,
    /// Whether an ACK has come that covers not all: "AckRcvd". Before it, MaxRetransmit still grows.
    heard: bool,
    cause: Cause,
    resent: Ranges,
    /// Duplicates that the peer has reported of them.
    duplicates: Ranges,
}

impl Cover {
    /// Step 1: the first retransmission of an episode.
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

    /// Adds a further retransmission.
    pub(super) fn add(&mut self, transmission: &Transmission) {
        let end = transmission.start + u64::from(transmission.len);
        self.resent.add(Block { start: transmission.start, end });
        self.highest = self.highest.max(end);
        if !self.heard {
            // The first packet may bundle several chunks.
            self.max = self.highest;
        }
    }

    /// Step 3: whether this is a cover ACK. Of one that is none, step 2 sets MaxRetransmit anew.
    pub(super) fn covers(&mut self, acked: &Acked<'_>) -> bool {
        acked.dsacks.iter().for_each(|block| self.duplicates.add(*block));
        if acked.cumulative >= self.max {
            return true;
        }
        self.heard = true;
        self.max = self.highest;
        false
    }

    /// Step 5: whether the first ACK after a timeout reports all that was sent again as duplicates. Then all ACKs of the
    /// originals were lost.
    pub(super) fn acks_were_lost(&self) -> bool {
        let reported = |block: Block| self.duplicates.covers(block);
        self.cause == Cause::Timeout
            && !self.heard
            && self.resent.within(Block { start: 0, end: self.max }).all(reported)
    }
}
