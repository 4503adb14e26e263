//! Device truth about a kernel's sender, beside the kernel's own conclusions.
//!
//! The box's log, the captures of both sides and the kernel's counters are joined. The log says
//! which packets reached the receiver's side, and the receiver's capture confirms it. The sender's
//! capture numbers the frames. The kernel's tracepoints say why it retransmitted, or else its
//! counters. The counters say whether it undid its reaction.

pub mod causes;
pub mod episodes;
pub mod frames;
pub mod path;
#[cfg(test)]
mod tests;
pub mod trace;

use crate::hiccup::Direction;
use crate::hiccup::truth::{Data, Judged, Truth};
use crate::system::Error;
use causes::Cause;
use eifel_base::time::Instant;
use episodes::Episode;
use frames::Frames;
use path::Row;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files to join.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The folder that the box has written.
    pub folder: &'a Path,
    /// The sender's capture; `None` for the box's own.
    pub sender: Option<&'a Path>,
    /// The receiver's capture; `None` for the box's own.
    pub receiver: Option<&'a Path>,
    /// The direction of the data.
    pub direction: Direction,
}

/// A retransmission with its truth and the kernel's reason.
#[derive(Clone, Debug)]
pub struct Retransmission {
    /// The verdict from the packets.
    pub judged: Judged,
    /// Why the kernel sent it; `None` if its counters do not tell.
    pub cause: Option<Cause>,
    /// Its episode, from 0; `None` for a probe.
    pub episode: Option<usize>,
    /// Its frame in the receiver's capture, from 1; `None` if it did not arrive.
    pub receiver_frame: Option<u64>,
}

/// The findings.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// All retransmissions, in the order in which they were sent.
    pub retransmissions: Vec<Retransmission>,
    /// The episodes, in the order in which they began.
    pub episodes: Vec<Episode>,
    /// Data segments that the sender's capture does not have.
    pub not_at_sender: u64,
    /// Data segments that the box delivered and the receiver's capture does not have. They were
    /// lost behind the box.
    pub not_at_receiver: u64,
    /// Why causes and undos are missing; `None` if they are given.
    pub counters_silent: Option<String>,
}

/// The columns of the truth about a capture. `episode` numbers the kernel's episodes from 0, and
/// `undo_after_ms` counts from the retransmission to the undo.
pub const TRUTH: &str =
    "frame,time,seq,len,nth,fate,spurious,orig_known,cause,flow,episode,undo,undo_after_ms,segments";

impl Judgement {
    /// Returns the frames of a capture that `frame` returns for retransmissions, each with its line
    /// of the truth. A frame may hold several segments. It is spurious if all of them are.
    pub fn truth(&self, frame: impl Fn(&Retransmission) -> Option<u64>) -> Vec<(u64, String)> {
        let framed: Vec<_> = self.retransmissions.iter().filter_map(|one| Some((frame(one)?, one))).collect();
        let line = |segments: &[(u64, &Retransmission)]| {
            let (frame, Retransmission { judged, cause, episode, .. }) = segments[0];
            let all = |of: fn(&Judged) -> bool| u8::from(segments.iter().all(|(_, one)| of(&one.judged)));
            let (spurious, known) = (all(|judged| judged.spurious), all(|judged| judged.original_known));
            let len: u64 = segments.iter().map(|(_, one)| one.judged.len).sum();
            let (fate, cause) = (judged.fate.name(), cause.map_or("", Cause::name));
            let undo = episode.and_then(|number| self.episodes.get(number)).and_then(|episode| episode.undo);
            let undone = undo.map_or(",".to_owned(), |(at, name)| format!("{name},{:.3}", signed_ms(judged.at, at)));
            let episode = episode.map_or(String::new(), |number| number.to_string());
            let (seconds, micros) = (judged.at.as_nanos() / 1_000_000_000, judged.at.as_nanos() % 1_000_000_000 / 1000);
            let (Judged { seq, nth, flow, .. }, count) = (judged, segments.len());
            let line = format!(
                "{frame},{seconds}.{micros:06},{seq},{len},{nth},{fate},{spurious},{known},{cause},{flow},{episode},{undone},{count}"
            );
            (frame, line)
        };
        framed.chunk_by(|one, other| one.0 == other.0).map(line).collect()
    }
}

/// Returns lines of the truth as a file.
pub fn truth_file(lines: &[(u64, String)]) -> String {
    let lines = lines.iter().map(|(_, line)| line.as_str());
    [TRUTH].into_iter().chain(lines).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the milliseconds from one instant to another, negative if the other is earlier.
pub fn signed_ms(from: Instant, to: Instant) -> f64 {
    (to.as_nanos() as f64 - from.as_nanos() as f64) / 1e6
}

/// Joins the files.
///
/// # Errors
/// A file that is missing or damaged, in a line.
pub fn join(sources: Sources<'_>) -> Result<Judgement, Error> {
    let rows = path::read(&sources.folder.join("path.csv"))?;
    let names = match sources.direction {
        Direction::There => ["sender", "receiver"],
        Direction::Back => ["receiver", "sender"],
    };
    let place = |given: Option<&Path>, name: &str| {
        given.map_or_else(|| sources.folder.join(format!("{name}.pcapng")), Path::to_path_buf)
    };
    let mut at_sender = Frames::read(&place(sources.sender, names[0]))?;
    let mut at_receiver = Frames::read(&place(sources.receiver, names[1]))?;
    let data = |row: &&Row| row.direction == sources.direction && row.block.is_some();
    let (mut truth, mut not_at_sender, mut not_at_receiver) = (Truth::default(), 0, 0);
    for row in rows.iter().filter(data).filter(|row| !row.is_copy()) {
        let frame = at_sender.take(&row.key).unwrap_or_default();
        not_at_sender += u64::from(frame == 0);
        if let Some(block) = row.block {
            truth.sends(row.which, Data { at: row.entered, frame, block, seq: row.key.seq });
        }
    }
    let mut left: Vec<&Row> = rows.iter().filter(data).collect();
    left.sort_by_key(|row| row.left.unwrap_or(Instant::NEVER));
    let mut receiver_frames = BTreeMap::new();
    for row in left {
        let frame = row.left.and_then(|_| at_receiver.take(&row.key));
        let received = row.left.is_none() || frame.is_some();
        not_at_receiver += u64::from(!received);
        if let (false, Some(frame)) = (row.is_copy(), frame) {
            receiver_frames.insert((row.which.flow, row.which.number), frame);
        }
        // A segment lost behind the box has not arrived, even if the box delivered it.
        if received {
            truth.settles(row.which, row.fate);
        }
    }
    let mut judged = truth.finish();
    judged.sort_by_key(|one| (one.at, one.frame));
    let counters = sources.folder.join(format!("{}.counters.csv", names[0]));
    let counted = fs::read_to_string(&counters)
        .map_err(|error| format!("{}: {error}", counters.display()))
        .and_then(|text| causes::Counters::parse(&text));
    let traced = fs::read_to_string(sources.folder.join("trace.csv"))
        .map_err(|error| error.to_string())
        .and_then(|text| trace::Trace::parse(&text))
        .and_then(|trace| traced(&trace, &rows, &judged));
    let (causes, counters, counters_silent) = match (traced, counted) {
        (Ok(causes), Ok(counters)) => (causes, Some(counters), None),
        (Ok(causes), Err(why)) => (causes, None, Some(why)),
        (Err(_), Err(why)) => (vec![None; judged.len()], None, Some(why)),
        (Err(_), Ok(counters)) => match counters.causes(judged.len()) {
            Ok(causes) => (causes, Some(counters), None),
            Err(why) => (vec![None; judged.len()], None, Some(why)),
        },
    };
    let (episodes, belongs) = episodes::find(&rows, sources.direction, &judged, &causes, counters.as_ref());
    let retransmissions = judged
        .into_iter()
        .zip(causes)
        .zip(belongs)
        .map(|((judged, cause), episode)| {
            let receiver_frame = receiver_frames.get(&(judged.flow, judged.number)).copied();
            Retransmission { judged, cause, episode, receiver_frame }
        })
        .collect();
    Ok(Judgement { retransmissions, episodes, not_at_sender, not_at_receiver, counters_silent })
}

/// Returns the causes of retransmissions by the kernel's tracepoints.
fn traced(trace: &trace::Trace, rows: &[Row], judged: &[Judged]) -> Result<Vec<Option<Cause>>, String> {
    let ports: BTreeMap<(u32, Direction), (u16, u16)> =
        rows.iter().filter_map(|row| Some(((row.which.flow, row.direction), row.ports?))).collect();
    // Segments that left as one have one event, and share a frame.
    let together = |one: &Judged, other: &Judged| one.frame > 0 && one.frame == other.frame;
    let left: Vec<&[Judged]> = judged.chunk_by(together).collect();
    let sent: Option<Vec<_>> =
        left.iter().map(|one| Some((one[0].at, *ports.get(&(one[0].flow, one[0].direction))?))).collect();
    let causes = trace.causes(&sent.ok_or("path.csv has no ports")?);
    Ok(left.iter().zip(causes).flat_map(|(one, cause)| std::iter::repeat_n(cause, one.len())).collect())
}
