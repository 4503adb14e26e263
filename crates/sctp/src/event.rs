//! Events that an association reports to its application.

use core::net::IpAddr;

/// Why an association ended otherwise than by a shutdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The peer did not answer INIT or COOKIE ECHO.
    NoAnswer,
    /// The peer did not acknowledge data, HEARTBEAT or SHUTDOWN ("Association.Max.Retrans").
    Unreachable,
    /// The peer sent an ABORT; the reason is that of its user, if there is one.
    Aborted {
        /// The reason in "User-Initiated Abort".
        reason: Vec<u8>,
    },
    /// The application aborted.
    AbortedHere,
    /// The peer broke the protocol, and was sent an ABORT.
    Violation(&'static str),
    /// ICMP says that the peer has no SCTP (RFC 9260, section 10, ICMP8).
    NoSctp,
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The association is open (COMMUNICATION UP).
    Established,
    /// The peer has begun anew; what it had not acknowledged is lost (RESTART).
    Restarted,
    /// There is a message to take, where there was none.
    Readable,
    /// The peer wants to end the association: nothing new may be sent.
    PeerShutsDown,
    /// The shutdown is complete.
    Closed,
    /// The association has failed (COMMUNICATION LOST).
    Failed(Failure),
    /// An address of the peer no longer answers.
    Inactive(IpAddr),
    /// An address of the peer answers again, or for the first time.
    Active(IpAddr),
    /// The peer complained; the causes as they stand in its ERROR chunk.
    Complaint(Vec<u8>),
}
