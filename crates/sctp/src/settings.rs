//! The settings of an association.

use core::net::IpAddr;

use eifel_base::siphash::Secret;
use eifel_base::time::Duration;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::Header;
use eifel_recovery::association::Config;
use eifel_recovery::registry::Seam;

/// Maximum delay of a SACK, whatever [`Settings::sack_delay`] says (RFC 9260, section 6.2)
/// [rfc8540:3.24].
pub const MAX_SACK_DELAY: Duration = Duration::from_millis(500);

/// The ports of an association.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ports {
    /// This end's port.
    pub local: u16,
    /// The peer's port.
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
    /// Never.
    Off,
    /// If the peer lists the chunk among its extensions.
    Agreed,
    /// Always. A peer that does not know the chunk skips it, and echoes nothing.
    Always,
}

/// The source of timestamp values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimestampValues {
    /// A clock with ticks of one millisecond (the SCTP paper). Packets sent within a tick share a
    /// value.
    Clock,
    /// A [distinct value](eifel_base::steps) for each packet, in ticks of a microsecond. A peer
    /// that did not get the packet has to guess the value. Eifel detection with the proof
    /// `original` needs distinct values.
    Distinct,
}

/// Settings of one end. Names in quotes are those of RFC 9260 (section 16). Each setting is a
/// separate field, so there are more than twenty.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The algorithms and parameters of the engine.
    pub engine: Config,
    /// This end's addresses. The source of packets to the peer's n-th address is the n-th address
    /// here, if both are of the same IP version. Otherwise it is the first address of that version.
    /// A single address is not listed in INIT (section 3.3.2.1).
    pub addresses: Vec<IpAddr>,
    /// The secret from which tags, TSNs and nonces are derived, and with which cookies are signed.
    pub secret: Secret,
    /// Maximum packet size in bytes, IP header included.
    pub pmtu: u32,
    /// Whether SCTP is encapsulated in UDP (RFC 6951).
    pub udp: bool,
    /// Number of streams that this end wants to send on; at least 1.
    pub outbound_streams: u16,
    /// Maximum number of streams that this end accepts; at least 1.
    pub inbound_streams: u16,
    /// Size of the receive buffer in bytes, at least 1500.
    pub receive_buffer: u32,
    /// Size of the send buffer in bytes. Messages stay there until the peer has acknowledged them.
    pub send_buffer: usize,
    /// "SACK.Delay". Larger values are limited to [`MAX_SACK_DELAY`].
    pub sack_delay: Duration,
    /// A SACK is sent at the latest after this number of packets with data.
    pub sack_every: u32,
    /// Whether a message that does not fill a packet waits while data is outstanding (section 6.1,
    /// rule A: silly window syndrome).
    pub nagle: bool,
    /// Whether new data leaves on all active paths whose windows have room, in turn (Concurrent Multipath
    /// Transfer), and not on the primary path alone.
    pub concurrent_paths: bool,
    /// See [`TimestampChunk`].
    pub timestamp_chunk: TimestampChunk,
    /// See [`TimestampValues`].
    pub timestamp_values: TimestampValues,
    /// Whether this end supports FORWARD TSN (RFC 3758), and announces it.
    pub forward_tsn: bool,
    /// Whether a bit marks retransmissions and the SACKs that answer them (the SCTP paper, figure
    /// 6). Used only if the peer wants it too.
    pub retransmit_bit: bool,
    /// Whether waiting data is bundled with the first COOKIE ECHO (section 5.1, step C).
    pub data_with_cookie: bool,
    /// "Valid.Cookie.Life".
    pub cookie_life: Duration,
    /// Maximum wait for an answer to INIT, if the RTO is longer (RFC 6458, section 8.1.3). `None`
    /// for no limit.
    pub longest_init_wait: Option<Duration>,
    pub shutdown_guard: ShutdownGuard,
    pub max_init_retransmits: u32,
    /// "Association.Max.Retrans".
    pub association_max_retransmits: u32,
    /// "Path.Max.Retrans".
    pub path_max_retransmits: u32,
    /// "HB.interval". With `None`, HEARTBEATs are sent only to confirm addresses.
    pub heartbeat_interval: Option<Duration>,
}

/// Maximum duration of a shutdown once SHUTDOWN was sent (T5-shutdown-guard, section 9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShutdownGuard {
    /// The RFC's: five times the timer's "RTO.Max". No limit if the timer has no maximum.
    FiveTimesRtoMax,
    After(Duration),
    /// No limit.
    Off,
}

impl Settings {
    /// Returns the time after SHUTDOWN at which the association is aborted.
    pub(crate) fn guard(&self) -> Option<Duration> {
        match self.shutdown_guard {
            ShutdownGuard::FiveTimesRtoMax => {
                self.engine.path.rto.duration(Seam::Rto, "maximum_ms").map(|most| most * 5)
            }
            ShutdownGuard::After(duration) => Some(duration),
            ShutdownGuard::Off => None,
        }
    }
}

impl Default for Settings {
    /// Returns RFC 9260's values, and a receive buffer of 64 KiB. Replace the secret by a random
    /// one.
    fn default() -> Self {
        Self {
            engine: Config::default(),
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
            concurrent_paths: false,
            timestamp_chunk: TimestampChunk::Off,
            timestamp_values: TimestampValues::Distinct,
            forward_tsn: true,
            retransmit_bit: false,
            data_with_cookie: false,
            cookie_life: Duration::from_secs(60),
            longest_init_wait: None,
            shutdown_guard: ShutdownGuard::FiveTimesRtoMax,
            max_init_retransmits: 8,
            association_max_retransmits: 10,
            path_max_retransmits: 5,
            heartbeat_interval: Some(Duration::from_secs(30)),
        }
    }
}

impl Settings {
    /// Returns the bytes of chunks that fit a packet to `remote`: PMDCS.
    pub(crate) fn pmdcs(&self, remote: IpAddr) -> u32 {
        pmdcs(self.pmtu, remote, self.udp)
    }
}

/// Returns the bytes of chunks that fit a packet of `pmtu` bytes. The result is a multiple of four.
/// It always has room for a timestamp chunk and a DATA chunk with four bytes of user data.
pub(crate) fn pmdcs(pmtu: u32, remote: IpAddr, udp: bool) -> u32 {
    let ip = if remote.is_ipv4() { 20 } else { 40 };
    let udp = if udp { 8 } else { 0 };
    (pmtu.saturating_sub(ip + udp + 12) & !3).max(32)
}

impl Settings {
    /// Returns the addresses of packets to `remote`, which is number `index` of the peer's
    /// addresses. `via` holds the addresses of a packet from the peer, reversed: its source is this
    /// end. `None` if this end has no address of that IP version.
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
