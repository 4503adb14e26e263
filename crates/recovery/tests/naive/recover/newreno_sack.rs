//! "Responding to Spurious Timeouts in TCP", section III.A: Reno-SACK that retransmits at least one segment on each partial
//! ACK, counted in pipe like any other.

use eifel_recovery::registry::{Choice, Value};

use super::compare_with;
use super::reno_sack::RenoSack;
use crate::sender::{Left, Next, Repair, Sender};

struct NewRenoSack {
    reno_sack: RenoSack,
    /// Whether every partial ACK triggers a retransmission.
    always: bool,
    /// Whether every partial ACK restarts the timer, or only the first (RFC 6582, section 4).
    every: bool,
    partials: u64,
    owed: bool,
}

impl Repair for NewRenoSack {
    fn begin(&mut self, sender: &mut Sender) {
        self.partials = 0;
        self.reno_sack.begin(sender);
    }

    fn duplicate(&mut self, sender: &mut Sender) {
        self.reno_sack.duplicate(sender);
    }

    fn partial(&mut self, sender: &mut Sender, acked: u64) -> bool {
        self.reno_sack.partial(sender, acked);
        self.owed |= self.always;
        self.partials += 1;
        self.every || self.partials == 1
    }

    fn full(&mut self, _: &mut Sender) {
        self.owed = false;
    }

    fn expired(&mut self) {
        self.owed = false;
    }

    fn sent(&mut self, left: &Left) {
        self.owed &= !left.again;
        self.reno_sack.sent(left);
    }

    fn next(&self, sender: &Sender, now: u64) -> Next {
        if self.owed {
            // A partial ACK shows that the segment at SND.UNA is missing, whatever the blocks.
            let highest = sender.highest_sacked().max(sender.una + 1);
            let hole = |index: &usize| {
                let segment = &sender.segments[*index];
                !segment.sacked && !segment.resent && segment.start < highest
            };
            return match (0..sender.segments.len()).find(hole) {
                Some(index) => Next::Owed(index),
                None => self.only_new(sender, now),
            };
        }
        self.reno_sack.next(sender, now)
    }
}

impl NewRenoSack {
    fn only_new(&self, sender: &Sender, now: u64) -> Next {
        let room = sender.congest.cwnd.saturating_sub(self.reno_sack.pipe);
        Next::New(sender.within_a_round_trip(now, room))
    }
}

/// Without a spurious verdict the precaution of section III.A never applies.
#[test]
fn newreno_sack_agrees_with_a_model_of_the_paper() {
    for (when, always) in [("always", true), ("after-spurious", false)] {
        for (restarts, every) in [("every", true), ("first", false)] {
            let choice = Choice::named("newreno-sack")
                .with("when", Value::Word(when.into()))
                .with("timer_restarts_on_partial", Value::Word(restarts.into()));
            let reno_sack = RenoSack { pipe: 0 };
            let mut repair = NewRenoSack { reno_sack, always, every, partials: 0, owed: false };
            compare_with(&choice, true, &mut repair, &Sender::new);
        }
    }
}
