//! Marks that tell a retransmission from the original, on segments and on their acknowledgements, between two ends that
//! have agreed on them (Ludwig, chapter 5, section 5.2.1 and its second footnote).
//!
//! Agreement takes an experimental option on the SYN and the SYN-ACK (RFC 6994): stacks that do not know it skip it, whereas
//! a reserved header bit on a SYN means something to some of them (AccECN) and is dropped by some middleboxes. Once agreed,
//! [`Marks::Bits`] costs no byte. The two bits are those furthest from the ones that are assigned (RFC 9293, section 6).
//!
//! An acknowledgement says that it answers a retransmission if any segment since the last acknowledgement was one, as the
//! retransmit bit of SCTP does (rule (b) of that proposal): in doubt nothing was spurious.

use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Marks, Segment, Timestamps};
use eifel_recovery::fact::Mark;

use crate::settings::TimestampSettings;
use crate::timestamps::Clock;

/// What is agreed on, and what waits to be answered.
#[derive(Clone, Debug)]
pub(crate) enum Marking {
    /// Nothing: segments carry no marks, and what looks like one means nothing.
    Off,
    /// Header bits; what the next acknowledgement answers.
    Bits(Mark),
    /// Timestamps on what is marked. `echo` is the earliest value to be answered; 0 for none. The clock is seldom read, and
    /// would make every connection larger.
    Timestamps { clock: Box<Clock>, echo: u32 },
}

impl Marking {
    /// Returns the marking that `agreed` asks for.
    pub(crate) fn agreed(marks: Option<Marks>) -> Self {
        match marks {
            None => Self::Off,
            Some(Marks::Bits) => Self::Bits(Mark::Original),
            Some(Marks::Timestamps) => {
                Self::Timestamps { clock: Box::new(Clock::new(&TimestampSettings::default())), echo: 0 }
            }
        }
    }

    /// Returns whether nothing was agreed on.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Notes a segment that takes positions and will be answered.
    pub(crate) fn arrives(&mut self, segment: &Segment) {
        match self {
            Self::Off => {}
            Self::Bits(answer) => {
                if segment.flags.has(Flags::SENT_AGAIN) {
                    *answer = Mark::Retransmission;
                }
            }
            Self::Timestamps { echo, .. } => {
                if let (Some(Timestamps { value, .. }), 0) = (segment.options.timestamps, *echo) {
                    *echo = value;
                }
            }
        }
    }

    /// Returns what an acknowledgement says; `None` where nothing was agreed on.
    #[inline]
    pub(crate) fn read(&self, segment: &Segment) -> Option<Mark> {
        let again = match self {
            Self::Off => return None,
            Self::Bits(_) => segment.flags.has(Flags::ANSWERS_SENT_AGAIN),
            Self::Timestamps { .. } => segment.options.timestamps.is_some_and(|stamps| stamps.echo != 0),
        };
        Some(if again { Mark::Retransmission } else { Mark::Original })
    }

    /// Marks a segment that leaves, and counts what was to be answered as answered. In a timestamps option, 0 says that the
    /// segment is no retransmission, or answers none; a clock that shows 0 is read as 1.
    pub(crate) fn write(&mut self, now: Instant, again: bool, segment: &mut Segment) {
        match self {
            Self::Off => {}
            Self::Bits(answer) => {
                if again {
                    segment.flags = segment.flags.with(Flags::SENT_AGAIN);
                }
                if *answer == Mark::Retransmission {
                    segment.flags = segment.flags.with(Flags::ANSWERS_SENT_AGAIN);
                }
                *answer = Mark::Original;
            }
            Self::Timestamps { clock, echo } => {
                let value = if again { clock.value(now).0.max(1) } else { 0 };
                if value != 0 || *echo != 0 {
                    segment.options.timestamps = Some(Timestamps { value, echo: *echo });
                }
                *echo = 0;
            }
        }
    }
}
