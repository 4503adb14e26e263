//! A sender, a rough path and a receiver in virtual time. All events are at whole milliseconds, so
//! many coincide, and timers expire just when a packet arrives.

use std::collections::BTreeMap;
use std::fmt::Write;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Echo, Engine, Kind, Negotiated, Transmission};

use crate::dice::Dice;
use crate::receiver::{Answer, Packet, Receiver};

const MSS: u64 = 1000;
/// Number of steps in a conversation.
const STEPS: u32 = 500;

enum Event {
    Packet(Packet),
    Answer(Answer),
}

/// The path's behaviour, drawn for each conversation.
struct Rough {
    delay: u64,
    jitter: u64,
    /// One packet in this many is lost; 0 for none.
    loses: u64,
    /// One packet in this many stalls the path; 0 for none.
    stands: u64,
    doubles: u64,
    /// All packets wait until this time, in milliseconds.
    until: u64,
    /// Milliseconds between packets.
    apart: u64,
    free: u64,
}

impl Rough {
    fn drawn(dice: &mut Dice) -> Self {
        Self {
            delay: dice.from(1, 60),
            jitter: [0, 0, 3, 30][dice.below(4) as usize],
            loses: [0, 12, 40, 150][dice.below(4) as usize],
            stands: [0, 60, 150, 400][dice.below(4) as usize],
            doubles: [0, 0, 40][dice.below(3) as usize],
            until: 0,
            apart: dice.below(4),
            free: 0,
        }
    }

    /// Returns when a packet that enters now leaves, or `None` if it is lost.
    fn crosses(&mut self, now: u64, dice: &mut Dice) -> Option<u64> {
        let drawn = |once: u64, dice: &mut Dice| once > 0 && dice.once_in(once);
        if drawn(self.stands, dice) {
            self.until = now + dice.from(100, 2500);
        }
        self.free = self.free.max(now) + self.apart;
        let lost = drawn(self.loses, dice);
        let leaves = (self.free + self.delay + dice.below(self.jitter + 1)).max(self.until);
        (!lost).then_some(leaves)
    }
}

pub struct Conversation<'d> {
    engine: Engine,
    dice: &'d mut Dice,
    /// The time in milliseconds.
    now: u64,
    /// The first position that the application has not written.
    end: u64,
    window: u64,
    /// The first position beyond the peer's window.
    limit: u64,
    stamps: bool,
    paths: [Rough; 2],
    receiver: Receiver,
    under_way: BTreeMap<(u64, u64), Event>,
    count: u64,
    log: String,
}

impl<'d> Conversation<'d> {
    /// Holds a conversation, and returns a log of the sender's actions.
    pub fn held(config: &Config, dice: &'d mut Dice) -> String {
        let negotiated = Negotiated { mss: MSS as u32, sack: !dice.once_in(4), timestamps: !dice.once_in(4) };
        let paths = [Rough::drawn(dice), Rough::drawn(dice)];
        let receiver = Receiver::new(dice.once_in(3));
        let window = MSS * [4, 12, 40, 1000][dice.below(4) as usize];
        let mut held = Self {
            engine: Engine::new(config).unwrap(),
            now: 0,
            end: 1,
            window,
            limit: 1 + window,
            stamps: negotiated.timestamps,
            paths,
            receiver,
            under_way: BTreeMap::new(),
            count: 0,
            log: format!("{config:?}\n{negotiated:?}\n"),
            dice,
        };
        held.open(negotiated);
        for _ in 0..STEPS {
            held.step();
        }
        held.log
    }

    fn at(&self) -> Instant {
        Instant::ZERO + Duration::from_millis(self.now)
    }

    fn stamp(&self) -> Option<Timestamp> {
        self.stamps.then_some(Timestamp(self.now as u32))
    }

    /// Opens the connection. Half of the connections begin with a handshake, whose SYN is lost up
    /// to twice.
    fn open(&mut self, negotiated: Negotiated) {
        if self.dice.once_in(2) {
            let stamp = self.stamp();
            for _ in 0..self.dice.from(1, 3) {
                // The engine is polled twice, as by a connection that has something else to send.
                let sent = [0, 1].map(|_| self.engine.poll_handshake(self.at(), stamp));
                self.note(&format!("{sent:?}"));
                if self.dice.once_in(2) {
                    self.wake();
                } else {
                    self.now += self.dice.from(1, 200);
                    self.engine.repeat_handshake();
                }
            }
            let ack = Ack { cumulative: 1, sacks: &[], dsacks: &[], echo: None, mark: None, plain: false, ece: false };
            self.now += self.dice.from(1, 200);
            self.engine.on_ack(self.at(), &ack);
        }
        self.engine.established(self.at(), negotiated);
        self.note("established");
    }

    fn step(&mut self) {
        if self.dice.once_in(4) {
            self.end += [MSS * self.dice.below(60), self.dice.below(2500), MSS][self.dice.below(3) as usize];
        }
        if self.dice.once_in(50) {
            // The window closes at the data received so far, or opens again.
            self.window =
                if self.window == 0 { MSS * self.dice.from(1, 40) } else { self.window * self.dice.below(3) / 2 };
            self.limit = self.limit.max(self.receiver.next + self.window);
        }
        self.send();
        let arrival = self.under_way.keys().next().map(|&(at, _)| at);
        let deadline = self.engine.deadline();
        // A timer between two milliseconds expires at the later one.
        let due = (deadline != Instant::NEVER).then(|| deadline.as_nanos().div_ceil(1_000_000));
        let first = match (arrival, due) {
            (Some(arrival), Some(due)) if arrival == due => self.dice.once_in(2),
            (Some(arrival), Some(due)) => arrival < due,
            (arrival, _) => arrival.is_some(),
        };
        match (first, self.under_way.first_key_value().map(|(&key, _)| key), due) {
            (true, Some(key), _) => {
                self.now = self.now.max(key.0);
                if let Some(event) = self.under_way.remove(&key) {
                    self.arrive(event);
                }
            }
            (false, _, Some(_)) => self.wake(),
            _ => {
                self.now += self.dice.below(1500);
                self.end += MSS;
                self.limit = self.limit.max(self.receiver.next + self.window);
                if self.limit <= self.engine.una() && self.dice.once_in(2) {
                    let sent = self.engine.probe_window(self.at(), 1, self.stamp());
                    self.left(&sent);
                } else if self.limit <= self.engine.una() {
                    self.window = MSS * 5;
                    self.limit = self.receiver.next + self.window;
                }
            }
        }
    }

    /// Lets the next timer expire.
    fn wake(&mut self) {
        let due = self.engine.deadline();
        if due == Instant::NEVER {
            return;
        }
        self.now = self.now.max(due.as_nanos().div_ceil(1_000_000));
        let probes = self.engine.on_timeout(self.at());
        self.note("timer");
        if probes && (self.engine.una() < self.engine.nxt() || self.engine.nxt() < self.end) {
            let sent = self.engine.probe_window(self.at(), 1, self.stamp());
            self.left(&sent);
        }
    }

    fn send(&mut self) {
        for _ in 0..5000 {
            let offer = self.engine.offer(self.end, self.limit, self.stamp());
            let Some(sent) = self.engine.poll_send(self.at(), &offer) else { return };
            self.left(&sent);
        }
        panic!("sending never ends");
    }

    fn left(&mut self, sent: &Transmission) {
        self.note(&format!("{sent:?}"));
        let again = matches!(sent.kind, Kind::Retransmission(_));
        let block = Block { start: sent.start, end: sent.start + u64::from(sent.len) };
        let packet = Packet { block, stamp: self.stamp(), again };
        let copies = 1 + u64::from(self.paths[0].doubles > 0 && self.dice.once_in(self.paths[0].doubles));
        for _ in 0..copies {
            if let Some(at) = self.paths[0].crosses(self.now, self.dice) {
                self.add(at, Event::Packet(packet));
            }
        }
    }

    fn add(&mut self, at: u64, event: Event) {
        self.count += 1;
        self.under_way.insert((at, self.count), event);
    }

    fn arrive(&mut self, event: Event) {
        match event {
            // The receiver accepts a probe of a closed window now and then.
            Event::Packet(packet) if packet.block.end <= self.limit || self.dice.once_in(3) => {
                let answer = self.receiver.take(&packet, self.dice);
                self.limit = self.limit.max(answer.cumulative + self.window);
                if let Some(at) = self.paths[1].crosses(self.now, self.dice) {
                    self.add(at, Event::Answer(answer));
                }
            }
            Event::Packet(_) => {}
            Event::Answer(answer) => self.hear(&answer),
        }
    }

    fn hear(&mut self, answer: &Answer) {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let believed = |block: &&Block| block.start > answer.cumulative && block.end <= nxt;
        let sacks: Vec<Block> = answer.sacks.iter().filter(believed).copied().collect();
        if answer.cumulative < una || answer.cumulative > nxt {
            return;
        }
        let echo = answer.echo.filter(|_| self.stamps).map(|value| match self.receiver.lies && self.dice.once_in(50) {
            true => Echo::Forged,
            false => Echo::Known { value, age: Duration::from_millis(self.now - u64::from(value.0)) },
        });
        let ack = Ack {
            cumulative: answer.cumulative,
            sacks: &sacks,
            dsacks: answer.dsack.as_slice(),
            echo,
            mark: Some(answer.mark),
            plain: answer.plain,
            ece: answer.ece,
        };
        self.engine.on_ack(self.at(), &ack);
        self.note(&format!("{} {sacks:?}", answer.cumulative));
    }

    /// Logs `what` happened, and the sender's state.
    fn note(&mut self, what: &str) {
        let (now, stands, deadline) = (self.now, self.engine.snapshot(), self.engine.deadline());
        writeln!(self.log, "{now} {what}\n    {stands:?} {deadline:?} {:?}", self.engine.cwnd_after_echo()).unwrap();
        while let Some(event) = self.engine.poll_event() {
            writeln!(self.log, "    {event:?}").unwrap();
        }
    }
}
