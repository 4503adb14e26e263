//! Receivers that complete the handshake and then cheat, so that a sender takes losses for spurious retransmissions. One
//! file a lie. The connection below is honest; a lie hears what arrives, and alters the acknowledgements that leave.
//!
//! A flow with a liar is driven as an observed one is, so that honest ones pay nothing for it.

mod forged_dsack;
mod forged_echo;
mod forged_mark;
mod guessed_echo;
mod random_echo;
pub mod schedule;
mod withheld_ack;

use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use schedule::{Schedule, Scheduled};

/// What a receiver lies about.
pub(crate) trait Lie: Send {
    /// Data arrives, before the connection has answered it. It was sent again if `again`, as far as its receiver can tell.
    fn hears(&mut self, segment: &Segment, again: bool);
    /// Alters an acknowledgement that is about to leave. Returns whether it leaves.
    fn says(&mut self, segment: &mut Segment) -> bool;
}

/// The lies, by their names in scenarios.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Echoes the timestamp of an original for a retransmission (RFC 3522, section 6).
    ForgedEcho,
    /// Echoes what the timestamp of the original most likely was.
    GuessedEcho,
    /// Reports every retransmission as a duplicate (RFC 3708, section 3).
    ForgedDsack,
    /// Never says that it answers a retransmission, where retransmissions are marked.
    ForgedMark,
    /// Says after a retransmission that only that has arrived, and the rest with the next segment (RFC 5682, section 5).
    WithheldAck,
    /// Echoes any number.
    RandomEcho,
    /// Answers each arrival as a table says.
    Scheduled(Schedule),
}

impl Kind {
    /// Their names.
    pub const NAMES: &'static [&'static str] =
        &["none", "forged-echo", "guessed-echo", "forged-dsack", "forged-mark", "withheld-ack", "random-echo"];

    /// The lie of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "forged-echo" => Some(Self::ForgedEcho),
            "guessed-echo" => Some(Self::GuessedEcho),
            "forged-dsack" => Some(Self::ForgedDsack),
            "forged-mark" => Some(Self::ForgedMark),
            "withheld-ack" => Some(Self::WithheldAck),
            "random-echo" => Some(Self::RandomEcho),
            _ => None,
        }
    }
}

/// A liar at work.
pub struct Liar {
    lie: Box<dyn Lie>,
    /// First sequence number beyond all that has arrived.
    highest: Option<Seq>,
}

impl Liar {
    /// One that tells this lie; what it draws comes from `stream`.
    pub fn new(kind: Kind, stream: Stream) -> Self {
        let lie: Box<dyn Lie> = match kind {
            Kind::ForgedEcho => Box::new(forged_echo::ForgedEcho::default()),
            Kind::GuessedEcho => Box::new(guessed_echo::GuessedEcho::default()),
            Kind::ForgedDsack => Box::new(forged_dsack::ForgedDsack::default()),
            Kind::ForgedMark => Box::new(forged_mark::ForgedMark),
            Kind::WithheldAck => Box::new(withheld_ack::WithheldAck::default()),
            Kind::RandomEcho => Box::new(random_echo::RandomEcho::new(stream)),
            Kind::Scheduled(schedule) => Box::new(Scheduled::new(schedule)),
        };
        Self { lie, highest: None }
    }

    /// Something arrives.
    pub fn hears(&mut self, segment: &Segment) {
        if segment.payload_len == 0 {
            return;
        }
        let end = after(segment);
        // What begins below the highest was left out before.
        let again = self.highest.is_some_and(|highest| is_before(segment.seq, highest));
        if self.highest.is_none_or(|highest| is_before(highest, end)) {
            self.highest = Some(end);
        }
        self.lie.hears(segment, again);
    }

    /// Alters what is about to leave; handshake and end are honest, or there would be no connection. Returns whether it
    /// leaves.
    pub fn says(&mut self, segment: &mut Segment) -> bool {
        if segment.payload_len == 0 && segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0) == 0 {
            return self.lie.says(segment);
        }
        true
    }
}

/// First sequence number beyond a segment.
fn after(segment: &Segment) -> Seq {
    Seq(segment.seq.0.wrapping_add(segment.payload_len))
}

/// Whether `one` comes before `other` in a window.
fn is_before(one: Seq, other: Seq) -> bool {
    other.0.wrapping_sub(one.0).wrapping_sub(1) < 1 << 31
}
