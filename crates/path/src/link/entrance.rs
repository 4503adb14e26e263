//! The entrance of a link: parcels pass its elements, or are held there.

use super::{Link, NextEvent};
use crate::element::{Element, Fate};
use crate::parcel::{Label, Labelled, Mark, Outcome};
use eifel_base::time::Instant;

impl Link {
    #[inline(never)]
    pub(super) fn offer_to_elements(&mut self, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) -> NextEvent {
        let before = self.next_event;
        self.release_due(now, outcomes);
        if now < self.elements_until {
            self.pass(0, now, one, outcomes);
        } else {
            self.take_in_or_mark(now, one, outcomes);
        }
        self.plan();
        match before {
            before if before == self.next_event => NextEvent::Same,
            Instant::NEVER => NextEvent::First,
            _ => NextEvent::Moved,
        }
    }

    #[inline(never)]
    pub(super) fn release_due_and_plan(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) {
        self.release_due(now, outcomes);
        self.plan();
    }

    /// Passes a parcel through the elements from number `from` on, and then into the queue.
    fn pass(&mut self, from: usize, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) {
        let parcel = one.parcel;
        let Some(element) = self.elements.get_mut(from) else {
            self.take_in_or_mark(now, one, outcomes);
            return;
        };
        match element.meet(now, &one) {
            Fate::Pass => self.pass(from + 1, now, one, outcomes),
            Fate::Twice => {
                self.ledger.duplicate(&parcel);
                outcomes.push(Outcome::Duplicated { parcel });
                self.pass(from + 1, now, one, outcomes);
                self.pass(from + 1, now, one, outcomes);
            }
            Fate::Drop(cause) => self.drop_parcel(parcel, cause, outcomes),
            Fate::Marked(mark) => {
                outcomes.push(Outcome::Marked { parcel, mark });
                // From now on a queue drops this parcel instead of marking it.
                let takes_marks = one.label.takes_marks && mark != Mark::Cleared;
                self.pass(from + 1, now, Labelled { label: Label { takes_marks, ..one.label }, ..one }, outcomes);
            }
            Fate::Held => {}
        }
        self.release(from, now, outcomes);
    }

    /// Passes on the parcels that element number `from` releases.
    fn release(&mut self, from: usize, now: Instant, outcomes: &mut Vec<Outcome>) {
        while let Some(one) = self.elements.get_mut(from).and_then(|element| element.release(now)) {
            self.pass(from + 1, now, one, outcomes);
        }
    }

    /// Passes on the parcels whose deadline has come, each at its own deadline, even if the call is
    /// late.
    fn release_due(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) {
        while self.deadline <= now {
            let at = self.deadline;
            for index in 0..self.elements.len() {
                self.release(index, at, outcomes);
            }
            self.serve(at, outcomes);
            self.plan();
        }
    }

    /// Finds the next event after elements or a served queue have changed.
    fn plan(&mut self) {
        let arrival = self.under_way.front().map_or(Instant::NEVER, |first| first.arrives);
        let held = self.elements.iter().map(Element::deadline).min().unwrap_or(Instant::NEVER);
        self.deadline = held.min(self.next_service());
        self.next_event = arrival.min(self.deadline);
    }
}
