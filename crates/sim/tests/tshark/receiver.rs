//! At the receiver: gaps, and the segments that fill them.

use crate::Reasons;
use crate::dissect::Frame;
use crate::runs::{Run, runs};

#[test]
fn wireshark_agrees_on_missing_and_late_segments() {
    let mut reasons = Reasons::default();
    let (mut arrived, mut late) = (0, 0);
    for run in runs() {
        let (all, back) = compare(run, &run.at_receiver, &mut reasons);
        arrived += all;
        late += back;
    }
    println!("{arrived} arrivals, {late} of them not the next or beyond; differences:\n{reasons}");
    let skipped = runs().is_empty();
    assert!(skipped || (arrived > 4000 && late > 200), "{arrived} {late}");
}

fn compare(run: &Run, frames: &[Frame], reasons: &mut Reasons) -> (usize, usize) {
    let (arrivals, sent) = (&run.outcome.tables.arrivals, &run.outcome.tables.transmissions);
    let copy_of = |tx: i64| (0..sent.tx.len()).find(|&row| sent.end[row] == 0 && sent.tx[row] == tx);
    let mut rows = (0..arrivals.t_ns.len()).filter(|&row| arrivals.end[row] == 0).peekable();
    let (mut highest, mut acknowledged) = (0, 0);
    let (mut all, mut late) = (0, 0);
    let mut seen = Vec::new();
    for frame in frames {
        if !frame.ours {
            acknowledged = acknowledged.max(frame.ack);
            continue;
        }
        if frame.len == 0 {
            continue;
        }
        let (start, len) = (frame.seq, frame.len);
        let is =
            |&row: &usize| (arrivals.start[row], arrivals.len[row], arrivals.t_ns[row]) == (start, len, frame.t_ns);
        // The record has only the first arrival of each transmission. The network may add a
        // duplicate.
        let row = rows.next_if(is);
        assert!(row.is_some() || seen.contains(&(start, len)), "{}: never sent: {frame:?}", run.name);
        seen.push((start, len));
        let new = row.map_or(0, |row| arrivals.new_bytes[row]);
        all += 1;
        late += usize::from(start < highest);
        // Wireshark does not guess here: a gap is certain, and so is a segment below the highest.
        assert_eq!(frame.is("lost_segment"), all > 1 && start > highest, "{}: {frame:?}, {highest}", run.name);
        assert_eq!(frame.goes_back(), start < highest, "{}: {frame:?}, {highest}", run.name);
        if start < highest {
            let again = row.is_some_and(|row| sent.copy[copy_of(arrivals.tx[row]).unwrap()] > 0);
            if frame.is("spurious_retransmission") != (new == 0) {
                let reason = match new {
                    0 if start + len > acknowledged => Some("arrived before, but not acknowledged before"),
                    0 if len == 1 => Some("a FIN alone: Wireshark calls spurious only what carries data"),
                    _ => None,
                };
                reasons.note(reason, &(&run.name, frame, new, acknowledged));
            }
            if frame.is("out_of_order") && again {
                reasons.note(Some("sent again, and here sooner than Wireshark expects"), &frame);
            }
            if !frame.is("out_of_order") && !again {
                let reason = match new {
                    0 => "duplicated by the network",
                    _ if frame.is("fast_retransmission") => {
                        "overtaken, and here after two duplicate ACKs have left for it"
                    }
                    _ => "overtaken, and here later than Wireshark expects",
                };
                reasons.note(Some(reason), &frame);
            }
        }
        highest = highest.max(start + len);
    }
    assert_eq!(rows.next(), None, "{}: not in the capture", run.name);
    (all, late)
}
