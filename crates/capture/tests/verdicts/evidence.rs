//! Evidence that shows whether a retransmission was needed.

use crate::talk::{CLIENT, SERVER, Talk, flight, said};
use eifel_capture::result::Cause;
use eifel_capture::result::{Confidence, Verdict};
use eifel_packet::segment::{Flags, Options, SackBlocks};
use eifel_packet::seq::Seq;

#[test]
fn an_echoed_timestamp_shows_a_delay_spike() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    let again = talk.data(415.0, 0);
    let answer = talk.ack(700.0, 1, 110, &[]);
    for number in 2..=10 {
        talk.ack(700.0 + f64::from(number), number, 109 + number, &[]);
    }
    let found = talk.end();
    let expected = (again, Cause::Rto, Verdict::Spurious, Confidence::Certain, Some(answer));
    assert_eq!(found.retransmissions.iter().map(said).collect::<Vec<_>>(), [expected]);
    let eifel = found.retransmissions[0].first_told.iter().find(|told| told.detector == "eifel-timestamps").unwrap();
    assert_eq!((eifel.frame, eifel.spurious), (answer, true));
}

#[test]
fn a_retransmission_after_later_data_arrived_was_needed() {
    let mut talk = Talk::open(false, true);
    flight(&mut talk);
    for number in 1..4 {
        talk.ack(211.0 + f64::from(number), 0, 0, &[(1, number + 1)]);
    }
    let again = talk.data(214.0, 0);
    for number in 4..10 {
        talk.ack(211.0 + f64::from(number), 0, 0, &[(1, number + 1)]);
    }
    let answer = talk.ack(316.0, 10, 0, &[]);
    let found = talk.end();
    let expected = (again, Cause::Fast, Verdict::Needed, Confidence::Likely, Some(answer));
    assert_eq!(found.retransmissions.iter().map(said).collect::<Vec<_>>(), [expected]);
}

/// Returns the result for a fast retransmission that is acknowledged before a DSACK reports these
/// bytes.
fn reported(left: u32, right: u32) -> (u64, Cause, Verdict, Confidence, Option<u64>) {
    let mut talk = Talk::open(false, true);
    flight(&mut talk);
    [212.0, 213.0, 214.0].into_iter().zip(2..).for_each(|(ms, right)| _ = talk.ack(ms, 0, 0, &[(1, right)]));
    talk.data(214.0, 0);
    talk.ack(315.0, 10, 0, &[]);
    let mut options = Options::default();
    options.sack.push(Seq(CLIENT.wrapping_add(left)), Seq(CLIENT.wrapping_add(right)));
    talk.packet(330.0, true, Flags::ACK, (1, 10_001), 0, (0, 0), options);
    said(&talk.end().retransmissions[0])
}

/// Returns the verdict on a retransmission that the receiver reports as a duplicate, after it has reported
/// duplicates of `copies` of 100 segments that were sent once.
fn reported_beside_copies(copies: u32) -> Verdict {
    let mut talk = Talk::open(false, true);
    for number in 0..100 {
        talk.data(110.0 + f64::from(number), number);
    }
    for number in 1..=90 {
        let blocks = if number <= copies { &[(number - 1, number)][..] } else { &[] };
        talk.ack(211.0 + f64::from(number), number, 0, blocks);
    }
    [302.0, 303.0, 304.0].into_iter().zip(92..).for_each(|(ms, right)| _ = talk.ack(ms, 90, 0, &[(91, right)]));
    talk.data(304.0, 90);
    talk.ack(405.0, 100, 0, &[]);
    talk.ack(420.0, 100, 0, &[(90, 91)]);
    talk.end().retransmissions[0].verdict
}

#[test]
fn a_report_may_be_of_a_copy_where_the_network_makes_many() {
    assert_eq!([0, 9, 12, 50].map(reported_beside_copies), {
        use Verdict::{Spurious, Undecidable};
        [Spurious, Spurious, Undecidable, Undecidable]
    });
}

/// Lets two segments be repaired. If `refuses`, an ACK without news comes before that of the second.
fn two_repairs(refuses: bool) -> Talk {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    [213.0, 214.0, 215.0].into_iter().zip(3..).for_each(|(ms, right)| _ = talk.ack(ms, 0, 100, &[(2, right)]));
    talk.data(215.0, 0);
    talk.data(216.0, 1);
    (6..=10).for_each(|right| _ = talk.ack(211.0 + f64::from(right), 0, 100, &[(2, right)]));
    talk.ack(317.0, 1, 215, &[(2, 10)]);
    if refuses {
        // RFC 7323, section 5.3: the original of the second has an older timestamp than the last in order.
        talk.ack(317.5, 1, 215, &[(2, 10)]);
    }
    talk.ack(318.0, 10, 216, &[]);
    talk
}

#[test]
fn an_ack_without_news_may_refuse_a_late_original_because_of_its_timestamp() {
    let second = |refuses| two_repairs(refuses).end().retransmissions[1].verdict;
    assert_eq!([false, true].map(second), [Verdict::Needed, Verdict::Undecidable]);
}

/// Returns the reason of the verdict on a repair whose ACK comes 2 ms after `ms`, some time after
/// [`two_repairs`].
fn repaired_at(ms: u32, refuses: bool) -> &'static str {
    let mut talk = two_repairs(refuses);
    let at = f64::from(ms) - 203.0;
    (0..5).for_each(|number| _ = talk.data(at + f64::from(number), 10 + number));
    let first = ms - 203;
    (12..=14).for_each(|right| _ = talk.ack(at + 90.0 + f64::from(right), 10, 216, &[(11, right)]));
    talk.data(f64::from(first) + 104.0, 10);
    talk.ack(at + 105.0, 10, 216, &[(11, 15)]);
    talk.ack(f64::from(ms) + 2.0, 15, first + 104, &[]);
    talk.end().retransmissions[2].reason
}

/// Linux sends at most one ACK in 500 ms for packets that it refuses.
#[test]
fn a_receiver_that_has_refused_a_timestamp_may_refuse_the_next_in_silence() {
    let silent = |ms, refuses| repaired_at(ms, refuses).starts_with("an ACK without news may refuse");
    assert!(silent(700, true) && !silent(700, false));
    // It has refused at 317.5 ms.
    assert!(silent(815, true) && !silent(816, true));
}

/// Returns the verdict on the last of three retransmissions after a timeout, without SACK. It leaves at `ms`. The
/// first takes 105 ms, and the second until `acked`.
fn behind_the_filler(ms: f64, acked: f64) -> Verdict {
    let mut talk = Talk::open(false, false);
    flight(&mut talk);
    talk.data(415.0, 0);
    talk.ack(520.0, 1, 0, &[]);
    talk.data(520.1, 1);
    let last = talk.data(ms, 2);
    talk.ack(acked, 5, 0, &[]);
    let found = talk.end();
    found.retransmissions.iter().find(|one| one.frame == last).expect("it is a retransmission").verdict
}

#[test]
fn one_ack_may_answer_all_retransmissions_that_left_together() {
    assert_eq!(behind_the_filler(546.0, 650.0), Verdict::Spurious, "what filled the gap was acknowledged at once");
    assert_eq!(behind_the_filler(520.2, 650.0), Verdict::Undecidable);
    assert_eq!(behind_the_filler(546.0, 670.0), Verdict::Undecidable, "it may have overtaken what filled the gap");
}

/// Returns the verdict at the client on a retransmission whose original was not seen: of the server, or of the client
/// itself. The capture does not show segment 5 either if it is `lossy`.
fn original_not_seen(from_server: bool, lossy: bool) -> (Verdict, Confidence) {
    let mut talk = Talk::open(false, true);
    let data = |talk: &mut Talk, ms: f64, number: u32| {
        talk.packet(ms, from_server, Flags::ACK, (1 + number * 1000, 1), 1000, (0, 0), Options::default());
    };
    let ack = |talk: &mut Talk, ms: f64, number: u32, above: u32| {
        let mut sack = SackBlocks::EMPTY;
        let position = |number: u32| Seq(if from_server { SERVER } else { CLIENT }.wrapping_add(1 + number * 1000));
        if above > 1 {
            sack.push(position(1), position(above));
        }
        let options = Options { sack, ..Options::default() };
        talk.packet(ms, !from_server, Flags::ACK, (1, 1 + number * 1000), 0, (0, 0), options);
    };
    for number in 1..10 {
        if number != 5 || !lossy {
            data(&mut talk, 210.0 + f64::from(number), number);
        }
        ack(&mut talk, 210.1 + f64::from(number), 0, number + 1);
    }
    data(&mut talk, 315.0, 0);
    ack(&mut talk, 315.1, 10, 0);
    data(&mut talk, 1400.0, 10);
    ack(&mut talk, 1400.1, 11, 0);
    let one = talk.end().retransmissions.remove(0);
    (one.verdict, one.confidence)
}

#[test]
fn a_capture_that_lost_packets_does_not_prove_a_loss() {
    assert_eq!(original_not_seen(true, false), (Verdict::Needed, Confidence::Certain));
    assert_eq!(original_not_seen(true, true), (Verdict::Needed, Confidence::Likely));
    // Nothing is lost before a capture point at the sender.
    assert_eq!(original_not_seen(false, false), (Verdict::Undecidable, Confidence::Weak));
}

#[test]
fn a_late_original_is_reported_as_a_duplicate() {
    assert_eq!(reported(1, 1001), (17, Cause::Fast, Verdict::Spurious, Confidence::Likely, Some(19)));
    assert_eq!([reported(1, 501).2, reported(501, 1001).2], [Verdict::Needed; 2], "the other half was needed");
}

#[test]
fn acks_after_a_spike_come_too_soon_for_go_back_n() {
    let mut talk = Talk::open(false, false);
    flight(&mut talk);
    let first = talk.data(1110.0, 0);
    talk.ack(1400.0, 1, 0, &[]);
    let rest = [talk.data(1400.1, 1), talk.data(1400.2, 2)];
    let answers: Vec<_> = (2..=10).map(|number| talk.ack(1400.0 + f64::from(number), number, 0, &[])).collect();
    let found = talk.end();
    let spurious = |frame, cause, confidence, evidence| (frame, cause, Verdict::Spurious, confidence, Some(evidence));
    assert_eq!(
        found.retransmissions.iter().map(said).collect::<Vec<_>>(),
        [
            spurious(first, Cause::Rto, Confidence::Likely, first + 1),
            spurious(rest[0], Cause::Loss, Confidence::Likely, answers[0]),
            spurious(rest[1], Cause::Loss, Confidence::Likely, answers[1]),
        ]
    );
}

#[test]
fn packets_that_a_capture_shows_twice_are_no_retransmissions() {
    let mut talk = Talk::open(true, true);
    for number in 0..10 {
        talk.data(110.0 + f64::from(number), number);
        talk.show(20_000);
    }
    talk.ack(220.0, 10, 119, &[]);
    talk.show(20_000);
    let found = talk.end();
    assert_eq!((found.retransmissions.len(), found.connections[0].twins), (0, 11));
}

#[test]
fn without_an_ack_a_retransmission_is_undecidable() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    talk.data(415.0, 0);
    let found = talk.end();
    assert_eq!(found.retransmissions[0].verdict, Verdict::Undecidable);
}

#[test]
fn a_loss_after_a_long_idle_time_is_judged_like_the_first() {
    let mut talk = Talk::open(true, true);
    let mut expected = Vec::new();
    let mut at = 110;
    let mut next = 0;
    for _ in 0..2 {
        for number in 0..10 {
            talk.data(f64::from(at + number), next + number);
        }
        let again = talk.data(f64::from(at + 305), next);
        let answer = talk.ack(f64::from(at + 590), next + 1, at, &[]);
        for number in 1..10 {
            talk.ack(f64::from(at + 590 + number), next + number + 1, at + number, &[]);
        }
        expected.push((again, Cause::Rto, Verdict::Spurious, Confidence::Certain, Some(answer)));
        (at, next) = (at + 700, next + 10);
        // A hundred windows without trouble.
        for _ in 0..100 {
            for number in 0..10 {
                talk.data(f64::from(at + number), next + number);
            }
            for number in 0..10 {
                talk.ack(f64::from(at + 100 + number), next + number + 1, at + number, &[]);
            }
            (at, next) = (at + 120, next + 10);
        }
    }
    let found = talk.end();
    assert_eq!(found.retransmissions.iter().map(said).collect::<Vec<_>>(), expected);
    for (one, (_, _, _, _, answer)) in found.retransmissions.iter().zip(&expected) {
        let eifel = one.first_told.iter().find(|told| told.detector == "eifel-timestamps").unwrap();
        assert_eq!((Some(eifel.frame), eifel.spurious), (*answer, true));
    }
}

/// The lowest of very many retransmissions are undecidable, because their evidence is forgotten.
#[test]
fn retransmissions_up_to_the_limit_keep_their_evidence() {
    const MOST: u32 = 1 << 16;
    let mut talk = Talk::open(false, true);
    for number in 0..=MOST {
        let at = 1000.0 + 500.0 * f64::from(number);
        // Different identifications, so that no packet is a twin.
        talk.identification = Some(number as u16);
        talk.data(at, number);
        talk.identification = Some(number as u16 ^ 0x8000);
        talk.data(at + 300.0, number);
        talk.ack(at + 400.0, number + 1, 0, &[]);
    }
    let found = talk.end();
    let forgotten = "too many retransmissions to remember them all";
    assert_eq!(found.retransmissions.len(), MOST as usize + 1);
    let reasons = found.retransmissions.iter().map(|one| one.reason == forgotten);
    assert!(reasons.eq([true].into_iter().chain([false; MOST as usize])));
}
