//! Flow control: windows that fill, close, are probed, open again, and shrink (RFC 9293, section 3.8.6).

use crate::talk::{Talk, plain};
use eifel_base::time::{Duration, Instant};
use eifel_tcp::settings::{GiveUp, ReceiveKind, SendKind};
use eifel_tcp::{Event, Settings, State};

fn counted() -> Settings {
    Settings { receive: ReceiveKind::Counted, ..plain() }
}

#[test]
fn the_window_closes_while_nothing_is_read_and_opens_with_reading() {
    let mut talk = Talk::open(&Settings { receive_window: 3000, ..counted() });
    talk.gets(10, "A 1..1001 ack 1 win 10000");
    talk.gets(11, "A 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 2001 win 1000"]);
    talk.gets(12, "A 2001..3001 ack 1 win 10000");
    talk.wakes(212);
    talk.says(&["A 1 ack 3001 win 0"]);
    // Probes are answered, but not accepted.
    talk.gets(1000, "A 3001..3002 ack 1 win 10000");
    talk.says(&["A 1 ack 3001 win 0"]);
    assert_eq!(talk.connection.received(), 3000);
    assert_eq!(talk.events(), [Event::Readable]);
    // Too little was read to advertise: neither now nor in the answer to the next probe.
    assert_eq!(talk.connection.skip(999), 999);
    talk.says(&[]);
    talk.gets(2000, "A 3001..3002 ack 1 win 10000");
    talk.says(&["A 1 ack 3001 win 0"]);
    assert_eq!(talk.connection.skip(1), 1);
    talk.says(&["A 1 ack 3001 win 1000"]);
    // Less than twice as much is not worth a window update.
    talk.gets(2010, "A 3001..3101 ack 1 win 10000");
    assert_eq!(talk.connection.skip(800), 800);
    talk.says(&[]);
    assert_eq!(talk.connection.skip(10_000), 1300);
    talk.says(&["A 1 ack 3101 win 3000"]);
    talk.gets(2020, "A 3101..3102 ack 1 win 10000");
    assert_eq!(talk.events(), [Event::Readable]);
}

#[test]
fn no_window_update_is_sent_after_the_peers_fin() {
    let mut talk = Talk::open(&Settings { receive_window: 3000, ..counted() });
    talk.gets(10, "FA 1..3000 ack 1 win 10000");
    talk.says(&["A 1 ack 3001 win 0"]);
    assert_eq!(talk.connection.skip(u64::MAX), 2999);
    talk.says(&[]);
}

#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut talk = Talk::open(&Settings { receive_window: 1500, ..counted() });
    talk.gets(10, "A 1..1001 ack 1 win 10000");
    talk.gets(11, "FA 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1501 win 0"]);
    assert_eq!(talk.connection.received(), 1500);
    talk.is(State::Established);
    assert_eq!(talk.connection.counts().outside_window, 0);
    // Its acknowledgements still count.
    talk.connection.write_counted(10);
    talk.says(&["PA 1..11 ack 1501 win 0"]);
    talk.gets(20, "A 1501..1502 ack 11 win 10000");
    assert_eq!(talk.connection.engine().una(), 11);
    talk.gets(21, "A 1501 ack 11 win 9000");
    assert_eq!(talk.connection.peer_window(), 9000);
}

#[test]
fn a_segment_that_begins_beyond_the_window_is_not_acceptable() {
    let mut talk = Talk::open(&counted());
    talk.gets(1, "A 10000..10001 ack 1 win 10000");
    assert_eq!(talk.connection.counts().outside_window, 0);
    talk.gets(1, "A 10001 ack 1 win 10000");
    assert_eq!(talk.connection.counts().outside_window, 0);
    talk.gets(1, "A 10001..10002 ack 1 win 10000");
    assert_eq!(talk.connection.counts().outside_window, 1);
    talk.gets(1, "A 10002 ack 1 win 10000");
    assert_eq!(talk.connection.counts().outside_window, 2);
}

#[test]
fn only_plain_acknowledgements_count_as_duplicates() {
    let after = |acks: [&str; 3]| {
        let mut talk = Talk::open(&plain());
        talk.connection.write_counted(3000);
        talk.sent();
        for ack in acks {
            talk.gets(50, ack);
        }
        talk.sent().iter().any(|segment| segment.contains(" 1..1001 "))
    };
    assert!(after(["A 1 ack 1 win 10000"; 3]));
    assert!(!after(["A 1 ack 1 win 9999", "A 1 ack 1 win 9998", "A 1 ack 1 win 9997"]));
    assert!(!after(["A 1..11 ack 1 win 10000", "A 11..21 ack 1 win 10000", "A 21..31 ack 1 win 10000"]));
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 0");
    talk.connection.write_counted(3000);
    talk.says(&[]);
    talk.wakes(1001);
    talk.says(&["A 1..2 ack 1 win 10000"]);
    // An acknowledgement without data stays within the peer's window meanwhile.
    talk.gets(1010, "A 5001..5002 ack 1 win 0");
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets(1020, "A 1 ack 2 win 2000");
    talk.says(&["A 2..1002 ack 1 win 10000", "A 1002..2002 ack 1 win 10000"]);
    talk.gets(1100, "A 1 ack 2002 win 10000");
    talk.says(&["PA 2002..3001 ack 1 win 10000"]);
}

/// Answers to probes are alike, but do not indicate a loss: a closed window has no room for a
/// retransmission.
#[test]
fn acks_of_window_probes_are_no_duplicate_acks() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 0");
    talk.connection.write_counted(3000);
    talk.says(&[]);
    let mut at = 1;
    for interval in [1000, 2000, 4000, 8000, 16_000] {
        at += interval;
        talk.wakes(at);
        talk.says(&["A 1..2 ack 1 win 10000"]);
        talk.gets(at + 10, "A 1 ack 1 win 0");
        talk.says(&[]);
    }
    assert_eq!(talk.connection.engine().snapshot().cwnd, 10_000);
}

/// A peer may accept the byte of a probe and keep its window closed. An example is a window that is
/// too small for its window scale.
#[test]
fn window_probes_back_off_even_if_they_are_accepted() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 0");
    talk.connection.write_counted(3000);
    talk.says(&[]);
    let mut at = 1001;
    for (probe, wait) in [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000].into_iter().enumerate() {
        let from = 1 + probe;
        talk.wakes(at);
        talk.says(&[&format!("A {from}..{} ack 1 win 10000", from + 1)]);
        talk.gets(at + 10, &format!("A 1 ack {} win 0", from + 1));
        talk.says(&[]);
        at += 10 + wait;
    }
    // Once the window has opened, the intervals start again.
    talk.gets(at, "A 1 ack 9 win 1000");
    talk.says(&["A 9..1009 ack 1 win 10000"]);
    talk.gets(at + 10, "A 1 ack 1009 win 0");
    talk.says(&[]);
    talk.wakes(at + 1010);
    talk.says(&["A 1009..1010 ack 1 win 10000"]);
}

/// Both ends probe at the same time, and both probes are accepted. Each end's acknowledgements are
/// then one position below the other's RCV.NXT, and both ends would wait for ever for one in order.
#[test]
fn ends_that_have_accepted_each_others_probes_accept_each_others_acks() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 0");
    talk.connection.write_counted(3000);
    talk.says(&[]);
    talk.wakes(1001);
    talk.says(&["A 1..2 ack 1 win 10000"]);
    talk.gets(1010, "A 1..2 ack 1 win 0");
    talk.says(&[]);
    talk.gets(1020, "A 1 ack 2 win 2000");
    talk.says(&["A 2..1002 ack 2 win 9999", "A 1002..2002 ack 2 win 9999"]);
    // A segment below the window that acknowledges unsent data is ignored.
    talk.gets(1030, "A 1 ack 2003 win 10000");
    talk.gets(1030, "A 1 ack 2002 win 10000");
    talk.says(&["PA 2002..3001 ack 2 win 9999"]);
}

#[test]
fn a_shrinking_window_is_tolerated() {
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(3000);
    talk.says(&["A 1..1001 ack 1 win 10000", "A 1001..2001 ack 1 win 10000", "PA 2001..3001 ack 1 win 10000"]);
    talk.gets(10, "A 1 ack 1001 win 500");
    assert_eq!(talk.connection.peer_window(), 500);
    talk.connection.write_counted(1000);
    talk.says(&[]);
    talk.gets(20, "A 1 ack 3001 win 10000");
    talk.says(&["PA 3001..4001 ack 1 win 10000"]);
}

#[test]
fn a_silly_remainder_of_the_window_is_not_used() {
    let mut talk = Talk::open(&plain());
    talk.gets(1, "A 1 ack 1 win 2400");
    talk.connection.write_counted(5000);
    talk.says(&["A 1..1001 ack 1 win 10000", "A 1001..2001 ack 1 win 10000"]);
    talk.gets(2, "A 1 ack 1001 win 1700");
    talk.says(&[]);
    talk.gets(3, "A 1 ack 2001 win 3000");
    talk.says(&["A 2001..3001 ack 1 win 10000", "A 3001..4001 ack 1 win 10000", "PA 4001..5001 ack 1 win 10000"]);
}

#[test]
fn small_segments_wait_only_with_nagles_algorithm() {
    let mut talk = Talk::open(&Settings { nagle: true, ..plain() });
    talk.connection.write_counted(100);
    talk.says(&["PA 1..101 ack 1 win 10000"]);
    talk.connection.write_counted(100);
    talk.says(&[]);
    talk.connection.write_counted(950);
    talk.says(&["A 101..1101 ack 1 win 10000"]);
    talk.gets(10, "A 1 ack 1101 win 10000");
    talk.says(&["PA 1101..1151 ack 1 win 10000"]);
    // A close releases the rest.
    talk.connection.write_counted(10);
    talk.connection.shutdown_write();
    talk.says(&["FPA 1151..1161 ack 1 win 10000"]);
    let mut talk = Talk::open(&plain());
    talk.connection.write_counted(100);
    talk.sent();
    talk.connection.write_counted(100);
    talk.says(&["PA 101..201 ack 1 win 10000"]);
}

#[test]
fn a_connection_is_given_up_after_the_configured_timeouts() {
    let settings = Settings { give_up: GiveUp { timeouts: 2, ..GiveUp::default() }, ..plain() };
    let mut talk = Talk::open(&settings);
    talk.connection.write_counted(100);
    talk.sent();
    for _ in 0..2 {
        let at = talk.connection.poll_timeout();
        talk.now = at;
        talk.connection.handle_timeout(at);
        talk.says(&["PA 1..101 ack 1 win 10000"]);
    }
    let at = talk.connection.poll_timeout();
    talk.connection.handle_timeout(at);
    talk.is(State::Closed);
    assert_eq!(talk.events(), [Event::TimedOut]);
}

#[test]
fn the_user_timeout_ends_a_parked_connection() {
    let give_up = GiveUp { user_timeout: Some(Duration::from_secs(30)), ..GiveUp::default() };
    let mut talk = Talk::open(&Settings { give_up, ..plain() });
    assert_eq!(talk.connection.poll_timeout(), Instant::NEVER);
    talk.connection.write_counted(100);
    talk.sent();
    assert_eq!(talk.connection.poll_timeout(), talk.connection.engine().deadline());
    talk.gets(400, "A 1 ack 101 win 0");
    assert_eq!(talk.connection.poll_timeout(), Instant::NEVER);
    // The timer starts here.
    talk.now = crate::talk::ms(5000);
    talk.connection.write_counted(100);
    talk.says(&[]);
    let mut probes = 0;
    loop {
        let at = talk.connection.poll_timeout();
        talk.now = at;
        talk.connection.handle_timeout(at);
        if talk.connection.state() == State::Closed {
            assert_eq!(at, crate::talk::ms(35_000));
            break;
        }
        for segment in talk.sent() {
            assert!(segment.contains("101..102"), "{segment}");
            probes += 1;
            // The peer answers each probe, but its window stays closed.
            let at = at.as_nanos() / 1_000_000 + 10;
            talk.gets(at, "A 1 ack 101 win 0");
        }
    }
    assert!(probes >= 3);
    assert_eq!(talk.events(), [Event::TimedOut]);
}

#[test]
fn answered_probes_keep_a_connection_and_silence_ends_it() {
    let settings = Settings { give_up: GiveUp { timeouts: 3, ..GiveUp::default() }, ..plain() };
    let mut talk = Talk::open(&settings);
    talk.gets(1, "A 1 ack 1 win 0");
    talk.connection.write_counted(200);
    talk.sent();
    for answered in 0..30 {
        let at = talk.connection.poll_timeout().as_nanos() / 1_000_000;
        talk.wakes(at);
        let probes = talk.sent();
        assert!(answered > 20 || probes.iter().all(|probe| probe.contains("1..2")), "{probes:?}");
        match answered {
            0..20 => talk.gets(at + 10, "A 1 ack 1 win 0"),
            // The window opens: forgiven timeouts no longer count.
            20 => {
                talk.gets(at + 10, "A 1 ack 2 win 5000");
                talk.says(&["PA 2..201 ack 1 win 10000"]);
            }
            _ => {}
        }
        if talk.connection.state() == State::Closed {
            assert_eq!(answered, 24);
            assert_eq!(talk.events(), [Event::TimedOut]);
            return;
        }
    }
    panic!("not given up");
}

#[test]
fn a_full_send_buffer_reports_writable_when_there_is_room() {
    let mut talk = Talk::open(&Settings { send: SendKind::Held { buffer: 150 }, ..plain() });
    assert_eq!(talk.connection.write(&[1; 100]), 100);
    assert_eq!(talk.connection.write(&[2; 100]), 50);
    assert_eq!(talk.connection.write_counted(1), 0);
    let out = eifel_testkit::connections::next(&mut talk.connection, talk.now).unwrap();
    let (front, back) = talk.connection.payload(out.start, out.segment.payload_len);
    assert_eq!([front, back].concat(), [vec![1; 100], vec![2; 50]].concat());
    talk.gets(1, "A 1 ack 121 win 10000");
    assert_eq!(talk.events(), [Event::Writable]);
    assert_eq!(talk.connection.write(&[3; 200]), 120);
}

#[test]
fn a_byte_received_first_is_not_overwritten() {
    let mut talk = Talk::open(&Settings { receive: ReceiveKind::Held, ..plain() });
    talk.gets_bytes(0, "A 4..7 ack 1 win 1", b"DEF");
    talk.gets_bytes(0, "A 3..9 ack 1 win 1", b"cdefgh");
    talk.gets_bytes(0, "A 1..5 ack 1 win 1", b"abXX");
    // This end stores bytes, so a segment without its payload is ignored.
    talk.gets(0, "A 9..11 ack 1 win 1");
    talk.gets_bytes(0, "FA 7..11 ack 1 win 1", b"YYij");
    let mut into = [0; 20];
    assert_eq!(talk.connection.read(&mut into), 10);
    assert_eq!(&into[..10], b"abcDEFghij");
    assert_eq!(talk.events(), [Event::Readable, Event::PeerClosed]);
}
