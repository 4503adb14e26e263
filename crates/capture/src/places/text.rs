//! The results for people.

use super::result::{Connection, Direction, Report};
use std::fmt::Write as _;

/// Connections that are printed.
const MOST: usize = 20;

impl Report {
    /// Returns a summary for people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        // Writing to a string does not fail.
        let names: Vec<&str> = self.places.iter().map(|one| one.place.as_str()).collect();
        let _ = writeln!(text, "{} at {}", count(self.connections.len() as u64, "connection"), names.join(", "));
        if self.connections_alone > 0 {
            let _ = writeln!(text, "{} at {} alone", count(self.connections_alone, "connection"), names[0]);
        }
        for one in self.connections.iter().take(MOST) {
            one.write(text);
        }
        if let Some(more) = self.connections.len().checked_sub(MOST).filter(|more| *more > 0) {
            let _ = writeln!(text, "and {}", count(more as u64, "further connection"));
        }
    }
}

impl Connection {
    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "\n{} to {}", self.sender, self.receiver);
        for clock in &self.clocks {
            let _ = match (clock.stepped, clock.ahead_ms.zip(clock.off_by_ms)) {
                (true, _) => writeln!(text, "  clock at {}: was set while the connection lasted", clock.place),
                (_, Some((ahead, off))) => {
                    writeln!(text, "  clock at {}: {ahead:.3} ms ahead, give or take {off:.3} ms", clock.place)
                }
                _ => writeln!(text, "  clock at {}: unknown without packets both ways", clock.place),
            };
        }
        for (direction, name) in self.directions.iter().zip(["to the receiver", "to the sender"]) {
            if direction.segments > 0 {
                direction.write(name, text);
            }
        }
    }
}

impl Direction {
    fn write(&self, name: &str, text: &mut String) {
        let _ = writeln!(
            text,
            "  {name}: {} in {}: {} arrived, {} lost, {} unknown",
            count(self.bytes, "byte"),
            count(self.segments, "segment"),
            self.arrived,
            self.lost,
            self.unknown
        );
        for hop in &self.lost_between {
            let _ = writeln!(text, "    lost between {} and {}: {}", hop.from, hop.to, hop.lost);
        }
        let again = self.retransmissions;
        let all = again.spurious + again.needed + again.undecidable;
        if all > 0 {
            let _ = writeln!(
                text,
                "    {}: {} spurious, {} needed, {} undecidable",
                count(all, "retransmission"),
                again.spurious,
                again.needed,
                again.undecidable
            );
        }
        if let Some(delays) = self.delay_ms {
            let _ = writeln!(
                text,
                "    delay: {:.3} ms at least, {:.3} ms in the middle, {:.3} ms at most",
                delays.min, delays.median, delays.max
            );
        }
        if let Some(longest) = self.reordered_ms_max {
            let _ = writeln!(text, "    reordered: {}, by {longest:.3} ms at most", self.reordered);
        }
        if self.copies > 0 {
            let _ = writeln!(text, "    copied by the network: {}", self.copies);
        }
        let gaps = self.captures;
        if gaps.not_at_sender + gaps.not_at_receiver > 0 {
            let _ = writeln!(
                text,
                "    the captures lack packets: {} that arrived without having left, {} that the receiver reported \
                 without having got them",
                gaps.not_at_sender, gaps.not_at_receiver
            );
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
