//! RFC 5682, section 2.1, in an engine: each branch, and the segments sent on it.

use eifel_recovery::engine::Config;
use eifel_recovery::fact::{Acked, Cause, Fact, Kind, Transmission, TxId};
use eifel_recovery::registry::{Choice, part};
use eifel_recovery::rtt::RoundTrips;

use crate::judged::{check, named};
use crate::script::{UNSET, spike, text, view};
use crate::talk::{Talk, start};

const NAME: &str = "f-rto";
const SPURIOUS: &str = "the second ACK covers what was not sent again";
const DUPLICATE: &str = "the first ACK after the timeout is a duplicate";
const NOTHING_NEW: &str = "there is no new data to send";

#[test]
fn without_new_data_or_room_for_it_recovery_goes_on_as_ever() {
    for limits in [|talk: &mut Talk| talk.end = start(13), |talk: &mut Talk| talk.limit = start(13)] {
        let mut talk = spike(&named(NAME));
        limits(&mut talk);
        assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
        check(&mut talk, &[("Genuine", NOTHING_NEW)], (2000, 5500));
        assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
        check(&mut talk, &[], (3000, 5500));
    }
}

#[test]
fn one_new_segment_is_enough() {
    let mut talk = spike(&named(NAME));
    talk.end = start(14);
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "");
    check(&mut talk, &[("Spurious", SPURIOUS)], (12_000, UNSET));
}

#[test]
fn an_ack_of_a_part_of_the_retransmission_means_genuine() {
    use eifel_recovery::engine::Ack;
    let mut talk = spike(&named(NAME));
    talk.now = crate::talk::at(3000);
    let ack =
        Ack { cumulative: start(2) + 400, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    // 600 bytes of the retransmission are outstanding, and cwnd is 1400: no room for a segment.
    assert_eq!(text(&talk.send()), "");
    check(&mut talk, &[("Genuine", "the first ACK covers a part of the retransmission")], (1400, 5500));
}

/// Step 1: during an earlier timeout's go-back-N, its ACKs would be taken for answers to the new
/// timeout.
#[test]
fn a_timeout_during_recovery_from_another_is_no_question() {
    let mut talk = spike(&named(NAME));
    assert_eq!(text(&talk.ack(1200, 1, &[(3, 3)], 0)), "");
    assert_eq!(text(&talk.ack(1300, 3, &[], 1100)), "4r 5r");
    check(&mut talk, &[("Genuine", DUPLICATE)], (2000, 5500));
    let (_, again) = talk.expire();
    assert_eq!(text(&again), "4r");
    assert_eq!(text(&talk.ack(9000, 4, &[], 0)), "5r 6r");
    assert_eq!(text(&talk.ack(9001, 5, &[], 0)), "7r 8r");
    check(&mut talk, &[], (3000, 4500));
    // All that was outstanding is acknowledged, so the next timeout may be judged again.
    assert_eq!(text(&talk.ack(9010, 12, &[], 0)), "13 14 15 16");
    let (now, again) = talk.expire();
    assert_eq!(text(&again), "13r");
    assert_eq!(text(&talk.ack(now + 900, 13, &[], 9010)), "17 18");
    talk.ack(now + 901, 14, &[], 9010);
    assert_eq!(talk.verdicts(), [("Spurious".into(), SPURIOUS)]);
}

#[test]
fn an_observing_f_rto_gets_no_probe_and_gives_no_verdict() {
    let observers = vec![Choice::named(NAME), Choice::named("f-rto-sack")];
    let mut talk = spike(&Config { observers, ..named("none") });
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
    let judged = talk.events().iter().any(|event| matches!(event, eifel_recovery::engine::Event::Judged { .. }));
    assert!(!judged);
}

/// An idle detector does not see ACKs of new data, so F-RTO must not be idle between the timeout
/// and the second ACK.
#[test]
fn f_rto_is_idle_except_between_the_timeout_and_the_second_ack() {
    let view = view(&RoundTrips::new(true));
    let again = |cause| Transmission { id: TxId(7), start: 1, len: 1000, kind: Kind::Retransmission(cause), copy: 1 };
    let ack = |cumulative, duplicate| Acked {
        cumulative,
        bytes: if duplicate { 0 } else { 1000 },
        duplicate,
        ..Acked::default()
    };
    let mut detector = part::detector(&Choice::named(NAME)).unwrap();
    let mut idle = |fact: &Fact<'_>| {
        detector.observe(fact, &view);
        assert_ne!(detector.is_idle(), detector.may_judge());
        detector.is_idle()
    };
    let retransmitted = |transmission, opens| Fact::Retransmitted { transmission, stamp: None, original: None, opens };
    let (timeout, fast) = (again(Cause::Timeout), again(Cause::FastRetransmit));
    assert!(idle(&Fact::Acked(&ack(1001, false))), "nothing was sent again");
    assert!(!idle(&retransmitted(&timeout, true)), "step 1");
    assert!(!idle(&Fact::Acked(&ack(1001, false))), "step 2 asks for new data");
    assert!(idle(&Fact::Acked(&ack(2001, false))), "step 3 has judged");
    assert!(!idle(&retransmitted(&timeout, true)), "step 1");
    assert!(idle(&Fact::Acked(&ack(1, true))), "step 2 has judged");
    assert!(idle(&retransmitted(&fast, true)), "it looks at timeouts only");
}
