//! Two ends in virtual time, and the network between them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Chunk};
use eifel_recovery::association::PathId;
use eifel_sctp::{
    Alone, Association, Delivery, Event, Heard, Leaving, Listener, Message, Next, Outgoing, Phase, Plain, Ports,
    Settings, Single,
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

/// The form of a packet in flight.
#[derive(Clone)]
pub enum Contents {
    Bytes(Vec<u8>),
    Values(Plain),
    /// Only if messages are read as they arrive.
    Single(Single, Ports),
}

impl Contents {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Bytes(written) => bytes.clone_from(written),
            Self::Values(plain) => {
                plain.emit(&mut bytes);
                assert_eq!(plain.len(), bytes.len());
            }
            Self::Single(single, ports) => {
                single.emit(*ports, &mut bytes);
                assert_eq!(single.len() as usize, bytes.len());
            }
        }
        bytes
    }
}

/// Both ends, and the packets between them.
pub struct World {
    pub now: Instant,
    pub caller: Association,
    pub callee: Option<Association>,
    /// One listener per end, for packets that belong to no association.
    listeners: [Listener; 2],
    flying: BTreeMap<(Instant, u64), (usize, Addresses, Contents)>,
    fate: Fate,
    number: u64,
    pub events: [Vec<Event>; 2],
    /// Received messages by end.
    pub received: [Vec<Message>; 2],
    /// Whether each end reads its messages.
    pub reading: [bool; 2],
    /// Whether packets are carried as values where possible.
    pub values: bool,
    /// Whether messages are read on arrival, before anything is sent. Only then may values take the
    /// fast path.
    pub reads_at_once: bool,
    /// The memory of the next packet of values. Still contains the last one.
    plain: Plain,
    /// Packets on the fast path: chunks read and duplicate chunks, SACKs with news and SACKs
    /// without.
    pub shortcuts: [usize; 4],
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
            plain: Plain::default(),
            shortcuts: [0; 4],
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
        self.carry(from, addresses, Contents::Bytes(bytes));
    }

    fn carry(&mut self, from: usize, addresses: Addresses, contents: Contents) {
        let bytes = contents.bytes();
        let IpAddr::V4(to) = addresses.destination() else { panic!("only IPv4 here") };
        let path = usize::from(to.octets()[1]);
        self.number += 1;
        let sent = Sent { now: self.now, from, path, bytes: &bytes };
        for (copy, delay) in (self.fate)(&sent).into_iter().enumerate() {
            let key = (self.now + delay, self.number * 4 + copy as u64);
            self.flying.insert(key, (1 - from, addresses, contents.clone()));
        }
        self.log.push((self.now, from, path, bytes));
    }

    fn deliver(&mut self, to: usize, addresses: Addresses, contents: &Contents) {
        let now = self.now;
        match self.end(to) {
            Some(end) if end.phase() != Phase::Closed => match contents {
                Contents::Bytes(bytes) => end.handle_packet(now, &addresses, bytes),
                Contents::Values(plain) => end.handle_plain(now, &addresses, plain),
                Contents::Single(single, _) => {
                    let path = end.path_of(addresses.source()).expect("it is the peer's");
                    let taken = match single {
                        Single::Data(lone) => end.take_lone(now, path, lone).map(|taken| taken as usize),
                        Single::Sack(bare) => {
                            let repeats = end.brain().una();
                            end.take_bare(now, bare).then(|| if end.brain().una() == repeats { 3 } else { 2 })
                        }
                    };
                    match taken {
                        Some(kind) => self.shortcuts[kind] += 1,
                        None => end.handle_single(now, &addresses, single),
                    }
                    if let (Some(0), Single::Data(lone)) = (taken, single) {
                        self.received[to].push(lone.message());
                    }
                }
            },
            _ => match self.listeners[to].handle_packet(now, &addresses, &contents.bytes()) {
                Heard::Nothing => {}
                Heard::Answer(addresses, bytes) => self.inject(to, addresses, bytes),
                Heard::Accepted(association) if to == 0 => self.caller = *association,
                Heard::Accepted(association) => self.callee = Some(*association),
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
            let mut burst = None;
            let mut plain = std::mem::take(&mut self.plain);
            loop {
                let (now, values, singles) = (self.now, self.values, self.values && self.reads_at_once);
                let Some(association) = self.end(end) else { break };
                let ways = (values.then_some(&mut plain), singles);
                let Some((outgoing, contents)) = poll(association, now, ways, &mut burst) else { break };
                self.carry(end, outgoing.addresses, contents);
            }
            self.plain = plain;
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
            let (to, addresses, contents) = entry.remove();
            self.deliver(to, addresses, &contents);
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

/// Returns the next packet to send, as values if there is memory for them and they can represent
/// it. `burst` is the path of a burst of single chunks, with nothing in between.
fn poll(
    association: &mut Association,
    now: Instant,
    (plain, singles): (Option<&mut Plain>, bool),
    burst: &mut Option<PathId>,
) -> Option<(Outgoing, Contents)> {
    let ports = association.ports();
    let contents = |single| Contents::Single(single, ports);
    let before = burst.take();
    let leaving = match before {
        Some(path) => Leaving::Chunks(path),
        None if singles => association.poll_single(now),
        None => Leaving::Other,
    };
    match leaving {
        Leaving::Nothing => return None,
        Leaving::Chunks(path) => match association.poll_lone(now, path, before.is_none()) {
            Alone::Nothing => return None,
            Alone::Chunk(lone, ..) => {
                *burst = Some(path);
                return Some((association.outgoing(path), contents(Single::Data(lone))));
            }
            Alone::Other => {}
        },
        Leaving::Sack(bare, path) => return Some((association.outgoing(path), contents(Single::Sack(bare)))),
        Leaving::Other => {}
    }
    if let Some(plain) = plain {
        match association.poll_plain(now, || &mut *plain) {
            Next::Nothing => return None,
            Next::Plain(outgoing) => {
                let lone = plain.lone().filter(|_| singles);
                let values = || Contents::Values(plain.clone());
                return Some((outgoing, lone.map_or_else(values, |lone| contents(Single::Data(lone)))));
            }
            Next::Other => {}
        }
    }
    let mut bytes = Vec::new();
    association.poll_transmit(now, &mut bytes).map(|outgoing| (outgoing, Contents::Bytes(bytes)))
}
