//! Marks that tell a retransmission from the original, on segments and on their acknowledgements, between two ends that
//! have agreed on them (Ludwig, chapter 5, section 5.2.1 and its second footnote).
//!
//! Agreement takes an experimental option on the SYN and the SYN-ACK (RFC 6994): stacks that do not know it skip it, whereas
//! a reserved header bit on a SYN means something to some of them (AccECN) and is dropped by some middleboxes. Once agreed,
//! [`Marks::Bits`] costs no byte. The two bits are those furthest from the ones that are assigned (RFC 9293, section 6).
//!
//! An acknowledgement says that it answers a retransmission if any segment since the last acknowledgement was one, as the
//! retransmit bit of SCTP does (rule (b) of that proposal), and so do the two after it: if one is lost, the next must not
//! read as an original's. What leaves before anything else has arrived, as data of the other direction, says the same. In
//! doubt nothing was spurious.

use std::mem;

use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Marks, Segment, Timestamps};
use eifel_recovery::fact::Mark;

use crate::settings::TimestampSettings;
use crate::timestamps::Clock;

/// Acknowledgements that say so after a retransmission has arrived.
const ANSWERS: u8 = 3;

/// What acknowledgements say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answers {
    /// How many are still to answer a retransmission.
    left: u8,
    /// Something has arrived since the last one.
    news: bool,
    /// The last one answered a retransmission.
    said: bool,
}

impl Answers {
    fn arrives(&mut self, again: bool) {
        self.news = true;
        if again {
            self.left = ANSWERS;
        }
    }

    /// Returns whether the acknowledgement that leaves answers a retransmission.
    fn says(&mut self) -> bool {
        if mem::take(&mut self.news) {
            self.said = self.left > 0;
            self.left = self.left.saturating_sub(1);
        }
        self.said
    }
}

/// The agreement on marks, and the mark that waits to be answered.
#[derive(Clone, Debug)]
pub(crate) enum Marking {
    /// Nothing: segments carry no marks, and what looks like one means nothing.
    Off,
    /// Header bits.
    Bits { answers: Answers },
    /// Timestamps on what is marked. `echo` is the earliest value that waits for an answer. The clock is seldom read, and
    /// would make every connection larger.
    Timestamps { clock: Box<Clock>, echo: u32, answers: Answers },
}

impl Marking {
    /// Returns the marking that `agreed` asks for.
    pub(crate) fn agreed(marks: Option<Marks>) -> Self {
        match marks {
            None => Self::Off,
            Some(Marks::Bits) => Self::Bits { answers: Answers::default() },
            Some(Marks::Timestamps) => {
                let clock = Box::new(Clock::new(&TimestampSettings::default()));
                Self::Timestamps { clock, echo: 0, answers: Answers::default() }
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
            Self::Bits { answers } => answers.arrives(segment.flags.has(Flags::SENT_AGAIN)),
            Self::Timestamps { echo, answers, .. } => {
                let value = segment.options.timestamps.map_or(0, |stamps| stamps.value);
                // Of several that wait for their first answer, the earliest counts.
                if value != 0 && answers.left < ANSWERS {
                    *echo = value;
                }
                answers.arrives(value != 0);
            }
        }
    }

    /// Returns what an acknowledgement says; `None` where nothing was agreed on.
    #[inline]
    pub(crate) fn read(&self, segment: &Segment) -> Option<Mark> {
        let again = match self {
            Self::Off => return None,
            Self::Bits { .. } => segment.flags.has(Flags::ANSWERS_SENT_AGAIN),
            Self::Timestamps { .. } => segment.options.timestamps.is_some_and(|stamps| stamps.echo != 0),
        };
        Some(if again { Mark::Retransmission } else { Mark::Original })
    }

    /// Marks a segment that leaves, and counts what was to be answered as answered. In a timestamps option, 0 says that the
    /// segment is no retransmission, or answers none; a clock that shows 0 is read as 1.
    pub(crate) fn write(&mut self, now: Instant, again: bool, segment: &mut Segment) {
        match self {
            Self::Off => {}
            Self::Bits { answers } => {
                if again {
                    segment.flags = segment.flags.with(Flags::SENT_AGAIN);
                }
                if answers.says() {
                    segment.flags = segment.flags.with(Flags::ANSWERS_SENT_AGAIN);
                }
            }
            Self::Timestamps { clock, echo, answers } => {
                let value = if again { clock.value(now).0.max(1) } else { 0 };
                let echoed = if answers.says() { *echo } else { 0 };
                if value != 0 || echoed != 0 {
                    segment.options.timestamps = Some(Timestamps { value, echo: echoed });
                }
            }
        }
    }
}
