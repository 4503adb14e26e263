//! Delays a last segment that is not full: Nagle's algorithm (RFC 9293, section 3.7.4), and data
//! that the application has written but not pushed (section 3.9.1.2, SEND).

use eifel_base::time::Instant;

use crate::connection::Connection;

/// The event that a short last segment waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    Nothing,
    /// The acknowledgement of all outstanding data: Nagle's algorithm.
    Acknowledgement,
    /// More data, a push, or the persist timer.
    Push,
}

/// The application's settings for short segments, and whether it still reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SendOptions {
    nagle: bool,
    corked: bool,
    /// The end of the data at the last push. Data below does not wait for a push.
    pushed: u64,
    /// Whether the application has [closed](Connection::close) the connection, and will not read again.
    left: bool,
}

impl SendOptions {
    pub(crate) fn new(nagle: bool) -> Self {
        Self { nagle, corked: false, pushed: 0, left: false }
    }

    pub(crate) fn leave(&mut self) {
        self.left = true;
    }

    /// Returns whether the application has left, and will not read again.
    pub(crate) fn has_left(self) -> bool {
        self.left
    }

    /// Returns the event that a short segment waits for if all data is pushed.
    pub(crate) fn once_pushed(self) -> Tail {
        if self.nagle { Tail::Acknowledgement } else { Tail::Nothing }
    }
}

impl Connection {
    /// Turns Nagle's algorithm on or off. Off also pushes waiting data, like a socket's
    /// `TCP_NODELAY`.
    pub fn set_nagle(&mut self, on: bool) {
        self.rare.send_options.nagle = on;
        if self.tail != Tail::Push {
            self.tail = self.rare.send_options.once_pushed();
        } else if !on {
            self.push();
        }
    }

    /// Delays all segments that are not full until `cork(false)`, like a socket's `TCP_CORK`. The
    /// delay is at most a retransmission timeout. A FIN pushes all data.
    pub fn cork(&mut self, on: bool) {
        self.rare.send_options.corked = on;
        self.tail = if on { Tail::Push } else { self.rare.send_options.once_pushed() };
    }

    /// Ends a record after the written data, like the flag `MSG_EOR` of a socket's `send`. No
    /// segment carries bytes of this record and of the next. No data of this record waits for more
    /// data.
    pub fn end_record(&mut self) {
        self.stream.end_record(self.engine.nxt());
    }

    /// Announces that more data follows. A last segment that is not full waits for the next write,
    /// for an acknowledgement of new data, or for a retransmission timeout. This is the flag
    /// `MSG_MORE` of a socket's `send`, or a SEND call without PUSH.
    pub fn more_follows(&mut self) {
        self.tail = Tail::Push;
    }

    /// Records a write. It is pushed unless [`more_follows`](Self::more_follows) is called.
    pub(crate) fn note_write(&mut self) {
        if !self.rare.send_options.corked {
            self.tail = self.rare.send_options.once_pushed();
        }
    }

    /// Records an acknowledgement of new data: pushes waiting data, unless the application has
    /// corked.
    #[cold]
    pub(crate) fn push_after_progress(&mut self) {
        if !self.rare.send_options.corked {
            self.push();
        }
    }

    /// Pushes all data written so far.
    fn push(&mut self) {
        self.rare.send_options.pushed = self.stream.end();
    }

    /// Returns the end of the data that may be sent, if short segments may have to wait.
    #[inline(never)]
    pub(crate) fn end_before_tail(&self) -> u64 {
        let (una, nxt, end) = (self.engine.una(), self.engine.nxt(), self.stream.end());
        if self.stream.is_finished() || end.saturating_sub(nxt) >= u64::from(self.full_segment()) {
            return end;
        }
        let free = match self.tail {
            Tail::Nothing => end,
            Tail::Acknowledgement if una == nxt => end,
            Tail::Acknowledgement => nxt,
            Tail::Push => self.rare.send_options.pushed.max(nxt),
        };
        free.max(self.stream.last_record()).min(end)
    }

    /// Pushes data that waits for more, if the persist timer ran for it. Returns whether it did.
    pub(crate) fn push_at_timeout(&mut self, now: Instant) -> bool {
        let waits = self.tail == Tail::Push
            && self.persist_deadline() <= now
            && self.engine.una() == self.engine.nxt()
            && self.end_before_tail() == self.engine.nxt();
        if waits {
            self.push();
            self.persist = None;
        }
        waits
    }
}
