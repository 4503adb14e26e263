//! Fates are reported at the instant at which links drop or release a packet.

use crate::packets::{marked, udp};
use crate::{MS, at, gone, hiccup};
use eifel_base::time::Instant;
use eifel_live::hiccup::{Direction, Fate, Hiccup, Transit};
use eifel_packet::ip::Ecn;
use eifel_path::parcel::DropCause;
use eifel_path::stream::Stream;

/// All links that can drop, duplicate or reorder: at the entrance, on the way into a queue, and on
/// the way out of it.
const LINKS: [&str; 6] = [
    "loss = { kind = \"random\", rate = 0.3 }",
    "loss = { kind = \"random\", rate = 0.3 }\nduplicate = { rate = 0.3 }\nqueue = { kind = \"drop-tail\", packets = 3 }",
    "reorder = { rate = 0.3, length = 3, longest_wait_s = 0.004 }\nqueue = { kind = \"drop-tail\", packets = 2 }",
    "queue = { kind = \"codel\", packets = 50, target_ms = 1, interval_ms = 5 }",
    "queue = { kind = \"fq-codel\", packets = 20, target_ms = 1, interval_ms = 5 }",
    "duplicate = { rate = 0.3 }\nreorder = { rate = 0.3, length = 2, longest_wait_s = 0.004 }\n\
     queue = { kind = \"codel\", packets = 5, target_ms = 1, interval_ms = 5 }",
];

/// Takes all fates, which must be of this instant.
fn news(hiccup: &mut Hiccup, now: Instant, told: &mut Vec<Transit>, place: &str) {
    let out: Vec<Transit> = hiccup.delivered().into_iter().map(|(passage, _)| passage).collect();
    let news: Vec<Transit> = out.into_iter().chain(hiccup.dropped()).collect();
    assert!(news.iter().all(|passage| passage.due == now), "{place}: at {now:?} {news:?}");
    // Elements decide when a packet comes in.
    let late = |passage: &&Transit| passage.fate == Fate::Dropped(DropCause::Random) && passage.entered < now;
    assert_eq!(news.iter().find(late), None, "{place}");
    told.extend(news);
}

#[test]
fn each_drop_is_reported_when_it_is_decided() {
    for link in LINKS {
        let mut hiccup = hiccup(link, "", &[]);
        let (mut draws, mut told, mut now) = (Stream::new(7, &[link]), Vec::new(), at(0));
        let mut taken = [0_u64; 2];
        for _ in 0..2000 {
            now += eifel_base::time::Duration::from_micros(draws.below(1500));
            while hiccup.next_event() < now {
                let due = hiccup.next_event();
                hiccup.run(due);
                news(&mut hiccup, due, &mut told, link);
                assert!(hiccup.next_event() > due, "{link}: all of an instant is done at once");
            }
            // More packets come in than the link there can carry.
            let direction = Direction::ALL[usize::from(draws.below(10) == 0)];
            let packet = match draws.below(3) {
                0 => marked(1, 900, Ecn::NotEct),
                flow => udp(flow as u16, 1000),
            };
            hiccup.take(now, direction, packet);
            taken[direction as usize] += 1;
            news(&mut hiccup, now, &mut told, link);
        }
        while hiccup.next_event() < Instant::NEVER {
            let due = hiccup.next_event();
            hiccup.run(due);
            news(&mut hiccup, due, &mut told, link);
        }
        assert_eq!(hiccup.left().count(), 0, "{link}");
        let dropped = told.iter().filter(|passage| matches!(passage.fate, Fate::Dropped(_))).count();
        let copies = told.iter().filter(|passage| passage.fate == Fate::Copied).count();
        assert!(dropped > 50, "{link}: {dropped} dropped");
        assert_eq!(copies > 50, link.contains("duplicate"), "{link}: {copies} copied");
        // Each packet has one fate. Its copies are never reported as dropped.
        let mut fates: Vec<_> = told
            .iter()
            .filter(|passage| passage.fate != Fate::Copied)
            .map(|passage| (passage.direction, passage.seen.label.flow, passage.seen.number))
            .collect();
        fates.sort_unstable();
        fates.dedup();
        assert_eq!((fates.len() as u64, told.len() - copies), (taken[0] + taken[1], fates.len()), "{link}");
    }
}

/// A queue that drops by waiting time decides when the link is free. The next packet that it lets
/// pass reaches the end of the link after 1 ms of transmission and 10 ms of delay.
#[test]
fn a_drop_at_the_head_of_the_queue_is_reported_when_the_next_packet_leaves() {
    let mut hiccup = hiccup(LINKS[3], "", &[]);
    for number in 0..400 {
        hiccup.take(at(0) + MS * 9 / 10 * number, Direction::There, udp(1, 1000));
    }
    let mut gone = gone(&mut hiccup, at(1_000_000));
    gone.sort_by_key(|passage| passage.seen.number);
    let mut dropped = 0;
    for (place, passage) in gone.iter().enumerate().filter(|(_, passage)| passage.fate != Fate::Delivered) {
        let next = gone[place..].iter().find(|later| later.fate == Fate::Delivered).unwrap();
        assert_eq!(next.due.since(passage.due), MS * 11, "{passage:?}");
        dropped += 1;
    }
    assert!(dropped > 3, "{dropped}");
}

/// Events that are due before a packet comes in are handled first, so that a queue has the right
/// room for it.
#[test]
fn events_due_before_an_arrival_are_handled_before_it() {
    for link in LINKS {
        let mut boxes = [hiccup(link, "", &[]), hiccup(link, "", &[])];
        let (mut draws, mut now) = (Stream::new(8, &[link]), at(0));
        for _ in 0..1000 {
            now += MS * draws.below(1500) / 1000;
            while boxes[0].next_event() < now {
                let due = boxes[0].next_event();
                boxes[0].run(due);
            }
            let packet = udp(draws.below(2) as u16, 1000);
            boxes.iter_mut().for_each(|one| one.take(now, Direction::There, packet.clone()));
        }
        let [asked, given] = boxes.each_mut().map(|one| gone(one, at(1_000_000)));
        assert!(asked == given, "{link}");
    }
}

/// The fates are the same whether the box is asked after each packet, now and then, or at the end.
#[test]
fn fates_do_not_depend_on_how_often_the_box_is_polled() {
    for link in LINKS {
        let told = |seldom: u64| {
            let mut hiccup = hiccup(link, "", &[]);
            let (mut draws, mut told, mut now) = (Stream::new(8, &[link]), Vec::new(), at(0));
            for number in 0..1000 {
                now += eifel_base::time::Duration::from_micros(draws.below(1500));
                let direction = Direction::ALL[usize::from(draws.below(4) == 0)];
                hiccup.take(now, direction, udp(draws.below(3) as u16, 1000));
                if number % seldom == 0 {
                    told.extend(gone(&mut hiccup, now));
                }
            }
            told.extend(gone(&mut hiccup, at(1_000_000)));
            assert_eq!(hiccup.left().count(), 0, "{link}: nothing is left");
            let of = |one: &Transit| (one.direction, one.seen.label.flow, one.seen.number, one.due, one.fate.name());
            let mut told: Vec<_> = told.iter().map(of).collect();
            told.sort_unstable();
            told
        };
        let expected = told(1);
        assert!(expected.len() >= 1000);
        for seldom in [7, 2000] {
            assert!(told(seldom) == expected, "{link}: asked after each {seldom} packets");
        }
    }
}
