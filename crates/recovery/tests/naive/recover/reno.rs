//! RFC 5681, section 3.2: fast retransmit and fast recovery.

use eifel_recovery::registry::{Choice, Value};

use super::late::Late;
use super::{compare, compare_with};
use crate::sender::{DUP_THRESH, MSS, Next, Phase, Repair, Sender};

/// The inflation of the window in bytes, for all duplicates.
struct Reno {
    inflation: u64,
    /// The inflation, limited to the outstanding segments.
    left: u64,
}

impl Repair for Reno {
    /// Steps 2 and 3: cwnd is ssthresh plus the three segments that have left the network.
    fn begin(&mut self, _: &mut Sender) {
        self.inflation = DUP_THRESH * MSS;
    }

    /// Step 4: plus one segment for each further duplicate.
    fn duplicate(&mut self, _: &mut Sender) {
        self.inflation += MSS;
    }

    /// Step 6: an ACK of new data ends it.
    fn partial(&mut self, sender: &mut Sender, _: u64) -> bool {
        sender.phase = Phase::Open;
        true
    }

    fn update(&mut self, sender: &mut Sender) {
        self.left = self.inflation.min(sender.segments.len() as u64 * MSS);
    }

    /// Step 5: new data, if the window allows.
    fn next(&self, sender: &Sender, now: u64) -> Next {
        let room = (sender.congest.cwnd + self.left).saturating_sub(sender.outstanding());
        Next::New(sender.within_a_round_trip(now, room))
    }
}

/// Ludwig, chapter 5, sections 5.4.5 and 5.4.6.
#[test]
fn reno_without_late_fast_retransmits_agrees_with_a_model_of_the_thesis() {
    let choice = Choice::named("reno").with("suppress_late_fast_retransmit", Value::Switch(true));
    let new = |timestamps| {
        let mut sender = Sender::new(timestamps);
        sender.late = Some(Late::default());
        sender
    };
    compare_with(&choice, false, &mut Reno { inflation: 0, left: 0 }, &new);
}

#[test]
fn reno_agrees_with_a_model_of_rfc_5681() {
    compare("reno", false, &mut Reno { inflation: 0, left: 0 });
}
