//! The base delay: the delay without waiting and transmission.

use super::{LEAST_SAMPLES, Work};
use crate::answers::PacketOutcome;

/// Number of packets that are the beginning of a busy period.
const BEGINNING: usize = 20;

impl Work<'_> {
    /// Returns the most common delay of a packet without its transmission and its wait for others.
    /// Only the beginning of a busy period counts, because an error of the rate adds up over the
    /// period. If too few ACKs there are exact, ACKs that the receiver may have delayed also count.
    /// Linux delays none at the beginning.
    pub(super) fn base(&self, per_byte: f64) -> f64 {
        let (mut free, mut busy_since, mut next) = (f64::MIN, 0, 0);
        let (mut delays, mut perhaps_delayed) = (Vec::new(), Vec::new());
        for (index, transmission) in self.trace.transmissions.iter().enumerate() {
            if self.answers.outcomes[index] == PacketOutcome::Lost {
                continue;
            }
            if transmission.at >= free {
                (free, busy_since) = (transmission.at, index);
            }
            free += f64::from(transmission.wire) * per_byte;
            let begins = index - busy_since < BEGINNING;
            if let Some(sample) = self.samples.get(next).filter(|sample| sample.transmission == index) {
                if begins {
                    delays.push(sample.at - free);
                }
                next += 1;
            } else if let Some(answer) = self.answers.causes[index].filter(|_| begins && self.sent_once(index)) {
                perhaps_delayed.push(answer.at - free);
            }
        }
        if delays.len() < LEAST_SAMPLES {
            delays.append(&mut perhaps_delayed);
        }
        if delays.is_empty() {
            return 0.0;
        }
        // Most packets come exactly when the queue predicts. Packets that overtake others come
        // sooner, held packets later.
        delays.sort_by(f64::total_cmp);
        let part = delays.len().div_ceil(5);
        let width = |from: usize| delays[from + part - 1] - delays[from];
        let densest = (0..=delays.len() - part).min_by(|one, other| width(*one).total_cmp(&width(*other)));
        densest.map_or(0.0, |from| delays[from + part / 2].max(0.0))
    }

    fn sent_once(&self, transmission: usize) -> bool {
        self.trace.pieces[self.trace.transmissions[transmission].piece].transmissions.len() == 1
    }
}
