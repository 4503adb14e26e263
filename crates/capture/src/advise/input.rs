//! Retransmissions as the knobs need them, from a report and from the lines of `eifel watch --json`.

use crate::quic::LossVerdict;
use crate::report::Report;
use crate::result::{Cause, DetectorVerdict, End, Retransmission, Trigger, Verdict};
use eifel_recovery::detect::linux::SPURIOUS_RTO;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// For how long a receiver may delay an ACK, in milliseconds (RFC 5681, section 4.2).
const LONGEST_DELAYED_ACK_MS: f64 = 500.0;

/// A retransmission, or a packet that QUIC declared lost.
#[derive(Clone, PartialEq, Debug)]
pub struct Resent {
    /// Those of one sender have the same number.
    pub sender: u64,
    /// Its place in the input.
    pub place: usize,
    /// The sequence number of its data.
    pub number: u64,
    /// When it left, in milliseconds since any time of its sender.
    pub left_ms: f64,
    pub cause: Cause,
    pub verdict: Verdict,
    /// Milliseconds from the first transmission of its data to this one, and to the first ACK that covers
    /// them.
    pub since_first_ms: Option<f64>,
    pub answered_ms: Option<f64>,
    /// Whether that ACK reports a duplicate of them too. One of the original alone may have come later.
    pub answered_as_duplicate: bool,
    pub trigger: Option<Trigger>,
    /// What F-RTO makes of its timeout. `None` if that was not asked.
    pub by_f_rto: Option<ByFRto>,
    pub is_quic: bool,
}

/// What F-RTO makes of a timeout, over the ACKs of a sender without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByFRto {
    /// In Linux's form it calls the timeout spurious.
    Detected,
    /// It calls the timeout genuine.
    Missed,
    /// It does not judge: go-back-N repeated data in the place of the new data that it sends.
    Open,
}

impl ByFRto {
    /// Returns what the registry's detectors said of a timeout.
    pub fn of(timeout: &Retransmission) -> Self {
        let told = |is: fn(&DetectorVerdict) -> bool| timeout.first_told.iter().any(is);
        match () {
            () if told(|told| told.reason == SPURIOUS_RTO) => Self::Detected,
            () if told(|told| told.detector.starts_with("f-rto") && !told.spurious) => Self::Missed,
            () => Self::Open,
        }
    }
}

impl Resent {
    /// Returns how long after this transmission the ACK came that covers its data, in milliseconds.
    pub(super) fn answered_after_ms(&self) -> Option<f64> {
        self.answer_after_ms().filter(|_| !self.answered_as_duplicate).map(|(soonest, _)| soonest)
    }

    /// Returns how long after this transmission an ACK of the original alone would have come, in milliseconds: at the
    /// soonest and at the latest.
    pub(super) fn answer_after_ms(&self) -> Option<(f64, f64)> {
        let soonest = self.answered_ms? - self.since_first_ms?;
        Some((soonest, soonest + if self.answered_as_duplicate { LONGEST_DELAYED_ACK_MS } else { 0.0 }))
    }
}

/// Returns the retransmissions of a report that repair something, and the packets that its logs declare lost.
pub fn of_report(report: &Report) -> Vec<Resent> {
    let counted = report
        .retransmissions
        .iter()
        .filter(|one| !one.repairs_nothing() && !matches!(one.cause, Cause::Syn | Cause::PathMtu));
    let mut all: Vec<Resent> = counted.enumerate().map(|(place, one)| of_retransmission(place, one)).collect();
    let mut senders = BTreeMap::new();
    let lost = report.quic.iter().flat_map(|losses| losses.packets.iter().zip(&losses.later));
    for (packet, later) in lost {
        let key = (packet.trace, packet.space, packet.path_id);
        let next = u64::MAX - senders.len() as u64;
        let sender = *senders.entry(key).or_insert(next);
        let later = later.as_ref();
        let since = |at: f64| later.map(|later| at - later.sent_ms);
        all.push(Resent {
            sender,
            place: all.len(),
            number: packet.packet_number,
            left_ms: packet.time_ms,
            cause: Cause::Fast,
            verdict: match packet.verdict {
                LossVerdict::Spurious => Verdict::Spurious,
                LossVerdict::Genuine => Verdict::Needed,
                LossVerdict::Undecidable => Verdict::Undecidable,
            },
            since_first_ms: since(packet.time_ms),
            answered_ms: packet.acknowledged_ms.and_then(since),
            answered_as_duplicate: false,
            trigger: later.map(|later| Trigger { reports_ms: Some(later.reports_ms.clone()), ..Trigger::default() }),
            by_f_rto: None,
            is_quic: true,
        });
    }
    all
}

fn of_retransmission(place: usize, one: &Retransmission) -> Resent {
    Resent {
        sender: one.connection * 2 + u64::from(one.sender == End::Server),
        place,
        number: one.number.value().into(),
        left_ms: one.time_s * 1e3,
        cause: one.cause,
        verdict: one.verdict,
        since_first_ms: one.timing.since_first_ms,
        answered_ms: one.timing.answered_ms,
        answered_as_duplicate: one.timing.answered_as_duplicate,
        trigger: one.timing.trigger.as_deref().cloned(),
        by_f_rto: Some(ByFRto::of(one)),
        is_quic: false,
    }
}

/// A line of `eifel watch --json`.
#[derive(Deserialize)]
struct Line {
    schema: String,
    #[serde(default)]
    connection: u64,
    #[serde(default)]
    seq: u64,
    #[serde(default)]
    time_s: f64,
    #[serde(default)]
    cause: String,
    #[serde(default)]
    verdict: String,
    since_first_ms: Option<f64>,
    answered_ms: Option<f64>,
    #[serde(default)]
    answered_as_duplicate: bool,
    trigger: Option<Trigger>,
    f_rto: Option<ByFRto>,
}

/// Reads the record of a watch: the lines of `eifel watch --json`.
///
/// # Errors
/// Returns the line that is none, and what was expected.
pub fn of_watch(text: &str) -> Result<Vec<Resent>, String> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |what: &str| format!("line {}: {what}", number + 1);
        let line: Line =
            serde_json::from_str(line).map_err(|error| at(&format!("no line of eifel watch --json: {error}")))?;
        match line.schema.as_str() {
            "watch" => {}
            "watch-summary" => continue,
            schema => return Err(at(&format!("schema {schema:?}: expected \"watch\" or \"watch-summary\""))),
        }
        let cause = match line.cause.as_str() {
            "rto" => Cause::Rto,
            "loss" => Cause::Loss,
            "fast" | "rack-timer" => Cause::Fast,
            "tlp" => Cause::Tlp,
            "syn" | "path-mtu" => continue,
            "unknown" => Cause::Unknown,
            cause => return Err(at(&format!("cause {cause:?} is none of eifel watch"))),
        };
        let verdict = match line.verdict.as_str() {
            "spurious" => Verdict::Spurious,
            "needed" => Verdict::Needed,
            "undecidable" => Verdict::Undecidable,
            verdict => {
                return Err(at(&format!("verdict {verdict:?}: expected spurious, needed or undecidable")));
            }
        };
        all.push(Resent {
            sender: line.connection,
            place: all.len(),
            number: line.seq,
            left_ms: line.time_s * 1e3,
            cause,
            verdict,
            since_first_ms: line.since_first_ms,
            answered_ms: line.answered_ms,
            answered_as_duplicate: line.answered_as_duplicate,
            trigger: line.trigger,
            by_f_rto: line.f_rto,
            is_quic: false,
        });
    }
    Ok(all)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn resent(cause: Cause, verdict: Verdict) -> Resent {
        Resent {
            sender: 0,
            place: 0,
            number: 1,
            left_ms: 0.0,
            cause,
            verdict,
            since_first_ms: None,
            answered_ms: None,
            answered_as_duplicate: false,
            trigger: None,
            by_f_rto: None,
            is_quic: false,
        }
    }

    const LINE: &str = r#"{"schema":"watch","version":1,"time_s":2.5,"connection":3,"seq":77,"cause":"rack-timer","verdict":"needed","since_first_ms":40.0,"answered_ms":null}"#;

    #[test]
    fn a_watch_is_read_line_by_line() {
        let text = format!("{LINE}\n\n{{\"schema\":\"watch-summary\",\"version\":1}}\n");
        let read = of_watch(&text).unwrap();
        assert_eq!(read.len(), 1);
        let one = &read[0];
        assert_eq!((one.sender, one.number, one.left_ms), (3, 77, 2500.0));
        assert_eq!((one.cause, one.verdict, one.since_first_ms), (Cause::Fast, Verdict::Needed, Some(40.0)));
        let syn = LINE.replace("rack-timer", "syn");
        assert_eq!(of_watch(&syn), Ok(Vec::new()));
    }

    #[test]
    fn a_line_that_is_none_of_a_watch_is_refused_with_its_number() {
        let refused = |line: String| of_watch(&format!("{LINE}\n{line}")).unwrap_err();
        assert!(refused("{".into()).starts_with("line 2: no line of eifel watch --json: "));
        assert_eq!(
            refused(LINE.replace("\"watch\"", "\"analyze\"")),
            "line 2: schema \"analyze\": expected \"watch\" or \"watch-summary\""
        );
        assert_eq!(refused(LINE.replace("rack-timer", "bad")), "line 2: cause \"bad\" is none of eifel watch");
        assert_eq!(
            refused(LINE.replace("needed", "x")),
            "line 2: verdict \"x\": expected spurious, needed or undecidable"
        );
    }
}
