//! What a detector of Python sees: one fact and one view, which are filled in again for each call.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::detect::Judgement;
use eifel_recovery::fact::{self, Acked, Block, Cause, Covered, Echo, Kind, Mark, Refusal, TxId};
use eifel_recovery::view::View as Seen;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

/// Which fact it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Nothing,
    Retransmitted,
    Acked,
    NotProbed,
}

/// A fact. Its object is used again for the next one.
#[pyclass(module = "eifel.detectors")]
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    which: Which,
    transmission: fact::Transmission,
    stamp: Option<Timestamp>,
    original: Option<Timestamp>,
    opens: bool,
    /// Without its slices, which are `sacks` and `dsacks`.
    acked: Acked<'static>,
    sacks: Vec<Block>,
    dsacks: Vec<Block>,
    refusal: Refusal,
}

fn blocks(of: &[Block]) -> Vec<(u64, u64)> {
    of.iter().map(|block| (block.start, block.end)).collect()
}

/// Returns nanoseconds since the run began.
pub(super) fn nanos(instant: Instant) -> u64 {
    instant.since(Instant::ZERO).as_nanos()
}

pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Timeout => "timeout",
        Cause::FastRetransmit => "fast-retransmit",
    }
}

impl Fact {
    pub(super) fn new() -> Self {
        let transmission = fact::Transmission { id: TxId(0), start: 0, len: 0, kind: Kind::New, copy: 0 };
        Self {
            which: Which::Nothing,
            transmission,
            stamp: None,
            original: None,
            opens: false,
            acked: Acked::default(),
            sacks: Vec::new(),
            dsacks: Vec::new(),
            refusal: Refusal::NothingNew,
        }
    }

    /// Takes the next fact. Allocates nothing, unless an ACK has more blocks than any before.
    pub(super) fn fill(&mut self, fact: &fact::Fact<'_>) {
        match *fact {
            fact::Fact::Retransmitted { transmission, stamp, original, opens } => {
                self.which = Which::Retransmitted;
                self.transmission = *transmission;
                (self.stamp, self.original, self.opens) = (stamp, original, opens);
            }
            fact::Fact::Acked(acked) => {
                self.which = Which::Acked;
                self.acked = Acked { sacks: &[], dsacks: &[], ..*acked };
                self.sacks.clear();
                self.sacks.extend_from_slice(acked.sacks);
                self.dsacks.clear();
                self.dsacks.extend_from_slice(acked.dsacks);
            }
            fact::Fact::NotProbed(refusal) => (self.which, self.refusal) = (Which::NotProbed, refusal),
        }
    }

    fn retransmitted(&self, name: &str) -> PyResult<&fact::Transmission> {
        if self.which == Which::Retransmitted { Ok(&self.transmission) } else { Err(self.lacks(name)) }
    }

    fn acked(&self, name: &str) -> PyResult<&Acked<'static>> {
        if self.which == Which::Acked { Ok(&self.acked) } else { Err(self.lacks(name)) }
    }

    fn lacks(&self, name: &str) -> PyErr {
        PyAttributeError::new_err(format!("a fact of kind {:?} has no {name}", self.kind()))
    }

    fn highest(&self, name: &str) -> PyResult<Option<Covered>> {
        Ok(self.acked(name)?.highest)
    }
}

#[pymethods]
impl Fact {
    /// Which fact it is: "retransmitted", "acked" or "not-probed".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.which {
            Which::Nothing => "none",
            Which::Retransmitted => "retransmitted",
            Which::Acked => "acked",
            Which::NotProbed => "not-probed",
        }
    }

    /// Retransmitted: the number of the transmission, never used twice.
    #[getter]
    fn tx(&self) -> PyResult<u64> {
        Ok(self.retransmitted("tx")?.id.0)
    }

    /// Retransmitted: its first position.
    #[getter]
    fn start(&self) -> PyResult<u64> {
        Ok(self.retransmitted("start")?.start)
    }

    /// Retransmitted: the first position beyond it.
    #[getter]
    fn end(&self) -> PyResult<u64> {
        Ok(self.retransmitted("end")?.positions().end)
    }

    /// Retransmitted: the loss signal, "timeout" or "fast-retransmit".
    #[getter]
    fn cause(&self) -> PyResult<Option<&'static str>> {
        Ok(match self.retransmitted("cause")?.kind {
            Kind::Retransmission(of) => Some(cause(of)),
            Kind::New | Kind::WindowProbe => None,
        })
    }

    /// Retransmitted: how often its first position was sent before.
    #[getter]
    fn copy(&self) -> PyResult<u32> {
        Ok(self.retransmitted("copy")?.copy)
    }

    /// Retransmitted: whether it is the first of its episode.
    #[getter]
    fn opens(&self) -> PyResult<bool> {
        self.retransmitted("opens").map(|_| self.opens)
    }

    /// Retransmitted: its TSval; None without timestamps.
    #[getter]
    fn tsval(&self) -> PyResult<Option<u32>> {
        self.retransmitted("tsval").map(|_| self.stamp.map(|stamp| stamp.0))
    }

    /// Retransmitted: the TSval of its segment's first transmission; None if a neighbour carried it too.
    #[getter]
    fn original_tsval(&self) -> PyResult<Option<u32>> {
        self.retransmitted("original_tsval").map(|_| self.original.map(|stamp| stamp.0))
    }

    /// Acked: the first position not acknowledged.
    #[getter]
    fn cumulative(&self) -> PyResult<u64> {
        Ok(self.acked("cumulative")?.cumulative)
    }

    /// Acked: bytes newly acknowledged.
    #[getter]
    fn acked_bytes(&self) -> PyResult<u64> {
        Ok(self.acked("acked_bytes")?.bytes)
    }

    /// Acked: bytes newly reported by SACK blocks.
    #[getter]
    fn sacked_bytes(&self) -> PyResult<u64> {
        Ok(self.acked("sacked_bytes")?.sacked)
    }

    /// Acked, of an association: bytes of chunks sent once that are newly covered; None in a connection.
    #[getter]
    fn original_bytes(&self) -> PyResult<Option<u64>> {
        Ok(self.acked("original_bytes")?.originals)
    }

    /// Acked: whether it is a duplicate ACK.
    #[getter]
    fn duplicate(&self) -> PyResult<bool> {
        Ok(self.acked("duplicate")?.duplicate)
    }

    /// Acked: SACK blocks, as (start, end).
    #[getter]
    fn sacks(&self) -> PyResult<Vec<(u64, u64)>> {
        self.acked("sacks").map(|_| blocks(&self.sacks))
    }

    /// Acked: the first position beyond the highest SACK block; 0 without blocks.
    #[getter]
    fn sacked_up_to(&self) -> PyResult<u64> {
        Ok(self.acked("sacked_up_to")?.sacked_up_to)
    }

    /// Acked: reported duplicates, as (start, end).
    #[getter]
    fn dsacks(&self) -> PyResult<Vec<(u64, u64)>> {
        self.acked("dsacks").map(|_| blocks(&self.dsacks))
    }

    /// Acked: the echoed timestamp (TSecr); None without one, and if it was forged.
    #[getter]
    fn tsecr(&self) -> PyResult<Option<u32>> {
        Ok(match self.acked("tsecr")?.echo {
            Some(Echo::Known { value, .. }) => Some(value.0),
            Some(Echo::Forged) | None => None,
        })
    }

    /// Acked: the time since the echoed timestamp was current, in nanoseconds; None like `tsecr`.
    #[getter]
    fn echo_age_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.acked("echo_age_ns")?.echo.and_then(Echo::age).map(Duration::as_nanos))
    }

    /// Acked: whether it echoes a timestamp that no segment carried.
    #[getter]
    fn forged(&self) -> PyResult<bool> {
        Ok(self.acked("forged")?.echo == Some(Echo::Forged))
    }

    /// Acked: the peer's mark, "original" or "retransmission"; None without marks.
    #[getter]
    fn mark(&self) -> PyResult<Option<&'static str>> {
        Ok(self.acked("mark")?.mark.map(|mark| match mark {
            Mark::Original => "original",
            Mark::Retransmission => "retransmission",
        }))
    }

    /// Acked: whether ECN-Echo is set.
    #[getter]
    fn ece(&self) -> PyResult<bool> {
        Ok(self.acked("ece")?.ece)
    }

    /// Acked: whether everything ever sent is now acknowledged.
    #[getter]
    fn all(&self) -> PyResult<bool> {
        Ok(self.acked("all")?.all)
    }

    /// Acked: the first position beyond the highest segment that it covers to its end; None without one.
    #[getter]
    fn highest_end(&self) -> PyResult<Option<u64>> {
        Ok(self.highest("highest_end")?.map(|covered| covered.end))
    }

    /// Acked: how often that segment was retransmitted.
    #[getter]
    fn highest_copies(&self) -> PyResult<Option<u32>> {
        Ok(self.highest("highest_copies")?.map(|covered| covered.copies))
    }

    /// Acked: when that segment was last sent, in nanoseconds.
    #[getter]
    fn highest_sent_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.highest("highest_sent_ns")?.map(|covered| nanos(covered.last_sent)))
    }

    /// NotProbed: "nothing-new", or "watches" if another detector acts.
    #[getter]
    fn refusal(&self) -> PyResult<&'static str> {
        match (self.which, self.refusal) {
            (Which::NotProbed, Refusal::NothingNew) => Ok("nothing-new"),
            (Which::NotProbed, Refusal::Watches) => Ok("watches"),
            _ => Err(self.lacks("refusal")),
        }
    }

    fn __repr__(&self) -> String {
        match self.which {
            Which::Nothing => "no fact".into(),
            Which::Retransmitted => {
                let positions = self.transmission.positions();
                let Kind::Retransmission(of) = self.transmission.kind else { return "a transmission".into() };
                let opens = if self.opens { ", which opens the episode" } else { "" };
                format!("retransmission of {} to {} after a {}{opens}", positions.start, positions.end, cause(of))
            }
            Which::Acked => {
                let word = if self.acked.duplicate { "duplicate ACK" } else { "ACK" };
                let mut text = format!("{word} of {}", self.acked.cumulative);
                for (name, blocks) in [("SACK", &self.sacks), ("DSACK", &self.dsacks)] {
                    for block in blocks {
                        text += &format!(", {name} {} to {}", block.start, block.end);
                    }
                }
                text
            }
            Which::NotProbed => "refusal of a probe".into(),
        }
    }
}

/// What a seam may read. Its object is used again for the next fact.
#[pyclass(module = "eifel.detectors")]
#[derive(Clone, Debug)]
pub(crate) struct View {
    seen: Option<Seen>,
}

impl View {
    pub(super) fn new() -> Self {
        Self { seen: None }
    }

    pub(super) fn fill(&mut self, seen: &Seen) {
        self.seen = Some(*seen);
    }

    fn seen(&self) -> PyResult<&Seen> {
        self.seen.as_ref().ok_or_else(|| PyAttributeError::new_err("the view is filled in by the engine"))
    }
}

#[pymethods]
impl View {
    /// Nanoseconds since the run began.
    #[getter]
    fn now_ns(&self) -> PyResult<u64> {
        Ok(nanos(self.seen()?.now))
    }

    /// The first position not acknowledged.
    #[getter]
    fn una(&self) -> PyResult<u64> {
        Ok(self.seen()?.una)
    }

    /// The first position never sent.
    #[getter]
    fn nxt(&self) -> PyResult<u64> {
        Ok(self.seen()?.nxt)
    }

    /// Payload bytes of a full segment.
    #[getter]
    fn mss(&self) -> PyResult<u32> {
        Ok(self.seen()?.mss)
    }

    /// Whether SACK was negotiated.
    #[getter]
    fn sack(&self) -> PyResult<bool> {
        Ok(self.seen()?.sack)
    }

    /// The newest round-trip sample in nanoseconds; None before the first.
    #[getter]
    fn rtt_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.seen()?.round_trips.latest().map(Duration::as_nanos))
    }

    /// SRTT in nanoseconds; None before the first sample.
    #[getter]
    fn srtt_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.seen()?.round_trips.smoothed().map(Duration::as_nanos))
    }

    /// The smallest sample in nanoseconds; None before the first.
    #[getter]
    fn min_rtt_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.seen()?.round_trips.minimum().map(Duration::as_nanos))
    }

    /// The shortest time from a segment's only transmission to its ACK, in nanoseconds.
    #[getter]
    fn shortest_rtt_ns(&self) -> PyResult<Option<u64>> {
        Ok(self.seen()?.round_trips.shortest().map(Duration::as_nanos))
    }
}

/// Returns whether a judgement ends the detector's interest in an episode.
pub(super) fn settles(judgement: Judgement) -> bool {
    !matches!(judgement, Judgement::Undecided | Judgement::Probe | Judgement::GenuineLossWithin(_))
}
