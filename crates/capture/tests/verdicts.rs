//! Conversations whose truth is known by hand: a client sends segments of 1000 bytes over a path with a round trip of 100 ms,
//! and the capture stands at the client unless a test says otherwise.

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::read::Frame;
use eifel_capture::report::Retransmission;
use eifel_capture::sender::Cause;
use eifel_capture::verdict::{Confidence, Verdict};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;

const CLIENT: u32 = 4_294_960_000;
const SERVER: u32 = 7;

/// Makes frames; times are milliseconds.
struct Talk {
    analyzer: Analyzer,
    frame: u64,
    stamps: bool,
    /// The server's newest timestamp.
    heard: u32,
    /// IP's identification of all packets from now on, where they do not count.
    identification: Option<u16>,
    /// The last packet: time, bytes, and length on the wire.
    last: (u64, Vec<u8>, u32),
}

impl Talk {
    /// The handshake, with SACK permitted and timestamps if `stamps`.
    fn open(stamps: bool, sack: bool) -> Self {
        Self::identified(stamps, sack, None)
    }

    fn identified(stamps: bool, sack: bool, identification: Option<u16>) -> Self {
        let mut talk = Self {
            analyzer: Analyzer::default(),
            frame: 0,
            stamps,
            heard: 0,
            identification,
            last: Default::default(),
        };
        let offer = Options { mss: Some(1000), sack_permitted: sack, ..Options::default() };
        talk.packet(0.0, false, Flags::SYN, (0, 0), 0, (0, 0), offer);
        talk.packet(100.0, true, Flags::SYN.with(Flags::ACK), (0, 1), 0, (0, 0), offer);
        talk.packet(100.0, false, Flags::ACK, (1, 1), 0, (100, 0), Options::default());
        talk
    }

    #[expect(clippy::too_many_arguments, reason = "a packet has as many fields")]
    fn packet(
        &mut self,
        ms: f64,
        from_server: bool,
        flags: Flags,
        (seq, ack): (u32, u32),
        payload_len: u32,
        (value, echo): (u32, u32),
        options: Options,
    ) {
        let timestamps = self.stamps.then_some(Timestamps { value, echo });
        let (here, there) = if from_server { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
        let (source_port, destination_port) = if from_server { (80, 1000) } else { (1000, 80) };
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(here.wrapping_add(seq)),
            ack: Seq(there.wrapping_add(ack)),
            flags,
            window: 60_000,
            options: Options { timestamps, ..options },
            payload_len,
            ecn: Ecn::NotEct,
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let addresses = if from_server { addresses.reversed() } else { addresses };
        let mut header = Header::new(addresses);
        header.identification = self.identification.unwrap_or(self.frame as u16 + 1);
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &[], &mut bytes).expect("it fits a packet");
        let nanos = 1_000_000_000_000 + (ms * 1e6) as u64;
        let wire_len = bytes.len() as u32 + payload_len;
        self.last = (nanos, bytes, wire_len);
        self.show(0);
    }

    /// Shows the last packet in the capture, `later` nanoseconds after it was sent.
    fn show(&mut self, later: u64) {
        self.frame += 1;
        let (nanos, ref bytes, wire_len) = self.last;
        let nanos = nanos + later;
        self.analyzer.frame(&Frame { number: self.frame, nanos, link: 101, interface: 0, wire_len, bytes });
    }

    /// The client sends segment `number`, from 0.
    fn data(&mut self, ms: f64, number: u32) -> u64 {
        self.packet(ms, false, Flags::ACK, (1 + number * 1000, 1), 1000, (ms as u32, self.heard), Options::default());
        self.frame
    }

    /// The server acknowledges `number` segments and echoes the time `echo`; `blocks` are SACK blocks in segments.
    fn ack(&mut self, ms: f64, number: u32, echo: u32, blocks: &[(u32, u32)]) -> u64 {
        let mut sack = SackBlocks::EMPTY;
        let position = |number: u32| Seq(CLIENT.wrapping_add(1 + number * 1000));
        for (left, right) in blocks {
            sack.push(position(*left), position(*right));
        }
        let options = Options { sack, ..Options::default() };
        self.packet(ms, true, Flags::ACK, (1, 1 + number * 1000), 0, (ms as u32, echo), options);
        self.heard = ms as u32;
        self.frame
    }

    fn end(self) -> Analysis {
        self.analyzer.finish()
    }
}

fn said(one: &Retransmission) -> (u64, Cause, Verdict, Confidence, Option<u64>) {
    (one.frame, one.cause, one.verdict, one.confidence, one.evidence_frame)
}

/// Ten segments leave; nothing comes back in time.
fn flight(talk: &mut Talk) {
    for number in 0..10 {
        talk.data(110.0 + f64::from(number), number);
    }
}

#[test]
fn a_delay_spike_is_told_by_the_timestamp_that_comes_back() {
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
fn a_loss_that_later_data_reveal_was_needed() {
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

/// A fast retransmission is answered, and after the answer a DSACK reports these bytes.
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

#[test]
fn an_original_that_comes_late_is_reported_as_a_duplicate() {
    assert_eq!(reported(1, 1001), (17, Cause::Fast, Verdict::Spurious, Confidence::Likely, Some(19)));
    assert_eq!([reported(1, 501).2, reported(501, 1001).2], [Verdict::Needed; 2], "the other half was needed");
}

#[test]
fn go_back_n_after_a_spike_is_answered_sooner_than_it_can_be() {
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
            spurious(first, Cause::Rto, Confidence::Likely, answers[0]),
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
fn without_an_answer_nothing_is_decided() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    talk.data(415.0, 0);
    let found = talk.end();
    assert_eq!(found.retransmissions[0].verdict, Verdict::Undecidable);
}

#[test]
fn trouble_after_a_long_calm_is_judged_as_the_first() {
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
        // A hundred windows in which nothing is amiss.
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

#[test]
fn two_copies_that_leave_at_once_are_no_twins_where_nothing_else_has_one() {
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
    // One of the two copies was a duplicate, and nothing says which came first but that paths mostly keep their order.
    let frames: Vec<_> = found.retransmissions.iter().map(|one| (one.frame, one.verdict, one.evidence_frame)).collect();
    let needed = (fast, Verdict::Needed, Some(duplicate));
    assert_eq!(frames, [needed, (timeout, Verdict::Spurious, Some(duplicate))]);
}

/// Without SACK each partial ACK shows the next loss. RFC 6582's impatient variant sets the timer at the first one only.
#[test]
fn a_timer_that_partial_acks_do_not_set_is_told_from_their_repairs() {
    let mut talk = Talk::open(false, false);
    flight(&mut talk);
    for number in 1..4 {
        talk.ack(210.0 + f64::from(number), 0, 0, &[]);
    }
    talk.data(213.0, 0);
    for number in 1..5 {
        let now = 223.0 + f64::from(number) * 90.0;
        talk.ack(now, number, 0, &[]);
        talk.data(now, number);
    }
    // The first partial ACK came at 313 ms; 300 ms later the timer expires.
    talk.data(614.0, 4);
    talk.ack(713.0, 5, 0, &[]);
    talk.data(713.0, 5);
    let found = talk.end();
    let causes: Vec<_> = found.retransmissions.iter().map(|one| one.cause).collect();
    let repairs = [Cause::Fast; 5];
    assert_eq!(causes, [repairs.as_slice(), &[Cause::Rto, Cause::Loss]].concat());
}

#[test]
fn what_was_sent_before_the_capture_began_is_not_judged() {
    let mut talk = Talk { frame: 0, analyzer: Analyzer::default(), ..Talk::open(true, true) };
    // Segments 0 to 4 were under way when it began.
    talk.data(110.0, 5);
    talk.ack(150.0, 0, 90, &[(5, 6)]);
    for number in 0..3 {
        talk.data(400.0 + f64::from(number) * 10.0, number);
    }
    let again = talk.data(700.0, 5);
    let found = talk.end();
    assert_eq!(found.retransmissions.iter().map(|one| one.frame).collect::<Vec<_>>(), [again]);
}

/// The gap at the front began before the capture. So the ACK that fills it may echo the timestamp of a segment below all that was
/// seen, and says nothing of this one.
#[test]
fn an_echo_proves_nothing_of_the_first_segment_of_a_capture_that_begins_late() {
    let mut talk = Talk { frame: 0, analyzer: Analyzer::default(), ..Talk::open(true, true) };
    talk.data(110.0, 5);
    talk.data(400.0, 4);
    talk.data(402.0, 5);
    talk.ack(503.0, 6, 400, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| (one.verdict, one.confidence)).collect();
    assert_eq!(verdicts, [(Verdict::Undecidable, Confidence::Weak)]);
}

/// Far from the sender, a copy may pass before one that left earlier. Timestamps show it.
#[test]
fn a_copy_that_was_overtaken_proves_nothing() {
    let mut talk = Talk::open(true, true);
    flight(&mut talk);
    talk.data(415.0, 0);
    // It left at 300 ms, and passes behind the one that left later.
    talk.packet(416.0, false, Flags::ACK, (1, 1), 1000, (300, talk.heard), Options::default());
    talk.ack(520.0, 10, 415, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Needed, Verdict::Undecidable]);
}

/// The ACK of what filled the gap is lost. The next one covers what was sent again behind it, too.
#[test]
fn an_ack_that_echoes_a_later_copy_does_not_show_what_was_there_before() {
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
fn an_ack_without_news_leaves_open_which_original_it_answers() {
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
    // One of the originals comes, and this receiver reports no duplicates.
    talk.ack(370.0, 10, 0, &[]);
    talk.data(380.0, 10);
    talk.ack(480.0, 11, 0, &[]);
    let found = talk.end();
    let verdicts: Vec<_> = found.retransmissions.iter().map(|one| (one.frame, one.verdict, one.confidence)).collect();
    assert_eq!(verdicts, again.map(|frame| (frame, Verdict::Undecidable, Confidence::Weak)));
}

#[test]
fn without_an_identification_data_have_twins_and_acks_alone_have_none() {
    // One that never changes says as little as none.
    for identification in [0, 7] {
        let mut talk = Talk::identified(false, true, Some(identification));
        talk.data(110.0, 0);
        talk.ack(210.0, 1, 0, &[]);
        // Bursts of duplicate ACKs look like this.
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
