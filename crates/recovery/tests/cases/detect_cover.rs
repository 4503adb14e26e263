//! Eifel detection for SCTP, called by itself: the SCTP paper's figure 5, and each step of figure 6.

use eifel_base::time::Duration;
use eifel_base::units::Timestamp;
use eifel_recovery::detect::{Detector, Judgement, Outcome};
use eifel_recovery::fact::{Acked, Block, Cause, Echo, Fact, Kind, Mark, Transmission, TxId};
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::script::view;

const TIMESTAMPS: &str = "eifel-cover-timestamps";
const BIT: &str = "eifel-cover-bit";
/// The timestamp of every retransmission. Originals were sent with 0.
const AGAIN: u32 = 1000;

/// The kind of packet that an ACK answers.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Answers {
    Original,
    Retransmission,
}

struct Case {
    detector: Box<dyn Detector>,
    view: View,
    opened: bool,
}

impl Case {
    /// Creates the paper's detector.
    fn new(name: &str) -> Self {
        let mut choice = Choice::named(name);
        if name != BIT {
            choice.parameters.push(("proof".into(), Value::Word("older".into())));
        }
        Self::of(&choice)
    }

    /// Creates the detector that asks for the original's own timestamp.
    fn safe() -> Self {
        Self::of(&Choice::named(TIMESTAMPS))
    }

    fn of(choice: &Choice) -> Self {
        let detector = part::detector(choice).expect("a known name");
        Self { detector, view: view(&RoundTrips::new(true)), opened: false }
    }

    /// Retransmits these TSNs. The original of each was sent with its TSN as timestamp, or with 0.
    fn again(mut self, cause: Cause, tsns: impl IntoIterator<Item = u64>) -> Self {
        for tsn in tsns {
            let kind = Kind::Retransmission(cause);
            let transmission = Transmission { id: TxId(100 + tsn), start: tsn, len: 1, kind, copy: 1 };
            let opens = !std::mem::replace(&mut self.opened, true);
            let (stamp, original) = (Some(Timestamp(AGAIN)), Some(Timestamp(tsn as u32)));
            let fact = Fact::Retransmitted { transmission: &transmission, stamp, original, opens };
            assert_eq!(self.detector.observe(&fact, &self.view), Judgement::Undecided);
        }
        self
    }

    /// Takes a SACK of all TSNs below `cumulative`, with these duplicates.
    fn sack(&mut self, cumulative: u64, duplicates: &[u64], answers: Answers) -> Option<Outcome> {
        let (value, mark) = match answers {
            Answers::Original => (0, Mark::Original),
            Answers::Retransmission => (AGAIN, Mark::Retransmission),
        };
        let echo = Echo::Known { value: Timestamp(value), age: Duration::from_millis(1) };
        match self.judges(cumulative, duplicates, (echo, mark)) {
            Judgement::Undecided => None,
            Judgement::Settled(outcome, _) => Some(outcome),
            other => panic!("{other:?}"),
        }
    }

    /// Takes a SACK that echoes this timestamp.
    fn echoed(&mut self, cumulative: u64, value: u32) -> Judgement {
        let echo = Echo::Known { value: Timestamp(value), age: Duration::from_millis(1) };
        self.judges(cumulative, &[], (echo, Mark::Original))
    }

    fn judges(&mut self, cumulative: u64, duplicates: &[u64], (echo, mark): (Echo, Mark)) -> Judgement {
        let dsacks: Vec<Block> = duplicates.iter().map(|tsn| Block { start: *tsn, end: tsn + 1 }).collect();
        let acked = Acked { cumulative, dsacks: &dsacks, echo: Some(echo), mark: Some(mark), ..Acked::default() };
        self.detector.observe(&Fact::Acked(&acked), &self.view)
    }
}

/// Figure 5: DATA 11 is late, DATA 12 is lost, and both are retransmitted in one packet. The SACK
/// of the late DATA 11 answers an original but is no cover ACK. The cover ACK answers the
/// retransmission.
#[test]
fn a_loss_that_is_bundled_with_a_late_chunk_is_not_called_spurious() {
    for name in [TIMESTAMPS, BIT] {
        let mut case = Case::new(name).again(Cause::FastRetransmit, [11, 12]);
        assert_eq!(case.sack(12, &[], Answers::Original), None, "{name}");
        assert_eq!(case.sack(16, &[11], Answers::Retransmission), Some(Outcome::Genuine), "{name}");
    }
    // RFC 3522's algorithm, which knows no cover ACKs, believes the first SACK.
    let mut plain = Case::new("eifel-timestamps").again(Cause::FastRetransmit, [11, 12]);
    assert_eq!(plain.sack(12, &[], Answers::Original), Some(Outcome::Spurious));
}

#[test]
fn the_cover_ack_of_originals_is_spurious() {
    for (name, cause) in [(TIMESTAMPS, Cause::Timeout), (BIT, Cause::Timeout), (TIMESTAMPS, Cause::FastRetransmit)] {
        let mut case = Case::new(name).again(cause, [11, 12]);
        assert_eq!(case.sack(12, &[], Answers::Original), None);
        assert_eq!(case.sack(13, &[], Answers::Original), Some(Outcome::Spurious));
        assert_eq!(case.sack(14, &[], Answers::Original), None, "it has judged");
    }
}

/// Step 3 goes back to step 2: the cover ACK must then cover later retransmissions too.
#[test]
fn an_ack_that_is_no_cover_ack_sets_max_retransmit_again() {
    for name in [TIMESTAMPS, BIT] {
        let mut case = Case::new(name).again(Cause::Timeout, [11]);
        assert_eq!(case.sack(11, &[], Answers::Original), None);
        let mut case = case.again(Cause::Timeout, [12, 13]);
        // MaxRetransmit was set in step 2, before 12 and 13 were retransmitted: 11 is covered.
        assert_eq!(case.sack(12, &[], Answers::Original), Some(Outcome::Spurious), "{name}");
        let mut case = Case::new(name).again(Cause::Timeout, [11, 12]);
        assert_eq!(case.sack(11, &[], Answers::Original), None);
        let mut case = case.again(Cause::Timeout, [13]);
        assert_eq!(case.sack(12, &[], Answers::Original), None, "step 2 again, now up to 13");
        assert_eq!(case.sack(13, &[], Answers::Original), None, "{name}");
        assert_eq!(case.sack(14, &[], Answers::Original), Some(Outcome::Spurious), "{name}");
    }
}

/// In fast recovery, the cover ACK has to cover what the ACK before it made leave (section 4).
#[test]
fn a_late_chunk_does_not_cover_one_that_its_sack_made_leave() {
    for name in [TIMESTAMPS, BIT] {
        let mut case = Case::new(name).again(Cause::FastRetransmit, [11]);
        assert_eq!(case.sack(11, &[], Answers::Original), None);
        // 11 was late, 13 is lost.
        let mut case = case.again(Cause::FastRetransmit, [13]);
        assert_eq!(case.sack(13, &[], Answers::Original), None, "{name}");
        assert_eq!(case.sack(17, &[], Answers::Retransmission), Some(Outcome::Genuine), "{name}");
    }
}

/// Step 5: all ACKs of the originals were lost if the first ACK after a timeout has three
/// properties. It covers all, it reports all retransmissions as duplicates, and it echoes an
/// original, because duplicates do not renew the echo.
#[test]
fn if_all_acks_were_lost_the_timeout_was_needed() {
    let genuine = Some(Outcome::Genuine);
    let spurious = Some(Outcome::Spurious);
    let judged = |cause, duplicates: &[u64]| {
        Case::new(TIMESTAMPS).again(cause, [11, 12]).sack(13, duplicates, Answers::Original)
    };
    assert_eq!(judged(Cause::Timeout, &[11, 12]), genuine);
    assert_eq!(judged(Cause::Timeout, &[11]), spurious, "not up to MaxRetransmit");
    assert_eq!(judged(Cause::FastRetransmit, &[11, 12]), spurious, "only after a timeout");
    // AckRcvd: an ACK of the originals has come after all.
    let mut case = Case::new(TIMESTAMPS).again(Cause::Timeout, [11, 12]);
    assert_eq!(case.sack(12, &[], Answers::Original), None);
    assert_eq!(case.sack(13, &[11, 12], Answers::Original), spurious);
}

fn settled(judgement: Judgement) -> Outcome {
    match judgement {
        Judgement::Settled(outcome, _) => outcome,
        other => panic!("{other:?}"),
    }
}

/// RFC 3522, section 3.4, for several retransmissions: the ACK of each has to echo its own original's timestamp.
#[test]
fn the_safe_variant_asks_for_each_originals_own_timestamp() {
    let mut case = Case::safe().again(Cause::Timeout, [11, 12]);
    assert_eq!(case.echoed(12, 11), Judgement::Undecided, "12 is not covered");
    assert_eq!(settled(case.echoed(13, 12)), Outcome::Spurious);
    // The echo is older than the first retransmission, but it is a neighbour's and not the
    // original's.
    assert_eq!(settled(Case::safe().again(Cause::Timeout, [11]).echoed(13, 12)), Outcome::Genuine);
    // One ACK covers both: it proves at most one.
    assert_eq!(settled(Case::safe().again(Cause::Timeout, [11, 12]).echoed(13, 11)), Outcome::Genuine);
    assert_eq!(settled(Case::safe().again(Cause::Timeout, [11]).echoed(12, AGAIN)), Outcome::Genuine);
    // An ACK without proof decides, before the cover ACK comes.
    let mut case = Case::safe().again(Cause::Timeout, [11, 12]);
    assert_eq!(settled(case.echoed(12, 10)), Outcome::Genuine);
    assert_eq!(case.echoed(13, 12), Judgement::Undecided, "it has judged");
}

/// A retransmission after the cover ACK's MaxRetransmit was set reverts the undo, unless an ACK
/// proves its original.
#[test]
fn a_later_retransmission_without_proof_is_a_genuine_loss_in_a_spurious_episode() {
    let spurious = |later: [u64; 2]| {
        let mut case = Case::safe().again(Cause::Timeout, [11]);
        assert_eq!(case.echoed(11, 10), Judgement::Undecided);
        let mut case = case.again(Cause::Timeout, later);
        assert_eq!(settled(case.echoed(12, 11)), Outcome::Spurious);
        case
    };
    let mut case = spurious([12, 13]);
    assert_eq!(case.echoed(13, 12), Judgement::Undecided);
    assert_eq!(case.echoed(14, 13), Judgement::Undecided);
    let mut case = spurious([12, 13]);
    assert!(matches!(case.echoed(14, 12), Judgement::GenuineLossWithin(_)));
    assert_eq!(case.echoed(15, 1), Judgement::Undecided, "once");
}

#[test]
fn three_echoes_of_timestamps_never_sent_dismiss_the_detector() {
    let forge = |case: &mut Case, cumulative| case.judges(cumulative, &[], (Echo::Forged, Mark::Original));
    let mut case = Case::safe();
    for tsn in [11, 12] {
        case.opened = false;
        case = case.again(Cause::FastRetransmit, [tsn]);
        assert_eq!(settled(forge(&mut case, tsn + 1)), Outcome::Genuine);
    }
    case.opened = false;
    case = case.again(Cause::FastRetransmit, [13]);
    assert!(matches!(forge(&mut case, 14), Judgement::Distrusted(_)));
}

/// The combination also passes on Eifel's judgements that are no verdicts.
#[test]
fn the_combination_passes_on_genuine_losses_and_distrust() {
    let mut case = Case::of(&Choice::named("eifel-cover-or-dsack")).again(Cause::Timeout, [11]);
    assert_eq!(case.echoed(11, 10), Judgement::Undecided);
    let mut case = case.again(Cause::Timeout, [12]);
    assert_eq!(settled(case.echoed(12, 11)), Outcome::Spurious);
    assert!(matches!(case.echoed(13, 11), Judgement::GenuineLossWithin(_)));
    let mut case = Case::of(&Choice::named("eifel-cover-or-dsack"));
    let mut last = Judgement::Undecided;
    for _ in 0..3 {
        last = case.judges(11, &[], (Echo::Forged, Mark::Original));
    }
    assert!(matches!(last, Judgement::Distrusted(_)));
}
