//! *Looks at* the echo of the first acceptable ACK, as RFC 3522 compares it; where that cannot tell,
//! at the ACKs to new data, as F-RTO does; at reports of duplicates later; and before the first
//! retransmission leaves, at ACKs of what a fast retransmit suspects.
//! *Decides* spurious by whichever shows it first, and genuine once none can show it any more. A
//! receiver that has both copies reports the second. So an old echo without that report is a
//! contradiction: after three in a row, no echo counts until such a report comes.
//! *Blind to* a receiver that forges echoes and DSACKs alike, to a loss beside a needless
//! retransmission, and after three verdicts to the echoes of a peer that sends no DSACKs. Without
//! timestamps it is blind to what F-RTO and DSACK are blind to.
//! *From* RFC 3522, section 3.2; RFC 5682, section 3.1; RFC 3708, section 3. The combination is this
//! project's.

use super::dsack::Dsack;
use super::eifel_timestamps::{EifelTimestamps, Proof, RETRANSMISSION_ECHOED};
use super::f_rto_sack::FRtoSack;
use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Block, Cause, Fact, Refusal};
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-f-rto-dsack",
    summary: "an old echo, F-RTO where that cannot tell, and DSACK later: for timestamps that segments share",
    source: "RFC 3522, RFC 5682 and RFC 3708",
    probes: true,
    ..Entry::detector(|_| Box::new(EifelFRtoDsack::default()))
};

/// Plain Eifel detection, F-RTO and DSACK, whichever finds the episode spurious first.
#[derive(Clone, Debug)]
pub struct EifelFRtoDsack {
    eifel: EifelTimestamps,
    f_rto: FRtoSack,
    dsack: Dsack,
    episode: Episode,
    /// The report that has to follow an old echo.
    due: Option<Due>,
    /// Old echoes in a row that no report followed.
    contradictions: u32,
    /// First position beyond all that SACK has reported since the last timeout.
    reported: u64,
}

/// The progress of the last episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Episode {
    /// There is nothing to judge.
    Idle,
    /// No retransmission has left. An ACK of everything below `suspected` shows a false signal.
    Signalled { suspected: u64 },
    /// Nothing is decided. `first` is the first retransmission, and `genuine` the last reason against
    /// a spurious one.
    Open { first: Block, genuine: Option<&'static str> },
}

/// A DSACK that has to come if an old echo was true.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// The first retransmission of the episode.
    first: Block,
    /// First position that was unsent when the echo came, then at the first ACK of later data.
    unsent: u64,
    /// Whether data sent later is acknowledged. An ACK that was overtaken may still bring the report.
    overtaken: bool,
}

impl Default for EifelFRtoDsack {
    fn default() -> Self {
        Self {
            eifel: EifelTimestamps::new(Proof::Older),
            f_rto: FRtoSack::default(),
            dsack: Dsack::default(),
            episode: Episode::Idle,
            due: None,
            contradictions: 0,
            reported: 0,
        }
    }
}

impl EifelFRtoDsack {
    /// Looks for the report that is due.
    fn await_report(&mut self, acked: &Acked<'_>, view: &View) {
        let Some(due) = &mut self.due else { return };
        if acked.dsacks.iter().any(|dsack| dsack.start < due.first.end && dsack.end > due.first.start) {
            (self.due, self.contradictions) = (None, 0);
        } else if acked.cumulative > due.unsent {
            if due.overtaken {
                self.due = None;
                self.contradictions = (self.contradictions + 1).min(MOST_CONTRADICTIONS);
            } else {
                (due.unsent, due.overtaken) = (view.nxt, true);
            }
        }
    }

    fn on_ack(&mut self, acked: &Acked<'_>, view: &View) -> Judgement {
        self.reported = self.reported.max(acked.sacked_up_to);
        self.await_report(acked, view);
        let fact = Fact::Acked(acked);
        let echo = self.eifel.observe(&fact, view);
        let mut forward = self.f_rto.observe(&fact, view);
        let duplicates = self.dsack.observe(&fact, view);
        if matches!(echo, Judgement::Distrusted(_)) {
            return echo;
        }
        match self.episode {
            Episode::Signalled { suspected } if acked.cumulative >= suspected => {
                self.episode = Episode::Idle;
                Judgement::NothingResent("all that was suspected arrives before a retransmission leaves")
            }
            Episode::Idle | Episode::Signalled { .. } => Judgement::Undecided,
            Episode::Open { first, .. } => {
                if matches!(echo, Judgement::Settled(Outcome::Spurious, _)) {
                    // A report that is due stays due, or else a forger could put it off for ever.
                    self.due.get_or_insert(Due { first, unsent: view.nxt, overtaken: false });
                }
                // An association's probe lasts until a verdict, which may have to wait for a DSACK.
                if forward == Judgement::Probe && (is_told(echo) || acked.originals.is_some()) {
                    forward = self.f_rto.observe(&Fact::NotProbed(Refusal::Watches), view);
                }
                self.judge(echo, forward, duplicates)
            }
        }
    }

    /// Judges the open episode by the judgements of Eifel, F-RTO and DSACK on a fact.
    fn judge(&mut self, echo: Judgement, forward: Judgement, duplicates: Judgement) -> Judgement {
        let Episode::Open { genuine, .. } = &mut self.episode else { return Judgement::Undecided };
        let trusts_echoes = self.contradictions < MOST_CONTRADICTIONS;
        for (judgement, counts) in [(echo, trusts_echoes), (forward, true), (duplicates, true)] {
            match judgement {
                Judgement::Settled(Outcome::Spurious, _) if counts => {
                    self.episode = Episode::Idle;
                    return judgement;
                }
                Judgement::Settled(Outcome::Spurious, _) => *genuine = Some(UNCONFIRMED),
                Judgement::Settled(Outcome::Genuine, reason) => *genuine = Some(reason),
                _ => {}
            }
        }
        let genuine = *genuine;
        if forward == Judgement::Probe {
            return forward;
        }
        if !self.eifel.is_idle() || !self.f_rto.is_idle() || !self.dsack.is_idle() {
            return Judgement::Undecided;
        }
        self.episode = Episode::Idle;
        match (duplicates, genuine) {
            (Judgement::Mixed(_), _) => duplicates,
            (_, Some(reason)) => Judgement::Settled(Outcome::Genuine, reason),
            (_, None) => Judgement::Undecided,
        }
    }
}

/// Reason of a verdict on an old echo of a peer that has contradicted itself.
const UNCONFIRMED: &str = "an old echo, and no DSACK followed the last ones";

/// Returns whether the echo tells which transmission arrived. RFC 3522 judges genuine also where it
/// cannot tell, and F-RTO may.
fn is_told(echo: Judgement) -> bool {
    match echo {
        Judgement::Settled(Outcome::Spurious, _) => true,
        Judgement::Settled(Outcome::Genuine, reason) => reason == RETRANSMISSION_ECHOED,
        _ => false,
    }
}

impl Detector for EifelFRtoDsack {
    fn on_loss_signal(&mut self, cause: Cause, opens: bool, view: &View) {
        if opens {
            self.episode = match cause {
                // Without SACK, the oldest segment is suspected.
                Cause::FastRetransmit => Episode::Signalled { suspected: self.reported.max(view.una + 1) },
                Cause::Timeout => Episode::Idle,
            };
        }
        if cause == Cause::Timeout {
            self.reported = 0;
        }
    }

    fn is_idle(&self) -> bool {
        self.episode == Episode::Idle
            && self.due.is_none()
            && self.eifel.is_idle()
            && self.f_rto.is_idle()
            && self.dsack.is_idle()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens, .. } => {
                if *opens {
                    self.episode = Episode::Open { first: transmission.positions(), genuine: None };
                }
                self.eifel.observe(fact, view);
                self.f_rto.observe(fact, view);
                self.dsack.observe(fact, view);
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.on_ack(acked, view),
            Fact::NotProbed(_) => {
                let forward = self.f_rto.observe(fact, view);
                self.judge(Judgement::Undecided, forward, Judgement::Undecided)
            }
        }
    }
}
