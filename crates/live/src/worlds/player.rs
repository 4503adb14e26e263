//! Plays worlds against a stack, many at a time.

use super::kernel::ADDRESSES;
use super::peer::{Course, Peer};
use super::stack::{Stack, Standing};
use super::world::World;
use crate::system::Error;
use crate::system::clock::Clock;
use eifel_base::time::{Duration, Instant};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::segment::Segment;
use eifel_packet::seq::Seq;
use std::collections::BTreeMap;

/// The time between the beginnings of two worlds, so that their bursts do not meet.
const BETWEEN: Duration = Duration::from_millis(4);
/// The longest wait: a connection may open some time after its packet was delivered.
const LONGEST_WAIT: Duration = Duration::from_millis(10);
/// The longest that a world may take.
const LONGEST: Duration = Duration::from_secs(60);
/// The first port of a peer.
const FIRST_PORT: u16 = 10_000;
/// The longest packet that a stack sends.
const ROOM: usize = 65_535;
/// Looks at the state of a connection until it has processed a segment.
const LOOKS: u32 = 10_000;

/// How a world ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Everything is acknowledged, and nothing is under way.
    Over,
    /// It did not end in time.
    Stuck,
}

/// A world that was played.
pub struct Played {
    /// Its number in the order of beginning.
    pub number: usize,
    pub world: World,
    pub ended: Ended,
    pub course: Course,
}

/// A world that is being played.
struct Playing<S> {
    peer: Peer,
    number: usize,
    begun: Instant,
    socket: Option<S>,
    /// Whether everything is written.
    written: bool,
}

/// A stack, and its time.
pub struct Player<S: Stack> {
    stack: S,
    clock: Clock,
    playing: BTreeMap<u16, Playing<S::Socket>>,
    port: u16,
    /// Worlds begun.
    begun: usize,
    next_beginning: Instant,
    room: Vec<u8>,
    packet: Vec<u8>,
}

impl<S: Stack> Player<S> {
    /// Creates the player of a stack that has just begun.
    pub fn new(stack: S) -> Self {
        Self {
            stack,
            clock: Clock::start(),
            playing: BTreeMap::new(),
            port: FIRST_PORT,
            begun: 0,
            next_beginning: Instant::ZERO,
            room: vec![0; ROOM],
            packet: Vec::new(),
        }
    }

    /// Plays worlds, `at_once` at a time, until `next` has no further one. `over` takes each when it
    /// has ended.
    ///
    /// # Errors
    /// Those of the stack.
    pub fn play(
        &mut self,
        at_once: usize,
        next: &mut dyn FnMut() -> Option<World>,
        over: &mut dyn FnMut(Played),
    ) -> Result<(), Error> {
        self.begun = 0;
        let mut waiting = next();
        while waiting.is_some() || !self.playing.is_empty() {
            let now = self.clock.now();
            if self.playing.len() < at_once
                && now >= self.next_beginning
                && let Some(world) = waiting.take()
            {
                self.begin(now, world)?;
                waiting = next();
            }
            self.take_in()?;
            let ports: Vec<u16> = self.playing.keys().copied().collect();
            for port in ports {
                if let Some(played) = self.turn(port)? {
                    over(played);
                }
            }
            self.open()?;
            let due = self.playing.values().map(|one| one.peer.next()).min().unwrap_or(Instant::NEVER);
            let begins = waiting.is_some() && self.playing.len() < at_once;
            let due = if begins { due.min(self.next_beginning) } else { due };
            let due = due.min(self.clock.now() + LONGEST_WAIT);
            self.stack.wait(due.since(self.clock.now()))?;
        }
        Ok(())
    }

    fn begin(&mut self, now: Instant, world: World) -> Result<(), Error> {
        while self.playing.contains_key(&self.port) {
            self.port = self.port.checked_add(1).unwrap_or(FIRST_PORT);
        }
        let isn = Seq((self.begun as u32).wrapping_mul(64_000_000));
        let peer = Peer::new(world, self.port, isn).map_err(Error::of("begin a world"))?;
        self.playing.insert(self.port, Playing { peer, number: self.begun, begun: now, socket: None, written: false });
        self.port = self.port.checked_add(1).unwrap_or(FIRST_PORT);
        self.begun += 1;
        self.next_beginning = now + BETWEEN;
        Ok(())
    }

    /// Lets connections that have opened send their first bytes.
    fn open(&mut self) -> Result<(), Error> {
        while let Some((port, socket)) = self.stack.accept()? {
            let Some(playing) = self.playing.get_mut(&port) else { continue };
            playing.peer.on_open(&self.stack.standing(&socket)?);
            let [before, _] = playing.peer.world.bytes();
            playing.peer.on_write(self.clock.now(), before);
            self.stack.write(&socket, before)?;
            playing.socket = Some(socket);
        }
        Ok(())
    }

    /// Takes all packets that the stack has sent.
    fn take_in(&mut self) -> Result<(), Error> {
        while let Some(length) = self.stack.read(&mut self.room)? {
            // A stack may send other packets too, for example over IPv6.
            let Ok((_, segment, _)) = datagram::parse(&self.room[..length]) else { continue };
            let Some(playing) = self.playing.get_mut(&segment.destination_port) else { continue };
            let standing = playing.socket.as_ref().map(|socket| self.stack.standing(socket)).transpose()?;
            playing.peer.on_sent(self.clock.now(), segment, standing.as_ref());
        }
        Ok(())
    }

    /// Delivers to the stack what is due. Returns the world if it has ended.
    fn turn(&mut self, port: u16) -> Result<Option<Played>, Error> {
        loop {
            let now = self.clock.now();
            let Some(playing) = self.playing.get_mut(&port) else { return Ok(None) };
            let Some(segment) = playing.peer.poll_arrival(now) else { break };
            self.deliver(port, segment)?;
        }
        let Some(playing) = self.playing.get_mut(&port) else { return Ok(None) };
        let late = self.clock.now().since(playing.begun) > LONGEST;
        let over = match &playing.socket {
            Some(socket) if playing.written && playing.peer.next() == Instant::NEVER => {
                playing.peer.is_over(&self.stack.standing(socket)?)
            }
            _ => false,
        };
        if !over && !late {
            return Ok(None);
        }
        let Some(Playing { peer, number, .. }) = self.playing.remove(&port) else { return Ok(None) };
        let (world, course) = peer.finish();
        Ok(Some(Played { number, world, ended: if over { Ended::Over } else { Ended::Stuck }, course }))
    }

    fn deliver(&mut self, port: u16, segment: Segment) -> Result<(), Error> {
        self.packet.clear();
        let [own, peer] = ADDRESSES;
        let header = Header::new(Addresses::V4 { source: peer, destination: own });
        datagram::emit(&header, &segment, &[], &mut self.packet).map_err(Error::of("make a packet"))?;
        // What has left before the segment is processed comes before it in the course.
        let before = self.settle(port)?;
        self.stack.deliver(&self.packet)?;
        let Some(playing) = self.playing.get_mut(&port) else { return Ok(()) };
        let (Some(before), Some(socket)) = (before, &playing.socket) else {
            playing.peer.on_opening(segment);
            return Ok(());
        };
        let mut standing = self.stack.standing(socket)?;
        for _ in 0..LOOKS {
            if standing.received != before.received {
                break;
            }
            standing = self.stack.standing(socket)?;
        }
        let now = self.clock.now();
        let counted = self.stack.counted()?;
        playing.peer.on_delivered(now, segment, &standing, counted);
        if !playing.written && standing.unacked == 0 {
            playing.written = true;
            let [_, rest] = playing.peer.world.bytes();
            playing.peer.on_write(now, rest);
            self.stack.write(socket, rest)?;
        }
        self.take_in()
    }

    /// Takes what the connection has sent, until its state is that of the packets seen.
    fn settle(&mut self, port: u16) -> Result<Option<Standing>, Error> {
        loop {
            self.take_in()?;
            let Some(playing) = self.playing.get_mut(&port) else { return Ok(None) };
            let Some(socket) = &playing.socket else { return Ok(None) };
            let standing = self.stack.standing(socket)?;
            if standing.sent <= playing.peer.seen() {
                playing.peer.look(self.clock.now(), &standing, false);
                return Ok(Some(standing));
            }
        }
    }
}
