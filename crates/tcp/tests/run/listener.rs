//! A listener for many peers: RFC 9293, section 3.10.7.2, and RFC 4987.

use crate::talk::{PORTS, engine, ms, plain, read};
use eifel_base::time::Duration;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_tcp::settings::{EcnUse, SackUse, TimestampSettings};
use eifel_tcp::{Caller, Connection, Listener, ListenerReply, Settings, State};

fn listener(settings: &Settings, backlog: usize) -> Listener {
    Listener::new(settings, PORTS.local, backlog, [3, 4])
}

fn caller(number: u8) -> Caller {
    Caller::v4([10, 0, 0, number], [10, 0, 1, 1], PORTS.remote)
}

fn hears(listener: &mut Listener, at: u64, number: u8, segment: &Segment) -> ListenerReply {
    listener.handle_segment(ms(at), &caller(number), segment, &[], engine)
}

fn answer(heard: ListenerReply) -> Segment {
    let ListenerReply::Answer(segment) = heard else { panic!("no answer") };
    segment
}

fn opened(heard: ListenerReply) -> Connection {
    let ListenerReply::Opened(connection) = heard else { panic!("not opened") };
    *connection
}

/// Returns the peer's acknowledgement of a SYN-ACK.
fn acknowledging(answer: &Segment, text: &str) -> Segment {
    let mut segment = read(text);
    segment.ack.0 = answer.seq.0.wrapping_add(1);
    segment
}

#[test]
fn the_listener_negotiates_options_and_times_the_handshake() {
    let settings =
        Settings { sack: SackUse::WithDuplicates, timestamps: Some(TimestampSettings::default()), ..plain() };
    let mut listener = listener(&settings, 8);
    let synack = answer(hears(&mut listener, 0, 1, &read("S 0 win 5000 mss 1200 sackok ts 7/0")));
    assert!(synack.options.sack_permitted && synack.options.timestamps.is_some_and(|stamps| stamps.echo == 7));
    assert_eq!(listener.half_open(), 1);
    let connection = opened(hears(&mut listener, 80, 1, &acknowledging(&synack, "A 1 win 5000 ts 80/0")));
    assert_eq!((connection.state(), connection.mss(), listener.half_open()), (State::Established, 988, 0));
    assert_eq!(connection.engine().snapshot().srtt, Some(Duration::from_millis(80)));
}

#[test]
fn a_repeated_syn_gets_the_same_syn_ack_and_gives_no_sample() {
    let mut listener = listener(&plain(), 8);
    let first = answer(hears(&mut listener, 0, 1, &read("S 0 win 5000 mss 1200")));
    let second = answer(hears(&mut listener, 1000, 1, &read("S 0 win 5000 mss 1200")));
    assert_eq!((first, listener.half_open()), (second, 1));
    let connection = opened(hears(&mut listener, 1080, 1, &acknowledging(&second, "A 1 win 5000")));
    assert_eq!(connection.engine().snapshot().samples, 0);
    // A new SYN replaces the old half-open connection.
    answer(hears(&mut listener, 2000, 2, &read("S 0 win 5000")));
    let other = answer(hears(&mut listener, 2001, 2, &read("S 500 win 5000")));
    assert_eq!((other.ack, listener.half_open()), (read("S 501").seq, 1));
}

#[test]
fn segments_of_no_half_open_connection_are_reset_and_a_reset_ends_one() {
    let mut listener = listener(&plain(), 8);
    let reset = answer(hears(&mut listener, 0, 1, &read("A 1 ack 77 win 5000")));
    assert_eq!((reset.flags, reset.seq), (Flags::RST, read("A 1 ack 77").ack));
    assert!(matches!(hears(&mut listener, 0, 1, &read("R 1")), ListenerReply::Nothing));
    answer(hears(&mut listener, 0, 1, &read("S 0 win 5000")));
    assert!(matches!(hears(&mut listener, 1, 1, &read("R 9")), ListenerReply::Nothing));
    assert_eq!(listener.half_open(), 1);
    assert!(matches!(hears(&mut listener, 1, 1, &read("R 1")), ListenerReply::Nothing));
    assert_eq!(listener.half_open(), 0);
}

#[test]
fn beyond_the_backlog_a_cookie_opens_with_the_options_that_it_holds() {
    let mut listener = listener(&plain(), 1);
    answer(hears(&mut listener, 0, 1, &read("S 0 win 5000 mss 1200")));
    let cookie = answer(hears(&mut listener, 0, 2, &read("S 0 win 5000 mss 900 sackok")));
    assert!(!cookie.options.sack_permitted);
    assert_eq!(listener.half_open(), 1);
    // Another peer's cookie is invalid. Data may come with the acknowledgement.
    let theirs = acknowledging(&cookie, "A 1..101 win 5000");
    answer(hears(&mut listener, 50, 3, &theirs));
    let connection = opened(hears(&mut listener, 50, 2, &theirs));
    assert_eq!((connection.mss(), connection.received()), (536, 100));
    assert_eq!(connection.engine().snapshot().samples, 0);
}

#[test]
fn a_half_open_connection_is_dropped_after_a_minute() {
    let mut listener = listener(&plain(), 1);
    answer(hears(&mut listener, 0, 1, &read("S 0 win 5000")));
    hears(&mut listener, 60_000, 2, &read("S 0 win 5000"));
    assert_eq!(listener.half_open(), 1);
    let late = answer(hears(&mut listener, 60_001, 3, &read("S 0 win 5000 sackok")));
    assert_eq!(listener.half_open(), 1);
    opened(hears(&mut listener, 60_050, 3, &acknowledging(&late, "A 1 win 5000")));
    assert_eq!(listener.half_open(), 0);
}

/// The new connection continues from the timestamp of the last SYN-ACK, however far apart the SYNs
/// are.
#[test]
fn distinct_timestamps_continue_from_the_syn_ack() {
    let timestamps = Some(TimestampSettings::distinct([1, 2]));
    let mut listener = listener(&Settings { timestamps, ..plain() }, 8);
    let stamp = |segment: &Segment| segment.options.timestamps.unwrap().value;
    let calls = [0, 5000, 12_000].map(|at| answer(hears(&mut listener, at, 1, &read("S 0 win 5000 ts 7/0"))));
    assert!(calls.is_sorted_by_key(stamp));
    let last = stamp(&calls[2]);
    let completing = acknowledging(&calls[2], &format!("A 1 win 5000 ts 90/{last}"));
    let mut connection = opened(hears(&mut listener, 12_080, 1, &completing));
    connection.write_counted(100);
    let ahead = stamp(&eifel_testkit::connections::next(&mut connection, ms(12_080)).unwrap().segment) - last;
    assert!((80_000..=80_064).contains(&ahead), "{ahead}");
    assert_eq!(connection.counts().forged_echoes, 0);
}

/// A SYN-ACK accepts ECN if every SYN has asked for it and the settings allow it. Only then does
/// the connection mark its data.
#[test]
fn a_half_open_connection_negotiates_ecn_as_its_connection_will() {
    let syn = |asks: bool| {
        let mut syn = read("S 0 win 5000 mss 1200");
        if asks {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
        syn
    };
    let rows = [
        (EcnUse::Answer, 8, vec![true], true),
        (EcnUse::Ask, 8, vec![true, true], true),
        (EcnUse::Answer, 8, vec![true, false], false),
        (EcnUse::Answer, 8, vec![false, true], false),
        (EcnUse::Off, 8, vec![true], false),
        // A cookie has no room for ECN.
        (EcnUse::Answer, 0, vec![true], false),
    ];
    for (ecn, backlog, asks, agrees) in rows {
        let mut listener = listener(&Settings { ecn, ..plain() }, backlog);
        let answers = asks.iter().zip(0..).map(|(&asks, at)| answer(hears(&mut listener, at, 1, &syn(asks))));
        let last = answers.last().unwrap();
        assert_eq!(last.flags.has(Flags::ECE), agrees, "{ecn:?} {asks:?}");
        assert!(!last.flags.has(Flags::CWR));
        let mut connection = opened(hears(&mut listener, 80, 1, &acknowledging(&last, "A 1 win 5000")));
        connection.write_counted(1000);
        let sent = eifel_testkit::connections::next(&mut connection, ms(81)).unwrap().segment;
        assert_eq!(sent.ecn, if agrees { Ecn::Ect0 } else { Ecn::NotEct }, "{ecn:?} {asks:?}");
    }
}

/// The SYN-ACK has the given number, also when the SYN is repeated. The peer's reaction to it is
/// distinguished from segments of the last connection.
#[test]
fn a_syn_in_time_wait_is_answered_with_the_given_isn() {
    let mut listener = listener(&plain(), 1);
    let syn = read("S 700 win 5000 mss 1200");
    let first = listener.answer_again(ms(0), &caller(1), &syn, Seq(9)).unwrap();
    let second = listener.answer_again(ms(1000), &caller(1), &syn, Seq(11)).unwrap();
    assert_eq!((first.seq, first.ack, first), (Seq(9), read("S 701").seq, second));
    // The backlog is full, and a cookie cannot hold a given number.
    assert!(listener.answer_again(ms(1000), &caller(2), &syn, Seq(9)).is_none());
    for (text, reacts) in
        [("A 701", true), ("A 700", false), ("R 701", true), ("R 700", false), ("S 700", false), ("S 701", false)]
    {
        let segment = if text.starts_with('A') { acknowledging(&first, text) } else { read(text) };
        assert_eq!(listener.is_reaction(&caller(1), &segment), reacts, "{text}");
        assert!(!listener.is_reaction(&caller(2), &segment), "{text}");
    }
    let mut other = acknowledging(&first, "A 701 win 5000");
    other.ack = Seq(9);
    assert!(!listener.is_reaction(&caller(1), &other), "it acknowledges something else");
    let connection = opened(hears(&mut listener, 1080, 1, &acknowledging(&first, "A 701 win 5000")));
    assert_eq!((connection.state(), listener.half_open()), (State::Established, 0));
}
