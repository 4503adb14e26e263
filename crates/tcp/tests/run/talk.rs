//! A conversation with a connection, written as text: segments in and out, at virtual milliseconds.
//!
//! A segment reads `flags first[..end] [ack n] [win n] [mss n] [ws n] [sackok] [ts value/echo]
//! [marks how] [sack left-right …]`. All numbers count from their sender's initial sequence number.
//! Both initial sequence numbers are just below 2^32.
#![expect(clippy::unwrap_used, reason = "a test's own text is well formed")]

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Marks, Options, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::{ReceiveKind, SackUse, WindowScale};
use eifel_tcp::{Connection, Event, Ports, Settings, State};

pub const ISS: u32 = u32::MAX - 1500;
pub const IRS: u32 = u32::MAX - 2500;
pub const PORTS: Ports = Ports { local: 1000, remote: 2000 };

/// Returns settings with small round numbers, and without options.
pub fn plain() -> Settings {
    Settings {
        mss: 1000,
        receive_window: 10_000,
        window_scale: WindowScale::Off,
        timestamps: None,
        sack: SackUse::Off,
        receive: ReceiveKind::Drained,
        ..Settings::default()
    }
}

pub fn engine() -> Engine {
    Engine::new(&Config::default()).unwrap()
}

pub fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

pub struct Talk {
    pub connection: Connection,
    pub now: Instant,
}

impl Talk {
    pub fn new(connection: Connection) -> Self {
        Self { connection, now: Instant::ZERO }
    }

    pub fn connect(settings: &Settings) -> Self {
        Self::new(Connection::connect(settings, engine(), PORTS, Seq(ISS)))
    }

    pub fn listen(settings: &Settings) -> Self {
        Self::new(Connection::listen(settings, engine(), PORTS, Seq(ISS)))
    }

    /// Makes a connection established by a handshake at time 0. The peer has advertised a window of
    /// 10 000 bytes.
    pub fn open(settings: &Settings) -> Self {
        let mut talk = Self::listen(settings);
        let mut syn = String::from("S 0 win 10000 mss 1000");
        if settings.sack != SackUse::Off {
            syn += " sackok";
        }
        match settings.marks {
            Some(Marks::Bits) => syn += " marks bits",
            Some(Marks::Timestamps) => syn += " marks timestamps",
            None => {}
        }
        if settings.timestamps.is_some() {
            syn += " ts 100/0";
        }
        talk.gets(0, &syn);
        talk.sent();
        talk.gets(
            0,
            if settings.timestamps.is_some() { "A 1 ack 1 win 10000 ts 100/0" } else { "A 1 ack 1 win 10000" },
        );
        talk.says(&[]);
        assert_eq!(talk.connection.state(), State::Established);
        assert_eq!(talk.events(), [Event::Connected]);
        talk
    }

    /// Delivers a segment without bytes to the connection.
    pub fn gets(&mut self, at: u64, text: &str) {
        self.now = ms(at);
        self.connection.handle_segment(self.now, &read(text), &[]);
    }

    /// Delivers a segment with these bytes to the connection.
    pub fn gets_bytes(&mut self, at: u64, text: &str, bytes: &[u8]) {
        self.now = ms(at);
        self.connection.handle_segment(self.now, &read(text), bytes);
    }

    /// Lets the next timer expire, which must be at `at`.
    pub fn wakes(&mut self, at: u64) {
        assert_eq!(self.connection.poll_timeout(), ms(at));
        self.now = ms(at);
        self.connection.handle_timeout(self.now);
    }

    pub fn sent(&mut self) -> Vec<String> {
        eifel_testkit::connections::all(&mut self.connection, self.now).iter().map(|sent| show(&sent.segment)).collect()
    }

    /// Asserts that the connection now sends exactly these segments.
    pub fn says(&mut self, expected: &[&str]) {
        assert_eq!(self.sent(), expected);
    }

    pub fn events(&mut self) -> Vec<Event> {
        eifel_testkit::connections::events(&mut self.connection)
    }

    pub fn is(&self, state: State) {
        assert_eq!(self.connection.state(), state);
    }
}

/// The lower-case letters are the marks of retransmissions and of their acknowledgements.
const LETTERS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('A', Flags::ACK),
    ('r', Flags::SENT_AGAIN),
    ('e', Flags::ANSWERS_SENT_AGAIN),
];

/// Reads a segment of the peer.
pub fn read(text: &str) -> Segment {
    let mut words = text.split_whitespace();
    let flags = words.next().unwrap();
    let flags = LETTERS.iter().filter(|(letter, _)| flags.contains(*letter)).fold(Flags(0), |all, f| all.with(f.1));
    let number = |text: &str| text.parse::<i64>().unwrap();
    let pair = |text: &str, by: &str| text.split_once(by).map(|(a, b)| (number(a), number(b)));
    let range = words.next().unwrap();
    let (start, end) = pair(range, "..").unwrap_or_else(|| (number(range), number(range)));
    let mut segment = Segment {
        source_port: PORTS.remote,
        destination_port: PORTS.local,
        seq: Seq(IRS.wrapping_add(start as u32)),
        ack: Seq(0),
        flags,
        window: 0,
        options: Options::default(),
        payload_len: (end - start) as u32,
        ecn: Ecn::NotEct,
    };
    let own = |position: i64| Seq(ISS.wrapping_add(position as u32));
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let options = &mut segment.options;
        match word {
            "ack" => segment.ack = own(number(words.next().unwrap())),
            "win" => segment.window = number(words.next().unwrap()) as u16,
            "mss" => options.mss = Some(number(words.next().unwrap()) as u16),
            "ws" => options.window_scale = Some(number(words.next().unwrap()) as u8),
            "sackok" => options.sack_permitted = true,
            "marks" => {
                options.marks = match words.next().unwrap() {
                    "bits" => Some(Marks::Bits),
                    _ => Some(Marks::Timestamps),
                }
            }
            "ts" => {
                let (value, echo) = pair(words.next().unwrap(), "/").unwrap();
                options.timestamps = Some(Timestamps { value: value as u32, echo: echo as u32 });
            }
            "sack" => {
                while let Some((left, right)) = words.peek().and_then(|word| pair(word, "-")) {
                    assert!(options.sack.push(own(left), own(right)));
                    words.next();
                }
            }
            other => panic!("{other} in {text}"),
        }
    }
    segment
}

/// Returns a segment of the connection as text.
pub fn show(segment: &Segment) -> String {
    use std::fmt::Write;
    let mut text: String =
        LETTERS.iter().filter(|(_, flag)| segment.flags.has(*flag)).map(|(letter, _)| *letter).collect();
    let start = segment.seq.0.wrapping_sub(ISS);
    write!(text, " {start}").unwrap();
    if segment.payload_len > 0 {
        write!(text, "..{}", start + segment.payload_len).unwrap();
    }
    if segment.flags.has(Flags::ACK) {
        write!(text, " ack {}", segment.ack.0.wrapping_sub(IRS)).unwrap();
    }
    if !segment.flags.has(Flags::RST) {
        write!(text, " win {}", segment.window).unwrap();
    }
    let options = &segment.options;
    if let Some(mss) = options.mss {
        write!(text, " mss {mss}").unwrap();
    }
    if let Some(shift) = options.window_scale {
        write!(text, " ws {shift}").unwrap();
    }
    if options.sack_permitted {
        text += " sackok";
    }
    match options.marks {
        Some(Marks::Bits) => text += " marks bits",
        Some(Marks::Timestamps) => text += " marks timestamps",
        None => {}
    }
    if let Some(stamp) = options.timestamps {
        write!(text, " ts {}/{}", stamp.value, stamp.echo).unwrap();
    }
    if !options.sack.is_empty() {
        text += " sack";
    }
    for (left, right) in options.sack.as_slice() {
        write!(text, " {}-{}", left.0.wrapping_sub(IRS), right.0.wrapping_sub(IRS)).unwrap();
    }
    text
}
