//! What an application has to write and its connection has no room for yet.

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
