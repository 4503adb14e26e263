//! A script as a value.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Marks};
use eifel_recovery::engine::Config;
use eifel_tcp::Settings;

use crate::error::Place;
use crate::expression::Assertion;

/// A script that was read without complaint.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) origin: String,
    pub(crate) header: Header,
    pub(crate) events: Vec<Event>,
}

impl Script {
    /// The file it is from, as the caller named it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The algorithms that it asks for.
    pub fn config(&self) -> &Config {
        &self.header.config
    }

    /// How far times may be off.
    pub fn tolerance(&self) -> Duration {
        self.header.tolerance
    }

    /// The connection's settings.
    pub fn settings(&self) -> &Settings {
        &self.header.settings
    }
}

/// What stands before the first event.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) settings: Settings,
    pub(crate) config: Config,
    /// Sequence number on the wire of what the script counts as this end's 0.
    pub(crate) iss: u32,
    /// The same for the peer.
    pub(crate) irs: u32,
    pub(crate) tolerance: Duration,
    /// Whether TSval of segments that leave is compared, counted from the first. If not, it is remembered, so that an echo of
    /// the script's value can be translated.
    pub(crate) compares_stamps: bool,
    /// Whether each packet of the script is one segment. If not, a packet may stand for segments that leave one behind the
    /// other.
    pub(crate) strict_segments: bool,
}

/// One line of the conversation.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) place: Place,
    pub(crate) when: When,
    pub(crate) action: Action,
    /// The action as it is written, in one line.
    pub(crate) text: String,
}

/// When something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// At this time.
    At(Instant),
    /// So long after the last event.
    After(Duration),
    /// Between these times.
    Between(Instant, Instant),
    /// Between these times after the last event.
    AfterBetween(Duration, Duration),
    /// At any time.
    Any,
}

/// What happens.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A packet of the peer arrives.
    Arrives(Packet),
    /// A packet leaves.
    Leaves(Packet),
    /// The application calls.
    Calls { call: Call, expected: Expected, until: Option<Duration> },
    /// Variables are as stated.
    Asserts(Vec<Assertion>),
    /// A command of an operating system, which is passed over.
    Command,
}

/// A packet as scripts write it: sequence numbers count from each side's SYN.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) len: u32,
    pub(crate) ack: u32,
    /// `None`: not compared.
    pub(crate) window: Option<u16>,
    /// `None`: not compared.
    pub(crate) options: Option<Vec<TcpOption>>,
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
    },
    Read {
        socket: i64,
        count: u64,
    },
    Close {
        socket: i64,
    },
    /// Ends this end's direction.
    Shutdown {
        socket: i64,
    },
    /// A close becomes a reset.
    LingerZero {
        socket: i64,
    },
    /// The error that is waiting is the one of this name, 0 for none.
    TakeError {
        socket: i64,
        expected: String,
    },
    /// So many bytes can be read.
    CountUnread {
        socket: i64,
        expected: u64,
    },
    /// So many bytes are written and not acknowledged.
    CountUnacknowledged {
        socket: i64,
        expected: u64,
    },
    /// Has a meaning to an operating system only.
    Ignored {
        socket: i64,
    },
}

/// What a call must return.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// This number.
    Value(i64),
    /// -1, and an error of this name.
    Error(String),
    /// Anything.
    Any,
}
