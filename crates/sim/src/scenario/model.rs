//! A scenario in the simulator's terms: checked, with indices in place of names.

use super::amount::Amount;
use crate::liar;
use crate::packet::Charges;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_packet::ip::Version;
use eifel_path::config::LinkConfig;
use eifel_path::draw::Draw;
use eifel_recovery::engine;

/// The condition that stops a run before its duration is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// All flows that have an end are done. A run of only endless flows lasts for its duration.
    AllFlowsDone,
    /// The first flow that has an end is done.
    FirstFlowDone,
    /// No condition. The run lasts for its duration.
    AtDuration,
}

/// A host or a router.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Unique.
    pub name: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Unique name. The link's random streams are derived from it.
    pub name: String,
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node where it ends.
    pub to: usize,
    /// Its behaviour, spikes included.
    pub config: LinkConfig,
    /// Whether a performance-enhancing proxy stands in front of it, at the node where it begins.
    pub proxied: bool,
}

/// A flow between two nodes.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Unique.
    pub name: String,
    /// Index of the node that opens the connection or sends the datagrams.
    pub from: usize,
    /// Index of the other node.
    pub to: usize,
    /// Indices of the links from `from` to `to`, in order.
    pub there: Vec<usize>,
    /// Indices of the links from `to` to `from`, in order. Empty if datagrams have no way back.
    pub back: Vec<usize>,
    /// Alternate paths between the same two hosts, each with its own addresses. Empty except for
    /// SCTP.
    pub alternates: Vec<Path>,
    /// Time from the start of the run to the start of the flow.
    pub start: Draw,
    /// Time at which its application stops sending, even if it is not done. `None` for no such
    /// time.
    pub end: Option<Instant>,
    pub traffic: Traffic,
}

/// A path between the hosts of a flow. Its nodes stand for addresses of the hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Index of the node that is an address of the host that opens.
    pub from: usize,
    /// Index of the node that is an address of the other host.
    pub to: usize,
    /// Indices of the links from `from` to `to`, in order.
    pub there: Vec<usize>,
    /// Indices of the links from `to` to `from`, in order.
    pub back: Vec<usize>,
}

/// The traffic of a flow.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Bytes over a TCP connection.
    Stream { application: StreamApplication, connection: Box<Connection> },
    /// Messages over an SCTP association.
    Messages { application: StreamApplication, association: Box<Association> },
    /// Datagrams without acknowledgements or retransmissions.
    Datagrams(DatagramApplication),
}

/// An application over a TCP connection or an SCTP association.
#[derive(Clone, Debug)]
pub enum StreamApplication {
    /// Sends bytes one way, as fast as the transport takes them.
    Bulk {
        /// Total bytes; `None` for an endless transfer.
        bytes: Option<Amount>,
    },
    /// Sends a request, waits for its response, pauses, and starts again.
    RequestResponse {
        /// Number of requests.
        requests: u32,
        request_bytes: Amount,
        response_bytes: Amount,
        /// Pause from the last byte of a response to the next request.
        think: Draw,
    },
    /// Sends bytes both ways at the same time, as fast as the transport takes them. Each end closes
    /// its direction after its last byte.
    Exchange {
        /// Bytes that the opening end sends.
        bytes: u64,
        /// Bytes that the other end sends.
        back_bytes: u64,
    },
    /// Writes messages one way, whether or not the earlier ones have arrived.
    Messages {
        bytes: u32,
        /// From the writing of a message to that of the next.
        interval: Draw,
        /// Number of messages; `None` for messages without end.
        count: Option<u32>,
    },
}

impl StreamApplication {
    /// Returns whether it sends until the run ends.
    fn is_endless(&self) -> bool {
        matches!(self, Self::Bulk { bytes: None } | Self::Messages { count: None, .. })
    }

    /// Returns whether the end that answers sends no data.
    pub fn is_one_way(&self) -> bool {
        matches!(self, Self::Bulk { .. } | Self::Messages { .. })
    }
}

/// Slow readers: applications that do not read data as soon as they can.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// The most bytes that one read takes.
    pub bytes: u64,
    /// Time from the moment when data becomes readable to the read.
    pub every: Draw,
}

/// An application that sends datagrams. It has no end.
#[derive(Clone, Debug)]
pub enum DatagramApplication {
    /// Sends at a constant rate.
    Cbr {
        /// Rate on the link, headers included.
        rate: Rate,
        /// Length of a datagram on the link, headers included.
        packet_bytes: u32,
        /// Each interval is drawn uniformly within plus or minus this fraction of it, 0 to 1.
        jitter: f64,
    },
    /// Sends at a constant rate in bursts, with pauses.
    OnOff {
        /// Rate on the link during a burst, headers included.
        rate: Rate,
        /// Length of a datagram on the link, headers included.
        packet_bytes: u32,
        /// Length of a burst.
        on: Draw,
        /// Length of a pause.
        off: Draw,
    },
}

/// How a connection begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// It is established from the start, and never closes.
    Established,
    /// One end opens it, and the other answers.
    Handshake,
    /// Both ends open it at the same time (RFC 9293, section 3.5, figure 8).
    Simultaneous,
}

impl Opening {
    /// Returns whether segments open and close the connection.
    pub fn by_segments(self) -> bool {
        self != Self::Established
    }
}

/// The settings and algorithms of both ends of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    pub opening: Opening,
    /// Settings of the end that opens.
    pub settings: eifel_tcp::Settings,
    /// Algorithms of the end that opens.
    pub sender: engine::Config,
    /// Settings of the end that answers.
    pub answering_settings: eifel_tcp::Settings,
    /// Algorithms of the end that answers.
    pub answering_sender: engine::Config,
    /// Whether each end shares what it learns of the path with later connections.
    pub shares: [bool; 2],
    /// The lie of the end that answers; `None` if it is honest.
    pub liar: Option<liar::Kind>,
    /// How both applications read; `None` if they read at once.
    pub reading: Option<Reading>,
    /// Initial sequence numbers, with the opening end's first; `None` if they are drawn.
    pub isns: Option<[u32; 2]>,
}

/// The settings and algorithms of both ends of an association.
#[derive(Clone, Debug)]
pub struct Association {
    /// Settings of the end that opens, then of the end that answers, without addresses and secret.
    pub settings: [eifel_sctp::Settings; 2],
    /// Bytes of user data in a message of each end. The last message of a write may be shorter.
    pub message_bytes: [u32; 2],
    /// What links charge for the packets of each end.
    pub charges: [Charges; 2],
    /// The number of streams, which messages take in turn.
    pub streams: u16,
    /// Whether messages are delivered without regard to order.
    pub unordered: bool,
    /// The lie of the end that answers; `None` if it is honest.
    pub liar: Option<liar::Kind>,
    /// How both applications read; `None` if they read at once.
    pub reading: Option<Reading>,
    /// Changes of the opening end's primary path, in the order of time.
    pub changeovers: Vec<Changeover>,
}

/// The application makes another path the primary one (RFC 9260, section 11.1.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Changeover {
    pub at: Instant,
    /// 0 for the path between the flow's own nodes, then the alternates in their order.
    pub path: usize,
}

/// The default record of a run. A caller may ask for another record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recording {
    /// Names of record tables, from [`TABLES`](super::TABLES).
    pub tables: Vec<&'static str>,
    /// Indices of the nodes at which packets are captured.
    pub captures: Vec<usize>,
}

/// A run as data, checked and complete. All repetitions share it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The subject of the run, for people. Empty if the file has none.
    pub title: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// The number of repetitions.
    pub repetitions: u32,
    /// The longest duration of a run.
    pub duration: Duration,
    /// The condition that stops a run earlier.
    pub stop: Stop,
    /// Bytes that a TCP segment's headers take on links; `None` for their actual length.
    pub header_bytes: Option<u32>,
    pub ip: Version,
    pub recording: Recording,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    pub flows: Vec<Flow>,
}

impl Scenario {
    /// Returns whether any flow sends requests. Its summary then has their latencies.
    pub fn asks(&self) -> bool {
        let application = |flow: &Flow| match &flow.traffic {
            Traffic::Stream { application, .. } | Traffic::Messages { application, .. } => {
                matches!(application, StreamApplication::RequestResponse { .. })
            }
            Traffic::Datagrams(_) => false,
        };
        self.flows.iter().any(application)
    }

    /// Returns whether every run lasts for its whole duration.
    pub fn lasts(&self) -> bool {
        self.stop == Stop::AtDuration || !self.flows.iter().any(Flow::has_end)
    }
}

impl Flow {
    /// Returns whether the flow's receiver lies.
    pub fn lies(&self) -> bool {
        match &self.traffic {
            Traffic::Stream { connection, .. } => connection.liar.is_some(),
            Traffic::Messages { association, .. } => association.liar.is_some(),
            Traffic::Datagrams(_) => false,
        }
    }

    /// Returns whether the flow ends on its own. A run does not wait for other flows.
    pub fn has_end(&self) -> bool {
        match &self.traffic {
            Traffic::Stream { application, .. } | Traffic::Messages { application, .. } => !application.is_endless(),
            Traffic::Datagrams(_) => false,
        }
    }

    /// Iterates over the routes of its packets, in both directions of all paths. Each route has its
    /// links in order, and the node where it ends.
    pub fn ways(&self) -> impl Iterator<Item = (&[usize], usize)> {
        let primary = [(&self.there[..], self.to), (&self.back[..], self.from)];
        let alternates = self.alternates.iter();
        primary.into_iter().chain(alternates.flat_map(|path| [(&path.there[..], path.to), (&path.back[..], path.from)]))
    }
}
