//! An SCTP packet as a value. It is read from bytes where it comes from a wire, and written as bytes
//! where it enters one. Two ends in one process need no bytes.

use eifel_packet::Error;
use eifel_packet::sctp::{self, Chunk, Chunks, DataFlags, Gaps, HEADER_LEN, Header, SackFlags, Writer};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;

/// A packet. Its timestamp, its SACK and its DATA chunks are values, in this order on the wire. All
/// other chunks come first, as bytes. If another chunk follows a SACK, the SACK is among them.
#[derive(Clone, Debug)]
pub struct Packet {
    pub(crate) header: Header,
    /// Length in bytes, common header and padding included.
    len: u32,
    pub(crate) stamp: Option<Timestamps>,
    sack: Option<Sack>,
    /// The first DATA chunk. Most packets have at most one.
    data: Option<Data>,
    /// The other DATA chunks.
    more: Vec<Data>,
    /// The gap ack blocks of the SACK, then its duplicates.
    pub(crate) lists: Vec<[u8; 4]>,
    /// The chunks before the values, then the user data.
    bytes: Vec<u8>,
    /// Length of the chunks before the values.
    control: u32,
}

/// A SACK chunk without its lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sack {
    pub(crate) flags: SackFlags,
    pub(crate) cumulative: Seq,
    pub(crate) a_rwnd: u32,
    /// Number of gap ack blocks.
    pub(crate) gaps: usize,
}

/// A DATA chunk without its user data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Data {
    pub(crate) flags: DataFlags,
    pub(crate) tsn: Seq,
    pub(crate) stream: u16,
    /// The stream sequence number of the message.
    pub(crate) ssn: u16,
    /// The payload protocol identifier of the application, in network byte order.
    pub(crate) ppid: [u8; 4],
    /// Length of the user data in bytes.
    pub(crate) len: u32,
    /// Where a packet keeps the user data; `None` for zeros, which take no memory.
    pub(crate) at: Option<u32>,
}

/// A chunk that is a value.
pub(crate) enum Value<'p> {
    Data(&'p Data),
    Sack(sctp::Sack<'p>),
}

/// User data of zeros. A chunk is never longer.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl Default for Packet {
    /// Returns a packet without chunks, which no association accepts.
    fn default() -> Self {
        Self::new(Header { source_port: 0, destination_port: 0, verification_tag: 0 })
    }
}

impl Packet {
    /// Returns a packet without chunks.
    pub fn new(header: Header) -> Self {
        let (more, lists, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Self { header, len: HEADER_LEN as u32, stamp: None, sack: None, data: None, more, lists, bytes, control: 0 }
    }

    /// Reads a packet from the payload of IP or UDP. Malformed chunks are not reported here: an
    /// association processes the chunks before them.
    ///
    /// # Errors
    /// Those of [`sctp::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let (header, mut chunks) = sctp::parse(bytes)?;
        let mut packet = Self::new(header);
        packet.bytes.extend_from_slice(&bytes[HEADER_LEN..]);
        loop {
            let start = chunks.offset() - HEADER_LEN;
            let Some(chunk) = chunks.next() else { return Ok(packet) };
            let fits = match chunk {
                Ok(Chunk::Data(data)) => {
                    packet.push(Data::new(&data, Some((start + sctp::Data::HEADER_LEN) as u32)));
                    true
                }
                Ok(chunk) => packet.push_value(&chunk),
                Err(_) => false,
            };
            if !fits {
                packet.clear_values();
                packet.control = (chunks.offset() - HEADER_LEN) as u32;
                packet.len += packet.control;
            }
        }
    }

    /// Appends the packet as bytes to `out`.
    ///
    /// # Panics
    /// If the packet is longer than the limit of IP. No packet of an association is.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut chunks = self.bytes[..self.control as usize].to_vec();
        self.values().for_each(|chunk| chunk.emit(&mut chunks));
        assert!(HEADER_LEN + chunks.len() <= usize::from(u16::MAX), "the packet is too long for IP");
        Writer::new(&self.header, out).raw(&chunks);
    }

    /// Returns the packet as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.emit(&mut bytes);
        bytes
    }

    /// Returns the length of the packet in bytes, common header and padding included.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a packet has a header")]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the SACK and the timestamp, if the packet has a SACK and no other chunks.
    pub fn only_sack(&self) -> Option<(sctp::Sack<'_>, Option<Timestamps>)> {
        let only = self.control == 0 && self.data.is_none();
        self.sack().filter(|_| only).map(|sack| (sack, self.stamp))
    }

    /// Returns all chunks in order.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Chunk<'_>, Error>> + Clone {
        self.control_chunks().chain(self.values().map(Ok))
    }

    pub(crate) fn control_chunks(&self) -> Chunks<'_> {
        Chunks::new(&self.bytes[..self.control as usize], 0)
    }

    /// Returns the chunks that are values, in order.
    fn values(&self) -> impl Iterator<Item = Chunk<'_>> + Clone {
        let stamp = self.stamp.map(Chunk::Timestamp);
        let data = self.data().map(|data| Chunk::Data(data.view(self.payload(data))));
        stamp.into_iter().chain(self.sack().map(Chunk::Sack)).chain(data)
    }

    #[inline]
    pub(crate) fn sack(&self) -> Option<sctp::Sack<'_>> {
        let Sack { flags, cumulative, a_rwnd, gaps } = self.sack?;
        let (gaps, duplicates) = self.lists.split_at(gaps);
        Some(sctp::Sack { flags, cumulative, a_rwnd, gaps: Gaps(gaps), duplicates })
    }

    pub(crate) fn data(&self) -> impl Iterator<Item = &Data> + Clone {
        self.data.iter().chain(&self.more)
    }

    /// Returns the DATA chunk or SACK of a packet that has no other chunk.
    #[inline(always)]
    pub(crate) fn only_value(&self) -> Option<Value<'_>> {
        if self.control > 0 || self.stamp.is_some() || !self.more.is_empty() {
            return None;
        }
        match &self.data {
            Some(data) => self.sack.is_none().then_some(Value::Data(data)),
            None => self.sack().map(Value::Sack),
        }
    }

    /// Returns the user data of a chunk; empty for zeros.
    #[inline]
    pub(crate) fn payload(&self, data: &Data) -> &[u8] {
        data.at.map_or(&[], |at| &self.bytes[at as usize..][..data.len as usize])
    }

    /// Starts a new packet, and keeps the allocated memory.
    #[inline]
    pub(crate) fn begin(&mut self, header: Header) {
        self.header = header;
        self.control = 0;
        self.bytes.clear();
        self.clear_values();
    }

    #[inline]
    fn clear_values(&mut self) {
        (self.stamp, self.sack, self.data) = (None, None, None);
        self.more.clear();
        self.lists.clear();
        self.len = HEADER_LEN as u32;
    }

    /// Appends a chunk.
    pub fn push_chunk(&mut self, chunk: &Chunk<'_>) {
        match chunk {
            Chunk::Data(data) => self.push_data(Data::new(data, None), data.payload),
            _ if self.push_value(chunk) => {}
            _ => {
                let mut control = self.bytes[..self.control as usize].to_vec();
                self.values().for_each(|value| value.emit(&mut control));
                chunk.emit(&mut control);
                self.clear_values();
                self.control = control.len() as u32;
                self.len += self.control;
                self.bytes = control;
            }
        }
    }

    /// Appends a SACK or a timestamp as a value. Returns `false`, with nothing changed, for another
    /// chunk, and where the order of the values would change.
    fn push_value(&mut self, chunk: &Chunk<'_>) -> bool {
        let first = self.data.is_none() && self.sack.is_none();
        match *chunk {
            Chunk::Sack(sctp::Sack { flags, cumulative, a_rwnd, gaps: Gaps(gaps), duplicates }) if first => {
                self.lists.extend_from_slice(gaps);
                self.lists.extend_from_slice(duplicates);
                self.push_sack(Sack { flags, cumulative, a_rwnd, gaps: gaps.len() });
            }
            Chunk::Timestamp(stamp) if first && self.stamp.is_none() => self.push_stamp(stamp),
            _ => return false,
        }
        true
    }

    /// Appends a timestamp. The packet must have no other value.
    pub(crate) fn push_stamp(&mut self, stamp: Timestamps) {
        self.stamp = Some(stamp);
        self.len += Chunk::TIMESTAMP_LEN as u32;
    }

    /// Appends a SACK with the `lists` of the packet. The packet must have neither a SACK nor DATA.
    #[inline]
    pub(crate) fn push_sack(&mut self, sack: Sack) {
        self.sack = Some(sack);
        self.len += (sctp::Sack::MIN_LEN + 4 * self.lists.len()) as u32;
    }

    /// Appends a DATA chunk. `payload` is empty for zeros.
    #[inline]
    pub(crate) fn push_data(&mut self, mut data: Data, payload: &[u8]) {
        if !payload.is_empty() {
            data.at = Some(self.bytes.len() as u32);
            self.bytes.extend_from_slice(payload);
        }
        self.push(data);
    }

    #[inline]
    fn push(&mut self, data: Data) {
        self.len += sctp::Data::HEADER_LEN as u32 + data.len.next_multiple_of(4);
        if self.data.is_none() {
            self.data = Some(data);
        } else {
            self.more.push(data);
        }
    }
}

impl Data {
    pub(crate) fn new(data: &sctp::Data<'_>, at: Option<u32>) -> Self {
        let &sctp::Data { flags, tsn, stream, ssn, ppid, payload } = data;
        Self { flags, tsn, stream, ssn, ppid, len: payload.len() as u32, at }
    }

    /// Returns the chunk with this user data, or with zeros if it is empty.
    pub(crate) fn view<'p>(&self, payload: &'p [u8]) -> sctp::Data<'p> {
        let &Self { flags, tsn, stream, ssn, ppid, len, .. } = self;
        let payload = if payload.is_empty() { &ZEROS[..len as usize] } else { payload };
        sctp::Data { flags, tsn, stream, ssn, ppid, payload }
    }
}
