//! The record tables of a run. Times are in nanoseconds since the run's start, lengths in bytes.
//! Positions count the sender's stream: SYN is position 0, the first byte is 1. Absent values are
//! -1.
//!
//! `flow` is the flow's index in the scenario. `end` is 0 for the end that opens the flow and 1 for
//! the other end. Only ends that send application data are recorded. `path` is the path's index in
//! the flow, 0 for the primary path. Runs without associations do not have this column. The
//! positions of an association are TSNs, counted from 0.

use super::column::table;

table! {
    /// Segments that left a sender.
    Transmissions, TransmissionRow {
        /// Time at which it left.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end that sent it.
        end: u8,
        /// Number of the transmission at this end, from 0.
        tx: i64,
        /// First position.
        start: i64,
        /// Positions: bytes, and one for a SYN or FIN.
        len: i64,
        /// Number of the data segment in the flow and direction, from 1; 0 without data.
        segment: i64,
        /// New, a retransmission, or a probe of a closed window.
        kind: u8,
        /// The reason for sending it again.
        cause: u8,
        /// Number of earlier transmissions of the same data.
        copy: i32,
        /// What became of it.
        fate: u8,
        /// Time at which it reached its destination.
        arrived_ns: i64,
        /// The oracle's judgement on a retransmission.
        needed: u8,
        /// Its timestamp (TSval).
        tsval: i64,
        /// Index of the path in the flow, 0 for the primary one; only in runs with associations.
        path: i32,
    }
}

table! {
    /// Data segments that reached a receiver.
    Arrivals, ArrivalRow {
        /// Time of the arrival.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end that sent it.
        end: u8,
        /// Number of the transmission at that end.
        tx: i64,
        /// First position.
        start: i64,
        /// Positions.
        len: i64,
        /// Positions that had not arrived before.
        new_bytes: i64,
        /// Whether it was the next in order.
        in_order: bool,
    }
}

table! {
    /// ACKs that reached a sender.
    Acks, AckRow {
        /// Time of the arrival.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end that received it.
        end: u8,
        /// First position not acknowledged.
        cumulative: i64,
        /// Timestamp echo (TSecr).
        echo: i64,
        /// Whether it acknowledges nothing new and carries no data, while data is outstanding.
        duplicate: bool,
        /// First position of the duplicate that it reports.
        dsack_start: i64,
        /// First position after that duplicate.
        dsack_end: i64,
        /// First position of the first SACK block.
        sack1_start: i64,
        /// First position after that block.
        sack1_end: i64,
        /// First position of the second SACK block.
        sack2_start: i64,
        /// First position after that block.
        sack2_end: i64,
        /// First position of the third SACK block.
        sack3_start: i64,
        /// First position after that block.
        sack3_end: i64,
        /// The smoothed round-trip time before it; in associations that of the primary path.
        srtt_ns: i64,
        /// The timeout before it, back-off included; in associations that of the primary path.
        rto_ns: i64,
    }
}

table! {
    /// Packets that a link dropped.
    Drops, DropRow {
        /// Time of the drop.
        t_ns: i64,
        /// The link.
        link: u16,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end that sent it.
        end: u8,
        /// Number of the transmission at that end; none for acknowledgements and datagrams.
        tx: i64,
        /// The cause of the drop.
        cause: u8,
    }
}

table! {
    /// A sender's window, one row for each change.
    WindowTable, WindowRow {
        /// Time of the change.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end whose data it is about.
        end: u8,
        /// Congestion window in bytes.
        cwnd: i64,
        /// Slow-start threshold in bytes; none while unset.
        ssthresh: i64,
        /// FlightSize in bytes.
        flight: i64,
        /// Bytes that the peer's window allows from `una` on.
        peer_window: i64,
        /// First position not acknowledged.
        una: i64,
        /// First position never sent.
        nxt: i64,
        /// Index of the path in the flow, 0 for the primary one; only in runs with associations.
        path: i32,
    }
}

table! {
    /// A sender's retransmission timer.
    Timer, TimerRow {
        /// Time of the event.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end whose data it is about.
        end: u8,
        /// What happened: a round-trip sample, a back-off, an expiry, or an adaptation after a verdict.
        event: u8,
        /// The newest round-trip time sample.
        rtt_ns: i64,
        /// The smoothed round-trip time.
        srtt_ns: i64,
        /// The variation of the round-trip time.
        rttvar_ns: i64,
        /// The timeout, back-off included.
        rto_ns: i64,
        /// The time for which the timer is set.
        deadline_ns: i64,
        /// Index of the path in the flow, 0 for the primary one; only in runs with associations.
        path: i32,
    }
}

table! {
    /// Loss signals and their outcome.
    Episodes, EpisodeRow {
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end whose data it is about.
        end: u8,
        /// Number of the episode at this end, from 1.
        episode: i32,
        /// When it was opened.
        opened_ns: i64,
        /// The signal that opened it.
        cause: u8,
        /// First position not acknowledged at that time.
        start: i64,
        /// First position never sent at that time.
        recovery_point: i64,
        /// Expiries of the timer for the oldest segment.
        timeouts: i32,
        /// When it ended; none while it is open.
        closed_ns: i64,
        /// The window before the episode, in bytes.
        saved_cwnd: i64,
        /// The threshold before the episode, in bytes; none while unset.
        saved_ssthresh: i64,
        /// The smoothed round-trip time before the episode; none without a sample.
        saved_srtt_ns: i64,
        /// The acting detector's verdict.
        verdict: u8,
        /// Time of that verdict.
        verdict_ns: i64,
        /// The evidence for the verdict.
        reason: u8,
        /// The oracle's judgement on the episode's first retransmission.
        truth: u8,
        /// Index of the path in the flow, 0 for the primary one; only in runs with associations.
        path: i32,
    }
}

table! {
    /// Verdicts of detectors.
    Verdicts, VerdictRow {
        /// Time of the verdict.
        t_ns: i64,
        /// Index of the flow in the scenario.
        flow: i32,
        /// The end whose data it is about.
        end: u8,
        /// Number of the episode at this end.
        episode: i32,
        /// The detector's name.
        detector: u8,
        /// Whether this detector is the acting one.
        acting: bool,
        /// The verdict.
        verdict: u8,
        /// The evidence for the verdict.
        reason: u8,
        /// Index of the path in the flow, 0 for the primary one; only in runs with associations.
        path: i32,
    }
}

table! {
    /// Queue lengths just after each arrival.
    Queues, QueueRow {
        /// Time of the arrival at the queue.
        t_ns: i64,
        /// The link.
        link: u16,
        /// Packets not yet transmitted.
        packets: i64,
        /// Their bytes.
        bytes: i64,
        /// RED's average queue, in bytes; none for other queues.
        average_bytes: i64,
    }
}

table! {
    /// Delay spikes.
    Spikes, SpikeRow {
        /// The link that held its packets.
        link: u16,
        /// When the spike began.
        start_ns: i64,
        /// When the spike ended.
        end_ns: i64,
    }
}
