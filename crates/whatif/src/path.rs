//! The path as a capture shows it.

use std::collections::BTreeSet;

use crate::acks::{self, Acks};
use crate::answers::{Answers, PacketOutcome};
use crate::fifo::{self, Fitted, Hold};
use crate::trace::Trace;
use serde::Serialize;

/// Minimum share of the exact answers that one FIFO server has to explain.
const LEAST_EXPLAINED: f64 = 0.8;
/// Maximum share of the time that the receiver's window may be closed.
const MOST_CLOSED: f64 = 0.02;
/// Round trips with nothing outstanding beyond which the application counts as paused.
const PAUSE_ROUND_TRIPS: f64 = 1.5;
/// Minimum share of lost packets at a full queue. It is below 1, because the queue's length is
/// known only to within a packet.
const LOST_AT_THE_EDGE: f64 = 0.25;
/// Minimum time, in seconds, by which a segment arrives after a segment sent later to count as
/// reordered.
const LEAST_LATENESS_S: f64 = 0.0005;

/// Why no path can be extracted, or no prediction made. One line of text for users.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refusal(pub String);

/// The path, and the properties of the ends that its scenario needs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Path {
    /// Time from the end of a packet's transmission to its ACK, in milliseconds.
    pub base_rtt_ms: f64,
    pub rate_bps: f64,
    /// Whether packets waited for each other. If not, the path is at least as fast as `rate_bps`.
    pub rate_seen: bool,
    pub queue: Queue,
    pub holds: Vec<Hold>,
    pub losses: Losses,
    pub reordering: Reordering,
    pub acks: Acks,
    pub ends: Ends,
    /// Share of the exact answers that came at the time that one FIFO queue predicts.
    pub explained: f64,
}

/// The queue in front of the transmitter, the packet in transmission included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Queue {
    /// The most packets that the queue held.
    pub largest_packets: u32,
    /// Whether packets were lost at the full queue. If so, `largest_packets` is its limit.
    pub overflowed: bool,
}

/// Lost packets by cause: a full queue, or at random.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Losses {
    /// Packets that were lost at the full queue.
    pub at_queue: u32,
    /// All other lost packets.
    pub random: u32,
    /// Groups of random losses that left one after the other.
    pub runs: u32,
    /// Packets that were sent.
    pub of: u32,
    /// Data segments whose first transmission was lost at random: the number of each from 1, and
    /// how many of its transmissions were lost.
    #[serde(skip)]
    pub segments: Vec<(u64, u32)>,
}

/// Packets that others have overtaken.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reordering {
    pub packets: u32,
    /// Number of packets that overtook a reordered packet: the median.
    pub length: u32,
    /// The longest lateness of a reordered packet, in seconds.
    pub longest_s: f64,
    /// Numbers of their data segments, from 1.
    #[serde(skip)]
    pub segments: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Ends {
    pub payload_bytes: u32,
    pub bytes: u64,
    pub window_bytes: u64,
    /// Segments that left before the first ACK of data.
    pub initial_window: u32,
    /// Whether the sender opened the connection.
    pub opens: bool,
    pub timestamps: bool,
    pub sack: bool,
    pub dsack: bool,
    pub ipv6: bool,
    /// Time from the first packet to the last ACK of new data, in seconds.
    pub took_s: f64,
}

/// Extracts the path from a trace. `needed` holds the frames of retransmissions that were needed.
///
/// # Errors
/// The reason why the trace does not show a path.
pub fn extract(trace: &Trace, needed: &BTreeSet<u64>) -> Result<Path, Refusal> {
    let refuse = |why: String| Err(Refusal(why));
    if trace.cut {
        return refuse(format!(
            "more than {} packets with data; expected a shorter capture",
            crate::trace::MOST_TRANSMISSIONS
        ));
    }
    if trace.unseen > 0 {
        return refuse(format!("{} bytes that the sender sent are not in the capture", trace.unseen));
    }
    let closed = closed_s(trace);
    if closed > MOST_CLOSED * ends(trace).took_s {
        return refuse(format!(
            "the receiver closed its window for {closed:.3} s in all: the capture does not show when its application reads"
        ));
    }
    let answers = Answers::of(trace, needed);
    let Some(fitted) = fifo::fit(trace, &answers) else {
        return refuse("too few ACKs that show when a packet arrived".into());
    };
    if fitted.explained < LEAST_EXPLAINED {
        return refuse(format!(
            "one queue with one rate explains when {:.0} % of the packets arrived; other traffic, or a changing rate, shares \
             the path",
            100.0 * fitted.explained
        ));
    }
    let pauses = pauses(trace, &answers, fitted.server.base);
    if pauses > 0 {
        return refuse(format!(
            "the application paused {pauses} times: the capture does not show when it would have sent"
        ));
    }
    let (queue, losses) = losses(trace, &answers, &fitted);
    Ok(Path {
        base_rtt_ms: fitted.server.base * 1e3,
        rate_bps: 8.0 / fitted.server.per_byte,
        rate_seen: fitted.rate_seen,
        queue,
        holds: fitted.holds.clone(),
        losses,
        reordering: reordering(trace, &answers),
        acks: acks::acks(trace, &answers, &fitted),
        ends: ends(trace),
        explained: fitted.explained,
    })
}

/// Returns how long the sender had all data acknowledged and a closed window, in seconds.
fn closed_s(trace: &Trace) -> f64 {
    trace.acks.windows(2).filter(|pair| pair[0].closed).map(|pair| pair[1].at - pair[0].at).sum()
}

/// Counts how often the sender had nothing outstanding for longer than ACKs take to come, and then
/// sent new data.
fn pauses(trace: &Trace, answers: &Answers, base: f64) -> usize {
    let mut reported_to = (0, f64::MIN);
    let mut pauses = 0;
    for (index, piece) in trace.pieces.iter().enumerate().skip(1) {
        let sent = trace.transmissions[piece.transmissions[0]].at;
        // Find out when all data before the piece was acknowledged.
        while reported_to.0 < index {
            let Some(at) = answers.reported[reported_to.0] else { return pauses };
            reported_to = (reported_to.0 + 1, reported_to.1.max(at));
        }
        if sent - reported_to.1 > PAUSE_ROUND_TRIPS * base {
            pauses += 1;
        }
    }
    pauses
}

fn losses(trace: &Trace, answers: &Answers, fitted: &Fitted) -> (Queue, Losses) {
    let backlogs = fifo::backlogs(trace, fitted);
    let lost = |index: &usize| answers.outcomes[*index] == PacketOutcome::Lost;
    let accepted = (0..backlogs.len()).filter(|index| answers.outcomes[*index] == PacketOutcome::Arrived);
    let largest = accepted.map(|index| backlogs[index] + 1).max().unwrap_or(1);
    let edge = edge(&backlogs, answers).filter(|_| fitted.rate_seen && largest > 2);
    let full = |index: usize| edge.is_some_and(|edge| backlogs[index] >= edge);
    let mut found = Losses { at_queue: 0, random: 0, runs: 0, of: backlogs.len() as u32, segments: Vec::new() };
    let mut last = None;
    for index in (0..backlogs.len()).filter(lost) {
        if full(index) {
            found.at_queue += 1;
        } else {
            found.random += 1;
            found.runs += u32::from(last != Some(index.wrapping_sub(1)));
            last = Some(index);
        }
    }
    let payload = u64::from(trace.payload().max(1));
    for piece in &trace.pieces {
        if lost(&piece.transmissions[0]) && !full(piece.transmissions[0]) {
            let copies = piece.transmissions.iter().filter(|index| lost(index)).count() as u32;
            found.segments.push(((piece.start - 1) / payload + 1, copies));
        }
    }
    (
        Queue { largest_packets: limit(&backlogs, answers, &full).unwrap_or(largest), overflowed: found.at_queue > 0 },
        found,
    )
}

/// Returns the shortest queue from which on a share of at least `LOST_AT_THE_EDGE` of the packets
/// is lost. A full queue takes no packet, whereas random losses occur among many packets that a
/// queue of this length takes.
fn edge(backlogs: &[u32], answers: &Answers) -> Option<u32> {
    let mut counts = std::collections::BTreeMap::<u32, (u32, u32)>::new();
    for (index, backlog) in backlogs.iter().enumerate() {
        let (lost, all) = counts.entry(*backlog).or_default();
        *lost += u32::from(answers.outcomes[index] == PacketOutcome::Lost);
        *all += u32::from(answers.outcomes[index] != PacketOutcome::Unknown);
    }
    let (mut lost, mut all, mut edge) = (0, 0, None);
    for (backlog, (its, every)) in counts.into_iter().rev() {
        lost += its;
        all += every;
        if its > 0 && f64::from(lost) >= LOST_AT_THE_EDGE * f64::from(all) {
            edge = Some(backlog);
        }
    }
    edge
}

/// Returns the limit of the queue: its most frequent length when it was full and lost a packet.
fn limit(backlogs: &[u32], answers: &Answers, full: &dyn Fn(usize) -> bool) -> Option<u32> {
    let mut counts = std::collections::BTreeMap::<u32, u32>::new();
    for (index, backlog) in backlogs.iter().enumerate() {
        if answers.outcomes[index] == PacketOutcome::Lost && full(index) {
            *counts.entry(*backlog).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(backlog, _)| backlog)
}

/// Finds the packets that were reported after packets sent later. Lost packets do not count.
fn reordering(trace: &Trace, answers: &Answers) -> Reordering {
    let payload = u64::from(trace.payload().max(1));
    let mut found = Reordering { packets: 0, length: 0, longest_s: 0.0, segments: Vec::new() };
    let mut lengths = Vec::new();
    for (piece, length) in &answers.overtaken {
        lengths.push(*length);
        found.segments.push((trace.pieces[*piece].start - 1) / payload + 1);
    }
    let reported: Vec<Option<f64>> = trace
        .transmissions
        .iter()
        .enumerate()
        .map(|(index, transmission)| {
            answers.reported[transmission.piece].filter(|_| answers.outcomes[index] == PacketOutcome::Arrived)
        })
        .collect();
    for (index, at) in reported.iter().enumerate() {
        // Without SACK, the ACK that closes a gap is the first to report all data beyond the gap.
        let Some(at) = at.filter(|_| trace.sack) else { continue };
        let earlier = |other: &&Option<f64>| other.is_some_and(|other| other + LEAST_LATENESS_S < at);
        // Packets do not overtake across more than a window, here 64 packets.
        let passed: Vec<f64> = reported[index + 1..].iter().take(64).filter(earlier).filter_map(|at| *at).collect();
        if let Some(first) = passed.iter().copied().reduce(f64::min) {
            let piece = &trace.pieces[trace.transmissions[index].piece];
            lengths.push(passed.len() as u32);
            found.longest_s = found.longest_s.max(at - first);
            if piece.transmissions[0] == index {
                found.segments.push((piece.start - 1) / payload + 1);
            }
        }
    }
    lengths.sort_unstable();
    found.packets = lengths.len() as u32;
    found.length = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    found
}

fn ends(trace: &Trace) -> Ends {
    let first_ack = trace.acks.iter().find(|ack| ack.cumulative > 1 || !ack.sacks.is_empty());
    let first_ack = first_ack.map_or(f64::INFINITY, |ack| ack.at);
    let initial = trace.transmissions.iter().take_while(|transmission| transmission.at < first_ack).count();
    let (bytes, took_s) = trace.acknowledged();
    Ends {
        payload_bytes: trace.payload(),
        bytes,
        window_bytes: trace.window,
        initial_window: initial as u32,
        opens: trace.opened.is_some(),
        timestamps: trace.timestamps,
        sack: trace.sack,
        dsack: trace.acks.iter().any(|ack| ack.dsack),
        ipv6: trace.ipv6,
        took_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Piece, Transmission};
    use eifel_capture::result::{Endpoint, Flow};

    #[test]
    fn the_limit_is_where_most_were_lost_at_a_full_queue() {
        let (lost, arrived) = (PacketOutcome::Lost, PacketOutcome::Arrived);
        let answers = Answers {
            outcomes: vec![lost, arrived, arrived, lost, lost, lost, lost, lost],
            causes: Vec::new(),
            reported: Vec::new(),
            every: 1,
            overtaken: Vec::new(),
            reports: Vec::new(),
        };
        // Two losses at a backlog of 40, none at 39, one at 38, and three at random.
        let backlogs = [40, 39, 39, 3, 3, 3, 40, 38];
        assert_eq!(limit(&backlogs, &answers, &|index| backlogs[index] > 37), Some(40));
        assert_eq!(limit(&backlogs, &answers, &|_| false), None);
    }
    /// Returns the trace of four bursts, each of `depth` packets that wait for each other and two
    /// that are lost.
    fn bursts(depth: u32, rate_seen: bool) -> (Trace, Answers, Fitted) {
        let end = |port| Endpoint { address: [10, 0, 0, 1].into(), port };
        let mut trace = Trace::new(Flow { source: end(1), destination: end(2), tunnel: 0 });
        let (mut outcomes, mut departed) = (Vec::new(), Vec::new());
        for index in 0..4 * (depth as usize + 2) {
            let (burst, place) = (index / (depth as usize + 2), index % (depth as usize + 2));
            let accepted = place < depth as usize;
            trace.transmissions.push(Transmission {
                at: burst as f64,
                frame: index as u64 + 1,
                piece: index,
                wire: 1040,
            });
            let start = 1 + 1000 * index as u64;
            trace.pieces.push(Piece { start, end: start + 1000, transmissions: vec![index] });
            outcomes.push(if accepted { PacketOutcome::Arrived } else { PacketOutcome::Lost });
            departed.push(if accepted { burst as f64 + 0.1 * (place + 1) as f64 } else { f64::INFINITY });
        }
        let reported = vec![None; outcomes.len()];
        let answers =
            Answers { outcomes, causes: Vec::new(), reported, every: 1, overtaken: Vec::new(), reports: Vec::new() };
        let server = fifo::Server { per_byte: 1e-4, base: 0.0 };
        (trace, answers, Fitted { server, rate_seen, holds: Vec::new(), late: Vec::new(), departed, explained: 1.0 })
    }

    #[test]
    fn losses_belong_to_a_full_queue_only_where_its_rate_was_seen_and_more_than_two_packets_waited() {
        for (depth, rate_seen, at_queue) in
            [(1, true, 0), (2, true, 0), (3, true, 8), (6, true, 8), (3, false, 0), (6, false, 0)]
        {
            let (trace, answers, fitted) = bursts(depth, rate_seen);
            let (queue, found) = losses(&trace, &answers, &fitted);
            let overflowed = at_queue > 0;
            assert_eq!(queue, Queue { largest_packets: depth, overflowed }, "{depth} {rate_seen}");
            let (random, runs) = if overflowed { (0, 0) } else { (8, 4) };
            let first = u64::from(depth) + 1;
            let lost = (0..8).map(|lost| (lost / 2 * (first + 1) + first + lost % 2, 1));
            let segments = if overflowed { Vec::new() } else { lost.collect() };
            assert_eq!(found, Losses { at_queue, random, runs, of: 4 * (depth + 2), segments }, "{depth} {rate_seen}");
        }
    }
}
