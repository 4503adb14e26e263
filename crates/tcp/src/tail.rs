//! When a last segment leaves that is less than full: Nagle's algorithm (RFC 9293, section 3.7.4), and data that the
//! application has written and not pushed (section 3.9.1.2, SEND).

use eifel_base::time::Instant;

use crate::connection::Connection;

/// The event that a short last segment waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    Nothing,
    /// The acknowledgement of all that is outstanding: Nagle's algorithm.
    Acknowledgement,
    /// More data, a push, or the persist timer.
    Push,
}

/// The application's wishes: about short segments, and whether it still listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wishes {
    nagle: bool,
    corked: bool,
    /// The end of the data as of the last push: what lies below waits for none.
    pushed: u64,
    /// Whether the application has [left](Connection::leave): nobody will read.
    left: bool,
}

impl Wishes {
    pub(crate) fn new(nagle: bool) -> Self {
        Self { nagle, corked: false, pushed: 0, left: false }
    }

    pub(crate) fn leave(&mut self) {
        self.left = true;
    }

    /// Returns whether nobody will read.
    pub(crate) fn has_left(self) -> bool {
        self.left
    }

    /// Returns what a short segment waits for where all data is pushed.
    pub(crate) fn usual(self) -> Tail {
        if self.nagle { Tail::Acknowledgement } else { Tail::Nothing }
    }
}

impl Connection {
    /// Switches Nagle's algorithm on or off. Off also pushes what waits, as a socket's `TCP_NODELAY` does.
    pub fn set_nagle(&mut self, on: bool) {
        self.cold.wishes.nagle = on;
        if self.tail != Tail::Push {
            self.tail = self.cold.wishes.usual();
        } else if !on {
            self.push();
        }
    }

    /// Lets every segment wait that is less than full, until this is taken back, for a retransmission timeout at the most: a
    /// socket's `TCP_CORK`. A FIN pushes all data.
    pub fn cork(&mut self, on: bool) {
        self.cold.wishes.corked = on;
        self.tail = if on { Tail::Push } else { self.cold.wishes.usual() };
    }

    /// Ends a record with what was written: no segment carries bytes of this record and of the next, and none of this record
    /// waits for more. The flag `MSG_EOR` of a socket's `send`.
    pub fn end_record(&mut self) {
        self.stream.end_record(self.engine.nxt());
    }

    /// Says that more data follows what has just been written. A last segment that is less than full waits for the next
    /// write, for an acknowledgement of new data, or for a retransmission timeout: the flag `MSG_MORE` of a socket's `send`,
    /// a SEND call without PUSH.
    pub fn more_follows(&mut self) {
        self.tail = Tail::Push;
    }

    /// Takes note of a write, which is pushed unless [`more_follows`](Self::more_follows) says otherwise.
    pub(crate) fn note_write(&mut self) {
        if !self.cold.wishes.corked {
            self.tail = self.cold.wishes.usual();
        }
    }

    /// Takes note of an acknowledgement of new data.
    #[cold]
    pub(crate) fn push_after_progress(&mut self) {
        if !self.cold.wishes.corked {
            self.push();
        }
    }

    /// Lets all data leave that was written until now.
    fn push(&mut self) {
        self.cold.wishes.pushed = self.stream.end();
    }

    /// Returns the end of the data that may leave, where short segments wait for something.
    #[inline(never)]
    pub(crate) fn end_before_tail(&self) -> u64 {
        let (una, nxt, end) = (self.engine.una(), self.engine.nxt(), self.stream.end());
        if self.stream.is_finished() || end.saturating_sub(nxt) >= u64::from(self.mss) {
            return end;
        }
        let free = match self.tail {
            Tail::Nothing => end,
            Tail::Acknowledgement if una == nxt => end,
            Tail::Acknowledgement => nxt,
            Tail::Push => self.cold.wishes.pushed.max(nxt),
        };
        free.max(self.stream.last_record()).min(end)
    }

    /// Pushes what waits for more data, if that is why the persist timer ran. Returns whether it is.
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
