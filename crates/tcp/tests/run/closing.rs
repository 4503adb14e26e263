//! Closing: all paths of RFC 9293, figure 5, and TIME-WAIT.

use crate::talk::{Talk, ms, plain};
use eifel_base::time::Instant;
use eifel_tcp::settings::{ReceiveKind, TimestampSettings};
use eifel_tcp::{Event, Settings, State};

#[test]
fn closing_first_ends_in_time_wait() {
    let mut talk = Talk::open(&plain());
    talk.connection.shutdown_write();
    talk.is(State::FinWait1);
    talk.says(&["FA 1 ack 1 win 10000"]);
    talk.gets(10, "A 1 ack 2 win 10000");
    talk.is(State::FinWait2);
    // The other direction is still open.
    talk.gets(20, "A 1..101 ack 2 win 10000");
    talk.wakes(220);
    talk.says(&["A 2 ack 101 win 9900"]);
    talk.gets(300, "FA 101 ack 2 win 10000");
    talk.is(State::TimeWait { until: ms(60_300) });
    talk.says(&["A 2 ack 102 win 9899"]);
    assert_eq!(talk.events(), [Event::PeerClosed]);
    // A repeated FIN is answered, and restarts TIME-WAIT.
    talk.gets(400, "FA 101 ack 2 win 10000");
    talk.is(State::TimeWait { until: ms(60_400) });
    talk.says(&["A 2 ack 102 win 9899"]);
    talk.wakes(60_400);
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::Closed]);
    assert_eq!(talk.connection.received(), 100);
}

#[test]
fn closing_first_gets_fin_and_acknowledgement_in_one_segment() {
    let mut talk = Talk::open(&plain());
    talk.connection.shutdown_write();
    talk.sent();
    talk.gets(10, "FA 1 ack 2 win 10000");
    talk.is(State::TimeWait { until: ms(60_010) });
    talk.says(&["A 2 ack 2 win 9999"]);
    assert_eq!(talk.events(), [Event::PeerClosed]);
}

#[test]
fn a_simultaneous_close_ends_in_time_wait_at_both_ends() {
    let mut talk = Talk::open(&plain());
    talk.connection.shutdown_write();
    talk.sent();
    talk.gets(10, "FA 1 ack 1 win 10000");
    talk.is(State::Closing);
    talk.says(&["A 2 ack 2 win 9999"]);
    talk.gets(20, "A 2 ack 2 win 10000");
    talk.is(State::TimeWait { until: ms(60_020) });
    talk.says(&[]);
}

#[test]
fn closing_second_ends_without_time_wait() {
    let mut talk = Talk::open(&plain());
    talk.gets(10, "FA 1..51 ack 1 win 10000");
    talk.is(State::CloseWait);
    talk.says(&["A 1 ack 52 win 9949"]);
    assert_eq!(talk.events(), [Event::PeerClosed]);
    assert_eq!(talk.connection.write_counted(10), 10);
    talk.says(&["PA 1..11 ack 52 win 9949"]);
    talk.connection.shutdown_write();
    talk.is(State::LastAck);
    talk.says(&["FA 11 ack 52 win 9949"]);
    talk.gets(20, "A 52 ack 11 win 10000");
    talk.is(State::LastAck);
    talk.gets(30, "A 52 ack 12 win 10000");
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::Closed]);
    assert_eq!(talk.connection.received(), 50);
}

#[test]
fn a_fin_ahead_of_its_data_waits_for_it() {
    let mut talk = Talk::open(&Settings { receive: ReceiveKind::Counted, ..plain() });
    talk.gets(10, "FA 101 ack 1 win 10000");
    talk.is(State::Established);
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets(20, "A 1..101 ack 1 win 10000");
    talk.is(State::CloseWait);
    talk.says(&["A 1 ack 102 win 9899"]);
    assert_eq!(talk.events(), [Event::Readable, Event::PeerClosed]);
    assert_eq!(talk.connection.skip(1000), 100);
    // Data after a FIN is ignored.
    talk.gets(30, "A 102..202 ack 1 win 10000");
    talk.says(&["A 1 ack 102 win 9899"]);
    assert_eq!(talk.connection.received(), 100);
}

#[test]
fn a_lost_fin_is_repeated() {
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(100);
    talk.connection.shutdown_write();
    talk.says(&["FPA 1..101 ack 1 win 10000"]);
    talk.wakes(1000);
    talk.says(&["FPA 1..101 ack 1 win 10000"]);
    talk.gets(1100, "A 1 ack 101 win 10000");
    talk.is(State::FinWait1);
    talk.wakes(talk.connection.poll_timeout().as_nanos() / 1_000_000);
    talk.says(&["FA 101 ack 1 win 10000"]);
    talk.gets(5000, "A 1 ack 102 win 10000");
    talk.is(State::FinWait2);
}

/// RFC 7323, section 3.2.
#[test]
fn a_reset_carries_the_timestamps_that_were_agreed_on() {
    let mut talk = Talk::open(&Settings { timestamps: Some(TimestampSettings::default()), ..plain() });
    talk.now = ms(50);
    talk.connection.abort();
    talk.says(&["RA 1 ack 1 ts 50/100"]);
}

#[test]
fn an_abort_resets_the_peer_in_every_state_that_it_knows() {
    let reset = |talk: &mut Talk, expected: &[&str]| {
        talk.connection.abort();
        talk.says(expected);
        talk.is(State::Closed);
        assert_eq!(talk.events().last(), Some(&Event::Closed));
        talk.connection.abort();
        talk.says(&[]);
    };
    let mut talk = Talk::connect(&plain());
    talk.sent();
    reset(&mut talk, &[]);
    reset(&mut Talk::listen(&plain()), &[]);
    let mut talk = Talk::listen(&plain());
    talk.gets(0, "S 0 win 5000 mss 1000");
    talk.sent();
    reset(&mut talk, &["RA 1 ack 1"]);
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(100);
    talk.sent();
    reset(&mut talk, &["RA 101 ack 1"]);
    let mut talk = Talk::open(&plain());
    talk.connection.shutdown_write();
    talk.sent();
    reset(&mut talk, &["RA 2 ack 1"]);
}

#[test]
fn a_closed_connection_answers_with_a_reset() {
    let mut talk = Talk::open(&plain());
    talk.connection.abort();
    talk.sent();
    talk.gets(10, "A 1..101 ack 7 win 10000");
    talk.says(&["R 7"]);
    talk.gets(10, "R 1");
    talk.says(&[]);
    talk.gets(10, "S 0");
    talk.sent();
    talk.gets(10, "F 5..7");
    assert_eq!(
        eifel_testkit::connections::next(&mut talk.connection, ms(10)).unwrap().segment.ack.0,
        crate::talk::IRS.wrapping_add(8)
    );
}

#[test]
fn fin_wait_2_ends_after_a_minute_if_the_application_has_left() {
    let mut talk = Talk::open(&plain());
    talk.connection.close(talk.now);
    talk.is(State::FinWait1);
    talk.says(&["FA 1 ack 1 win 10000"]);
    talk.gets(10, "A 1 ack 2 win 10000");
    talk.is(State::FinWait2);
    // A sign that the peer is alive does not extend FIN-WAIT-2.
    talk.gets(30_000, "A 0 ack 2 win 10000");
    talk.says(&["A 2 ack 1 win 10000"]);
    talk.wakes(60_010);
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::TimedOut]);
    // A later segment finds no connection.
    talk.gets(70_000, "FA 1 ack 2 win 10000");
    talk.says(&["R 2"]);
}

#[test]
fn the_application_may_leave_after_the_close() {
    let mut talk = Talk::open(&plain());
    talk.connection.shutdown_write();
    talk.sent();
    talk.gets(10, "A 1 ack 2 win 10000");
    assert_eq!(talk.connection.poll_timeout(), Instant::NEVER);
    talk.now = ms(500);
    talk.connection.close(talk.now);
    talk.is(State::FinWait2);
    assert_eq!(talk.connection.poll_timeout(), ms(60_500));
    // The peer closes in time.
    talk.gets(60_400, "FA 1 ack 2 win 10000");
    talk.is(State::TimeWait { until: ms(120_400) });
    talk.says(&["A 2 ack 2 win 9999"]);
    talk.wakes(120_400);
    assert_eq!(talk.events(), [Event::PeerClosed, Event::Closed]);
}

#[test]
fn data_that_nobody_will_read_is_answered_by_a_reset() {
    for receive in [ReceiveKind::Drained, ReceiveKind::Counted] {
        for late in ["A 1..101 ack 2 win 10000", "FA 1..101 ack 2 win 10000"] {
            let mut talk = Talk::open(&Settings { receive, ..plain() });
            talk.connection.close(talk.now);
            talk.sent();
            talk.gets(10, late);
            talk.says(&["R 2"]);
            talk.is(State::Closed);
            assert_eq!(talk.events(), [Event::Closed]);
            assert_eq!(talk.connection.poll_timeout(), Instant::NEVER);
        }
    }
}

#[test]
fn data_that_nobody_has_read_is_answered_by_a_reset() {
    let mut talk = Talk::open(&Settings { receive: ReceiveKind::Counted, ..plain() });
    talk.gets(10, "A 1..101 ack 1 win 10000");
    talk.connection.close(talk.now);
    talk.says(&["RA 1 ack 101"]);
    talk.is(State::Closed);
}

#[test]
fn leaving_after_the_peers_fin_waits_only_for_the_own_fin() {
    let mut talk = Talk::open(&plain());
    talk.gets(10, "FA 1 ack 1 win 10000");
    talk.sent();
    talk.connection.close(talk.now);
    talk.is(State::LastAck);
    talk.says(&["FA 1 ack 2 win 9999"]);
    talk.gets(20, "A 2 ack 2 win 10000");
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::PeerClosed, Event::Closed]);
}
