//! A host without I/O: packets and time go in, packets and events come out.
//!
//! It passes each packet to its connection or listener, or answers with a reset. It keeps the
//! timers of all connections in one order, and returns the packets to send one by one.

mod outgoing;
mod ports;
mod report;
mod super_segment;
mod table;
mod time_wait;

pub use outgoing::OutgoingPacket;
pub use report::{ConnectError, Counts, Ended, Witness};
pub use table::{Handle, Tally};

use eifel_base::time::Instant;
use eifel_packet::icmp::{self, ErrorMessage};
use eifel_packet::ip::{self, Addresses, Ecn, Header, Version};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::tcp;
use eifel_recovery::engine::{self, Engine};
use eifel_tcp::{Caller, Connection, Event, IcmpError, Listener, ListenerReply, Ports, Settings, isn, reset};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use table::{Key, Table};

/// The settings of a host.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its IPv4 address.
    pub v4: Option<Ipv4Addr>,
    /// Its IPv6 address.
    pub v6: Option<Ipv6Addr>,
    /// Bytes of the longest packet that its device takes.
    pub mtu: u32,
    /// The system's random numbers, kept secret from everybody else.
    pub secret: [u64; 2],
    /// The number of connections at which listeners stop answering callers.
    pub most_connections: usize,
}

/// An event for the application.
#[derive(Debug)]
pub enum HostEvent {
    /// A listener has opened a connection.
    Opened {
        /// The port that was called.
        port: u16,
    },
    /// A connection reports.
    Event(Event),
    /// A connection has ended, and is handed over. Its handle is invalid from now on.
    Ended(Box<Ended>),
}

/// A listener, and the algorithms of the connections that it opens.
struct Open {
    listener: Listener,
    sender: engine::Config,
}

/// The most queued answers that belong to no connection. Further answers are dropped, as a network
/// would do.
const MOST_REPLIES: usize = 1024;

/// Connections and listeners at some addresses: packets and time go in, packets and events come out.
pub struct Host {
    config: Config,
    table: Table,
    listeners: BTreeMap<(u16, Version), Open>,
    /// Connections that may have something to send, each once.
    ready: VecDeque<Handle>,
    replies: VecDeque<(Addresses, Segment)>,
    happened: VecDeque<(Handle, HostEvent)>,
    /// Local ports given out so far.
    ports_given: u32,
    identification: u16,
    counts: Counts,
    witness: Option<Box<dyn Witness>>,
    /// The segment that leaves, and its headers.
    segment: Segment,
    head: Vec<u8>,
    /// The result of [`may_wait`](Self::may_wait).
    may_wait: bool,
    stashed: Option<super_segment::Stashed>,
}

impl Host {
    /// Makes a host without connections.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            table: Table::new(config.secret),
            listeners: BTreeMap::new(),
            ready: VecDeque::new(),
            replies: VecDeque::new(),
            happened: VecDeque::new(),
            ports_given: 0,
            identification: 0,
            counts: Counts::default(),
            witness: None,
            segment: Segment::EMPTY,
            head: Vec::new(),
            may_wait: false,
            stashed: None,
        }
    }

    /// Shows all segments to `witness` from now on.
    pub fn witnessed_by(&mut self, witness: Box<dyn Witness>) {
        self.witness = Some(witness);
    }

    /// Takes the witness back.
    pub fn take_witness(&mut self) -> Option<Box<dyn Witness>> {
        self.witness.take()
    }

    /// Answers calls at `port`, over each IP version that the host has an address of. At most
    /// `backlog` handshakes are kept while they go on. Beyond that, callers keep the state
    /// themselves (SYN cookies).
    ///
    /// # Errors
    /// If a listener has the port, or an algorithm is unknown.
    pub fn listen(
        &mut self,
        port: u16,
        backlog: usize,
        settings: &Settings,
        sender: &engine::Config,
    ) -> Result<(), ConnectError> {
        sender.check().map_err(ConnectError::Engine)?;
        let versions = [self.config.v4.map(|_| Version::V4), self.config.v6.map(|_| Version::V6)];
        for version in versions.into_iter().flatten() {
            if self.listeners.contains_key(&(port, version)) {
                return Err(ConnectError::InUse(port));
            }
            let settings = self.fitted(settings, version);
            let listener = Listener::new(&settings, port, backlog, self.config.secret);
            self.listeners.insert((port, version), Open { listener, sender: sender.clone() });
        }
        Ok(())
    }

    /// Ends the listener of `port`, with the handshakes that it keeps. Its connections continue.
    pub fn stop_listening(&mut self, port: u16) {
        self.listeners.retain(|(listening, _), _| *listening != port);
    }

    /// Opens a connection to a peer.
    ///
    /// # Errors
    /// If the host has no address or no port for the peer, or an algorithm is unknown.
    pub fn connect(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        settings: &Settings,
        sender: &engine::Config,
    ) -> Result<Handle, ConnectError> {
        let engine = Engine::new(sender).map_err(ConnectError::Engine)?;
        let (version, own) = match peer.ip() {
            IpAddr::V4(_) => (Version::V4, self.config.v4.map(IpAddr::V4)),
            IpAddr::V6(_) => (Version::V6, self.config.v6.map(IpAddr::V6)),
        };
        let addresses = own.and_then(|own| Addresses::new(peer.ip(), own)).ok_or(ConnectError::NoAddress(version))?;
        let caller = Caller { addresses, port: peer.port() };
        let port = self.vacant_port(&caller).ok_or(ConnectError::NoPort)?;
        let isn = isn(&self.config.secret, now, &caller, port);
        let ports = Ports { local: port, remote: peer.port() };
        let connection = Connection::connect(&self.fitted(settings, version), engine, ports, isn);
        let handle = self.table.insert(Key { caller, port }, connection);
        self.make_ready(handle);
        Ok(handle)
    }

    /// Returns a connection, to write, read or close; `None` once it has ended.
    pub fn connection(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.make_ready(handle);
        self.table.connection(handle)
    }

    /// Returns the counts of a connection's segments; zeros once it has ended.
    pub fn tally(&self, handle: Handle) -> Tally {
        self.table.tally(handle)
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.table.len()
    }

    /// Returns the counts of packets that belong to no connection.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<(Handle, HostEvent)> {
        self.happened.pop_front()
    }

    /// Takes a packet from the network.
    pub fn handle_packet(&mut self, now: Instant, bytes: &[u8]) {
        self.may_wait = false;
        let Ok(packet) = ip::parse(bytes) else {
            self.counts.malformed += 1;
            return;
        };
        let own = match packet.header.addresses {
            Addresses::V4 { destination, .. } => self.config.v4 == Some(destination),
            Addresses::V6 { destination, .. } => self.config.v6 == Some(destination),
        };
        let version = packet.header.addresses.version();
        match packet.protocol {
            _ if !own => self.counts.foreign += 1,
            tcp::PROTOCOL => match tcp::parse(packet.payload, &packet.header.addresses) {
                Ok((segment, payload)) => {
                    let segment = Segment { ecn: Ecn::of(packet.header.traffic_class), ..segment };
                    self.handle_segment(now, packet.header.addresses, &segment, payload);
                }
                Err(_) => self.counts.malformed += 1,
            },
            icmp::PROTOCOL_V4 if version == Version::V4 => self.handle_icmp(&packet),
            icmp::PROTOCOL_V6 if version == Version::V6 => self.handle_icmp(&packet),
            _ => self.counts.other_protocols += 1,
        }
    }

    fn handle_segment(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        let caller = Caller { addresses, port: segment.source_port };
        let key = Key { caller, port: segment.destination_port };
        if let Some(handle) = self.table.find(&key) {
            self.make_ready(handle);
            if self.reopens_time_wait(now, handle, &key, (segment, payload)) {
                return;
            }
            if let Some(connection) = self.table.connection(handle) {
                if let Some(witness) = &mut self.witness {
                    witness.arrives(now, handle, connection, segment);
                }
                let was_quiet = connection.engine().is_quiet();
                connection.handle_segment(now, segment, payload);
                let bare = payload.is_empty() && segment.flags == Flags::ACK;
                self.may_wait = bare && was_quiet && connection.engine().is_quiet();
            }
            return self.take_events(now, handle);
        }
        let full = self.table.len() >= self.config.most_connections;
        let Some(open) = self.listeners.get_mut(&(key.port, addresses.version())) else {
            if let Some(answer) = reset(segment) {
                self.counts.reset += 1;
                self.reply(addresses.reversed(), answer);
            }
            return;
        };
        if full {
            self.counts.refused += 1;
            return;
        }
        let sender = &open.sender;
        let engine = || Engine::new(sender).expect("listen has checked the algorithms");
        match open.listener.handle_segment(now, &caller, segment, payload, engine) {
            ListenerReply::Nothing => {}
            ListenerReply::Answer(answer) => self.reply(addresses.reversed(), answer),
            ListenerReply::Opened(connection) => self.open(now, key, *connection),
        }
    }

    /// Takes a connection that a listener has opened.
    fn open(&mut self, now: Instant, key: Key, connection: Connection) {
        let handle = self.table.insert(key, connection);
        self.happened.push_back((handle, HostEvent::Opened { port: key.port }));
        self.make_ready(handle);
        self.take_events(now, handle);
    }

    fn handle_icmp(&mut self, packet: &ip::Packet<'_>) {
        let complaint = match icmp::parse(packet) {
            Ok(Some(complaint)) => complaint,
            Ok(None) => return self.counts.other_protocols += 1,
            Err(_) => return self.counts.malformed += 1,
        };
        let ErrorMessage { version, kind, code, mtu, addresses, source_port, destination_port, seq } = complaint;
        let error = match version {
            Version::V4 => IcmpError::v4(kind, code, mtu as u16),
            Version::V6 => IcmpError::v6(kind, code, mtu),
        };
        let key = Key { caller: Caller { addresses: addresses.reversed(), port: destination_port }, port: source_port };
        match (error, self.table.find(&key)) {
            (Some(error), Some(handle)) => {
                self.make_ready(handle);
                if let Some(connection) = self.table.connection(handle) {
                    connection.handle_icmp(error, seq);
                }
            }
            _ => self.counts.stray_icmp += 1,
        }
    }

    /// Returns the time for [`handle_timeout`](Self::handle_timeout); never if no timer runs.
    pub fn poll_timeout(&self) -> Instant {
        self.table.next_alarm()
    }

    /// Handles the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(handle) = self.table.take_alarm(now) {
            if let Some(connection) = self.table.connection(handle)
                && connection.poll_timeout() <= now
            {
                connection.handle_timeout(now);
            }
            self.make_ready(handle);
        }
    }

    /// Returns whether [`poll_event`](Self::poll_event) has an event.
    pub fn has_events(&self) -> bool {
        !self.happened.is_empty()
    }

    /// Returns whether [`poll_packet`](Self::poll_packet) may have a packet.
    pub fn may_send(&self) -> bool {
        !self.ready.is_empty() || !self.replies.is_empty()
    }

    /// Returns whether the packet handled last was a bare acknowledgement of new data that
    /// detectors and loss recovery ignore. If the next packet is already there, it may be handled
    /// before anything is sent.
    pub fn may_wait(&self) -> bool {
        self.may_wait
    }

    fn reply(&mut self, addresses: Addresses, segment: Segment) {
        if self.replies.len() < MOST_REPLIES {
            self.replies.push_back((addresses, segment));
        }
    }

    fn make_ready(&mut self, handle: Handle) {
        if self.table.mark(handle) {
            self.ready.push_back(handle);
        }
    }

    /// Takes the events of a connection.
    fn take_events(&mut self, now: Instant, handle: Handle) {
        let Some(connection) = self.table.connection(handle) else { return };
        while let Some(event) = connection.poll_event() {
            if let Some(witness) = &mut self.witness {
                witness.happens(now, handle, &event);
            }
            self.happened.push_back((handle, HostEvent::Event(event)));
        }
    }

    /// Sets the timer of a connection that has sent all that it may. Removes the connection if it
    /// is over.
    fn settle(&mut self, now: Instant, handle: Handle) {
        self.take_events(now, handle);
        let Some(connection) = self.table.connection(handle) else { return };
        if let Some(witness) = &mut self.witness {
            witness.settles(now, handle, connection);
        }
        if let Some(ended) = self.table.settle(handle) {
            self.happened.push_back((handle, HostEvent::Ended(Box::new(ended))));
        }
    }

    /// Returns `settings` with segments that fit the device.
    fn fitted(&self, settings: &Settings, version: Version) -> Settings {
        let headers = version.header_len() + tcp::header_len(&Default::default());
        let most = u16::try_from(self.config.mtu.saturating_sub(headers)).unwrap_or(u16::MAX);
        Settings { mss: settings.mss.min(most), ..*settings }
    }
}

fn too_long(error: eifel_packet::error::Error) {
    panic!("a connection made a segment that does not fit a packet: {error}")
}

/// Returns the header of the next packet. Each IPv4 packet has its own identification, as far as 16
/// bits allow.
fn header(addresses: Addresses, identification: &mut u16) -> Header {
    *identification = identification.wrapping_add(1);
    Header { identification: *identification, ..Header::new(addresses) }
}
