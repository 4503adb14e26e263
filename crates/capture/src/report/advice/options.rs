//! Options of TCP that an end does not use.

use super::super::total::counted;
use super::{Advice, Fault, Way, hosts};
use crate::result::{Cause, Confidence, Offered, Verdict};
use std::net::IpAddr;

/// Needless retransmissions that are certain, after which a receiver that reports duplicates would have
/// reported one.
const LEAST_CERTAIN: usize = 3;

/// A single repair needs no SACK.
const LEAST: usize = 2;

/// Returns the end whose SYN lacks an option. If the client offers none, the server cannot (RFC 7323,
/// section 1.3; RFC 2018, section 2).
fn without(way: &Way<'_>, has: fn(&Offered) -> bool) -> Option<IpAddr> {
    let [client, server] = way.offered();
    let (client, server) = (client?, server?);
    if !has(&client) {
        Some(way.connection.client.address)
    } else {
        (!has(&server)).then_some(way.connection.server.address)
    }
}

/// Returns the directions in which a SYN lacks an option, with its host, and the counts of needless and
/// undecidable retransmissions.
fn lacking<'a>(ways: &'a [Way<'a>], has: fn(&Offered) -> bool) -> (Vec<(&'a Way<'a>, IpAddr)>, u64, u64) {
    let found: Vec<_> = ways.iter().filter_map(|way| without(way, has).map(|host| (way, host))).collect();
    // No sender reacts to verdicts on a SYN.
    let rows = || found.iter().flat_map(|(way, _)| &way.rows).filter(|one| one.cause != Cause::Syn);
    let count = |verdict| rows().filter(|one| one.verdict == verdict).count() as u64;
    let (spurious, undecidable) = (count(Verdict::Spurious), count(Verdict::Undecidable));
    (found, spurious, undecidable)
}

/// Without timestamps, an ACK does not show which transmission it answers: the Eifel algorithm (RFC
/// 3522, section 3) and the second proof of RACK (RFC 8985, section 6.2) need them. The kernel's
/// ip-sysctl has `tcp_timestamps`.
pub(super) fn no_timestamps(ways: &[Way<'_>]) -> Option<Advice> {
    let (found, spurious, undecidable) = lacking(ways, |offered| offered.timestamps);
    if spurious + undecidable == 0 {
        return None;
    }
    let ends = hosts(found.iter().map(|(_, host)| *host));
    Some(Advice {
        fault: Fault::NoTimestamps,
        evidence: format!(
            "The SYN of {ends} has no timestamps, so ACKs did not show which transmission they answer. Of the \
             retransmissions in {}, {} needless, and {} undecidable.",
            counted(found.len() as u64, "direction", "directions"),
            counted(spurious, "was", "were"),
            counted(undecidable, "is", "are"),
        ),
        action: format!("On {ends}: sysctl net.ipv4.tcp_timestamps=1, unless a box on the path removes the option."),
        confirm: format!("On {ends}: ss -ti shows ts for new connections; nstat -az TcpExtTCPTSReorder"),
        source: "RFC 7323, section 3; RFC 3522, section 3; ip-sysctl.rst: tcp_timestamps",
    })
}

/// Without SACK, ACKs do not name the data that arrived, and senders repair one segment in a round trip
/// (RFC 6582); RACK needs SACK (RFC 8985, section 4). The kernel's ip-sysctl has `tcp_sack`.
pub(super) fn no_sack(ways: &[Way<'_>]) -> Option<Advice> {
    let (found, spurious, undecidable) = lacking(ways, |offered| offered.sack);
    let repairs = |way: &Way<'_>| way.rows.iter().filter(|one| one.cause != Cause::Syn).count();
    let all: usize = found.iter().map(|(way, _)| repairs(way)).sum();
    if all < LEAST {
        return None;
    }
    let ends = hosts(found.iter().map(|(_, host)| *host));
    let senders = hosts(found.iter().map(|(way, _)| way.sender));
    Some(Advice {
        fault: Fault::NoSack,
        evidence: format!(
            "The SYN of {ends} does not permit SACK: {} in {}, {spurious} needless and {undecidable} undecidable. ACKs did \
             not name the data that had arrived.",
            counted(all as u64, "retransmission", "retransmissions"),
            counted(found.len() as u64, "direction", "directions"),
        ),
        action: format!("On {ends}: sysctl net.ipv4.tcp_sack=1, unless a box on the path removes the option."),
        confirm: format!(
            "On the sender {senders}: nstat -az TcpExtTCPSackRecovery grows instead of TcpExtTCPRenoRecovery"
        ),
        source: "RFC 2018; RFC 8985, section 4; ip-sysctl.rst: tcp_sack",
    })
}

/// The receiver got data twice and did not report it, though both ends use SACK (RFC 2883, section 4).
/// The kernel's ip-sysctl has `tcp_dsack`, snmp_counter TCPDSACKOldSent and TCPDSACKRecv.
pub(super) fn no_dsack(ways: &[Way<'_>]) -> Option<Advice> {
    let certain = |way: &Way<'_>| {
        let rows = way.rows.iter();
        rows.filter(|one| one.verdict == Verdict::Spurious && one.confidence == Confidence::Certain).count()
    };
    let silent = |way: &&Way<'_>| {
        way.sacks() == Some(true) && way.way.reports_duplicates == Some(false) && certain(way) >= LEAST_CERTAIN
    };
    let found: Vec<_> = ways.iter().filter(silent).collect();
    let count: usize = found.iter().map(|way| certain(way)).sum();
    if found.is_empty() {
        return None;
    }
    let (senders, receivers) = (hosts(found.iter().map(|way| way.sender)), hosts(found.iter().map(|way| way.receiver)));
    Some(Advice {
        fault: Fault::NoDsack,
        evidence: format!(
            "{receivers} got data twice and answered without a duplicate report (DSACK): {} certainly needless. The sender \
             cannot learn from them.",
            counted(count as u64, "retransmission was", "retransmissions were"),
        ),
        action: format!("On the receiver {receivers}: sysctl net.ipv4.tcp_dsack=1."),
        confirm: format!(
            "On the receiver {receivers}: nstat -az TcpExtTCPDSACKOldSent; on the sender {senders}: nstat -az \
             TcpExtTCPDSACKRecv"
        ),
        source: "RFC 2883, section 4; ip-sysctl.rst: tcp_dsack; snmp_counter.rst: TcpExtTCPDSACKOldSent",
    })
}
