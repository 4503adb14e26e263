//! Applications: they decide which end writes how many bytes and when, and when datagrams leave.

pub mod bulk;
pub mod cbr;
pub mod exchange;
pub mod messages;
pub mod on_off;
pub mod reader;
pub mod request_response;
pub mod session;

use crate::end::End;
use bulk::Bulk;
use cbr::Cbr;
use eifel_base::time::{Duration, Instant};
use exchange::Exchange;
use messages::Messages;
use on_off::OnOff;
use request_response::RequestResponse;

/// The actions of an application at one end of its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Step {
    /// Bytes to write.
    pub write: u64,
    /// Whether the application closes: it never writes again.
    pub close: bool,
    /// Time after which the application wants to be woken; `None` for never.
    pub wake_after: Option<Duration>,
    /// Whether the last byte of the whole flow, in both directions, has been read.
    pub done: bool,
}

impl Step {
    pub const NOTHING: Self = Self { write: 0, close: false, wake_after: None, done: false };
}

pub enum StreamApp {
    /// Sends bytes one way, as fast as TCP takes them.
    Bulk(Bulk),
    RequestResponse(Box<RequestResponse>),
    /// Sends bytes both ways at the same time, as fast as TCP takes them.
    Exchange(Box<Exchange>),
    /// Writes messages one way, each some time after the one before.
    Messages(Box<Messages>),
}

/// Whether an application has more to write at an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Supply {
    /// Writes nothing until data arrives or an alarm wakes it.
    Complete,
    /// Writes more whenever fewer unsent bytes are left than it keeps written ahead.
    Ahead,
}

impl StreamApp {
    /// Starts the application at `end`, whose connection is established.
    pub fn start(&mut self, now: Instant, end: End) -> Step {
        match (self, end) {
            (Self::Exchange(exchange), _) => exchange.start(end),
            (Self::Bulk(bulk), End::From) => bulk.start(),
            (Self::RequestResponse(dialogue), End::From) => dialogue.start(now),
            (Self::Messages(messages), End::From) => messages.write(),
            (Self::Bulk(_) | Self::RequestResponse(_) | Self::Messages(_), End::To) => Step::NOTHING,
        }
    }

    /// Reacts to `end` having read `total` bytes since the beginning. Returns `None` if the
    /// application does nothing.
    #[inline]
    pub fn read(&mut self, now: Instant, end: End, total: u64) -> Option<Step> {
        // The most common application takes only one comparison.
        if let Self::Bulk(bulk) = self {
            return bulk.read(end, total);
        }
        match self {
            Self::Bulk(_) => None,
            Self::RequestResponse(dialogue) => dialogue.read(now, end, total),
            Self::Exchange(exchange) => exchange.read(end, total),
            Self::Messages(messages) => messages.read(end, total),
        }
    }

    /// Reacts to the end of a pause that the application asked for. Pauses happen at [`End::From`].
    pub fn wake(&mut self, now: Instant) -> Step {
        match self {
            Self::Bulk(_) | Self::Exchange(_) => Step::NOTHING,
            Self::RequestResponse(dialogue) => dialogue.wake(now),
            Self::Messages(messages) => messages.write(),
        }
    }

    /// Returns the bytes to write at `end`, on top of the `unsent` bytes that are written but not
    /// sent.
    #[inline]
    pub fn refill(&mut self, end: End, unsent: u64) -> u64 {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.refill(unsent),
            (Self::Exchange(exchange), _) => exchange.refill(end, unsent),
            (Self::Bulk(_), End::To) | (Self::RequestResponse(_) | Self::Messages(_), _) => 0,
        }
    }

    /// Returns whether the application writes more at `end` when few unsent bytes are left there.
    pub fn supply(&self, end: End) -> Supply {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.supply(),
            (Self::Exchange(exchange), _) => exchange.supply(end),
            (Self::Bulk(_), End::To) | (Self::RequestResponse(_) | Self::Messages(_), _) => Supply::Complete,
        }
    }

    /// Returns whether `end` has written everything and now closes its direction.
    pub fn is_over(&self, end: End) -> bool {
        match (self, end) {
            (Self::Bulk(bulk), End::From) => bulk.is_over(),
            (Self::Exchange(exchange), _) => exchange.is_over(end),
            (Self::Messages(messages), End::From) => messages.is_over(),
            (Self::Bulk(_) | Self::Messages(_), End::To) | (Self::RequestResponse(_), _) => false,
        }
    }

    /// Returns whether an end closes its direction as soon as the other end has closed.
    pub fn closes_with_peer(&self) -> bool {
        !matches!(self, Self::Exchange(_))
    }

    /// Stops sending, even if the application is not done.
    pub fn stop(&mut self) {
        match self {
            Self::Bulk(bulk) => bulk.stop(),
            Self::RequestResponse(dialogue) => dialogue.stop(),
            Self::Exchange(exchange) => exchange.stop(),
            Self::Messages(messages) => messages.stop(),
        }
    }

    /// Returns whether an application that stops drops the bytes that wait for room in the send
    /// buffer. A dialogue keeps them: it finishes the requests and responses that it has begun. So do
    /// messages, which are sent whole.
    pub fn drops_backlog_on_stop(&self) -> bool {
        !matches!(self, Self::RequestResponse(_) | Self::Messages(_))
    }

    /// Returns the time from each request to the last byte of its response; `None` for applications
    /// without requests.
    pub fn latencies(&self) -> Option<&[Duration]> {
        if let Self::RequestResponse(dialogue) = self { Some(dialogue.latencies()) } else { None }
    }

    /// Returns whether `end` sends application data.
    pub fn sends_from(&self, end: End) -> bool {
        end == End::From || !matches!(self, Self::Bulk(_) | Self::Messages(_))
    }
}

pub enum DatagramApp {
    Cbr(Cbr),
    OnOff(Box<OnOff>),
}

impl DatagramApp {
    /// Returns the time from the start of the source to its first datagram.
    pub fn first(&mut self) -> Duration {
        match self {
            Self::Cbr(_) => Duration::ZERO,
            Self::OnOff(bursts) => bursts.gap(),
        }
    }

    /// Draws the time from one datagram to the next.
    #[inline]
    pub fn gap(&mut self) -> Duration {
        match self {
            Self::Cbr(cbr) => cbr.gap(),
            Self::OnOff(bursts) => bursts.gap(),
        }
    }

    /// Returns the bytes of a datagram on the link, headers included.
    pub fn packet_bytes(&self) -> u32 {
        match self {
            Self::Cbr(cbr) => cbr.packet_bytes,
            Self::OnOff(bursts) => bursts.packet_bytes,
        }
    }
}

/// The times at which an application wants to be woken.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    /// The start of the application, or the end of a pause.
    pub wake_at: Instant,
    /// The time at which the application stops sending.
    pub stop_at: Instant,
    /// The time at which the application makes another path the primary one.
    pub change_at: Instant,
}

impl Alarm {
    /// Returns the earliest of these times.
    pub fn next(&self) -> Instant {
        self.wake_at.min(self.stop_at).min(self.change_at)
    }
}
