//! Ground truth against a naive model that keeps every byte.

use eifel_base::ranges::Block;
use eifel_base::time::Instant;
use eifel_live::hiccup::truth::{Data, Judged, PacketId, Truth};
use eifel_live::hiccup::{Direction, Fate};
use eifel_path::parcel::DropCause;
use eifel_path::stream::Stream;
use std::collections::BTreeSet;

const FATES: [Fate; 5] = [Fate::Delivered, Fate::Copied, Fate::Dropped(DropCause::Random), Fate::Ordered, Fate::Inside];

/// A packet, and its final fate.
#[derive(Clone, Copy)]
struct Sent {
    which: PacketId,
    data: Data,
    fate: Fate,
    settled: bool,
}

/// Judges one direction of a flow, from its first packet on.
fn judged(course: &[&Sent]) -> Vec<Judged> {
    let bytes = |sent: &Sent| sent.data.block.start..sent.data.block.end;
    let mut found = Vec::new();
    for (place, sent) in course.iter().enumerate() {
        let before = &course[..place];
        let seen: BTreeSet<u64> = before.iter().flat_map(|earlier| bytes(earlier)).collect();
        let came_out = before.iter().filter(|earlier| matches!(earlier.fate, Fate::Delivered | Fate::Copied));
        let out: BTreeSet<u64> = came_out.flat_map(|earlier| bytes(earlier)).collect();
        if !bytes(sent).any(|byte| seen.contains(&byte)) {
            continue;
        }
        let again = found.iter().filter(|one: &&Judged| one.seq == sent.data.seq).count() as u32;
        let PacketId { flow, direction, number } = sent.which;
        let Data { at, frame, block, seq } = sent.data;
        found.push(Judged {
            at,
            frame,
            flow,
            direction,
            number,
            seq,
            len: block.end - block.start,
            nth: 2 + again,
            fate: sent.fate,
            spurious: bytes(sent).all(|byte| out.contains(&byte)),
            original_known: bytes(sent).all(|byte| seen.contains(&byte)),
        });
    }
    found
}

fn sorted(mut judged: Vec<Judged>) -> Vec<Judged> {
    judged.sort_by_key(|one| (one.flow, one.direction, one.number));
    judged
}

#[test]
fn retransmission_truth_equals_a_naive_model_by_bytes() {
    let courses = [(0, Direction::There), (0, Direction::Back), (1, Direction::There)];
    let (mut needed, mut spurious, mut unknown, mut again) = (0, 0, 0, 0);
    for seed in 0..60 {
        let mut draws = Stream::new(seed, &["truth"]);
        let (mut truth, mut told, mut sent) = (Truth::default(), Vec::new(), Vec::<Sent>::new());
        let mut frame = 0;
        for _ in 0..120 {
            let (flow, direction) = courses[draws.below(3) as usize];
            if draws.below(2) == 0 {
                frame += 1;
                let own = sent.iter().filter(|one| (one.which.flow, one.which.direction) == (flow, direction));
                let (number, end) = own.fold((1, 1), |(count, end), one| (count + 1, one.data.block.end.max(end)));
                let start = if draws.below(2) == 0 { end } else { 1 + draws.below(end) };
                let block = Block { start, end: start + 1 + draws.below(6) };
                let which = PacketId { flow, direction, number };
                let data = Data { at: Instant::from_nanos(frame), frame, block, seq: start as u32 };
                truth.sends(which, data);
                sent.push(Sent { which, data, fate: Fate::Inside, settled: false });
            } else if !sent.is_empty() {
                let place = draws.below(sent.len() as u64) as usize;
                let fate = FATES[draws.below(4) as usize];
                let one = &mut sent[place];
                // Later fates of copies change nothing.
                if !one.settled {
                    (one.fate, one.settled) = (fate, true);
                }
                truth.settles(one.which, fate);
            }
            told.extend(truth.judged());
            // Exactly the retransmissions before the first packet without a fate have been judged.
            let known = courses.iter().flat_map(|&(flow, direction)| {
                let own = sent.iter().filter(|one| (one.which.flow, one.which.direction) == (flow, direction));
                judged(&own.take_while(|one| one.settled).collect::<Vec<_>>())
            });
            assert_eq!(sorted(told.clone()), sorted(known.collect()), "seed {seed}");
        }
        told.extend(truth.finish());
        let all = courses.iter().flat_map(|&(flow, direction)| {
            let own = sent.iter().filter(|one| (one.which.flow, one.which.direction) == (flow, direction));
            judged(&own.collect::<Vec<_>>())
        });
        let all = sorted(all.collect());
        for one in &all {
            needed += u32::from(!one.spurious);
            spurious += u32::from(one.spurious);
            unknown += u32::from(!one.original_known);
            again += u32::from(one.nth > 2);
        }
        assert_eq!(sorted(told), all, "seed {seed}");
    }
    assert!(
        [needed, spurious, unknown, again].iter().all(|&count| count > 100),
        "{needed} {spurious} {unknown} {again}"
    );
}
