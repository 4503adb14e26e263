//! The parts of a script.

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::{Ecn, Version};
use eifel_packet::segment::{Flags, Marks};
use eifel_recovery::association;
use eifel_recovery::engine::Config;
use eifel_tcp::{IcmpError, Settings};

use crate::error::Place;
use crate::expression::Statement;
use crate::profile::Profile;
use crate::sctp::call::Call as AssociationCall;
use crate::sctp::packet::{Icmp, Packet as SctpPacket};
use crate::sctp::setup::Setup;

/// A script without errors.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) origin: String,
    pub(crate) header: Header,
    /// The setup of a conversation over SCTP, which does not use the header's TCP settings; `None`
    /// over TCP.
    pub(crate) association: Option<Setup>,
    pub(crate) events: Vec<Event>,
    /// The readings for other systems, if some lines are for one system only.
    pub(crate) others: Vec<Script>,
}

impl Script {
    /// Returns the file, as the caller named it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the chosen algorithms of a connection.
    pub fn config(&self) -> &Config {
        &self.header.config
    }

    /// Returns the chosen algorithms of an association; `None` over TCP.
    pub fn association_config(&self) -> Option<&association::Config> {
        self.association.as_ref().map(Setup::config)
    }

    /// Returns the tolerance of times.
    pub fn tolerance(&self) -> Duration {
        self.header.tolerance
    }

    /// Returns the connection's settings.
    pub fn settings(&self) -> &Settings {
        &self.header.settings
    }
}

/// Options and settings before the first event.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) profile: Profile,
    pub(crate) version: Version,
    pub(crate) settings: Settings,
    pub(crate) config: Config,
    /// Sequence number on the wire of this end's 0.
    pub(crate) iss: u32,
    /// Sequence number on the wire of the peer's 0.
    pub(crate) irs: u32,
    pub(crate) tolerance: Duration,
    /// Whether the TSval of segments that leave is compared, counted from the first. Otherwise the
    /// TSval is remembered, so that an echo of the script's value can be translated.
    pub(crate) compares_stamps: bool,
    /// Whether each packet of the script is one segment. Otherwise a packet may stand for several
    /// consecutive segments.
    pub(crate) strict_segments: bool,
    /// Maximum number of bytes of an arriving segment. A longer packet of the script stands for
    /// several segments. `None` for no limit.
    pub(crate) arriving_mss: Option<u32>,
    /// Whether a segment with SYN and FIN is dropped before the connection sees it, as by a filter.
    pub(crate) drops_syn_fin: bool,
    /// Whether ICMP errors that RFC 1122 calls hard are ignored.
    pub(crate) ignores_hard_errors: bool,
    /// Notes on commands that were not carried out although they might matter, each with its line.
    pub(crate) notes: Vec<(u32, String)>,
}

/// One line of the conversation.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) place: Place,
    pub(crate) when: When,
    pub(crate) action: Action,
    /// The action as written, on one line.
    pub(crate) text: String,
}

/// The time of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    At(Instant),
    After(Duration),
    Between(Instant, Instant),
    AfterBetween(Duration, Duration),
    Any,
}

/// An event.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Arrives(Traffic),
    Leaves(Traffic),
    Calls {
        call: Call,
        expected: Expected,
        until: Option<Duration>,
    },
    /// The block between `%{` and `}%`.
    Runs(Vec<Statement>),
    /// A command of an operating system. It changes settings only before the connection begins.
    Command(String),
}

/// A packet or an ICMP message between the ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Traffic {
    Segment(Packet),
    Sctp(SctpPacket),
    Icmp(Icmp),
    SegmentError(SegmentError),
}

/// A packet as scripts write it. Sequence numbers count from each side's SYN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    /// Whether the sequence number is compared.
    pub(crate) compares_seq: bool,
    pub(crate) len: u32,
    pub(crate) ack: u32,
    /// `None` if it is not compared.
    pub(crate) window: Option<u16>,
    /// `None` if they are not compared.
    pub(crate) options: Option<Vec<TcpOption>>,
    /// The ECN field of the IP header. `None` if it is not compared; on a packet that arrives,
    /// `None` is Not-ECT.
    pub(crate) ecn: Option<Ecn>,
}

/// An option of the header, in the order of the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TcpOption {
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps {
        value: u32,
        echo: u32,
    },
    /// This project's experimental option.
    Marks(Marks),
    Nop,
    End,
}

/// A call of the application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Socket,
    Bind {
        socket: i64,
    },
    Listen {
        socket: i64,
    },
    Accept {
        socket: i64,
    },
    Connect {
        socket: i64,
    },
    Write {
        socket: i64,
        count: u64,
        then: Then,
    },
    Read {
        socket: i64,
        count: u64,
        /// Expected number of unread bytes afterwards, plus one if the peer has closed its
        /// direction. `None` if it is not checked.
        unread: Option<u64>,
    },
    /// Returns the result of a read without taking data.
    Peek {
        socket: i64,
        count: u64,
    },
    Close {
        socket: i64,
    },
    /// Stops reading, closes this end's direction, or both.
    Shutdown {
        socket: i64,
        read: bool,
        write: bool,
    },
    SetOption {
        socket: i64,
        option: SocketOption,
    },
    /// Turns a close into a reset.
    LingerZero {
        socket: i64,
    },
    /// Takes the pending error, which must have this name; 0 for none.
    TakeError {
        socket: i64,
        expected: String,
    },
    /// Asks for the number of bytes that can be read.
    CountUnread {
        socket: i64,
        expected: u64,
    },
    /// Asks for the number of bytes written and not acknowledged.
    CountUnacknowledged {
        socket: i64,
        expected: u64,
    },
    /// Asks for the number of bytes that a full segment carries.
    SegmentSize {
        socket: i64,
        expected: i64,
    },
    /// A call that exists only for associations.
    Sctp {
        socket: i64,
        call: AssociationCall,
    },
    /// A call that matters only to an operating system.
    Ignored {
        socket: i64,
    },
}

/// The application's statement about the data that follows a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    Nothing,
    /// More data follows soon: `MSG_MORE`.
    More,
    /// A record ends here: `MSG_EOR`.
    EndOfRecord,
}

/// A socket option that affects a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SocketOption {
    NoDelay(bool),
    Cork(bool),
    /// Value of the MSS option and maximum payload of a segment, in bytes.
    MaxSegment(u16),
    UserTimeout(Option<Duration>),
    /// Maximum duration of a handshake.
    HandshakeTimeout(Duration),
}

/// An ICMP message about a segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SegmentError {
    /// `None` for a message that is no error.
    pub(crate) error: Option<IcmpError>,
    /// Whether the message says that the port has no listener.
    pub(crate) refused: bool,
    /// The sequence number in the quoted segment, counted from this end's SYN.
    pub(crate) seq: u32,
}

/// The expected return value of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    Value(i64),
    /// Returns -1 with this error.
    Error(String),
    /// Returns -1 with any error.
    AnyError,
    Any,
}
