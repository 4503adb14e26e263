//! When packets that left after a lost one were acknowledged, so that another packet threshold can be judged
//! (RFC 9002, section 6.1.1).

use super::qlog::{Key, Space};
use crate::result::MOST_REPORTS;
use std::collections::BTreeMap;

/// The acknowledgements of packets that left after one that was declared lost.
#[derive(Clone, PartialEq, Debug)]
pub struct Later {
    /// When the packet left, in milliseconds since the trace began.
    pub sent_ms: f64,
    /// When the largest acknowledged number was above the packet's by 1, 2 and so on, in milliseconds since the
    /// packet was declared lost; negative before.
    pub reports_ms: Vec<f64>,
}

/// How the largest acknowledged number of each number space grew: its times and values, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Largest(BTreeMap<(Space, u64), Vec<(f64, u64)>>);

impl Largest {
    pub(super) fn on_acknowledged(&mut self, now: f64, (space, path, number): Key) {
        let grown = self.0.entry((space, path)).or_default();
        if grown.last().is_none_or(|(_, largest)| *largest < number) {
            grown.push((now, number));
        }
    }

    /// Returns what was acknowledged after the packet with this key, which left and was declared lost at these
    /// times. Returns `None` if its log names another reason for the declaration than packets that left later.
    pub(super) fn after(&self, key: Key, (sent_ms, lost_ms): (f64, f64), trigger: Option<&str>) -> Option<Later> {
        if trigger.is_some_and(|trigger| !["reordering", "packet"].iter().any(|part| trigger.contains(part))) {
            return None;
        }
        let (space, path, number) = key;
        let grown = self.0.get(&(space, path)).map_or(&[][..], |grown| grown);
        let mut reports_ms = Vec::new();
        for (at, largest) in &grown[grown.partition_point(|(_, largest)| *largest <= number)..] {
            let above = usize::try_from(largest - number).unwrap_or(usize::MAX).min(MOST_REPORTS);
            reports_ms.resize(above.max(reports_ms.len()), at - lost_ms);
            if above == MOST_REPORTS {
                break;
            }
        }
        Some(Later { sent_ms, reports_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_above_has_the_time_at_which_it_was_reached() {
        let mut largest = Largest::default();
        let key = |number| (Space::Application, 0, number);
        for (now, number) in [(10.0, 4), (20.0, 6), (21.0, 5), (30.0, 9)] {
            largest.on_acknowledged(now, key(number));
        }
        let after = |number| largest.after(key(number), (1.0, 20.0), None).unwrap();
        assert_eq!(after(5), Later { sent_ms: 1.0, reports_ms: vec![0.0, 10.0, 10.0, 10.0] });
        assert_eq!(after(9).reports_ms, Vec::<f64>::new());
        assert!(largest.after((Space::Initial, 0, 1), (1.0, 2.0), None).unwrap().reports_ms.is_empty());
        largest.on_acknowledged(40.0, key(100_000));
        let all = largest.after(key(5), (1.0, 20.0), None).unwrap().reports_ms;
        assert_eq!((all.len(), all[MOST_REPORTS - 1]), (MOST_REPORTS, 20.0));
    }

    #[test]
    fn a_loss_that_a_timer_declared_has_none() {
        let of = |trigger| Largest::default().after((Space::Application, 0, 1), (1.0, 2.0), Some(trigger));
        assert_eq!(of("time_threshold"), None);
        assert!(of("reordering_threshold").is_some());
    }
}
