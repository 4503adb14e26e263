//! Packets as values. If both ends are in one process, nothing has to be written, checksummed and
//! parsed.
//!
//! A packet of values holds only DATA, SACK and timestamp chunks, as almost all packets do. User
//! data is counted, not carried: it stands for that many zeros. All other packets are sent as
//! bytes.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Chunk, Data, DataFlags, Gaps, HEADER_LEN, Header, Sack, SackFlags, Writer};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;

use crate::association::{Association, Outgoing};
use crate::input::Origin;
use crate::output::Sink;
use crate::quiet::Lone;
use crate::send_queue::{Content, Delivery, Refused, zeros};
use crate::state::State;

/// A packet of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plain {
    header: Header,
    stamp: Option<Timestamps>,
    sack: Option<Acknowledges>,
    gaps: Vec<[u8; 4]>,
    duplicates: Vec<[u8; 4]>,
    data: Vec<Counted>,
    /// Length of the packet in bytes, common header and padding included.
    len: usize,
}

/// A SACK without its lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledges {
    pub(crate) flags: SackFlags,
    pub(crate) cumulative: Seq,
    pub(crate) a_rwnd: u32,
}

impl Acknowledges {
    pub(crate) fn with<'p>(self, gaps: &'p [[u8; 4]], duplicates: &'p [[u8; 4]]) -> Sack<'p> {
        let Self { flags, cumulative, a_rwnd } = self;
        Sack { flags, cumulative, a_rwnd, gaps: Gaps(gaps), duplicates }
    }
}

/// A DATA chunk, with the length of its user data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) flags: DataFlags,
    pub(crate) tsn: Seq,
    pub(crate) stream: u16,
    pub(crate) ssn: u16,
    pub(crate) ppid: [u8; 4],
    pub(crate) len: usize,
}

/// The result of [`Association::poll_plain`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// There is nothing to send now.
    Nothing,
    /// The packet was written as values.
    Plain(Outgoing),
    /// The next packet has to be taken from [`Association::poll_transmit`].
    Other,
}

impl Default for Plain {
    fn default() -> Self {
        let header = Header { source_port: 0, destination_port: 0, verification_tag: 0 };
        let (gaps, duplicates, data) = (Vec::new(), Vec::new(), Vec::new());
        Self { header, stamp: None, sack: None, gaps, duplicates, data, len: HEADER_LEN }
    }
}

impl Plain {
    /// Returns the bytes of the packet, common header and padding included.
    #[expect(clippy::len_without_is_empty, reason = "a packet has a header")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends the packet as bytes to `out`.
    ///
    /// # Panics
    /// If a chunk has more user data than fits a packet. [`Association::poll_plain`] never makes
    /// such chunks.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(&self.header, out);
        if let Some(stamp) = self.stamp {
            writer.put(&Chunk::Timestamp(stamp));
        }
        if let Some(sack) = self.sack() {
            writer.put(&Chunk::Sack(sack));
        }
        for &Counted { flags, tsn, stream, ssn, ppid, len } in &self.data {
            writer.put(&Chunk::Data(Data { flags, tsn, stream, ssn, ppid, payload: zeros(len) }));
        }
        writer.finish();
    }

    fn sack(&self) -> Option<Sack<'_>> {
        Some(self.sack?.with(&self.gaps, &self.duplicates))
    }

    /// Returns the packet as a [`Lone`], if it is a single DATA chunk that is not marked as a
    /// retransmission.
    #[inline]
    pub fn lone(&self) -> Option<Lone> {
        let [chunk] = &self.data[..] else { return None };
        let alone = self.sack.is_none() && self.stamp.is_none() && !chunk.flags.has(DataFlags::SENT_AGAIN);
        alone.then(|| Lone::new(self.header.verification_tag, chunk))
    }

    /// Replaces the contents by one DATA chunk.
    pub(crate) fn hold_chunk(&mut self, header: Header, chunk: Counted) {
        self.begin(header);
        self.data.push(chunk);
    }

    /// Replaces the contents by one SACK.
    pub(crate) fn hold_sack(&mut self, header: Header, sack: Acknowledges, duplicate: Option<Seq>) {
        self.begin(header);
        self.sack = Some(sack);
        self.gaps.clear();
        self.duplicates = duplicate.iter().map(|tsn| tsn.0.to_be_bytes()).collect();
    }

    /// Starts a new packet, and keeps the allocated memory.
    fn begin(&mut self, header: Header) {
        self.header = header;
        self.stamp = None;
        self.sack = None;
        self.data.clear();
        self.len = HEADER_LEN;
    }
}

impl Sink for Plain {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn put(&mut self, chunk: &Chunk<'_>) {
        match *chunk {
            Chunk::Data(Data { flags, tsn, stream, ssn, ppid, payload }) => {
                self.data.push(Counted { flags, tsn, stream, ssn, ppid, len: payload.len() });
            }
            Chunk::Sack(Sack { flags, cumulative, a_rwnd, gaps, duplicates }) => {
                self.sack = Some(Acknowledges { flags, cumulative, a_rwnd });
                self.gaps.clear();
                self.gaps.extend_from_slice(gaps.0);
                self.duplicates.clear();
                self.duplicates.extend_from_slice(duplicates);
            }
            Chunk::Timestamp(stamp) => self.stamp = Some(stamp),
            _ => unreachable!("only packets of DATA and SACK are made of values"),
        }
        self.len += chunk.length().next_multiple_of(4);
    }
}

impl Association {
    /// Queues a message of `len` zeros, which take no memory. For [`Plain`] packets.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub fn send_counted(&mut self, delivery: Delivery, len: usize) -> Result<(), Refused> {
        self.push(delivery, Content::Counted(len), 1)
    }

    /// Queues up to `most` messages of `len` zeros, as many as the send buffer has room for.
    /// Returns their number.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_counted_often(&mut self, delivery: Delivery, len: usize, most: usize) -> Result<usize, Refused> {
        let times = self.queue.room().checked_div(len).unwrap_or(1).clamp(1, most.max(1));
        self.push(delivery, Content::Counted(len), times)?;
        Ok(times)
    }

    /// Writes the next packet to send now into `plain`, if it has only DATA and SACK. The queued
    /// messages must be [counted](Self::send_counted): contents are lost.
    ///
    /// `plain` is called only if there is a packet.
    #[inline]
    pub fn poll_plain<'p>(&mut self, now: Instant, plain: impl FnOnce() -> &'p mut Plain) -> Next {
        if !self.replies.is_empty() || !self.control.is_empty() {
            return Next::Other;
        }
        let open = !matches!(self.state, State::Closed | State::CookieWait(_) | State::CookieEchoed { .. });
        if !open || self.state.repeated().is_some_and(|repeated| repeated.pending) {
            return Next::Other;
        }
        let Some(departure) = self.departure(now) else { return Next::Nothing };
        self.transmissions.clear();
        let plain = plain();
        plain.begin(self.header(self.peer_tag));
        Next::Plain(self.fill(now, &departure, plain))
    }

    /// Processes a packet of values, as [`handle_packet`](Self::handle_packet) does for bytes.
    pub fn handle_plain(&mut self, now: Instant, addresses: &Addresses, plain: &Plain) {
        self.handle_values(now, addresses, &plain.header, (plain.stamp, plain.sack()), &plain.data);
    }

    /// Processes the values of a packet.
    pub(crate) fn handle_values(
        &mut self,
        now: Instant,
        addresses: &Addresses,
        &Header { source_port, destination_port, verification_tag: tag }: &Header,
        (stamp, sack): (Option<Timestamps>, Option<Sack<'_>>),
        chunks: &[Counted],
    ) {
        let ours = (destination_port, source_port) == (self.ports.local, self.ports.remote) && tag == self.local_tag;
        if !ours || self.state == State::Closed {
            return;
        }
        let back = addresses.reversed();
        let origin = Origin { back, path: self.path_of(back.destination()), tag, alone: false };
        self.give_time(now);
        self.stamp = stamp.filter(|_| self.extensions.timestamps);
        if let Some(sack) = sack {
            self.on_sack(now, &sack);
        }
        self.begin_packet();
        for &Counted { flags, tsn, stream, ssn, ppid, len } in chunks {
            let data = Data { flags, tsn, stream, ssn, ppid, payload: &[] };
            if self.state == State::Closed || self.on_data(&origin, &data, len).is_break() {
                break;
            }
        }
        self.end_packet(now);
    }
}
