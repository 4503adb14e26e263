//! The record tables of a run: times in nanoseconds since its beginning, positions in the sender's stream (SYN is
//! position 0, the first byte 1), lengths in bytes; -1 where there is nothing. `flow` is the index of the flow in the
//! scenario, `end` 0 for the end that opens the flow and 1 for the other; of the two, those that send data of the
//! application are recorded.

use super::column::table;

table! {
    /// What left a sender.
    Transmissions, TransmissionRow {
        /// When it left.
        t_ns: i64,
        /// The flow.
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
        /// What made it be sent again.
        cause: u8,
        /// How often it had been sent before.
        copy: i32,
        /// What became of it.
        fate: u8,
        /// When it was at its destination.
        arrived_ns: i64,
        /// The oracle's word on a retransmission.
        needed: u8,
    }
}

table! {
    /// Data at a receiver.
    Arrivals, ArrivalRow {
        /// When.
        t_ns: i64,
        /// The flow.
        flow: i32,
        /// The end that had sent it.
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
    /// Acknowledgements as a sender got them.
    Acks, AckRow {
        /// When.
        t_ns: i64,
        /// The flow.
        flow: i32,
        /// The end that got it.
        end: u8,
        /// First position not acknowledged.
        cumulative: i64,
        /// Timestamp echo (TSecr).
        echo: i64,
        /// Whether it acknowledges nothing new, carries nothing, and something is outstanding.
        duplicate: bool,
        /// The duplicate that it reports.
        dsack_start: i64,
        /// First position beyond.
        dsack_end: i64,
        /// First SACK block.
        sack1_start: i64,
        /// First position beyond.
        sack1_end: i64,
        /// Second SACK block.
        sack2_start: i64,
        /// First position beyond.
        sack2_end: i64,
        /// Third SACK block.
        sack3_start: i64,
        /// First position beyond.
        sack3_end: i64,
    }
}

table! {
    /// Packets that a link dropped.
    Drops, DropRow {
        /// When.
        t_ns: i64,
        /// The link.
        link: u16,
        /// The flow.
        flow: i32,
        /// The end that had sent it.
        end: u8,
        /// Number of the transmission at that end; -1 for acknowledgements and datagrams.
        tx: i64,
        /// Why.
        cause: u8,
    }
}

table! {
    /// A sender's window, whenever it has changed.
    WindowTable, WindowRow {
        /// When.
        t_ns: i64,
        /// The flow.
        flow: i32,
        /// The end.
        end: u8,
        /// Congestion window in bytes.
        cwnd: i64,
        /// Slow-start threshold in bytes; -1 while unset.
        ssthresh: i64,
        /// FlightSize in bytes.
        flight: i64,
        /// Bytes that the peer announces from `una` on.
        peer_window: i64,
        /// First position not acknowledged.
        una: i64,
        /// First position never sent.
        nxt: i64,
    }
}

table! {
    /// A sender's retransmission timer.
    Timer, TimerRow {
        /// When.
        t_ns: i64,
        /// The flow.
        flow: i32,
        /// The end.
        end: u8,
        /// What happened to it.
        event: u8,
        /// The newest sample of the round-trip time.
        rtt_ns: i64,
        /// Its smoothed value.
        srtt_ns: i64,
        /// Its variation.
        rttvar_ns: i64,
        /// The timeout, back-off included.
        rto_ns: i64,
        /// When the sender wants to be woken.
        deadline_ns: i64,
    }
}

table! {
    /// Loss signals, and what followed.
    Episodes, EpisodeRow {
        /// The flow.
        flow: i32,
        /// The end.
        end: u8,
        /// Number of the episode at this end, from 1.
        episode: i32,
        /// When it was opened.
        opened_ns: i64,
        /// By what.
        cause: u8,
        /// First position not acknowledged then.
        start: i64,
        /// First position never sent then.
        recovery_point: i64,
        /// Expiries of the timer for its oldest segment.
        timeouts: i32,
        /// When it was over.
        closed_ns: i64,
        /// The window before it, in bytes.
        saved_cwnd: i64,
        /// The threshold before it, in bytes; -1 while unset.
        saved_ssthresh: i64,
        /// The smoothed round-trip time before it; -1 without a sample.
        saved_srtt_ns: i64,
        /// What the acting detector said.
        verdict: u8,
        /// When.
        verdict_ns: i64,
        /// Why.
        reason: u8,
        /// The oracle's word on its first retransmission.
        truth: u8,
    }
}

table! {
    /// What detectors said.
    Verdicts, VerdictRow {
        /// When.
        t_ns: i64,
        /// The flow.
        flow: i32,
        /// The end.
        end: u8,
        /// Number of the episode at this end.
        episode: i32,
        /// Which detector.
        detector: u8,
        /// Whether it is the one that acts.
        acting: bool,
        /// What it said.
        verdict: u8,
        /// Why.
        reason: u8,
    }
}

table! {
    /// Queues, just after each arrival.
    Queues, QueueRow {
        /// When.
        t_ns: i64,
        /// The link.
        link: u16,
        /// Packets not yet transmitted.
        packets: i64,
        /// Their bytes.
        bytes: i64,
        /// The average that RED goes by, in bytes; -1 for other queues.
        average_bytes: i64,
    }
}

table! {
    /// Delay spikes.
    Spikes, SpikeRow {
        /// The link that was held.
        link: u16,
        /// From when.
        start_ns: i64,
        /// Until when.
        end_ns: i64,
    }
}
