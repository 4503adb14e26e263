//! Lying receivers. They complete the handshake, then cheat, so that a sender takes real losses for
//! spurious retransmissions. Each lie has its own file. The connection underneath is honest. A lie
//! sees the segments that arrive and alters the acknowledgements that leave.
//!
//! A flow with a liar needs an observed run, so that lies cost honest flows nothing.

mod forged_dsack;
mod forged_echo;
mod forged_mark;
mod forged_sack;
mod guessed_echo;
mod held;
mod random_echo;
pub mod schedule;
mod withheld_ack;

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use held::Held;
use schedule::{Schedule, Scheduled};

/// A way in which a receiver lies.
pub(crate) trait Lie: Send {
    /// Notes the sequence number of the first byte of data. Other data may arrive first.
    fn begins(&mut self, _: Seq) {}
    /// Notes a data segment that arrives, before the connection answers it. `again` says whether it
    /// looks like a retransmission to the receiver.
    fn observe(&mut self, segment: &Segment, again: bool);
    /// Alters an acknowledgement that is about to leave. Returns whether it leaves.
    fn alter(&mut self, segment: &mut Segment) -> bool;
    /// Returns how long the last altered acknowledgement is held back.
    fn holds(&self) -> Duration {
        Duration::ZERO
    }
}

/// The lies that scenarios can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Echoes the timestamp of an original for a retransmission (RFC 3522, section 6).
    ForgedEcho,
    /// Echoes a guess of the original's timestamp.
    GuessedEcho,
    /// Reports every retransmission as a duplicate (RFC 3708, section 3).
    ForgedDsack,
    /// Claims that no ACK answers a retransmission, if retransmissions are marked.
    ForgedMark,
    /// Reports missing segments as received, and drops the claim later (RFC 2018, section 8).
    ForgedSack,
    /// Acknowledges only the retransmission at first, and the data behind it with the next ACK (RFC
    /// 5682, section 5).
    WithheldAck,
    /// Echoes random numbers.
    RandomEcho,
    /// Answers each arrival according to a table.
    Scheduled(Schedule),
}

impl Kind {
    /// The names: `none`, then the variants in order. [`Scheduled`](Self::Scheduled) has no name.
    pub const NAMES: &'static [&'static str] = &[
        "none",
        "forged-echo",
        "guessed-echo",
        "forged-dsack",
        "forged-mark",
        "forged-sack",
        "withheld-ack",
        "random-echo",
    ];

    /// Returns the lie with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "forged-echo" => Some(Self::ForgedEcho),
            "guessed-echo" => Some(Self::GuessedEcho),
            "forged-dsack" => Some(Self::ForgedDsack),
            "forged-mark" => Some(Self::ForgedMark),
            "forged-sack" => Some(Self::ForgedSack),
            "withheld-ack" => Some(Self::WithheldAck),
            "random-echo" => Some(Self::RandomEcho),
            _ => None,
        }
    }
}

/// A liar, and the acknowledgements, of type `A`, that it holds back.
pub struct Liar<A> {
    lie: Box<dyn Lie>,
    pub(crate) held: Held<A>,
    /// The first sequence number above all data that has arrived; `None` before the first data.
    highest: Option<Seq>,
}

impl<A> Liar<A> {
    /// Creates a liar that draws its random numbers from `stream`.
    pub fn new(kind: Kind, stream: Stream) -> Self {
        let lie: Box<dyn Lie> = match kind {
            Kind::ForgedEcho => Box::new(forged_echo::ForgedEcho::default()),
            Kind::GuessedEcho => Box::new(guessed_echo::GuessedEcho::default()),
            Kind::ForgedDsack => Box::new(forged_dsack::ForgedDsack::default()),
            Kind::ForgedMark => Box::new(forged_mark::ForgedMark),
            Kind::ForgedSack => Box::new(forged_sack::ForgedSack::default()),
            Kind::WithheldAck => Box::new(withheld_ack::WithheldAck::default()),
            Kind::RandomEcho => Box::new(random_echo::RandomEcho::new(stream)),
            Kind::Scheduled(schedule) => Box::new(Scheduled::new(schedule)),
        };
        Self { lie, held: Held::default(), highest: None }
    }

    /// Notes the sequence number of the first byte of data.
    pub fn begins(&mut self, first: Seq) {
        self.lie.begins(first);
    }

    /// Notes a segment that arrives.
    pub fn observe(&mut self, segment: &Segment) {
        if segment.payload_len == 0 {
            return;
        }
        let end = after(segment);
        // A segment below the highest fills a gap, or is a duplicate.
        let again = self.highest.is_some_and(|highest| is_before(segment.seq, highest));
        if self.highest.is_none_or(|highest| is_before(highest, end)) {
            self.highest = Some(end);
        }
        self.lie.observe(segment, again);
    }

    /// Alters a segment that is about to leave. Handshake and close stay honest, because a
    /// connection needs them. Returns the delay after which the segment leaves; `None` if it never
    /// leaves.
    pub fn alter(&mut self, segment: &mut Segment) -> Option<Duration> {
        if segment.payload_len == 0 && segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0) == 0 {
            return self.lie.alter(segment).then(|| self.lie.holds());
        }
        Some(Duration::ZERO)
    }

    /// Keeps a packet that [`alter`](Self::alter) delays. Returns whether the packet does not leave
    /// now.
    pub fn keeps(&mut self, now: Instant, leaves: Option<Duration>, packet: impl FnOnce() -> A) -> bool {
        if let Some(delay) = leaves.filter(|delay| *delay > Duration::ZERO) {
            self.held.hold(now + delay, packet());
            return true;
        }
        leaves.is_none()
    }
}

/// Returns the first sequence number after a segment.
fn after(segment: &Segment) -> Seq {
    Seq(segment.seq.0.wrapping_add(segment.payload_len))
}

/// Returns whether `one` is before `other`, within half of the sequence space.
fn is_before(one: Seq, other: Seq) -> bool {
    other.0.wrapping_sub(one.0).wrapping_sub(1) < 1 << 31
}

#[cfg(test)]
mod tests;
