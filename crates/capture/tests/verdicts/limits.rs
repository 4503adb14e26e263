//! Evidence that seems to prove something, but does not.

use crate::talk::{Talk, flight};
use eifel_capture::analysis::Analyzer;
use eifel_capture::result::Cause;
use eifel_capture::result::{Confidence, Verdict};
use eifel_packet::segment::{Flags, Options};

#[test]
fn two_equal_segments_at_once_are_no_duplicate_frames_if_no_other_packet_has_one() {
    let mut talk = Talk::open(false, true);
    for number in 0..20 {
        talk.data(110.0 + f64::from(number), number);
    }
    for number in 1..4 {
        talk.ack(211.0 + f64::from(number), 0, 0, &[(1, number + 1)]);
    }
    let fast = talk.data(214.0, 0);
    talk.identification = Some(0);
    let timeout = talk.data(214.2, 0);
    let duplicate = talk.ack(315.0, 20, 0, &[(0, 1)]);
    let found = talk.end();
    // One of the two copies was a duplicate. Only the fact that paths mostly keep their order shows
    // which one came first.
    let frames: Vec<_> = found.retransmissions.iter().map(|one| (one.frame, one.verdict, one.evidence_frame)).collect();
    let needed = (fast, Verdict::Needed, Some(duplicate));
    assert_eq!(frames, [needed, (timeout, Verdict::Spurious, Some(duplicate))]);
}

/// Without SACK each partial ACK shows the next loss. The impatient variant of RFC 6582 sets the
/// timer at the first one only.
#[test]
fn a_timeout_that_partial_acks_do_not_postpone_is_no_fast_retransmission() {
    let mut talk = Talk::open(false, false);
    flight(&mut talk);
    for number in 1..4 {
        talk.ack(210.0 + f64::from(number), 0, 0, &[]);
    }
    talk.data(213.0, 0);
    for number in 1..5 {
        let now = 33.0 + f64::from(number) * 280.0;
        talk.ack(now, number, 0, &[]);
        talk.data(now, number);
    }
    // The first partial ACK came at 313 ms, and a second later the timer expires.
    talk.data(1314.0, 4);
    talk.ack(1413.0, 5, 0, &[]);
    talk.data(1413.0, 5);
    let found = talk.end();
    let causes: Vec<_> = found.retransmissions.iter().map(|one| one.cause).collect();
    let repairs = [Cause::Fast; 5];
    assert_eq!(causes, [repairs.as_slice(), &[Cause::Rto, Cause::Loss]].concat());
}

/// Several queues of a device record packets out of order: the ACK that seems to come before the retransmission may
/// be its answer.
#[test]
fn an_ack_before_the_retransmission_is_no_proof_where_older_acks_pass_behind_it() {
    for older in [false, true] {
        let mut talk = Talk::open(false, true);
        flight(&mut talk);
        for number in 1..4 {
            talk.ack(211.0 + f64::from(number), 0, 0, &[(1, number + 1)]);
        }
        talk.data(214.0, 0);
        let answer = talk.ack(315.0, 10, 0, &[]);
        if older {
            talk.ack(315.1, 0, 0, &[(1, 9)]);
        }
        let again = talk.data(315.2, 0);
        let found = talk.end();
        let last = found.retransmissions.last().unwrap();
        let confidence = if older { Confidence::Likely } else { Confidence::Certain };
        let expected = (again, Verdict::Spurious, confidence, Some(answer));
        assert_eq!((last.frame, last.verdict, last.confidence, last.evidence_frame), expected);
    }
}

#[test]
fn data_from_before_the_capture_are_not_judged() {
    let mut talk = Talk { frame: 0, analyzer: Analyzer::default(), ..Talk::open(true, true) };
    // Segments 0 to 4 were outstanding when the capture began.
    talk.data(110.0, 5);
    talk.ack(150.0, 0, 90, &[(5, 6)]);
    for number in 0..3 {
        talk.data(400.0 + f64::from(number) * 10.0, number);
    }
    let again = talk.data(700.0, 5);
    let found = talk.end();
    assert_eq!(found.retransmissions.iter().map(|one| one.frame).collect::<Vec<_>>(), [again]);
}

/// The gap at the front began before the capture. So the ACK that fills it may echo the timestamp
/// of an unseen lower segment, and shows nothing about this segment.
#[test]
fn the_first_echo_after_a_midstream_start_proves_nothing() {
    let mut talk = Talk { frame: 0, analyzer: Analyzer::default(), ..Talk::open(true, true) };
    talk.data(110.0, 5);
    talk.data(400.0, 4);
    talk.data(402.0, 5);
    talk.ack(503.0, 6, 400, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| (one.verdict, one.confidence)).collect();
    assert_eq!(verdicts, [(Verdict::Undecidable, Confidence::Weak)]);
}

/// Far from the sender, a copy may pass before a copy that left earlier. Timestamps show it.
#[test]
fn a_retransmission_that_a_later_one_overtook_is_undecidable() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    talk.data(415.0, 0);
    // This copy left at 300 ms, and passes behind the copy that left later.
    talk.packet(416.0, false, Flags::ACK, (1, 1), 1000, (300, talk.heard), Options::default());
    talk.ack(520.0, 10, 415, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Needed, Verdict::Undecidable]);
}

/// The ACK of the segment that filled the gap is lost. The next ACK also covers the retransmission
/// behind it.
#[test]
fn an_ack_that_echoes_a_later_copy_does_not_show_what_had_arrived_before() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    for number in 1..4 {
        talk.ack(211.0 + f64::from(number), 0, 109, &[(2, number + 2)]);
    }
    let again = [talk.data(214.0, 0), talk.data(215.0, 1)];
    let answer = talk.ack(315.0, 10, 215, &[]);
    let found = talk.end();
    let verdicts: Vec<_> =
        found.retransmissions.iter().map(|one| (one.frame, one.verdict, one.evidence_frame)).collect();
    assert_eq!(verdicts, again.map(|frame| (frame, Verdict::Needed, Some(answer))));
}

#[test]
fn a_duplicate_ack_leaves_open_which_original_it_answers() {
    let mut talk = Talk::open(false, true);
    flight(&mut talk);
    for (ms, last) in [(212.0, 2), (213.0, 3), (214.0, 5)] {
        talk.ack(ms, 0, 0, &[(1, last)]);
    }
    for last in 7..=10 {
        talk.ack(209.0 + f64::from(last), 0, 0, &[(6, last), (1, 5)]);
    }
    let again = [talk.data(220.0, 0), talk.data(221.0, 5)];
    talk.ack(321.0, 5, 0, &[(6, 10)]);
    talk.ack(322.0, 10, 0, &[]);
    // One of the originals arrives, and this receiver reports no duplicates.
    talk.ack(370.0, 10, 0, &[]);
    talk.data(380.0, 10);
    talk.ack(480.0, 11, 0, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| (one.frame, one.verdict, one.confidence)).collect();
    assert_eq!(verdicts, again.map(|frame| (frame, Verdict::Undecidable, Confidence::Weak)));
}

#[test]
fn without_an_identification_data_may_be_duplicate_frames_but_acks_may_not() {
    // A constant identification is no more evidence than a missing one.
    for identification in [0, 7] {
        let mut talk = Talk::identified(false, true, Some(identification));
        talk.data(110.0, 0);
        talk.ack(210.0, 1, 0, &[]);
        // A burst of duplicate ACKs looks like this.
        talk.show(20_000);
        assert_eq!(talk.end().connections[0].twins, 0, "{identification}");
    }

    let mut talk = Talk::open(false, true);
    talk.identification = Some(0);
    talk.data(110.0, 0);
    talk.show(20_000);
    talk.ack(210.0, 1, 0, &[]);
    let found = talk.end();
    assert_eq!((found.retransmissions.len(), found.connections[0].twins), (0, 1));
}

/// After sixteen packets of an end without a twin, twins are recognised only by an identification.
#[test]
fn after_many_single_packets_only_an_identification_shows_a_duplicate_frame() {
    // The handshake contains two packets of the client.
    for (identification, number, twins) in [
        (Some(0), 13, 1),
        (Some(0), 14, 0),
        (Some(0), 30, 0),
        (Some(7), 13, 1),
        (Some(7), 14, 0),
        (None, 14, 1),
        (None, 30, 1),
    ] {
        let mut talk = Talk::identified(false, true, identification);
        for segment in 0..number {
            talk.data(110.0 + f64::from(segment), segment);
        }
        talk.show(20_000);
        let found = talk.end();
        let told = (found.connections[0].twins, found.retransmissions.len() as u64);
        assert_eq!(told, (twins, 1 - twins), "{identification:?}, {number}");
    }
    // An end that sends no identifications for a while, and then starts to.
    let mut talk = Talk::identified(false, true, Some(0));
    for segment in 0..20 {
        talk.data(110.0 + f64::from(segment), segment);
    }
    talk.identification = None;
    for segment in 20..23 {
        talk.data(110.0 + f64::from(segment), segment);
    }
    talk.show(20_000);
    assert_eq!(talk.end().connections[0].twins, 1);
}

/// Without a captured SYN, a SYN opens a new connection between the same ports only after the first
/// is over.
#[test]
fn a_syn_after_the_end_opens_another_connection() {
    let fin = Flags::FIN.with(Flags::ACK);
    let rst = Flags::RST.with(Flags::ACK);
    let cases: [(&[(bool, Flags)], usize); 6] = [
        (&[], 1),
        (&[(false, fin)], 1),
        (&[(true, fin)], 1),
        (&[(false, fin), (true, fin)], 2),
        (&[(false, rst)], 2),
        (&[(true, fin), (true, rst)], 2),
    ];
    for (ends, connections) in cases {
        let mut talk = Talk::open(false, true);
        talk.analyzer = Analyzer::default();
        talk.data(110.0, 0);
        talk.ack(210.0, 1, 0, &[]);
        for (from_server, flags) in ends {
            let numbers = if *from_server { (1, 1001) } else { (1001, 1) };
            talk.packet(220.0, *from_server, *flags, numbers, 0, (0, 0), Options::default());
        }
        talk.packet(300.0, false, Flags::SYN, (1_000_000, 0), 0, (0, 0), Options::default());
        talk.packet(400.0, false, Flags::ACK, (1_000_001, 1), 1000, (0, 0), Options::default());
        let found = talk.end();
        assert_eq!(found.connections.len(), connections, "{ends:?}");
    }
}

/// An ACK without news may only answer the original of one of the last 64 retransmitted segments.
#[test]
fn a_duplicate_ack_does_not_affect_a_retransmission_long_before() {
    let mut talk = Talk::open(true, false);
    for number in 0..70 {
        talk.data(110.0 + f64::from(number), number);
    }
    for number in 0..70 {
        talk.data(250.0 + f64::from(number), number);
    }
    for number in 0..70 {
        talk.ack(350.0 + f64::from(number), number + 1, 250 + number, &[]);
    }
    talk.ack(450.0, 70, 319, &[]);
    talk.data(460.0, 70);
    talk.ack(560.0, 71, 460, &[]);
    let found = talk.end();
    let verdicts = found.retransmissions.iter().map(|one| one.verdict);
    assert!(verdicts.eq([Verdict::Needed; 6].into_iter().chain([Verdict::Undecidable; 64])));
}

/// RFC 9293, section 3.5.2: bytes behind the header of a RST are not data.
#[test]
fn the_payload_of_a_rst_is_no_data() {
    for (flags, segments) in [(Flags::ACK, 2), (Flags::RST.with(Flags::ACK), 1), (Flags::RST, 1)] {
        let mut talk = Talk::open(false, true);
        talk.data(110.0, 0);
        talk.packet(120.0, false, flags, (1001, 1), 100, (0, 0), Options::default());
        assert_eq!(talk.end().connections[0].directions[0].counts.segments, segments);
    }
}
