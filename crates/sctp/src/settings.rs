//! The settings of an association.

use core::net::IpAddr;

use eifel_base::siphash::Secret;
use eifel_base::time::Duration;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::Header;
use eifel_recovery::association::Config;

/// The longest that a SACK waits, whatever is asked for (RFC 9260, section 6.2) [rfc8540:3.24].
pub const MOST_SACK_DELAY: Duration = Duration::from_millis(500);

/// An end's and its peer's port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ports {
    /// This end's.
    pub local: u16,
    /// The peer's.
    pub remote: u16,
}

impl Ports {
    /// Returns the header of a packet to the peer.
    pub(crate) fn header(self, tag: u32) -> Header {
        Header { source_port: self.local, destination_port: self.remote, verification_tag: tag }
    }
}

/// Whether packets with DATA or SACK carry a timestamp chunk: 12 bytes (the SCTP paper, section 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimestampChunk {
    /// They never do.
    Off,
    /// They do where the peer has listed the chunk among its extensions.
    Agreed,
    /// They do in any case: a peer that does not know the chunk skips it, and echoes nothing.
    Always,
}

/// The values of timestamp chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimestampValues {
    /// A clock's, which ticks once in a millisecond (the SCTP paper). Packets that leave within a tick share one.
    Clock,
    /// A [value of its own](eifel_base::steps) for each packet, in ticks of a microsecond: a peer that did not get the packet
    /// has to guess it. Eifel detection with the proof `original` needs them.
    Distinct,
}

/// Settings of one end; names in quotes are RFC 9260's (section 16). Each field is a setting of its own, so there are
/// more than twenty.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The algorithms.
    pub brain: Config,
    /// This end's addresses. The first of an IP version is the source of packets to a peer's address of that version,
    /// unless there is one at the same place in this list as the peer's address among the peer's. Where there is one, none
    /// is listed in INIT (section 3.3.2.1).
    pub addresses: Vec<IpAddr>,
    /// The secret that tags, TSNs and nonces come from, and that cookies are signed with.
    pub secret: Secret,
    /// Bytes of the longest packet from the IP header on.
    pub pmtu: u32,
    /// Whether a UDP header stands between IP and SCTP (RFC 6951).
    pub udp: bool,
    /// Streams that this end wants to send on; at least 1.
    pub outbound_streams: u16,
    /// Streams that this end takes at the most; at least 1.
    pub inbound_streams: u16,
    /// Bytes of the receive buffer, at least 1500.
    pub receive_buffer: u32,
    /// Bytes of messages that are kept until the peer has them.
    pub send_buffer: usize,
    /// "SACK.Delay": above [`MOST_SACK_DELAY`] that holds.
    pub sack_delay: Duration,
    /// Packets with data that are answered by one SACK at the latest.
    pub sack_every: u32,
    /// Whether a message that does not fill a packet waits while data is outstanding (section 6.1, rule A: silly window
    /// syndrome).
    pub nagle: bool,
    /// See [`TimestampChunk`].
    pub timestamp_chunk: TimestampChunk,
    /// See [`TimestampValues`].
    pub timestamp_values: TimestampValues,
    /// Whether this end understands FORWARD TSN (RFC 3758), and says so.
    pub forward_tsn: bool,
    /// Whether retransmissions, and SACKs that answer them, are marked with a bit, where the peer wants that too (the SCTP
    /// paper, figure 6).
    pub retransmit_bit: bool,
    /// Whether data that waits goes with the first COOKIE ECHO, in its packet (section 5.1, step C).
    pub data_with_cookie: bool,
    /// "Valid.Cookie.Life".
    pub cookie_life: Duration,
    /// The longest wait for an answer to INIT, if it is shorter than the timer's (RFC 6458, section 8.1.3).
    pub longest_init_wait: Option<Duration>,
    /// The time that a shutdown may take once SHUTDOWN was sent (T5-shutdown-guard, section 9.2): five times "RTO.Max" by
    /// the RFC; `None` for ever.
    pub shutdown_guard: Option<Duration>,
    pub max_init_retransmits: u32,
    /// "Association.Max.Retrans".
    pub association_max_retransmits: u32,
    /// "Path.Max.Retrans".
    pub path_max_retransmits: u32,
    /// "HB.interval"; `None` sends no HEARTBEAT but those that confirm an address.
    pub heartbeat_interval: Option<Duration>,
}

impl Default for Settings {
    /// Returns RFC 9260's values, and 64 KiB of receive buffer. The secret has to be replaced by a random one.
    fn default() -> Self {
        Self {
            brain: Config::default(),
            addresses: Vec::new(),
            secret: [0; 2],
            pmtu: 1500,
            udp: false,
            outbound_streams: 16,
            inbound_streams: 2048,
            receive_buffer: 65_536,
            send_buffer: 1 << 20,
            sack_delay: Duration::from_millis(200),
            sack_every: 2,
            nagle: false,
            timestamp_chunk: TimestampChunk::Off,
            timestamp_values: TimestampValues::Distinct,
            forward_tsn: true,
            retransmit_bit: false,
            data_with_cookie: false,
            cookie_life: Duration::from_secs(60),
            longest_init_wait: None,
            shutdown_guard: Some(Duration::from_secs(300)),
            max_init_retransmits: 8,
            association_max_retransmits: 10,
            path_max_retransmits: 5,
            heartbeat_interval: Some(Duration::from_secs(30)),
        }
    }
}

impl Settings {
    /// Bytes of chunks that a packet to `remote` holds: PMDCS.
    pub(crate) fn pmdcs(&self, remote: IpAddr) -> u32 {
        pmdcs(self.pmtu, remote, self.udp)
    }
}

/// Bytes of chunks in a packet of `pmtu` bytes: a multiple of four, and never less than a timestamp chunk and one DATA chunk of
/// four bytes.
pub(crate) fn pmdcs(pmtu: u32, remote: IpAddr, udp: bool) -> u32 {
    let ip = if remote.is_ipv4() { 20 } else { 40 };
    let udp = if udp { 8 } else { 0 };
    (pmtu.saturating_sub(ip + udp + 12) & !3).max(32)
}

impl Settings {
    /// The addresses of packets to the peer's address `remote`, which is the peer's `index`th. `via` are the addresses of a
    /// packet from the peer, as seen from this end.
    pub(crate) fn source_for(&self, index: usize, remote: IpAddr, via: Option<Addresses>) -> Option<Addresses> {
        if let Some(via) = via.filter(|via| via.destination() == remote) {
            return Some(via);
        }
        let same_place = self.addresses.get(index).copied();
        let via = via.map(|via| via.source());
        let all = same_place.into_iter().chain(via).chain(self.addresses.iter().copied());
        all.into_iter().find_map(|local| Addresses::new(local, remote))
    }
}
