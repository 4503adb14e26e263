//! A listener for many peers, with few and small half-open connections (RFC 4987).
//!
//! A half-open connection takes a few bytes, and the backlog limits their number. Beyond the
//! backlog the listener answers with a SYN cookie, and stores nothing. It has no timer: if its
//! answer is lost, it answers the peer's next SYN.

use std::collections::BTreeMap;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::ip::Addresses;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Engine;

use crate::connection::Connection;
use crate::cookie;
use crate::ecn;
use crate::handshake::{DEFAULT_MSS, reset};
use crate::settings::{EcnUse, Ports, Settings, TimestampSettings};
use crate::state::{Opening, State};
use crate::timestamps::Stamps;
use crate::window::ReceiveWindow;
use eifel_base::siphash::{Secret, siphash};

/// The address and port of a peer that opens a connection, and this end's address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Caller {
    /// The caller's address as source, this end's address as destination.
    pub addresses: Addresses,
    pub port: u16,
}

impl Caller {
    /// Makes a caller over IPv4, from `source` to `destination`.
    pub fn v4(source: [u8; 4], destination: [u8; 4], port: u16) -> Self {
        Self { addresses: Addresses::V4 { source: source.into(), destination: destination.into() }, port }
    }

    /// Returns the fields as numbers, for a hash.
    pub fn words(&self) -> [u64; 5] {
        let (source, destination) = match self.addresses {
            Addresses::V4 { source, destination } => (source.to_ipv6_mapped(), destination.to_ipv6_mapped()),
            Addresses::V6 { source, destination } => (source, destination),
        };
        let halves = |address: core::net::Ipv6Addr| {
            let bits = address.to_bits();
            [(bits >> 64) as u64, bits as u64]
        };
        let ([a, b], [c, d]) = (halves(source), halves(destination));
        [a, b, c, d, u64::from(self.port)]
    }
}

/// The listener's reaction to a segment.
pub enum ListenerReply {
    Nothing,
    /// Send this segment.
    Answer(Segment),
    /// The handshake is complete, and the connection has processed the segment that completed it.
    Opened(Box<Connection>),
}

/// Returns the initial sequence number for a connection of `caller` to `port` of this end: a clock
/// plus a keyed hash (RFC 6528).
pub fn isn(secret: &[u64; 2], now: Instant, caller: &Caller, port: u16) -> Seq {
    let [a, b, c, d, remote] = caller.words();
    let ticks = now.as_nanos() / 4000;
    Seq((siphash(secret, &[a, b, c, d, remote | u64::from(port) << 16]) as u32).wrapping_add(ticks as u32))
}

/// A half-open connection: the fields of its SYN.
#[derive(Clone, Copy, Debug)]
struct HalfOpen {
    /// The initial sequence number of the SYN-ACK.
    isn: Seq,
    seq: Seq,
    window: u16,
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
    stamp: Option<u32>,
    /// Whether all SYNs so far have asked for ECN, and this end accepts it.
    asks: bool,
    answered: Instant,
    /// Time of the last SYN-ACK; `None` if there was only one.
    again: Option<Instant>,
    /// Its key in [`Listener::by_age`].
    number: u64,
}

/// Lifetime of a half-open connection.
const LIFETIME: Duration = Duration::from_secs(60);

pub struct Listener {
    settings: Settings,
    port: u16,
    secret: Secret,
    backlog: usize,
    half_open: BTreeMap<Caller, HalfOpen>,
    by_age: BTreeMap<u64, Caller>,
    next_number: u64,
    /// When the backlog was last full; `None` if it never was.
    overflowed: Option<Instant>,
}

impl Listener {
    /// Listens on `port` for connections with these settings. At most `backlog` of them are
    /// half-open. `secret` must stay secret.
    pub fn new(settings: &Settings, port: u16, backlog: usize, secret: [u64; 2]) -> Self {
        Self {
            settings: *settings,
            port,
            secret,
            backlog,
            half_open: BTreeMap::new(),
            by_age: BTreeMap::new(),
            next_number: 0,
            overflowed: None,
        }
    }

    /// Returns the number of half-open connections.
    pub fn half_open(&self) -> usize {
        self.half_open.len()
    }

    /// Returns the maximum memory of a half-open connection in bytes, with its share of the trees.
    pub const fn half_open_bytes() -> usize {
        // Nodes of a B-tree are at least half full.
        2 * (size_of::<(Caller, HalfOpen)>() + size_of::<(u64, Caller)>())
    }

    /// Processes a segment that belongs to no connection. `engine` makes the engine of a new
    /// connection.
    pub fn handle_segment(
        &mut self,
        now: Instant,
        caller: &Caller,
        segment: &Segment,
        payload: &[u8],
        engine: impl FnOnce() -> Engine,
    ) -> ListenerReply {
        self.forget_old(now);
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            if self.half_open.get(caller).is_some_and(|half| segment.seq.0 == half.seq.0.wrapping_add(1)) {
                self.forget(caller);
            }
            return ListenerReply::Nothing;
        }
        if flags.has(Flags::ACK) {
            return self.take_ack(now, caller, segment, payload, engine);
        }
        if flags.has(Flags::SYN) {
            ListenerReply::Answer(self.take_syn(now, caller, segment))
        } else {
            ListenerReply::Nothing
        }
    }

    /// Answers a SYN that reopens a connection in TIME-WAIT. `isn` is the initial sequence number
    /// from [`Connection::makes_way`]. Returns `None` if the backlog is full, because a cookie
    /// cannot have this number.
    pub fn answer_again(&mut self, now: Instant, caller: &Caller, syn: &Segment, isn: Seq) -> Option<Segment> {
        self.forget_old(now);
        self.add_half_open(now, caller, syn, isn)
    }

    /// Returns whether `segment` is the caller's reaction to the SYN-ACK: it follows the SYN, and
    /// acknowledges the SYN-ACK or resets the connection.
    pub fn is_reaction(&self, caller: &Caller, segment: &Segment) -> bool {
        self.half_open.get(caller).is_some_and(|half| {
            let acknowledges = segment.flags.has(Flags::ACK) && segment.ack.0 == half.isn.0.wrapping_add(1);
            segment.seq.0 == half.seq.0.wrapping_add(1) && (acknowledges || segment.flags.has(Flags::RST))
        })
    }

    fn take_syn(&mut self, now: Instant, caller: &Caller, syn: &Segment) -> Segment {
        let isn = isn(&self.secret, now, caller, self.port);
        self.add_half_open(now, caller, syn, isn).unwrap_or_else(|| {
            self.overflowed = Some(now);
            let mss = syn.options.mss.unwrap_or(DEFAULT_MSS);
            let isn = cookie::make(&self.secret, now, caller, syn.seq, mss);
            self.syn_ack(caller, syn.seq, isn, Options { mss: Some(self.settings.mss), ..Options::default() })
        })
    }

    /// Stores a half-open connection with the initial sequence number `isn`, unless the SYN is a
    /// repetition. Returns the SYN-ACK, or `None` if the backlog is full.
    fn add_half_open(&mut self, now: Instant, caller: &Caller, syn: &Segment, isn: Seq) -> Option<Segment> {
        let asks = self.settings.ecn != EcnUse::Off && ecn::asks(syn);
        if let Some(half) = self.half_open.get_mut(caller).filter(|half| half.seq == syn.seq) {
            half.again = Some(now);
            half.asks &= asks;
            let half = *half;
            return Some(self.negotiated_syn_ack(now, caller, &half));
        }
        self.forget(caller);
        if self.half_open.len() >= self.backlog {
            return None;
        }
        let options = &syn.options;
        let half = HalfOpen {
            isn,
            seq: syn.seq,
            window: syn.window,
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            stamp: options.timestamps.map(|stamps| stamps.value),
            asks,
            answered: now,
            again: None,
            number: self.next_number,
        };
        self.by_age.insert(half.number, *caller);
        self.next_number += 1;
        self.half_open.insert(*caller, half);
        Some(self.negotiated_syn_ack(now, caller, &half))
    }

    /// Returns the SYN-ACK of a half-open connection, with the negotiated options.
    fn negotiated_syn_ack(&self, now: Instant, caller: &Caller, half: &HalfOpen) -> Segment {
        let own = self.settings.offer();
        let stamps = half.stamp.zip(self.settings.timestamps);
        let options = Options {
            window_scale: own.window_scale.filter(|_| half.window_scale.is_some()),
            sack_permitted: own.sack_permitted && half.sack_permitted,
            timestamps: stamps.map(|(echo, own)| Timestamps { value: self.stamp(now, caller, half, &own).0, echo }),
            ..own
        };
        let mut answer = self.syn_ack(caller, half.seq, half.isn, options);
        // As the connection would answer: the number of SYN-ACKs with the flag is limited.
        let sent = u32::from(half.again.is_some());
        if half.asks && sent < self.settings.ecn_syns {
            answer.flags = answer.flags.with(ecn::AGREES);
        }
        answer
    }

    /// Returns the timestamp that [`connection`](Self::connection) will give to the SYN-ACK.
    fn stamp(&self, now: Instant, caller: &Caller, half: &HalfOpen, own: &TimestampSettings) -> Timestamp {
        let ports = Ports { local: self.port, remote: caller.port };
        let mut stamps = Stamps::new(own, ports.with(half.isn));
        if half.again.is_some() {
            stamps.leaves_now(half.answered);
        }
        stamps.value(now)
    }

    fn syn_ack(&self, caller: &Caller, seq: Seq, isn: Seq, options: Options) -> Segment {
        Segment {
            source_port: self.port,
            destination_port: caller.port,
            seq: isn,
            ack: Seq(seq.0.wrapping_add(1)),
            flags: Flags::SYN.with(Flags::ACK),
            window: ReceiveWindow::new(self.settings.receive_window, 1, 0).field_on_syn(),
            options,
            payload_len: 0,
            ecn: Ecn::NotEct,
        }
    }

    fn take_ack(
        &mut self,
        now: Instant,
        caller: &Caller,
        segment: &Segment,
        payload: &[u8],
        engine: impl FnOnce() -> Engine,
    ) -> ListenerReply {
        let kept = self.half_open.get(caller).filter(|half| segment.ack.0 == half.isn.0.wrapping_add(1)).copied();
        let half = match kept.or_else(|| self.half_open_of_cookie(now, caller, segment)) {
            Some(half) if !segment.flags.has(Flags::SYN) => half,
            // The segment acknowledges a SYN-ACK that was never sent.
            _ => return reset(segment).map_or(ListenerReply::Nothing, ListenerReply::Answer),
        };
        let mut connection = Box::new(self.connection(caller, &half, engine()));
        connection.handle_segment(now, segment, payload);
        if connection.state() == State::SynReceived(Opening::Passive) {
            // The segment does not complete the handshake: it is outside the window, or old.
            let mut answer = Segment::default();
            let answers = connection.poll_transmit(now, &mut answer).is_some();
            return if answers { ListenerReply::Answer(answer) } else { ListenerReply::Nothing };
        }
        self.forget(caller);
        ListenerReply::Opened(connection)
    }

    /// Restores the half-open connection of a valid cookie. `None` if no cookie was sent recently.
    fn half_open_of_cookie(&self, now: Instant, caller: &Caller, segment: &Segment) -> Option<HalfOpen> {
        self.overflowed.filter(|&at| now.since(at) <= cookie::PERIOD * 2)?;
        let (seq, isn) = (Seq(segment.seq.0.wrapping_sub(1)), Seq(segment.ack.0.wrapping_sub(1)));
        let mss = cookie::check(&self.secret, now, caller, seq, isn)?;
        Some(HalfOpen {
            isn,
            seq,
            window: segment.window,
            mss: Some(mss),
            window_scale: None,
            sack_permitted: false,
            stamp: None,
            asks: false,
            answered: now,
            // The departure time of the SYN-ACK is unknown, so it gives no round-trip sample.
            again: Some(now),
            number: u64::MAX,
        })
    }

    /// Makes the connection in the state that it would have after the SYN itself.
    fn connection(&self, caller: &Caller, half: &HalfOpen, engine: Engine) -> Connection {
        let ports = Ports { local: self.port, remote: caller.port };
        let mut connection = Connection::listen(&self.settings, engine, ports, half.isn);
        let syn = Segment {
            source_port: caller.port,
            destination_port: self.port,
            seq: half.seq,
            ack: Seq(0),
            flags: if half.asks { Flags::SYN.with(ecn::ASKS) } else { Flags::SYN },
            window: half.window,
            options: Options {
                mss: half.mss,
                window_scale: half.window_scale,
                sack_permitted: half.sack_permitted,
                timestamps: half.stamp.map(|value| Timestamps { value, echo: 0 }),
                ..Options::default()
            },
            payload_len: 0,
            ecn: Ecn::NotEct,
        };
        for at in [Some(half.answered), half.again].into_iter().flatten() {
            connection.handle_segment(at, &syn, &[]);
            while connection.poll_transmit(at, &mut Segment::default()).is_some() {}
        }
        connection
    }

    fn forget(&mut self, caller: &Caller) {
        if let Some(half) = self.half_open.remove(caller) {
            self.by_age.remove(&half.number);
        }
    }

    fn forget_old(&mut self, now: Instant) {
        while let Some((&number, &oldest)) = self.by_age.first_key_value() {
            if self.half_open.get(&oldest).is_some_and(|half| now.since(half.answered) <= LIFETIME) {
                return;
            }
            self.by_age.remove(&number);
            self.half_open.remove(&oldest);
        }
    }
}
