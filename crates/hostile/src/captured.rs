//! Captures transfers at the sender, on the path, and at the receiver, with the oracle's truth
//! about every retransmission.
//!
//! The truth is CSV, with a row for each retransmission that passes the place of capture. `frame`
//! is its number in the capture, and `time` is in seconds. `seq` is the sequence number on the
//! wire. `nth` is 2 for the first retransmission. `spurious` is 1 if an earlier transmission of
//! every byte of it arrived. `cause` is `rto`, `loss` (go-back-N after a timeout), `fast` or `tlp`.
//! Only data sent by the node `sender` is judged; the places are named after its direction.

use std::collections::BTreeSet;
use std::fmt::Write;

use eifel_sim::record::{Record, Table, Tables};
use eifel_sim::scenario::Scenario;
use eifel_sim::{Capture, End, Outcome};

use crate::generate::{self, PLACES};

/// The kind of scenarios to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weather {
    /// Realistic stacks and paths. Algorithms have their default parameters, and paths keep
    /// carrying packets.
    Plain,
    /// Anything that a scenario can set.
    Wild,
}

/// A transfer and its captures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// The scenario, as TOML.
    pub scenario: String,
    /// The capture at the sender, the one on the path, and the one at the receiver.
    pub places: Vec<Place>,
}

/// A place of capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// `sender`, `between` or `receiver`.
    pub name: String,
    /// The capture.
    pub pcapng: Vec<u8>,
    /// The truth about the capture, as CSV.
    pub truth: String,
}

/// The virtual time after which a run is cut off, in seconds.
const LONGEST_S: u64 = 600;
/// The number of events after which a run is cut off.
const MOST_EVENTS: u64 = 3_000_000;

/// Runs the transfer of a seed.
///
/// # Errors
///
/// The simulator's message, if the path never comes to rest.
pub fn captured(seed: u64, weather: Weather) -> Result<Captured, String> {
    let table = match weather {
        Weather::Plain => generate::plain(seed),
        Weather::Wild => generate::with_a_middle(seed),
    };
    let text = toml::to_string(&table).map_err(|error| error.to_string())?;
    let mut scenario = Scenario::parse(&text, "captured.toml".as_ref()).map_err(|error| error.to_string())?;
    scenario.duration = scenario.duration.min(eifel_base::time::Duration::from_secs(LONGEST_S));
    let mut record = Record::none().with(Table::Transmissions).with(Table::Timer).with(Table::Episodes);
    for (node, _) in PLACES.iter().enumerate() {
        record = record.capturing(node);
    }
    let options = eifel_sim::Options { record, most_events: Some(MOST_EVENTS), ..Default::default() };
    let Outcome { tables, captures, .. } =
        eifel_sim::run_with(&scenario, 0, options).map_err(|error| error.to_string())?;
    let ends = scenario.flows.iter().map(|flow| if flow.from == 0 { End::From } else { End::To });
    let truth = Truth::new(&tables, ends.collect());
    let place = |capture: Capture| Place {
        truth: truth.csv(&capture),
        name: PLACES[capture.node].to_owned(),
        pcapng: capture.pcapng,
    };
    Ok(Captured { scenario: text, places: captures.into_iter().map(place).collect() })
}

/// The rows of transmissions, by flow, end and number.
struct Truth<'a> {
    tables: &'a Tables,
    /// The end of each flow at the node `sender`.
    ends: Vec<End>,
    rows: std::collections::BTreeMap<(i32, u8, i64), usize>,
}

impl<'a> Truth<'a> {
    fn new(tables: &'a Tables, ends: Vec<End>) -> Self {
        let sent = &tables.transmissions;
        let rows = (0..sent.t_ns.len()).map(|row| ((sent.flow[row], sent.end[row], sent.tx[row]), row));
        Self { tables, ends, rows: rows.collect() }
    }

    fn csv(&self, capture: &Capture) -> String {
        let sent = &self.tables.transmissions;
        let mut text = String::from("frame,time,seq,nth,spurious,cause\n");
        let headers = headers(&capture.pcapng);
        let mut seen = BTreeSet::new();
        for (number, shown) in capture.shown.iter().enumerate() {
            let Some(tx) = shown.transmission.filter(|_| self.ends[shown.flow as usize] == shown.sender) else {
                continue;
            };
            let key = (shown.flow as i32, u8::from(shown.sender == End::To), tx as i64);
            let Some(&row) = self.rows.get(&key) else { continue };
            if !seen.insert(key) {
                // A copy made by the network: no end has sent it.
                continue;
            }
            // A window probe is no retransmission, and a segment without data is not judged.
            if sent.kind[row] != 1 || sent.segment[row] == 0 || sent.needed[row] == 0 {
                continue;
            }
            let (nanos, seq) = headers[number];
            let spurious = u8::from(sent.needed[row] == 2);
            let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            let (nth, cause) = (sent.copy[row] + 1, self.cause(row));
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{},{seconds}.{rest:09},{seq},{nth},{spurious},{cause}", number + 1);
        }
        text
    }

    /// Returns the cause of a retransmission. A tail-loss probe leaves outside of episodes. An
    /// expiry of the timer sends one segment at once.
    fn cause(&self, row: usize) -> &'static str {
        let sent = &self.tables.transmissions;
        let (flow, end, now) = (sent.flow[row], sent.end[row], sent.t_ns[row]);
        let episodes = &self.tables.episodes;
        let repairs = (0..episodes.opened_ns.len()).any(|other| {
            let closed = episodes.closed_ns[other];
            (episodes.flow[other], episodes.end[other]) == (flow, end)
                && (episodes.opened_ns[other]..=if closed < 0 { i64::MAX } else { closed }).contains(&now)
        });
        if !repairs {
            return "tlp";
        }
        if sent.cause[row] != 1 {
            return "fast";
        }
        let timer = &self.tables.timer;
        let from = timer.t_ns.partition_point(|at| *at < now);
        let expired = (from..timer.t_ns.len())
            .take_while(|other| timer.t_ns[*other] == now)
            .any(|other| timer.flow[other] == flow && timer.end[other] == end && timer.event[other] == EXPIRED);
        let first = !(0..row)
            .rev()
            .take_while(|other| sent.t_ns[*other] == now)
            .any(|other| sent.flow[other] == flow && sent.end[other] == end && sent.cause[other] == 1);
        if expired && first { "rto" } else { "loss" }
    }
}

const EXPIRED: u8 = 2;

/// Returns the time and the sequence number of each frame in a capture written by the simulator.
fn headers(pcapng: &[u8]) -> Vec<(u64, u32)> {
    const ENHANCED_PACKET: u32 = 6;
    let word = |at: usize| u32::from_le_bytes([pcapng[at], pcapng[at + 1], pcapng[at + 2], pcapng[at + 3]]);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < pcapng.len() {
        if word(at) == ENHANCED_PACKET {
            let ip = at + 28;
            let header = if pcapng[ip] >> 4 == 4 { usize::from(pcapng[ip] & 15) * 4 } else { 40 };
            let nanos = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            found.push((nanos, word(ip + header + 4).swap_bytes()));
        }
        at += word(at + 4) as usize;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_shows_the_same_retransmissions_but_for_the_lost_ones() {
        let seeds = (0..20).map(|seed| captured(seed, Weather::Plain).unwrap());
        let mut rows = [0; 3];
        let mut probes = 0;
        let mut after_timeouts = [0; 2];
        for Captured { places, .. } in seeds {
            let names: Vec<_> = places.iter().map(|place| place.name.as_str()).collect();
            assert_eq!(names, PLACES);
            for place in &places {
                // Copies made by the network have no row: each time and number occurs once.
                let sent: Vec<_> = place.truth.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
                assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), sent.len());
                // A timer sends one segment when it expires.
                let expiries: Vec<_> = sent.iter().filter(|row| row.ends_with(",rto")).collect();
                let instants: BTreeSet<_> = expiries.iter().map(|row| row.split(',').next()).collect();
                assert!(place.name != "sender" || instants.len() == expiries.len(), "{expiries:?}");
                probes += sent.iter().filter(|row| row.ends_with(",tlp")).count();
                for (count, cause) in after_timeouts.iter_mut().zip([",rto", ",loss"]) {
                    *count += sent.iter().filter(|row| row.ends_with(cause)).count();
                }
            }
            let identities = places.iter().map(|place| {
                let lines = place.truth.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
                lines
                    .map(|fields| (fields[2].to_owned(), fields[3].to_owned(), fields[4].to_owned()))
                    .collect::<Vec<_>>()
            });
            let [sender, between, receiver] = identities.collect::<Vec<_>>().try_into().unwrap();
            for (place, found) in [&sender, &between, &receiver].into_iter().enumerate() {
                rows[place] += found.len();
            }
            assert!(between.iter().all(|row| sender.contains(row)));
            assert!(receiver.iter().all(|row| between.contains(row)));
        }
        assert!(rows.iter().all(|rows| *rows > 100), "{rows:?}");
        assert!(probes > 0);
        assert!(after_timeouts.iter().all(|count| *count > 0), "{after_timeouts:?}");
    }
}
