//! *Looks at* three kinds of evidence at once: an echo older than the first retransmission
//! (`retrans_stamp`), DSACKs that count the episode's retransmissions down (`undo_retrans`), and
//! after a timeout the delivery of data that left only once (F-RTO).
//! *Decides* spurious as Linux 6.18 undoes: fully when a repair is over, partly when a partial ACK
//! brings an old echo and no retransmission is in flight, after a DSACK for each retransmission
//! even if the repair is over, and during a repair after a timeout. Never decides genuine: until
//! the next loss signal, a DSACK may still settle the episode.
//! *Blind to* a loss beside a needless retransmission: one old echo undoes the whole cut. Also
//! blind to an original that left in the same tick of the timestamp clock as its retransmission.
//! *From* Linux 6.18: its counters TCPFullUndo, TCPPartialUndo, TCPDSACKUndo, TCPLossUndo and
//! TCPSpuriousRTOs. The parts are those of RFC 3522, section 3.2; RFC 3708, section 3; RFC 5682,
//! section 3.1; and for the tail loss probe RFC 8985, section 7.

use super::outstanding::Outstanding;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Echo, Fact, Refusal, Transmission};
use crate::registry::Entry;
use crate::view::View;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "linux",
    summary: "all that Linux 6.18 undoes by: old echoes, a DSACK for each retransmission, and F-RTO after a timeout",
    source: "Linux 6.18",
    probes: true,
    ..Entry::detector(|_| Box::new(Linux::<SOUND>::default()))
};

/// Reason of an undo at the end of fast recovery.
pub const FULL_UNDO: &str = "full undo (TCPFullUndo)";
/// Reason of an undo on a partial ACK in fast recovery.
pub const PARTIAL_UNDO: &str = "partial undo (TCPPartialUndo)";
/// Reason of an undo after a DSACK for each retransmission, in fast recovery or after a repair.
pub const DSACK_UNDO: &str = "DSACK undo (TCPDSACKUndo)";
/// Reason of an undo after a timeout, by timestamps or DSACKs.
pub const LOSS_UNDO: &str = "loss undo (TCPLossUndo)";
/// Reason of an undo after a timeout by F-RTO.
pub const SPURIOUS_RTO: &str = "spurious RTO by F-RTO (TCPSpuriousRTOs)";

/// A fault that Linux had. Only tests plant it, to show that a search finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A tail loss probe in flight does not count as a retransmission that may cause a DSACK. Its
    /// DSACK is then taken for that of a needed retransmission.
    ProbeUncounted = 1,
    /// Without a retransmission no echo counts as old, so that nothing is undone.
    NothingResentMissed = 2,
    /// Without SACK an ACK undoes once more after the repair, when nothing retransmitted is left.
    UndoneAfterRepair = 3,
}

/// No [`Fault`].
const SOUND: u8 = 0;

/// Returns the detector with a fault.
#[doc(hidden)]
pub fn planted(fault: Fault) -> Box<dyn Detector> {
    match fault {
        Fault::ProbeUncounted => Box::new(Linux::<{ Fault::ProbeUncounted as u8 }>::default()),
        Fault::NothingResentMissed => Box::new(Linux::<{ Fault::NothingResentMissed as u8 }>::default()),
        Fault::UndoneAfterRepair => Box::new(Linux::<{ Fault::UndoneAfterRepair as u8 }>::default()),
    }
}

/// Linux's composite detection, with a [`Fault`] or no fault.
#[derive(Clone, Debug, Default)]
pub struct Linux<const FAULT: u8> {
    state: State,
    /// `nxt` at the last loss signal, or at F-RTO's first ACK.
    high_seq: u64,
    /// `None` if nothing can be undone.
    undo: Option<Undo>,
    retrans_stamp: RetransStamp,
    /// When the last repair ended.
    repaired_at: Option<Instant>,
    /// Whether the first retransmission of the episode has not left yet.
    awaits_first: bool,
    /// End of a tail loss probe in flight that was a retransmission.
    tail_probe: Option<u64>,
    /// Timeouts since new data was last acknowledged.
    timeouts: u32,
    /// All retransmissions and all duplicates that the peer has reported.
    retransmitted: u64,
    duplicates: u64,
    outstanding: Outstanding,
    /// First position not acknowledged, as of the last ACK that the detector has seen.
    una: u64,
}

/// The kernel's congestion state, as far as an undo depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    /// Open or Disorder.
    #[default]
    Open,
    Recovery,
    /// After a timeout.
    Loss {
        frto: FRto,
    },
}

/// The progress of F-RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FRto {
    /// It cannot find the timeout spurious any more.
    Off,
    /// It waits for the first ACK.
    On,
    /// It has asked for new data.
    Asked,
}

/// What an undo waits for.
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// `undo_marker`: `una` at the loss signal. DSACKs at or below belong to earlier episodes.
    marker: u64,
    /// `undo_retrans`: retransmissions that no DSACK has reported; `None` before the first.
    unreported: Option<u32>,
}

/// When the first retransmission left since nothing retransmitted was outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum RetransStamp {
    /// Nothing was retransmitted.
    #[default]
    Unset,
    /// It left without a timestamp.
    Untimed,
    At(Timestamp),
}

impl<const FAULT: u8> Linux<FAULT> {
    fn on_retransmission(&mut self, transmission: &Transmission, stamp: Option<Timestamp>, opens: bool, view: &View) {
        let positions = transmission.positions();
        self.retransmitted += 1;
        self.awaits_first &= !opens;
        let probes = self.state == State::Open && !opens && positions.end == view.nxt;
        self.outstanding.on_retransmission(positions, !probes);
        if probes {
            self.tail_probe = Some(positions.end);
            return;
        }
        if self.retrans_stamp == RetransStamp::Unset {
            self.retrans_stamp = stamp.map_or(RetransStamp::Untimed, RetransStamp::At);
        }
        if let Some(undo) = &mut self.undo {
            undo.unreported = Some(undo.unreported.unwrap_or(0) + 1);
        }
    }

    /// Begins to count for an undo. Retransmissions in flight may still cause DSACKs, a tail loss
    /// probe too.
    fn init_undo(&mut self, view: &View) {
        let probes = self.tail_probe.is_some() && FAULT != Fault::ProbeUncounted as u8;
        let unreported = self.outstanding.in_flight() + u32::from(probes);
        self.undo = Some(Undo { marker: view.una, unreported: Some(unreported).filter(|&count| count > 0) });
    }

    /// Forgets what is below `una`.
    fn prune(&mut self, una: u64, now: Instant) {
        self.una = una;
        self.outstanding.prune(una);
        // A loss that the last ACK of a repair reports goes on with the old time.
        if self.state == State::Open && self.repaired_at != Some(now) {
            self.clear_retrans_stamp();
        }
    }

    /// Clears the time of the first retransmission once no retransmission matters any more: none is
    /// in flight, and the oldest segment left only once.
    fn clear_retrans_stamp(&mut self) {
        if !self.outstanding.is_oldest_resent(self.una) && self.outstanding.in_flight() == 0 {
            self.retrans_stamp = RetransStamp::Unset;
        }
    }

    /// Counts the reported duplicates down. A DSACK beyond the number of all retransmissions
    /// reports a copy that the network made.
    fn count_duplicates(&mut self, acked: &Acked, before: u64, mss: u64) {
        for dsack in acked.dsacks.iter().filter(|dsack| dsack.start < dsack.end) {
            let mut segments = (dsack.end - dsack.start).div_ceil(mss.max(1));
            self.duplicates += segments;
            if self.duplicates > self.retransmitted {
                continue;
            }
            if self.tail_probe == Some(dsack.end) && segments == 1 && acked.cumulative >= dsack.end {
                // Original and probe have both arrived.
                self.tail_probe = None;
            }
            let Some(Undo { marker, unreported: Some(unreported) }) = &mut self.undo else { continue };
            if dsack.end <= *marker {
                continue;
            }
            // Above the former `una`, only segments that were retransmitted count.
            if dsack.end > before {
                segments = self.outstanding.resent_within(*dsack);
            }
            *unreported = unreported.saturating_sub(segments.min(u64::from(u32::MAX)) as u32);
        }
    }

    /// Ends a tail loss probe that this ACK answers.
    fn end_tail_probe(&mut self, acked: &Acked) {
        if let Some(end) = self.tail_probe {
            let pure = acked.bytes == 0 && acked.sacked_up_to == 0 && acked.dsacks.is_empty();
            if acked.cumulative > end || acked.cumulative == end && pure {
                self.tail_probe = None;
            }
        }
    }

    /// Returns whether the ACK shows that an original was only late: its echo is older than the
    /// first retransmission, or nothing was retransmitted.
    fn is_delayed(&self, acked: &Acked, view: &View) -> bool {
        match self.retrans_stamp {
            RetransStamp::At(stamp) => {
                matches!(acked.echo, Some(Echo::Known { value, .. }) if value.precedes(stamp))
            }
            RetransStamp::Untimed => false,
            RetransStamp::Unset if FAULT == Fault::NothingResentMissed as u8 => false,
            RetransStamp::Unset if FAULT == Fault::UndoneAfterRepair as u8 => true,
            RetransStamp::Unset => view.sack || acked.cumulative < self.high_seq,
        }
    }

    fn is_all_reported(&self) -> bool {
        self.undo.is_some_and(|undo| undo.unreported == Some(0))
    }

    fn may_undo(&self, acked: &Acked, view: &View) -> bool {
        self.undo.is_some() && (self.is_all_reported() || self.is_delayed(acked, view))
    }

    /// Returns the judgement of an undo; undecided if there is nothing left to undo.
    fn undone(&mut self, reason: &'static str) -> Judgement {
        match self.undo.take() {
            None => Judgement::Undecided,
            Some(_) if self.awaits_first => Judgement::NothingResent(reason),
            Some(_) => Judgement::Settled(Outcome::Spurious, reason),
        }
    }

    /// Ends a repair, unless SACK is missing and nothing beyond `high_seq` is acknowledged: then
    /// duplicate ACKs may still answer retransmissions.
    fn end_repair(&mut self, acked: &Acked, view: &View) {
        if view.sack || acked.cumulative > self.high_seq {
            self.state = State::Open;
            self.repaired_at = Some(view.now);
        } else {
            self.clear_retrans_stamp();
        }
    }

    fn in_recovery(&mut self, acked: &Acked, view: &View) -> Judgement {
        if acked.cumulative >= self.high_seq {
            let judgement = if self.may_undo(acked, view) { self.undone(FULL_UNDO) } else { Judgement::Undecided };
            self.end_repair(acked, view);
            return judgement;
        }
        if acked.bytes > 0 && self.undo.is_some() && self.is_delayed(acked, view) {
            if self.outstanding.in_flight() > 0 {
                // Linux sends new data, but retransmits nothing further on this ACK.
                return asked(acked);
            }
            self.state = State::Open;
            self.clear_retrans_stamp();
            return self.undone(PARTIAL_UNDO);
        }
        if self.is_all_reported() {
            self.state = State::Open;
            return self.undone(DSACK_UNDO);
        }
        Judgement::Undecided
    }

    fn in_loss(&mut self, acked: &Acked, (frto, original): (FRto, bool), view: &View) -> Judgement {
        let recovered = acked.cumulative >= self.high_seq;
        if acked.bytes > 0 && self.may_undo(acked, view) {
            return self.undo_loss(acked, LOSS_UNDO, view);
        }
        // If no new data has left, the sender repairs as after any timeout.
        let frto = if frto == FRto::Asked && view.nxt <= self.high_seq { FRto::Off } else { frto };
        if frto != FRto::Off && original {
            return self.undo_loss(acked, SPURIOUS_RTO, view);
        }
        if frto != FRto::Off && view.nxt <= self.high_seq && acked.bytes > 0 && !recovered {
            // RFC 5682, section 3.1, step 2b.
            self.state = State::Loss { frto: FRto::Asked };
            self.high_seq = view.nxt;
            return asked(acked);
        }
        // Step 3a. A DSACK alone counts as a duplicate too.
        let duplicate = acked.duplicate || acked.bytes == 0 && !acked.dsacks.is_empty();
        let ends = view.nxt > self.high_seq && (acked.sacked > 0 || duplicate);
        self.state = State::Loss { frto: if ends { FRto::Off } else { frto } };
        if !recovered {
            return Judgement::Undecided;
        }
        let judgement = if self.may_undo(acked, view) { self.undone(LOSS_UNDO) } else { Judgement::Undecided };
        self.end_repair(acked, view);
        judgement
    }

    /// Undoes a timeout. Without SACK, only F-RTO ends the repair before everything is repaired. The
    /// time of the first retransmission then stays.
    fn undo_loss(&mut self, acked: &Acked, reason: &'static str, view: &View) -> Judgement {
        if !view.sack && acked.cumulative == self.high_seq {
            self.clear_retrans_stamp();
        } else if view.sack || reason == SPURIOUS_RTO {
            self.state = State::Open;
            self.repaired_at = Some(view.now);
        }
        self.timeouts = 0;
        self.undone(reason)
    }

    fn on_ack(&mut self, acked: &Acked, view: &View) -> Judgement {
        // The positions of an association are no bytes.
        let before = if acked.originals.is_none() { acked.cumulative - acked.bytes } else { self.una };
        if acked.bytes > 0 {
            self.timeouts = 0;
        }
        self.count_duplicates(acked, before, u64::from(view.mss));
        let original = self.outstanding.note_delivered(acked, before, self.high_seq, view);
        self.end_tail_probe(acked);
        self.prune(acked.cumulative, view.now);
        match self.state {
            State::Open if self.is_all_reported() => self.undone(DSACK_UNDO),
            State::Open => Judgement::Undecided,
            State::Recovery => self.in_recovery(acked, view),
            State::Loss { frto } => self.in_loss(acked, (frto, original), view),
        }
    }
}

/// Asks for new data before further retransmissions. An association's probe lasts until a verdict,
/// which may not come here, so an association is not asked.
fn asked(acked: &Acked) -> Judgement {
    if acked.originals.is_some() { Judgement::Undecided } else { Judgement::Probe }
}

impl<const FAULT: u8> Detector for Linux<FAULT> {
    fn on_loss_signal(&mut self, cause: Cause, opens: bool, view: &View) {
        self.prune(view.una, view.now);
        self.awaits_first |= opens;
        match cause {
            Cause::FastRetransmit => {
                self.init_undo(view);
                self.state = State::Recovery;
            }
            Cause::Timeout => {
                let begins = self.state == State::Open;
                let repaired = self.high_seq <= view.una;
                let progressed = matches!(self.state, State::Loss { .. }) && self.timeouts == 0;
                // Nothing counts as in flight any more.
                self.outstanding.deem_lost();
                // A timeout within fast recovery does not begin anew: an undo then takes back both.
                if begins || repaired || progressed {
                    self.init_undo(view);
                }
                let frto = if begins || self.timeouts > 0 { FRto::On } else { FRto::Off };
                self.state = State::Loss { frto };
                self.timeouts += 1;
            }
        }
        self.high_seq = view.nxt;
        self.tail_probe = None;
    }

    fn is_idle(&self) -> bool {
        self.state == State::Open && self.tail_probe.is_none()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, stamp, opens, .. } => {
                self.on_retransmission(transmission, *stamp, *opens, view);
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.on_ack(acked, view),
            Fact::NotProbed(refusal) => {
                // A sender that is only watched may send new data all the same.
                if let State::Loss { frto } = &mut self.state
                    && *refusal == Refusal::NothingNew
                {
                    *frto = FRto::Off;
                }
                Judgement::Undecided
            }
        }
    }
}
