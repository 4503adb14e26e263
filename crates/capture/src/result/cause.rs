//! Why a retransmission was sent.

use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The retransmission timer expired.
    Rto,
    /// Go-back-N: an expiry of the timer had declared the segment lost.
    Loss,
    /// Duplicate ACKs, SACK, RACK or a partial ACK reported the loss.
    Fast,
    /// A tail-loss probe.
    Tlp,
    ZeroWindowProbe,
    /// A keep-alive, which asks an idle peer whether it still exists.
    KeepAlive,
    /// A FIN that an ACK carries once more. Stacks that come from BSD set the flag in every ACK which they
    /// send before their FIN is acknowledged.
    RepeatedFin,
    /// A repeated SYN or SYN-ACK.
    Syn,
    /// The segment was longer than the path's MTU, as an ICMP message has told the sender.
    PathMtu,
    /// No model explains it.
    Unknown,
}

impl Cause {
    /// Returns in words why such a retransmission is sent.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Rto => "the retransmission timer expired",
            Self::Loss => "an expired timer had declared it lost",
            Self::Fast => "ACKs reported a gap",
            Self::Tlp => "a probe, since the ACK of the last data did not come",
            Self::ZeroWindowProbe => "the receiver's window is closed",
            Self::KeepAlive => "the connection was idle",
            Self::RepeatedFin => "an ACK of new data carried the FIN again",
            Self::Syn => "the handshake was not answered",
            Self::PathMtu => "a router reported that it is too long",
            Self::Unknown => "no known sender would send it",
        }
    }

    /// Returns the cause's name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rto => "rto",
            Self::Loss => "loss",
            Self::Fast => "fast",
            Self::Tlp => "tlp",
            Self::ZeroWindowProbe => "zero-window-probe",
            Self::KeepAlive => "keep-alive",
            Self::RepeatedFin => "repeated-fin",
            Self::Syn => "syn",
            Self::PathMtu => "path-mtu",
            Self::Unknown => "unknown",
        }
    }
}
