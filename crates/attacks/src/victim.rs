//! A connection under attack, and segments that claim to come from its peer.

use crate::transcript::note;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::{AckSettings, SackUse, TimestampSettings};
use eifel_tcp::{Connection, Event, Ports, Settings, State};
use eifel_testkit::connections::Sent;

/// Both initial sequence numbers are just below the wrap.
pub(crate) const ISS: Seq = Seq(u32::MAX - 1500);
pub(crate) const IRS: Seq = Seq(u32::MAX - 2500);
pub(crate) const PORTS: Ports = Ports { local: 443, remote: 50_000 };
pub(crate) const MSS: u64 = 1000;

/// A connection and the current time.
pub(crate) struct Victim {
    pub(crate) connection: Connection,
    pub(crate) now: Instant,
}

/// Returns settings with a window of 64 000 bytes, segments of 1000 bytes, SACK with duplicates, no
/// timestamps, and an ACK for every segment.
pub(crate) fn settings() -> Settings {
    Settings {
        mss: MSS as u16,
        receive_window: 64_000,
        timestamps: None,
        sack: SackUse::WithDuplicates,
        acks: AckSettings { every: 1, ..AckSettings::default() },
        ..Settings::default()
    }
}

/// Returns these settings with timestamps. Segments still carry 1000 bytes.
pub(crate) fn with_timestamps() -> Settings {
    Settings { mss: MSS as u16 + 12, timestamps: Some(TimestampSettings::default()), ..settings() }
}

/// Makes an engine with these algorithms.
#[expect(clippy::expect_used, reason = "the names are this crate's own")]
pub(crate) fn engine(config: &Config) -> Engine {
    Engine::new(config).expect("algorithms of the registry")
}

impl Victim {
    /// Makes an established connection. Its peer has the same settings, except that its receive
    /// window is `window`.
    pub(crate) fn open(settings: &Settings, window: u32) -> Self {
        Self::with_engine(settings, window, engine(&Config::default()))
    }

    /// Makes an established connection with this engine.
    pub(crate) fn with_engine(settings: &Settings, window: u32, engine: Engine) -> Self {
        let peer = Settings { receive_window: window, ..*settings };
        let now = Instant::ZERO;
        Self { connection: Connection::established(settings, &peer, engine, PORTS, (ISS, IRS), now), now }
    }

    /// Makes a connection in every synchronised state, each with the position of the peer's next
    /// segment. None has data left to send.
    pub(crate) fn in_every_state(settings: &Settings) -> Vec<(Self, u64)> {
        let mut all = Vec::new();
        let mut passive = Self::before(Connection::listen(settings, engine(&Config::default()), PORTS, ISS));
        passive.gets(&segment(Flags::SYN, 0, 0));
        all.push((passive, 1));
        let mut both = Self::before(Connection::connect(settings, engine(&Config::default()), PORTS, ISS));
        both.sends();
        both.gets(&segment(Flags::SYN, 0, 0));
        all.push((both, 1));
        all.push((Self::open(settings, settings.receive_window), 1));
        let fin = Flags::FIN.with(Flags::ACK);
        for (closes, says) in [
            (true, &[][..]),
            (true, &[(Flags::ACK, 2)]),
            (true, &[(fin, 1)]),
            (true, &[(fin, 2)]),
            (false, &[(fin, 1)]),
        ] {
            let mut victim = Self::open(settings, settings.receive_window);
            if closes {
                victim.connection.shutdown_write();
                victim.sends();
            }
            for &(flags, ack) in says {
                victim.gets(&segment(flags, 1, ack));
            }
            all.push((victim, 1 + u64::from(says.iter().any(|(flags, _)| flags.has(Flags::FIN)))));
        }
        let mut last = Self::open(settings, settings.receive_window);
        last.gets(&segment(fin, 1, 1));
        last.connection.shutdown_write();
        all.push((last, 2));
        for (victim, _) in &mut all {
            victim.sends();
            victim.events();
        }
        all
    }

    fn before(connection: Connection) -> Self {
        Self { connection, now: Instant::ZERO }
    }

    /// Delivers a segment without payload.
    pub(crate) fn gets(&mut self, segment: &Segment) {
        note((self.now, segment));
        self.connection.handle_segment(self.now, segment, &[]);
    }

    /// Advances the time by `duration`, and handles timers.
    pub(crate) fn waits(&mut self, duration: Duration) {
        self.reaches(self.now + duration);
    }

    /// Advances the time to `then`, and handles each timer when it is due.
    pub(crate) fn reaches(&mut self, then: Instant) {
        loop {
            let due = self.connection.poll_timeout();
            if due > then {
                break;
            }
            self.now = due.max(self.now);
            self.connection.handle_timeout(self.now);
            self.sends();
        }
        self.now = then;
    }

    /// Returns the segments that leave now.
    pub(crate) fn sends(&mut self) -> Vec<Sent> {
        let sent = eifel_testkit::connections::all(&mut self.connection, self.now);
        note((self.now, &sent));
        sent
    }

    /// Returns the events for the application, without the engine's reports.
    pub(crate) fn events(&mut self) -> Vec<Event> {
        eifel_testkit::connections::events(&mut self.connection)
    }

    /// Returns whether the connection still exists.
    pub(crate) fn lives(&self) -> bool {
        self.connection.state() != State::Closed
    }
}

/// Makes a segment of the peer. It begins at the peer's position `seq`, and acknowledges this end's
/// position `ack`.
pub(crate) fn segment(flags: Flags, seq: u64, ack: u64) -> Segment {
    Segment {
        source_port: PORTS.remote,
        destination_port: PORTS.local,
        seq: wrap(seq, IRS),
        ack: wrap(ack, ISS),
        flags,
        window: 64_000,
        options: Options::default(),
        payload_len: 0,
        ecn: Ecn::NotEct,
    }
}

/// Makes an acknowledgement without data.
pub(crate) fn ack(ack: u64) -> Segment {
    segment(Flags::ACK, 1, ack)
}

/// Makes a segment with `len` bytes at the peer's position `seq`.
pub(crate) fn data(seq: u64, len: u32, ack: u64) -> Segment {
    Segment { payload_len: len, ..segment(Flags::ACK, seq, ack) }
}

/// Returns the segment with SACK blocks of this end's positions.
pub(crate) fn with_sack(segment: Segment, blocks: &[(u64, u64)]) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    for &(left, right) in blocks {
        sack.push(wrap(left, ISS), wrap(right, ISS));
    }
    Segment { options: Options { sack, ..segment.options }, ..segment }
}

/// Returns the segment with timestamps.
pub(crate) fn stamped(segment: Segment, value: u32, echo: u32) -> Segment {
    let timestamps = Some(Timestamps { value, echo });
    Segment { options: Options { timestamps, ..segment.options }, ..segment }
}
