//! A link, and what stands at its two ends.

use crate::background::Background;
use eifel_path::link::Link;

/// A link and the node at its end. Fields used together are stored close together.
#[repr(C)]
pub struct Span {
    pub background: Vec<Background>,
    /// Index of the node at its far end.
    pub to: u16,
    /// Whether its packets may be for an end that is evaluated ahead of the clock. Such a packet
    /// needs no event.
    pub leads_ahead: bool,
    /// Whether its packets may enter a link that [`follows`](Self::follows) without an event.
    pub feeds_ahead: bool,
    /// Whether a link that [`feeds_ahead`](Self::feeds_ahead) is the only one that feeds it, and it
    /// is never full.
    pub follows: bool,
    pub link: Link,
}
