//! Records the acknowledgements and variables of TCP connections and SCTP associations.

use super::recorder::{Recorder, Subject, nanos};
use super::tables::AckRow;
use crate::end::End;
use eifel_base::time::Instant;
use eifel_packet::sctp::{self, Chunk};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::association::PathId;
use eifel_recovery::engine::Snapshot;
use eifel_sctp::{Association, Packet};
use eifel_tcp::Connection;

/// A row without blocks.
const NO_ACK: AckRow = AckRow {
    t_ns: 0,
    flow: 0,
    end: 0,
    cumulative: 0,
    echo: -1,
    duplicate: false,
    dsack_start: -1,
    dsack_end: -1,
    sack1_start: -1,
    sack1_end: -1,
    sack2_start: -1,
    sack2_end: -1,
    sack3_start: -1,
    sack3_end: -1,
    srtt_ns: -1,
    rto_ns: -1,
};

impl Recorder {
    /// Records a segment that reaches this end of this flow, if it is an acknowledgement. `isn` is
    /// the end's initial sequence number.
    pub fn acknowledged(
        &mut self,
        now: Instant,
        (flow, end): (u32, End),
        (connection, isn): (&Connection, Seq),
        segment: &Segment,
    ) {
        if !segment.flags.has(Flags::ACK) || !self.records_acks(flow, end) {
            return;
        }
        let engine = connection.engine();
        let una = engine.una();
        let position = |seq| unwrap(una, isn, seq);
        let cumulative = position(segment.ack);
        let mut blocks: Vec<(i64, i64)> =
            segment.options.sack.as_slice().iter().map(|&(l, r)| (position(l) as i64, position(r) as i64)).collect();
        let dsack = blocks.first().copied().filter(|first| {
            first.0 < cumulative as i64
                || blocks.get(1).is_some_and(|second| second.0 <= first.0 && first.1 <= second.1)
        });
        if dsack.is_some() {
            blocks.remove(0);
        }
        let row = AckRow {
            t_ns: nanos(now),
            flow: flow as i32,
            end: end as u8,
            cumulative: cumulative as i64,
            echo: segment.options.timestamps.map_or(-1, |stamps| i64::from(stamps.echo)),
            duplicate: cumulative == una && segment.payload_len == 0 && engine.nxt() > una,
            ..timed(&engine.snapshot())
        };
        self.acked(with_blocks(row, dsack, &blocks));
    }

    /// Records a connection's variables after an input, if they have changed.
    pub fn connection(&mut self, now: Instant, (flow, end): (u32, End), connection: &Connection) {
        if self.records_variables(flow, end) {
            let snapshot = Snapshot { deadline: connection.sender_deadline(), ..connection.engine().snapshot() };
            self.variables(now, Subject { flow, end, path: 0 }, (snapshot, connection.peer_window()));
        }
    }

    /// Records the variables of each path of an association after an input, if they have changed.
    pub fn association(&mut self, now: Instant, (flow, end): (u32, End), paths: usize, association: &Association) {
        if self.records_variables(flow, end) {
            for path in 0..paths {
                let snapshot = association.engine().snapshot(PathId(path));
                self.variables(now, Subject { flow, end, path }, (snapshot, u64::from(association.peer_window())));
            }
        }
    }

    /// Records the SACK chunks in a packet that reaches this end of this flow. Keeps the first
    /// three gap ack blocks and the first duplicate TSN.
    pub fn sacked(&mut self, now: Instant, (flow, end): (u32, End), association: &Association, packet: &Packet) {
        if !self.records_acks(flow, end) {
            return;
        }
        let (una, nxt) = (association.engine().una(), association.engine().nxt());
        let position = |tsn: Seq| unwrap(una, association.initial_tsn(), tsn) as i64;
        let mut echo = -1;
        for chunk in packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Timestamp(stamps) => echo = i64::from(stamps.echo),
                Chunk::Sack(sack) => {
                    let cumulative = position(Seq(sack.cumulative.0.wrapping_add(1)));
                    let gap = |gap: sctp::Gap| (cumulative + i64::from(gap.start) - 1, cumulative + i64::from(gap.end));
                    let blocks: Vec<(i64, i64)> = sack.gaps.iter().take(3).map(gap).collect();
                    let duplicate = sack.duplicates().next().map(position).map(|first| (first, first + 1));
                    let row = AckRow {
                        t_ns: nanos(now),
                        flow: flow as i32,
                        end: end as u8,
                        cumulative,
                        echo,
                        duplicate: cumulative == una as i64 && nxt > una,
                        ..timed(&association.engine().snapshot(PathId(0)))
                    };
                    self.acked(with_blocks(row, duplicate, &blocks));
                }
                _ => {}
            }
        }
    }
}

/// Returns a row without blocks, with the timer's variables.
fn timed(snapshot: &Snapshot) -> AckRow {
    let srtt_ns = snapshot.srtt.map_or(-1, |srtt| srtt.as_nanos() as i64);
    AckRow { srtt_ns, rto_ns: snapshot.rto.as_nanos() as i64, ..NO_ACK }
}

/// Returns the row with the first reported duplicate and the first three blocks.
fn with_blocks(row: AckRow, duplicate: Option<(i64, i64)>, blocks: &[(i64, i64)]) -> AckRow {
    let none = (-1, -1);
    let block = |index: usize| blocks.get(index).copied().unwrap_or(none);
    let (dsack_start, dsack_end) = duplicate.unwrap_or(none);
    let [(sack1_start, sack1_end), (sack2_start, sack2_end), (sack3_start, sack3_end)] = [0, 1, 2].map(block);
    AckRow { dsack_start, dsack_end, sack1_start, sack1_end, sack2_start, sack2_end, sack3_start, sack3_end, ..row }
}
