//! RFC 6675, sections 4 and 5.

use eifel_recovery::registry::{Choice, Value};

use super::prr::Prr;
use super::{compare, compare_with};
use crate::sender::{DUP_THRESH, Left, MSS, Next, Repair, Segment, Sender};

pub struct Rfc6675 {
    /// RescueRxt, exclusive: the first position beyond it.
    rescue_rxt: Option<u64>,
    /// PRR, if the flight falls in proportion to deliveries.
    prr: Option<Prr>,
    /// DupThresh, as a fraction. RFC 4653's need not be whole.
    pub dup_thresh: (u64, u64),
}

impl Rfc6675 {
    pub fn new() -> Self {
        Self { rescue_rxt: None, prr: None, dup_thresh: (DUP_THRESH, 1) }
    }
}

/// IsLost (SeqNum): DupThresh discontiguous SACKed sequences have arrived above it, or more than (DupThresh - 1) * SMSS
/// bytes with sequence numbers above it have been SACKed.
fn is_lost(sender: &Sender, (threshold, of): (u64, u64), index: usize) -> bool {
    let (mut sequences, mut bytes, mut within) = (0, 0, false);
    for above in &sender.segments[index + 1..] {
        sequences += u64::from(above.sacked && !within);
        within = above.sacked;
        bytes += if above.sacked { above.len() } else { 0 };
    }
    sequences * of >= threshold || bytes * of > (threshold - of) * MSS
}

impl Repair for Rfc6675 {
    fn by_sack(&self) -> bool {
        true
    }

    /// Section 5, step (2): IsLost (HighACK + 1).
    fn begins_early(&self, sender: &Sender) -> bool {
        is_lost(sender, self.dup_thresh, 0)
    }

    /// Step (4.3): the first segment is retransmitted, and HighRxt and RescueRxt are its highest
    /// sequence number.
    fn begin(&mut self, sender: &mut Sender) {
        self.rescue_rxt = sender.segments.first().map(|first| first.end);
        if let Some(prr) = &mut self.prr {
            prr.begin(sender);
        }
    }

    fn heard(&mut self, _: &Sender, delivered: u64) {
        if let Some(prr) = &mut self.prr {
            prr.heard(delivered);
        }
    }

    fn sent(&mut self, left: &Left) {
        if let Some(prr) = &mut self.prr {
            prr.sent(left.end - left.start);
        }
    }

    fn partial(&mut self, _: &mut Sender, _: u64) -> bool {
        if let Some(prr) = &mut self.prr {
            prr.advances();
        }
        true
    }

    fn update(&mut self, sender: &mut Sender) {
        let under_way = |segment: &Segment| !segment.lost && !segment.sacked;
        let before: Vec<u64> = sender.segments.iter().filter(|one| under_way(one)).map(|one| one.start).collect();
        if let Some(highest) = (0..sender.segments.len())
            .rfind(|&index| !sender.segments[index].sacked && is_lost(sender, self.dup_thresh, index))
        {
            // SACKed segments in between do not matter, unless the peer reneges.
            for segment in &mut sender.segments[..=highest] {
                segment.lost = true;
            }
        }
        if let Some(prr) = &mut self.prr {
            let further = sender.segments.iter().any(|one| one.lost && before.contains(&one.start));
            prr.update(sender, sender.pipe(), further);
        }
    }

    /// Step (C): NextSeg () while cwnd - pipe >= 1 SMSS.
    fn next(&self, sender: &Sender, _: u64) -> Next {
        let cwnd = match &self.prr {
            Some(prr) => prr.cwnd,
            None => sender.congest.cwnd,
        };
        let room = cwnd.saturating_sub(sender.pipe());
        let highest = sender.highest_sacked();
        let above_high_rxt = |index: usize| !sender.segments[index].sacked && !sender.segments[index].resent;
        let within = |index: usize| sender.segments[index].start < highest;
        let all = 0..sender.segments.len();
        // (1). Segments found lost stay lost if the peer reneges.
        let lost = |index: usize| sender.segments[index].lost;
        if let Some(index) = all.clone().find(|&index| above_high_rxt(index) && within(index) && lost(index)) {
            return Next::Again(index, room);
        }
        // (2)
        if sender.end > sender.nxt {
            return Next::New(room);
        }
        // (3)
        if let Some(index) = all.clone().find(|&index| above_high_rxt(index) && within(index)) {
            return Next::Again(index, room);
        }
        // (4): HighACK is greater than RescueRxt, or RescueRxt is undefined.
        if self.rescue_rxt.is_none_or(|rescue| sender.una > rescue)
            && let Some(index) = all.rev().find(|&index| !sender.segments[index].sacked)
        {
            return Next::Rescue(index, room);
        }
        Next::New(room)
    }

    /// RescueRxt is set to RecoveryPoint.
    fn rescued(&mut self, sender: &Sender) {
        if let crate::sender::Phase::FastRecovery { point } = sender.phase {
            self.rescue_rxt = Some(point);
        }
    }
}

#[test]
fn rfc_6675_agrees_with_a_model_of_its_text_over_random_operations() {
    compare("rfc6675", true, &mut Rfc6675::new());
}

#[test]
fn prr_agrees_with_a_model_of_rfc_9937() {
    let choice = Choice::named("rfc6675").with("reduction", Value::Word("prr".into()));
    let mut repair = Rfc6675 { prr: Some(Prr::default()), ..Rfc6675::new() };
    compare_with(&choice, true, &mut repair, &Sender::new);
}
