//! Writes an application's bytes, and keeps the backlog for which the send buffer has no room yet.

use crate::app::{Step, StreamApp, Supply};
use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::pattern;

/// Bytes that wait for room in the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// Size of the send buffer, in bytes.
    pub buffer: u64,
    /// Bytes that wait.
    pub waiting: u64,
    /// Whether this direction closes after the last waiting byte.
    pub closes: bool,
    /// Whether the connection took fewer bytes than offered, and has not reported room since.
    /// Nothing is offered until that report.
    pub awaits_room: bool,
}

impl Backlog {
    /// Creates an empty backlog for a buffer of `buffer` bytes.
    pub fn new(buffer: u64) -> Self {
        Self { buffer, waiting: 0, closes: false, awaits_room: false }
    }
}

impl Endpoint {
    /// Writes until the application is far enough ahead, and sends the data that the window allows.
    #[inline(never)]
    pub fn refill<const IN_ORDER: bool>(
        &mut self,
        net: &mut Network<IN_ORDER>,
        app: &mut StreamApp,
        carries_bytes: bool,
    ) {
        loop {
            let mut wrote = self.write_backlog(carries_bytes);
            if !self.is_blocked() {
                // These bytes fill the last segment of the backlog.
                let unsent = self.connection.end().saturating_sub(self.connection.engine().nxt());
                let more = app.refill(self.end, unsent);
                if more > 0 {
                    self.write(more, carries_bytes);
                    if app.is_over(self.end) {
                        self.close();
                    }
                    wrote = true;
                }
            }
            if !wrote {
                break;
            }
            self.transmit(net);
        }
        self.note_supply(app);
    }

    /// Returns whether the application waits for room.
    fn is_blocked(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.waiting > 0)
    }

    /// Updates `supply`: whether the application writes more when the connection has sent data.
    pub fn note_supply(&mut self, app: &StreamApp) {
        self.supply = if self.is_blocked() { Supply::Ahead } else { app.supply(self.end) };
    }

    /// Applies an application's step: writes and closes.
    pub fn apply(&mut self, step: &Step, carries_bytes: bool) {
        if step.write > 0 {
            self.write(step.write, carries_bytes);
        }
        if step.close {
            self.close();
        }
    }

    /// Writes `count` bytes, or as many as there is room for now and the rest later.
    pub fn write(&mut self, count: u64, carries_bytes: bool) {
        match &mut self.backlog {
            Some(backlog) => {
                backlog.waiting += count;
                self.write_backlog(carries_bytes);
                if self.is_blocked() {
                    self.supply = Supply::Ahead;
                }
            }
            None => {
                self.offer(count, carries_bytes);
            }
        }
    }

    /// Writes the waiting bytes for which there is room. Returns whether it wrote any.
    fn write_backlog(&mut self, carries_bytes: bool) -> bool {
        let Some(backlog) = self.backlog.as_deref().copied() else { return false };
        if backlog.waiting == 0 || backlog.awaits_room {
            return false;
        }
        let taken = self.offer(backlog.waiting, carries_bytes);
        let waiting = backlog.waiting - taken;
        if let Some(kept) = &mut self.backlog {
            **kept = Backlog { waiting, awaits_room: waiting > 0, ..backlog };
        }
        if waiting == 0 && backlog.closes {
            self.connection.shutdown_write();
        }
        taken > 0
    }

    /// Offers bytes to the connection. Returns the number of bytes that it takes.
    fn offer(&mut self, count: u64, carries_bytes: bool) -> u64 {
        if !carries_bytes {
            return self.connection.write_counted(count);
        }
        let offset = self.connection.end().saturating_sub(1);
        // One byte more than the buffer holds is offered. The connection cannot take it, and so
        // reports room later.
        let offered = self.backlog.as_ref().map_or(count, |backlog| count.min(backlog.buffer + 1));
        self.connection.write(&pattern::bytes(offset, offered as usize)) as u64
    }

    /// Notes that the connection has reported room.
    pub fn note_room(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.awaits_room = false;
        }
    }

    /// Closes this direction, after the waiting bytes are written.
    pub fn close(&mut self) {
        match &mut self.backlog {
            Some(backlog) if backlog.waiting > 0 => backlog.closes = true,
            _ => self.connection.shutdown_write(),
        }
    }

    /// Drops the waiting bytes.
    pub fn drop_backlog(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.waiting = 0;
        }
    }
}
