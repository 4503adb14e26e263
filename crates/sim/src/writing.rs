//! What an application writes, and what it has to write and its connection has no room for yet.

use crate::app::{Step, StreamApp, Supply};
use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::pattern;

/// What waits for room in the send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// The most that the connection takes at once, in bytes.
    pub buffer: u64,
    /// What waits, in bytes.
    pub waiting: u64,
    /// What follows the last byte.
    pub then: Then,
    /// Whether the connection is worth trying.
    pub room: Room,
}

/// What follows the last byte that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing yet.
    More,
    /// The end of this direction.
    Close,
}

/// What the connection has said last of room for more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// There may be some.
    Likely,
    /// It has taken less than it was offered: it will say when there is some. An application that sleeps until then must not
    /// sleep for ever.
    Awaited,
}

impl Backlog {
    /// Nothing waits for a buffer of so many bytes.
    pub fn new(buffer: u64) -> Self {
        Self { buffer, waiting: 0, then: Then::More, room: Room::Likely }
    }
}

impl Endpoint {
    /// The application writes as far ahead of what is sent as it means to, and what that lets go leaves.
    #[inline(never)]
    pub fn refill<const OBSERVED: bool>(
        &mut self,
        net: &mut Network<OBSERVED>,
        app: &mut StreamApp,
        carries_bytes: bool,
    ) {
        loop {
            if self.write_backlog(carries_bytes) {
                self.transmit(net);
            }
            if self.is_blocked() {
                break;
            }
            let unsent = self.connection.end().saturating_sub(self.connection.engine().nxt());
            let more = app.refill(self.end, unsent);
            if more == 0 {
                break;
            }
            self.write(more, carries_bytes);
            if app.is_over(self.end) {
                self.close();
            }
            self.transmit(net);
        }
        self.note_supply(app);
    }

    /// Whether its application waits for room.
    fn is_blocked(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.waiting > 0)
    }

    /// Notes whether there is more to write without anything having happened but what is sent.
    pub fn note_supply(&mut self, app: &StreamApp) {
        self.supply = if self.is_blocked() { Supply::Ahead } else { app.supply(self.end) };
    }

    /// The application writes and closes.
    pub fn apply(&mut self, step: &Step, carries_bytes: bool) {
        if step.write > 0 {
            self.write(step.write, carries_bytes);
        }
        if step.close {
            self.close();
        }
    }

    /// The application writes so many bytes, or will when there is room.
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

    /// Writes what has waited, as far as there is room; the answer is whether that was anything.
    fn write_backlog(&mut self, carries_bytes: bool) -> bool {
        let Some(backlog) = self.backlog.as_deref().copied() else { return false };
        if backlog.waiting == 0 || backlog.room == Room::Awaited {
            return false;
        }
        let taken = self.offer(backlog.waiting, carries_bytes);
        let waiting = backlog.waiting - taken;
        let room = if waiting > 0 { Room::Awaited } else { Room::Likely };
        if let Some(kept) = &mut self.backlog {
            **kept = Backlog { waiting, room, ..backlog };
        }
        if waiting == 0 && backlog.then == Then::Close {
            self.connection.close();
        }
        taken > 0
    }

    /// Offers bytes to the connection; the answer is how many it takes.
    fn offer(&mut self, count: u64, carries_bytes: bool) -> u64 {
        if !carries_bytes {
            return self.connection.write_counted(count);
        }
        let offset = self.connection.end().saturating_sub(1);
        // A byte more than the buffer holds: the connection is to know that there was more.
        let offered = self.backlog.as_ref().map_or(count, |backlog| count.min(backlog.buffer + 1));
        self.connection.write(&pattern::bytes(offset, offered as usize)) as u64
    }

    /// The connection says that there is room again.
    pub fn note_room(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.room = Room::Likely;
        }
    }

    /// The application writes no more, once what waits is written.
    pub fn close(&mut self) {
        match &mut self.backlog {
            Some(backlog) if backlog.waiting > 0 => backlog.then = Then::Close,
            _ => self.connection.close(),
        }
    }

    /// The application drops what it could not write.
    pub fn drop_backlog(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.waiting = 0;
        }
    }
}
