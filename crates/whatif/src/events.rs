//! The events of a run, as a capture at its sender shows them. The same code reads a captured run
//! and its replay, so that they differ only where the runs do.

use std::collections::BTreeSet;
use std::path::Path as FilePath;

use crate::path::{self, Path, Refusal};
use crate::trace::Trace;
use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::files;
use eifel_capture::frame::decode::{self, Content, Fragments};
use eifel_capture::frame::read::{Frame, Reader};
use eifel_capture::frame::source::frames_of;
use eifel_capture::result::Cause;
use eifel_capture::result::Verdict;
use eifel_capture::result::{End, Retransmission};
use eifel_capture::result::{Flow, Protocol, Summary};
use serde::Serialize;

/// A connection's direction as it was captured.
#[derive(Debug)]
pub struct Captured {
    pub trace: Trace,
    pub again: Vec<Retransmission>,
    /// The model of a stack that explains the retransmissions best; `None` without retransmissions.
    pub model: Option<&'static str>,
}

/// The events that a replay has to reproduce.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Events {
    pub retransmissions: u64,
    pub spurious: u64,
    pub timeouts: u64,
    /// Round trips of data and their ACKs: the median, and the 90th percentile.
    pub rtt_ms: f64,
    pub rtt_ms_p90: f64,
    /// Bytes of data that were acknowledged.
    pub bytes: u64,
    /// Time from the first packet to the last ACK of new data.
    pub took_s: f64,
    /// Each transmission: its data segment, its copy (1 is the first), and when it left; in the
    /// order of the first two.
    #[serde(skip)]
    pub places: Vec<(u64, usize, f64)>,
}

impl Events {
    /// Returns the goodput in bits per second: acknowledged bytes over `took_s`.
    pub fn goodput_bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.took_s.max(1e-9)
    }
}

impl Captured {
    /// Counts the events, and measures the round trips.
    pub fn events(&self) -> Events {
        let (trace, payload) = (&self.trace, u64::from(self.trace.payload().max(1)));
        let mut trips = trips(trace);
        trips.sort_by(f64::total_cmp);
        let at = |share: f64| trips.get((trips.len() as f64 * share) as usize).copied().unwrap_or(0.0) * 1e3;
        let places = trace.pieces.iter().flat_map(|piece| {
            let segment = (piece.start - 1) / payload + 1;
            piece
                .transmissions
                .iter()
                .enumerate()
                .map(move |(copy, index)| (segment, copy + 1, trace.transmissions[*index].at))
        });
        let places: Vec<_> = places.collect();
        let count = |cause| self.again.iter().filter(|one| one.cause == cause && one.bytes > 0).count() as u64;
        let (bytes, took_s) = trace.acknowledged();
        Events {
            retransmissions: (places.len() - trace.pieces.len()) as u64,
            spurious: self.again.iter().filter(|one| one.verdict == Verdict::Spurious && one.bytes > 0).count() as u64,
            timeouts: count(Cause::Rto),
            rtt_ms: at(0.5),
            rtt_ms_p90: at(0.9),
            bytes,
            took_s,
            places,
        }
    }

    /// Extracts the path that the capture shows.
    ///
    /// # Errors
    /// The reason why the capture shows no path.
    pub fn path(&self) -> Result<Path, Refusal> {
        let needed: BTreeSet<u64> =
            self.again.iter().filter(|one| one.verdict != Verdict::Spurious).map(|one| one.frame).collect();
        let mut path = path::extract(&self.trace, &needed)?;
        // Without spurious retransmissions a receiver has no duplicate to report, so it may use
        // DSACK.
        path.ends.dsack |= needed.len() == self.again.len();
        Ok(path)
    }
}

/// Returns the round trips, in seconds, of segments that were sent once and acknowledged in order.
/// Each segment counts, even if one ACK covers many: receivers differ in that, above all if
/// segments come at once. Segments that SACK reported before are not in order.
fn trips(trace: &Trace) -> Vec<f64> {
    let (mut una, mut trips) = (0, Vec::new());
    let mut selected = vec![false; trace.pieces.len()];
    for ack in &trace.acks {
        for block in &ack.sacks {
            let first = trace.pieces.partition_point(|piece| piece.start < block.start).max(una);
            let within = trace.pieces[first..].iter().take_while(|piece| piece.end <= block.end).count();
            selected[first..first + within].fill(true);
        }
        while let Some(piece) = trace.pieces.get(una).filter(|piece| piece.end <= ack.cumulative) {
            if let ([once], true, false) = (piece.transmissions.as_slice(), ack.sacks.is_empty(), selected[una]) {
                trips.push(ack.at - trace.transmissions[*once].at);
            }
            una += 1;
        }
    }
    trips
}

/// Reads the direction with the most data in a file, or in one connection of the file.
///
/// # Errors
/// One line: the file cannot be read, holds no such connection, or was not captured next to the
/// sender.
pub fn of_file(file: &FilePath, connection: Option<u64>, progress: files::Progress<'_>) -> Result<Captured, String> {
    let report = files::analyze(&[file.to_path_buf()], progress)?;
    let name = file.display();
    let (one, side) = chosen(&report.connections, connection).map_err(|error| format!("{name}: {error}"))?;
    let trace = trace_of(file, one.flow(side == 1));
    let (number, model) = (one.connection, one.directions[side].model);
    Ok(Captured { trace, again: of_direction(report.retransmissions, number, side), model })
}

/// Reads the trace of the data sent in the direction `flow`, up to any damage of the file.
pub fn trace_of(file: &FilePath, flow: Flow) -> Trace {
    let mut trace = Trace::new(flow);
    let mut fragments = Fragments::default();
    let mut take = |frame: &Frame<'_>| take(&mut trace, frame, &mut fragments);
    // The analysis also covers only the part before the damage.
    let _ = frames_of(file, &mut take, &mut |_| Ok(()));
    trace
}

/// Reads a capture that holds one connection, whose client sends.
pub fn of_pcapng(pcapng: &[u8]) -> Option<Captured> {
    let analysis = analysed(pcapng)?;
    let one = analysis.connections.first()?;
    let mut trace = Trace::new(one.flow(false));
    let mut fragments = Fragments::default();
    let mut reader = Reader::new();
    reader.feed(pcapng);
    while let Ok(Some(frame)) = reader.frame() {
        take(&mut trace, &frame, &mut fragments);
    }
    let (number, model) = (one.connection, one.directions[0].model);
    Some(Captured { trace, again: of_direction(analysis.retransmissions, number, 0), model })
}

fn analysed(pcapng: &[u8]) -> Option<Analysis> {
    let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
    reader.feed(pcapng);
    while let Some(frame) = reader.frame().ok()? {
        analyzer.frame(&frame);
    }
    Some(analyzer.finish())
}

fn take(trace: &mut Trace, frame: &Frame<'_>, fragments: &mut Fragments) {
    decode::each(frame.link, frame.bytes, frame.wire_len, fragments, |content| {
        if let Ok(Content::Tcp(packet)) = content {
            trace.packet(&packet, frame.nanos, frame.number);
        }
    });
}

fn of_direction(again: Vec<Retransmission>, connection: u64, side: usize) -> Vec<Retransmission> {
    let end = if side == 0 { End::Client } else { End::Server };
    again.into_iter().filter(|one| one.connection == connection && one.sender == end).collect()
}

fn chosen(connections: &[Summary], number: Option<u64>) -> Result<(&Summary, usize), String> {
    use eifel_capture::result::Vantage;
    let tcp = connections.iter().filter(|one| one.protocol == Protocol::Tcp);
    let among = tcp.filter(|one| number.is_none_or(|number| one.connection == number));
    let sides = among.flat_map(|one| [0, 1].map(|side| (one, side)));
    let Some((one, side)) = sides.max_by_key(|(one, side)| one.directions[*side].counts.bytes) else {
        return Err(match number {
            Some(number) => format!("no TCP connection {number} with data; expected one that `eifel analyze` lists"),
            None => "no TCP connection with data".into(),
        });
    };
    match one.directions[side].vantage {
        Vantage::Sender => Ok((one, side)),
        other => Err(format!(
            "connection {} was captured {}; expected a capture at the sender of the data, whose queueing the path's \
             extraction looks at",
            one.connection,
            other.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Piece, ReceivedAck, Transmission};
    use eifel_base::ranges::Block;
    use eifel_capture::result::Endpoint;

    #[test]
    fn each_segment_that_is_first_acknowledged_in_order_has_a_round_trip() {
        let end = |port| Endpoint { address: [10, 0, 0, 1].into(), port };
        let mut trace = Trace::new(Flow { source: end(1), destination: end(2), tunnel: 0 });
        // Ten segments of 100 bytes, one each second; the fifth is sent twice.
        for number in 0..10_usize {
            let start = 1 + 100 * number as u64;
            trace.pieces.push(Piece { start, end: start + 100, transmissions: vec![number] });
            trace.transmissions.push(Transmission {
                at: number as f64,
                frame: number as u64,
                piece: number,
                wire: 140,
            });
        }
        trace.pieces[4].transmissions.push(10);
        trace.transmissions.push(Transmission { at: 12.0, frame: 10, piece: 4, wire: 140 });
        let block = |first: u64, end: u64| Block { start: 1 + 100 * first, end: 1 + 100 * end };
        let mut receive = |at, acknowledged: u64, sacks: Vec<Block>| {
            let cumulative = 1 + 100 * acknowledged;
            trace.acks.push(ReceivedAck {
                at,
                cumulative,
                sacks,
                dsack: false,
                stamp: None,
                number: 0,
                edge: 0,
                closed: false,
            });
        };
        // One ACK for three segments, one that reports a gap, one that closes it, and one for the
        // rest.
        receive(10.0, 3, Vec::new());
        receive(11.0, 4, vec![block(5, 7)]);
        receive(13.0, 7, Vec::new());
        receive(14.5, 10, Vec::new());
        assert_eq!(trips(&trace), [10.0, 9.0, 8.0, 7.5, 6.5, 5.5]);
    }
}
