//! The calls that exist only for associations: socket options and `sctp_sendmsg`.

use eifel_base::time::Duration;

/// A call of the application. Absent values leave a setting unchanged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    RtoInfo {
        initial: Option<Duration>,
        minimum: Option<Duration>,
        maximum: Option<Duration>,
    },
    InitMessage {
        outbound_streams: Option<u16>,
        inbound_streams: Option<u16>,
        attempts: Option<u32>,
        longest_wait: Option<Duration>,
    },
    AssociationInfo {
        most_retransmits: Option<u32>,
        cookie_life: Option<Duration>,
    },
    PeerParameters {
        /// The interval of heartbeats. `Some(None)` turns them off.
        heartbeats: Option<Option<Duration>>,
        /// Whether to send a heartbeat at once.
        demand: bool,
        most_retransmits: Option<u32>,
    },
    DelayedSack {
        delay: Option<Duration>,
        every: Option<u32>,
    },
    NoDelay(bool),
    /// Compares the association's state and streams.
    Status {
        state: Option<String>,
        inbound_streams: Option<u16>,
        outbound_streams: Option<u16>,
    },
    Send {
        count: u64,
        stream: u16,
        ppid: u32,
        unordered: bool,
        immediate: bool,
        /// How long the message is sent; `None` for a reliable one (RFC 3758).
        lifetime: Option<Duration>,
    },
}
