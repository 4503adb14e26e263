//! The transmissions that were acknowledged last.
//!
//! A retransmission may pass as new data: its original was delayed before the capture point, and so was
//! everything behind it. If the original then passes after the ACK, only what was acknowledged shows that it
//! is none of the retransmissions.

use crate::order::Transmission;
use std::collections::VecDeque;

/// Transmissions remembered. A reordered segment passes shortly after its ACK.
const MOST: usize = 128;

/// The first transmissions of acknowledged data, by position.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged(VecDeque<Transmission>);

impl Acknowledged {
    /// Adds the next one.
    pub(crate) fn add(&mut self, sent: &Transmission) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(*sent);
    }

    /// Returns whether the data at `position` are remembered, and passed before they were acknowledged.
    pub(crate) fn has_seen(&self, position: u64) -> bool {
        let above = self.0.partition_point(|sent| sent.start <= position);
        let sent = above.checked_sub(1).and_then(|place| self.0.get(place));
        sent.is_some_and(|sent| position < sent.end() && !sent.missing)
    }

    /// Returns whether `passing` left before the transmission of its data that was acknowledged, and no later
    /// than the data behind it; `outstanding` is the first of those that are not acknowledged. Then it is the
    /// original.
    pub(crate) fn is_original(&self, passing: &Transmission, outstanding: Option<&Transmission>) -> bool {
        let place = self.0.partition_point(|sent| sent.start < passing.start);
        let same = |sent: &&Transmission| (sent.start, sent.len) == (passing.start, passing.len) && !sent.missing;
        let overtaken = self.0.get(place).filter(same).is_some_and(|sent| passing.precedes(sent));
        let behind = self.0.get(place + 1).or(outstanding).filter(|sent| !sent.missing);
        overtaken && behind.is_some_and(|behind| !behind.precedes(passing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::units::Timestamp;

    fn sent(start: u64, stamp: u32) -> Transmission {
        Transmission::new(start, 100, 0, Some(Timestamp(stamp)))
    }

    #[test]
    fn an_original_left_before_its_retransmission_and_before_the_data_behind_it() {
        let mut acknowledged = Acknowledged::default();
        [sent(0, 10), sent(100, 50), sent(200, 20)].iter().for_each(|one| acknowledged.add(one));
        let is_original = |start, stamp| acknowledged.is_original(&sent(start, stamp), Some(&sent(300, 30)));
        assert!(is_original(100, 15) && is_original(100, 20));
        assert!(!is_original(100, 21), "it left after the data behind it: an earlier retransmission");
        assert!(!is_original(100, 50) && !is_original(100, 60), "it left no earlier than the one that passed");
        assert!(!is_original(50, 5) && !is_original(300, 5), "other positions");
        assert!(is_original(200, 19) && !acknowledged.is_original(&sent(200, 19), None));
        (3..200).for_each(|place| acknowledged.add(&sent(100 * place, 70)));
        assert!(!acknowledged.is_original(&sent(100, 15), None), "it is forgotten");
        assert_eq!(acknowledged.0.len(), MOST);
    }

    #[test]
    fn data_that_were_acknowledged_before_they_passed_were_not_seen() {
        let mut acknowledged = Acknowledged::default();
        [sent(0, 10), Transmission::missing(100, 100, 5), sent(200, 20)].iter().for_each(|one| acknowledged.add(one));
        let seen = [0, 99, 100, 199, 200, 299, 300].map(|position| acknowledged.has_seen(position));
        assert_eq!(seen, [true, true, false, false, true, true, false]);
    }
}
