//! Short segments that wait for an acknowledgement, for more data, or for a push (RFC 9293,
//! sections 3.7.4 and 3.9.1.2). Also quick acknowledgements of the first segments.

use crate::talk::{Talk, ms, plain};
use eifel_base::time::{Duration, Instant};
use eifel_tcp::settings::AckSettings;
use eifel_tcp::{Event, Settings, State};

#[test]
fn a_cork_holds_short_segments_until_it_is_removed() {
    let mut talk = Talk::open(&plain());
    talk.connection.cork(true);
    talk.connection.write_counted(40);
    talk.connection.write_counted(1000);
    talk.says(&["A 1..1001 ack 1 win 10000"]);
    talk.gets(10, "A 1 ack 1001 win 10000");
    talk.says(&[]);
    talk.connection.cork(false);
    talk.says(&["PA 1001..1041 ack 1 win 10000"]);
}

/// The timer is the retransmission timer's first interval, 1 s. The cork still holds data that is
/// written later.
#[test]
fn a_cork_holds_for_a_timeout_at_the_most() {
    let mut talk = Talk::open(&plain());
    talk.connection.cork(true);
    talk.connection.write_counted(40);
    talk.says(&[]);
    talk.now = ms(300);
    talk.connection.write_counted(2);
    talk.says(&[]);
    talk.wakes(1000);
    talk.says(&["A 1..43 ack 1 win 10000"]);
    talk.gets(1100, "A 1 ack 43 win 10000");
    talk.connection.write_counted(5);
    talk.says(&[]);
    talk.connection.set_nagle(false);
    talk.says(&["A 43..48 ack 1 win 10000"]);
    talk.connection.write_counted(5);
    talk.connection.shutdown_write();
    talk.says(&["FPA 48..53 ack 1 win 10000"]);
}

/// The peer's window closes meanwhile: the timer first pushes, then probes.
#[test]
fn a_closed_window_is_probed_after_the_push() {
    let mut talk = Talk::open(&plain());
    talk.connection.cork(true);
    talk.connection.write_counted(40);
    talk.says(&[]);
    talk.gets(10, "A 1 ack 1 win 0");
    talk.says(&[]);
    talk.wakes(1000);
    talk.says(&[]);
    talk.wakes(2000);
    talk.says(&["A 1..2 ack 1 win 10000"]);
}

#[test]
fn with_more_follows_a_short_segment_waits_for_data_or_an_acknowledgement() {
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(40);
    talk.connection.more_follows();
    talk.says(&[]);
    talk.connection.write_counted(60);
    talk.says(&["PA 1..101 ack 1 win 10000"]);
    talk.connection.write_counted(1020);
    talk.connection.more_follows();
    talk.says(&["A 101..1101 ack 1 win 10000"]);
    // The ACK has no news.
    talk.gets(5, "A 1 ack 1 win 9000");
    talk.says(&[]);
    talk.gets(10, "A 1 ack 101 win 10000");
    talk.says(&["A 1101..1121 ack 1 win 10000"]);
}

#[test]
fn nagles_algorithm_can_be_turned_on_and_off() {
    let mut talk = Talk::open(&Settings { nagle: true, ..plain() });
    talk.connection.write_counted(40);
    talk.says(&["PA 1..41 ack 1 win 10000"]);
    talk.connection.write_counted(40);
    talk.says(&[]);
    talk.connection.set_nagle(false);
    talk.says(&["PA 41..81 ack 1 win 10000"]);
    talk.connection.set_nagle(true);
    talk.connection.write_counted(7);
    talk.connection.more_follows();
    talk.says(&[]);
    talk.connection.write_counted(7);
    talk.says(&[]);
    talk.gets(10, "A 1 ack 81 win 10000");
    talk.says(&["PA 81..95 ack 1 win 10000"]);
}

/// Returns the sent segments, without the window.
fn acks(talk: &mut Talk) -> Vec<String> {
    talk.sent().iter().map(|said| said.split(" win").next().unwrap_or_default().to_owned()).collect()
}

/// Three segments are acknowledged at once. The acknowledgement of the fourth is delayed.
#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let settings = Settings { acks: AckSettings { quick: 3, ..AckSettings::default() }, ..plain() };
    let mut talk = Talk::open(&settings);
    for (at, (first, end)) in [(1, 301), (301, 302), (302, 1302)].into_iter().enumerate() {
        talk.gets(at as u64, &format!("A {first}..{end} ack 1 win 10000"));
        assert_eq!(acks(&mut talk), [format!("A 1 ack {end}")]);
    }
    talk.gets(10, "A 1302..1402 ack 1 win 10000");
    talk.says(&[]);
    talk.wakes(210);
    assert_eq!(acks(&mut talk), ["A 1 ack 1402"]);
}

/// Data sent within 200 ms, the delay of an acknowledgement, may answer the data that has arrived.
/// Later data does not.
#[test]
fn sending_data_ends_quick_acknowledgements() {
    let settings = Settings { acks: AckSettings { quick: 30, ..AckSettings::default() }, ..plain() };
    for (at, ended) in [(199, true), (200, false)] {
        let mut talk = Talk::open(&settings);
        talk.connection.write_counted(10);
        talk.says(&["PA 1..11 ack 1 win 10000"]);
        talk.gets(0, "A 1..101 ack 11 win 10000");
        assert_eq!(acks(&mut talk), ["A 11 ack 101"]);
        talk.now = ms(at);
        talk.connection.write_counted(10);
        assert_eq!(acks(&mut talk), ["PA 11..21 ack 101"]);
        talk.gets(at, "A 101..201 ack 21 win 10000");
        let said = talk.sent();
        assert_eq!(said.is_empty(), ended, "{said:?}");
    }
}

#[test]
fn a_user_timeout_set_later_counts_from_then() {
    let mut talk = Talk::open(&plain());
    talk.connection.set_user_timeout(ms(0), Some(Duration::from_secs(9)));
    assert_eq!(talk.connection.poll_timeout(), Instant::NEVER, "nothing waits");
    talk.connection.write_counted(10);
    talk.says(&["PA 1..11 ack 1 win 10000"]);
    talk.now = ms(500);
    talk.connection.set_user_timeout(ms(500), Some(Duration::from_millis(400)));
    talk.wakes(900);
    assert_eq!(talk.events(), [Event::TimedOut]);
    talk.is(State::Closed);
}
