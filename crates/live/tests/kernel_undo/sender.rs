//! Replays a recording: its packets, and the moments at which the kernel's episodes began.

use std::path::Path;

use eifel_base::time::Instant;
use eifel_live::decisions::sender::Sender;
use eifel_live::judge::frames::packets_of;
use eifel_packet::segment::{Flags, Segment};
use eifel_recovery::fact::Cause;

/// What the kernel did from one loss signal to the next.
pub struct Episode {
    /// The sender's port and its peer's.
    pub ports: (u16, u16),
    /// When it began, in microseconds since 1970.
    pub begins_us: u64,
    pub timeout: bool,
    /// Expiries of the timer in it.
    pub timers: u32,
    /// The counters of undos that rose.
    pub undos: Vec<String>,
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A connection's episodes, and how far the replay has come.
struct Course<'a> {
    sender: Sender,
    episodes: Vec<(usize, &'a Episode)>,
    /// The number of episodes that have begun, and the expiries left in the last one.
    begun: usize,
    timers: u32,
    /// When the last ACK arrived.
    acked_us: u64,
}

impl Course<'_> {
    /// Begins the episodes whose time has come.
    fn signal(&mut self, now_us: u64) {
        while let Some((_, episode)) = self.episodes.get(self.begun).filter(|(_, next)| next.begins_us <= now_us) {
            // The kernel takes some microseconds from the arrival of an ACK to its consequence.
            let by_ack = episode.begins_us - self.acked_us < 100;
            let begins = if by_ack { self.acked_us } else { episode.begins_us };
            self.sender.on_signal(at(begins), if episode.timeout { Cause::Timeout } else { Cause::FastRetransmit });
            (self.begun, self.timers) = (self.begun + 1, episode.timers.saturating_sub(1));
        }
    }

    fn on_sent(&mut self, now_us: u64, segment: &Segment) {
        if self.timers > 0 && segment.payload_len > 0 && self.sender.repeats_oldest(segment) {
            self.timers -= 1;
            self.sender.on_timer_again(at(now_us));
        }
        self.sender.on_sent(at(now_us), segment);
    }
}

/// Replays a recording. Returns the reason of the detector's first undo in each episode.
pub fn replay(file: &Path, episodes: &[Episode]) -> Vec<Option<&'static str>> {
    let mut packets: Vec<(u64, Segment)> = Vec::new();
    packets_of(file, |packet, nanos, _| packets.push((nanos / 1000, packet.segment))).unwrap();
    let mut told = vec![None; episodes.len()];
    let mut flows: Vec<(u16, u16)> = episodes.iter().map(|episode| episode.ports).collect();
    flows.sort_unstable();
    flows.dedup();
    for ports in flows {
        let back = (ports.1, ports.0);
        let ports_of = |segment: &Segment| (segment.source_port, segment.destination_port);
        let syn = |ports| {
            let mut of = packets.iter().map(|(_, segment)| segment).filter(|one| ports_of(one) == ports);
            of.find(|one| one.flags.has(Flags::SYN))
        };
        let (Some(own), Some(answer)) = (syn(ports), syn(back)) else { continue };
        let mut course = Course {
            sender: Sender::new(own, answer).unwrap(),
            episodes: episodes.iter().enumerate().filter(|(_, episode)| episode.ports == ports).collect(),
            begun: 0,
            timers: 0,
            acked_us: 0,
        };
        for (now_us, segment) in packets.iter().filter(|(_, one)| !one.flags.has(Flags::SYN)) {
            course.signal(*now_us);
            if ports_of(segment) == ports {
                course.on_sent(*now_us, segment);
            } else if ports_of(segment) == back {
                course.acked_us = *now_us;
                let undo = course.sender.on_ack(at(*now_us), segment).and_then(|brought| brought.undo);
                if let (Some(reason), Some(last)) = (undo, course.begun.checked_sub(1)) {
                    told[course.episodes[last].0].get_or_insert(reason);
                }
            }
        }
    }
    told
}
