//! Events that an association reports to its application.

use core::net::IpAddr;

/// Why an association ended without an orderly shutdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The peer did not answer INIT or COOKIE ECHO.
    NoAnswer,
    /// The peer did not acknowledge data, HEARTBEAT or SHUTDOWN ("Association.Max.Retrans").
    Unreachable,
    /// The peer sent an ABORT.
    Aborted {
        /// The reason in "User-Initiated Abort"; empty if there is none.
        reason: Vec<u8>,
    },
    /// The application aborted.
    AbortedHere,
    /// The peer violated the protocol. This end sent an ABORT.
    Violation(&'static str),
    /// ICMP reported that the peer does not support SCTP (RFC 9260, section 10, ICMP8).
    NoSctp,
}

/// An event of an association.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The association is established (COMMUNICATION UP).
    Established,
    /// The peer has restarted; data that it had not acknowledged is lost (RESTART).
    Restarted,
    /// A message can be received, and none could before.
    Readable,
    /// Messages were given up because their lifetime has ended (SEND FAILURE; RFC 3758, section 4.1).
    /// Of messages that were `begun`, the peer may have received some bytes, or all.
    Expired { stream: u16, messages: usize, begun: bool },
    /// The peer shuts the association down: no new message may be sent.
    PeerShutsDown,
    /// The shutdown is complete.
    Closed,
    /// The association has failed (COMMUNICATION LOST).
    Failed(Failure),
    /// An address of the peer became inactive: it no longer answers.
    Inactive(IpAddr),
    /// An address of the peer became active: it answers again, or for the first time.
    Active(IpAddr),
    /// The peer sent an ERROR chunk with these encoded causes.
    RemoteError(Vec<u8>),
}
