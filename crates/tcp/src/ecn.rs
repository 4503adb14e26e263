//! Explicit congestion notification (RFC 3168, section 6.1). The handshake negotiates it. The
//! receiving side echoes marks until the sending side reports that it has reduced its window.

use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Segment};

use crate::settings::{EcnUse, Settings};

/// State of the negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Agreement {
    No,
    /// All SYNs of this end so far have asked for ECN.
    Asked,
    /// An earlier SYN has asked for ECN, the last one has not.
    AskedBefore,
    /// ECN works for the peer's data only: this end echoes marks. It does not send ECT itself,
    /// because the peer may not know of the agreement.
    PeerOnly,
    Yes,
}

/// ECN state of one end, for both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    agreement: Agreement,
    /// SYNs, or SYN-ACKs, sent with ECN flags.
    syns: u32,
    /// Whether acknowledgements carry ECE: a mark has arrived, and no CWR since.
    sends_ece: bool,
    /// Number of window reductions reported to the peer by CWR.
    cwrs_sent: u32,
}

/// The flags of a SYN that asks for ECN, and of a SYN-ACK that accepts it (section 6.1.1).
pub(crate) const ASKS: Flags = Flags::ECE.with(Flags::CWR);
pub(crate) const AGREES: Flags = Flags::ECE;

/// Returns whether a SYN asks for ECN.
pub(crate) fn asks(syn: &Segment) -> bool {
    syn.flags.has(ASKS)
}

impl EcnState {
    pub(crate) const NONE: Self = Self { agreement: Agreement::No, syns: 0, sends_ece: false, cwrs_sent: 0 };

    /// Returns the outcome of a negotiation between ends with these settings, for connections
    /// without a handshake.
    pub(crate) fn between(own: &Settings, peer: &Settings) -> Self {
        let uses = [own.ecn, peer.ecn];
        let agree = !uses.contains(&EcnUse::Off) && uses.contains(&EcnUse::Ask);
        Self { agreement: if agree { Agreement::Yes } else { Agreement::No }, ..Self::NONE }
    }

    /// Returns whether segments may carry ECN flags or marks.
    #[inline]
    pub(crate) fn is_agreed(&self) -> bool {
        matches!(self.agreement, Agreement::Yes | Agreement::PeerOnly)
    }

    /// Returns the ECN flags of a SYN to send.
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

    /// Returns the ECN flags of a SYN-ACK to send.
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

    /// Processes the peer's SYN, and starts counting SYN-ACKs.
    pub(crate) fn on_syn(&mut self, settings: &Settings, syn: &Segment) {
        let asks = asks(syn) && settings.ecn != EcnUse::Off;
        self.agreement = if asks { Agreement::Yes } else { Agreement::No };
        self.syns = 0;
    }

    /// Processes a repeated SYN of the peer. Without the flags, the peer sets no marks, and this
    /// end must not set any either.
    pub(crate) fn on_repeated_syn(&mut self, syn: &Segment) {
        if !asks(syn) {
            self.agreement = Agreement::No;
        }
    }

    /// Processes the peer's SYN-ACK. If it reflects the SYN's flags, ECN is not accepted (section
    /// 6.1.1.2).
    pub(crate) fn on_syn_ack(&mut self, syn_ack: &Segment) {
        let agrees = syn_ack.flags.0 & ASKS.0 == AGREES.0;
        self.agreement = match self.agreement {
            Agreement::Asked if agrees => Agreement::Yes,
            // The peer accepted the first SYN, and may have received the second too (section
            // 6.1.1.1).
            Agreement::AskedBefore if agrees => Agreement::PeerOnly,
            _ => Agreement::No,
        };
    }

    /// Processes an acceptable segment. Only segments with data count. Anyone could have marked a
    /// segment outside the window or without data (sections 6.1.4 and 6.1.5).
    pub(crate) fn on_segment(&mut self, segment: &Segment) {
        if segment.payload_len == 0 {
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.sends_ece = false;
        }
        if segment.ecn == Ecn::Ce {
            self.sends_ece = true;
        }
    }

    /// Returns whether an acceptable acknowledgement echoes a mark.
    #[inline]
    pub(crate) fn has_ece(&self, segment: &Segment) -> bool {
        segment.flags.has(Flags::ECE) && self.agreement == Agreement::Yes
    }

    /// Writes the ECN fields of a segment of an open connection. `fresh` says whether it has new
    /// data and is no window probe: only these are ECT and carry CWR (sections 6.1.2, 6.1.5 and
    /// 6.1.6). `reductions` is the number of window reductions.
    pub(crate) fn write(&mut self, segment: &mut Segment, fresh: bool, reductions: u32) {
        if self.sends_ece {
            segment.flags = segment.flags.with(Flags::ECE);
        }
        if fresh && self.agreement == Agreement::Yes {
            segment.ecn = Ecn::Ect0;
            if self.cwrs_sent != reductions {
                self.cwrs_sent = reductions;
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
    }
}
