//! A recorded sender as facts: what it sent and received, and its loss signals.

use std::io::Read;
use std::path::Path;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::event::Event;
use eifel_recovery::fact::{Ack, Block, Cause, Echo, Kind, Transmission, TxId};
use eifel_recovery::recover::HighRxt;
use eifel_recovery::registry::{Choice, part};
use eifel_recovery::scoreboard::Scoreboard;
use eifel_recovery::view::Negotiated;
use eifel_recovery::watch::Watch;

/// What the kernel did from one loss signal to the next.
pub struct Episode {
    /// The sender's port and its peer's.
    pub ports: (u16, u16),
    /// When it began, in microseconds since 1970.
    pub begins_us: u64,
    pub timeout: bool,
    /// Expiries of the timer in it.
    pub timers: u32,
    /// The counters of undos that rose.
    pub undos: Vec<String>,
}

/// A packet's headers; numbers as on the wire.
struct Packet {
    at_us: u64,
    ports: (u16, u16),
    seq: u32,
    ack: u32,
    flags: u8,
    window: u16,
    payload: u32,
    mss: Option<u16>,
    sack_permitted: bool,
    stamps: Option<(u32, u32)>,
    sacks: Vec<(u32, u32)>,
}

const FIN: u8 = 1;
const SYN: u8 = 2;

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(number(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(number(bytes, at))
}

/// Reads a packet whose payload may be cut off.
fn parse(at_us: u64, bytes: &[u8]) -> Option<Packet> {
    let (header, len) = match bytes[0] >> 4 {
        4 => (usize::from(bytes[0] & 15) * 4, usize::from(u16_at(bytes, 2))),
        _ => (40, usize::from(u16_at(bytes, 4)) + 40),
    };
    let tcp = bytes.get(header..)?;
    let options_end = usize::from(*tcp.get(12)? >> 4) * 4;
    let mut packet = Packet {
        at_us,
        ports: (u16_at(tcp, 0), u16_at(tcp, 2)),
        seq: u32_at(tcp, 4),
        ack: u32_at(tcp, 8),
        flags: tcp[13],
        window: u16_at(tcp, 14),
        payload: (len - header - options_end) as u32,
        mss: None,
        sack_permitted: false,
        stamps: None,
        sacks: Vec::new(),
    };
    let mut rest = tcp.get(20..options_end)?;
    while let [kind, more @ ..] = rest {
        if *kind <= 1 {
            rest = if *kind == 0 { &[] } else { more };
            continue;
        }
        let (option, after) = rest.split_at(usize::from(*more.first()?));
        match kind {
            2 => packet.mss = Some(u16_at(option, 2)),
            4 => packet.sack_permitted = true,
            5 => packet.sacks = option[2..].chunks(8).map(|block| (u32_at(block, 0), u32_at(block, 4))).collect(),
            8 => packet.stamps = Some((u32_at(option, 2), u32_at(option, 6))),
            _ => {}
        }
        rest = after;
    }
    Some(packet)
}

/// Reads a pcap with times in microseconds.
fn packets(file: &Path) -> Vec<Packet> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_end(&mut bytes).unwrap();
    let word = |at: usize| u32::from_le_bytes(number(&bytes, at));
    assert_eq!(word(0), 0xa1b2_c3d4, "{}", file.display());
    // Raw IP, or behind Ethernet's header.
    let link = if word(20) == 1 { 14 } else { 0 };
    let (mut at, mut found) = (24, Vec::new());
    while at < bytes.len() {
        let (time, len) = (u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4)), word(at + 8) as usize);
        found.extend(parse(time, &bytes[at + 16 + link..at + 16 + len]));
        at += 16 + len;
    }
    found
}

/// A sender with the detector, and its connection.
struct Sender<'a> {
    board: Scoreboard,
    watch: Watch,
    episodes: Vec<(usize, &'a Episode)>,
    /// The number of episodes that have begun, and the expiries left in the last one.
    begun: usize,
    timers: u32,
    mss: u32,
    sack: bool,
    isn: u32,
    peer_window: Option<u16>,
    /// When the last ACK arrived.
    acked_us: u64,
    /// Whether this end has sent its FIN, and received that of its peer.
    fins: [bool; 2],
    told: Vec<(usize, &'static str)>,
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

impl Sender<'_> {
    fn position(&self, seq: u32) -> u64 {
        unwrap(self.board.nxt(), Seq(self.isn), Seq(seq))
    }

    /// Begins the episodes whose time has come.
    fn signal(&mut self, now_us: u64) {
        while let Some((_, episode)) = self.episodes.get(self.begun).filter(|(_, next)| next.begins_us <= now_us) {
            // The kernel takes some microseconds from the arrival of an ACK to its consequence.
            let by_ack = episode.begins_us - self.acked_us < 100;
            let begins = if by_ack { self.acked_us } else { episode.begins_us };
            self.watch.update_view(at(begins), self.board.una(), self.board.nxt());
            self.watch.open_episode(if episode.timeout { Cause::Timeout } else { Cause::FastRetransmit });
            (self.begun, self.timers) = (self.begun + 1, episode.timers.saturating_sub(1));
        }
    }

    fn on_sent(&mut self, packet: &Packet) {
        let positions = packet.payload + u32::from(packet.flags & FIN != 0);
        self.fins[0] |= packet.flags & FIN != 0;
        let (mut start, end) = (self.position(packet.seq), self.position(packet.seq) + u64::from(positions));
        let stamp = packet.stamps.map(|(value, _)| Timestamp(value));
        while start < end {
            let (una, nxt) = (self.board.una(), self.board.nxt());
            let most = if end - start <= u64::from(self.mss) + 1 { end } else { start + u64::from(self.mss) };
            let until = if start < nxt { most.min(nxt) } else { most };
            let len = (until - start) as u32;
            self.watch.update_view(at(packet.at_us), una, nxt);
            if start >= nxt {
                self.board.on_new(at(packet.at_us), len, stamp);
                self.watch.on_new(at(packet.at_us), self.board.nxt());
            } else if until > una {
                self.on_retransmission(packet.at_us, Block { start: start.max(una), end: until }, stamp);
            }
            start = until;
        }
    }

    fn on_retransmission(&mut self, now_us: u64, block: Block, stamp: Option<Timestamp>) {
        let cause = self.watch.episode().map_or(Cause::Timeout, |episode| episode.cause);
        let again = self.board.segment(block.start).is_some_and(|segment| segment.copies() > 0);
        if self.timers > 0 && cause == Cause::Timeout && block.start == self.board.una() && again {
            self.timers -= 1;
            self.watch.count_timeout();
        }
        let (copy, original) = self.board.on_retransmission(at(now_us), block, HighRxt::Leave);
        let (len, kind) = ((block.end - block.start) as u32, Kind::Retransmission(cause));
        let transmission = Transmission { id: TxId(0), start: block.start, len, kind, copy };
        self.watch.on_retransmission(&transmission, stamp, original);
    }

    fn on_ack(&mut self, packet: &Packet) {
        // After both FINs are acknowledged there is only TIME-WAIT, which undoes nothing.
        if self.fins == [true; 2] && self.board.una() == self.board.nxt() {
            return;
        }
        self.fins[1] |= packet.flags & FIN != 0;
        self.acked_us = packet.at_us;
        let plain = packet.payload == 0 && self.peer_window == Some(packet.window);
        self.peer_window = Some(packet.window);
        let cumulative = self.position(packet.ack);
        if cumulative < self.board.una() || cumulative > self.board.nxt() {
            return;
        }
        let block = |&(start, end): &(u32, u32)| Block { start: self.position(start), end: self.position(end) };
        let blocks: Vec<Block> = packet.sacks.iter().map(block).collect();
        // RFC 2883: the first block reports a duplicate if it is acknowledged, or lies in the second.
        let of_duplicate = |first: &&Block| {
            let second = blocks.get(1).is_some_and(|other| other.start <= first.start && first.end <= other.end);
            first.start < cumulative || second
        };
        let count = usize::from(blocks.first().filter(of_duplicate).is_some());
        let (dsacks, sacks) = blocks.split_at(count);
        let echo = packet.stamps.map(|(_, echo)| Echo::Known { value: Timestamp(echo), age: Duration::ZERO });
        let ack = Ack { cumulative, sacks, dsacks, echo, mark: None, plain, ece: false };
        let acked = self.board.on_ack(&ack, self.sack);
        self.watch.update_view(at(packet.at_us), self.board.una(), self.board.nxt());
        self.watch.judge(&acked);
        while let Some(event) = self.watch.poll_event() {
            if let (Event::Judged { reason, .. }, Some(last)) = (event, self.begun.checked_sub(1)) {
                self.told.push((self.episodes[last].0, reason));
            }
        }
        self.watch.close_if_repaired(cumulative);
    }
}

/// Replays a recording. Returns the reason of the detector's first undo in each episode.
pub fn replay(file: &Path, episodes: &[Episode]) -> Vec<Option<&'static str>> {
    let packets = packets(file);
    let mut told = vec![None; episodes.len()];
    let mut flows: Vec<(u16, u16)> = episodes.iter().map(|episode| episode.ports).collect();
    flows.sort_unstable();
    flows.dedup();
    for ports in flows {
        let back = (ports.1, ports.0);
        let Some(syn) = packets.iter().find(|one| one.ports == ports && one.flags & SYN != 0) else { continue };
        let Some(answer) = packets.iter().find(|one| one.ports == back && one.flags & SYN != 0) else { continue };
        let timestamps = syn.stamps.is_some() && answer.stamps.is_some();
        let mss = syn.mss.min(answer.mss).map_or(536, u32::from) - if timestamps { 12 } else { 0 };
        let sack = syn.sack_permitted && answer.sack_permitted;
        let mut watch = Watch::new(vec![part::detector(&Choice::named("linux")).unwrap()]);
        watch.agree(Negotiated { mss, sack, timestamps });
        let mut board = Scoreboard::default();
        board.skip_to(1);
        let mut sender = Sender {
            board,
            watch,
            episodes: episodes.iter().enumerate().filter(|(_, episode)| episode.ports == ports).collect(),
            begun: 0,
            timers: 0,
            mss,
            sack,
            isn: syn.seq,
            peer_window: None,
            acked_us: 0,
            fins: [false; 2],
            told: Vec::new(),
        };
        for packet in packets.iter().filter(|one| one.flags & SYN == 0) {
            sender.signal(packet.at_us);
            if packet.ports == ports {
                sender.on_sent(packet);
            } else if packet.ports == back {
                sender.on_ack(packet);
            }
        }
        for (index, reason) in sender.told {
            told[index].get_or_insert(reason);
        }
    }
    told
}
