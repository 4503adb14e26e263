//! RFC 6582, section 3.2.

use super::compare;
use crate::sender::{DUP_THRESH, Left, MSS, Next, Repair, Sender};

/// The inflation of cwnd beyond ssthresh, in bytes. A partial ACK may make it negative.
#[derive(Default)]
struct NewReno {
    inflation: i64,
    partials: u64,
    /// New bytes that may still be sent for the last ACK.
    may: u64,
}

impl Repair for NewReno {
    /// Step 2, as RFC 5681, section 3.2, steps 2 and 3.
    fn begin(&mut self, _: &mut Sender) {
        self.inflation = (DUP_THRESH * MSS) as i64;
        self.partials = 0;
        self.may = MSS;
    }

    /// No more segments can have left the network than are outstanding. RFC 5681, section 3.2, step
    /// 5: 1*SMSS of new data.
    fn duplicate(&mut self, sender: &mut Sender) {
        self.inflation = (self.inflation + MSS as i64).min((MSS * sender.segments.len() as u64) as i64);
        self.may = MSS;
    }

    /// Step 3, partial acknowledgements: retransmits the first unacknowledged segment. cwnd falls
    /// by the acknowledged bytes, and rises by one segment if those were at least a segment. "Send
    /// a new segment". Only the first restarts the timer.
    fn partial(&mut self, sender: &mut Sender, acked: u64) -> bool {
        sender.owed = true;
        self.inflation -= acked as i64;
        if acked >= MSS {
            self.inflation += MSS as i64;
        }
        self.may = MSS;
        self.partials += 1;
        self.partials == 1
    }

    /// Step 3, full acknowledgements, option 1: cwnd is min (ssthresh, max (FlightSize, SMSS) + SMSS).
    fn full(&mut self, sender: &mut Sender) {
        let flight = if sender.outstanding() > MSS { sender.outstanding() } else { MSS };
        sender.congest.cwnd = sender.congest.cwnd.min(flight + MSS);
    }

    fn next(&self, sender: &Sender, now: u64) -> Next {
        let cwnd = (sender.congest.cwnd as i64 + self.inflation).max(0) as u64;
        Next::New(self.may.min(sender.within_a_round_trip(now, cwnd.saturating_sub(sender.outstanding()))))
    }

    fn sent(&mut self, left: &Left) {
        if !left.again {
            self.may = self.may.saturating_sub(left.end - left.start);
        }
    }
}

#[test]
fn newreno_agrees_with_a_model_of_rfc_6582() {
    compare("newreno", false, &mut NewReno::default());
}

/// RFC 8985 needs SACK.
#[test]
fn rack_tlp_without_sack_agrees_with_a_model_of_newreno() {
    compare("rack-tlp", false, &mut NewReno::default());
}
