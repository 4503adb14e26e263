//! Explicit congestion notification (RFC 3168, section 6.1). The handshake agrees on it. The receiving side echoes marks until
//! the sending side says that it has reduced its window.

use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Segment};

use crate::settings::{EcnUse, Settings};

/// How far the two ends have agreed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Agreement {
    No,
    /// This end's SYNs have asked, each of them.
    Asked,
    /// An earlier SYN has asked, the last has not.
    AskedBefore,
    /// The peer may mark what it sends, and hears of marks; this end does not mark, since the peer may not know of the agreement.
    PeerOnly,
    Yes,
}

/// An end's state of marking, in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Congestion {
    agreement: Agreement,
    /// SYNs, or SYN-ACKs, that have left with the flags of ECN.
    syns: u32,
    /// Whether acknowledgements carry ECE: a mark has arrived, and no CWR since.
    echoes: bool,
    /// Reductions of the window that the peer knows of.
    told: u32,
}

/// The flags of a SYN that asks, and of a SYN-ACK that agrees (section 6.1.1).
pub(crate) const ASKS: Flags = Flags::ECE.with(Flags::CWR);
pub(crate) const AGREES: Flags = Flags::ECE;

/// Whether a SYN asks for ECN.
pub(crate) fn asks(syn: &Segment) -> bool {
    syn.flags.has(ASKS)
}

impl Congestion {
    pub(crate) const NONE: Self = Self { agreement: Agreement::No, syns: 0, echoes: false, told: 0 };

    /// Returns the agreement of two ends with these settings, where there is no handshake.
    pub(crate) fn between(own: &Settings, peer: &Settings) -> Self {
        let uses = [own.ecn, peer.ecn];
        let agree = !uses.contains(&EcnUse::Off) && uses.contains(&EcnUse::Ask);
        Self { agreement: if agree { Agreement::Yes } else { Agreement::No }, ..Self::NONE }
    }

    /// Whether segments may carry flags or marks of ECN.
    #[inline]
    pub(crate) fn is_agreed(&self) -> bool {
        matches!(self.agreement, Agreement::Yes | Agreement::PeerOnly)
    }

    /// Returns the flags of a SYN that leaves.
    pub(crate) fn syn(&mut self, settings: &Settings) -> Flags {
        if settings.ecn != EcnUse::Ask {
            return Flags(0);
        }
        self.agreement = match self.agreement {
            _ if self.syns < settings.ecn_syns => Agreement::Asked,
            Agreement::Asked => Agreement::AskedBefore,
            other => other,
        };
        self.flags(self.agreement == Agreement::Asked, ASKS)
    }

    /// Returns the flags of a SYN-ACK that leaves.
    pub(crate) fn syn_ack(&mut self, settings: &Settings) -> Flags {
        if self.agreement == Agreement::Yes && self.syns >= settings.ecn_syns {
            self.agreement = Agreement::PeerOnly;
        }
        self.flags(self.agreement == Agreement::Yes, AGREES)
    }

    fn flags(&mut self, set: bool, flags: Flags) -> Flags {
        self.syns += u32::from(set);
        if set { flags } else { Flags(0) }
    }

    /// Takes the peer's SYN, which may come again.
    pub(crate) fn called(&mut self, settings: &Settings, syn: &Segment) {
        let asks = asks(syn) && settings.ecn != EcnUse::Off;
        self.agreement = if asks { Agreement::Yes } else { Agreement::No };
        self.syns = 0;
    }

    /// Takes a repetition of the peer's SYN. Without the flags, the peer sets no marks, and this end must not either.
    pub(crate) fn called_again(&mut self, syn: &Segment) {
        if !asks(syn) {
            self.agreement = Agreement::No;
        }
    }

    /// Takes the peer's SYN-ACK. One that reflects the SYN's flags agrees to nothing (section 6.1.1.2).
    pub(crate) fn answered(&mut self, syn_ack: &Segment) {
        let agrees = syn_ack.flags.0 & ASKS.0 == AGREES.0;
        self.agreement = match self.agreement {
            Agreement::Asked if agrees => Agreement::Yes,
            // The peer has agreed to the first SYN, and may have had the second too (section 6.1.1.1).
            Agreement::AskedBefore if agrees => Agreement::PeerOnly,
            _ => Agreement::No,
        };
    }

    /// Takes an acceptable segment. Only data counts: what is outside the window, or carries none, anyone could have marked
    /// (sections 6.1.4 and 6.1.5).
    pub(crate) fn arrives(&mut self, segment: &Segment) {
        if segment.payload_len == 0 {
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.echoes = false;
        }
        if segment.ecn == Ecn::Ce {
            self.echoes = true;
        }
    }

    /// Returns whether an acceptable acknowledgement echoes a mark.
    #[inline]
    pub(crate) fn hears(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::ECE) && self.agreement == Agreement::Yes
    }

    /// Writes what a segment of an open connection carries. `fresh` says whether it has data that was never sent, and no
    /// probe's: only those are marked and tell of a reduction (sections 6.1.2, 6.1.5 and 6.1.6). `reductions` counts the
    /// window's reductions.
    pub(crate) fn write(&mut self, segment: &mut Segment, fresh: bool, reductions: u32) {
        if self.echoes {
            segment.flags = segment.flags.with(Flags::ECE);
        }
        if fresh && self.agreement == Agreement::Yes {
            segment.ecn = Ecn::Ect0;
            if self.told != reductions {
                self.told = reductions;
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
    }
}
