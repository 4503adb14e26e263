//! Two connections back to back over a path that loses, repeats and reorders: every byte arrives once and in order, and
//! both ends finish.

mod talk;

use std::collections::BTreeMap;

use eifel_base::time::{Duration, Instant};
use eifel_packet::options;
use eifel_packet::segment::{Flags, Marks, Segment};
use eifel_packet::seq::Seq;
use eifel_tcp::settings::{
    AckSettings, EchoRule, ReceiveKind, SackUse, SendKind, Stamping, TimestampSettings, WindowScale,
};
use eifel_tcp::{Connection, Event, Ports, Settings, State};
use proptest::prelude::*;
use talk::engine;

/// How the path treats its `n`-th segment.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Deliver,
    Lose,
    Repeat,
    Delay(u64),
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        12 => Just(Fate::Deliver),
        2 => Just(Fate::Lose),
        1 => Just(Fate::Repeat),
        2 => (1u64..4000).prop_map(Fate::Delay),
    ];
    prop::collection::vec(fate, 0..120)
}

fn settings() -> impl Strategy<Value = Settings> {
    let sack = prop_oneof![Just(SackUse::Off), Just(SackUse::Plain), Just(SackUse::WithDuplicates)];
    let stamping =
        prop_oneof![Just(Stamping::Clock), any::<u64>().prop_map(|word| Stamping::Distinct { secret: [word, !word] })];
    let stamps = prop::option::of((1u64..50_000, any::<u32>(), any::<bool>(), stamping));
    let scale = prop_oneof![Just(WindowScale::Off), Just(WindowScale::Fit), (0u8..14).prop_map(WindowScale::Shift)];
    let marks = prop_oneof![Just(None), Just(Some(Marks::Bits)), Just(Some(Marks::Timestamps))];
    (sack, stamps, marks, scale, 1u16..1500, 1u32..20_000, 0u32..4, any::<bool>()).prop_map(
        |(sack, stamps, marks, window_scale, mss, receive_window, every, nagle)| Settings {
            mss: mss.max(100),
            // A window that the shift makes unspeakable would never open.
            receive_window: receive_window.max(1 << 14),
            window_scale,
            timestamps: stamps.map(|(granularity, offset, duplicates, stamping)| TimestampSettings {
                granularity: Duration::from_micros(granularity),
                offset,
                echo: if duplicates { EchoRule::OnDuplicates } else { EchoRule::Standard },
                stamping,
            }),
            sack,
            marks,
            acks: AckSettings { every, delay: Duration::from_millis(100) },
            nagle,
            // Longer than a backed-off FIN takes to be sent again, or TIME-WAIT would be over and answer it by a reset.
            time_wait: Duration::from_secs(3600),
            send: SendKind::Held { buffer: 5000 },
            receive: ReceiveKind::Held,
            ..Settings::default()
        },
    )
}

struct End {
    connection: Connection,
    to_send: Vec<u8>,
    written: usize,
    received: Vec<u8>,
    events: Vec<Event>,
    /// Whether it has marked a segment.
    marked: bool,
}

impl End {
    fn new(connection: Connection, salt: u8, len: usize) -> Self {
        let to_send = (0..len).map(|at| (at % 251) as u8 ^ salt).collect();
        Self { connection, to_send, written: 0, received: Vec::new(), events: Vec::new(), marked: false }
    }

    /// The application: writes what fits, closes when all is written, and reads `appetite` bytes.
    fn act(&mut self, appetite: usize) {
        self.written += self.connection.write(&self.to_send[self.written..]);
        // A close before there is a peer would end it.
        let called = !matches!(self.connection.state(), State::Listen | State::SynSent);
        if called && self.written == self.to_send.len() {
            self.connection.close();
        }
        let mut into = vec![0; appetite];
        let count = self.connection.read(&mut into);
        self.received.extend(&into[..count]);
        while let Some(event) = self.connection.poll_event() {
            if !matches!(event, Event::Recovery(_)) {
                self.events.push(event);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Closed | Event::Reset | Event::TimedOut | Event::Refused))
    }
}

type Flying = BTreeMap<(Instant, u64), (usize, Segment, Vec<u8>)>;

fn run(ends: &mut [End; 2], fates: &[Fate], appetite: usize) -> Instant {
    let mut now = Instant::ZERO;
    let mut flying: Flying = BTreeMap::new();
    let (mut sent, mut steps) = (0u64, 0);
    loop {
        for (from, end) in ends.iter_mut().enumerate() {
            end.act(appetite);
            while let Some(out) = eifel_talk::next(&mut end.connection, now) {
                let bytes = eifel_talk::payload(&end.connection, &out);
                assert_eq!(bytes.len() as u32, out.segment.payload_len);
                assert!(options::len(&out.segment.options) <= options::LIMIT);
                end.marked |= out.segment.flags.0 & MARKS != 0 || out.segment.options.timestamps.is_some();
                let delays: &[u64] = match fates.get(sent as usize).copied().unwrap_or(Fate::Deliver) {
                    Fate::Deliver => &[50],
                    Fate::Lose => &[],
                    Fate::Repeat => &[50, 80],
                    Fate::Delay(by) => &[50 + by],
                };
                for &delay in delays {
                    let key = (now + Duration::from_millis(delay), sent * 2 + u64::from(delay == 80));
                    flying.insert(key, (1 - from, out.segment, bytes.clone()));
                }
                sent += 1;
            }
            let timer = end.connection.poll_timeout();
            let later = timer + Duration::from_nanos(1);
            assert!(timer == Instant::NEVER || end.connection.may_wake_before(later), "due at {timer:?}");
        }
        steps += 1;
        assert!(steps < 100_000, "no end in sight at {now:?}");
        let arrival = flying.first_key_value().map_or(Instant::NEVER, |(key, _)| key.0);
        let timer = ends[0].connection.poll_timeout().min(ends[1].connection.poll_timeout());
        // A reader with little appetite comes back every 10 ms.
        let hungry = ends.iter().any(|end| end.connection.readable() > 0);
        let reader = if hungry { now + Duration::from_millis(10) } else { Instant::NEVER };
        let next = arrival.min(timer).min(reader);
        if next == Instant::NEVER {
            return now;
        }
        assert!(next >= now, "time goes back");
        now = next;
        if arrival == next {
            let Some((_, (to, segment, bytes))) = flying.pop_first() else { continue };
            ends[to].connection.handle_segment(now, &segment, &bytes);
        } else {
            for end in ends.iter_mut().filter(|end| end.connection.poll_timeout() <= now) {
                end.connection.handle_timeout(now);
            }
        }
    }
}

fn ports(local: u16) -> Ports {
    Ports { local, remote: 3 - local }
}

const MARKS: u16 = Flags::SENT_AGAIN.0 | Flags::ANSWERS_SENT_AGAIN.0;

/// Whether these ends may mark segments, or stamp all of them.
fn may_mark(first: &Settings, second: &Settings) -> bool {
    first.timestamps.is_some() || second.timestamps.is_some() || first.marks.is_some() && first.marks == second.marks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        settings in (settings(), settings()),
        isns in any::<(u32, u32)>(),
        near_wrap in any::<bool>(),
        lens in (0usize..30_000, 0usize..30_000),
        fates in fates(),
        (simultaneous, appetite) in (any::<bool>(), prop_oneof![Just(100_000usize), 200usize..3000]),
    ) {
        let may_mark = may_mark(&settings.0, &settings.1);
        let isn = |isn: u32| Seq(if near_wrap { u32::MAX - isn % 40_000 } else { isn });
        let first = Connection::connect(&settings.0, engine(), ports(1), isn(isns.0));
        let second = if simultaneous {
            Connection::connect(&settings.1, engine(), ports(2), isn(isns.1))
        } else {
            Connection::listen(&settings.1, engine(), ports(2), isn(isns.1))
        };
        let mut ends = [End::new(first, 0, lens.0), End::new(second, 0xff, lens.1)];
        run(&mut ends, &fates, appetite);
        for (own, other) in [(0, 1), (1, 0)] {
            prop_assert!(may_mark || !ends[own].marked, "marked without agreement");
            prop_assert!(ends[own].received == ends[other].to_send, "{} of {} bytes", ends[own].received.len(),
                ends[other].to_send.len());
            prop_assert!(ends[own].is_over(), "{:?} {:?}", ends[own].connection.state(), ends[own].events);
            prop_assert!(ends[own].events.contains(&Event::PeerClosed));
            for never in [Event::TimedOut, Event::Reset, Event::Refused] {
                prop_assert!(!ends[own].events.contains(&never), "{:?}", ends[own].events);
            }
        }
    }
}
