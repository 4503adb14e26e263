//! Lengths of segments near the end of the data and of the peer's window, with and without a FIN.

use crate::talk::{ISS, PORTS, Talk, plain};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_recovery::registry::Choice;
use eifel_tcp::Connection;

#[test]
fn a_fin_goes_with_a_full_or_a_short_last_segment() {
    let closed = |window: u64, bytes| {
        let mut talk = Talk::open(&plain());
        talk.gets(1, &format!("A 1 ack 1 win {window}"));
        talk.connection.write_counted(bytes);
        talk.connection.shutdown_write();
        talk.sent()
    };
    assert_eq!(closed(9000, 1000), ["FPA 1..1001 ack 1 win 10000"]);
    assert_eq!(closed(9000, 1001), ["A 1..1001 ack 1 win 10000", "FPA 1001..1002 ack 1 win 10000"]);
    assert_eq!(closed(9000, 299), ["FPA 1..300 ack 1 win 10000"]);
    // A FIN without room in the peer's window waits.
    assert_eq!(closed(1000, 1000), ["PA 1..1001 ack 1 win 10000"]);
}

/// The peer has offered a window of two segments or more. Half of two segments may be sent, and
/// less waits.
#[test]
fn half_of_two_segments_is_not_silly() {
    let after = |window: u64| {
        let mut talk = Talk::open(&plain());
        talk.gets(1, "A 1 ack 1 win 3000");
        talk.connection.write_counted(9000);
        assert_eq!(talk.sent().len(), 3);
        talk.gets(100, &format!("A 1 ack 3001 win {window}"));
        talk.sent()
    };
    assert_eq!(after(1000), ["A 3001..4001 ack 1 win 10000"]);
    assert_eq!(after(999), [""; 0]);
    // The end of the data is never delayed.
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(1010);
    talk.says(&["A 1..1001 ack 1 win 10000", "PA 1001..1011 ack 1 win 10000"]);
}

/// The largest window was 600 bytes: half of it may be sent.
#[test]
fn half_the_largest_window_is_not_silly() {
    let after = |window: u64| {
        let mut talk = Talk::listen(&plain());
        talk.gets(0, "S 0 win 600 mss 1000");
        talk.sent();
        talk.gets(0, "A 1 ack 1 win 600");
        talk.connection.write_counted(9000);
        talk.says(&["A 1..601 ack 1 win 10000"]);
        talk.gets(100, &format!("A 1 ack 601 win {window}"));
        talk.sent()
    };
    assert_eq!(after(300), ["A 601..901 ack 1 win 10000"]);
    assert_eq!(after(299), [""; 0]);
}

/// A silly window is probed after the RTO with as much data as it takes. The end of the data does
/// not wait.
#[test]
fn a_window_probe_fills_the_room_that_there_is() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 300");
    talk.connection.write_counted(9000);
    talk.says(&[]);
    talk.wakes(1001);
    talk.says(&["A 1..301 ack 1 win 10000"]);

    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 300");
    talk.connection.write_counted(100);
    talk.says(&["PA 1..101 ack 1 win 10000"]);
}

/// An ACK closes the window while pacing delays segments that the window allowed.
#[test]
fn a_window_that_closes_while_pacing_waits_is_probed() {
    let config = Config { pace: Choice::named("pacing"), ..Config::default() };
    let engine = Engine::new(&config).expect("a known algorithm");
    let mut talk = Talk::new(Connection::listen(&plain(), engine, PORTS, Seq(ISS)));
    talk.gets(0, "S 0 win 10000 mss 1000");
    talk.sent();
    talk.gets(0, "A 1 ack 1 win 12000");
    talk.connection.write_counted(20_000);
    assert_eq!(talk.sent().len(), 10);
    talk.gets(100, "A 1 ack 10001 win 2000");
    talk.says(&["A 10001..11001 ack 1 win 10000"]);
    assert!(talk.connection.poll_timeout() < crate::talk::ms(110), "pacing waits");
    talk.gets(101, "A 1 ack 11001 win 0");
    talk.says(&[]);
    // No probe is sent before the timer expires.
    let due = talk.connection.poll_timeout();
    talk.connection.handle_timeout(crate::talk::ms(1100));
    assert_eq!((talk.sent(), talk.connection.poll_timeout()), (vec![], due));
    talk.wakes(1101);
    talk.says(&["A 11001..11002 ack 1 win 10000"]);
}
