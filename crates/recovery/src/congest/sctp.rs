//! *Looks at* chunks that a SACK acknowledges or reports, at losses, and at how long a path was
//! idle.
//! *Decides* on slow start up to ssthresh, then on one packet more for each acknowledged window.
//! After a loss it halves cwnd.
//! *Blind to* delay, and to why a chunk was lost.
//! *From* RFC 9260, sections 7.2.1 to 7.2.3; RFC 2960, the same sections.

use super::reno::Repeated;
use super::{Congest, Idle, Loss, Progress, Window};
use crate::registry::{Entry, Parameter};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "sctp",
    summary: "SCTP's: slow start, then one packet for each window acknowledged; halving, to four packets at least",
    source: "RFC 9260",
    parameters: &[
        Parameter::word(
            "repeated_timeout",
            "effect of a further timeout of the same chunk on ssthresh: the window of one packet is halved too, which \
             leaves the least ssthresh (RFC 9260), or none (RFC 5681, ns-2)",
            "reduce",
            &["reduce", "hold"],
        ),
        Parameter::word(
            "rules",
            "the initial window and the least ssthresh: four packets, the former within 4404 bytes (RFC 9260), or two \
             (RFC 2960)",
            "rfc9260",
            &["rfc9260", "rfc2960"],
        ),
    ],
    ..Entry::congest(|parameters| {
        let repeated = [("reduce", Repeated::Reduce), ("hold", Repeated::Hold)];
        let least = [("rfc9260", 4), ("rfc2960", 2)];
        let sctp = Sctp::new(parameters.word("repeated_timeout", &repeated));
        Box::new(Sctp { least: parameters.word("rules", &least), ..sctp })
    })
};

/// SCTP's window, one for each path. A full segment is PMDCS here: the bytes of chunks in a packet.
#[derive(Clone, Debug)]
pub struct Sctp {
    repeated: Repeated,
    /// The least ssthresh in packets, and the most of the initial window.
    least: u64,
    /// partial_bytes_acked.
    partial: u64,
    /// Whether the window decays because the path is idle. ssthresh then holds the window that was
    /// in use.
    decays: bool,
}

impl Sctp {
    /// Creates a controller. `repeated` is the effect on ssthresh of a further timeout of the same
    /// chunk.
    pub fn new(repeated: Repeated) -> Self {
        Self { repeated, least: 4, partial: 0, decays: false }
    }
}

impl Default for Sctp {
    fn default() -> Self {
        Self::new(Repeated::Reduce)
    }
}

impl Congest for Sctp {
    fn initial(&mut self, pmdcs: u32) -> Window {
        let pmdcs = u64::from(pmdcs);
        // ssthresh is arbitrarily high [rfc8540:3.16].
        let cwnd = (self.least * pmdcs).min((2 * pmdcs).max(4404));
        Window { cwnd, ssthresh: u64::MAX }
    }

    fn on_ack(&mut self, now: &Window, &Progress { acked, sacked, flight, .. }: &Progress, view: &View) -> Window {
        let (pmdcs, delivered) = (u64::from(view.mss), acked + sacked);
        let used = flight >= now.cwnd;
        self.decays = false;
        if now.cwnd <= now.ssthresh {
            let grown = if used { delivered.min(pmdcs) } else { 0 };
            return Window { cwnd: now.cwnd + grown, ..*now };
        }
        // All that a SACK newly reports counts, even if the cumulative TSN does not advance
        // [rfc8540:3.22.a].
        self.partial += delivered;
        let mut cwnd = now.cwnd;
        if self.partial >= now.cwnd {
            // The acknowledged window is subtracted before cwnd grows [rfc8540:3.12]. A window that
            // was not used earns at most one packet later [rfc8540:3.26].
            if used {
                self.partial -= now.cwnd;
                cwnd += pmdcs;
            } else {
                self.partial = now.cwnd;
            }
        }
        if delivered >= flight {
            self.partial = 0;
        }
        Window { cwnd, ..*now }
    }

    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let pmdcs = u64::from(view.mss);
        // A timeout is a loss too [rfc8540:3.11].
        self.partial = 0;
        let ssthresh = match (loss.timeout_again, self.repeated) {
            (true, Repeated::Hold) => now.ssthresh,
            _ => (now.cwnd / 2).max(self.least * pmdcs),
        };
        loss.window(ssthresh, pmdcs)
    }

    fn on_undo(&mut self, _: &Window, _: &View) {}

    fn on_idle(&mut self, now: &Window, idle: &Idle) -> Window {
        let floor = self.least * u64::from(idle.mss);
        // [rfc8540:3.27]
        let ssthresh = if self.decays { now.ssthresh } else { now.cwnd };
        let halvings = idle.time.as_nanos() / idle.rto.as_nanos().max(1);
        self.decays = true;
        // A window that is already below the floor stays unchanged.
        let floor = floor.min(now.cwnd);
        let cwnd = (0..halvings.min(64)).fold(now.cwnd, |cwnd, _| (cwnd / 2).max(floor));
        Window { cwnd, ssthresh }
    }
}
