//! Marks that distinguish a retransmission from the original, on segments and on their
//! acknowledgements. Both ends have to agree on them (Ludwig, chapter 5, section 5.2.1 and its
//! second footnote).
//!
//! An experimental option on the SYN and the SYN-ACK negotiates the marks (RFC 6994). Other stacks
//! skip that option. A reserved header bit on a SYN, in contrast, has a meaning for some stacks
//! (AccECN), and some middleboxes drop the segment. [`Marks::Bits`] then costs no byte. Its two
//! bits are those furthest from the assigned bits (RFC 9293, section 6).
//!
//! An acknowledgement is marked if any segment since the last acknowledgement was a retransmission.
//! The retransmit bit of SCTP works the same way (rule (b) of that proposal). The next two
//! acknowledgements are marked too: if one is lost, the next must not look like the acknowledgement
//! of an original. A segment sent before anything else has arrived, such as data of the other
//! direction, repeats the last mark. In doubt, a retransmission does not count as spurious.

use std::mem;

use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Marks, Segment, Timestamps};
use eifel_recovery::fact::Mark;

use crate::settings::TimestampSettings;
use crate::timestamps::Clock;

/// Number of acknowledgements that are marked after a retransmission has arrived.
const MARKED_ACKS: u8 = 3;

/// The mark of acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkedAcks {
    /// Number of acknowledgements still to be marked.
    left: u8,
    /// Whether data or a FIN has arrived since the last acknowledgement.
    news: bool,
    /// Whether the last acknowledgement was marked.
    said: bool,
}

impl MarkedAcks {
    fn on_segment(&mut self, again: bool) {
        self.news = true;
        if again {
            self.left = MARKED_ACKS;
        }
    }

    /// Returns whether the acknowledgement to send is marked.
    fn next_is_marked(&mut self) -> bool {
        if mem::take(&mut self.news) {
            self.said = self.left > 0;
            self.left = self.left.saturating_sub(1);
        }
        self.said
    }
}

/// The negotiated kind of marks, with its state.
#[derive(Clone, Debug)]
pub(crate) enum Marking {
    /// No marks: none are sent, and received ones are ignored.
    Off,
    /// Header bits.
    Bits { marked_acks: MarkedAcks },
    /// Timestamps on marked segments only. `echo` is the earliest value to be echoed. The clock is
    /// boxed, because it is rarely read and would enlarge every connection.
    Timestamps { clock: Box<Clock>, echo: u32, marked_acks: MarkedAcks },
}

impl Marking {
    /// Returns the state for the negotiated marks.
    pub(crate) fn agreed(marks: Option<Marks>) -> Self {
        match marks {
            None => Self::Off,
            Some(Marks::Bits) => Self::Bits { marked_acks: MarkedAcks::default() },
            Some(Marks::Timestamps) => {
                let clock = Box::new(Clock::new(&TimestampSettings::default()));
                Self::Timestamps { clock, echo: 0, marked_acks: MarkedAcks::default() }
            }
        }
    }

    /// Returns whether no marks were negotiated.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Records a segment that takes positions and so will be acknowledged.
    pub(crate) fn on_segment(&mut self, segment: &Segment) {
        match self {
            Self::Off => {}
            Self::Bits { marked_acks } => marked_acks.on_segment(segment.flags.has(Flags::SENT_AGAIN)),
            Self::Timestamps { echo, marked_acks, .. } => {
                let value = segment.options.timestamps.map_or(0, |stamps| stamps.value);
                // If several wait for their first answer, the earliest value is echoed.
                if value != 0 && marked_acks.left < MARKED_ACKS {
                    *echo = value;
                }
                marked_acks.on_segment(value != 0);
            }
        }
    }

    /// Returns the mark of an acknowledgement; `None` if no marks were negotiated.
    #[inline]
    pub(crate) fn read(&self, segment: &Segment) -> Option<Mark> {
        let again = match self {
            Self::Off => return None,
            Self::Bits { .. } => segment.flags.has(Flags::ANSWERS_SENT_AGAIN),
            Self::Timestamps { .. } => segment.options.timestamps.is_some_and(|stamps| stamps.echo != 0),
        };
        Some(if again { Mark::Retransmission } else { Mark::Original })
    }

    /// Marks a segment to send, and counts it as an answer. `again` says whether it is a
    /// retransmission. In a timestamps option, a TSval of 0 means no retransmission, and a TSecr of
    /// 0 means no answer to one. So a clock value of 0 is sent as 1.
    pub(crate) fn write(&mut self, now: Instant, again: bool, segment: &mut Segment) {
        match self {
            Self::Off => {}
            Self::Bits { marked_acks } => {
                if again {
                    segment.flags = segment.flags.with(Flags::SENT_AGAIN);
                }
                if marked_acks.next_is_marked() {
                    segment.flags = segment.flags.with(Flags::ANSWERS_SENT_AGAIN);
                }
            }
            Self::Timestamps { clock, echo, marked_acks } => {
                let value = if again { clock.value(now).0.max(1) } else { 0 };
                let echoed = if marked_acks.next_is_marked() { *echo } else { 0 };
                if value != 0 || echoed != 0 {
                    segment.options.timestamps = Some(Timestamps { value, echo: echoed });
                }
            }
        }
    }
}
