//! At the sender: the duplicate ACKs in the record are duplicate ACKs to Wireshark.

use crate::Reasons;
use crate::dissect::Frame;
use crate::runs::{Run, runs};

#[test]
fn wireshark_agrees_on_duplicate_acks() {
    let mut reasons = Reasons::default();
    let (mut acks, mut duplicates) = (0, 0);
    for run in runs() {
        let (all, twice) = compare(run, &run.at_sender, &mut reasons);
        acks += all;
        duplicates += twice;
    }
    println!("{acks} ACKs, {duplicates} of them duplicate; differences:\n{reasons}");
    let skipped = runs().is_empty();
    assert!(skipped || (acks > 2000 && duplicates > 400), "{acks} {duplicates}");
}

fn compare(run: &Run, frames: &[Frame], reasons: &mut Reasons) -> (usize, usize) {
    let record = &run.outcome.tables.acks;
    let mut rows = (0..record.t_ns.len()).filter(|&row| record.end[row] == 0);
    let mut nxt = 0;
    let mut last: Option<&Frame> = None;
    let (mut all, mut duplicates) = (0, 0);
    for frame in frames {
        if frame.ours {
            nxt = nxt.max(frame.seq + frame.len);
            continue;
        }
        let row = rows.next().unwrap_or_else(|| panic!("{}: never got: {frame:?}", run.name));
        assert_eq!((frame.ack, frame.t_ns), (record.cumulative[row], record.t_ns[row]), "{}", run.name);
        let duplicate = record.duplicate[row];
        all += 1;
        duplicates += usize::from(duplicate);
        if frame.is("duplicate_ack") != duplicate {
            reasons.note(why(frame, last, nxt), &(&run.name, frame, last, nxt));
        }
        last = Some(frame);
    }
    assert_eq!(rows.next(), None, "{}: not in the capture", run.name);
    (all, duplicates)
}

fn why(frame: &Frame, last: Option<&Frame>, nxt: i64) -> Option<&'static str> {
    let last = last?;
    if frame.is("duplicate_ack") {
        return (frame.ack == nxt).then_some("a network's duplicate, or a DSACK, when nothing is outstanding");
    }
    if frame.ack < last.ack {
        return Some("an ACK that was overtaken");
    }
    if frame.ack == last.ack && last.len > 0 {
        return Some("the first ACK without data after data: to Wireshark it only repeats their ACK");
    }
    None
}
