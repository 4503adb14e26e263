//! What the BPF programs tell, from bytes to values. The layouts are those of `bpf/watch.bpf.c`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// `TCP_CA_Disorder`, `TCP_CA_Recovery` and `TCP_CA_Loss` of Linux.
pub(crate) const DISORDER: u8 = 1;
pub(crate) const RECOVERY: u8 = 3;
pub(crate) const LOSS: u8 = 4;

/// The timers that may be pending: `ICSK_TIME_LOSS_PROBE` and `ICSK_TIME_REO_TIMEOUT` (RACK's) of Linux.
pub(crate) const PROBE_TIMER: u8 = 5;
pub(crate) const REORDERING_TIMER: u8 = 6;

/// Flags of a fact.
pub(crate) const BY_TIMER: u8 = 1;
pub(crate) const AFTER_TIMEOUT: u8 = 2;
pub(crate) const MISSED: u8 = 4;
pub(crate) const CLOSED: u8 = 8;
pub(crate) const MORE: u8 = 16;

/// Options of a connection.
pub(crate) const TIMESTAMPS: u8 = 1;
pub(crate) const MICROSECONDS: u8 = 2;
pub(crate) const SACK: u8 = 4;
pub(crate) const SCALES: u8 = 8;

/// `TCPCB_EVER_RETRANS` of Linux: the segment was sent more than once.
pub(crate) const SENT_AGAIN: u8 = 0x80;

/// Bytes of a TCP header, with all options.
pub(crate) const HEADER: usize = 60;

/// What all facts begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// Identifies the socket as long as it exists.
    pub socket: u64,
    /// Nanoseconds since the machine was started.
    pub nanos: u64,
    /// Number of the fact in its observation, from 1.
    pub number: u32,
    pub ca_state: u8,
    /// The timer that is pending.
    pub pending: u8,
    pub flags: u8,
}

/// The sender's window and what it has to undo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    pub una: u32,
    pub nxt: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    /// 0 if there is nothing to undo, or if it was undone.
    pub undo_marker: u32,
    pub undo_retrans: i32,
    pub ts_recent: u32,
    /// Duplicates that the receiver has reported, in all.
    pub dsack_dups: u32,
}

/// The connection at the beginning of an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    pub head: Head,
    pub window: Window,
    pub rcv_nxt: u32,
    pub rcv_tsecr: u32,
    pub tsoffset: u32,
    /// `u32::MAX` if there was no sample.
    pub min_rtt_us: u32,
    pub srtt_us: u32,
    pub mss: u32,
    pub sacked_out: u32,
    /// Inode of the network namespace.
    pub namespace: u32,
    /// When the first segment of the current flight was sent, in microseconds.
    pub first_sent_us: u64,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub options: u8,
    /// The shifts of the peer's windows and of the own.
    pub scales: (u8, u8),
    /// The latest SACK blocks; unused ones are empty.
    pub sacks: [(u32, u32); 4],
}

/// A segment in the retransmission queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its time is when the segment was sent last.
    pub head: Head,
    pub seq: u32,
    pub end: u32,
    pub len: u32,
    pub ts_recent: u32,
    pub sacked: u8,
}

/// A fact of any other kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub head: Head,
    pub window: Window,
    /// When a retransmission was sent, as its timestamp shows it.
    pub sent_nanos: u64,
    pub seq: u32,
    pub end: u32,
    /// Payload of a retransmission; header and payload of an ACK.
    pub len: u32,
    pub retransmits: u8,
    pub tcp_state: u8,
    /// Segments that were sent again since the last fact, by the socket's count, without a fact.
    pub missed: u16,
    /// The TCP header of an ACK. Of a retransmission, what [`Step::timer`] reads.
    pub header: [u8; HEADER],
    /// The IPv4 identification of an ACK; 0 with IPv6.
    pub identification: u16,
    /// How often the kernel had seen the path change the order of packets.
    pub reorderings: u16,
}

/// What the kernel computes the retransmission timer from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Timer {
    pub(crate) srtt_us: u32,
    /// The larger of four times the variation and the smallest RTO.
    pub(crate) rttvar_us: u32,
    /// How often the timer had been doubled when it was set.
    pub(crate) backoff: u8,
}

impl Step {
    /// Returns the acknowledgement number of an ACK.
    pub(crate) fn ack(&self) -> u32 {
        u32::from_be_bytes([self.header[8], self.header[9], self.header[10], self.header[11]])
    }

    /// Returns when a retransmission was sent, in nanoseconds since the machine was started.
    pub(crate) fn left(&self) -> u64 {
        if self.sent_nanos > 0 { self.sent_nanos } else { self.head.nanos }
    }

    /// Returns what the timer was computed from at a retransmission. `None` without a sample of the round trip.
    pub(crate) fn timer(&self) -> Option<Timer> {
        let read = Bytes(&self.header);
        let timer = Timer { srtt_us: read.word(0), rttvar_us: read.word(4), backoff: read.byte(8) };
        (timer.srtt_us > 0).then_some(timer)
    }
}

/// A fact about a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    Start(Start),
    Sent(Sent),
    Retransmitted(Step),
    Ack(Step),
    State(Step),
    End(Step),
}

/// Later than any time, in nanoseconds since the machine was started. Sums of two such times do not wrap.
const LATEST: u64 = 1 << 61;

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let found = self.0.get(at..).and_then(|rest| rest.first_chunk::<N>());
        found.copied().unwrap_or([0; N])
    }

    fn byte(&self, at: usize) -> u8 {
        self.array::<1>(at)[0]
    }

    fn short(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.array(at))
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.array(at))
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.array(at))
    }

    fn head(&self) -> Head {
        Head {
            socket: self.long(0),
            nanos: self.long(8).min(LATEST),
            number: self.word(16),
            ca_state: self.byte(21),
            pending: self.byte(22),
            flags: self.byte(23),
        }
    }

    fn window(&self) -> Window {
        Window {
            una: self.word(24),
            nxt: self.word(28),
            cwnd: self.word(32),
            ssthresh: self.word(36),
            undo_marker: self.word(40),
            undo_retrans: self.word(44).cast_signed(),
            ts_recent: self.word(48),
            dsack_dups: self.word(52),
        }
    }

    fn address(&self, at: usize, is_v6: bool) -> IpAddr {
        if is_v6 { Ipv6Addr::from(self.array::<16>(at)).to_canonical() } else { self.array::<4>(at).into() }
    }

    fn start(&self) -> Start {
        /// `AF_INET6` of Linux.
        const INET6: u16 = 10;
        let is_v6 = self.short(96) == INET6;
        let scales = self.byte(103);
        Start {
            head: self.head(),
            window: self.window(),
            rcv_nxt: self.word(56),
            rcv_tsecr: self.word(60),
            tsoffset: self.word(64),
            min_rtt_us: self.word(68),
            srtt_us: self.word(72),
            mss: self.word(76),
            sacked_out: self.word(80),
            namespace: self.word(84),
            first_sent_us: self.long(88).min(LATEST / 1000),
            local: SocketAddr::new(self.address(104, is_v6), self.short(98)),
            remote: SocketAddr::new(self.address(120, is_v6), self.short(100)),
            options: self.byte(102),
            scales: (scales & 15, scales >> 4),
            sacks: [136, 144, 152, 160].map(|at| (self.word(at), self.word(at + 4))),
        }
    }

    fn sent(&self) -> Sent {
        Sent {
            head: self.head(),
            seq: self.word(24),
            end: self.word(28),
            len: self.word(32),
            ts_recent: self.word(36),
            sacked: self.byte(40),
        }
    }

    fn step(&self) -> Step {
        Step {
            head: self.head(),
            window: self.window(),
            sent_nanos: self.long(56).min(LATEST),
            seq: self.word(64),
            end: self.word(68),
            len: self.word(72),
            retransmits: self.byte(76),
            tcp_state: self.byte(77),
            missed: self.short(78),
            header: self.array(80),
            identification: u16::from_be_bytes(self.array(140)),
            reorderings: self.short(142),
        }
    }
}

impl Fact {
    /// Parses a record of the ring. Returns `None` for one of an unknown kind or a wrong length.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let read = Bytes(bytes);
        match (bytes.get(20)?, bytes.len()) {
            (1, 168) => Some(Self::Start(read.start())),
            (2, 48) => Some(Self::Sent(read.sent())),
            (3, 144) => Some(Self::Retransmitted(read.step())),
            (4, 144) => Some(Self::Ack(read.step())),
            (5, 144) => Some(Self::State(read.step())),
            (6, 144) => Some(Self::End(read.step())),
            _ => None,
        }
    }

    /// Returns what the fact begins with.
    pub fn head(&self) -> &Head {
        match self {
            Self::Start(start) => &start.head,
            Self::Sent(sent) => &sent.head,
            Self::Retransmitted(step) | Self::Ack(step) | Self::State(step) | Self::End(step) => &step.head,
        }
    }

    /// Returns the sender's window, which all facts have but those of segments.
    pub fn window(&self) -> Option<&Window> {
        match self {
            Self::Start(start) => Some(&start.window),
            _ => self.step().map(|step| &step.window),
        }
    }

    /// Returns the fact, unless it is of a start or of a segment.
    pub fn step(&self) -> Option<&Step> {
        match self {
            Self::Start(_) | Self::Sent(_) => None,
            Self::Retransmitted(step) | Self::Ack(step) | Self::State(step) | Self::End(step) => Some(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_kind_or_length_are_no_fact() {
        let mut bytes = [0; 168];
        assert_eq!(Fact::parse(&bytes), None);
        bytes[20] = 1;
        assert!(matches!(Fact::parse(&bytes), Some(Fact::Start(_))));
        assert_eq!(Fact::parse(&bytes[..167]), None);
        assert_eq!(Fact::parse(&bytes[..20]), None);
        bytes[20] = 7;
        assert_eq!(Fact::parse(&bytes), None);
    }

    #[test]
    fn an_ipv4_address_within_ipv6_is_read_as_ipv4() {
        let mut bytes = [0; 168];
        bytes[20] = 1;
        bytes[96..98].copy_from_slice(&10_u16.to_ne_bytes());
        bytes[104..120].copy_from_slice(&"::ffff:10.0.0.1".parse::<Ipv6Addr>().unwrap().octets());
        bytes[120..136].copy_from_slice(&"fd00::1".parse::<Ipv6Addr>().unwrap().octets());
        let Some(Fact::Start(start)) = Fact::parse(&bytes) else { panic!("a start") };
        assert_eq!(start.local.to_string(), "10.0.0.1:0");
        assert_eq!(start.remote.to_string(), "[fd00::1]:0");
    }
}
