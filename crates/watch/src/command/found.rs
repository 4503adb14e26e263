//! What a watch has found: totals by cause and verdict, and connections.

use crate::cause::Cause;
use crate::observation::Judged;
use crate::watch::Counts;
use eifel_capture::report::condition::{Condition, Counts as Counted, failures_of};
use eifel_capture::result::Verdict;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

pub(super) const VERDICTS: [Verdict; 3] = [Verdict::Spurious, Verdict::Needed, Verdict::Undecidable];

/// Of more connections, those with the fewest retransmissions are left out. Totals keep them.
const MOST_CONNECTIONS: usize = 100_000;

/// Retransmissions by verdict, in the order of [`VERDICTS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct ByVerdict {
    pub(super) spurious: u64,
    pub(super) needed: u64,
    pub(super) undecidable: u64,
}

impl ByVerdict {
    pub(super) fn of(&self, verdict: Verdict) -> u64 {
        match verdict {
            Verdict::Spurious => self.spurious,
            Verdict::Needed => self.needed,
            Verdict::Undecidable => self.undecidable,
        }
    }

    fn add(&mut self, verdict: Verdict, count: u64) {
        *match verdict {
            Verdict::Spurious => &mut self.spurious,
            Verdict::Needed => &mut self.needed,
            Verdict::Undecidable => &mut self.undecidable,
        } += count;
    }

    pub(super) fn all(&self) -> u64 {
        self.spurious + self.needed + self.undecidable
    }
}

/// What was found on one connection.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Connection {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) retransmissions: u64,
    #[serde(flatten)]
    pub(super) verdicts: ByVerdict,
    pub(super) causes: BTreeMap<Cause, u64>,
    pub(super) bytes: u64,
    pub(super) bytes_spurious: u64,
    /// When the latest retransmission was sent, in seconds since 1970.
    #[serde(skip)]
    pub(super) latest_s: f64,
}

impl Connection {
    fn add(&mut self, one: &Judged) {
        self.retransmissions += 1;
        self.verdicts.add(one.verdict, 1);
        *self.causes.entry(one.cause).or_default() += 1;
        self.bytes += u64::from(one.bytes);
        self.bytes_spurious += u64::from(one.bytes) * u64::from(one.verdict == Verdict::Spurious);
        self.latest_s = self.latest_s.max(one.time_s);
    }
}

/// Everything that was found so far.
#[derive(Debug)]
pub(super) struct Found {
    most_connections: usize,
    pub(super) counts: Counts,
    pub(super) retransmissions: BTreeMap<Cause, ByVerdict>,
    pub(super) bytes: BTreeMap<Cause, ByVerdict>,
    connections: BTreeMap<u64, Connection>,
}

impl Default for Found {
    fn default() -> Self {
        let (retransmissions, bytes) = (BTreeMap::new(), BTreeMap::new());
        let connections = BTreeMap::new();
        Self { most_connections: MOST_CONNECTIONS, counts: Counts::default(), retransmissions, bytes, connections }
    }
}

/// The totals as a document.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    pub(super) retransmissions: u64,
    #[serde(flatten)]
    pub(super) verdicts: ByVerdict,
    pub(super) bytes: u64,
    pub(super) bytes_spurious: u64,
    causes: &'a BTreeMap<Cause, ByVerdict>,
    facts: u64,
    pub(super) facts_dropped: u64,
    pub(super) retransmissions_dropped: u64,
    observations: u64,
    pub(super) connections: u64,
    pub(super) undone: u64,
    /// The connections with the most needless retransmissions, and then with the most of all.
    pub(super) worst: Vec<&'a Connection>,
}

impl Found {
    pub(super) fn add(&mut self, rows: &[Judged]) {
        for one in rows {
            self.retransmissions.entry(one.cause).or_default().add(one.verdict, 1);
            self.bytes.entry(one.cause).or_default().add(one.verdict, u64::from(one.bytes));
            let connection = self.connections.entry(one.connection).or_insert_with(|| Connection {
                local: one.local,
                remote: one.remote,
                retransmissions: 0,
                verdicts: ByVerdict::default(),
                causes: BTreeMap::new(),
                bytes: 0,
                bytes_spurious: 0,
                latest_s: 0.0,
            });
            connection.add(one);
        }
        if self.connections.len() > self.most_connections {
            let mut order: Vec<_> =
                self.connections.iter().map(|(number, one)| (Reverse(one.retransmissions), *number)).collect();
            order.sort_unstable();
            for (_, number) in &order[self.most_connections / 2..] {
                self.connections.remove(number);
            }
        }
    }

    /// Returns why the watch fails with these conditions, whose shares are of all retransmissions. A
    /// host that sent nothing again is no failure.
    pub(super) fn failures(&self, conditions: &[Condition]) -> Vec<String> {
        let ByVerdict { spurious, needed, undecidable } = self.verdicts();
        let [spurious, needed, undecidable] = [spurious, needed, undecidable].map(|count| count as usize);
        let counted = Counted { spurious, needed, undecidable, sent: self.verdicts().all().max(1) };
        failures_of(&counted, false, conditions)
    }

    fn verdicts(&self) -> ByVerdict {
        let mut sum = ByVerdict::default();
        for of_cause in self.retransmissions.values() {
            VERDICTS.into_iter().for_each(|verdict| sum.add(verdict, of_cause.of(verdict)));
        }
        sum
    }

    /// Returns the totals, with at most `most` connections.
    pub(super) fn summary(&self, most: usize) -> Summary<'_> {
        let verdicts = self.verdicts();
        let Counts { facts, facts_dropped, retransmissions_dropped, observations, connections, undone, .. } =
            self.counts;
        let mut worst: Vec<&Connection> = self.connections.values().collect();
        worst.sort_by_key(|one| (Reverse((one.verdicts.spurious, one.retransmissions)), one.local, one.remote));
        worst.truncate(most);
        Summary {
            retransmissions: verdicts.all(),
            verdicts,
            bytes: self.bytes.values().map(ByVerdict::all).sum(),
            bytes_spurious: self.bytes.values().map(|one| one.spurious).sum(),
            causes: &self.retransmissions,
            facts,
            facts_dropped,
            retransmissions_dropped,
            observations,
            connections,
            undone,
            worst,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::observation::Replayed;
    use eifel_capture::result::Confidence;

    /// Returns a needless tail-loss probe of 100 bytes on connection 0.
    pub(in crate::command) fn row() -> Judged {
        Judged {
            time_s: 1.5,
            connection: 0,
            local: "10.0.0.1:80".parse().unwrap(),
            remote: "10.0.0.2:4000".parse().unwrap(),
            namespace: 1,
            seq: 1,
            bytes: 100,
            cause: Cause::Tlp,
            verdict: Verdict::Spurious,
            confidence: Confidence::Certain,
            reason: "because",
            kernel_undid: Some(true),
            undone_after_ms: Some(3.2),
            cwnd_before: 10,
            cwnd: 5,
            replayed: Replayed::default(),
        }
    }

    #[test]
    fn totals_and_the_worst_connections_are_counted() {
        let other = || Judged { connection: 1, local: "10.0.0.1:81".parse().unwrap(), ..row() };
        let mut found = Found::default();
        found.add(&[row(), Judged { verdict: Verdict::Needed, cause: Cause::Rto, ..row() }]);
        found.add(&[Judged { bytes: 7, ..other() }, other()]);
        found.counts = Counts { facts: 9, undone: 2, ..Counts::default() };
        let summary = serde_json::to_value(found.summary(1)).unwrap();
        let expected = serde_json::json!({
            "retransmissions": 4, "spurious": 3, "needed": 1, "undecidable": 0, "bytes": 307, "bytes_spurious": 207,
            "causes": {
                "rto": {"spurious": 0, "needed": 1, "undecidable": 0},
                "tlp": {"spurious": 3, "needed": 0, "undecidable": 0},
            },
            "facts": 9, "facts_dropped": 0, "retransmissions_dropped": 0, "observations": 0, "connections": 0,
            "undone": 2,
            "worst": [{
                "local": "10.0.0.1:81", "remote": "10.0.0.2:4000", "retransmissions": 2, "spurious": 2, "needed": 0,
                "undecidable": 0, "causes": {"tlp": 2}, "bytes": 107, "bytes_spurious": 107,
            }],
        });
        assert_eq!(summary, expected);
    }

    #[test]
    fn of_too_many_connections_those_with_most_retransmissions_are_kept() {
        let mut found = Found { most_connections: 4, ..Found::default() };
        let rows = [7, 7, 1, 2, 3, 4].map(|connection| Judged { connection, ..row() });
        found.add(&rows);
        assert_eq!(found.connections.keys().collect::<Vec<_>>(), [&1, &7]);
        assert_eq!(found.summary(9).retransmissions, 6);
    }

    #[test]
    fn a_condition_compares_a_number_or_a_share_of_all_retransmissions() {
        let mut found = Found::default();
        found.add(&[row(), Judged { verdict: Verdict::Needed, ..row() }]);
        let texts = ["spurious>1", "spurious>=1", "needed=50%", "retransmissions<2"];
        let holds = texts.map(|text| !found.failures(&[Condition::parse(text).unwrap()]).is_empty());
        assert_eq!(holds, [false, true, true, false]);
        let nothing = ["spurious>0%", "retransmissions>=1"].map(|text| Condition::parse(text).unwrap());
        assert!(Found::default().failures(&nothing).is_empty());
    }
}
