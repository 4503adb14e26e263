//! RFC 3522's comparison, RFC 5682 and RFC 3708 beside each other: spurious by whichever says so first. An old echo
//! without a DSACK for its retransmission is a contradiction, and three in a row end the trust in echoes until a DSACK
//! comes.

use eifel_recovery::fact::{Acked, Block, Echo, Refusal};
use eifel_recovery::registry::Choice;

use super::dsack::Dsack;
use super::f_rto_sack::Sack;
use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

#[derive(Default)]
struct Composite {
    f_rto: Sack,
    dsack: Dsack,
    /// Whether the episode waits for a verdict.
    open: bool,
    /// Whether something was said against a spurious episode.
    against: bool,
    /// The first retransmission, and its TSval until RFC 3522's step (3) is done.
    first: Option<Block>,
    tsval: Option<u32>,
    dsack_seen: bool,
    /// The retransmission whose DSACK is awaited.
    echoed: Option<Block>,
    /// Later ACKs that have to pass before a missing DSACK is a contradiction: the positions beyond
    /// which they acknowledge.
    awaited: Vec<u64>,
    contradictions: u32,
}

impl Composite {
    /// Counts a contradiction, or forgives all of them.
    fn look_for_report(&mut self, acked: &Acked, seen: &Seen) {
        let (Some(&beyond), Some(echoed)) = (self.awaited.last(), self.echoed) else { return };
        if acked.dsacks.iter().any(|dsack| dsack.start < echoed.end && echoed.start < dsack.end) {
            self.awaited.clear();
            self.contradictions = 0;
        } else if acked.cumulative > beyond {
            self.awaited.push(seen.nxt);
            if self.awaited.len() == 3 {
                self.awaited.clear();
                self.contradictions += 1;
            }
        }
    }

    /// RFC 3522, steps (3) to (6). The second value says whether the echo tells who was first.
    fn by_echo(&mut self, acked: &Acked) -> (Answer, bool) {
        let covers = self.first.is_some_and(|first| acked.cumulative > first.start);
        let Some(tsval) = self.tsval.filter(|_| covers) else {
            return (Answer::Undecided, false);
        };
        self.tsval = None;
        let Some(Echo::Known { value, .. }) = acked.echo else { return (Answer::Genuine, false) };
        let ahead = tsval.wrapping_sub(value.0);
        if ahead == 0 || ahead >= 1 << 31 {
            return (Answer::Genuine, true);
        }
        if !acked.dsacks.is_empty() || acked.all && !self.dsack_seen {
            return (Answer::Genuine, false);
        }
        (Answer::Spurious, true)
    }

    fn judged(&mut self, echo: Answer, forward: Answer, duplicates: Answer) -> Answer {
        if !self.open {
            return Answer::Undecided;
        }
        let believed = echo == Answer::Spurious && self.contradictions < 3;
        if believed || forward == Answer::Spurious || duplicates == Answer::Spurious {
            self.open = false;
            return Answer::Spurious;
        }
        self.against |= [echo, forward, duplicates].iter().any(|one| matches!(one, Answer::Genuine | Answer::Spurious));
        if forward == Answer::Probe {
            return Answer::Probe;
        }
        if self.tsval.is_some() || self.f_rto.is_in_progress() || self.dsack.is_waiting() {
            return Answer::Undecided;
        }
        self.open = false;
        match duplicates {
            Answer::Mixed(..) => duplicates,
            _ if self.against => Answer::Genuine,
            _ => Answer::Undecided,
        }
    }
}

impl Naive for Composite {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens {
            (self.open, self.against) = (true, false);
            self.tsval = again.stamp.map(|stamp| stamp.0);
            self.first = Some(Block { start: again.start(), end: again.end() });
        }
        self.f_rto.sent_again(again, seen);
        self.dsack.sent_again(again, seen);
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        self.look_for_report(acked, seen);
        let (echo, tells) = self.by_echo(acked);
        self.dsack_seen |= !acked.dsacks.is_empty();
        let mut forward = self.f_rto.acked(acked, seen);
        let duplicates = self.dsack.acked(acked, seen);
        if self.open {
            if echo == Answer::Spurious && self.awaited.is_empty() {
                (self.echoed, self.awaited) = (self.first, vec![seen.nxt]);
            }
            if forward == Answer::Probe && tells {
                forward = self.f_rto.not_probed(Refusal::Watches);
            }
        }
        self.judged(echo, forward, duplicates)
    }

    fn not_probed(&mut self, refusal: Refusal) -> Answer {
        let forward = self.f_rto.not_probed(refusal);
        self.judged(Answer::Undecided, forward, Answer::Undecided)
    }
}

#[test]
fn eifel_f_rto_dsack_agrees_with_a_model_of_its_three_sources() {
    compare(&Choice::named("eifel-f-rto-dsack"), &|_| Box::new(Composite::default()));
}
