//! A connection and its two directions, as a report shows them.

use super::{Endpoint, Flow};
use crate::frame::decode::without_vlans;
use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// RFC 9293.
    Tcp,
    /// RFC 9260.
    Sctp,
}

/// The results of a connection. Index 0 is the end that was seen first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Number of the connection in the report, from 0.
    pub connection: u64,
    /// TCP, or SCTP.
    pub protocol: Protocol,
    /// The end that was seen first.
    pub client: Endpoint,
    pub server: Endpoint,
    /// Further addresses of the client and the server; empty unless an association uses several.
    pub other_addresses: [Vec<std::net::IpAddr>; 2],
    /// The network of its packets: the number of a tunnel, or one that stands for VLAN tags.
    #[serde(serialize_with = "of_tunnel")]
    pub tunnel: u32,
    /// The identifiers of the VLAN tags of its first packet, the outer one first; empty in a tunnel.
    pub vlans: Vec<u16>,
    /// Time of the first packet, in seconds since 1970.
    pub time_s: f64,
    /// Seconds from the first packet to the last.
    pub duration_s: f64,
    /// Packets, without those that the capture shows twice.
    pub packets: u64,
    /// Packets that the capture shows twice.
    pub twins: u64,
    /// The data of the client, and of the server.
    pub directions: [DirectionSummary; 2],
}

/// The options of a SYN that help to judge retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Offered {
    /// RFC 7323.
    pub timestamps: bool,
    /// RFC 2018.
    pub sack: bool,
}

/// Writes the number of a tunnel; 0 outside of tunnels.
fn of_tunnel<S: serde::Serializer>(network: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(without_vlans(*network))
}

impl Summary {
    /// Returns the flow from the server to the client, or the reverse.
    pub fn flow(&self, from_server: bool) -> Flow {
        let flow = Flow { source: self.client, destination: self.server, tunnel: self.tunnel };
        if from_server { flow.back() } else { flow }
    }
}

/// The results of one direction of a connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DirectionSummary {
    /// The position of the capture point relative to this direction.
    pub vantage: Vantage,
    /// Shortest round trip from the capture point to the receiver and back, in milliseconds.
    pub rtt_ms_min: Option<f64>,
    /// The options that the sender's SYN offers. `None` if that was not captured, and with SCTP.
    pub offered: Option<Offered>,
    /// Longest time by which a segment arrived here after data sent later, in milliseconds. `None` if
    /// none did, or if the capture does not show by how much.
    pub reordered_ms_max: Option<f64>,
    /// Whether the receiver reports duplicates (RFC 2883): `false` if it has answered one without a
    /// report. `None` if the capture shows neither, and with SCTP, where every receiver reports them.
    pub reports_duplicates: Option<bool>,
    /// Name of the model that explains the retransmissions best; `None` without retransmissions.
    pub model: Option<&'static str>,
    /// The cost of needless retransmissions.
    pub cost: Cost,
    #[serde(flatten)]
    pub counts: Counts,
}

/// The cost of needless retransmissions in one direction.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Cost {
    /// Bytes that were sent again needlessly.
    pub bytes_needless: u64,
    /// Bytes by which the flight size stayed below its earlier value after needless
    /// retransmissions, in the two round trips after their acknowledgement. The sum over all groups
    /// of them.
    pub window_lost_bytes: u64,
    /// The bytes left unsent because of the smaller flight size, as milliseconds of sending at the
    /// earlier flight size.
    pub held_back_ms: f64,
    /// New data over the duration of the connection, in bits per second.
    pub goodput_bps: f64,
    /// The goodput if the sender had not been held back, in bits per second.
    pub goodput_without_bps: f64,
}

impl Cost {
    /// Adds the goodput of a connection that lasted `nanos` nanoseconds.
    pub(crate) fn over(mut self, counts: &Counts, nanos: u64) -> Self {
        let (bits, seconds) = ((counts.bytes - counts.bytes_again.min(counts.bytes)) as f64 * 8.0, nanos as f64 / 1e9);
        if seconds > 0.0 {
            self.goodput_bps = bits / seconds;
            // Keeps a tenth of the duration at least: beyond that the estimate is useless.
            self.goodput_without_bps = bits / (seconds - self.held_back_ms / 1e3).max(seconds / 10.0);
        }
        self
    }
}

/// The counts of one direction. Bytes are payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Debug)]
pub struct Counts {
    /// Segments with payload.
    pub segments: u64,
    /// Payload bytes, including retransmissions.
    pub bytes: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmitted bytes.
    pub bytes_again: u64,
    /// Segments that arrived here after data sent later.
    pub reordered: u64,
    /// Bytes that were acknowledged but never seen; with SCTP, chunks.
    pub bytes_not_seen: u64,
    /// Acknowledgements without payload; with SCTP, SACK chunks.
    pub acks: u64,
}

/// The position of the capture point relative to one direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Vantage {
    /// At the sender of the data, or close to it.
    Sender,
    /// At the receiver of the data, or close to it.
    Receiver,
    /// Between the two ends.
    Between,
    /// Unknown: no complete round trip was seen, or both ends answer within microseconds.
    #[default]
    Unknown,
}

impl Vantage {
    /// Finds the vantage from the round trips to the sender and to the receiver, in nanoseconds.
    pub(crate) fn find(sender: Option<u64>, receiver: Option<u64>) -> Self {
        /// The time within which a host answers, in nanoseconds.
        const HOST: u64 = 1_000_000;
        /// Below this time, in nanoseconds, a host's answer and a round trip of a network look alike.
        const ALIKE: u64 = 100_000;
        let (Some(sender), Some(receiver)) = (sender, receiver) else { return Self::Unknown };
        if sender.max(receiver) < ALIKE {
            return Self::Unknown;
        }
        let near = |one: u64, other: u64| one < HOST && other > one.saturating_mul(4);
        if near(sender, receiver) {
            Self::Sender
        } else if near(receiver, sender) {
            Self::Receiver
        } else {
            Self::Between
        }
    }

    /// Returns a description of the place for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sender => "at the sender",
            Self::Receiver => "at the receiver",
            Self::Between => "on the path between",
            Self::Unknown => "at an unknown place",
        }
    }

    /// Returns the evidence for it, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Sender => "the sender reacts to ACKs at once, the receiver answers a round trip later",
            Self::Receiver => "the receiver answers data at once, the sender reacts a round trip later",
            Self::Between => "neither end is near",
            Self::Unknown => "the capture shows no complete round trip, or both ends answer within microseconds",
        }
    }
}
