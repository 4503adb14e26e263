//! A proxy: programs connect to it over the kernel's loopback, and it connects to their targets
//! through an eifel host.

mod budget;
mod client;
pub mod request;

pub use client::ByteCounts;

use crate::host::{Ended, Handle, Host, HostEvent, Tally};
use crate::station::{Application, Next, Waits};
use crate::system::ready_set::ReadySet;
use crate::system::{Error, allow_files};
use budget::{Budget, Share};
use client::{Client, Phase};
use eifel_base::time::{Duration, Instant};
use eifel_recovery::detect::Outcome;
use eifel_recovery::engine;
use eifel_tcp::{Event, Settings};
use request::{Reply, Target};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// The task of a proxy.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Settings of its connections.
    pub settings: Settings,
    /// Algorithms of their sending sides.
    pub sender: engine::Config,
    /// The number of clients after which it is done; `None` for no limit.
    pub clients: Option<u64>,
}

/// The most clients at a time. Further clients wait to be accepted.
const MOST_CLIENTS: usize = 1024;
/// How long a client may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The time after which an accept that the system refused is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// Files that the proxy needs besides its clients' sockets: devices, captures, its output.
const OTHER_FILES: u64 = 64;
/// The most bytes that are read from a client at once.
const SCRATCH: usize = 1 << 16;
/// The number of the listener in the set of sockets. No client has it.
const LISTENER: u64 = u64::MAX;
/// The shortest time between two looks at the sockets while the host has events for clients.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

/// A client's number, and the address of the name that it asked for; `None` if there is none.
type Resolved = (u64, Option<SocketAddr>);

/// A connection through the proxy that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedConnection {
    pub target: SocketAddr,
    /// Whether it was ever open.
    pub opened: bool,
    pub moved: ByteCounts,
    /// From the client's request to the connection's end.
    pub lasted: Duration,
    pub tally: Tally,
    /// Episodes that the acting detector called spurious.
    pub spurious: u64,
}

/// Receives each connection that has ended.
pub type OnEnd<'a> = Box<dyn FnMut(&EndedConnection) + 'a>;

/// A connection made for a client. The connection may outlive the client.
struct OpenConnection {
    client: u64,
    since: Instant,
    target: SocketAddr,
    opened: bool,
    moved: ByteCounts,
    spurious: u64,
    share: Share,
}

impl OpenConnection {
    fn passed(&self, now: Instant, ended: &Ended) -> EndedConnection {
        let &Self { since, target, opened, moved, spurious, .. } = self;
        EndedConnection { target, opened, moved, lasted: now.since(since), tally: ended.tally, spurious }
    }
}

/// The sockets of the clients and of the listener.
struct Sockets {
    listener: TcpListener,
    set: ReadySet,
    looked: Instant,
    /// When to accept clients that may wait for it; `None` if none waits.
    waiting: Option<Instant>,
}

/// The connections, and the memory of their buffers.
#[derive(Default)]
struct Connections {
    all: BTreeMap<Handle, OpenConnection>,
    /// Connections that have outlived their client, in that order. Some have ended since.
    left: VecDeque<Handle>,
    /// Shares of connections that have ended, by the client that has not yet taken all their data.
    kept: BTreeMap<u64, Share>,
    budget: Budget,
}

/// A running proxy.
pub struct Proxy<'a> {
    plan: Plan,
    told: OnEnd<'a>,
    sockets: Sockets,
    clients: BTreeMap<u64, Client>,
    /// Clients by the time of their acceptance. Some have sent their request since.
    asking: VecDeque<(Instant, u64)>,
    connections: Connections,
    accepted: u64,
    names: (Sender<Resolved>, Receiver<Resolved>),
    /// The most clients at a time.
    most: usize,
    stopped: bool,
    scratch: Vec<u8>,
}

impl<'a> Proxy<'a> {
    /// Accepts clients from `listener`, and passes each connection that has ended to `told`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn begin(listener: TcpListener, plan: Plan, told: OnEnd<'a>) -> Result<Self, Error> {
        listener.set_nonblocking(true).map_err(Error::of("listen"))?;
        allow_files(MOST_CLIENTS as u64 + OTHER_FILES);
        let set = ReadySet::new()?;
        set.add(&listener, LISTENER)?;
        Ok(Self {
            plan,
            told,
            sockets: Sockets { listener, set, looked: Instant::ZERO, waiting: Some(Instant::ZERO) },
            clients: BTreeMap::new(),
            asking: VecDeque::new(),
            connections: Connections::default(),
            accepted: 0,
            names: mpsc::channel(),
            most: MOST_CLIENTS,
            stopped: false,
            scratch: vec![0; SCRATCH],
        })
    }

    /// Takes the host's events. Returns the clients that have to be served because of them.
    fn take_events(&mut self, now: Instant, host: &mut Host) -> BTreeSet<u64> {
        let mut concerned = BTreeSet::new();
        while let Some((handle, mut happening)) = host.poll_event() {
            let Some(passage) = self.connections.all.get_mut(&handle) else { continue };
            if let HostEvent::Event(Event::Recovery(event)) = &happening {
                let found = matches!(event, engine::Event::Judged { detector: 0, outcome: Outcome::Spurious, .. });
                passage.spurious += u64::from(found);
                continue;
            }
            passage.opened |= matches!(happening, HostEvent::Event(Event::Connected));
            let mut keeps = false;
            if let Some(client) = self.clients.get_mut(&passage.client) {
                concerned.insert(passage.client);
                tell(client, handle, &mut happening);
                (passage.moved, keeps) = (client.moved, client.has_rest());
            }
            if let HostEvent::Ended(ended) = &happening {
                (self.told)(&passage.passed(now, ended));
                self.connections.end(handle, keeps);
            }
        }
        concerned
    }

    /// Accepts new clients, notes what sockets report, takes resolved names, and drops clients that
    /// are too slow to ask. Adds the clients to serve to `concerned`.
    fn look(&mut self, now: Instant, concerned: &mut BTreeSet<u64>) -> Result<(), Error> {
        self.sockets.looked = now;
        for change in self.sockets.set.changes()? {
            if change.number == LISTENER {
                self.sockets.waiting = Some(now);
            } else if let Some(client) = self.clients.get_mut(&change.number) {
                client.on_change(&change);
                concerned.insert(change.number);
            }
        }
        self.accept(now);
        while let Ok((number, address)) = self.names.1.try_recv() {
            concerned.insert(number);
            if let Some(client) = self.clients.get_mut(&number) {
                client.named(address);
            }
        }
        while let Some(&(since, number)) = self.asking.front()
            && now.since(since) > REQUEST_TIMEOUT
        {
            self.asking.pop_front();
            if self.clients.get(&number).is_some_and(|client| client.phase == Phase::Asking) {
                self.clients.remove(&number);
            }
        }
        Ok(())
    }

    /// Accepts clients while there is room. If the system has none, for example no descriptor, they
    /// wait.
    fn accept(&mut self, now: Instant) {
        while self.accepts_at() <= now {
            let socket = match self.sockets.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) => {
                    let none = error.kind() == ErrorKind::WouldBlock;
                    self.sockets.waiting = if none { None } else { Some(now + BETWEEN_TRIES) };
                    break;
                }
            };
            // The set reports the client's state as its first change.
            if let Ok(client) = Client::new(socket)
                && self.sockets.set.add(client.socket(), self.accepted).is_ok()
            {
                self.clients.insert(self.accepted, client);
                self.asking.push_back((now, self.accepted));
                self.accepted += 1;
            }
        }
    }

    /// Returns whether to look at the sockets now, when the host had events for these clients.
    fn is_to_look(&self, now: Instant, concerned: &BTreeSet<u64>) -> bool {
        concerned.is_empty() || now.since(self.sockets.looked) >= BETWEEN_LOOKS
    }

    /// Returns when to accept clients.
    fn accepts_at(&self) -> Instant {
        self.sockets.waiting.filter(|_| self.takes_clients()).unwrap_or(Instant::NEVER)
    }

    /// Returns whether there is room for another client, and the plan wants one.
    fn takes_clients(&self) -> bool {
        let wanted = self.plan.clients.is_none_or(|clients| self.accepted < clients);
        wanted && !self.stopped && self.clients.len() < self.most
    }

    /// Moves a client's bytes, opens the connection that it asked for, and removes a client that is
    /// over.
    fn serve(&mut self, now: Instant, host: &mut Host, number: u64) {
        let Some(client) = self.clients.get_mut(&number) else { return };
        let mut passage = client.handle().and_then(|handle| self.connections.all.get_mut(&handle));
        let buffer = passage.as_ref().map_or(0, |passage| passage.share.send_buffer(&self.plan.settings));
        client.exchange(host, buffer, &mut self.scratch);
        if let Some(passage) = &mut passage {
            passage.moved = client.moved;
        }
        match client.asked() {
            Some(Target::Name(name, port)) => {
                let answer = self.names.0.clone();
                // The system's resolver blocks. The proxy may be gone when it answers.
                thread::spawn(move || {
                    let found = (name.as_str(), port).to_socket_addrs().ok().and_then(|mut all| all.next());
                    let _ = answer.send((number, found));
                });
            }
            Some(Target::Address(address)) => match self.connections.open(now, host, number, address, &self.plan) {
                Some(handle) => client.phase = Phase::Connecting(handle),
                None => client.fail(Reply::Unreachable),
            },
            None => {}
        }
        if client.is_over() {
            let broken = client.broken;
            if let Some(handle) = client.handle()
                && let Some(connection) = host.connection(handle)
            {
                // The peer must not take what a client left unfinished for its clean end.
                if broken {
                    connection.abort()
                } else {
                    connection.close(now)
                }
                self.connections.left.push_back(handle);
            }
            self.clients.remove(&number);
            self.connections.drop_rest(number);
        }
    }
}

impl Connections {
    /// Opens a connection for a client; `None` if the host cannot.
    fn open(&mut self, now: Instant, host: &mut Host, client: u64, target: SocketAddr, plan: &Plan) -> Option<Handle> {
        if self.all.len() + self.kept.len() >= Budget::CONNECTIONS {
            self.abort_oldest(host);
        }
        let share = self.budget.take();
        let handle = host.connect(now, target, &share.fitted(&plan.settings), &plan.sender);
        let Ok(handle) = handle else {
            self.budget.put_back(share);
            return None;
        };
        let moved = ByteCounts::default();
        let passage = OpenConnection { client, since: now, target, opened: false, moved, spurious: 0, share };
        self.all.insert(handle, passage);
        Some(handle)
    }

    /// Aborts the connection that has outlived its client for longest.
    fn abort_oldest(&mut self, host: &mut Host) {
        while let Some(oldest) = self.left.pop_front() {
            if self.all.contains_key(&oldest)
                && let Some(connection) = host.connection(oldest)
            {
                return connection.abort();
            }
        }
    }

    /// Removes a connection that has ended. If `keeps` is set, its client still has data of its buffer.
    fn end(&mut self, handle: Handle, keeps: bool) {
        let Some(OpenConnection { client, share, .. }) = self.all.remove(&handle) else { return };
        if keeps {
            self.kept.insert(client, share);
        } else {
            self.budget.put_back(share);
        }
        while self.left.front().is_some_and(|handle| !self.all.contains_key(handle)) {
            self.left.pop_front();
        }
    }

    /// Removes what is kept for a client that is gone.
    fn drop_rest(&mut self, client: u64) {
        if let Some(share) = self.kept.remove(&client) {
            self.budget.put_back(share);
        }
    }
}

/// Passes an event of a connection on to its client.
fn tell(client: &mut Client, handle: Handle, happening: &mut HostEvent) {
    match happening {
        HostEvent::Event(Event::Connected) => client.connected(handle),
        HostEvent::Event(Event::Refused) => client.fail(Reply::Refused),
        HostEvent::Event(Event::Unreachable | Event::TimedOut) => client.fail(Reply::Unreachable),
        HostEvent::Event(Event::Reset) => client.fail(Reply::Failed),
        HostEvent::Event(Event::PeerClosed) => client.peer_closes(),
        HostEvent::Ended(ended) => {
            client.take_rest(&mut ended.connection);
            client.end();
        }
        HostEvent::Event(_) | HostEvent::Opened { .. } => {}
    }
}

impl Application for Proxy<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        let mut concerned = self.take_events(now, host);
        if self.is_to_look(now, &concerned) {
            self.look(now, &mut concerned)?;
        }
        concerned.into_iter().for_each(|number| self.serve(now, host, number));
        let all = self.stopped || self.plan.clients.is_some_and(|clients| self.accepted >= clients);
        if all && self.clients.is_empty() && host.connections() == 0 {
            return Ok(Next::Done);
        }
        Ok(Next::Turn(self.accepts_at()))
    }

    fn stop(&mut self, _now: Instant, host: &mut Host) {
        self.stopped = true;
        std::mem::take(&mut self.clients).into_values().for_each(Client::interrupt);
        self.asking.clear();
        for &handle in self.connections.all.keys() {
            if let Some(connection) = host.connection(handle) {
                connection.abort();
            }
        }
    }

    fn waits(&self) -> Vec<Waits<'_>> {
        vec![Waits { descriptor: self.sockets.set.as_fd(), to_read: true, to_write: false }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Config;
    use std::net::TcpStream;

    fn proxy(clients: Option<u64>) -> (Proxy<'static>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let plan = Plan { settings: Settings::default(), sender: engine::Config::default(), clients };
        (Proxy::begin(listener, plan, Box::new(|_| {})).unwrap(), at)
    }

    #[test]
    fn sockets_are_polled_when_the_host_is_idle_and_periodically_otherwise() {
        let (mut proxy, _) = proxy(None);
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        for looked in [0, 5000] {
            proxy.sockets.looked = at(looked);
            for (micros, told, looks) in
                [(0, false, true), (0, true, false), (199, true, false), (199, false, true), (200, true, true)]
            {
                let concerned = if told { BTreeSet::from([1]) } else { BTreeSet::new() };
                assert_eq!(proxy.is_to_look(at(looked + micros), &concerned), looks, "{micros} us, {told}");
            }
        }
        let mut host = Host::new(Config { v4: None, v6: None, mtu: 1500, secret: [1, 2], most_connections: 1 });
        proxy.turn(at(7000), &mut host).unwrap();
        assert_eq!(proxy.sockets.looked, at(7000));
    }

    /// Clients beyond the limit wait to be accepted until another client has gone.
    #[test]
    fn a_proxy_limits_its_concurrent_clients() {
        let (mut proxy, at) = proxy(Some(5));
        proxy.most = 2;
        let mut host = Host::new(Config { v4: None, v6: None, mtu: 1500, secret: [1, 2], most_connections: 1 });
        let mut programs: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(at).unwrap()).collect();
        let mut numbers = Vec::new();
        for _ in 0..3 {
            for _ in 0..3 {
                proxy.turn(Instant::ZERO, &mut host).unwrap();
            }
            numbers.push(proxy.clients.keys().copied().collect::<Vec<_>>());
            drop(programs.remove(0));
            while proxy.clients.len() == 2 && proxy.accepted < 4 {
                let before = proxy.accepted;
                proxy.turn(Instant::ZERO, &mut host).unwrap();
                if proxy.accepted > before {
                    break;
                }
                thread::yield_now();
            }
        }
        assert_eq!(numbers, [vec![0, 1], vec![1, 2], vec![2, 3]]);
        assert_eq!(
            Proxy::begin(TcpListener::bind("127.0.0.1:0").unwrap(), proxy.plan.clone(), Box::new(|_| {})).unwrap().most,
            1024
        );
    }
}
