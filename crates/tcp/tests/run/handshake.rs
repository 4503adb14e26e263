//! Opening: RFC 9293, section 3.5, and the negotiation of options.

use crate::talk::{ISS, PORTS, Talk, engine, ms, plain};
use eifel_packet::ip::Version;
use eifel_packet::seq::Seq;
use eifel_tcp::settings::{GiveUp, SackUse, TimestampSettings, WindowScale};
use eifel_tcp::state::Opening;
use eifel_tcp::{Connection, Event, IcmpError, Settings, State};

#[test]
fn an_active_open_completes_the_handshake() {
    let mut talk = Talk::connect(&plain());
    talk.says(&["S 0 win 10000 mss 1000"]);
    talk.is(State::SynSent);
    talk.gets(50, "SA 0 ack 1 win 5000 mss 800");
    talk.is(State::Established);
    talk.says(&["A 1 ack 1 win 10000"]);
    assert_eq!(talk.events(), [Event::Connected]);
    assert_eq!(talk.connection.mss(), 800);
    assert_eq!(talk.connection.peer_window(), 5000);
}

#[test]
fn a_passive_open_completes_the_handshake() {
    let mut talk = Talk::listen(&plain());
    talk.says(&[]);
    talk.gets(0, "S 0 win 5000 mss 1200");
    talk.is(State::SynReceived(Opening::Passive));
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    assert_eq!(talk.events(), []);
    talk.gets(70, "A 1..101 ack 1 win 5000");
    talk.is(State::Established);
    assert_eq!(talk.connection.received(), 100);
    assert_eq!(talk.connection.mss(), 1000);
    assert_eq!(talk.events(), [Event::Connected]);
}

#[test]
fn a_simultaneous_open_completes_the_handshake() {
    let mut talk = Talk::connect(&plain());
    talk.says(&["S 0 win 10000 mss 1000"]);
    talk.gets(20, "S 0 win 5000 mss 1000");
    talk.is(State::SynReceived(Opening::Simultaneous));
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.gets(40, "SA 0 ack 1 win 5000 mss 1000");
    talk.is(State::Established);
    talk.says(&["A 1 ack 1 win 10000"]);
    assert_eq!(talk.events(), [Event::Connected]);
}

#[test]
fn simultaneous_is_not_completed_by_a_wrong_answer() {
    let mut talk = Talk::connect(&plain());
    talk.sent();
    talk.gets(20, "S 0 win 5000 mss 1000");
    talk.sent();
    for wrong in ["SA 0 ack 0 win 5000", "SA 0 ack 2 win 5000", "S 0 win 5000"] {
        talk.gets(40, wrong);
        talk.says(&["A 1 ack 1 win 10000"]);
        talk.is(State::SynReceived(Opening::Simultaneous));
    }
}

/// The peer repeats its SYN because it has not received the SYN-ACK. An acknowledgement without SYN
/// would be useless to it.
#[test]
fn a_repeated_syn_is_answered_again() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1200");
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    for again in 0..12 {
        talk.gets(500 + again, "S 0 win 5000 mss 1200");
        // The answers stay within the limit on challenge ACKs, which is drawn between 5 and 10.
        let said = talk.sent();
        assert!(again >= 5 || said.len() == 1, "{again}");
        assert!(again < 10 || said.is_empty(), "{again}");
        assert!(said.iter().all(|said| said == "SA 0 ack 1 win 10000 mss 1000"), "{said:?}");
        talk.is(State::SynReceived(Opening::Passive));
    }
    // The timer is unchanged.
    talk.wakes(1000);
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    // A different SYN does not belong to this connection.
    talk.gets(7000, "S 5 win 5000");
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets(7100, "A 1 ack 1 win 5000");
    talk.is(State::Established);
    // The SYN-ACK was sent more than once, so it gives no round-trip sample (Karn's algorithm).
    assert_eq!(talk.connection.engine().snapshot().samples, 0);
}

#[test]
fn a_syn_ack_without_a_syn_is_refused() {
    let mut talk = Talk::connect(&plain());
    talk.gets(0, "SA 0 ack 1 win 5000");
    assert_eq!(talk.sent(), ["R 1", "S 0 win 10000 mss 1000"]);
}

#[test]
fn simultaneous_ends_with_a_plain_acknowledgement_too() {
    let mut talk = Talk::connect(&plain());
    talk.sent();
    talk.gets(20, "S 0 win 5000 mss 1000");
    talk.sent();
    talk.gets(40, "A 1 ack 1 win 5000");
    talk.is(State::Established);
    talk.says(&[]);
}

#[test]
fn all_options_are_negotiated_if_both_ends_offer_them() {
    let settings = Settings {
        receive_window: 150_000,
        window_scale: WindowScale::Fit,
        timestamps: Some(TimestampSettings { offset: 7, ..TimestampSettings::default() }),
        sack: SackUse::WithDuplicates,
        ..plain()
    };
    let mut talk = Talk::connect(&settings);
    talk.says(&["S 0 win 65535 mss 1000 ws 2 sackok ts 7/0"]);
    talk.gets(30, "SA 0 ack 1 win 100 mss 1000 ws 16 sackok ts 900/7");
    talk.says(&["A 1 ack 1 win 37500 ts 37/900"]);
    assert_eq!(talk.connection.mss(), 988);
    // The window on a SYN is not scaled. Later windows are, and a shift above 14 counts as 14.
    assert_eq!(talk.connection.peer_window(), 100);
    talk.gets(31, "A 1 ack 1 win 2 ts 901/37");
    assert_eq!(talk.connection.peer_window(), 2 << 14);
}

#[test]
fn the_syn_ack_confirms_only_offered_options() {
    let settings = Settings {
        receive_window: 150_000,
        window_scale: WindowScale::Shift(3),
        timestamps: Some(TimestampSettings::default()),
        sack: SackUse::Plain,
        ..plain()
    };
    let mut talk = Talk::listen(&settings);
    talk.gets(0, "S 0 win 5000 mss 1000");
    talk.says(&["SA 0 ack 1 win 65535 mss 1000"]);
    let mut talk = Talk::listen(&settings);
    talk.gets(0, "S 0 win 5000 mss 1000 ws 0 sackok ts 44/0");
    talk.says(&["SA 0 ack 1 win 65535 mss 1000 ws 3 sackok ts 0/44"]);
    // The edge of the window does not move by a single byte.
    talk.gets(1, "A 1 ack 1 win 5000 ts 45/0");
    talk.gets(1, "A 1..2 ack 1 win 5000 ts 46/0");
    talk.wakes(201);
    talk.says(&["A 1 ack 2 win 18749 ts 201/46"]);
}

#[test]
fn a_peer_that_refuses_all_options_gets_none() {
    let settings = Settings { timestamps: Some(TimestampSettings::default()), sack: SackUse::Plain, ..plain() };
    let mut talk = Talk::connect(&settings);
    talk.sent();
    talk.gets(30, "SA 0 ack 1 win 100");
    talk.says(&["A 1 ack 1 win 10000"]);
    assert_eq!(talk.connection.mss(), 536);
    talk.gets(31, "A 1001..1101 ack 1 win 100");
    talk.says(&["A 1 ack 1 win 10000"]);
}

#[test]
fn an_mss_below_the_minimum_is_raised() {
    let mut talk = Talk::connect(&plain());
    talk.sent();
    talk.gets(30, "SA 0 ack 1 win 100 mss 1");
    assert_eq!(talk.connection.mss(), 88);
}

#[test]
fn a_lost_syn_is_repeated_and_given_up() {
    let settings = Settings { give_up: GiveUp { handshake_timeouts: 2, ..GiveUp::default() }, ..plain() };
    let mut talk = Talk::connect(&settings);
    talk.sent();
    talk.wakes(1000);
    talk.says(&["S 0 win 10000 mss 1000"]);
    talk.wakes(3000);
    talk.says(&["S 0 win 10000 mss 1000"]);
    talk.wakes(7000);
    talk.says(&[]);
    assert_eq!(talk.events(), [Event::TimedOut]);
    talk.is(State::Closed);
    assert_eq!(talk.connection.poll_timeout(), eifel_base::time::Instant::NEVER);
}

#[test]
fn a_lost_syn_ack_is_repeated() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1000");
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.wakes(1000);
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
}

#[test]
fn syn_sent_refuses_segments_that_do_not_answer_the_syn() {
    let mut talk = Talk::connect(&plain());
    talk.sent();
    for wrong in ["A 1 ack 0 win 5", "SA 0 ack 2 win 5", "SA 0 ack 0 win 5"] {
        talk.gets(1, wrong);
        let ack = wrong.split_whitespace().nth(3).unwrap();
        talk.says(&[&format!("R {ack}")]);
    }
    talk.gets(1, "R 0 win 0");
    talk.gets(1, "RA 0 ack 2 win 0");
    talk.gets(1, "A 1 ack 1 win 5");
    talk.says(&[]);
    talk.is(State::SynSent);
    talk.gets(1, "RA 0 ack 1 win 0");
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::Refused]);
}

#[test]
fn listen_refuses_segments_that_are_no_syn() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "A 1 ack 17 win 5");
    talk.says(&["R 17"]);
    talk.gets(0, "R 0");
    talk.gets(0, "F 0");
    talk.says(&[]);
    talk.is(State::Listen);
}

#[test]
fn a_syn_received_is_not_completed_by_a_wrong_acknowledgement() {
    for wrong in [0, 2] {
        let mut talk = Talk::listen(&plain());
        talk.gets(0, "S 0 win 5000 mss 1000");
        talk.sent();
        talk.gets(1, &format!("A 1 ack {wrong} win 5000"));
        talk.says(&[&format!("R {wrong}")]);
        talk.is(State::SynReceived(Opening::Passive));
    }
}

#[test]
fn data_on_a_syn_is_left_for_later() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0..10 win 5000 mss 1000");
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.gets(1, "A 1..11 ack 1 win 5000");
    assert_eq!(talk.connection.received(), 10);
}

#[test]
fn without_a_handshake_both_ends_begin_at_position_one() {
    let settings = Settings { timestamps: Some(TimestampSettings::default()), sack: SackUse::Plain, ..plain() };
    let peer = Settings { receive_window: 4000, mss: 800, ..settings };
    let connection =
        Connection::established(&settings, &peer, engine(), PORTS, (Seq(ISS), Seq(crate::talk::IRS)), ms(500));
    assert_eq!(connection.state(), State::Established);
    assert_eq!((connection.mss(), connection.peer_window()), (788, 4000));
    let mut talk = Talk::new(connection);
    talk.now = ms(500);
    talk.connection.write_counted(100);
    talk.says(&["PA 1..101 ack 1 win 10000 ts 500/500"]);
    talk.gets(700, "A 1 ack 101 win 4000 ts 600/500");
    assert_eq!(talk.connection.engine().una(), 101);
    assert_eq!(talk.events(), []);
}

#[test]
fn closing_before_there_is_a_peer_closes_the_connection() {
    let mut talk = Talk::connect(&plain());
    talk.sent();
    talk.connection.shutdown_write();
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::Closed]);
}

#[test]
fn data_written_and_closed_before_the_handshake_ends_follow_it() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1000");
    assert_eq!(talk.connection.write_counted(10), 10);
    talk.connection.shutdown_write();
    assert_eq!(talk.connection.write_counted(10), 0);
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.gets(1, "A 1 ack 1 win 5000");
    talk.is(State::FinWait1);
    talk.says(&["FPA 1..11 ack 1 win 10000"]);
}

/// A router that reports a SYN as too large lies. If believed, both ends would disagree with the
/// engine about the size of a full segment.
#[test]
fn no_syn_is_too_big() {
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1200");
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.connection.handle_icmp(IcmpError::TooBig { mtu: 600, version: Version::V4 }, Seq(ISS));
    talk.wakes(1000);
    talk.says(&["SA 0 ack 1 win 10000 mss 1000"]);
    talk.gets(1050, "A 1 ack 1 win 5000");
    talk.is(State::Established);
    assert_eq!(talk.connection.mss(), 1000);
    assert_eq!(talk.connection.counts().ignored_icmp, 1);
}

/// An ICMP message with an MTU that fits all our packets is ignored.
#[test]
fn a_too_big_message_must_report_less_than_a_full_segment() {
    let mut talk = Talk::open(&plain());
    let full = talk.connection.mss();
    talk.connection.write_counted(u64::from(full));
    talk.sent();
    for (beyond, ignored) in [(1, 1), (0, 2), (-1, 2)] {
        let mtu = (i64::from(full) + 40 + beyond) as u32;
        talk.connection.handle_icmp(IcmpError::TooBig { mtu, version: Version::V4 }, Seq(ISS.wrapping_add(1)));
        assert_eq!(talk.connection.counts().ignored_icmp, ignored, "{beyond}");
    }
}
