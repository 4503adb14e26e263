//! Applications: who writes what into a connection, and when; and what goes out as datagrams.

pub mod bulk;
pub mod cbr;
pub mod exchange;
pub mod on_off;
pub mod reader;
pub mod request_response;

use crate::slab::End;
use bulk::Bulk;
use cbr::Cbr;
use eifel_base::time::{Duration, Instant};
use exchange::Exchange;
use on_off::OnOff;
use request_response::RequestResponse;

/// What an application does at one end of its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// It writes so many bytes.
    pub write: u64,
    /// It has no more to write, now or later.
    pub close: bool,
    /// It wants to be woken after so long.
    pub wake_after: Option<Duration>,
    /// The last byte of all has been read.
    pub done: bool,
}

impl Step {
    /// It does nothing.
    pub const NOTHING: Self = Self { write: 0, close: false, wake_after: None, done: false };
}

/// An application over a connection.
pub enum StreamApp {
    /// As much as TCP takes, one way.
    Bulk(Bulk),
    /// Requests and responses.
    RequestResponse(Box<RequestResponse>),
    /// As much as TCP takes, both ways at once.
    Exchange(Box<Exchange>),
}

/// Whether an application has more to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Supply {
    /// None before something arrives or it is woken.
    Complete,
    /// Whenever less is left to send than it means to be ahead.
    Ahead,
}

impl StreamApp {
    /// The connection is there, as `end` sees it.
    pub fn start(&mut self, end: End) -> Step {
        match (self, end) {
            (Self::Exchange(exchange), _) => exchange.start(end),
            (Self::Bulk(bulk), End::From) => bulk.start(),
            (Self::RequestResponse(dialogue), End::From) => dialogue.start(),
            (Self::Bulk(_) | Self::RequestResponse(_), End::To) => Step::NOTHING,
        }
    }

    /// `end` has read `total` bytes since the beginning; `None` where nothing follows from it.
    #[inline]
    pub fn read(&mut self, end: End, total: u64) -> Option<Step> {
        match self {
            Self::Bulk(bulk) => bulk.read(end, total),
            Self::RequestResponse(dialogue) => dialogue.read(end, total),
            Self::Exchange(exchange) => exchange.read(end, total),
        }
    }

    /// The time that it wanted to wait is over; this happens at the end [`End::From`].
    pub fn wake(&mut self) -> Step {
        match self {
            Self::Bulk(_) | Self::Exchange(_) => Step::NOTHING,
            Self::RequestResponse(dialogue) => dialogue.wake(),
        }
    }

    /// So many bytes are written at `end` and not sent: what is written there in addition.
    #[inline]
    pub fn refill(&mut self, end: End, unsent: u64) -> u64 {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.refill(unsent),
            (Self::Exchange(exchange), _) => exchange.refill(end, unsent),
            (Self::Bulk(_), End::To) | (Self::RequestResponse(_), _) => 0,
        }
    }

    /// Whether more is written at `end` when little is left there that is not sent.
    pub fn supply(&self, end: End) -> Supply {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.supply(),
            (Self::Exchange(exchange), _) => exchange.supply(end),
            (Self::Bulk(_), End::To) | (Self::RequestResponse(_), _) => Supply::Complete,
        }
    }

    /// Whether all that `end` writes is written, and its direction to be closed then.
    pub fn is_over(&self, end: End) -> bool {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.is_over(),
            (Self::Exchange(exchange), _) => exchange.is_over(end),
            (Self::Bulk(_), End::To) | (Self::RequestResponse(_), _) => false,
        }
    }

    /// Whether an end closes its direction because the other one has.
    pub fn closes_with_peer(&self) -> bool {
        !matches!(self, Self::Exchange(_))
    }

    /// It stops sending, done or not.
    pub fn stop(&mut self) {
        match self {
            Self::Bulk(bulk) => bulk.stop(),
            Self::RequestResponse(dialogue) => dialogue.stop(),
            Self::Exchange(exchange) => exchange.stop(),
        }
    }

    /// Whether it leaves unwritten, when it stops, what it has not had room for. What has begun in a dialogue is finished.
    pub fn breaks_off(&self) -> bool {
        !matches!(self, Self::RequestResponse(_))
    }

    /// Whether this end sends data of the application.
    pub fn sends_from(&self, end: End) -> bool {
        end == End::From || !matches!(self, Self::Bulk(_))
    }
}

/// An application that sends datagrams.
pub enum DatagramApp {
    /// At a constant rate.
    Cbr(Cbr),
    /// In bursts.
    OnOff(Box<OnOff>),
}

impl DatagramApp {
    /// How long after its start the first datagram leaves.
    pub fn first(&mut self) -> Duration {
        match self {
            Self::Cbr(_) => Duration::ZERO,
            Self::OnOff(bursts) => bursts.gap(),
        }
    }

    /// How long after a datagram the next one leaves.
    #[inline]
    pub fn gap(&mut self) -> Duration {
        match self {
            Self::Cbr(cbr) => cbr.gap(),
            Self::OnOff(bursts) => bursts.gap(),
        }
    }

    /// Bytes of a datagram on the link.
    pub fn packet_bytes(&self) -> u32 {
        match self {
            Self::Cbr(cbr) => cbr.packet_bytes,
            Self::OnOff(bursts) => bursts.packet_bytes,
        }
    }
}

/// The earlier of the times at which an application wants to be woken.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    /// Its start, or the end of a pause.
    pub wake_at: Instant,
    /// When it stops sending.
    pub stop_at: Instant,
}

impl Alarm {
    /// The earlier one.
    pub fn next(&self) -> Instant {
        self.wake_at.min(self.stop_at)
    }
}
