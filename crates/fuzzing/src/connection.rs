//! A TCP connection that receives arbitrary segments.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Marks, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Engine;
use eifel_tcp::settings::{
    AckCount, AckSettings, Announce, EchoRule, EcnUse, GiveUp, OutOfOrderAck, ReceiveKind, SackUse, SendKind, Stamping,
    TimestampSettings, WindowScale,
};
use eifel_tcp::{Connection, Ports, Settings, State};

use crate::input::{duration, magnitude};
use crate::recover::config;

const PORTS: Ports = Ports { local: 1000, remote: 2000 };
/// A write has at most [`MOST_OF_A_WRITE`] segments, even if the peer asks for tiny ones. Both
/// limits bound the segments that may leave for one input.
const MOST_WRITES: u32 = 8;
const MOST_OF_A_WRITE: u64 = 4;
const SMALL_SEGMENT: u32 = 76;
/// The most segments for one input: everything that can be outstanding, twice, and answers. More
/// would be endless.
const MOST_ANSWERS: u32 = 200;
/// The most timers that may expire for one input: each timer of the connection, with its
/// consequences.
const MOST_WAITS: u32 = 8;
/// The most payload bytes of one arriving segment if the connection holds bytes.
const MOST_HELD: u32 = 4000;

/// Delivers any segments in any state, while the application writes, reads, closes and aborts.
/// Nothing panics or overflows. The peer acknowledges no more than was sent, and the connection
/// receives no more than its window. The application reads no more than was received. Each input
/// has a bounded number of answers, at most one from a listener or a closed connection. No timer
/// expires endlessly.
///
/// # Panics
/// If an invariant does not hold.
pub fn connection(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

/// A connection and its application.
pub(crate) struct Driver {
    pub(crate) connection: Connection,
    settings: Settings,
    now: Instant,
    pub(crate) iss: u32,
    irs: u32,
    writes: u32,
    read: u64,
    /// Bytes received from the peer so far. They must never decrease.
    received: u64,
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let mut driver = Driver::new(u)?;
    while !u.is_empty() {
        let input = u.int_in_range(0..=7)?;
        driver.takes(u, input)?;
    }
    Ok(())
}

impl Driver {
    /// Makes a listener, a caller, or an established connection.
    pub(crate) fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let settings = settings(u)?;
        let engine = Engine::new(&config(u)?).expect("the registry's own");
        let (iss, irs) = (u.arbitrary()?, u.arbitrary()?);
        let connection = match u.int_in_range(0..=2)? {
            0 => Connection::listen(&settings, engine, PORTS, Seq(iss)),
            1 => Connection::connect(&settings, engine, PORTS, Seq(iss)),
            _ => {
                let isns = (Seq(iss), Seq(irs));
                Connection::established(&settings, &self::settings(u)?, engine, PORTS, isns, Instant::ZERO)
            }
        };
        let mut driver = Driver { connection, settings, now: Instant::ZERO, iss, irs, writes: 0, read: 0, received: 0 };
        driver.answers();
        driver.catches_up();
        Ok(driver)
    }

    /// Applies one input: 0 is an action of the application, 1 is passing time, and anything else
    /// is a segment.
    pub(crate) fn takes(&mut self, u: &mut Unstructured<'_>, input: u32) -> Result<()> {
        let before = self.connection.state();
        match input {
            0 => self.application(u)?,
            1 => self.passes(u)?,
            _ => self.arrives(u)?,
        }
        let answers = self.answers();
        self.catches_up();
        if input > 1 && matches!(before, State::Listen | State::Closed) {
            assert!(answers <= 1, "{answers} answers in {before:?}");
        }
        self.consistent();
        Ok(())
    }
}

pub(crate) fn settings(u: &mut Unstructured<'_>) -> Result<Settings> {
    let (granularity, offset) = (magnitude(u, 1 << 32)?, u.arbitrary()?);
    let timestamps = TimestampSettings {
        granularity: Duration::from_nanos(granularity),
        offset,
        echo: if u.arbitrary()? { EchoRule::Standard } else { EchoRule::OnDuplicates },
        // Consumes no bytes, so that older inputs keep their meaning.
        stamping: match granularity % 2 {
            0 => Stamping::Clock,
            _ => Stamping::Distinct { secret: [granularity, u64::from(offset)] },
        },
        required: granularity / 32 % 4 > 0,
    };
    let user_timeout = duration(u)?;
    Ok(Settings {
        mss: u.int_in_range(1..=u16::MAX)?,
        receive_window: u.int_in_range(1..=1 << 20)?,
        window_scale: match u.int_in_range(0..=2)? {
            0 => WindowScale::Off,
            1 => WindowScale::Fit,
            _ => WindowScale::Shift(u.arbitrary()?),
        },
        timestamps: u.arbitrary::<bool>()?.then_some(timestamps),
        sack: *u.choose(&[SackUse::Off, SackUse::Plain, SackUse::WithDuplicates])?,
        announce: if granularity / 2 % 2 == 0 { Announce::InSteps } else { Announce::AllRoom },
        acks: AckSettings {
            every: u.int_in_range(0..=4)?,
            delay: Duration::from_nanos(magnitude(u, 1 << 30)?),
            counted: if granularity / 4 % 2 == 0 { AckCount::Bytes } else { AckCount::Segments },
            quick: (granularity / 128 % 4) as u32,
            gro: None,
            out_of_order: [OutOfOrderAck::Alone, OutOfOrderAck::WithData][(granularity / 512 % 2) as usize],
        },
        marks: marks(u)?,
        ecn: [EcnUse::Off, EcnUse::Answer, EcnUse::Ask, EcnUse::Ask][(granularity / 8 % 4) as usize],
        nagle: u.arbitrary()?,
        time_wait: duration(u)?,
        give_up: GiveUp { user_timeout: u.ratio(1, 4)?.then_some(user_timeout), ..GiveUp::default() },
        send: if u.ratio(1, 4)? { SendKind::Held { buffer: u.int_in_range(0..=10_000)? } } else { SendKind::Counted },
        receive: *u.choose(&[ReceiveKind::Drained, ReceiveKind::Counted, ReceiveKind::Held])?,
        ..Settings::default()
    })
}

pub(crate) fn marks(u: &mut Unstructured<'_>) -> Result<Option<Marks>> {
    u.choose(&[None, Some(Marks::Bits), Some(Marks::Timestamps)]).copied()
}

impl Driver {
    /// Changes how short segments are held back after a write. Consumes no bytes of the input.
    fn holds_back(&mut self, count: u64) {
        match count % 16 {
            1 => self.connection.more_follows(),
            3 => self.connection.cork(true),
            5 => self.connection.cork(false),
            7 => self.connection.set_nagle(count % 32 == 7),
            9 => self.connection.set_user_timeout(self.now, Some(Duration::from_nanos(count << 20))),
            _ => {}
        }
    }

    fn application(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=7)? {
            0..=2 if self.writes < MOST_WRITES => {
                self.writes += 1;
                let count = magnitude(u, MOST_OF_A_WRITE * u64::from(self.connection.mss().min(SMALL_SEGMENT)))?;
                match self.settings.send {
                    SendKind::Counted | SendKind::CountedUpTo { .. } => {
                        assert!(self.connection.write_counted(count) <= count)
                    }
                    SendKind::Held { .. } => {
                        let bytes = vec![7; count as usize];
                        assert!(self.connection.write(&bytes) <= bytes.len());
                    }
                }
                self.holds_back(count);
            }
            0..=4 => {
                let readable = self.connection.readable();
                let limit = magnitude(u, 1 << 20)?;
                let read = match self.settings.receive {
                    ReceiveKind::Held => self.connection.read(&mut vec![0; limit as usize]) as u64,
                    ReceiveKind::Drained | ReceiveKind::Counted => self.connection.skip(limit),
                };
                assert!(read <= readable && read <= limit);
                self.read += read;
            }
            5 => self.connection.shutdown_write(),
            6 => self.connection.close(self.now),
            _ => self.connection.abort(),
        }
        Ok(())
    }

    fn passes(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let then = self.now + duration(u)?;
        let due = self.connection.poll_timeout();
        self.now = if u.arbitrary()? { then } else { then.min(due.max(self.now)) };
        if due <= self.now {
            self.connection.handle_timeout(self.now);
        }
        Ok(())
    }

    fn arrives(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let segment = self.segment(u)?;
        let held = self.settings.receive == ReceiveKind::Held;
        // Some segments lack the bytes that they announce.
        let bytes = vec![9; if held && !u.ratio(1, 16)? { segment.payload_len.min(MOST_HELD) as usize } else { 0 }];
        if segment.flags.has(Flags::SYN) && self.connection.state() == State::Listen {
            self.irs = segment.seq.0;
        }
        self.connection.handle_segment(self.now, &segment, &bytes);
        Ok(())
    }

    /// Draws a segment, mostly near the expected numbers, since a connection ignores most others.
    fn segment(&self, u: &mut Unstructured<'_>) -> Result<Segment> {
        let una = self.iss.wrapping_add(self.connection.engine().una() as u32);
        let nxt = self.irs.wrapping_add(1).wrapping_add(self.connection.received() as u32);
        let flags = match u.int_in_range(0..=7)? {
            0 => Flags(u.arbitrary()?),
            1 => Flags::SYN,
            2 => Flags::SYN.with(Flags::ACK),
            3 => Flags::FIN.with(Flags::ACK),
            _ => Flags::ACK,
        };
        let mut sack = SackBlocks::EMPTY;
        for _ in 0..u.int_in_range(0..=4)? {
            sack.push(near(u, una)?, near(u, una)?);
        }
        let stamps = u.arbitrary::<Option<(u32, u32)>>()?;
        let most = if u.ratio(1, 16)? { u32::MAX } else { MOST_HELD };
        Ok(Segment {
            source_port: PORTS.remote,
            destination_port: PORTS.local,
            seq: near(u, nxt)?,
            ack: near(u, una)?,
            flags,
            window: u.arbitrary()?,
            options: Options {
                mss: u.arbitrary()?,
                window_scale: u.arbitrary()?,
                sack_permitted: u.arbitrary()?,
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                sack,
                marks: marks(u)?,
            },
            payload_len: magnitude(u, u64::from(most))? as u32,
            ecn: Ecn::of(flags.0 as u8 ^ sack.len() as u8),
        })
    }

    /// Takes the segments that leave. Returns their number.
    fn answers(&mut self) -> u32 {
        let mut answers = 0;
        while let Some(sent) = eifel_testkit::connections::next(&mut self.connection, self.now) {
            answers += 1;
            assert!(answers <= MOST_ANSWERS, "answering never ends");
            if matches!(self.settings.send, SendKind::Held { .. }) {
                let payload = eifel_testkit::connections::payload(&self.connection, &sent);
                assert_eq!(payload.len(), sent.segment.payload_len as usize);
            }
            assert!(sent.segment.payload_len <= self.connection.mss(), "{sent:?}");
        }
        assert!(eifel_testkit::connections::next(&mut self.connection, self.now).is_none());
        while self.connection.poll_event().is_some() {}
        answers
    }

    /// Handles timers that are already due, one after the other.
    fn catches_up(&mut self) {
        for _ in 0..MOST_WAITS {
            if self.connection.poll_timeout() > self.now {
                return;
            }
            self.connection.handle_timeout(self.now);
            self.answers();
        }
        panic!("{:?}: timers expire without end", self.connection.state());
    }

    fn consistent(&mut self) {
        let connection = &self.connection;
        let engine = connection.engine();
        assert!(engine.una() <= engine.nxt() && engine.nxt() <= connection.end());
        assert!(connection.received() >= self.received, "what was received is no more");
        self.received = connection.received();
        assert!(connection.readable() <= u64::from(self.settings.receive_window), "beyond the window");
        if self.settings.receive != ReceiveKind::Drained {
            assert_eq!(self.read + connection.readable(), self.received, "bytes lost or made");
        }
        if connection.state() == State::Closed {
            assert_eq!(connection.poll_timeout(), Instant::NEVER, "a timer of a closed connection");
        }
    }
}

pub(crate) fn near(u: &mut Unstructured<'_>, expected: u32) -> Result<Seq> {
    let distance = magnitude(u, u64::from(u32::MAX))? as u32;
    Ok(Seq(if u.arbitrary()? { expected.wrapping_add(distance) } else { expected.wrapping_sub(distance) }))
}
