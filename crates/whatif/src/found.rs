//! What a capture shows of one connection's path, in words and as JSON.

use std::fmt::Write;
use std::path::Path as FilePath;

use crate::events::{self, Captured};
use crate::fifo::Kind;
use crate::path::{Path, Refusal};
use crate::replay::{self, Compared, Replay};
use crate::scenario;
use eifel_capture::files;
use eifel_capture::result::Flow;
use eifel_command::number::significant;
use serde_json::{Value, json};

/// Words of refusals, and what the user can do. `FILE` stands for the capture.
const WAYS_ON: [(&str, &str); 7] = [
    ("expected a shorter capture", "cut it, as by `editcap -r FILE part.pcapng 1-500000`"),
    ("are not in the capture", "capture again with a larger buffer and cut packets, as by `tcpdump -B 65536 -s 128`"),
    ("other traffic", "capture again while nothing else uses the path, or take another connection by --connection N"),
    ("closed its window", "capture one long transfer whose receiver reads at once, or take --connection N"),
    ("application paused", "capture one long transfer, or take another connection by --connection N"),
    ("too few ACKs", "capture a longer transfer, or take another connection by --connection N"),
    (
        "the replayed sender differs",
        "take another connection by --connection N, or run senders over the path that was found, without a promise, by \
         the Python package: `eifel analyze FILE --extract-path path.toml`, `eifel run path.toml`",
    ),
];
const ANY_WAY_ON: &str = "take another connection by --connection N";

/// Returns what the user of a refused capture can do.
pub fn way_on(refusal: &str, file: &str) -> String {
    let found = WAYS_ON.iter().find(|(words, _)| refusal.contains(words)).map_or(ANY_WAY_ON, |(_, way)| way);
    found.replace("FILE", file)
}

/// The path of one connection in a capture, and the replay of its sender.
#[derive(Debug)]
pub struct Found {
    pub captured: Captured,
    pub path: Path,
    pub replay: Replay,
}

/// Why a capture shows no path.
#[derive(Debug)]
pub enum Error {
    /// It cannot be read, or was not made next to the sender.
    Capture(String),
    /// What it shows is no path.
    Path(Refusal),
}

impl Found {
    /// Extracts the path of a connection, and replays its sender. `None` selects the connection with most
    /// data.
    ///
    /// # Errors
    /// Why there is no path, in one line with the file's name.
    pub fn of_file(file: &FilePath, connection: Option<u64>, progress: files::Progress<'_>) -> Result<Self, Error> {
        let captured = events::of_file(file, connection, progress).map_err(Error::Capture)?;
        let refused = |Refusal(why): Refusal| Error::Path(Refusal(format!("{}: {why}", file.display())));
        let path = captured.path().map_err(refused)?;
        let replay = replay::replay(&captured, &path).map_err(refused)?;
        Ok(Self { captured, path, replay })
    }

    /// Returns path, events and replay.
    pub fn json(&self) -> Value {
        let flow = &self.captured.trace.flow;
        json!({
            "sender": flow.source,
            "receiver": flow.destination,
            "model": self.captured.model,
            "path": self.path,
            "events": self.captured.events(),
            "replay": self.replay,
        })
    }

    /// Returns the path as a scenario with the replayed sender. Losses hit the captured segments.
    pub fn scenario(&self) -> Value {
        scenario::as_seen(&self.path, &self.replay.sender, 1)
    }

    /// Returns why no prediction is made: the differences between the replay and the captured sender.
    /// `None` if they agree.
    pub fn refused(&self) -> Option<String> {
        refused(&self.replay.compared)
    }

    /// Describes the path in lines.
    pub fn summary(&self) -> String {
        self.path.summary(&self.captured.trace.flow)
    }
}

fn refused(compared: &[Compared]) -> Option<String> {
    let differ = compared.iter().filter(|one| !one.agrees).map(|one| {
        let [captured, replayed] = [one.captured, one.replayed].map(|number| significant(number, 4));
        format!("{}: {captured} captured, {replayed} replayed", one.what)
    });
    let differ: Vec<_> = differ.collect();
    (!differ.is_empty()).then(|| format!("the replayed sender differs from the captured one in {}", differ.join("; ")))
}

impl Path {
    /// Describes the path of the data sent in the direction `flow`, in lines.
    pub fn summary(&self, flow: &Flow) -> String {
        let limit = if self.queue.overflowed { "" } else { " or more" };
        let seen = if self.rate_seen { "" } else { "at least " };
        let [rate, trip] = [self.rate_bps / 1e6, self.base_rtt_ms].map(|number| significant(number, 4));
        let mut text = format!(
            "{} -> {}: {seen}{rate} Mbit/s, round trip {trip} ms, a queue of {}{limit} packets\n",
            flow.source, flow.destination, self.queue.largest_packets
        );
        let (losses, reordering) = (&self.losses, &self.reordering);
        text += &format!(
            "lost {} packets at the full queue and {} others of {}, about {} ACKs; {} packets overtaken by {}",
            losses.at_queue, losses.random, losses.of, self.acks.lost, reordering.packets, reordering.length
        );
        for hold in &self.holds {
            let length = hold.end_s - (hold.start_s.0 + hold.start_s.1) / 2.0;
            // Writing into a string cannot fail.
            let _ = write!(text, "\nheld for {length:.3} s until {:.3} s ({})", hold.end_s, hold.kind.name());
        }
        text
    }

    /// Names what the capture leaves open, which predictions draw at random.
    pub fn open_quantities(&self) -> Vec<String> {
        let (losses, reordering) = (&self.losses, &self.reordering);
        let held = self.queue.largest_packets;
        let each = [
            (!self.rate_seen, "the rate: packets never waited for each other, so it is at least this".to_owned()),
            (!self.queue.overflowed, format!("the queue's limit: it held {held} packets and never overflowed")),
            (losses.random > 0, format!("which packets are lost: {} of {} were at random", losses.random, losses.of)),
            (self.acks.lost > 0, format!("which ACKs are lost: about {} were", self.acks.lost)),
            (reordering.packets > 0, format!("which packets are overtaken: {} were", reordering.packets)),
            (!self.acks.delay_seen, "how long the receiver delays an ACK".to_owned()),
        ];
        let mut opens: Vec<_> = each.into_iter().filter(|(open, _)| *open).map(|(_, what)| what).collect();
        for hold in &self.holds {
            let (start, end) = hold.start_s;
            let held = if hold.kind == Kind::Open { "; and where it held packets" } else { "" };
            let until = hold.end_s;
            opens.push(format!("when the hold until {until:.3} s began: from {start:.3} to {end:.3} s{held}"));
        }
        opens
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::acks::Acks;
    use crate::fifo::Hold;
    use crate::path::{Ends, Losses, Queue, Reordering};
    use eifel_capture::result::Endpoint;

    pub(crate) fn flow() -> Flow {
        let end = |last, port| Endpoint { address: [10, 0, 0, last].into(), port };
        Flow { source: end(1, 5001), destination: end(2, 80), tunnel: 0 }
    }

    /// A path of which the capture shows everything.
    pub(crate) fn seen() -> Path {
        Path {
            base_rtt_ms: 101.25,
            rate_bps: 2_345_678.0,
            rate_seen: true,
            queue: Queue { largest_packets: 17, overflowed: true },
            holds: Vec::new(),
            losses: Losses { at_queue: 3, random: 0, runs: 0, of: 812, segments: Vec::new() },
            reordering: Reordering { packets: 0, length: 0, longest_s: 0.0, segments: Vec::new() },
            acks: Acks { every: 2, delay_ms: 40.0, delay_seen: true, heard: 400, lost: 0 },
            ends: Ends {
                payload_bytes: 1448,
                bytes: 1_000_000,
                window_bytes: 65_535,
                initial_window: 10,
                opens: true,
                timestamps: true,
                sack: true,
                dsack: true,
                ipv6: false,
                took_s: 9.0,
            },
            explained: 0.9,
        }
    }

    /// A path of which the capture leaves everything open.
    fn open() -> Path {
        let mut path = seen();
        (path.rate_seen, path.queue.overflowed, path.acks.delay_seen) = (false, false, false);
        (path.losses.random, path.acks.lost, path.reordering.packets, path.reordering.length) = (5, 9, 6, 2);
        path.holds = vec![
            Hold { start_s: (1.0, 1.25), end_s: 3.5, kind: Kind::Open },
            Hold { start_s: (7.1234, 7.2), end_s: 8.98765, kind: Kind::Back },
        ];
        path
    }

    #[test]
    fn a_path_is_summed_up_in_lines() {
        assert_eq!(
            seen().summary(&flow()),
            "10.0.0.1:5001 -> 10.0.0.2:80: 2.346 Mbit/s, round trip 101.2 ms, a queue of 17 packets\n\
             lost 3 packets at the full queue and 0 others of 812, about 0 ACKs; 0 packets overtaken by 0"
        );
        assert_eq!(
            open().summary(&flow()),
            "10.0.0.1:5001 -> 10.0.0.2:80: at least 2.346 Mbit/s, round trip 101.2 ms, a queue of 17 or more packets\n\
             lost 3 packets at the full queue and 5 others of 812, about 9 ACKs; 6 packets overtaken by 2\n\
             held for 2.375 s until 3.500 s (open)\n\
             held for 1.826 s until 8.988 s (back)"
        );
    }

    #[test]
    fn what_a_capture_leaves_open_is_named() {
        assert!(seen().open_quantities().is_empty());
        assert_eq!(
            open().open_quantities(),
            [
                "the rate: packets never waited for each other, so it is at least this",
                "the queue's limit: it held 17 packets and never overflowed",
                "which packets are lost: 5 of 812 were at random",
                "which ACKs are lost: about 9 were",
                "which packets are overtaken: 6 were",
                "how long the receiver delays an ACK",
                "when the hold until 3.500 s began: from 1.000 to 1.250 s; and where it held packets",
                "when the hold until 8.988 s began: from 7.123 to 7.200 s",
            ]
        );
    }

    #[test]
    fn a_replay_that_differs_is_refused_with_its_numbers() {
        let compared = |what, captured, replayed, agrees| Compared { what, captured, replayed, agrees };
        let agrees = compared("timeouts", 1.0, 1.0, true);
        assert_eq!(refused(std::slice::from_ref(&agrees)), None);
        let differ =
            [agrees, compared("retransmissions", 12.0, 9.0, false), compared("duration, s", 5.0, 6.123_45, false)];
        assert_eq!(
            refused(&differ).unwrap(),
            "the replayed sender differs from the captured one in retransmissions: 12 captured, 9 replayed; \
             duration, s: 5 captured, 6.123 replayed"
        );
    }

    #[test]
    fn a_refusal_names_a_way_on_that_fits_it() {
        for (words, way) in WAYS_ON {
            // A changed message must not lose its way on.
            let differs = refused(&[Compared { what: "timeouts", captured: 1.0, replayed: 9.0, agrees: false }]);
            assert!(
                include_str!("path.rs").contains(words) || differs.is_some_and(|said| said.contains(words)),
                "{words}"
            );
            assert_eq!(way_on(&format!("x.pcap: {words} so"), "x.pcap"), way.replace("FILE", "x.pcap"));
        }
        assert_eq!(way_on("so", "x.pcap"), ANY_WAY_ON);
    }
}
