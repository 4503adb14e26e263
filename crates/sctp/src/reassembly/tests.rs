//! Tests of messages made from chunks in any order.

use super::*;
use eifel_packet::sctp;
use eifel_packet::seq::Seq;

const B: DataFlags = DataFlags::BEGINNING;
const E: DataFlags = DataFlags::ENDING;
const M: DataFlags = DataFlags(0);

fn insert(
    reassembly: &mut Reassembly,
    position: u64,
    (flags, stream, ssn, payload): (DataFlags, u16, u16, &[u8]),
) -> Result<(), Contradiction> {
    let data = sctp::Data { flags, tsn: Seq(0), stream, ssn, ppid: [0; 4], payload };
    reassembly.insert(position, &Data::new(&data, None), payload)
}

fn taken(reassembly: &mut Reassembly) -> Vec<String> {
    std::iter::from_fn(|| reassembly.take()).map(|message| String::from_utf8(message.bytes).unwrap()).collect()
}

#[test]
fn fragments_in_any_order_make_one_message() {
    let fragments = [(B, "one "), (M, "message "), (M, "in "), (E, "four")];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut reassembly = Reassembly::default();
        for index in order {
            let (flags, text) = fragments[index];
            assert!(!reassembly.is_readable());
            insert(&mut reassembly, 7 + index as u64, (flags, 1, 0, text.as_bytes())).unwrap();
        }
        assert_eq!(taken(&mut reassembly), ["one message in four"]);
        assert_eq!(reassembly.held(), 0);
    }
}

#[test]
fn a_gap_in_one_stream_delays_no_other_stream_and_no_unordered_message() {
    let mut reassembly = Reassembly::default();
    let whole = DataFlags::WHOLE;
    insert(&mut reassembly, 1, (whole, 1, 1, b"late")).unwrap();
    insert(&mut reassembly, 2, (whole, 2, 0, b"other")).unwrap();
    insert(&mut reassembly, 3, (whole.with(DataFlags::UNORDERED), 1, 9, b"at once")).unwrap();
    assert_eq!(taken(&mut reassembly), ["other", "at once"]);
    insert(&mut reassembly, 0, (whole, 1, 0, b"early")).unwrap();
    assert_eq!(taken(&mut reassembly), ["early", "late"]);
}

#[test]
fn stream_sequence_numbers_wrap() {
    let mut reassembly = Reassembly::default();
    for number in 0..200_000u64 {
        insert(&mut reassembly, number, (DataFlags::WHOLE, 0, number as u16, b"x")).unwrap();
        assert!(reassembly.take().is_some(), "{number}");
    }
}

#[test]
fn abandoned_chunks_are_dropped_and_waiting_messages_delivered() {
    let mut reassembly = Reassembly::default();
    insert(&mut reassembly, 0, (B, 1, 0, b"begun")).unwrap();
    insert(&mut reassembly, 3, (DataFlags::WHOLE, 1, 2, b"waits")).unwrap();
    reassembly.forward(2);
    reassembly.skip(1, 1);
    assert_eq!(taken(&mut reassembly), ["waits"]);
    assert_eq!(reassembly.held(), 0);
}

#[test]
fn a_message_that_is_too_long_is_delivered_in_parts() {
    let mut reassembly = Reassembly::default();
    let part = |reassembly: &mut Reassembly| {
        let message = reassembly.take()?;
        Some((String::from_utf8(message.bytes).unwrap(), message.ends))
    };
    insert(&mut reassembly, 0, (B, 1, 0, b"one ")).unwrap();
    insert(&mut reassembly, 1, (M, 1, 0, b"two ")).unwrap();
    insert(&mut reassembly, 3, (M, 1, 0, b"four ")).unwrap();
    insert(&mut reassembly, 5, (DataFlags::WHOLE, 1, 1, b"after")).unwrap();
    reassembly.deliver_part(0);
    assert_eq!(part(&mut reassembly), None, "chunks before it are missing");
    reassembly.deliver_part(2);
    assert_eq!(part(&mut reassembly), Some(("one two ".into(), false)));
    insert(&mut reassembly, 2, (M, 1, 0, b"three ")).unwrap();
    assert_eq!(part(&mut reassembly), Some(("three four ".into(), false)));
    insert(&mut reassembly, 4, (E, 1, 0, b"five")).unwrap();
    assert_eq!(part(&mut reassembly), Some(("five".into(), true)));
    assert_eq!(part(&mut reassembly), Some(("after".into(), true)));
    assert_eq!(reassembly.held(), 0);
}

/// RFC 3758, section 3.6.
#[test]
fn a_message_delivered_in_parts_ends_when_its_next_chunk_is_abandoned() {
    let mut reassembly = Reassembly::default();
    let part = |reassembly: &mut Reassembly| reassembly.take().map(|message| (message.bytes, message.ends));
    insert(&mut reassembly, 0, (B, 1, 0, b"one ")).unwrap();
    insert(&mut reassembly, 1, (M, 1, 0, b"two ")).unwrap();
    reassembly.deliver_part(2);
    assert_eq!(part(&mut reassembly), Some((b"one two ".to_vec(), false)));
    reassembly.forward(2);
    assert_eq!(part(&mut reassembly), None, "its next chunk may still come");
    reassembly.forward(3);
    assert_eq!(part(&mut reassembly), Some((Vec::new(), true)));
    assert_eq!(reassembly.held(), 0);
}

#[test]
fn contradictory_fragments_are_rejected() {
    for (first, second) in [((B, 1), (B, 1)), ((B, 1), (E, 2)), ((E, 1), (M, 1)), ((DataFlags::WHOLE, 1), (E, 1))] {
        let mut reassembly = Reassembly::default();
        insert(&mut reassembly, 0, (first.0, first.1, 0, b"x")).unwrap();
        // A delivered message leaves no trace, so only a stored chunk can be contradicted.
        let second = insert(&mut reassembly, 1, (second.0, second.1, 0, b"x"));
        assert_eq!(second.is_err(), !reassembly.is_readable());
    }
}

#[test]
fn the_highest_chunk_is_dropped_first() {
    let mut reassembly = Reassembly::default();
    insert(&mut reassembly, 5, (B, 1, 0, b"x")).unwrap();
    insert(&mut reassembly, 6, (E, 1, 0, b"y")).unwrap();
    insert(&mut reassembly, 8, (B, 1, 1, b"x")).unwrap();
    insert(&mut reassembly, 9, (M, 1, 1, b"y")).unwrap();
    let positions = |reassembly: &mut Reassembly| reassembly.drop_highest(5).map(|block| (block.start, block.end));
    assert_eq!(positions(&mut reassembly), Some((9, 10)));
    assert_eq!(positions(&mut reassembly), Some((8, 9)));
    // The message of chunks 5 and 6 was delivered. A complete message that waits is dropped whole.
    assert_eq!(positions(&mut reassembly), None);
    insert(&mut reassembly, 11, (B, 1, 2, b"x")).unwrap();
    insert(&mut reassembly, 12, (E, 1, 2, b"y")).unwrap();
    assert_eq!(positions(&mut reassembly), Some((11, 13)));
    assert_eq!(reassembly.held(), 64);
    assert_eq!(taken(&mut reassembly), ["xy"]);
    assert_eq!(reassembly.held(), 0);
}

#[test]
fn the_end_of_an_abandoned_partial_message_waits_behind_complete_messages() {
    let mut reassembly = Reassembly::default();
    insert(&mut reassembly, 0, (B, 1, 0, b"part")).unwrap();
    reassembly.deliver_part(1);
    insert(&mut reassembly, 2, (DataFlags::WHOLE, 2, 0, b"whole")).unwrap();
    reassembly.forward(2);
    let order: Vec<_> = std::iter::from_fn(|| reassembly.take()).map(|message| (message.stream, message.len)).collect();
    assert_eq!(order, [(1, 4), (2, 5), (1, 0)]);
}
