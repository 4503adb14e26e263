//! RACK-TLP over an association (RFC 8985): paths, timers and windows.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::association::{Config, Engine, Offer, PacketContents, PathId, RACK_TLP, Sack, Size};
use eifel_recovery::fact::Block;
use eifel_recovery::registry::{Choice, Value};

const SIZE: Size = Size { data: 984, wire: 1000 };
const PRIMARY: PathId = PathId(0);
const ALTERNATE: PathId = PathId(1);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// An association with two paths of 100 ms each.
struct Sender(Engine);

impl Sender {
    fn with(choice: Choice) -> Self {
        let mut config = Config::default();
        config.path.recover = choice;
        config.path.pace = Choice::named("none");
        let mut engine = Engine::new(config).expect("the registry's own");
        for path in [PRIMARY, ALTERNATE] {
            assert_eq!(engine.add_path(at(0), SIZE.wire, false), path);
            engine.set_usable(path, true);
            engine.sample(at(0), path, Duration::from_millis(100));
        }
        Self(engine)
    }

    fn by_time() -> Self {
        Self::with(Choice::named(RACK_TLP))
    }

    /// Offers `chunks` new chunks for `path`, and returns the positions that leave, with their paths.
    fn send(&mut self, now: u64, path: PathId, chunks: usize) -> Vec<(u64, PathId)> {
        let (mut left, mut sent) = (chunks, Vec::new());
        let offer = |left: usize| Offer { path, next: (left > 0).then_some(SIZE), a_rwnd: 100_000 };
        while let Some(go) = self.0.poll(at(now), &offer(left)) {
            let position = match go.contents {
                PacketContents::Retransmissions => {
                    let (position, _) = self.0.next_retransmission(go.path, 0).expect("one is marked");
                    self.0.on_retransmitted(at(now), position, go.path, None).start
                }
                PacketContents::TailLossProbe { position } => {
                    assert_eq!(self.0.on_tail_probe(at(now), &go, None).start, position);
                    position
                }
                PacketContents::New { .. } | PacketContents::Probe => {
                    left -= 1;
                    self.0.on_new(at(now), go.path, SIZE, None).start
                }
            };
            self.0.on_packet(at(now), &go, SIZE.wire);
            sent.push((position, go.path));
        }
        sent
    }

    fn sack(&mut self, now: u64, cumulative: u64, blocks: &[(u64, u64)]) {
        let blocks: Vec<_> = blocks.iter().map(|&(start, end)| Block { start, end }).collect();
        let sack = Sack { cumulative, blocks: &blocks, duplicates: &[], echo: None, echo_of: None, mark: None };
        self.0.on_sack(at(now), &sack);
    }
}

/// Chunk 1 was sent after chunk 0 and is delivered, but over the other path.
#[test]
fn a_delivery_on_another_path_deems_nothing_lost() {
    let mut sender = Sender::by_time();
    sender.send(0, PRIMARY, 1);
    sender.send(1, ALTERNATE, 1);
    sender.sack(50, 0, &[(1, 2)]);
    // Two round trips after chunk 0, and the peer's delay of SACKs.
    assert_eq!(sender.0.deadline(), at(400));
    assert_eq!(sender.send(399, ALTERNATE, 0), []);
    assert_eq!(sender.0.on_timeout(at(400)), None);
    assert_eq!(sender.send(400, ALTERNATE, 0), [(0, PRIMARY)], "the probe stays on its path");
}

/// Section 6.3, RACK_mark_losses_on_RTO. Chunk 1 is lost twice. Chunk 4 left 25 ms before the timer
/// expires, and RACK.rtt is 110 ms.
#[test]
fn a_timeout_spares_what_is_not_overdue() {
    let mut sender = Sender::by_time();
    assert_eq!(sender.send(0, PRIMARY, 4).len(), 4);
    sender.sack(100, 1, &[]);
    sender.sack(110, 1, &[(2, 4)]);
    // RACK.rtt is 110 ms. The window is a quarter of 100 ms, because only two packets are reported.
    assert_eq!(sender.0.deadline(), at(135));
    assert_eq!(sender.0.on_timeout(at(135)), None);
    assert_eq!(sender.send(135, PRIMARY, 0), [(1, PRIMARY)]);
    assert_eq!(sender.send(1110, PRIMARY, 1), [(4, PRIMARY)]);
    assert_eq!(sender.0.deadline(), at(1135), "no probe in recovery");
    let expired = sender.0.on_timeout(at(1135)).expect("the retransmission timer");
    assert_eq!((expired.path, sender.0.flight(PRIMARY)), (PRIMARY, 1000));
    // RFC 9260, section 6.4.1, sends it on the other path.
    assert_eq!(sender.send(1135, PRIMARY, 0), [(1, ALTERNATE)]);
    // Chunk 4 has a timer still, with the back-off.
    assert_eq!(sender.0.snapshot(PRIMARY).deadline, at(3135));
}

/// Section 7.3: new data is the better probe, although the window is full.
#[test]
fn a_probe_is_new_data_if_there_is_some() {
    let mut sender = Sender::by_time();
    assert_eq!(sender.send(0, PRIMARY, 9).len(), 4);
    assert_eq!(sender.0.window(PRIMARY).cwnd, 4000);
    assert_eq!(sender.0.deadline(), at(200));
    assert_eq!(sender.0.on_timeout(at(200)), None);
    assert_eq!(sender.send(200, PRIMARY, 5), [(4, PRIMARY)]);
    assert_eq!(sender.0.flight(PRIMARY), 5000);
    // Section 7.3: behind the probe there is only the retransmission timer, which starts anew.
    assert_eq!(sender.0.deadline(), at(1200));
}

/// Section 6.2: one packet of three chunks is one packet, and three are three.
#[test]
fn dup_thresh_counts_packets() {
    for (together, lost) in [(true, false), (false, true)] {
        let mut sender = Sender::by_time();
        let go = |engine: &mut Engine| {
            let offer = Offer { path: PRIMARY, next: Some(SIZE), a_rwnd: 100_000 };
            engine.poll(at(0), &offer).expect("there is room")
        };
        for position in 0..4 {
            let packet = go(&mut sender.0);
            sender.0.on_new(at(0), PRIMARY, SIZE, None);
            if position == 0 || position == 3 || !together {
                sender.0.on_packet(at(0), &packet, SIZE.wire);
            }
        }
        sender.sack(100, 0, &[(1, 4)]);
        assert_eq!(sender.0.deadline() != at(125), lost);
        assert_eq!(sender.send(100, PRIMARY, 0) == [(0, PRIMARY)], lost);
    }
}

/// A lost retransmission is another sign of congestion (section 9.3). A loss in the same window is
/// not.
#[test]
fn only_a_lost_retransmission_cuts_the_window_again() {
    let mut sender = Sender::by_time();
    let mut now = 0;
    while sender.0.window(PRIMARY).cwnd < 20_000 {
        sender.send(now, PRIMARY, 30);
        now += 100;
        for cumulative in sender.0.una() + 1..=sender.0.nxt() {
            sender.sack(now, cumulative, &[]);
            sender.send(now, PRIMARY, 2);
        }
    }
    let (una, nxt) = (sender.0.una(), sender.0.nxt());
    now += 100;
    // The first and the fifth are lost.
    sender.sack(now, una, &[(una + 1, una + 4)]);
    assert_eq!(sender.send(now, PRIMARY, 0), [(una, PRIMARY)]);
    let cut = sender.0.window(PRIMARY).cwnd;
    sender.sack(now, una, &[(una + 1, una + 4), (una + 5, una + 9)]);
    sender.sack(now + 1, una, &[(una + 1, una + 4), (una + 5, nxt)]);
    assert_eq!(sender.send(now + 1, PRIMARY, 0), [(una + 4, PRIMARY)]);
    assert_eq!(sender.0.window(PRIMARY).cwnd, cut);
    // The second retransmission is delivered, the first is not.
    sender.sack(now + 101, una, &[(una + 1, nxt)]);
    assert_eq!(sender.send(now + 101, PRIMARY, 0), [(una, PRIMARY)]);
    assert!(sender.0.window(PRIMARY).cwnd < cut);
}

#[test]
fn parameters_reach_each_path_and_bad_ones_are_refused() {
    let choice = |value| Choice::named(RACK_TLP).with("max_ack_delay_ms", Value::Duration(value));
    let mut sender = Sender::with(choice(Duration::from_millis(50)));
    sender.send(0, PRIMARY, 1);
    assert_eq!(sender.0.deadline(), at(250));
    let mut config = Config::default();
    config.path.recover = choice(Duration::from_secs(11));
    assert!(config.check().unwrap_err().to_string().starts_with("max_ack_delay_ms = "));
}

/// Header prediction would hide SACKs from it.
#[test]
fn no_sack_is_quiet() {
    for (choice, quiet) in [("rfc6675", true), (RACK_TLP, false)] {
        let mut sender = Sender::with(Choice::named(choice));
        sender.send(0, PRIMARY, 4);
        sender.sack(100, 1, &[]);
        assert_eq!(sender.0.on_quiet_sack(at(101), 2), quiet.then_some(PRIMARY));
        assert_eq!(sender.0.on_repeated_sack(sender.0.una()), quiet);
    }
}
