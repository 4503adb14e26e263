//! What each counter means, by what the kernel does when it counts.
//!
//! *From* `tcp_input.c`, `tcp_output.c` and `tcp_timer.c` of Linux 6, and the kernel's
//! `Documentation/networking/snmp_counter.rst`.

use serde::Serialize;

/// What a counter is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// What was sent again, and by which cause.
    Retransmissions,
    /// What peers reported as received twice.
    Duplicates,
    /// What the kernel took back, because it found a loss signal wrong.
    Undone,
    /// What arrived in another order than it was sent.
    Reordering,
    /// Sums over the sockets that exist now.
    Sockets,
}

/// A counter and its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meaning {
    pub name: &'static str,
    pub group: Group,
    pub means: &'static str,
}

/// All counters that are explained, in the order in which they are read.
pub const MEANINGS: &[Meaning] = &[
    of(Group::Retransmissions, "RetransSegs", "segments sent again, by every cause, with repeated SYNs"),
    of(
        Group::Retransmissions,
        "TCPOrigDataSent",
        "segments with data sent for the first time: divide by them for a rate, not by OutSegs, which counts ACKs too",
    ),
    of(Group::Retransmissions, "TCPSynRetrans", "SYNs and SYN-ACKs sent again: the peer did not answer"),
    of(
        Group::Retransmissions,
        "TCPFastRetrans",
        "segments sent again because of ACKs (fast retransmission, RACK) while no timer had expired",
    ),
    of(
        Group::Retransmissions,
        "TCPSlowStartRetrans",
        "segments sent again after a timer had expired, behind the first one (go-back-N, less what SACK blocks report)",
    ),
    of(
        Group::Retransmissions,
        "TCPTimeouts",
        "expiries of the retransmission timer, each expiry of a series; each sends one segment",
    ),
    of(
        Group::Retransmissions,
        "TCPLossProbes",
        "tail-loss probes: the last segment, or a new one, sent after two round trips of silence",
    ),
    of(
        Group::Retransmissions,
        "TCPLossProbeRecovery",
        "probes that repaired a loss, by the ACK that followed; the others were needless or of new data",
    ),
    of(
        Group::Retransmissions,
        "TCPLostRetransmit",
        "retransmissions that were marked as lost themselves, and sent once more",
    ),
    of(Group::Retransmissions, "TCPRetransFail", "retransmissions that the host's own queue or device refused"),
    of(
        Group::Retransmissions,
        "TCPSpuriousRtxHostQueues",
        "retransmissions that were not made, as the original was still in the host's own queue",
    ),
    of(Group::Retransmissions, "TCPSackRecovery", "times that ACKs with SACK blocks began fast recovery"),
    of(Group::Retransmissions, "TCPRenoRecovery", "the same on connections without SACK"),
    of(
        Group::Retransmissions,
        "TCPSackFailures",
        "timeouts while SACK blocks showed disorder, before fast recovery began",
    ),
    of(Group::Retransmissions, "TCPRenoFailures", "the same on connections without SACK"),
    of(Group::Retransmissions, "TCPSackRecoveryFail", "timeouts in fast recovery, as when a retransmission is lost"),
    of(Group::Retransmissions, "TCPRenoRecoveryFail", "the same on connections without SACK"),
    of(Group::Retransmissions, "TCPLossFailures", "timeouts while the repair after an earlier timeout was not over"),
    of(Group::Retransmissions, "TCPSACKReneging", "peers that dropped what they had reported by SACK"),
    of(
        Group::Duplicates,
        "TCPDSACKRecvSegs",
        "segments that peers report to have received twice: retransmissions that were needless, and copies by the network",
    ),
    of(
        Group::Duplicates,
        "TCPDSACKRecv",
        "ACKs with such a report about data that was acknowledged already; one may report several segments",
    ),
    of(Group::Duplicates, "TCPDSACKOfoRecv", "ACKs with such a report about data behind a gap"),
    of(
        Group::Duplicates,
        "TCPDSACKIgnoredDubious",
        "such reports that are no answer to a retransmission, as a connection had more of them than retransmissions: the network makes copies",
    ),
    of(
        Group::Duplicates,
        "TCPDSACKIgnoredNoUndo",
        "such reports outside of a recovery, so nothing could be undone: late ones, probes, copies by the network",
    ),
    of(Group::Duplicates, "TCPDSACKIgnoredOld", "such reports about data from before the recovery in progress"),
    of(
        Group::Duplicates,
        "TCPDSACKOldSent",
        "reports that this host sent as a receiver: its peers retransmit needlessly, or the network copies",
    ),
    of(Group::Duplicates, "TCPDSACKOfoSent", "the same about data behind a gap"),
    of(
        Group::Undone,
        "TCPSpuriousRTOs",
        "timeouts that F-RTO found needless: data sent before the timeout, and not again, was acknowledged after it",
    ),
    of(
        Group::Undone,
        "TCPLossUndo",
        "timeouts whose cut of the window was undone: by F-RTO (those of TCPSpuriousRTOs are among them), by timestamps or by duplicates reported",
    ),
    of(Group::Undone, "TCPFullUndo", "fast recoveries undone at their end, by timestamps or by duplicates reported"),
    of(
        Group::Undone,
        "TCPPartialUndo",
        "fast recoveries undone at an ACK in their middle, by timestamps: the segment had only been overtaken",
    ),
    of(
        Group::Undone,
        "TCPDSACKUndo",
        "recoveries undone because every retransmission of theirs was reported as a duplicate",
    ),
    of(
        Group::Reordering,
        "TCPSACKReorder",
        "times that SACK blocks showed a segment overtaken by a later one, without a retransmission",
    ),
    of(
        Group::Reordering,
        "TCPTSReorder",
        "times that a timestamp showed that the original filled a gap, not its retransmission",
    ),
    of(
        Group::Reordering,
        "TCPRenoReorder",
        "the same on connections without SACK, by more duplicate ACKs than segments",
    ),
    of(Group::Reordering, "TCPOFOQueue", "segments that this host received out of order, as a receiver"),
    of(Group::Sockets, "sockets", "sockets with TCP_INFO in the text; connections that were closed are not in it"),
    of(Group::Sockets, "sockets_without_sack", "those of them without SACK"),
    of(Group::Sockets, "data_segs_out", "segments with data that they sent, with retransmissions"),
    of(Group::Sockets, "total_retrans", "segments that they sent again"),
    of(Group::Sockets, "bytes_retrans", "the bytes of these"),
    of(
        Group::Sockets,
        "dsack_dups",
        "segments that their peers report to have received twice, at most those that a socket sent again",
    ),
    of(Group::Sockets, "dsack_dups_ignored", "such reports beyond that: the network makes copies"),
    of(Group::Sockets, "reord_seen", "times that they saw reordering"),
];

const fn of(group: Group, name: &'static str, means: &'static str) -> Meaning {
    Meaning { name, group, means }
}

impl Group {
    /// Returns the heading of the group.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Retransmissions => "retransmissions, and what caused them",
            Self::Duplicates => "duplicates that were reported (DSACK)",
            Self::Undone => "reactions that the kernel undid",
            Self::Reordering => "reordering",
            Self::Sockets => "sums over sockets",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_counter_is_explained_once_and_groups_stay_together() {
        let names: BTreeSet<&str> = MEANINGS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), MEANINGS.len());
        assert!(MEANINGS.is_sorted_by_key(|one| one.group));
    }

    #[test]
    fn this_kernel_has_every_counter_of_a_host() {
        let texts = super::super::read::OF_THIS_HOST.map(|file| std::fs::read_to_string(file).unwrap_or_default());
        if texts.iter().any(String::is_empty) {
            return;
        }
        let shown: BTreeSet<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
        let hosts = MEANINGS.iter().filter(|one| one.group != Group::Sockets);
        let missing: Vec<&str> = hosts.map(|one| one.name).filter(|name| !shown.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
