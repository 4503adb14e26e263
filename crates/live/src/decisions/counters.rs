//! The undos that a namespace's counters tell.

use crate::judge::path::instant;
use eifel_base::time::Instant;
use std::collections::BTreeMap;

/// The kernel counts an undo by F-RTO as one of a timeout too.
const LOSS: &str = "TCPLossUndo";
const BY_F_RTO: &str = "TCPSpuriousRTOs";
/// The counters that rise when the kernel undoes its reaction to a loss signal.
pub const UNDOS: [&str; 5] = [LOSS, BY_F_RTO, "TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo"];

/// An undo of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undo {
    pub counter: &'static str,
    /// The last look at the counters that shows a segment and not this undo.
    pub after: Instant,
    /// The look that shows it.
    pub seen: Instant,
}

/// Reads the undos from the lines of a namespace's counters: `time,name,value`. Each look that sees a
/// segment has lines, because segments are counted.
///
/// # Errors
/// The line that is wrong.
pub fn undos(text: &str) -> Result<Vec<Undo>, String> {
    let mut values: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut found, mut last) = (Vec::new(), Instant::ZERO);
    let rows = text.lines().enumerate().skip(1).map(|(number, line)| {
        let mut fields = line.split(',');
        let mut read = || Some((instant(fields.next()?)?, fields.next()?, fields.next()?.parse::<u64>().ok()?));
        read().ok_or_else(|| format!("counters, line {}: expected time,name,value", number + 1))
    });
    let rows = rows.collect::<Result<Vec<_>, String>>()?;
    for look in rows.chunk_by(|one, other| one.0 == other.0) {
        let mut rises: BTreeMap<&str, u64> = BTreeMap::new();
        for &(_, name, value) in look {
            rises.insert(name, value.saturating_sub(values.insert(name, value).unwrap_or_default()));
        }
        let seen = look[0].0;
        found.extend(undos_of(&rises).into_iter().map(|counter| Undo { counter, after: last, seen }));
        last = seen;
    }
    Ok(found)
}

/// Returns the counter of each undo, by how much the counters rose. An undo by F-RTO raises two.
pub fn undos_of(rises: &BTreeMap<&str, u64>) -> Vec<&'static str> {
    let rise = |counter: &str| rises.get(counter).copied().unwrap_or_default();
    let times = |counter| if counter == LOSS { rise(LOSS).saturating_sub(rise(BY_F_RTO)) } else { rise(counter) };
    UNDOS.into_iter().flat_map(|counter| (0..times(counter)).map(move |_| counter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn an_undo_lies_between_two_looks_and_one_by_f_rto_counts_once() {
        let text = "time,name,value\n1.000,InSegs,5\n1.004,InSegs,6\n1.004,TCPLossUndo,2\n1.004,TCPSpuriousRTOs,1\n\
                    1.008,InSegs,9\n1.012,TCPLossUndo,3\n1.012,TCPFullUndo,2\n";
        let undo = |counter, after, seen| Undo { counter, after: at(after), seen: at(seen) };
        assert_eq!(
            undos(text).unwrap(),
            [
                undo(LOSS, 1000, 1004),
                undo(BY_F_RTO, 1000, 1004),
                undo(LOSS, 1008, 1012),
                undo("TCPFullUndo", 1008, 1012),
                undo("TCPFullUndo", 1008, 1012),
            ]
        );
        assert!(undos("time,name,value\n1.0,TCPLossUndo\n").unwrap_err().contains("line 2"));
    }
}
