//! A link, and what stands at its two ends.

use crate::background::Background;
use crate::slab::Address;
use eifel_path::link::Link;

/// A link and the node at its end. Fields used together are stored close together.
#[repr(C)]
pub struct Span {
    pub background: Vec<Background>,
    /// The address of all packets over it, if they are those of one sender on one path. `None` otherwise.
    pub sole: Option<Address>,
    /// Index of the node at its far end.
    pub to: u16,
    /// Whether its packets may be for an end that is evaluated ahead of the clock. Such a packet
    /// needs no event.
    pub leads_ahead: bool,
    /// Whether its packets may enter a link that [`follows`](Self::follows) without an event.
    pub feeds_ahead: bool,
    /// Whether a link that [`feeds_ahead`](Self::feeds_ahead) is the only one that feeds it.
    pub follows: bool,
    /// If it [`follows`](Self::follows), the number of packets that have still to enter it by events of that link.
    pub awaited: u32,
    pub link: Link,
}
