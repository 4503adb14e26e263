//! Compares a sender that takes the shortcut with one that only uses the full processing.

use super::super::{Config, Engine, Offer, PacketContents, PathId, Rules, Sack};
use super::*;
use crate::fact::Block;
use crate::registry::{Choice, Seam};
use eifel_base::time::Duration;
use proptest::prelude::*;

const SIZE: Size = Size { data: 984, wire: 1000 };
const A_RWND: u64 = 60_000;

/// An event at a sender. Shares of the outstanding chunks are in 255ths.
#[derive(Clone, Copy, Debug)]
enum Step {
    Wait {
        millis: u64,
    },
    Acknowledge {
        news: u8,
        report: Option<u8>,
        duplicate: bool,
    },
    Expire,
    /// New data goes to the other path from now on.
    Turn,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..300u64).prop_map(|millis| Step::Wait { millis }),
        16 => (prop_oneof![3 => any::<u8>(), 1 => Just(0)], prop::option::weighted(0.2, any::<u8>()), prop::bool::weighted(0.2))
            .prop_map(|(news, report, duplicate)| Step::Acknowledge { news, report, duplicate }),
        1 => Just(Step::Expire),
        1 => Just(Step::Turn),
    ]
}

fn name(seam: Seam) -> impl Strategy<Value = &'static str> {
    let names = seam.association_entries().iter().map(|entry| entry.name);
    prop::sample::select(names.collect::<Vec<_>>())
}

/// A sender, and the path of its new data.
#[derive(Clone)]
struct Sender {
    engine: Engine,
    path: PathId,
    brisk: bool,
    /// SACKs that took the shortcut and acknowledged nothing.
    repeated: usize,
}

impl Sender {
    fn take(&mut self, now: Instant, step: Step) -> Vec<String> {
        let engine = &mut self.engine;
        let (una, nxt) = (engine.una(), engine.nxt());
        let at = |news: u8| una + (nxt - una) * u64::from(news) / 255;
        match step {
            Step::Wait { .. } => {}
            Step::Turn => self.path = PathId(1 - self.path.0),
            Step::Expire => while engine.on_timeout(engine.deadline().min(now + Duration::from_secs(100))).is_some() {},
            Step::Acknowledge { news, report, duplicate } => {
                let cumulative = at(news);
                let block = report
                    .map(|news| Block { start: at(news).max(cumulative + 1), end: at(news).max(cumulative + 1) + 1 });
                let block = block.filter(|block| block.end <= nxt);
                let again = (duplicate && una > 0).then(|| Block { start: una - 1, end: una });
                let bare = self.brisk && block.is_none();
                let taken = bare
                    && (again.is_none() && engine.on_quiet_sack(now, cumulative).is_some()
                        || engine.on_repeated_sack(cumulative));
                self.repeated += usize::from(taken && cumulative == una);
                if !taken {
                    let (blocks, duplicates) = (block.as_slice(), again.as_slice());
                    engine
                        .on_sack(now, &Sack { cumulative, blocks, duplicates, echo: None, echo_of: None, mark: None });
                }
            }
        }
        self.send(now)
    }

    /// Sends all that may be sent. Returns the transmissions, events and variables as text.
    fn send(&mut self, now: Instant) -> Vec<String> {
        let mut told = Vec::new();
        let engine = &mut self.engine;
        loop {
            let room = if self.brisk { engine.quiet_room(now, self.path, SIZE, A_RWND) } else { None };
            if let Some(room) = room {
                if !room {
                    break;
                }
                told.push(format!("{:?}", engine.send_quiet(now, self.path, SIZE)));
                continue;
            }
            let Some(go) = engine.poll(now, &Offer { path: self.path, next: Some(SIZE), a_rwnd: A_RWND }) else {
                break;
            };
            let transmission = match go.contents {
                PacketContents::Retransmissions => {
                    let (position, _) = engine.next_retransmission(go.path, 0).expect("a chunk is marked");
                    engine.on_retransmitted(now, position, go.path, None)
                }
                PacketContents::New { .. } | PacketContents::Probe => engine.on_new(now, go.path, SIZE, None),
                PacketContents::TailLossProbe { .. } => engine.on_tail_probe(now, &go, None),
            };
            engine.on_packet(now, &go, SIZE.wire);
            told.push(format!("{transmission:?}"));
        }
        told.extend(std::iter::from_fn(|| engine.poll_event()).map(|event| format!("{event:?}")));
        for path in [PathId(0), PathId(1)] {
            told.push(format!("{:?} {}", engine.snapshot(path), engine.delivered_on(path)));
        }
        told.push(format!("{:?}", engine.deadline()));
        told
    }
}

/// In slow start the window grows by the acknowledged bytes, up to a packet. Here it grows by the
/// chunk's 600, with 3800 under way.
#[test]
fn a_quiet_sack_reports_only_the_bytes_it_acknowledges() {
    let mut engine = Engine::new(Config::default()).unwrap();
    let path = engine.add_path(Instant::ZERO, 1000, false);
    engine.set_usable(path, true);
    let of = |wire| Size { data: wire - 16, wire };
    for _ in 0..4 {
        let go = engine.poll(Instant::ZERO, &Offer { path, next: Some(of(400)), a_rwnd: A_RWND }).unwrap();
        for wire in [400, 600] {
            engine.on_new(Instant::ZERO, path, of(wire), None);
        }
        engine.on_packet(Instant::ZERO, &go, 1000);
    }
    assert_eq!(engine.snapshot(path).cwnd, 4000);
    let (now, una) = (Instant::ZERO + Duration::from_millis(100), engine.una());
    let first = Sack { cumulative: una + 1, blocks: &[], duplicates: &[], echo: None, echo_of: None, mark: None };
    engine.on_sack(now, &first);
    assert_eq!(engine.snapshot(path).cwnd, 4400);
    assert_eq!(engine.quiet_room(now, path, of(800), A_RWND), Some(true));
    engine.send_quiet(now, path, of(800));
    assert_eq!(engine.on_quiet_sack(now, una + 2), Some(path));
    assert_eq!(engine.snapshot(path).cwnd, 5000);
}

proptest! {
    #[test]
    fn the_shortcut_for_sacks_agrees_with_the_full_path(
        detection in prop_oneof![Just("none"), name(Seam::Detect)],
        retransmit in name(Seam::Retransmit),
        credit in name(Seam::Credit),
        rules in prop_oneof![Just(Rules::Rfc9260), Just(Rules::Rfc2960)],
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut config = Config { retransmit: Choice::named(retransmit), credit: Choice::named(credit), ..Config::by(rules) };
        config.path.detect = Choice::named(detection);
        let mut engine = Engine::new(config).unwrap();
        for index in 0..2 {
            let path = engine.add_path(Instant::ZERO, 1000, false);
            prop_assert_eq!(path, PathId(index));
            engine.set_usable(path, true);
        }
        let mut brisk = Sender { engine, path: PathId(0), brisk: true, repeated: 0 };
        let mut thorough = Sender { brisk: false, ..brisk.clone() };
        let mut now = Instant::ZERO;
        for step in steps {
            if let Step::Wait { millis } = step {
                now += Duration::from_millis(millis);
            }
            prop_assert_eq!(brisk.take(now, step), thorough.take(now, step), "{:?}", step);
        }
    }
}

#[test]
fn nearly_all_sacks_of_a_bulk_transfer_take_the_shortcut() {
    let mut engine = Engine::new(Config::default()).unwrap();
    for _ in 0..2 {
        let path = engine.add_path(Instant::ZERO, 1000, false);
        engine.set_usable(path, true);
    }
    let path = PathId(0);
    let mut sender = Sender { engine, path, brisk: true, repeated: 0 };
    let mut now = Instant::ZERO;
    let mut quiet = 0;
    sender.send(now);
    for _ in 0..100 {
        now += Duration::from_millis(10);
        quiet += u32::from(sender.engine.find_quiet().is_some() && sender.engine.quiet.is_some());
        let una = sender.engine.una();
        let news = 255 * 2 / (sender.engine.nxt() - una).max(2) + 1;
        sender.take(now, Step::Acknowledge { news: news as u8, report: None, duplicate: false });
        assert!(sender.engine.una() > una);
    }
    assert!(quiet > 95, "{quiet}");
    sender.take(now, Step::Acknowledge { news: 0, report: None, duplicate: true });
    assert_eq!(sender.repeated, 1, "a SACK of a duplicate alone takes the shortcut");
}
