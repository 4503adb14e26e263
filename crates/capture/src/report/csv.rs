//! Retransmissions as comma-separated values, without the judgements of the detectors.

use std::fmt::Write;

use crate::result::{Cause, Number, Retransmission};
use serde::Serialize;

const HEADER: &str = "capture,frame,time_s,connection,sender,seq,tsn,bytes,copy,cause,other_cause,verdict,confidence,reason,\
                      evidence_frame,stack_noticed\n";

pub(super) fn write(retransmissions: &[Retransmission]) -> String {
    let mut text = String::from(HEADER);
    for one in retransmissions {
        let evidence = one.evidence_frame.map(|frame| frame.to_string()).unwrap_or_default();
        let (seq, tsn) = match one.number {
            Number::Seq(seq) => (seq.to_string(), String::new()),
            Number::Tsn(tsn) => (String::new(), tsn.to_string()),
        };
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{:.6},{},{},{},{},{},{},{},{},{},{},\"{}\",{},{}",
            one.capture,
            one.frame,
            one.time_s,
            one.connection,
            word(&one.sender),
            seq,
            tsn,
            one.bytes,
            one.copy,
            word(&one.cause),
            one.other_cause.map_or("", Cause::name),
            word(&one.verdict),
            word(&one.confidence),
            one.reason,
            evidence,
            word(&one.stack_noticed),
        );
    }
    text
}

/// Returns the name of a value in JSON.
fn word(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.trim_matches('"').to_string()
}
