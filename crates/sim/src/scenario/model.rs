//! A scenario as the simulator takes it: checked, with indices in place of names.

use crate::liar;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_packet::ip::Version;
use eifel_path::config::LinkConfig;
use eifel_path::draw::Draw;
use eifel_recovery::engine;

/// When a run stops, at its duration at the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// When all flows that have an end are done. A run of flows without end lasts for its duration.
    AllFlowsDone,
    /// When the first flow that has an end is done.
    FirstFlowDone,
    /// Never earlier.
    AtDuration,
}

/// A host or a router.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its name, of which there is one.
    pub name: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name, of which there is one; its random streams are derived from it.
    pub name: String,
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node where it ends.
    pub to: usize,
    /// What it does, spikes included.
    pub config: LinkConfig,
    /// Whether a performance-enhancing proxy stands at the node where it begins.
    pub proxied: bool,
}

/// One sender and one receiver.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name, of which there is one.
    pub name: String,
    /// Index of the node that opens the connection or sends the datagrams.
    pub from: usize,
    /// Index of the other node.
    pub to: usize,
    /// Indices of the links from `from` to `to`, in order.
    pub there: Vec<usize>,
    /// Indices of the links from `to` to `from`, in order; empty where datagrams have no way back.
    pub back: Vec<usize>,
    /// When it begins, from the beginning of the run.
    pub start: Draw,
    /// When its application stops sending, done or not.
    pub end: Option<Instant>,
    /// What is sent.
    pub traffic: Traffic,
}

/// What a flow sends, and over what.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Over a TCP connection.
    Stream {
        /// Who writes what, and when.
        application: StreamApplication,
        /// The connection below.
        connection: Box<Connection>,
    },
    /// Datagrams that nobody answers or repeats.
    Datagrams(DatagramApplication),
}

/// An application over a TCP connection.
#[derive(Clone, Debug)]
pub enum StreamApplication {
    /// As much as TCP takes, one way.
    Bulk {
        /// How many bytes in all; `None`: without end.
        bytes: Option<u64>,
    },
    /// A request, its response, a pause, and again.
    RequestResponse {
        /// How many times.
        requests: u32,
        /// Length of a request.
        request_bytes: u64,
        /// Length of a response.
        response_bytes: u64,
        /// From the last byte of a response to the next request.
        think: Draw,
    },
    /// As much as TCP takes, both ways at once; each end closes its direction behind its last byte.
    Exchange {
        /// How many bytes the opener sends.
        bytes: u64,
        /// How many bytes the other end sends.
        back_bytes: u64,
    },
}

/// Applications that do not read at once what can be read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reading {
    /// The most that is read at once.
    pub bytes: u64,
    /// From the moment at which there is something to read to the reading.
    pub every: Draw,
}

/// An application that sends datagrams. It has no end.
#[derive(Clone, Debug)]
pub enum DatagramApplication {
    /// At a constant rate.
    Cbr {
        /// Headers included.
        rate: Rate,
        /// Length of a datagram on the link, headers included.
        packet_bytes: u32,
        /// Each interval is drawn uniformly within plus or minus this share of it, 0 to 1.
        jitter: f64,
    },
    /// At a constant rate in bursts, with pauses.
    OnOff {
        /// Headers included, during a burst.
        rate: Rate,
        /// Length of a datagram on the link, headers included.
        packet_bytes: u32,
        /// Length of a burst.
        on: Draw,
        /// Length of a pause.
        off: Draw,
    },
}

/// How a connection comes to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// It is there from the start, and nothing closes it.
    Established,
    /// One end opens it, and the other answers.
    Handshake,
    /// Both ends open it at the same time (RFC 9293, section 3.5, figure 8).
    Simultaneous,
}

impl Opening {
    /// Whether segments open and close it.
    pub fn by_segments(self) -> bool {
        self != Self::Established
    }
}

/// How both ends of a connection are made.
#[derive(Clone, Debug)]
pub struct Connection {
    /// How it comes to be.
    pub opening: Opening,
    /// Settings of the end that opens.
    pub settings: eifel_tcp::Settings,
    /// Algorithms of the end that opens.
    pub sender: engine::Config,
    /// Settings of the end that answers: the same, but for what is its own.
    pub answering_settings: eifel_tcp::Settings,
    /// Algorithms of the end that answers.
    pub answering_sender: engine::Config,
    /// What the end that answers lies about; `None`: nothing.
    pub liar: Option<liar::Kind>,
    /// How both applications read; `None`: at once.
    pub reading: Option<Reading>,
    /// Initial sequence numbers, the opener's first; `None`: drawn.
    pub isns: Option<[u32; 2]>,
}

/// What a run keeps where the caller does not say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recording {
    /// Names of record tables, of [`TABLES`](super::TABLES).
    pub tables: Vec<&'static str>,
    /// Indices of the nodes at which packets are captured.
    pub captures: Vec<usize>,
}

/// A run as data: checked, complete, and the same for every repetition.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is about, for people; empty if the file does not say.
    pub title: String,
    /// Everything random is derived from it.
    pub seed: u64,
    /// How many runs.
    pub repetitions: u32,
    /// The run stops here at the latest.
    pub duration: Duration,
    /// When it stops before that.
    pub stop: Stop,
    /// What links charge a TCP segment for headers, in place of the real ones.
    pub header_bytes: Option<u32>,
    /// The version of IP below TCP.
    pub ip: Version,
    /// What is kept.
    pub recording: Recording,
    /// The nodes; others name them by index.
    pub nodes: Vec<Node>,
    /// The links; others name them by index.
    pub links: Vec<Link>,
    /// The flows; path elements and records name them by index.
    pub flows: Vec<Flow>,
}

impl Scenario {
    /// Whether every run lasts for its whole duration.
    pub fn lasts(&self) -> bool {
        self.stop == Stop::AtDuration || !self.flows.iter().any(Flow::has_end)
    }
}

impl Flow {
    /// Whether its receiver lies.
    pub fn lies(&self) -> bool {
        matches!(&self.traffic, Traffic::Stream { connection, .. } if connection.liar.is_some())
    }

    /// Whether it is ever done on its own: those that are not do not keep a run going.
    pub fn has_end(&self) -> bool {
        match &self.traffic {
            Traffic::Stream { application: StreamApplication::Bulk { bytes }, .. } => bytes.is_some(),
            Traffic::Stream { .. } => true,
            Traffic::Datagrams(_) => false,
        }
    }
}
