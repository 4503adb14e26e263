//! When data is acknowledged (RFC 5681, section 4.2), and with which SACK blocks (RFC 2018; RFC 2883, section 4).

use crate::talk::{Talk, plain};
use eifel_base::time::{Duration, Instant};
use eifel_tcp::Settings;
use eifel_tcp::settings::{AckSettings, OutOfOrderAck, ReceiveKind, SackUse, TimestampSettings};

fn sack() -> Settings {
    Settings { sack: SackUse::WithDuplicates, ..plain() }
}

#[test]
fn every_second_full_sized_segment_is_acknowledged_at_once() {
    let mut talk = Talk::open(&plain());
    talk.gets(10, "A 1..1001 ack 1 win 10000");
    talk.says(&[]);
    talk.gets(20, "A 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 2001 win 10000"]);
    assert_eq!(talk.connection.poll_timeout(), Instant::NEVER);
    talk.gets(30, "A 2001..3001 ack 1 win 10000");
    talk.says(&[]);
    talk.wakes(230);
    talk.says(&["A 1 ack 3001 win 10000"]);
    // The timer runs from the first unacknowledged byte.
    talk.gets(300, "A 3001..3101 ack 1 win 10000");
    talk.gets(400, "A 3101..3201 ack 1 win 10000");
    talk.says(&[]);
    talk.wakes(500);
    talk.says(&["A 1 ack 3201 win 9800"]);
}

#[test]
fn the_number_of_segments_per_acknowledgement_is_a_setting() {
    let every = |every, delay| {
        let acks = AckSettings { every, delay: Duration::from_millis(delay), ..AckSettings::default() };
        let mut talk = Talk::open(&Settings { acks, ..plain() });
        (0..6u64)
            .map(|step| {
                let start = 1 + step * 1000;
                talk.gets(10 + step, &format!("A {start}..{} ack 1 win 10000", start + 1000));
                talk.sent().len()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(every(3, 100), [0, 0, 1, 0, 0, 1]);
    assert_eq!(every(1, 100), [1; 6]);
    assert_eq!(every(0, 100), [1; 6]);
    assert_eq!(every(2, 0), [1; 6]);
}

#[test]
fn data_carries_a_delayed_acknowledgement() {
    let mut talk = Talk::open(&plain());
    talk.gets(10, "A 1..101 ack 1 win 10000");
    talk.connection.write_counted(50);
    talk.says(&["PA 1..51 ack 101 win 9900"]);
    talk.gets(20, "A 101..1101 ack 51 win 10000");
    talk.gets(20, "A 1101..2101 ack 51 win 10000");
    talk.connection.write_counted(50);
    talk.says(&["PA 51..101 ack 2101 win 10000"]);
    assert_eq!(talk.connection.poll_timeout(), talk.connection.engine().deadline());
}

#[test]
fn out_of_order_and_filling_segments_are_acknowledged_at_once() {
    let mut talk = Talk::open(&plain());
    talk.gets(10, "A 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets(11, "A 3001..4001 ack 1 win 10000");
    // A duplicate ACK carries no data, even if data waits.
    talk.connection.write_counted(10);
    talk.says(&["A 1 ack 1 win 10000", "PA 1..11 ack 1 win 10000"]);
    // Fills a part of the gap, then the rest.
    talk.gets(12, "A 1..501 ack 11 win 10000");
    talk.says(&["A 11 ack 501 win 9500"]);
    talk.gets(13, "A 501..1001 ack 11 win 10000");
    talk.says(&["A 11 ack 2001 win 10000"]);
    talk.gets(14, "A 2001..3001 ack 11 win 10000");
    talk.says(&["A 11 ack 4001 win 10000"]);
    // In order again, so the acknowledgement is delayed again.
    talk.gets(15, "A 4001..5001 ack 11 win 10000");
    talk.says(&[]);
    // A duplicate is acknowledged at once.
    talk.gets(16, "A 4001..5001 ack 11 win 10000");
    talk.says(&["A 11 ack 5001 win 10000"]);
}

/// RFC 2018, section 5, case 2: the first of eight segments is lost. Case 3: the second, fourth,
/// sixth and eighth are lost.
#[test]
fn the_cases_of_rfc_2018() {
    let mut talk = Talk::open(&sack());
    for (step, right) in [1501, 2001, 2501, 3001, 3501, 4001, 4501].into_iter().enumerate() {
        talk.gets(step as u64, &format!("A {}..{right} ack 1 win 10000", right - 500));
        if right > 1501 {
            talk.says(&[&format!("A 1 ack 1 win 10000 sack 1001-{right}")]);
        } else {
            talk.sent();
        }
    }
    let mut talk = Talk::open(&sack());
    talk.gets(0, "A 1..501 ack 1 win 10000");
    talk.says(&[]);
    talk.gets(1, "A 1001..1501 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500 sack 1001-1501"]);
    talk.gets(2, "A 2001..2501 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500 sack 2001-2501 1001-1501"]);
    talk.gets(3, "A 3001..3501 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500 sack 3001-3501 2001-2501 1001-1501"]);
    // The fourth segment arrives. Two blocks merge, and the merged block comes first.
    talk.gets(4, "A 1501..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500 sack 1001-2501 3001-3501"]);
    // The second segment arrives.
    talk.gets(5, "A 501..1001 ack 1 win 10000");
    talk.says(&["A 1 ack 2501 win 10000 sack 3001-3501"]);
}

#[test]
fn an_option_has_three_sack_blocks_with_timestamps_and_four_without() {
    let gaps = |settings: &Settings, stamp: &str| {
        let mut talk = Talk::open(settings);
        for start in [1001, 2001, 3001, 4001] {
            talk.gets(5, &format!("A {start}..{} ack 1 win 10000{stamp}", start + 100));
            talk.sent();
        }
        talk.gets(5, &format!("A 5001..5101 ack 1 win 10000{stamp}"));
        talk.sent()
    };
    assert_eq!(gaps(&sack(), ""), ["A 1 ack 1 win 10000 sack 5001-5101 4001-4101 3001-3101 2001-2101"]);
    let stamped = Settings { timestamps: Some(TimestampSettings::default()), ..sack() };
    assert_eq!(gaps(&stamped, " ts 101/0"), ["A 1 ack 1 win 10000 ts 5/100 sack 5001-5101 4001-4101 3001-3101"]);
}

/// RFC 2883, section 4.1: whole segments. The numbers are the RFC's, minus a constant.
#[test]
fn duplicate_segments_are_reported_first() {
    // 4.1.1: the acknowledgements were lost, and all data has arrived.
    let mut talk = Talk::open(&sack());
    talk.gets(0, "A 1..501 ack 1 win 10000");
    talk.gets(0, "A 501..1001 ack 1 win 10000");
    talk.sent();
    talk.gets(1, "A 1..501 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1-501"]);
    // 4.1.2: with a gap above.
    talk.gets(2, "A 1501..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1501-2001"]);
    talk.gets(3, "A 1..501 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1-501 1501-2001"]);
    // 4.1.3: a duplicate of an out-of-order segment.
    talk.gets(4, "A 1501..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1501-2001 1501-2001"]);
    // A duplicate within a larger block: the block follows.
    talk.gets(5, "A 2001..2501 ack 1 win 10000");
    talk.sent();
    talk.gets(6, "A 2001..2501 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 2001-2501 1501-2501"]);
    // The DSACK is sent once.
    talk.gets(7, "A 3001..3501 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 3001-3501 1501-2501"]);
}

#[test]
fn the_block_that_contains_a_duplicate_follows_the_dsack() {
    let mut talk = Talk::open(&sack());
    for start in [1001, 3001, 5001] {
        talk.gets(0, &format!("A {start}..{} ack 1 win 10000", start + 1000));
    }
    talk.sent();
    talk.gets(1, "A 1501..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1 win 10000 sack 1501-2001 1001-2001 5001-6001 3001-4001"]);
}

/// RFC 2883, section 4.2: parts of segments.
#[test]
fn duplicate_parts_are_reported_and_only_the_first_of_several() {
    // The lower half of a segment is a duplicate, below the cumulative ACK.
    let mut talk = Talk::open(&sack());
    talk.gets(0, "A 1..501 ack 1 win 10000");
    talk.gets(1, "A 1..1001 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1-501"]);
    // A larger segment fills the gap and repeats the block after it.
    talk.gets(2, "A 1501..2001 ack 1 win 10000");
    talk.sent();
    talk.gets(3, "A 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 2001 win 10000 sack 1501-2001"]);
    // Two separate parts are duplicates: the first is reported.
    talk.gets(4, "A 2501..3001 ack 1 win 10000");
    talk.gets(4, "A 3501..4001 ack 1 win 10000");
    talk.gets(4, "A 4501..5001 ack 1 win 10000");
    talk.sent();
    talk.gets(5, "A 2001..4001 ack 1 win 10000");
    talk.says(&["A 1 ack 4001 win 10000 sack 2501-3001 4501-5001"]);
}

#[test]
fn duplicates_are_not_reported_without_the_setting() {
    let mut talk = Talk::open(&Settings { sack: SackUse::Plain, ..plain() });
    talk.gets(0, "A 1..501 ack 1 win 10000");
    talk.gets(1, "A 1..501 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500"]);
    talk.gets(2, "A 1001..1501 ack 1 win 10000");
    talk.gets(2, "A 1001..1501 ack 1 win 10000");
    talk.says(&["A 1 ack 501 win 9500 sack 1001-1501"]);
}

#[test]
fn data_carries_sack_blocks_where_they_fit() {
    let mut talk = Talk::open(&sack());
    talk.gets(0, "A 1001..1501 ack 1 win 10000");
    talk.sent();
    talk.connection.write_counted(1989);
    talk.says(&["A 1..1001 ack 1 win 10000", "PA 1001..1990 ack 1 win 10000"]);
    // 12 bytes: the option's kind and length, its padding and one block.
    talk.connection.write_counted(988);
    talk.says(&["PA 1990..2978 ack 1 win 10000 sack 1001-1501"]);
}

#[test]
fn a_million_gaps_cost_little_and_heal() {
    let settings = Settings { receive_window: 1 << 30, sack: SackUse::WithDuplicates, ..plain() };
    let settings =
        Settings { window_scale: eifel_tcp::settings::WindowScale::Fit, receive: ReceiveKind::Drained, ..settings };
    let mut talk = Talk::listen(&settings);
    talk.gets(0, "S 0 win 10000 mss 1000 ws 0 sackok");
    talk.sent();
    talk.gets(0, "A 1 ack 1 win 10000");
    let mut segment = crate::talk::read("A 1..2 ack 1 win 10000");
    let first = segment.seq.0;
    // Odd positions from the highest down, then the even ones from the lowest up.
    for piece in (0..1_000_000u32).rev() {
        segment.seq.0 = first.wrapping_add(1 + piece * 2);
        talk.connection.handle_segment(talk.now, &segment, &[]);
        assert!(eifel_testkit::connections::next(&mut talk.connection, talk.now).is_some());
    }
    for piece in 0..1_000_000u32 {
        segment.seq.0 = first.wrapping_add(piece * 2);
        talk.connection.handle_segment(talk.now, &segment, &[]);
    }
    assert_eq!(talk.connection.received(), 2_000_000);
}

fn with_data() -> Settings {
    let acks = AckSettings { out_of_order: OutOfOrderAck::WithData, ..AckSettings::default() };
    Settings { acks, ..sack() }
}

/// One block takes 12 bytes of a segment, two take 20 (RFC 9293, section 3.7.1).
#[test]
fn with_data_segments_carry_all_blocks_and_are_shorter_by_them() {
    let mut talk = Talk::open(&with_data());
    // No data waits, so a segment without data leaves.
    talk.gets(10, "A 1001..2001 ack 1 win 10000");
    talk.says(&["A 1 ack 1 win 10000 sack 1001-2001"]);
    talk.connection.write_counted(2500);
    talk.says(&[
        "A 1..989 ack 1 win 10000 sack 1001-2001",
        "A 989..1977 ack 1 win 10000 sack 1001-2001",
        "PA 1977..2501 ack 1 win 10000 sack 1001-2001",
    ]);
    talk.connection.write_counted(980);
    talk.says(&["PA 2501..3481 ack 1 win 10000 sack 1001-2001"]);
    // Data acknowledges the arrival, and nothing else leaves.
    talk.connection.write_counted(980);
    talk.gets(11, "A 3001..4001 ack 2501 win 10000");
    talk.says(&["PA 3481..4461 ack 1 win 10000 sack 3001-4001 1001-2001"]);
    // A retransmission of a longer segment is cut.
    talk.wakes(1011);
    assert_eq!(talk.sent()[0], "A 2501..3481 ack 1 win 10000 sack 3001-4001 1001-2001");
    // The gaps are filled.
    talk.gets(1020, "A 1..1001 ack 4461 win 10000");
    talk.gets(1020, "A 2001..3001 ack 4461 win 10000");
    talk.connection.write_counted(1000);
    talk.says(&["PA 4461..5461 ack 4001 win 10000"]);
}

#[test]
fn a_duplicate_report_takes_the_room_of_one_segment() {
    let mut talk = Talk::open(&with_data());
    talk.gets(10, "A 1..1001 ack 1 win 10000");
    talk.gets(10, "A 1001..2001 ack 1 win 10000");
    talk.sent();
    talk.connection.write_counted(2000);
    talk.gets(11, "A 1501..2501 ack 1 win 10000");
    talk.says(&[
        "A 1..989 ack 2501 win 9500 sack 1501-2001",
        "A 989..1989 ack 2501 win 9500",
        "PA 1989..2001 ack 2501 win 9500",
    ]);
}

/// An answer to a segment outside the window leaves alone all the same.
#[test]
fn an_old_duplicate_is_answered_without_data() {
    let mut talk = Talk::open(&with_data());
    talk.gets(10, "A 1..1001 ack 1 win 10000");
    talk.sent();
    talk.connection.write_counted(10);
    talk.gets(11, "A 1..1001 ack 1 win 10000");
    talk.says(&["A 1 ack 1001 win 10000 sack 1-1001", "PA 1..11 ack 1001 win 10000"]);
}

/// With an MSS below 20 one block would leave less than 8 bytes of payload.
#[test]
fn blocks_leave_at_least_eight_bytes_of_payload() {
    for (mss, expected) in [(19, "A 1..20 ack 1 win 10000"), (20, "A 1..9 ack 1 win 10000 sack 1001-1011")] {
        let mut talk = Talk::open(&Settings { mss, ..with_data() });
        talk.gets(10, "A 1001..1011 ack 1 win 10000");
        talk.sent();
        talk.connection.write_counted(100);
        assert_eq!(talk.sent()[0], expected, "{mss}");
    }
}
