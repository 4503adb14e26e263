//! Two ends in virtual time, and the network between them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Chunk};
use eifel_sctp::{
    Association, Delivery, Event, Listener, ListenerAction, Message, Packet, Phase, Ports, Processed, Settings,
};

pub const PORTS: Ports = Ports { local: 5001, remote: 5002 };

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A random number generator: SplitMix64.
#[derive(Clone)]
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn once_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }
}

/// The fate of a packet: one delay for each copy that arrives.
pub type Fate = Box<dyn FnMut(&Sent<'_>) -> Vec<Duration>>;

/// A packet that enters the network.
pub struct Sent<'a> {
    pub now: Instant,
    /// The sender; 0 is the caller.
    pub from: usize,
    /// Index of the destination among the peer's addresses.
    pub path: usize,
    pub bytes: &'a [u8],
}

impl Sent<'_> {
    pub fn chunks(&self) -> Vec<Chunk<'_>> {
        sctp::parse(self.bytes)
            .expect("what is sent is well formed")
            .1
            .map(|chunk| chunk.expect("well formed"))
            .collect()
    }
}

/// Reads a packet. Damaged bytes give an empty packet, which no end accepts.
pub fn parsed(bytes: impl AsRef<[u8]>) -> Packet {
    Packet::parse(bytes.as_ref()).unwrap_or_default()
}

/// Returns the next packet to send now, as bytes, with its addresses.
pub fn polled(association: &mut Association, now: Instant) -> Option<(Addresses, Vec<u8>)> {
    let mut packet = Packet::default();
    let outgoing = association.poll_transmit(now, &mut packet)?;
    Some((*association.addresses(&outgoing), packet.to_bytes()))
}

/// Both ends, and the packets between them.
pub struct World {
    pub now: Instant,
    pub caller: Association,
    pub callee: Option<Association>,
    /// One listener per end, for packets that belong to no association.
    listeners: [Listener; 2],
    flying: BTreeMap<(Instant, u64), (usize, Addresses, Packet)>,
    fate: Fate,
    number: u64,
    pub events: [Vec<Event>; 2],
    /// Received messages by end.
    pub received: [Vec<Message>; 2],
    /// Whether each end reads its messages.
    pub reading: [bool; 2],
    /// Whether packets are carried as values, and not as bytes.
    pub values: bool,
    /// Whether messages are read on arrival, before anything is sent.
    pub reads_at_once: bool,
    /// Packets with DATA and with a SACK that header prediction processed.
    pub predicted: [usize; 2],
    /// All packets sent: time, sender, index of the destination address, and bytes.
    pub log: Vec<(Instant, usize, usize, Vec<u8>)>,
}

/// Returns the address of an end on a path.
pub fn address(end: usize, path: usize) -> IpAddr {
    [10, path as u8, 0, end as u8 + 1].into()
}

pub fn settings(end: usize, paths: usize) -> Settings {
    Settings {
        addresses: (0..paths).map(|path| address(end, path)).collect(),
        secret: [end as u64 + 77, 3],
        ..Settings::default()
    }
}

impl World {
    /// Makes a caller that knows the callee's first address. Both ends have an address on each of
    /// the paths.
    pub fn new(paths: usize, change: impl Fn(usize, &mut Settings), fate: Fate) -> Self {
        let mut both = [settings(0, paths), settings(1, paths)];
        both.iter_mut().enumerate().for_each(|(end, settings)| change(end, settings));
        let caller = Association::connect(Instant::ZERO, &both[0], PORTS, &[address(1, 0)], 0).expect("known names");
        Self {
            now: Instant::ZERO,
            caller,
            callee: None,
            listeners: [(0, PORTS.local), (1, PORTS.remote)]
                .map(|(end, port)| Listener::new(both[end].clone(), port).expect("known names")),
            flying: BTreeMap::new(),
            fate,
            number: 0,
            events: [Vec::new(), Vec::new()],
            received: [Vec::new(), Vec::new()],
            reading: [true; 2],
            values: false,
            reads_at_once: false,
            predicted: [0; 2],
            log: Vec::new(),
        }
    }

    /// Makes a network with the same delay for all packets.
    pub fn still(paths: usize) -> Self {
        Self::new(paths, |_, _| {}, Box::new(|_| vec![ms(10)]))
    }

    pub fn fate(&mut self, fate: Fate) {
        self.fate = fate;
    }

    pub fn end(&mut self, end: usize) -> Option<&mut Association> {
        if end == 0 { Some(&mut self.caller) } else { self.callee.as_mut() }
    }

    /// Injects a packet into the network.
    pub fn inject(&mut self, from: usize, addresses: Addresses, bytes: Vec<u8>) {
        self.carry(from, addresses, parsed(&bytes), bytes);
    }

    fn send(&mut self, from: usize, addresses: Addresses, packet: Packet) {
        let bytes = packet.to_bytes();
        assert_eq!(packet.len(), bytes.len());
        self.carry(from, addresses, if self.values { packet } else { parsed(&bytes) }, bytes);
    }

    fn carry(&mut self, from: usize, addresses: Addresses, packet: Packet, bytes: Vec<u8>) {
        let IpAddr::V4(to) = addresses.destination() else { panic!("only IPv4 here") };
        let path = usize::from(to.octets()[1]);
        self.number += 1;
        let sent = Sent { now: self.now, from, path, bytes: &bytes };
        for (copy, delay) in (self.fate)(&sent).into_iter().enumerate() {
            let key = (self.now + delay, self.number * 4 + copy as u64);
            self.flying.insert(key, (1 - from, addresses, packet.clone()));
        }
        self.log.push((self.now, from, path, bytes));
    }

    fn deliver(&mut self, to: usize, addresses: Addresses, packet: &Packet) {
        let now = self.now;
        match self.end(to) {
            Some(end) if end.phase() != Phase::Closed => match end.handle(now, &addresses, packet) {
                Processed::Data => self.predicted[0] += 1,
                Processed::Sack => self.predicted[1] += 1,
                Processed::Fully => {}
            },
            _ => match self.listeners[to].handle(now, &addresses, packet) {
                ListenerAction::Nothing => {}
                ListenerAction::Reply(addresses, answer) => self.send(to, addresses, answer),
                ListenerAction::Accepted(association) if to == 0 => self.caller = *association,
                ListenerAction::Accepted(association) => self.callee = Some(*association),
            },
        }
        if self.reads_at_once {
            self.read(to);
        }
    }

    /// Takes all received messages.
    fn read(&mut self, end: usize) {
        let Some(association) = self.end(end) else { return };
        let received: Vec<Message> = std::iter::from_fn(|| association.receive()).collect();
        self.received[end].extend(received);
    }

    /// Lets both ends send, and collects their events and messages.
    pub fn settle(&mut self) {
        for end in 0..2 {
            loop {
                let (now, mut packet) = (self.now, Packet::default());
                let Some(association) = self.end(end) else { break };
                let Some(outgoing) = association.poll_transmit(now, &mut packet) else { break };
                let addresses = *association.addresses(&outgoing);
                self.send(end, addresses, packet);
            }
            let reading = self.reading[end];
            let (mut events, mut received) = (Vec::new(), Vec::new());
            if let Some(association) = self.end(end) {
                events.extend(std::iter::from_fn(|| association.poll_event()));
                if reading {
                    received.extend(std::iter::from_fn(|| association.receive()));
                }
            }
            self.events[end].extend(events);
            for message in received {
                if message.begins {
                    self.received[end].push(message);
                } else {
                    let begun = self.received[end].iter_mut().rfind(|begun| !begun.ends).expect("it has begun");
                    begun.bytes.extend(message.bytes);
                    begun.len += message.len;
                    begun.ends = message.ends;
                    begun.given_up = message.given_up;
                }
            }
        }
    }

    /// Advances to the next event. Returns `false` if there is none.
    pub fn step(&mut self) -> bool {
        let next = self.next();
        let timers =
            [self.caller.poll_timeout(), self.callee.as_ref().map_or(Instant::NEVER, |end| end.poll_timeout())];
        if next == Instant::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        for (end, timer) in timers.into_iter().enumerate() {
            let now = self.now;
            if timer <= now
                && let Some(association) = self.end(end)
            {
                association.handle_timeout(now);
            }
        }
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, addresses, packet) = entry.remove();
            self.deliver(to, addresses, &packet);
        }
        true
    }

    /// Advances until `done`, and panics after `limit`.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Self) -> bool) {
        let end = self.now + limit;
        self.settle();
        while !done(self) {
            assert!(self.step(), "nothing more will happen at {:?}: {:?}", self.now, self.events);
            assert!(self.now <= end, "not done at {:?}: {:?}", self.now, self.events);
        }
    }

    /// Lets time pass, and handles all events in it.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.next() <= end && self.step() {}
        self.now = end;
    }

    /// Returns the time of the next event.
    fn next(&mut self) -> Instant {
        self.settle();
        // Reading by the application may cause a window update.
        self.settle();
        let packet = self.flying.keys().next().map_or(Instant::NEVER, |key| key.0);
        let callee = self.callee.as_ref().map_or(Instant::NEVER, |end| end.poll_timeout());
        packet.min(self.caller.poll_timeout()).min(callee)
    }

    /// Runs until the association is open at both ends.
    pub fn open(&mut self) {
        self.run_until(Duration::from_secs(300), |world| {
            world.caller.phase() == Phase::Established
                && world.callee.as_ref().is_some_and(|callee| callee.phase() == Phase::Established)
        });
    }

    /// Sends `count` messages of `len` bytes from one end on stream 0, and waits until the other
    /// has received all.
    pub fn transfer(&mut self, from: usize, count: usize, len: usize) {
        let before = self.received[1 - from].len();
        let mut left = count;
        self.run_until(Duration::from_secs(3000), |world| {
            while left > 0 {
                let number = (count - left) as u64;
                let mut bytes = number.to_be_bytes().to_vec();
                bytes.resize(len, number as u8);
                let sender = world.end(from).expect("it is open");
                if sender.send(Delivery::default(), bytes).is_err() {
                    break;
                }
                left -= 1;
            }
            world.settle();
            world.received[1 - from].len() == before + count
                && world.received[1 - from].last().is_none_or(|last| last.ends)
        });
        for (number, message) in self.received[1 - from][before..].iter().enumerate() {
            assert_eq!(message.bytes[..8], (number as u64).to_be_bytes(), "in order");
            assert_eq!(message.bytes.len(), len);
            assert!(message.bytes[8..].iter().all(|byte| *byte == number as u8));
        }
    }
}
