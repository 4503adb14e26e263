//! At the sender: the retransmissions in the record are retransmissions to Wireshark.

use crate::Reasons;
use crate::dissect::Frame;
use crate::runs::{Run, runs};

const NEW: u8 = 0;
const RETRANSMISSION: u8 = 1;
const FAST: u8 = 2;

/// Wireshark's limit for a fast retransmission: at most 20 ms after the duplicate ACKs.
const FAST_WITHIN_NS: i64 = 20_000_000;

/// The state of the opposite direction that Wireshark keeps.
#[derive(Default, Debug)]
struct Acks {
    last: i64,
    at_ns: i64,
    duplicates: u32,
}

impl Acks {
    fn note(&mut self, frame: &Frame) {
        if frame.ack != self.last {
            self.duplicates = 0;
        }
        self.duplicates += u32::from(frame.is("duplicate_ack"));
        (self.last, self.at_ns) = (frame.ack, frame.t_ns);
    }
}

#[test]
fn wireshark_agrees_on_retransmissions() {
    let mut reasons = Reasons::default();
    let (mut data, mut again) = (0, 0);
    for run in runs() {
        let (sent, repeated) = compare(run, &run.at_sender, &mut reasons);
        data += sent;
        again += repeated;
    }
    println!("{data} transmissions, {again} of them retransmissions; differences:\n{reasons}");
    let skipped = runs().is_empty();
    assert!(skipped || (data > 5000 && again > 200), "{data} {again}");
}

fn compare(run: &Run, frames: &[Frame], reasons: &mut Reasons) -> (usize, usize) {
    let record = &run.outcome.tables.transmissions;
    let rows: Vec<usize> = (0..record.t_ns.len()).filter(|&row| record.end[row] == 0).collect();
    let mut rows = rows.into_iter();
    let mut acks = Acks::default();
    let (mut sent, mut again) = (0, 0);
    for frame in frames {
        // A capture at the end itself has every packet, in either direction.
        assert!(!frame.is("ack_lost_segment"), "{}: {frame:?}", run.name);
        if !frame.ours {
            acks.note(frame);
            continue;
        }
        if frame.len == 0 {
            continue;
        }
        let row = rows.next().unwrap_or_else(|| panic!("{}: never sent: {frame:?}", run.name));
        let (start, len, kind, cause) = (record.start[row], record.len[row], record.kind[row], record.cause[row]);
        assert_eq!((frame.seq, frame.len, frame.t_ns), (start, len, record.t_ns[row]), "{}: {frame:?}", run.name);
        assert!(kind == NEW || kind == RETRANSMISSION, "{}: a probe", run.name);
        assert!(!frame.is("lost_segment"), "{}: {frame:?}", run.name);
        assert!(!frame.is("spurious_retransmission"), "{}: acknowledged already: {frame:?}", run.name);
        sent += 1;
        again += usize::from(kind == RETRANSMISSION);
        if frame.goes_back() != (kind == RETRANSMISSION) {
            reasons.note(None, &(&run.name, frame, kind));
        }
        if kind == RETRANSMISSION && frame.is("fast_retransmission") != (cause == FAST) {
            reasons.note(why_not_fast(frame, cause, &acks), &(&run.name, frame, cause, &acks));
        }
    }
    assert_eq!(rows.next(), None, "{}: not in the capture", run.name);
    (sent, again)
}

/// Explains a difference about a fast retransmission. Wireshark labels a retransmission as fast if
/// it repeats the segment that at least two duplicate ACKs ask for, soon after them.
fn why_not_fast(frame: &Frame, cause: u8, acks: &Acks) -> Option<&'static str> {
    if cause != FAST {
        let asked = frame.seq == acks.last && acks.duplicates >= 2 && frame.t_ns - acks.at_ns < FAST_WITHIN_NS;
        return asked.then_some("the timer expired within 20 ms of duplicate ACKs for the segment");
    }
    if frame.seq != acks.last {
        return Some("fast recovery repairs a hole beyond the first");
    }
    if acks.duplicates < 2 {
        return Some("fast recovery goes on by a partial ACK, or SACK blocks said it sooner");
    }
    (frame.t_ns - acks.at_ns >= FAST_WITHIN_NS).then_some("fast recovery goes on long after the last ACK")
}
