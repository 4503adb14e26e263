//! Tests of fragmentation, stream sequence numbers, and refused messages.

use super::*;

fn bytes<const N: usize>(bytes: [u8; N]) -> Content {
    Content::Bytes(bytes.into())
}

#[test]
fn a_large_message_is_fragmented_and_numbers_count_messages() {
    let mut queue = SendQueue::new(Seq(u32::MAX), 100);
    queue.set_streams(2);
    queue.set_amdcs(16 + 4);
    let delivery = Delivery { stream: 1, ..Delivery::default() };
    queue.push(delivery, bytes(*b"ten bytes!"), 1).unwrap();
    queue.push(Delivery { unordered: true, ..delivery }, bytes(*b"u"), 1).unwrap();
    queue.push(delivery, bytes(*b"next"), 1).unwrap();
    let mut seen = Vec::new();
    while let Some(size) = queue.next() {
        let position = queue.sent.len();
        let (chunk, payload) = queue.advance();
        let payload = payload.to_vec();
        assert_eq!(queue.chunk(position), (chunk, &payload[..]));
        assert_eq!((size.data as usize, size.wire % 4), (chunk.len as usize, 0));
        seen.push((chunk.tsn.0, chunk.flags.0, chunk.ssn, payload));
    }
    let expected = [
        (u32::MAX, 2, 0, b"ten ".to_vec()),
        (0, 0, 0, b"byte".to_vec()),
        (1, 1, 0, b"s!".to_vec()),
        (2, 7, 0, b"u".to_vec()),
        (3, 3, 1, b"next".to_vec()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(queue.room(), 85);
    queue.acknowledge(3);
    assert_eq!((queue.room(), queue.is_empty()), (95, false));
    queue.acknowledge(5);
    assert_eq!((queue.room(), queue.is_empty()), (100, true));
}

/// RFC 3758, section 4.1, rule TR3, and section 3.5, rule A3.
#[test]
fn what_has_expired_is_dropped_or_ends_with_an_empty_fragment() {
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    let mut queue = SendQueue::new(Seq(9), 100);
    queue.set_streams(2);
    queue.set_amdcs(16 + 4);
    let expires = |millis| Delivery { stream: 1, expires: Some(at(millis)), ..Delivery::default() };
    queue.push(expires(10), bytes(*b"ten bytes!"), 1).unwrap();
    queue.push(expires(20), Content::Zeros(5), 3).unwrap();
    queue.push(Delivery::default(), bytes(*b"last"), 1).unwrap();
    assert_eq!(queue.drop_expired(at(9)), None);
    assert_eq!(queue.advance().0.flags, DataFlags::default().with(DataFlags::BEGINNING));
    assert_eq!(queue.drop_expired(at(10)), Some(Expired::Begun { stream: 1 }));
    assert_eq!(queue.newest_message(), Fragments { positions: 0..1, complete: false });
    assert!(queue.has_expired(at(10), 0) && !queue.has_expired(at(9), 0));
    queue.end_begun();
    assert_eq!(queue.message_at(0), Fragments { positions: 0..2, complete: true });
    assert_eq!((queue.order_of(1), queue.chunk(1).1), (Some((1, 0)), &[][..]));
    // Four bytes are kept until the peer has skipped them; six were never sent.
    assert_eq!(queue.room(), 100 - 4 - 15 - 4);
    assert_eq!(queue.drop_expired(at(19)), None);
    assert_eq!(queue.drop_expired(at(20)), Some(Expired::Unsent { stream: 1, messages: 3 }));
    assert_eq!(queue.drop_expired(at(1000)), None, "the last message never expires");
    let (chunk, _) = queue.advance();
    assert_eq!((chunk.tsn, chunk.stream, chunk.ssn), (Seq(11), 0, 0));
    queue.acknowledge(2);
    assert_eq!(queue.message_at(2), Fragments { positions: 2..3, complete: true });
    queue.acknowledge(3);
    assert_eq!((queue.room(), queue.is_empty()), (100, true));
}

/// [rfc8540:3.48]
#[test]
fn a_stream_has_no_more_ordered_messages_outstanding_than_numbers() {
    let mut queue = SendQueue::new(Seq(7), 1 << 20);
    queue.set_streams(2);
    queue.set_amdcs(16 + 4);
    let (first, second) = (Delivery::default(), Delivery { stream: 1, ..Delivery::default() });
    let unordered = Delivery { unordered: true, ..first };
    (0..65_536).for_each(|_| queue.push(first, Content::Zeros(1), 1).unwrap());
    for left in 0..65_535u64 {
        assert!(queue.next().is_some(), "{left}");
        queue.advance();
    }
    assert_eq!(queue.next(), None, "the 65536th would have the number of the first");
    queue.acknowledge(1);
    assert!(queue.next().is_some());
    assert_eq!(queue.advance().0.ssn, 65_535);
    // Another stream has its own numbers, and unordered messages need none.
    for delivery in [second, unordered] {
        queue.push(delivery, Content::Zeros(1), 1).unwrap();
        assert!(queue.next().is_some());
        queue.advance();
    }
    queue.push(first, Content::Zeros(5), 1).unwrap();
    assert_eq!(queue.next(), None);
    queue.acknowledge(2);
    // A message of two chunks takes one number, and frees it with its second chunk.
    assert_eq!([queue.advance().0.ssn, queue.advance().0.ssn], [0, 0]);
    queue.push(first, Content::Zeros(1), 1).unwrap();
    assert_eq!(queue.next(), None);
    queue.acknowledge(65_539);
    assert_eq!(queue.ordered[0].outstanding, 1);
    queue.acknowledge(65_540);
    assert_eq!(queue.ordered.iter().map(|stream| stream.outstanding).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn messages_that_cannot_be_sent_are_refused() {
    let mut queue = SendQueue::new(Seq(0), 4);
    queue.set_streams(1);
    let there = Delivery::default();
    assert_eq!(queue.push(there, bytes(*b""), 1), Err(SendError::Empty));
    assert_eq!(queue.push(Delivery { stream: 1, ..there }, bytes(*b"x"), 1), Err(SendError::NoStream));
    assert_eq!(queue.push(there, bytes(*b"longer than the buffer"), 1), Ok(()));
    assert_eq!(queue.push(there, bytes(*b"x"), 1), Err(SendError::Full));
}

/// Compares a queue that stores equal counted messages as runs with a queue of byte messages, which
/// stores each one.
#[test]
fn runs_of_equal_messages_behave_like_single_messages() {
    let mut state = 7u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut queues = [0, 1].map(|_| SendQueue::new(Seq(u32::MAX - 50), 2000));
    queues.iter_mut().for_each(|queue| {
        queue.set_streams(2);
        queue.set_amdcs(16 + 40);
    });
    let (mut una, mut nxt, mut longest) = (0u64, 0u64, 0);
    for round in 0..20_000 {
        if round % 50 == 0 {
            let amdcs = 16 + [40, 24, 8][below(3) as usize];
            queues.iter_mut().for_each(|queue| queue.set_amdcs(amdcs));
        }
        match below(3) {
            0 => {
                // Mostly one kind, for long runs, with others in between.
                let kind = below(30).saturating_sub(22) as u16;
                let delivery =
                    Delivery { stream: kind % 2, unordered: kind == 3, immediate: kind == 4, ..Delivery::default() };
                let len = [10, 40, 90][usize::from(kind == 5) + usize::from(kind > 6)];
                let times = 1 + below(6) as usize;
                if queues[1].room() < len * times {
                    continue;
                }
                queues[0].push(delivery, Content::Zeros(len), times).unwrap();
                (0..times).for_each(|_| queues[1].push(delivery, Content::Bytes(vec![0; len].into()), 1).unwrap());
            }
            1 => {
                for _ in 0..below(8) {
                    let [next, other] = [0, 1].map(|index| queues[index].next());
                    assert_eq!(next, other);
                    if next.is_none() {
                        break;
                    }
                    let [left, other] = [0, 1].map(|index| queues[index].advance().0);
                    assert_eq!(left, other);
                    nxt += 1;
                }
            }
            _ => {
                una += below(nxt - una + 1);
                queues.iter_mut().for_each(|queue| queue.acknowledge(una));
            }
        }
        let [counted, bytes] = &queues;
        for position in una..nxt {
            let chunk = |queue: &SendQueue| queue.chunk(position).0;
            assert_eq!(chunk(counted), chunk(bytes));
        }
        let sums =
            |queue: &SendQueue| (queue.room(), queue.is_empty(), queue.sent.len(), queue.unsent_up_to(100).min(100));
        assert_eq!(sums(counted), sums(bytes));
        longest = longest.max((nxt - una) as usize - counted.sent.runs());
    }
    assert!(longest > 20, "runs hold several chunks: {longest}");
}
