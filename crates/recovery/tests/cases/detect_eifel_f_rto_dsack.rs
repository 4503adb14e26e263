//! Plain Eifel detection, F-RTO and DSACK as one detector: false signals before a retransmission
//! leaves, and the trust in old echoes.

use eifel_recovery::detect::Judgement;
use eifel_recovery::engine::Config;
use eifel_recovery::fact::{Ack, Acked, Cause, Echo, Fact, Kind, Transmission, TxId};
use eifel_recovery::registry::{Choice, part};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::judged::{check, named};
use crate::script::{UNSET, open, overtaken, spike};
use crate::talk::{MSS, Talk, at};

const NAME: &str = "eifel-f-rto-dsack";
const ECHO: (&str, &str) = ("Spurious", "echo older than the first retransmission");
const DSACK: (&str, &str) = ("Spurious", "every retransmission has come back as a duplicate");
const FALSE: (&str, &str) = ("Spurious", "all that was suspected arrives before a retransmission leaves");

/// Pacing holds the fast retransmit back until 104 ms. 2 to 6 were suspected.
#[test]
fn an_ack_of_all_that_was_suspected_undoes_before_a_retransmission_leaves() {
    for (last, verdicts) in [(5, &[][..]), (6, &[FALSE][..])] {
        let paced = Config { pace: Choice::named("lasting-pacing"), ..named(NAME) };
        let mut talk = Talk::new(&Config { recover: Choice::named("rack-tlp"), ..paced });
        talk.send();
        talk.ack(100, 1, &[], 0);
        talk.ack(101, 1, &[(3, 6)], 0);
        check(&mut talk, &[], (5000, 5000));
        talk.ack(102, last, &[], 0);
        let found = talk.verdicts();
        let found: Vec<_> = found.iter().map(|(outcome, reason)| (outcome.as_str(), *reason)).collect();
        assert_eq!(found, verdicts, "{last}");
    }
}

/// 2 is retransmitted at 103 ms.
#[test]
fn after_a_fast_retransmit_an_old_echo_undoes_at_once_and_another_waits_for_the_dsack() {
    let mut talk = overtaken(&named(NAME));
    talk.ack(104, 5, &[], 102);
    check(&mut talk, &[ECHO], (12_000, UNSET));
    let mut talk = overtaken(&named(NAME));
    talk.ack(104, 5, &[], 103);
    check(&mut talk, &[], (5500, 5500));
    talk.ack_with(203, 5, &[], 103, Some(2));
    check(&mut talk, &[DSACK], (11_000, UNSET));
}

/// The first ACK covers all, which may mean that only ACKs were lost. There is nothing that F-RTO
/// could wait for.
#[test]
fn where_the_echo_cannot_tell_and_everything_is_acknowledged_only_a_dsack_decides() {
    let mut talk = spike(&named(NAME));
    talk.ack(3000, 12, &[], 99);
    check(&mut talk, &[], (2000, 5500));
    talk.ack_with(3001, 12, &[], 99, Some(2));
    check(&mut talk, &[DSACK], (11_000, UNSET));
}

/// Lets the timer expire and echoes an old timestamp for the oldest segment. Then two round trips
/// pass, with a DSACK for the retransmission or without. Returns the reasons of the verdicts.
fn echoed(talk: &mut Talk, is_reported: bool) -> Vec<&'static str> {
    let (now, again) = talk.expire();
    assert_eq!(again.len(), 1);
    let first = (talk.engine.una() - 1) / MSS + 1;
    talk.ack(now + 1, first, &[], now - 1);
    talk.ack_with(now + 2, first, &[], now - 1, is_reported.then_some(first));
    for round in 1..=3 {
        let last = (talk.engine.nxt() - 1) / MSS;
        talk.ack(now + 100 * round, last, &[], now + 100 * round - 50);
    }
    talk.verdicts().iter().map(|(outcome, reason)| if outcome == "Spurious" { *reason } else { "genuine" }).collect()
}

#[test]
fn after_three_old_echoes_without_a_dsack_none_counts_until_a_dsack_comes() {
    let mut talk = open(&named(NAME));
    for _ in 0..2 {
        assert_eq!(echoed(&mut talk, false), [ECHO.1]);
    }
    // A report in time forgives both.
    assert_eq!(echoed(&mut talk, true), [ECHO.1]);
    for _ in 0..3 {
        assert_eq!(echoed(&mut talk, false), [ECHO.1]);
    }
    assert_eq!(echoed(&mut talk, false), ["genuine"]);
    // The repair has gone on, and one DSACK tells of one of its retransmissions.
    assert_eq!(echoed(&mut talk, true), ["genuine"]);
    assert_eq!(echoed(&mut talk, false), [ECHO.1]);
}

/// Each new old echo comes before the last one's DSACK is missed. Five later, trust is lost all the
/// same.
#[test]
fn more_old_echoes_do_not_put_off_the_report_that_is_due() {
    let mut talk = open(&named(NAME));
    let mut found = Vec::new();
    for _ in 0..9 {
        let (now, _) = talk.expire();
        let first = (talk.engine.una() - 1) / MSS + 1;
        let last = (talk.engine.nxt() - 1) / MSS;
        talk.ack(now + 1, first, &[], now - 1);
        talk.ack(now + 100, last, &[], now + 50);
        found.extend(talk.verdicts().into_iter().map(|(_, reason)| reason == ECHO.1));
    }
    let believed = found.iter().filter(|&&believed| believed).count();
    assert!((3..9).contains(&believed), "{found:?}");
}

/// An echo of a timestamp that was never sent is forged. Three end all detection, also by DSACKs.
#[test]
fn forged_echoes_end_all_trust() {
    let mut talk = spike(&named(NAME));
    for millis in 1200..1203 {
        let echo = Some(Echo::Forged);
        talk.engine.on_ack(at(millis), &Ack { echo, plain: false, ..Ack::new(talk.engine.una()) });
    }
    assert_eq!(talk.verdicts().len(), 1, "genuine");
    talk.ack(1300, 2, &[], 99);
    talk.ack_with(1301, 2, &[], 99, Some(2));
    assert_eq!(talk.verdicts(), []);
}

/// The probe of an association lasts until a verdict, and this detector may wait for a DSACK that
/// never comes.
#[test]
fn an_association_is_not_asked_for_new_data() {
    let round_trips = RoundTrips::new(false);
    let view = |una| View { now: at(300), una, nxt: 20, mss: 1000, sack: true, round_trips };
    let kind = Kind::Retransmission(Cause::Timeout);
    let transmission = Transmission { id: TxId(1), start: 1, len: 1, kind, copy: 1 };
    for (originals, answer) in [(None, Judgement::Probe), (Some(0), Judgement::Undecided)] {
        let mut detector = part::detector(&Choice::named(NAME)).unwrap();
        let again = Fact::Retransmitted { transmission: &transmission, stamp: None, original: None, opens: true };
        assert_eq!(detector.observe(&again, &view(1)), Judgement::Undecided);
        let acked = Acked { cumulative: 2, bytes: 1, originals, ..Acked::default() };
        assert_eq!(detector.observe(&Fact::Acked(&acked), &view(2)), answer);
    }
}
