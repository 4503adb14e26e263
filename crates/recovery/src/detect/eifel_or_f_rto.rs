//! *Looks at* the timestamp that the first acceptable ACK echoes. After a timeout, the echo may be
//! older than the retransmission's timestamp but not be the original's. Then it also looks at the
//! next ACK, which follows up to two new segments.
//! *Decides* spurious when the original's own timestamp is echoed. It also decides spurious when
//! the second echo too is older than the retransmission's, and the second ACK newly reports
//! outstanding data. Otherwise it decides as eifel-timestamps does.
//! *Blind to* an original whose ACK was lost: after a fast retransmit, without new data, and where
//! everything is acknowledged at once. It is also blind to a receiver that lies in two ACKs, which
//! works only after a timeout.
//! *From* RFC 3522, section 3.4; RFC 5682, sections 2.1 and 3.1, for the second ACK. The
//! combination is this project's.

use super::by_timestamps::{Proof, UNPROVEN};
use super::eifel_timestamps::EifelTimestamps;
use super::rto_recovery::without_probe;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Echo, Fact, Kind};
use crate::registry::{Entry, Need};
use crate::view::View;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-or-f-rto",
    summary: "the original's timestamp; if an older one comes after a timeout, the second ACK decides, as in F-RTO",
    source: "RFC 3522 and RFC 5682",
    needs: Some(Need::Timestamps),
    probes: true,
    ..Entry::detector(|_| Box::new(EifelOrFRto::default()))
};

/// Eifel detection by the original's timestamp, with F-RTO's test of a second ACK after a timeout.
#[derive(Clone, Debug)]
pub struct EifelOrFRto {
    eifel: EifelTimestamps,
    /// TSval of the retransmission that opened the episode; `None` unless a timeout opened it.
    timeout: Option<Timestamp>,
    /// State to judge the second ACK by; `None` unless the detector waits for it.
    asked: Option<Asked>,
}

/// State of F-RTO's step 3.
#[derive(Clone, Copy, Debug)]
struct Asked {
    retransmit_ts: Timestamp,
    recovery_point: u64,
}

impl Default for EifelOrFRto {
    fn default() -> Self {
        Self { eifel: EifelTimestamps::new(Proof::Original), timeout: None, asked: None }
    }
}

impl EifelOrFRto {
    /// Asks for new data, if the first ACK may be that of a later original. Otherwise judges
    /// genuine.
    fn ask(&mut self, acked: &Acked, view: &View) -> Judgement {
        let settled = Judgement::Settled(Outcome::Genuine, UNPROVEN);
        let Some(retransmit_ts) = self.timeout.filter(|_| !acked.all) else { return settled };
        self.asked = Some(Asked { retransmit_ts, recovery_point: view.nxt });
        Judgement::Probe
    }

    /// Judges by the second ACK.
    fn answered(&mut self, acked: &Acked, asked: Asked, view: &View) -> Judgement {
        let reports = acked.sacked > 0 && view.sack && acked.dsacks.is_empty();
        let news = acked.bytes > 0 || reports;
        self.asked = None;
        let older = matches!(acked.echo, Some(Echo::Known { value, .. }) if value.precedes(asked.retransmit_ts));
        let before_new = acked.cumulative.max(acked.sacked_up_to) <= asked.recovery_point;
        let (outcome, reason) = if !before_new {
            (Outcome::Genuine, "the new data are reported before what was outstanding")
        } else if !older {
            (Outcome::Genuine, "the second ACK echoes the retransmission")
        } else if !news {
            (Outcome::Genuine, "the second ACK brings no news")
        } else {
            (Outcome::Spurious, "what was outstanding arrives, and no echo is a retransmission's")
        };
        Judgement::Settled(outcome, reason)
    }
}

impl Detector for EifelOrFRto {
    fn is_idle(&self) -> bool {
        self.eifel.is_idle() && self.asked.is_none()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        let proven = self.eifel.observe(fact, view);
        match (fact, self.asked) {
            (Fact::Retransmitted { transmission, stamp, opens: true, .. }, _) => {
                self.timeout = stamp.filter(|_| transmission.kind == Kind::Retransmission(Cause::Timeout));
                self.asked = None;
                Judgement::Undecided
            }
            (Fact::Acked(acked), Some(asked)) if proven == Judgement::Undecided => self.answered(acked, asked, view),
            (Fact::Acked(acked), None) if proven == Judgement::Settled(Outcome::Genuine, UNPROVEN) => {
                self.ask(acked, view)
            }
            (Fact::NotProbed(refusal), Some(_)) => {
                self.asked = None;
                without_probe(*refusal)
            }
            _ => proven,
        }
    }
}
