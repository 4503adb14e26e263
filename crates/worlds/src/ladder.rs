//! A drawing of a world: departures, arrivals, and the sender's conclusions.

use core::fmt;

use eifel_base::time::Instant;
use eifel_packet::segment::Segment;
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine;
use eifel_recovery::fact::Cause;
use eifel_sim::End;
use eifel_sim::oracle::Role;

use crate::fate::Fate;
use crate::path::Packet;

/// A packet from one end to the other. Times are in milliseconds since the first segment could
/// leave.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrow {
    pub left_ms: f64,
    /// Arrival times of its copies: none, one or two.
    pub arrived_ms: Vec<f64>,
    /// Whether the data sender sent it; otherwise the receiver did.
    pub from_sender: bool,
    /// Its contents: numbers of segments. The first segment with a fate is number 1.
    pub label: String,
    pub fate: Fate,
}

/// A report of the sender's engine.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// Milliseconds since the first segment could leave.
    pub at_ms: f64,
    pub text: String,
}

/// How segments are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) iss: Seq,
    pub(crate) mss: u64,
    /// Segments before number 1.
    pub(crate) before: u64,
}

#[derive(Clone, Debug)]
pub struct Ladder {
    began: Instant,
    numbers: Numbers,
    /// In the order of leaving.
    pub arrows: Vec<Arrow>,
    /// In the order of time.
    pub notes: Vec<Note>,
}

impl Ladder {
    pub(crate) fn new(began: Instant, numbers: Numbers) -> Self {
        Self { began, numbers, arrows: Vec::new(), notes: Vec::new() }
    }

    fn ms(&self, at: Instant) -> f64 {
        at.since(self.began).as_secs_f64() * 1e3
    }

    /// Draws a packet that leaves. Returns its number in the drawing.
    pub(crate) fn leaves(&mut self, now: Instant, packet: &Packet<Segment>, fate: Fate) -> usize {
        let from_sender = packet.to == End::To;
        let label = if from_sender { self.data(packet) } else { self.ack(&packet.contents) };
        self.arrows.push(Arrow { left_ms: self.ms(now), arrived_ms: Vec::new(), from_sender, label, fate });
        self.arrows.len() - 1
    }

    pub(crate) fn arrives(&mut self, now: Instant, number: usize) {
        let at = self.ms(now);
        if let Some(arrow) = self.arrows.get_mut(number) {
            arrow.arrived_ms.push(at);
        }
    }

    pub(crate) fn record_event(&mut self, now: Instant, event: &engine::Event) {
        let text = match event {
            engine::Event::TimerExpired { .. } => "timer expires".into(),
            engine::Event::EpisodeOpened { episode, .. } => {
                let cause = match episode.cause {
                    Cause::Timeout => "timeout",
                    Cause::FastRetransmit => "duplicate ACKs",
                };
                format!("episode {} ({cause}) begins, the window is reduced", episode.number)
            }
            engine::Event::Judged { episode, detector: 0, outcome, reason } => {
                let outcome = match outcome {
                    Outcome::Spurious => "spurious",
                    Outcome::Genuine => "genuine",
                };
                format!("episode {episode} is {outcome}: {reason}")
            }
            engine::Event::Adjusted { episode, window } => {
                let mss = self.numbers.mss as f64;
                let threshold = match window.ssthresh {
                    u64::MAX => "unset".into(),
                    bytes => format!("{:.1}", bytes as f64 / mss),
                };
                format!("undoes episode {episode}: cwnd {:.1}, ssthresh {threshold} segments", window.cwnd as f64 / mss)
            }
            engine::Event::Echoed { window } => {
                format!(
                    "an ECN echo reduces the window: cwnd {:.1} segments",
                    window.cwnd as f64 / self.numbers.mss as f64
                )
            }
            engine::Event::Distrusted { detector: 0, reason } => format!("the peer is no longer trusted: {reason}"),
            engine::Event::Judged { .. } | engine::Event::EpisodeClosed { .. } | engine::Event::Distrusted { .. } => {
                return;
            }
        };
        self.notes.push(Note { at_ms: self.ms(now), text });
    }

    /// Returns the number of the segment that begins at a sequence number.
    fn number(&self, seq: Seq) -> i64 {
        let position = unwrap(1, self.numbers.iss, seq);
        (position.saturating_sub(1) / self.numbers.mss) as i64 - self.numbers.before as i64 + 1
    }

    fn data(&self, packet: &Packet<Segment>) -> String {
        let number = self.number(packet.contents.seq);
        match packet.sent {
            Some(sent) if sent.role != Role::Original => format!("{number} again"),
            _ => number.to_string(),
        }
    }

    fn ack(&self, segment: &Segment) -> String {
        let mut label = format!("ACK {}", self.number(segment.ack));
        for (place, (left, right)) in segment.options.sack.as_slice().iter().copied().enumerate() {
            let (first, last) = (self.number(left), self.number(right) - 1);
            // RFC 2883: the first block reports a duplicate if it lies below the ACK. Blocks within
            // the second block are not recognised as duplicates.
            let duplicate = place == 0 && first < self.number(segment.ack);
            let name = if duplicate { "DSACK" } else { "SACK" };
            label += &if first == last { format!(" {name} {first}") } else { format!(" {name} {first}-{last}") };
        }
        label
    }
}

/// Width of the sender's column.
const SENDER: usize = 30;

/// The kind of a line. Lines of the same instant are in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Arrival,
    Report,
    Departure,
}

impl fmt::Display for Ladder {
    /// Writes one line for each event: the sender's on the left, the receiver's on the right.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  {:<SENDER$}receiver", "ms", "sender")?;
        let mut lines: Vec<(f64, Line, String)> = Vec::new();
        for arrow in &self.arrows {
            let Arrow { left_ms, arrived_ms, label, fate, .. } = arrow;
            let suffers = if *fate == Fate::Delivered { String::new() } else { format!("  ({fate})") };
            lines.push(match arrow.from_sender {
                true => (*left_ms, Line::Departure, format!("{label} -->{suffers}")),
                false => (*left_ms, Line::Departure, format!("{:SENDER$}<-- {label}{suffers}", "")),
            });
            lines.extend(arrived_ms.iter().map(|at| match arrow.from_sender {
                true => (*at, Line::Arrival, format!("{:SENDER$}--> {label}", "")),
                false => (*at, Line::Arrival, format!("<-- {label}")),
            }));
        }
        lines.extend(self.notes.iter().map(|note| (note.at_ms, Line::Report, format!("* {}", note.text))));
        lines.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for (at, _, text) in lines {
            writeln!(f, "{at:>9.1}  {text}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use eifel_packet::segment::Options;
    use eifel_sim::oracle::SentData;

    use super::*;

    const ISS: Seq = Seq(u32::MAX - 5000);

    fn ladder() -> Ladder {
        Ladder::new(Instant::ZERO, Numbers { iss: ISS, mss: 1000, before: 2 })
    }

    /// Returns the sequence number of a position; position 1 is the first byte.
    fn seq(position: u32) -> Seq {
        Seq(ISS.0.wrapping_add(position))
    }

    #[test]
    fn every_byte_of_a_segment_has_its_number() {
        let numbers = [1, 1000, 1001, 2000, 2001, 3000, 3001, 9000].map(|position| ladder().number(seq(position)));
        assert_eq!(numbers, [-1, -1, 0, 0, 1, 1, 2, 7]);
    }

    #[test]
    fn a_first_block_below_the_cumulative_ack_is_a_dsack() {
        let label = |blocks: &[(u32, u32)]| {
            let mut options = Options::default();
            for (left, right) in blocks {
                assert!(options.sack.push(seq(*left), seq(*right)));
            }
            ladder().ack(&Segment { ack: seq(3001), options, ..Segment::default() })
        };
        assert_eq!(label(&[]), "ACK 2");
        assert_eq!(label(&[(2001, 3001)]), "ACK 2 DSACK 1");
        assert_eq!(label(&[(3001, 5001)]), "ACK 2 SACK 2-3");
        assert_eq!(label(&[(1, 3001), (4001, 5001)]), "ACK 2 DSACK -1-1 SACK 3");
        assert_eq!(label(&[(4001, 5001), (2001, 3001)]), "ACK 2 SACK 3 SACK 1");
    }

    #[test]
    fn a_drawing_marks_retransmissions_and_probes() {
        let label = |role: Option<Role>| {
            let sent = role.map(|role| SentData { transmission: 1, start: 2001, end: 3001, role });
            let contents = Segment { seq: seq(2001), ..Segment::default() };
            ladder().data(&Packet { to: End::To, contents, sent, subject: None, number: None })
        };
        let roles = [None, Some(Role::Original), Some(Role::Retransmission), Some(Role::Probe)];
        assert_eq!(roles.map(label), ["1", "1", "1 again", "1 again"]);
    }

    #[test]
    fn a_drawing_orders_arrivals_before_reports_before_departures() {
        let mut ladder = ladder();
        let arrow = |from_sender, label: &str, left_ms, arrived_ms: &[f64], fate| Arrow {
            left_ms,
            arrived_ms: arrived_ms.to_vec(),
            from_sender,
            label: label.into(),
            fate,
        };
        ladder.arrows = vec![
            arrow(true, "1", 2.0, &[], Fate::Lost),
            arrow(false, "ACK 0", 2.0, &[3.5], Fate::Delivered),
            arrow(true, "0", 0.5, &[2.0, 2.0], Fate::Duplicated),
            arrow(false, "ACK -1", 0.0, &[2.0], Fate::Delivered),
        ];
        ladder.notes = vec![Note { at_ms: 2.0, text: "timer expires".into() }];
        let expected = [
            "       ms  sender                        receiver",
            "      0.0                                <-- ACK -1",
            "      0.5  0 -->  (duplicated)",
            "      2.0                                --> 0",
            "      2.0                                --> 0",
            "      2.0  <-- ACK -1",
            "      2.0  * timer expires",
            "      2.0  1 -->  (lost)",
            "      2.0                                <-- ACK 0",
            "      3.5  <-- ACK 0",
            "",
        ];
        assert_eq!(ladder.to_string(), expected.join("\n"));
    }
}
