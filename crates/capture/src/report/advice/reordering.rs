//! Segments that arrive in another order than they were sent.

use super::super::total::{counted, time};
use super::{Advice, Fault, Way, hosts, is_needless};
use crate::result::{Cause, Confidence, Retransmission, Vantage};

/// A single needless retransmission may have another reason, and costs next to nothing.
const LEAST: usize = 2;
/// A timeout within this time before, in seconds, may have caused the reports of missing data.
const AFTER_TIMEOUT_S: f64 = 3.0;

/// With SACK, a fast retransmission is needless only if data behind its original arrived first (RFC
/// 8985, sections 3.3 and 6.2, step 4). RACK's reordering window is 0 while no reordering was seen and
/// three segments are reported, and a quarter of a round trip otherwise; duplicate reports let it grow.
/// The kernel's ip-sysctl has the bits of `tcp_recovery`: 1 is RACK, 4 ignores the three reports.
/// snmp_counter has TCPSACKReorder and TCPTSReorder.
pub(super) fn reordering(ways: &[Way<'_>]) -> Option<Advice> {
    let found: Vec<(&Way<'_>, Vec<&Retransmission>)> =
        ways.iter().map(|way| (way, overtaken(way))).filter(|(_, rows)| rows.len() >= LEAST).collect();
    let (most, _) = found.iter().max_by_key(|(_, rows)| rows.len())?;
    let needless: usize = found.iter().map(|(_, rows)| rows.len()).sum();
    let fast = |way: &Way<'_>| way.rows.iter().filter(|one| one.cause == Cause::Fast).count();
    let all: usize = found.iter().map(|(way, _)| fast(way)).sum();
    let mut evidence = format!(
        "{needless} of {} {} needless: data sent later arrived before the originals (most in {}).",
        counted(all as u64, "fast retransmission", "fast retransmissions"),
        if needless == 1 { "was" } else { "were" },
        most.name(),
    );
    let latest =
        found.iter().flat_map(|(way, rows)| rows.iter().filter_map(|one| late_by(way, one))).max_by(f64::total_cmp);
    if let Some(late) = latest {
        evidence += &format!(" ACKs of originals came up to {} after the retransmission left.", time(late));
    }
    let reordered: u64 = found.iter().map(|(way, _)| way.way.counts.reordered).sum();
    if reordered > 0 {
        let by = found.iter().filter_map(|(way, _)| way.way.reordered_ms_max).max_by(f64::total_cmp);
        let by = by.map(|ms| format!(", by up to {}", time(ms))).unwrap_or_default();
        let segments = counted(reordered, "segment", "segments");
        evidence += &format!(" {segments} passed here after data sent later{by}.");
    }
    let senders = hosts(found.iter().map(|(way, _)| way.sender));
    Some(Advice {
        fault: Fault::Reordering,
        evidence,
        action: format!(
            "On the sender {senders}: sysctl net.ipv4.tcp_recovery=5, with which RACK waits a quarter of the shortest round \
             trip for late segments, and longer once the receiver reports duplicates. On the path: look for packets of one \
             flow on several links or queues."
        ),
        confirm: format!("On {senders}: nstat -az TcpExtTCPSACKReorder TcpExtTCPTSReorder TcpExtTCPDSACKRecv"),
        source: "RFC 8985, section 6.2, step 4; ip-sysctl.rst: tcp_recovery; snmp_counter.rst: TcpExtTCPSACKReorder",
    })
}

/// Returns the needless fast retransmissions of a direction, if they show reordering. Without SACK,
/// duplicate ACKs may answer duplicates.
fn overtaken<'a>(way: &'a Way<'_>) -> Vec<&'a Retransmission> {
    if way.sacks() != Some(true) {
        return Vec::new();
    }
    let mut timeout = f64::NEG_INFINITY;
    let soon_after_timeout = |one: &Retransmission| {
        if matches!(one.cause, Cause::Rto | Cause::Tlp) {
            timeout = one.time_s;
        }
        one.time_s - timeout <= AFTER_TIMEOUT_S
    };
    let soon: Vec<bool> = way.rows.iter().copied().map(soon_after_timeout).collect();
    // A duplicate report alone may be of a copy that the network made.
    let shows = |one: &Retransmission| {
        way.way.counts.reordered > 0 || one.confidence == Confidence::Certain || late_by(way, one).is_some()
    };
    let rows = way.rows.iter().copied().zip(soon);
    let rows = rows.filter(|(one, soon)| !soon && is_needless(one, &[Cause::Fast]) && shows(one));
    rows.map(|(one, _)| one).collect()
}

/// Returns how long the sender would have had to wait for the ACK of the original, in milliseconds.
/// `None` if the ACK may answer the retransmission.
fn late_by(way: &Way<'_>, one: &Retransmission) -> Option<f64> {
    let late = one.timing.answered_ms? - one.timing.since_first_ms?;
    let shows = way.is_seen_from(&[Vantage::Sender]) && late > 0.0 && late < way.round_trip()?;
    shows.then_some(late)
}
