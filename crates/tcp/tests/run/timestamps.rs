//! Timestamps: echoes, and rejected segments (RFC 7323, sections 3 to 5).

use crate::talk::{Talk, plain};
use eifel_base::time::Duration;
use eifel_recovery::engine::Event as Told;
use eifel_tcp::settings::{EchoRule, ReceiveKind, SackUse, TimestampSettings};
use eifel_tcp::{Event, Settings};

fn stamped() -> Settings {
    Settings { timestamps: Some(TimestampSettings::default()), receive: ReceiveKind::Drained, ..plain() }
}

/// RFC 7323, section 4.3, figure: a delayed acknowledgement echoes the earliest segment.
#[test]
fn a_delayed_acknowledgement_echoes_the_earliest_segment() {
    let mut talk = Talk::open(&stamped());
    talk.gets(10, "A 1..501 ack 1 win 10000 ts 101/0");
    talk.gets(11, "A 501..1001 ack 1 win 10000 ts 102/0");
    talk.gets(12, "A 1001..2001 ack 1 win 10000 ts 103/0");
    talk.says(&["A 1 ack 2001 win 10000 ts 12/101"]);
    talk.gets(20, "A 2001..2989 ack 1 win 10000 ts 110/0");
    talk.gets(21, "A 2989..3977 ack 1 win 10000 ts 111/0");
    talk.says(&["A 1 ack 3977 win 10000 ts 21/110"]);
}

/// RFC 7323, section 4.3, figure: a gap, and the segment that fills it.
#[test]
fn out_of_order_segments_echo_the_last_in_order_and_a_filling_segment_itself() {
    let mut talk = Talk::open(&stamped());
    talk.gets(10, "A 1..989 ack 1 win 10000 ts 101/0");
    talk.gets(11, "A 1977..2965 ack 1 win 10000 ts 103/0");
    talk.says(&["A 1 ack 989 win 10000 ts 11/101"]);
    talk.gets(12, "A 2965..3953 ack 1 win 10000 ts 104/0");
    talk.says(&["A 1 ack 989 win 10000 ts 12/101"]);
    talk.gets(13, "A 989..1977 ack 1 win 10000 ts 109/0");
    talk.says(&["A 1 ack 3953 win 10000 ts 13/109"]);
}

#[test]
fn a_duplicate_is_echoed_only_in_the_variant() {
    for (echo, expected) in [(EchoRule::Standard, 101), (EchoRule::OnDuplicates, 150)] {
        let timestamps = Some(TimestampSettings { echo, ..TimestampSettings::default() });
        let mut talk = Talk::open(&Settings { timestamps, ..stamped() });
        talk.gets(10, "A 1..989 ack 1 win 10000 ts 101/0");
        talk.gets(10, "A 989..1977 ack 1 win 10000 ts 101/0");
        talk.says(&["A 1 ack 1977 win 10000 ts 10/101"]);
        // The acknowledgement is lost, so the peer retransmits the first segment.
        talk.gets(70, "A 1..989 ack 1 win 10000 ts 150/0");
        talk.says(&[&format!("A 1 ack 1977 win 10000 ts 70/{expected}")]);
        // Neither rule echoes an old timestamp.
        talk.gets(80, "A 1..989 ack 1 win 10000 ts 99/0");
        talk.says(&[&format!("A 1 ack 1977 win 10000 ts 80/{expected}")]);
    }
}

/// For the oracle: a segment refused by PAWS brings nothing new, but its duplicate data counts as
/// present.
#[test]
fn new_data_that_paws_refuses_does_not_count_as_present() {
    let mut talk = Talk::open(&stamped());
    talk.gets(10, "A 1..101 ack 1 win 10000 ts 150/0");
    let below = |text| talk.connection.takes_below(talk.now, &crate::talk::read(text));
    let (old, same) = (below("A 101..201 ack 1 win 10000 ts 149/0"), below("A 101..201 ack 1 win 10000 ts 150/0"));
    assert_eq!((old, same), (101, talk.connection.announced()));
}

#[test]
fn a_segment_with_an_old_timestamp_is_dropped_and_acknowledged() {
    let mut talk = Talk::open(&Settings { sack: SackUse::WithDuplicates, ..stamped() });
    talk.gets(10, "A 1..101 ack 1 win 10000 ts 99/0");
    talk.says(&["A 1 ack 1 win 10000 ts 10/100"]);
    assert_eq!(talk.connection.received(), 0);
    // A repeated value is not old.
    talk.gets(10, "A 1..101 ack 1 win 10000 ts 100/0");
    assert_eq!(talk.connection.received(), 100);
    // A segment without the negotiated timestamp is dropped.
    talk.gets(10, "A 101..201 ack 1 win 10000");
    assert_eq!(talk.connection.received(), 100);
    let counts = talk.connection.counts();
    assert_eq!((counts.old_timestamps, counts.missing_timestamps), (1, 1));
    // A reset needs no timestamp.
    talk.gets(10, "R 101");
    talk.is(eifel_tcp::State::Closed);
}

#[test]
fn one_forged_stamp_ahead_of_the_window_poisons_nothing() {
    let mut talk = Talk::open(&stamped());
    // Begins above Last.ACK.sent.
    talk.gets(10, "A 2001..2002 ack 1 win 10000 ts 1000000/0");
    talk.sent();
    // Begins at Last.ACK.sent, but acknowledges unsent data.
    talk.gets(10, "A 1..2 ack 5000 win 10000 ts 1000000/0");
    talk.sent();
    for step in 0..100u64 {
        let start = 1 + step * 10;
        talk.gets(20 + step, &format!("A {start}..{} ack 1 win 10000 ts {}/0", start + 10, 101 + step));
    }
    assert_eq!(talk.connection.received(), 1000);
}

/// The acknowledgement of a segment below the window counts, but not its timestamp. Otherwise PAWS
/// would refuse the data of the real peer (RFC 7323, section 4.3, step 2: only of an acceptable
/// segment).
#[test]
fn a_stamp_below_the_window_poisons_nothing() {
    let mut talk = Talk::open(&stamped());
    talk.gets(10, "A 1..989 ack 1 win 10000 ts 101/0");
    talk.gets(20, "A 1 ack 1 win 10000 ts 150/0");
    talk.gets(30, "A 989..1977 ack 1 win 10000 ts 102/0");
    assert_eq!(talk.connection.received(), 1976);
}

#[test]
fn after_twenty_four_days_ts_recent_is_outdated() {
    let mut talk = Talk::open(&stamped());
    let days = 24 * 24 * 3600 * 1000;
    talk.gets(days, "A 1..101 ack 1 win 10000 ts 99/0");
    assert_eq!(talk.connection.received(), 0);
    talk.gets(days + 1, "A 1..101 ack 1 win 10000 ts 99/0");
    assert_eq!(talk.connection.received(), 100);
}

#[test]
fn an_echo_is_valid_across_the_clocks_wrap() {
    let timestamps = Some(TimestampSettings {
        granularity: Duration::from_millis(10),
        offset: u32::MAX,
        ..TimestampSettings::default()
    });
    let mut talk = Talk::open(&Settings { timestamps, ..stamped() });
    let handshake = talk.connection.counts().ignored_echoes;
    talk.connection.write_counted(100);
    talk.now = crate::talk::ms(9);
    talk.says(&["PA 1..101 ack 1 win 10000 ts 4294967295/100"]);
    talk.gets(35, "A 1 ack 101 win 10000 ts 101/4294967295");
    assert_eq!(talk.connection.counts().ignored_echoes, handshake);
    talk.connection.write_counted(100);
    talk.says(&["PA 101..201 ack 1 win 10000 ts 2/101"]);
    // Echoes older than all outstanding segments, and newer than the clock.
    talk.gets(60, "A 1 ack 101 win 10000 ts 102/1");
    talk.gets(60, "A 1 ack 101 win 10000 ts 102/6");
    assert_eq!(talk.connection.counts().ignored_echoes, handshake + 2);
    talk.gets(60, "A 1 ack 201 win 10000 ts 102/2");
    assert_eq!(talk.connection.counts().ignored_echoes, handshake + 2);
}

#[test]
fn the_peers_clock_wraps() {
    let mut talk = Talk::listen(&stamped());
    talk.gets(0, "S 0 win 10000 mss 1000 ts 4294967290/0");
    talk.sent();
    talk.gets(0, "A 1 ack 1 win 10000 ts 4294967295/0");
    talk.gets(1, "A 1..101 ack 1 win 10000 ts 3/0");
    talk.gets(2, "A 101..201 ack 1 win 10000 ts 4294967295/0");
    assert_eq!(talk.connection.received(), 100);
    talk.says(&["A 1 ack 101 win 9900 ts 2/3"]);
}

#[test]
fn a_retransmission_does_not_outdate_the_stamps_of_what_follows() {
    let mut talk = Talk::open(&stamped());
    talk.connection.write_counted(988);
    talk.says(&["PA 1..989 ack 1 win 10000 ts 0/100"]);
    talk.now = crate::talk::ms(5);
    talk.connection.write_counted(988);
    talk.says(&["PA 989..1977 ack 1 win 10000 ts 5/100"]);
    talk.wakes(1000);
    talk.says(&["A 1..989 ack 1 win 10000 ts 1000/100"]);
    // The original was only late: its timestamp is echoed, then that of the second segment.
    talk.gets(1100, "A 1 ack 989 win 10000 ts 101/0");
    talk.gets(1100, "A 1 ack 1977 win 10000 ts 101/5");
    assert_eq!(talk.connection.counts().ignored_echoes, 0);
}

/// Whatever a lying peer echoes, the smoothed round-trip time stays within the real round trips.
#[test]
fn random_echoes_do_not_move_the_timer() {
    let mut talk = Talk::open(&stamped());
    let mut random = 1u64;
    let mut draw = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as u32
    };
    let (mut at, mut acked) = (1000, 1);
    for round in 0..10_000u64 {
        talk.connection.write_counted(988);
        talk.now = crate::talk::ms(at);
        talk.sent();
        at += 100;
        for lie in 0..100 {
            // Half of the false echoes are near the true ones.
            let echo = if lie % 2 == 0 { draw() } else { at as u32 - 250 + draw() % 150 + 300 * (draw() % 2) };
            talk.gets(at, &format!("A 1 ack {acked} win 10000 ts {}/{echo}", 200 + round));
        }
        acked += 988;
        let echo = draw();
        talk.gets(at, &format!("A 1 ack {acked} win 10000 ts {}/{echo}", 200 + round));
        let snapshot = talk.connection.engine().snapshot();
        if let Some(srtt) = snapshot.srtt {
            // The handshake took no time, which is the lowest of the round trips.
            assert!(srtt <= Duration::from_millis(101), "{srtt:?}");
        }
    }
    assert!(talk.connection.counts().ignored_echoes > 900_000);
}

/// RFC 7323, section 5.5: half of the number space in microseconds is 36 minutes, and a peer keeps
/// TS.Recent for 24 days.
#[test]
fn an_hour_of_silence_does_not_make_timestamps_old() {
    let distinct = Settings { timestamps: Some(TimestampSettings::distinct([1, 2])), ..stamped() };
    let mut talk = Talk::open(&distinct);
    let handshake = talk.connection.counts();
    let (mut last, mut acked) = (None, 1);
    for hours in [0, 1, 2, 26, 27] {
        let at = hours * 3_600_000 + 1000;
        talk.now = crate::talk::ms(at);
        talk.connection.write_counted(100);
        let sent = eifel_testkit::connections::next(&mut talk.connection, talk.now)
            .unwrap()
            .segment
            .options
            .timestamps
            .unwrap();
        assert!(eifel_testkit::connections::next(&mut talk.connection, talk.now).is_none());
        if let Some(last) = last {
            let ahead = sent.value.wrapping_sub(last);
            assert!(((1 << 20)..=(1 << 20) + 64).contains(&ahead), "{hours}: {ahead}");
        }
        last = Some(sent.value);
        acked += 100;
        talk.gets(at + 80, &format!("A 1 ack {acked} win 10000 ts {}/{}", 200 + hours, sent.value));
        // The round trip counts from the departure, after any pause.
        assert_eq!(talk.connection.engine().snapshot().latest_rtt, Some(Duration::from_millis(80)));
    }
    assert_eq!(talk.connection.counts(), handshake);
}

/// Three echoes of values that were never sent disable the active detector. Passive detectors
/// continue.
#[test]
fn three_forged_echoes_are_reported_as_one_distrust() {
    let distinct = Settings { timestamps: Some(TimestampSettings::distinct([1, 2])), ..stamped() };
    let mut talk = Talk::open(&distinct);
    talk.connection.write_counted(988);
    let sent =
        eifel_testkit::connections::next(&mut talk.connection, talk.now).unwrap().segment.options.timestamps.unwrap();
    let mut distrusted = Vec::new();
    for lie in 1..10 {
        talk.gets(lie, &format!("A 1 ack 1 win {} ts 200/{}", 10_000 - lie, sent.value.wrapping_add(1_000_000)));
        let events = std::iter::from_fn(|| talk.connection.poll_event());
        let told = events.filter(|event| matches!(event, Event::Recovery(Told::Distrusted { detector: 0, .. })));
        distrusted.extend(told.map(|_| lie));
    }
    assert_eq!((distrusted, talk.connection.counts().forged_echoes), (vec![3], 9));
}
