//! Compares the receiving side with a plain transcription of the RFCs. These are RFC 9293 (windows
//! and reassembly), RFC 2018 and 2883 (SACK and DSACK) and RFC 7323 (PAWS and TS.Recent). The
//! transcription stores the state of every position. Segments are random, and every answer must be
//! equal.

mod bare_fin;
#[path = "../../../recovery/tests/naive/dice.rs"]
mod dice;
mod marks;
mod persist;
mod receiver;
mod stamps;
mod tail;

use dice::Dice;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::{Seq, unwrap, wrap};
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::{AckSettings, EchoRule, ReceiveKind, SackUse, TimestampSettings, WindowScale};
use eifel_tcp::{Connection, Ports, Settings};
use receiver::{Answer, Receiver};
use stamps::Stamps;

const CONNECTIONS: u64 = 10_000;
const SEGMENTS: u64 = 120;
const MSS: u64 = 100;

struct Pair {
    connection: Connection,
    receiver: Receiver,
    stamps: Option<Stamps>,
    isns: (Seq, Seq),
    now: Instant,
}

#[test]
fn every_segment_is_answered_as_the_rfcs_say() {
    let mut dice = Dice::new(7);
    let mut seen = Seen::default();
    for connection in 0..CONNECTIONS {
        let mut pair = Pair::new(&mut dice);
        for number in 0..SEGMENTS {
            let place = format!("connection {connection}, segment {number}");
            pair.step(&mut dice, &mut seen, &place);
        }
    }
    let Seen { out_of_order, duplicates, old_stamps, closed, read } = seen;
    let least = CONNECTIONS;
    assert!(out_of_order > 9 * least && duplicates > least && old_stamps > least && closed > least / 10, "{seen:?}");
    assert!(read > 100 * least, "{seen:?}");
}

/// Counts of the interesting events.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    out_of_order: u64,
    duplicates: u64,
    old_stamps: u64,
    closed: u64,
    read: u64,
}

impl Pair {
    fn new(dice: &mut Dice) -> Self {
        let timestamps = dice.once_in(2).then(|| TimestampSettings {
            granularity: Duration::from_millis(1),
            offset: dice.below(1 << 32) as u32,
            echo: if dice.once_in(4) { EchoRule::OnDuplicates } else { EchoRule::Standard },
            ..TimestampSettings::default()
        });
        let settings = Settings {
            mss: MSS as u16,
            receive_window: dice.from(1, 20) as u32 * dice.from(1, 100) as u32,
            window_scale: WindowScale::Off,
            timestamps,
            sack: [SackUse::Off, SackUse::Plain, SackUse::WithDuplicates, SackUse::WithDuplicates]
                [dice.below(4) as usize],
            acks: AckSettings { every: 1, delay: Duration::ZERO, ..AckSettings::default() },
            receive: ReceiveKind::Held,
            ..Settings::default()
        };
        let near_wrap = |dice: &mut Dice| Seq(0_u32.wrapping_sub(dice.below(20_000) as u32));
        let isns = (near_wrap(dice), near_wrap(dice));
        let now = Instant::ZERO + Duration::from_secs(1);
        let engine = Engine::new(&Config::default()).unwrap_or_else(|error| panic!("{error}"));
        let ports = Ports { local: 1, remote: 2 };
        let connection = Connection::established(&settings, &settings, engine, ports, isns, now);
        // The handshake would have set TS.Recent from the peer's clock, which has the same
        // settings.
        let recent = timestamps.map(|stamps| stamps.offset.wrapping_add(1000));
        let stamps = recent.zip(timestamps).map(|(recent, settings)| Stamps::new(recent, now, settings.echo));
        let full = if timestamps.is_some() { MSS - 12 } else { MSS };
        let room = if timestamps.is_some() { 3 } else { 4 };
        let receiver = Receiver::new(u64::from(settings.receive_window), full, settings.sack, room);
        Self { connection, receiver, stamps, isns, now }
    }

    fn step(&mut self, dice: &mut Dice, seen: &mut Seen, place: &str) {
        self.now += Duration::from_millis(dice.below(50));
        if dice.once_in(2000) {
            self.now += Duration::from_secs(dice.from(20, 30) * 24 * 3600);
        }
        if dice.once_in(4) {
            return self.read(dice, seen, place);
        }
        let (start, len) = self.range(dice);
        let bytes: Vec<u8> = (0..len).map(|_| dice.below(256) as u8).collect();
        let stamp = self.stamps.as_ref().map(|stamps| stamps.recent.wrapping_add(dice.below(8) as u32).wrapping_sub(2));
        self.segment(start, &bytes, stamp, seen, place);
    }

    /// Returns some positions before, at and after RCV.NXT, inside the window and beyond.
    fn range(&self, dice: &mut Dice) -> (u64, u64) {
        let nxt = self.receiver.nxt;
        let reach = self.receiver.edge - nxt;
        let start = match dice.below(10) {
            0..=3 => nxt,
            4..=7 => nxt + dice.below(reach + 2),
            8 => nxt.saturating_sub(dice.below(2 * MSS)).max(1),
            _ => nxt + dice.below(3 * MSS),
        };
        let longest = if dice.once_in(2) { 10 } else { MSS };
        (start, dice.from(1, longest))
    }

    fn segment(&mut self, start: u64, bytes: &[u8], stamp: Option<u32>, seen: &mut Seen, place: &str) {
        let segment = Segment {
            source_port: 2,
            destination_port: 1,
            seq: wrap(start, self.isns.1),
            ack: wrap(1, self.isns.0),
            flags: Flags::ACK,
            window: 1000,
            options: Options { timestamps: stamp.map(|value| Timestamps { value, echo: 0 }), ..Options::default() },
            payload_len: bytes.len() as u32,
            ecn: Ecn::NotEct,
        };
        self.connection.handle_segment(self.now, &segment, bytes);
        let believed = match (&mut self.stamps, stamp) {
            (Some(stamps), Some(value)) => stamps.is_acceptable(value, self.now),
            _ => true,
        };
        let end = start + bytes.len() as u64;
        let before = self.receiver.nxt;
        let accepted = believed && self.receiver.accepts(start, end);
        if let (Some(stamps), Some(value)) = (&mut self.stamps, stamp) {
            match (accepted, believed && end <= before) {
                (true, _) => stamps.accept(value, start, self.now),
                (false, true) => stamps.duplicate(value, self.now),
                (false, false) => {}
            }
        }
        if accepted {
            self.receiver.take(start, bytes);
        } else {
            self.receiver.refuse(start, end);
        }
        seen.old_stamps += u64::from(!believed);
        seen.out_of_order += u64::from(start > before);
        seen.duplicates += u64::from(end <= before);
        let expected = self.receiver.answer();
        seen.closed += u64::from(expected.window == 0);
        self.says(Some(expected), place);
    }

    fn read(&mut self, dice: &mut Dice, seen: &mut Seen, place: &str) {
        let mut into = vec![0; dice.below(3 * MSS) as usize];
        let count = self.connection.read(&mut into);
        assert_eq!(into[..count], self.receiver.read(into.len()), "{place}");
        seen.read += count as u64;
        let expected = self.receiver.update_after_read(count as u64);
        self.says(expected, place);
    }

    /// Asserts that the connection sends this acknowledgement and nothing else.
    fn says(&mut self, expected: Option<Answer>, place: &str) {
        let out = eifel_testkit::connections::next(&mut self.connection, self.now);
        let said = out.map(|out| {
            let segment = out.segment;
            let position = |seq| unwrap(self.receiver.nxt, self.isns.1, seq);
            if let (Some(stamps), Some(option)) = (&mut self.stamps, segment.options.timestamps) {
                assert_eq!(option.echo, stamps.recent, "{place}");
                stamps.last_ack_sent = position(segment.ack);
            }
            assert_eq!(segment.options.timestamps.is_some(), self.stamps.is_some(), "{place}");
            let blocks = segment.options.sack.as_slice().iter().map(|&(left, right)| (position(left), position(right)));
            Answer { ack: position(segment.ack), window: u64::from(segment.window), blocks: blocks.collect() }
        });
        assert_eq!(said, expected, "{place}");
        assert_eq!(eifel_testkit::connections::next(&mut self.connection, self.now), None, "{place}");
    }
}

/// Acknowledges everything below `una`, and advertises `window` bytes.
fn acknowledge(connection: &mut Connection, now: Instant, una: u64, window: u16) {
    let segment = Segment {
        source_port: 2,
        destination_port: 1,
        seq: wrap(1, Seq(9)),
        ack: wrap(una, Seq(7)),
        flags: Flags::ACK,
        window,
        options: Options::default(),
        payload_len: 0,
        ecn: Ecn::NotEct,
    };
    connection.handle_segment(now, &segment, &[]);
}
