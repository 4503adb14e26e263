//! Small worlds against another stack than the kernel: a host of this engine, in real time. It needs
//! no rights.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use eifel_base::time::{Duration, Instant};
use eifel_live::decisions::sender::counter;
use eifel_live::host::{Config, Handle, Host, HostEvent};
use eifel_live::system::Error;
use eifel_live::system::clock::Clock;
use eifel_live::worlds::judge::judge;
use eifel_live::worlds::kernel::ADDRESSES;
use eifel_live::worlds::player::{Ended, Played, Player};
use eifel_live::worlds::stack::{Counted, PORT, Stack, Standing, State};
use eifel_live::worlds::world::{SEGMENT, World};
use eifel_packet::datagram;
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine::{self, Event};
use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, part};
use eifel_tcp::Settings;
use eifel_tcp::settings::{SendKind, TimestampSettings};
use std::collections::{BTreeMap, VecDeque};

/// A host as the stack.
struct Own {
    host: Host,
    clock: Clock,
    opened: VecDeque<(u16, Handle)>,
    standings: BTreeMap<u16, Standing>,
    ports: BTreeMap<Handle, u16>,
    counted: Counted,
}

impl Own {
    fn new() -> Self {
        let [own, _] = ADDRESSES;
        let config = Config { v4: Some(own), v6: None, mtu: 1500, secret: [1, 2], most_connections: 100 };
        let mut host = Host::new(config);
        let settings = Settings {
            send: SendKind::Held { buffer: 1 << 16 },
            timestamps: Some(TimestampSettings::default()),
            ..Settings::default()
        };
        let named = Choice::named;
        let sender = engine::Config {
            detect: named("linux"),
            respond: named("linux"),
            grant: named("always"),
            rto: named("linux"),
            recover: named("rack-tlp"),
            ..engine::Config::default()
        };
        host.listen(PORT, 100, &settings, &sender).unwrap();
        let (standings, ports) = (BTreeMap::new(), BTreeMap::new());
        let (clock, opened, counted) = (Clock::start(), VecDeque::new(), Counted::default());
        Self { host, clock, opened, standings, ports, counted }
    }

    /// Takes the host's events. `caller` is the port of a packet that has just arrived.
    fn listen(&mut self, caller: u16) {
        while let Some((handle, event)) = self.host.poll_event() {
            if let HostEvent::Opened { .. } = event {
                self.ports.insert(handle, caller);
                self.opened.push_back((caller, handle));
                continue;
            }
            let (Some(port), HostEvent::Event(eifel_tcp::Event::Recovery(event))) = (self.ports.get(&handle), event)
            else {
                continue;
            };
            let standing = self.standings.entry(*port).or_default();
            match event {
                Event::TimerExpired { .. } => standing.timeouts += 1,
                Event::EpisodeOpened { episode, .. } if episode.cause == Cause::FastRetransmit => {
                    standing.state = State::Recovery;
                    self.counted.recoveries += 1;
                }
                Event::EpisodeOpened { .. } => standing.state = State::Loss,
                Event::EpisodeClosed { .. } => standing.state = State::Open,
                Event::Judged { outcome: Outcome::Spurious, reason, .. } => self.counted.undos.push(counter(reason)),
                _ => {}
            }
        }
    }
}

impl Stack for Own {
    type Socket = (u16, Handle);

    fn read(&mut self, room: &mut [u8]) -> Result<Option<usize>, Error> {
        let now = self.clock.now();
        self.host.handle_timeout(now);
        let mut packet = Vec::new();
        let sent = self.host.poll_packet(now, &mut packet);
        self.listen(0);
        if !sent {
            return Ok(None);
        }
        let (_, segment, payload) = datagram::parse(&packet).unwrap();
        self.standings.entry(segment.destination_port).or_default().sent += u32::from(!payload.is_empty());
        room[..packet.len()].copy_from_slice(&packet);
        Ok(Some(packet.len()))
    }

    fn deliver(&mut self, packet: &[u8]) -> Result<(), Error> {
        let (_, segment, _) = datagram::parse(packet).unwrap();
        self.host.handle_packet(self.clock.now(), packet);
        self.standings.entry(segment.source_port).or_default().received += 1;
        self.listen(segment.source_port);
        Ok(())
    }

    fn accept(&mut self) -> Result<Option<(u16, Self::Socket)>, Error> {
        Ok(self.opened.pop_front().map(|(port, handle)| (port, (port, handle))))
    }

    fn write(&mut self, socket: &Self::Socket, bytes: u32) -> Result<(), Error> {
        let written = self.host.connection(socket.1).unwrap().write(&vec![7; bytes as usize]);
        assert_eq!(written, bytes as usize);
        Ok(())
    }

    fn standing(&mut self, (port, handle): &Self::Socket) -> Result<Standing, Error> {
        let connection = self.host.connection(*handle).unwrap();
        let (snapshot, end) = (connection.engine().snapshot(), connection.end());
        let segments = |bytes: u64| (bytes / u64::from(SEGMENT)) as u32;
        Ok(Standing {
            cwnd: segments(snapshot.cwnd),
            ssthresh: Some(snapshot.ssthresh).filter(|&ssthresh| ssthresh != u64::MAX).map(segments),
            unacked: segments(snapshot.nxt - snapshot.una),
            unsent: (end - snapshot.nxt) as u32,
            rto: snapshot.rto,
            ..self.standings.get(port).copied().unwrap_or_default()
        })
    }

    fn counted(&mut self) -> Result<Counted, Error> {
        Ok(std::mem::take(&mut self.counted))
    }

    fn wait(&mut self, limit: Duration) -> Result<(), Error> {
        let due = self.host.poll_timeout();
        let timer = if due == Instant::NEVER { Duration::MAX } else { due.since(self.clock.now()) };
        std::thread::sleep(std::time::Duration::from_nanos(limit.min(timer).as_nanos()));
        Ok(())
    }
}

fn played(worlds: &[&str]) -> Vec<Played> {
    let mut all: Vec<Played> = Vec::new();
    let mut left = worlds.iter().map(|text| text.parse::<World>().unwrap());
    Player::new(Own::new()).play(8, &mut || left.next(), &mut |played| all.push(played)).unwrap();
    all.sort_by_key(|played| played.number);
    all
}

/// The undos of each episode, and whether its first retransmission was needed. A tail loss probe
/// prevents the first timeout.
#[test]
fn another_stack_is_played_and_judged() {
    type Episode = (&'static [&'static str], bool);
    let cases: [(&str, &[Episode]); 4] = [
        ("sack timestamps 2+1+0 timeout+10ms: segment 1 delayed", &[]),
        ("sack timestamps 2+1+6 loss-signal+10ms: segment 1 delayed", &[(&["TCPFullUndo"], false)]),
        ("sack timestamps 2+1+6 loss-signal+10ms: segment 1 lost", &[(&[], true)]),
        ("2+3+0 timeout+10ms: all delivered", &[]),
    ];
    let played = played(&cases.map(|(world, _)| world));
    for (played, (_, expected)) in played.iter().zip(cases) {
        assert_eq!(played.ended, Ended::Over, "{}", played.world);
        let linux = part::detector(&Choice::named("linux")).unwrap();
        let episodes = judge(&played.course, linux).unwrap();
        let found: Vec<(Vec<&str>, bool)> = episodes
            .iter()
            .map(|episode| (episode.stack.iter().map(|undo| undo.1).collect(), episode.needed == Some(true)))
            .collect();
        let expected: Vec<(Vec<&str>, bool)> =
            expected.iter().map(|(undos, needed)| (undos.to_vec(), *needed)).collect();
        assert_eq!(found, expected, "{}: {:#?}", played.world, played.course.events);
        assert!(episodes.iter().all(|episode| episode.agrees()), "{}", played.world);
    }
}
