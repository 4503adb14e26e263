//! The delay besides waiting and transmission.

use super::{LEAST_SAMPLES, Work};
use crate::answers::Fate;

/// The first packets of a busy period.
const BEGINNING: usize = 20;

impl Work<'_> {
    /// The smallest delay that is left when a packet's transmission and its wait for others are taken off.
    /// An error of the rate adds up over a busy period, so that only its beginning counts. Where no ACK there is exact, those that
    /// the receiver may have delayed have to do: at the beginning Linux delays none.
    pub(super) fn base(&self, per_byte: f64) -> f64 {
        let (mut free, mut busy_since, mut next) = (f64::MIN, 0, 0);
        let (mut delays, mut perhaps_delayed) = (Vec::new(), Vec::new());
        for (index, sending) in self.trace.sendings.iter().enumerate() {
            if self.answers.fates[index] == Fate::Lost {
                continue;
            }
            if sending.at >= free {
                (free, busy_since) = (sending.at, index);
            }
            free += f64::from(sending.wire) * per_byte;
            let begins = index - busy_since < BEGINNING;
            if let Some(sample) = self.samples.get(next).filter(|sample| sample.sending == index) {
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
        // Most packets come exactly when the queue would have it; overtaken ones come sooner, held ones later.
        delays.sort_by(f64::total_cmp);
        let part = delays.len().div_ceil(5);
        let width = |from: usize| delays[from + part - 1] - delays[from];
        let densest = (0..=delays.len() - part).min_by(|one, other| width(*one).total_cmp(&width(*other)));
        densest.map_or(0.0, |from| delays[from + part / 2].max(0.0))
    }

    fn sent_once(&self, sending: usize) -> bool {
        self.trace.pieces[self.trace.sendings[sending].piece].sendings.len() == 1
    }
}
