//! What the evidence says about the path and its ends, what to set there, and how to check it.
//!
//! A rule speaks only if retransmissions show its fault. Each is a function over the directions of a
//! report, with its source in its doc. Settings and counters are those of Linux. "The kernel's
//! ip-sysctl" is Documentation/networking/ip-sysctl.rst, "snmp_counter" the file beside it.

mod delays;
mod losses;
mod options;
mod reordering;

use super::Report;
use crate::result::{
    Cause, Confidence, DirectionSummary, End, Offered, Protocol, Retransmission, Summary, Vantage, Verdict,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// The most hosts or connections that a sentence names.
const MOST_NAMED: usize = 3;

/// What the path or an end does, such that segments are sent again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Most of what was sent again had not arrived.
    Losses,
    /// Data or ACKs are delayed by far more than a round trip, and then delivered.
    Stall,
    /// The retransmission timer is shorter than the shortest round trip.
    TimerBelowDelay,
    /// The receiver delays ACKs for longer than the sender waits.
    DelayedAcks,
    /// Segments arrive in another order.
    Reordering,
    /// Data arrive, and their ACKs do not.
    LostAcks,
    NoTimestamps,
    NoSack,
    /// The receiver does not report duplicates.
    NoDsack,
}

impl Fault {
    /// Returns the fault in words, for a heading.
    pub fn name(self) -> &'static str {
        match self {
            Self::Losses => "losses",
            Self::Stall => "a delay spike",
            Self::TimerBelowDelay => "a timer below the path's delay",
            Self::DelayedAcks => "the receiver delays ACKs",
            Self::Reordering => "reordering",
            Self::LostAcks => "lost ACKs",
            Self::NoTimestamps => "no timestamps",
            Self::NoSack => "no SACK",
            Self::NoDsack => "duplicates are not reported",
        }
    }
}

/// One piece of advice.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    pub fault: Fault,
    /// The findings that show the fault.
    pub evidence: String,
    /// What to set, and on which host; or why there is nothing to set.
    pub action: String,
    /// The counter or command that confirms it.
    pub confirm: String,
    /// Where the rule is from.
    pub source: &'static str,
}

/// One direction of a TCP connection, with the retransmissions that count.
struct Way<'a> {
    connection: &'a Summary,
    way: &'a DirectionSummary,
    sender: IpAddr,
    receiver: IpAddr,
    rows: Vec<&'a Retransmission>,
}

impl Way<'_> {
    /// Returns the shortest round trip from here to the receiver, in milliseconds.
    fn round_trip(&self) -> Option<f64> {
        self.way.rtt_ms_min
    }

    /// Returns the needless first retransmissions that certainly have one of these causes.
    fn needless(&self, causes: &[Cause]) -> impl Iterator<Item = &Retransmission> {
        self.rows.iter().copied().filter(|one| is_needless(one, causes))
    }

    /// Returns the options that the SYNs of client and server offer.
    fn offered(&self) -> [Option<Offered>; 2] {
        [0, 1].map(|side| self.connection.directions[side].offered)
    }

    /// Returns whether both ends agreed on SACK; `None` if the capture does not show it.
    fn sacks(&self) -> Option<bool> {
        let [client, server] = self.offered();
        let agreed = client.zip(server).map(|(client, server)| client.sack && server.sack);
        // Only a SACK option can report a duplicate.
        agreed.or((self.way.reports_duplicates == Some(true)).then_some(true))
    }

    fn is_seen_from(&self, places: &[Vantage]) -> bool {
        places.contains(&self.way.vantage)
    }

    /// Returns the direction's name, as in the list of directions.
    fn name(&self) -> String {
        format!("connection {}, {} to {}", self.connection.connection, self.sender, self.receiver)
    }
}

/// Returns whether a retransmission is the first of its data, needless, and has one of these causes in
/// every reading of the trace.
fn is_needless(one: &Retransmission, causes: &[Cause]) -> bool {
    let named = [Some(one.cause), one.other_cause];
    one.verdict == Verdict::Spurious
        && one.confidence != Confidence::Weak
        && one.copy == 2
        && named.iter().flatten().all(|cause| causes.contains(cause))
}

/// Returns the advice for a report, in the order of [`Fault`].
pub fn advice(report: &Report) -> Vec<Advice> {
    let ways = ways(report);
    let rules = [
        losses::losses,
        delays::stall,
        delays::timer_below_delay,
        delays::delayed_acks,
        reordering::reordering,
        delays::lost_acks,
        options::no_timestamps,
        options::no_sack,
        options::no_dsack,
    ];
    rules.iter().filter_map(|rule| rule(&ways)).collect()
}

fn ways(report: &Report) -> Vec<Way<'_>> {
    let mut rows: BTreeMap<(u64, bool), Vec<&Retransmission>> = BTreeMap::new();
    for one in report.retransmissions.iter().filter(|one| !one.repairs_nothing()) {
        rows.entry((one.connection, one.sender == End::Server)).or_default().push(one);
    }
    let mut found = Vec::new();
    for connection in report.connections.iter().filter(|one| one.protocol == Protocol::Tcp) {
        for from_server in [false, true] {
            let Some(rows) = rows.remove(&(connection.connection, from_server)) else { continue };
            let flow = connection.flow(from_server);
            let (sender, receiver) = (flow.source.address, flow.destination.address);
            found.push(Way {
                connection,
                way: &connection.directions[usize::from(from_server)],
                sender,
                receiver,
                rows,
            });
        }
    }
    found
}

/// Names hosts in a sentence.
fn hosts(all: impl IntoIterator<Item = IpAddr>) -> String {
    let all: BTreeSet<_> = all.into_iter().collect();
    let named: Vec<_> = all.iter().take(MOST_NAMED).map(IpAddr::to_string).collect();
    let more = all.len() - named.len();
    let named = named.join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_at_most_three_hosts() {
        let host = |last: u8| IpAddr::from([10, 0, 0, last]);
        assert_eq!(hosts([2, 1, 2].map(host)), "10.0.0.1, 10.0.0.2");
        assert_eq!(hosts((1..=5).map(host)), "10.0.0.1, 10.0.0.2, 10.0.0.3 and 2 more");
    }
}
