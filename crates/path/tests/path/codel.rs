//! CoDel and FQ-CoDel: cases worked out by hand.

use crate::common::{MS, Run, burst, megabit, run, sized};
use eifel_base::time::Duration;
use eifel_path::config::LinkConfig;
use eifel_path::parcel::{DropCause, Label, Labelled, Mark};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::queue::fq_codel::FqCodelConfig;

pub const LAW: Law = Law { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };

fn codel(law: Law, limit_packets: u32) -> LinkConfig {
    LinkConfig { queue: QueueConfig::Codel(CodelConfig { law, limit_packets }), ..megabit() }
}

fn fq_codel(config: FqCodelConfig) -> LinkConfig {
    LinkConfig { queue: QueueConfig::FqCodel(config), ..megabit() }
}

const FQ: FqCodelConfig = FqCodelConfig { law: LAW, limit_packets: 10_240, queues: 1024, quantum_bytes: 1514 };

fn dropped_by(result: &Run, cause: DropCause) -> Vec<u32> {
    result.dropped.iter().filter(|&&(_, other)| other == cause).map(|&(handle, _)| handle).collect()
}

fn of_flow(flow: u32, one: Labelled) -> Labelled {
    Labelled { label: Label { flow, ..one.label }, ..one }
}

pub fn with_ecn((at, one): (u64, Labelled)) -> (u64, Labelled) {
    (at, Labelled { label: Label { takes_marks: true, ..one.label }, ..one })
}

/// Packets leave every 8 ms. The packet at 8 ms has waited too long, so from 108 ms on packets may
/// be dropped: the 15th at 112 ms. The next times to drop are 212 ms, then each 100 / sqrt(count)
/// ms later: 282.7, 340.4, 390.4, 435.2.
#[test]
fn intervals_between_drops_shrink_with_the_square_root_of_their_count() {
    let result = run(&codel(LAW, 1000), &burst(0, 63));
    assert_eq!(dropped_by(&result, DropCause::Codel), [15, 29, 39, 47, 54, 61]);
    // The transmitter never stands still: 57 packets in 57 times 8 ms.
    assert_eq!(result.arrived.last(), Some(&(57 * 8 * MS + 100 * MS, 63)));
}

#[test]
fn the_last_packets_are_not_dropped() {
    // Behind the 61st only 1000 bytes are left, no more than the longest packet.
    let result = run(&codel(LAW, 1000), &burst(0, 62));
    assert_eq!(dropped_by(&result, DropCause::Codel), [15, 29, 39, 47, 54]);
}

#[test]
fn a_queue_that_drains_within_an_interval_loses_nothing() {
    assert_eq!(run(&codel(LAW, 1000), &burst(0, 14)).dropped, []);
}

#[test]
fn a_parcel_that_finds_no_room_is_dropped_at_the_tail() {
    // The first is in transmission, three wait.
    assert_eq!(run(&codel(LAW, 3), &burst(0, 5)).dropped, [(5, DropCause::Queue)]);
}

#[test]
fn packets_with_ecn_are_marked_in_place_of_each_drop_and_sent() {
    let traffic: Vec<_> = burst(0, 63).into_iter().map(with_ecn).collect();
    let result = run(&codel(Law { ecn: true, ..LAW }, 1000), &traffic);
    assert_eq!(result.dropped, []);
    assert_eq!(result.arrived.len(), 63);
    // Times to drop as above. No packet is removed, so the marked packets leave at 112, 216, 288,
    // 344, 392, 440 and 480 ms.
    assert_eq!(result.marked, [15, 28, 37, 44, 50, 56, 61].map(|handle| (handle, Mark::Congestion)));
    let without = run(&codel(LAW, 1000), &traffic);
    assert_eq!((without.marked.len(), without.dropped.len()), (0, 6));
}

/// A queue that stands again within 16 intervals continues with the drop count of the last time,
/// minus the first drop.
#[test]
fn a_queue_that_builds_up_again_soon_resumes_its_drop_rate() {
    let again = |at: u64| (64..=126).map(move |handle| (at, sized(handle, 1000)));
    let gaps = |at: u64| {
        let traffic: Vec<_> = burst(0, 63).into_iter().chain(again(at * MS)).collect();
        let drops = dropped_by(&run(&codel(LAW, 1000), &traffic), DropCause::Codel);
        (drops[6] - 63, drops[7] - drops[6])
    };
    // There were six drops before. Minus the first, the interval is 100 / sqrt(5) = 44.7 ms, six
    // packets.
    assert_eq!(gaps(1000), (15, 7));
    // 435.2 + 44.7 ms was the next time to drop. 16 intervals later the count is forgotten.
    assert_eq!(gaps(2000), (15, 14));
}

#[test]
fn flows_take_turns_and_a_flow_without_backlog_goes_first() {
    // Flow 0 sends 6 packets at once; flow 1 sends one when the third is in transmission.
    let mut traffic: Vec<_> = burst(0, 6).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.push((17 * MS, of_flow(1, sized(7, 1000))));
    let result = run(&fq_codel(FQ), &traffic);
    assert_eq!(result.handles(), [1, 2, 3, 7, 4, 5, 6]);
    // The transmitter never stands still.
    assert_eq!(result.times(), (1..=7).map(|count| (count * 8 + 100) * MS).collect::<Vec<_>>());
}

/// Section 4.1: a packet's queue is the flow's hash modulo the number of queues.
#[test]
fn flows_hash_to_the_available_queues() {
    // Six flows, of two packets each: 1 and 2, 3 and 4, and so on.
    let traffic: Vec<_> = (1..=12).map(|handle| (0, of_flow((handle - 1) / 2, sized(handle, 1000)))).collect();
    let order = |queues| run(&fq_codel(FqCodelConfig { queues, quantum_bytes: 1000, ..FQ }), &traffic).handles();
    let as_they_came: Vec<u32> = (1..=12).collect();
    let one_of_each: Vec<u32> = (1..=6).map(|flow| 2 * flow - 1).chain((1..=6).map(|flow| 2 * flow)).collect();
    assert_eq!(order(1), as_they_came);
    assert_eq!(order(65_536), one_of_each);
    // With two queues, each holds several flows.
    let mut halves = order(2);
    assert!(halves != as_they_came && halves != one_of_each);
    halves.sort_unstable();
    assert_eq!(halves, as_they_came);
}

#[test]
fn round_robin_counts_bytes() {
    // 1500 bytes against five times 300: one packet of flow 0 for each five of flow 1, after the first turns.
    let large = (1..=3).map(|handle| (0, of_flow(0, sized(handle, 1500))));
    let small = (4..=18).map(|handle| (0, of_flow(1, sized(handle, 300))));
    let result = run(&fq_codel(FqCodelConfig { quantum_bytes: 1500, ..FQ }), &large.chain(small).collect::<Vec<_>>());
    assert_eq!(result.handles(), [1, 4, 5, 6, 7, 8, 2, 9, 10, 11, 12, 13, 3, 14, 15, 16, 17, 18]);
}

#[test]
fn an_overload_drops_half_of_the_longest_queue_from_its_head() {
    // Packet 1 is in transmission. Flow 0 has 8 waiting, flow 1 two; the eleventh is one too many.
    let mut traffic: Vec<_> = burst(0, 9).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.extend((10..=12).map(|handle| (0, of_flow(1, sized(handle, 1000)))));
    let result = run(&fq_codel(FqCodelConfig { limit_packets: 10, ..FQ }), &traffic);
    assert_eq!(result.dropped, [2, 3, 4, 5].map(|handle| (handle, DropCause::Queue)));
}

#[test]
fn each_flow_has_a_control_law_of_its_own() {
    // Flow 0 stands, flow 1 sends a packet every 50 ms: only the former loses any.
    let mut traffic: Vec<_> = burst(0, 80).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.extend((0..12).map(|number| (number * 50 * MS, of_flow(1, sized(1000 + number as u32, 200)))));
    traffic.sort_by_key(|&(at, one)| (at, one.parcel.handle));
    let dropped = dropped_by(&run(&fq_codel(FQ), &traffic), DropCause::Codel);
    assert!(!dropped.is_empty() && dropped.iter().all(|&handle| handle <= 80), "{dropped:?}");
}

#[test]
fn senseless_parameters_are_named() {
    let none = |config: LinkConfig| config.check().unwrap_err().to_string();
    let zero = Law { target: Duration::ZERO, ..LAW };
    assert_eq!(none(codel(zero, 10)), "queue.target_ms: 0; allowed: more than 0");
    assert_eq!(none(codel(LAW, 0)), "queue.packets: 0; allowed: 1 or more");
    assert_eq!(none(fq_codel(FqCodelConfig { queues: 0, ..FQ })), "queue.queues: 0; allowed: 1 or more");
    let unlimited = LinkConfig { capacity: eifel_path::config::Capacity::Unlimited, ..codel(LAW, 10) };
    let problem = "queue: an early drop on a link of unlimited capacity; allowed: a link with a rate or a trace";
    assert_eq!(none(unlimited), problem);
}
