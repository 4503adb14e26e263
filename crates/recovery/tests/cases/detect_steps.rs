//! RFC 3522, section 3.2, step by step, fact by fact, without an engine.

use eifel_base::units::Timestamp;
use eifel_recovery::detect::eifel_timestamps::{EifelTimestamps, Proof};
use eifel_recovery::detect::{Detector, Judgement, Outcome, none};
use eifel_recovery::fact::{Acked, Block, Cause, Echo, Fact, Kind, Transmission, TxId};
use eifel_recovery::rtt::RoundTrips;

use crate::script::view;
use crate::talk::ms;

const SPURIOUS: Judgement = Judgement::Settled(Outcome::Spurious, "echo older than the first retransmission");
const RETRANSMISSION: Judgement = Judgement::Settled(Outcome::Genuine, "echo of the retransmission");
const NO_ECHO: Judgement = Judgement::Settled(Outcome::Genuine, "no timestamp echoed");
const DSACK: Judgement = Judgement::Settled(Outcome::Genuine, "the first acceptable ACK carries a DSACK");
const ALL: Judgement = Judgement::Settled(Outcome::Genuine, "all acknowledged at once: ACKs may have been lost");

/// Opens an episode: segment `start..start + 1000` is retransmitted with this TSval.
fn opens(detector: &mut dyn Detector, start: u64, stamp: Option<u32>) {
    sent(detector, start, stamp, true);
}

/// Retransmits segment `start..start + 1000` with this TSval, within an episode.
fn follows(detector: &mut dyn Detector, start: u64, stamp: Option<u32>) {
    sent(detector, start, stamp, false);
}

fn sent(detector: &mut dyn Detector, start: u64, stamp: Option<u32>, opens: bool) {
    let kind = Kind::Retransmission(Cause::Timeout);
    let transmission = Transmission { id: TxId(7), start, len: 1000, kind, copy: 1 };
    let stamp = stamp.map(Timestamp);
    let fact = Fact::Retransmitted { transmission: &transmission, stamp, original: None, opens };
    assert_eq!(detector.observe(&fact, &view(&RoundTrips::new(true))), Judgement::Undecided);
}

fn acked(cumulative: u64, echo: Option<u32>) -> Acked<'static> {
    let echo = echo.map(|value| Echo::Known { value: Timestamp(value), age: ms(1) });
    Acked { cumulative, bytes: 1000, echo, ..Acked::default() }
}

fn observe(detector: &mut dyn Detector, acked: Acked) -> Judgement {
    detector.observe(&Fact::Acked(&acked), &view(&RoundTrips::new(true)))
}

/// Creates a detector for which segment 1001 was retransmitted with TSval 500.
fn waiting() -> EifelTimestamps {
    let mut detector = EifelTimestamps::new(Proof::Older);
    opens(&mut detector, 1001, Some(500));
    detector
}

const SOME_BLOCK: &[Block] = &[Block { start: 1, end: 1001 }];

/// [rfc3522:3.2.1] [rfc3522:3.2.a]
#[test]
fn an_ack_without_a_retransmission_gives_no_verdict() {
    assert_eq!(observe(&mut EifelTimestamps::new(Proof::Older), acked(2001, Some(0))), Judgement::Undecided);
    let mut detector = EifelTimestamps::new(Proof::Older);
    follows(&mut detector, 1001, Some(500));
    assert_eq!(observe(&mut detector, acked(2001, Some(0))), Judgement::Undecided);
}

#[test]
fn step_2_a_retransmission_without_a_timestamp_is_not_judged() {
    let mut detector = waiting();
    opens(&mut detector, 1001, None);
    assert_eq!(observe(&mut detector, acked(2001, Some(0))), Judgement::Undecided);
}

/// [rfc3522:3.2.2] [rfc3522:3.2.b]
#[test]
fn step_2_a_later_retransmission_does_not_overwrite_retransmit_ts() {
    let mut detector = waiting();
    follows(&mut detector, 1001, Some(700));
    assert_eq!(observe(&mut detector, acked(2001, Some(500))), RETRANSMISSION);
}

/// [rfc3522:3.2.3]
#[test]
fn step_3_waits_for_an_ack_of_new_data() {
    let mut detector = waiting();
    for _ in 0..3 {
        assert_eq!(observe(&mut detector, acked(1001, Some(0))), Judgement::Undecided);
    }
    assert_eq!(observe(&mut detector, acked(2001, Some(0))), SPURIOUS);
}

#[test]
fn step_3_a_part_of_the_segment_is_new_data() {
    assert_eq!(observe(&mut waiting(), acked(1002, Some(499))), SPURIOUS);
    assert_eq!(observe(&mut waiting(), acked(1002, Some(500))), RETRANSMISSION);
}

/// [rfc3522:3.2.4]
#[test]
fn step_4_compares_strictly() {
    assert_eq!(observe(&mut waiting(), acked(2001, Some(499))), SPURIOUS);
    // An original sent in the retransmission's tick has this timestamp too. RFC 3522 takes the echo
    // for the retransmission's.
    assert_eq!(observe(&mut waiting(), acked(2001, Some(500))), RETRANSMISSION);
    assert_eq!(observe(&mut waiting(), acked(2001, Some(501))), RETRANSMISSION);
    assert_eq!(observe(&mut waiting(), acked(2001, None)), NO_ECHO);
}

#[test]
fn step_4_compares_timestamps_modulo_2_to_32() {
    let mut detector = EifelTimestamps::new(Proof::Older);
    opens(&mut detector, 1001, Some(5));
    assert_eq!(observe(&mut detector, acked(2001, Some(u32::MAX - 5))), SPURIOUS);
    let mut detector = EifelTimestamps::new(Proof::Older);
    opens(&mut detector, 1001, Some(u32::MAX - 5));
    assert_eq!(observe(&mut detector, acked(2001, Some(5))), RETRANSMISSION);
}

#[test]
fn step_5_a_dsack_on_the_acceptable_ack_means_genuine() {
    assert_eq!(observe(&mut waiting(), Acked { dsacks: SOME_BLOCK, ..acked(2001, Some(0)) }), DSACK);
    assert_eq!(observe(&mut waiting(), Acked { dsacks: SOME_BLOCK, all: true, ..acked(2001, Some(0)) }), DSACK);
    // Step 4 comes first.
    assert_eq!(observe(&mut waiting(), Acked { dsacks: SOME_BLOCK, ..acked(2001, Some(500)) }), RETRANSMISSION);
}

/// [rfc3522:3.2.5] [rfc3522:3.2.6]
#[test]
fn step_5_an_ack_of_everything_counts_only_from_a_peer_that_has_sent_a_dsack() {
    let all = Acked { all: true, ..acked(11_001, Some(0)) };
    assert_eq!(observe(&mut waiting(), all), ALL);

    // Before the retransmission.
    let mut detector = EifelTimestamps::new(Proof::Older);
    observe(&mut detector, Acked { dsacks: SOME_BLOCK, ..acked(1001, Some(0)) });
    opens(&mut detector, 1001, Some(500));
    assert_eq!(observe(&mut detector, all), SPURIOUS);

    // After it, on an ACK that is not acceptable.
    let mut detector = waiting();
    observe(&mut detector, Acked { dsacks: SOME_BLOCK, ..acked(1001, Some(0)) });
    assert_eq!(observe(&mut detector, all), SPURIOUS);

    // In an earlier episode.
    let mut detector = waiting();
    assert_eq!(observe(&mut detector, Acked { dsacks: SOME_BLOCK, ..acked(2001, Some(0)) }), DSACK);
    opens(&mut detector, 2001, Some(900));
    assert_eq!(observe(&mut detector, all), SPURIOUS);
}

#[test]
fn an_episode_gets_one_verdict() {
    let mut detector = waiting();
    assert_eq!(observe(&mut detector, acked(2001, Some(0))), SPURIOUS);
    assert_eq!(observe(&mut detector, acked(3001, Some(0))), Judgement::Undecided);
    opens(&mut detector, 3001, Some(900));
    assert_eq!(observe(&mut detector, acked(4001, Some(899))), SPURIOUS);
    opens(&mut detector, 4001, Some(950));
    assert_eq!(observe(&mut detector, acked(5001, Some(950))), RETRANSMISSION);
}

#[test]
fn a_new_episode_replaces_one_without_a_verdict() {
    // A fast retransmit, then a timeout of the same segment: the detector judges the timeout's
    // retransmission.
    let mut detector = waiting();
    opens(&mut detector, 1001, Some(1500));
    assert_eq!(observe(&mut detector, acked(2001, Some(500))), SPURIOUS);
}

#[test]
fn the_detector_none_never_judges() {
    let mut detector = none::None;
    assert!(!detector.judges());
    opens(&mut detector, 1001, Some(500));
    let all = Acked { all: true, dsacks: SOME_BLOCK, ..acked(2001, Some(0)) };
    assert_eq!(observe(&mut detector, all), Judgement::Undecided);
}
