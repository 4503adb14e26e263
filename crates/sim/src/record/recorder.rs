//! Fills the tables during a run. Recording never affects the run.

use super::codes;
use super::rows::Rows;
use super::tables::{AckRow, ArrivalRow, DropRow, QueueRow, SpikeRow, TransmissionRow};
use super::{Record, Sink, Table, Tables};
use crate::capture::Captures;
use crate::end::End;
use crate::oracle::SentData;
use crate::packet::{Contents, Packet};
use crate::span::Span;
use eifel_base::ranges::Block;
use eifel_base::time::Instant;
use eifel_path::link::QueueState;
use eifel_path::parcel::DropCause;
use eifel_recovery::engine::{Snapshot, Transmission};

/// The recorder's state for one end.
#[derive(Clone, Default)]
pub(super) struct Memory {
    pub(super) transmissions: Rows,
    pub(super) paths: Vec<OfPath>,
    /// Whether the end is recorded, because it sends application data.
    pub(super) recorded: bool,
    /// Codes of its detectors.
    pub(super) detectors: Vec<u8>,
}

/// The recorder's state for one path.
#[derive(Clone, Default)]
pub(super) struct OfPath {
    /// Row of each episode, in order.
    pub(super) episodes: Vec<u32>,
    /// Its snapshot and peer window after the last input.
    pub(super) last: Option<(Snapshot, u64)>,
    /// Whether the timer has expired since the last input.
    pub(super) expired: bool,
}

/// The subject of a row: an end of a flow, and one of its paths. TCP has only path 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    pub flow: u32,
    pub end: End,
    pub path: usize,
}

impl Subject {
    /// Creates the subject for an end of a connection, which has only path 0.
    pub fn connection((flow, end): (u32, End)) -> Self {
        Self { flow, end, path: 0 }
    }
}

/// Rows of a table that are handed over together.
pub const ROWS: usize = 1 << 16;

pub struct Recorder {
    pub(super) tables: Tables,
    pub(super) memories: Vec<Memory>,
    pub(super) captures: Option<Captures>,
    sink: Option<Handing>,
}

/// The state of handing rows over during the run.
struct Handing {
    sink: Box<dyn Sink>,
    /// The number of rows at which a table is handed over.
    rows: usize,
    /// The number of rows at which the table of transmissions is next checked.
    transmissions: usize,
    /// Rows of transmissions already handed over.
    taken: u64,
}

impl Recorder {
    /// Creates a recorder for `flows` flows. `links` are the names of all links.
    pub fn new(kept: Record, links: Vec<String>, flows: usize, captures: Option<Captures>) -> Self {
        let mut tables = Tables { kept, ..Tables::default() };
        tables.dictionaries.links = links;
        tables.dictionaries.reason("-");
        Self { tables, memories: vec![Memory::default(); 2 * flows], captures, sink: None }
    }

    /// Makes the recorder hand each table over to `sink` whenever it has `rows` rows.
    pub fn hand_over(&mut self, sink: Box<dyn Sink>, rows: usize) {
        self.sink = Some(Handing { sink, rows, transmissions: rows, taken: 0 });
    }

    /// Hands a table over if it has enough rows.
    #[inline]
    pub(super) fn grown(&mut self, table: Table) {
        let Some(handing) = &mut self.sink else { return };
        let rows = self.tables.rows(table);
        if table == Table::Transmissions {
            if rows >= handing.transmissions {
                self.hand_transmissions();
            }
        } else if rows >= handing.rows {
            handing.sink.rows(table, self.tables.take(table, rows), self.tables.dictionaries.of(table));
        }
    }

    /// Hands over the rows of transmissions before the first row that may still change.
    #[cold]
    fn hand_transmissions(&mut self) {
        let Some(handing) = &mut self.sink else { return };
        let sent = &self.tables.transmissions;
        let open = |row: &usize| {
            sent.fate[*row] == codes::UNDER_WAY || (sent.kind[*row] != codes::NEW && sent.needed[*row] == 0)
        };
        let settled = (0..sent.flow.len()).find(open).unwrap_or(sent.flow.len());
        let columns = self.tables.take(Table::Transmissions, settled);
        handing.sink.rows(Table::Transmissions, columns, self.tables.dictionaries.of(Table::Transmissions));
        handing.taken += settled as u64;
        handing.transmissions = self.tables.rows(Table::Transmissions) + handing.rows;
        for memory in &mut self.memories {
            memory.transmissions.forget(handing.taken);
        }
    }

    /// Starts to record this end of this flow. `detectors` are the names of its detectors, with the
    /// acting detector first. `paths` is the number of an association's paths; `None` for TCP.
    pub fn follow<'a>(
        &mut self,
        (flow, end): (u32, End),
        paths: Option<usize>,
        detectors: impl Iterator<Item = &'a str>,
    ) {
        self.tables.has_paths |= paths.is_some();
        let memory = &mut self.memories[place(flow, end)];
        memory.recorded = true;
        memory.paths = vec![OfPath::default(); paths.unwrap_or(1)];
        memory.detectors = detectors.map(|name| self.tables.dictionaries.detector(name)).collect();
    }

    /// Notes the nodes of the next flow's ends for the captures.
    pub fn follow_captured(&mut self, ends: [u16; 2]) {
        if let Some(captures) = &mut self.captures {
            captures.follow(ends);
        }
    }

    pub(super) fn records(&self, flow: u32, end: End, table: Table) -> bool {
        self.tables.kept.keeps(table) && self.memories[place(flow, end)].recorded
    }

    /// Records a transmission that leaves `subject`. `segment` is the number of its data segment,
    /// from 1; 0 without data. `stamp` is its timestamp.
    pub fn sent(
        &mut self,
        now: Instant,
        subject: Subject,
        transmission: &Transmission,
        (segment, stamp): (u64, Option<u32>),
    ) {
        let Subject { flow, end, path } = subject;
        if !self.records(flow, end, Table::Transmissions) {
            return;
        }
        let row = self.taken() + self.tables.transmissions.rows() as u64;
        self.memories[place(flow, end)].transmissions.push(transmission.id.0, row);
        let (kind, cause) = codes::kind_and_cause(transmission.kind);
        self.tables.transmissions.push(TransmissionRow {
            t_ns: nanos(now),
            flow: flow as i32,
            end: end as u8,
            tx: transmission.id.0 as i64,
            start: transmission.start as i64,
            len: i64::from(transmission.len),
            segment: segment as i64,
            kind,
            cause,
            copy: transmission.copy as i32,
            fate: codes::UNDER_WAY,
            arrived_ns: -1,
            needed: 0,
            tsval: stamp.map_or(-1, i64::from),
            path: path as i32,
        });
        self.grown(Table::Transmissions);
    }

    /// Returns the number of rows of transmissions handed over.
    fn taken(&self) -> u64 {
        self.sink.as_ref().map_or(0, |handing| handing.taken)
    }

    /// Captures a packet that passes a node. `offset` is the offset of a segment's payload in the
    /// stream.
    pub fn passes(&mut self, now: Instant, node: u16, packet: (&Packet, &Contents), offset: u64) {
        if let Some(captures) = &mut self.captures
            && captures.wants(node)
        {
            captures.note(now, node, packet, offset);
        }
    }

    pub(super) fn row(&self, flow: u32, sender: End, transmission: u64) -> Option<usize> {
        let row = self.memories[place(flow, sender)].transmissions.get(transmission.checked_sub(1)?)?;
        usize::try_from(row.checked_sub(self.taken())?).ok()
    }

    /// Records the first arrival of a transmission of `sender`. The last argument is the number of
    /// new positions, and whether they are in order.
    pub fn arrived(&mut self, now: Instant, (flow, sender): (u32, End), sent: &SentData, (new, in_order): (u32, bool)) {
        if let Some(captures) = &mut self.captures {
            captures.arrived((flow, sender), sent);
        }
        if let Some(row) = self.row(flow, sender, sent.transmission) {
            self.tables.transmissions.fate[row] = codes::DELIVERED;
            self.tables.transmissions.arrived_ns[row] = nanos(now);
        }
        let data = Block { start: sent.start, end: sent.end };
        self.arrival_row(now, (flow, sender, sent.transmission as i64 - 1), data, (u64::from(new), in_order));
    }

    /// Records data that has arrived from `sender` in an unknown transmission. `news` is the number
    /// of new positions, and whether they are in order.
    pub fn heard(&mut self, now: Instant, (flow, sender): (u32, End), data: Block, news: (u64, bool)) {
        self.arrival_row(now, (flow, sender, -1), data, news);
    }

    fn arrival_row(
        &mut self,
        now: Instant,
        (flow, sender, tx): (u32, End, i64),
        data: Block,
        (new, in_order): (u64, bool),
    ) {
        if self.records(flow, sender, Table::Arrivals) {
            self.tables.arrivals.push(ArrivalRow {
                t_ns: nanos(now),
                flow: flow as i32,
                end: sender as u8,
                tx,
                start: data.start as i64,
                len: (data.end - data.start) as i64,
                new_bytes: new as i64,
                in_order,
            });
            self.grown(Table::Arrivals);
        }
    }

    /// Records an acknowledgement.
    pub(super) fn acked(&mut self, row: AckRow) {
        self.tables.acks.push(row);
        self.grown(Table::Acks);
    }

    /// Returns whether the acknowledgements that reach this end of this flow are recorded.
    pub(super) fn records_acks(&self, flow: u32, end: End) -> bool {
        self.records(flow, end, Table::Acks)
    }

    /// Records that all copies of a transmission are lost.
    pub fn lost(&mut self, (flow, sender): (u32, End), transmission: u64) {
        if let Some(row) = self.row(flow, sender, transmission) {
            self.tables.transmissions.fate[row] = codes::DROPPED;
        }
    }

    /// Records a drop by a link or by the proxy in front of it.
    pub fn dropped(&mut self, now: Instant, link: usize, packet: (&Packet, &Contents), cause: DropCause) {
        if let Some(captures) = &mut self.captures {
            captures.dropped(packet, (&self.tables.dictionaries.links[link], cause.name()));
        }
        let (Packet { flow, sender, transmission, .. }, _) = packet;
        self.drop_row(now, link, (*flow, *sender, *transmission as i64 - 1), cause);
    }

    /// Records the drop of a datagram of background traffic.
    pub fn dropped_background(&mut self, now: Instant, link: usize, flow: u32, cause: DropCause) {
        self.drop_row(now, link, (flow, End::From, -1), cause);
    }

    fn drop_row(&mut self, now: Instant, link: usize, (flow, end, tx): (u32, End, i64), cause: DropCause) {
        if self.tables.kept.keeps(Table::Drops) {
            self.tables.drops.push(DropRow {
                t_ns: nanos(now),
                link: link as u16,
                flow: flow as i32,
                end: end as u8,
                tx,
                cause: codes::drop_cause(cause),
            });
            self.grown(Table::Drops);
        }
    }

    /// Records the state of a queue after an arrival.
    pub fn queue(&mut self, now: Instant, link: usize, state: impl FnOnce() -> QueueState) {
        if self.tables.kept.keeps(Table::Queues) {
            let state = state();
            self.tables.queues.push(QueueRow {
                t_ns: nanos(now),
                link: link as u16,
                packets: i64::from(state.packets),
                bytes: state.bytes as i64,
                average_bytes: state.average_bytes.map_or(-1, |average| average.round() as i64),
            });
            self.grown(Table::Queues);
        }
    }

    /// Ends the record at `now`. Returns the tables and the captures.
    pub fn finish(mut self, now: Instant, spans: &mut [Span]) -> (Tables, Option<Captures>) {
        if self.tables.kept.keeps(Table::Spikes) {
            for (index, span) in spans.iter_mut().enumerate() {
                for (_, spikes) in span.link.spikes(now) {
                    for spike in spikes {
                        let (start_ns, end_ns) = (nanos(spike.start), nanos(spike.end));
                        self.tables.spikes.push(SpikeRow { link: index as u16, start_ns, end_ns });
                    }
                }
            }
        }
        if let Some(mut handing) = self.sink {
            let kept = self.tables.kept.clone();
            for table in Table::ALL.into_iter().filter(|table| kept.keeps(*table)) {
                let left = self.tables.rows(table);
                handing.sink.rows(table, self.tables.take(table, left), self.tables.dictionaries.of(table));
            }
            return (Tables::default(), self.captures);
        }
        (self.tables, self.captures)
    }
}

pub(super) fn place(flow: u32, end: End) -> usize {
    2 * flow as usize + end.index()
}

/// Returns a time in nanoseconds, as tables store it; -1 for [`Instant::NEVER`].
pub(super) fn nanos(at: Instant) -> i64 {
    i64::try_from(at.as_nanos()).unwrap_or(-1)
}
