//! dcsctp as the other end, in virtual time, over random paths.

use std::collections::{BTreeMap, BTreeSet};

use dcsctp::api::{DcSctpSocket, Message, Options, PpId, SendOptions, SocketEvent, SocketState, SocketTime, StreamId};
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_sctp::{Association, Delivery, Event, Listener, ListenerAction, Phase, Settings};

use crate::talk::{Dice, PORTS, address, ms, parsed, polled, settings};

/// Number of messages that each end sends.
const COUNT: u32 = 60;

/// Faults of the path between the two ends.
struct Harm {
    dice: Dice,
    loss: u64,
    doubled: u64,
    spread: u64,
    spikes: Vec<(Instant, Instant)>,
}

impl Harm {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let spike = |dice: &mut Dice| {
            let start = Instant::ZERO + ms(dice.below(5000));
            (start, start + ms(dice.below(6000)))
        };
        let spikes = vec![spike(&mut dice), spike(&mut dice)];
        let (loss, doubled, spread) = (6 + dice.below(60), 6 + dice.below(60), dice.below(100));
        Self { dice, loss, doubled, spread, spikes }
    }

    fn fates(&mut self, now: Instant) -> Vec<Duration> {
        let held = self.spikes.iter().find(|(start, end)| (*start..*end).contains(&now));
        let base = held.map_or(Duration::ZERO, |(_, end)| end.since(now)) + ms(10);
        let copies = if self.dice.once_in(self.doubled) { 2 } else { 1 };
        let mut fates = Vec::new();
        for _ in 0..copies {
            if !self.dice.once_in(self.loss) {
                fates.push(base + ms(self.dice.below(self.spread + 1)));
            }
        }
        fates
    }
}

struct World {
    now: Instant,
    ours: Option<Association>,
    listener: Listener,
    theirs: Box<dyn DcSctpSocket>,
    flying: BTreeMap<(Instant, u64), (bool, Vec<u8>)>,
    number: u64,
    harm: Harm,
    events: Vec<Event>,
    received: [Vec<(u16, u32, Vec<u8>)>; 2],
}

impl World {
    fn new(seed: u64, we_call: bool) -> Self {
        let ours = Settings {
            udp: true,
            association_max_retransmits: 100,
            receive_buffer: 1 << 20,
            max_init_retransmits: 100,
            ..settings(0, 1)
        };
        let ports = if we_call { PORTS } else { eifel_sctp::Ports { local: PORTS.local, remote: PORTS.remote } };
        let options = Options {
            local_port: ports.remote,
            remote_port: ports.local,
            mtu: 1400,
            max_retransmissions: Some(100),
            max_init_retransmits: Some(100),
            ..Options::default()
        };
        let mut theirs = dcsctp::new_socket("theirs", &options);
        let call = Association::connect(Instant::ZERO, &ours, ports, &[address(1, 0)], 0).expect("known names");
        if !we_call {
            theirs.connect();
        }
        Self {
            now: Instant::ZERO,
            ours: we_call.then_some(call),
            listener: Listener::new(ours, ports.local).expect("known names"),
            theirs,
            flying: BTreeMap::new(),
            number: 0,
            harm: Harm::new(seed),
            events: Vec::new(),
            received: [Vec::new(), Vec::new()],
        }
    }

    fn enter(&mut self, to_us: bool, packet: Vec<u8>) {
        for delay in self.harm.fates(self.now) {
            self.number += 1;
            self.flying.insert((self.now + delay, self.number), (to_us, packet.clone()));
        }
    }

    fn settle(&mut self) {
        loop {
            let now = self.now;
            let Some(ours) = &mut self.ours else { break };
            self.received[0].extend(std::iter::from_fn(|| ours.receive()).map(|message| {
                assert!(message.begins && message.ends && !message.given_up);
                (message.stream, u32::from_be_bytes(message.ppid), message.bytes)
            }));
            self.events.extend(std::iter::from_fn(|| ours.poll_event()));
            let Some((_, bytes)) = polled(ours, now) else { break };
            self.enter(false, bytes);
        }
        while let Some(event) = self.theirs.poll_event() {
            match event {
                SocketEvent::SendPacket(packet) => self.enter(true, packet),
                SocketEvent::OnAborted(kind, reason) => panic!("dcsctp was aborted: {kind:?} {reason}"),
                // Late packets after dcsctp has closed cause errors that do not matter.
                SocketEvent::OnError(..) if self.theirs.state() == SocketState::Closed => {}
                SocketEvent::OnError(kind, reason) => panic!("dcsctp complains: {kind:?} {reason}"),
                _ => {}
            }
        }
        while let Some(message) = self.theirs.get_next_message() {
            self.received[1].push((message.stream_id.0, message.ppid.0, message.payload));
        }
    }

    fn step(&mut self) {
        self.settle();
        let zero = SocketTime::zero();
        let theirs = self.theirs.poll_timeout();
        let theirs = if theirs == SocketTime::infinite_future() {
            Instant::NEVER
        } else {
            Instant::from_nanos((theirs - zero).as_nanos() as u64)
        };
        let ours = self.ours.as_ref().map_or(Instant::NEVER, |ours| ours.poll_timeout());
        let packet = self.flying.keys().next().map_or(Instant::NEVER, |key| key.0);
        self.now = self.now.max(theirs.min(ours).min(packet));
        assert_ne!(self.now, Instant::NEVER, "nothing more will happen: {:?}", self.events);
        let now = self.now;
        self.theirs.advance_time(zero + std::time::Duration::from_nanos(now.as_nanos()));
        if let Some(end) = self.ours.as_mut().filter(|_| ours <= now) {
            end.handle_timeout(now);
        }
        let addresses = Addresses::new(address(1, 0), address(0, 0)).expect("one version");
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to_us, packet) = entry.remove();
            if !to_us {
                self.theirs.handle_input(&packet);
                continue;
            }
            match &mut self.ours {
                Some(ours) if ours.phase() != Phase::Closed => _ = ours.handle(now, &addresses, &parsed(&packet)),
                _ => match self.listener.handle(now, &addresses, &parsed(&packet)) {
                    ListenerAction::Nothing => {}
                    ListenerAction::Reply(_, answer) => self.enter(false, answer.to_bytes()),
                    ListenerAction::Accepted(association) => self.ours = Some(*association),
                },
            }
        }
    }

    /// Lets dcsctp or our end shut the association down, as the seed says, and waits for the end.
    fn shut_down(&mut self, seed: u64) {
        if seed.is_multiple_of(3) {
            self.theirs.shutdown();
        } else {
            self.ours.as_mut().expect("it is open").shutdown();
        }
        self.run_until(|world| world.ours.as_ref().is_some_and(|ours| ours.phase() == Phase::Closed));
        self.settle();
        assert_eq!(self.events.last(), Some(&Event::Closed), "seed {seed}");
    }

    fn run_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        while !done(self) {
            self.step();
            assert!(self.now < Instant::ZERO + Duration::from_secs(5000), "not done: {:?}", self.events);
        }
    }
}

/// Both ends send numbered messages on three streams, of one byte up to several packets.
fn talk(seed: u64) {
    let mut world = World::new(seed, seed.is_multiple_of(2));
    let mut dice = Dice(!seed);
    let mut sizes = || [1, 100, 1100, 1300, 9000][dice.below(5) as usize];
    world.run_until(|world| world.ours.as_ref().is_some_and(|ours| ours.phase() == Phase::Established));
    for number in 0..COUNT {
        let delivery = Delivery {
            stream: (number % 3) as u16,
            ppid: number.to_be_bytes(),
            unordered: number % 7 == 0,
            ..Delivery::default()
        };
        let ours = world.ours.as_mut().expect("it is open");
        ours.send(delivery, vec![number as u8; sizes()]).expect("there is room");
        let message = Message::new(StreamId((number % 3) as u16), PpId(number), vec![number as u8; sizes()]);
        let options = SendOptions { unordered: number % 7 == 0, ..SendOptions::default() };
        world.theirs.send(message, &options).expect("there is room");
    }
    world.run_until(|world| world.received.iter().all(|received| received.len() >= COUNT as usize));
    for received in &world.received {
        let mut numbers: Vec<u32> = received.iter().map(|(_, number, _)| *number).collect();
        for stream in 0..3 {
            let ordered = received.iter().filter(|(s, number, _)| *s == stream && number % 7 != 0);
            assert!(ordered.is_sorted_by_key(|(_, number, _)| *number), "seed {seed}, stream {stream}");
        }
        assert!(received.iter().all(|(_, number, bytes)| bytes.iter().all(|byte| *byte == *number as u8)));
        numbers.sort_unstable();
        assert_eq!(numbers, (0..COUNT).collect::<Vec<_>>(), "seed {seed}");
    }
    world.shut_down(seed);
}

/// Returns the number of paths. `EIFEL_DCSCTP_PATHS` overrides the small default for regular test
/// runs.
fn paths() -> u64 {
    std::env::var("EIFEL_DCSCTP_PATHS").ok().and_then(|paths| paths.parse().ok()).unwrap_or(150)
}

#[test]
fn all_messages_arrive_both_ways_over_random_paths() {
    (0..paths()).for_each(talk);
}

/// Both ends send messages. Two in three of ours have a lifetime. Those without arrive, in order, and the
/// others arrive at most once.
fn talk_with_lifetimes(seed: u64) {
    let mut world = World::new(seed, seed.is_multiple_of(2));
    let mut dice = Dice(!seed);
    world.run_until(|world| world.ours.as_ref().is_some_and(|ours| ours.phase() == Phase::Established));
    let is_reliable = |number: u32| number.is_multiple_of(3);
    for number in 0..COUNT {
        let lifetime = ms(dice.below(3000));
        let (stream, unordered) = ((number % 4) as u16, number % 7 == 0);
        let expires = (!is_reliable(number)).then(|| world.now + lifetime);
        let delivery = Delivery { stream, ppid: number.to_be_bytes(), unordered, immediate: false, expires };
        let mut size = || [1, 100, 1100, 1300, 9000][dice.below(5) as usize];
        let ours = world.ours.as_mut().expect("it is open");
        ours.send(delivery, vec![number as u8; size()]).expect("there is room");
        // dcsctp 0.1.16 drops the rest of a message that has begun to leave and expires. The next message
        // then follows its first fragments without a gap. So its messages have no lifetime here.
        let message = Message::new(StreamId(stream), PpId(number), vec![number as u8; size()]);
        let options = SendOptions { unordered, ..SendOptions::default() };
        world.theirs.send(message, &options).expect("there is room");
        if number % 10 == 9 {
            let until = world.now + ms(dice.below(2000));
            world.run_until(|world| world.now >= until || world.flying.is_empty());
        }
    }
    let arrived = |received: &[(u16, u32, Vec<u8>)]| -> BTreeSet<u32> { received.iter().map(|one| one.1).collect() };
    world.run_until(|world| {
        let all = |received: &Vec<_>| (0..COUNT).filter(|n| is_reliable(*n)).all(|n| arrived(received).contains(&n));
        world.received.iter().all(all)
    });
    world.shut_down(seed);
    for received in &world.received {
        assert_eq!(arrived(received).len(), received.len(), "seed {seed}: each at most once");
        for stream in 0..4 {
            let ordered = received.iter().filter(|(s, number, _)| *s == stream && number % 7 != 0);
            assert!(ordered.is_sorted_by_key(|(_, number, _)| *number), "seed {seed}, stream {stream}");
        }
        assert!(received.iter().all(|(_, number, bytes)| bytes.iter().all(|byte| *byte == *number as u8)));
    }
    let given_up = |event: &Event| if let Event::Expired { messages, .. } = event { *messages } else { 0 };
    let reported: usize = world.events.iter().map(given_up).sum();
    assert!(COUNT as usize - world.received[1].len() <= reported, "seed {seed}: {:?}", world.events);
}

#[test]
fn dcsctp_gets_all_messages_without_a_lifetime_over_random_paths() {
    (0..paths()).for_each(talk_with_lifetimes);
}
