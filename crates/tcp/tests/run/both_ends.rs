//! Two connections back to back over a path that loses, duplicates and reorders segments. Every
//! byte arrives once and in order, and both ends finish.

use crate::talk::engine;
use eifel_base::time::{Duration, Instant};
use eifel_packet::options;
use eifel_packet::segment::{Flags, Marks};
use eifel_packet::seq::Seq;
use eifel_tcp::settings::{
    AckSettings, EchoRule, ReceiveKind, SackUse, SendKind, Stamping, TimestampSettings, WindowScale,
};
use eifel_tcp::{Connection, Event, Ports, Settings, State};
use eifel_testkit::connections::Pair;
use proptest::prelude::*;

/// The fate of a segment on the path.
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
            // A window too small to be expressed with the shift would never open.
            receive_window: receive_window.max(1 << 14),
            window_scale,
            timestamps: stamps.map(|(granularity, offset, duplicates, stamping)| TimestampSettings {
                granularity: Duration::from_micros(granularity),
                offset,
                echo: if duplicates { EchoRule::OnDuplicates } else { EchoRule::Standard },
                stamping,
                required: offset.is_multiple_of(2),
            }),
            sack,
            marks,
            acks: AckSettings { every, delay: Duration::from_millis(100), quick: every, ..AckSettings::default() },
            nagle,
            // Longer than the repeats of a backed-off FIN. Otherwise TIME-WAIT could end first, and
            // the FIN would get a reset.
            time_wait: Duration::from_secs(3600),
            send: SendKind::Held { buffer: 5000 },
            receive: ReceiveKind::Held,
            ..Settings::default()
        },
    )
}

/// The application of one end.
struct App {
    to_send: Vec<u8>,
    written: usize,
    received: Vec<u8>,
    events: Vec<Event>,
    /// Whether the application holds short segments back.
    holds: bool,
}

impl App {
    fn new(salt: u8, len: usize, holds: bool) -> Self {
        let to_send = (0..len).map(|at| (at % 251) as u8 ^ salt).collect();
        Self { to_send, written: 0, received: Vec::new(), events: Vec::new(), holds }
    }

    /// Writes as much as fits, closes after the last byte, and reads at most `appetite` bytes.
    fn act(&mut self, connection: &mut Connection, appetite: usize) {
        self.written += connection.write(&self.to_send[self.written..]);
        if self.holds {
            connection.cork(self.written.is_multiple_of(3));
            connection.more_follows();
        }
        // A close before the peer has answered would end the connection.
        let called = !matches!(connection.state(), State::Listen | State::SynSent);
        if called && self.written == self.to_send.len() {
            connection.shutdown_write();
        }
        let mut into = vec![0; appetite];
        let count = connection.read(&mut into);
        self.received.extend(&into[..count]);
        self.events.extend(eifel_testkit::connections::events(connection));
    }

    fn is_over(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Closed | Event::Reset | Event::TimedOut | Event::Refused))
    }
}

/// Runs both ends until nothing is left to do. Returns which ends have sent a marked segment.
fn run(pair: &mut Pair, apps: &mut [App; 2], fates: &[Fate], appetite: usize) -> [bool; 2] {
    let mut fates = fates.iter().copied();
    let mut marked = [false; 2];
    for _ in 0..100_000 {
        for (app, end) in apps.iter_mut().zip(&mut pair.ends) {
            app.act(end, appetite);
        }
        pair.send(|flying| {
            let segment = &flying.sent.segment;
            assert_eq!(flying.payload.len() as u32, segment.payload_len);
            assert!(options::len(&segment.options) <= options::LIMIT);
            marked[flying.from] |= segment.flags.0 & MARKS != 0 || segment.options.timestamps.is_some();
            let delays = match fates.next().unwrap_or(Fate::Deliver) {
                Fate::Deliver => [Some(50), None],
                Fate::Lose => [None; 2],
                Fate::Repeat => [Some(50), Some(80)],
                Fate::Delay(by) => [Some(50 + by), None],
            };
            delays.into_iter().flatten().map(Duration::from_millis)
        });
        for end in &pair.ends {
            let timer = end.poll_timeout();
            let later = timer + Duration::from_nanos(1);
            assert!(timer == Instant::NEVER || end.may_wake_before(later), "due at {timer:?}");
        }
        // If data is left unread, the reader comes back after 10 ms.
        let hungry = pair.ends.iter().any(|end| end.readable() > 0);
        let reader = if hungry { pair.now + Duration::from_millis(10) } else { Instant::NEVER };
        let next = pair.due().min(reader);
        if next == Instant::NEVER {
            return marked;
        }
        pair.step(next);
    }
    panic!("no end in sight at {:?}", pair.now);
}

fn ports(local: u16) -> Ports {
    Ports { local, remote: 3 - local }
}

const MARKS: u16 = Flags::SENT_AGAIN.0 | Flags::ANSWERS_SENT_AGAIN.0;

/// Returns whether these ends may mark segments, or put timestamps on all of them.
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
        (simultaneous, holds, appetite) in (any::<bool>(), any::<bool>(), prop_oneof![Just(100_000usize), 200usize..3000]),
    ) {
        let may_mark = may_mark(&settings.0, &settings.1);
        let isn = |isn: u32| Seq(if near_wrap { u32::MAX - isn % 40_000 } else { isn });
        let first = Connection::connect(&settings.0, engine(), ports(1), isn(isns.0));
        let second = if simultaneous {
            Connection::connect(&settings.1, engine(), ports(2), isn(isns.1))
        } else {
            Connection::listen(&settings.1, engine(), ports(2), isn(isns.1))
        };
        let mut pair = Pair::new([first, second]);
        let mut apps = [App::new(0, lens.0, holds), App::new(0xff, lens.1, holds)];
        let marked = run(&mut pair, &mut apps, &fates, appetite);
        for (own, other) in [(0, 1), (1, 0)] {
            prop_assert!(may_mark || !marked[own], "marked without agreement");
            prop_assert!(apps[own].received == apps[other].to_send, "{} of {} bytes", apps[own].received.len(),
                apps[other].to_send.len());
            prop_assert!(apps[own].is_over(), "{:?} {:?}", pair.ends[own].state(), apps[own].events);
            prop_assert!(apps[own].events.contains(&Event::PeerClosed));
            for never in [Event::TimedOut, Event::Reset, Event::Refused] {
                prop_assert!(!apps[own].events.contains(&never), "{:?}", apps[own].events);
            }
        }
    }
}
