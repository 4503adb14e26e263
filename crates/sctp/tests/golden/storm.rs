//! Two ends with random applications, networks and attackers.

use std::fmt::Write;

use eifel_base::time::Duration;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Causes, Chunk, Data, DataFlags, ForwardTsn, Gaps, Header, Parameters, Sack, SackFlags};
use eifel_packet::sctp::{Skipped, Unknown, Writer};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_sctp::{Association, Delivery, IcmpError, Phase, Settings};
use eifel_testkit::digest;

use crate::draw::{self, one};
use crate::talk::{Dice, PORTS, World, address, ms, settings};
use crate::told;

pub const COUNT: u64 = 600;

/// Performs one run, and returns its result as a line.
pub fn line(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x1_0001));
    let paths = 1 + dice.below(3) as usize;
    let mut storm = Storm { dice, paths, seed, states: String::new(), calls: 0 };
    let mut world = World::new(paths, draw::settings(seed), draw::fate(seed, paths));
    storm.begin(&mut world);
    for _ in 0..30 {
        for _ in 0..storm.dice.below(4) {
            storm.act(&mut world);
        }
        let time = one(&mut storm.dice, &[0, 3, 50, 400, 1500]);
        world.run_for(ms(storm.dice.below(time + 1)));
        storm.look(&mut world);
    }
    storm.end(&mut world);
    let (packets, applications) = (told::packets(&world), told::applications(&world));
    let count = |what: &str| packets.matches(what).count();
    let messages = applications.matches("receives").count();
    format!(
        "{seed}: {} packets, DATA {}, SACK {}, HEARTBEAT {}, {messages} messages; {} {} {}\n",
        world.log.len(),
        count("DATA "),
        count("SACK "),
        count("Heartbeat("),
        digest(&packets),
        digest(&applications),
        digest(&storm.states)
    )
}

struct Storm {
    dice: Dice,
    paths: usize,
    seed: u64,
    /// The states of both ends after each step.
    states: String,
    calls: u64,
}

impl Storm {
    fn settings(&self, end: usize) -> Settings {
        let mut settings = settings(end, self.paths);
        draw::settings(self.seed)(end, &mut settings);
        settings
    }

    /// Makes a new association of an end, which calls one or all of the other's addresses.
    fn call(&mut self, world: &World, end: usize) -> Association {
        let known = one(&mut self.dice, &[1, self.paths]);
        let remotes: Vec<_> = (0..known).map(|path| address(1 - end, path)).collect();
        let ports = if end == 0 { PORTS } else { eifel_sctp::Ports { local: PORTS.remote, remote: PORTS.local } };
        self.calls += 1;
        Association::connect(world.now, &self.settings(end), ports, &remotes, self.calls).unwrap()
    }

    /// Lets one or both ends call at the addresses drawn, in some runs. Most runs then wait for the
    /// association to open, for at most ten seconds.
    fn begin(&mut self, world: &mut World) {
        if self.dice.once_in(3) {
            world.caller = self.call(world, 0);
        }
        if self.dice.once_in(5) {
            world.callee = Some(self.call(world, 1));
        }
        world.values = self.dice.once_in(5);
        world.reads_at_once = world.values && self.dice.once_in(2);
        if self.dice.once_in(2) {
            self.send(world, 0);
        }
        if !self.dice.once_in(6) {
            for _ in 0..100 {
                let open = world.callee.as_ref().is_some_and(|callee| callee.phase() == Phase::Established);
                if open && world.caller.phase() == Phase::Established {
                    break;
                }
                world.run_for(ms(100));
            }
        }
        self.look(world);
    }

    fn look(&mut self, world: &mut World) {
        for end in 0..2 {
            let Some(association) = world.end(end) else { continue };
            let timeout = association.poll_timeout();
            let _ = writeln!(self.states, "{} {timeout:?}", told::state(association));
        }
    }

    /// Shuts down or aborts half of the associations. The others stay open for a minute.
    fn end(&mut self, world: &mut World) {
        world.reading = [true; 2];
        world.run_for(Duration::from_secs(20));
        for end in 0..2 {
            match (self.dice.below(4), world.end(end)) {
                (0, Some(association)) => association.shutdown(),
                (1, Some(association)) => association.abort(b"enough"),
                _ => {}
            }
            let pause = self.dice.below(400);
            world.run_for(ms(pause));
            self.look(world);
            self.inject(world, end);
        }
        world.run_for(Duration::from_secs(90));
        self.look(world);
    }

    fn send(&mut self, world: &mut World, end: usize) {
        let times = 1 + self.dice.below(8);
        let longest = one(&mut self.dice, &[20, 600, 1452, 9000, 40_000]);
        let delivery = Delivery {
            stream: self.dice.below(6) as u16,
            ppid: (self.dice.next() as u32).to_be_bytes(),
            unordered: self.dice.once_in(4),
            immediate: self.dice.once_in(5),
            ..Delivery::default()
        };
        let values = world.values;
        for _ in 0..times {
            let len = self.dice.below(longest + 1) as usize;
            let byte = self.dice.next() as u8;
            let Some(association) = world.end(end) else { return };
            let taken = match values {
                true if byte < 100 => {
                    association.send_zeros_repeatedly(delivery, len, usize::from(byte)).map_or(0, |taken| taken)
                }
                true => usize::from(association.send_zeros(delivery, len).is_ok()),
                false => usize::from(association.send(delivery, vec![byte; len]).is_ok()),
            };
            let _ = write!(self.states, "{taken} ");
        }
    }

    fn act(&mut self, world: &mut World) {
        let end = self.dice.below(2) as usize;
        let (now, path) = (world.now, self.dice.below(self.paths as u64) as usize);
        let remote = address(1 - end, path);
        match self.dice.below(60) {
            0..=29 => self.send(world, end),
            30..=35 => world.reading[end] = !world.reading[end],
            36..=45 => self.inject(world, end),
            46..=47 => {
                let error = one(
                    &mut self.dice,
                    &[
                        IcmpError::TooBig { mtu: 700 },
                        IcmpError::TooBig { mtu: 100 },
                        IcmpError::Unreachable,
                        IcmpError::Unreachable,
                        IcmpError::NoSctp,
                    ],
                );
                let good = !self.dice.once_in(4) && (error != IcmpError::NoSctp || self.dice.once_in(4));
                let tag = tag(world, end) ^ u32::from(!good);
                if let Some(association) = world.end(end) {
                    association.handle_icmp(remote, tag, None, error);
                }
            }
            kind => {
                let [often, small] = [self.dice.once_in(4), self.dice.once_in(2)];
                let closed = world.end(end).is_none_or(|association| association.phase() == Phase::Closed);
                if closed && (48..54).contains(&kind) || kind == 54 && often {
                    let calling = self.call(world, end);
                    if end == 0 {
                        world.caller = calling;
                    } else {
                        world.callee = Some(calling);
                    }
                    return;
                }
                let Some(association) = world.end(end) else { return };
                match kind {
                    48..=49 => {
                        let _ = write!(self.states, "{} ", association.set_primary(remote));
                    }
                    50 => {
                        let _ = write!(self.states, "{} ", association.request_heartbeat(now, remote));
                    }
                    51 => association.set_heartbeat_interval(now, small.then_some(ms(600))),
                    52 => association.set_nagle(small),
                    53 => association.set_delayed_sacks(ms(if often { 900 } else { 100 }), u32::from(small) * 3),
                    55 => association.set_path_max_retransmits(u32::from(small)),
                    56 if often => association.shutdown(),
                    57 if often && small => association.abort(b"no more"),
                    _ => {}
                }
            }
        }
    }

    /// Injects a packet in an end's name: a copy of one of its packets, a changed copy, or a
    /// made-up packet.
    fn inject(&mut self, world: &mut World, end: usize) {
        let sent: Vec<usize> = (0..world.log.len()).filter(|index| world.log[*index].1 == end).collect();
        let Some(last) = sent.len().checked_sub(1) else { return };
        let back = self.dice.below(30).min(last as u64) as usize;
        let bytes = world.log[sent[last - back]].3.clone();
        let bytes = match self.dice.below(3) {
            0 => bytes,
            1 => self.changed(&bytes),
            _ => self.made_up(world, end, &bytes),
        };
        let path = self.dice.below(self.paths as u64) as usize;
        let addresses = Addresses::new(address(end, path), address(1 - end, path)).unwrap();
        world.inject(end, addresses, bytes);
    }

    /// Returns the packet with one byte of its chunks changed.
    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Ok((header, _)) = sctp::parse(bytes) else { return Vec::new() };
        let mut chunks = bytes[sctp::HEADER_LEN..].to_vec();
        if !chunks.is_empty() {
            let at = self.dice.below((chunks.len() as u64).min(24)) as usize;
            chunks[at] = chunks[at].wrapping_add(one(&mut self.dice, &[1, 255, 64, 16]));
        }
        let mut out = Vec::new();
        Writer::new(&header, &mut out).raw(&chunks);
        out
    }

    /// Returns chunks of any kind, with numbers near the valid ones.
    fn made_up(&mut self, world: &mut World, end: usize, sent: &[u8]) -> Vec<u8> {
        let Ok((header, _)) = sctp::parse(sent) else { return Vec::new() };
        let header = Header { verification_tag: header.verification_tag ^ u32::from(self.dice.once_in(8)), ..header };
        let mine = world.end(end).map_or(0, |own| own.initial_tsn().0.wrapping_add(own.engine().nxt() as u32));
        let theirs = world.end(1 - end).map_or(0, |own| own.initial_tsn().0.wrapping_add(own.engine().una() as u32));
        let longest = one(&mut self.dice, &[20, 20, 120, 600]);
        let raw: Vec<u8> = (0..self.dice.below(longest)).map(|_| self.dice.next() as u8).collect();
        let mut gaps: Vec<[u8; 4]> =
            (0..self.dice.below(4) as u8).map(|gap| [0, gap * 4 + 1, 0, gap * 4 + 3]).collect();
        if self.dice.once_in(5) {
            gaps.reverse();
        }
        let twice: Vec<[u8; 4]> =
            (0..self.dice.below(3) as u32).map(|back| theirs.wrapping_sub(back).to_be_bytes()).collect();
        let skipped = [Skipped { stream: self.dice.below(5) as u16, ssn: self.dice.below(4) as u16 }.to_bytes()];
        let kind = one(&mut self.dice, &[0x3f, 0x7f, 0xbf, 0xff]);
        let [high, low] = (4 + raw.len() as u16).to_be_bytes();
        let unknown = [&[kind, 0, high, low], &raw[..]].concat();
        let a_rwnd = one(&mut self.dice, &[0, 1500, 65_536]);
        let near = Seq(theirs.wrapping_sub(1).wrapping_add(self.dice.below(6) as u32).wrapping_sub(2));
        let tsn = Seq(mine.wrapping_add(self.dice.below(5) as u32).wrapping_sub(2));
        let flags = DataFlags(self.dice.next() as u8 & 0x1f);
        let mut out = Vec::new();
        let mut writer = Writer::new(&header, &mut out);
        let most = one(&mut self.dice, &[1, 2, 6]);
        for _ in 0..1 + self.dice.below(most) {
            let (gaps, duplicates) = (Gaps(&gaps), &twice[..]);
            let chunk = match self.dice.below(17) {
                0..=2 => Chunk::Sack(Sack { flags: SackFlags(0), cumulative: near, a_rwnd, gaps, duplicates }),
                3 => Chunk::Shutdown { cumulative: near },
                4..=6 => Chunk::ForwardTsn(ForwardTsn { cumulative: tsn, streams: &skipped }),
                7 => Chunk::Unknown(Unknown { kind, bytes: &unknown }),
                8 => Chunk::Heartbeat(Parameters(&raw)),
                9 => Chunk::HeartbeatAck(Parameters(&raw)),
                10 => Chunk::Error(Causes(&raw)),
                11 => Chunk::Timestamp(Timestamps { value: tsn.0, echo: near.0 }),
                12 => Chunk::CookieAck,
                13 => Chunk::ShutdownAck,
                14 => Chunk::ShutdownComplete { reflected: raw.len() > 9 },
                15 => Chunk::Ecne { lowest: near },
                _ => Chunk::Data(Data { flags, tsn, stream: 2, ssn: 1, ppid: [7; 4], payload: &raw }),
            };
            writer.chunk(&chunk).unwrap();
        }
        writer.finish();
        out
    }
}

/// Returns the tag of the newest packet of an end.
fn tag(world: &World, end: usize) -> u32 {
    let last = world.log.iter().rfind(|sent| sent.1 == end);
    last.and_then(|sent| sctp::parse(&sent.3).ok()).map_or(0, |(header, _)| header.verification_tag)
}
