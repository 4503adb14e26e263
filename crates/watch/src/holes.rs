//! When an observation lacks facts. A hole leaves open what became of the data that were under way then, and of
//! nothing else.

/// Holes kept. Of more, the last one has no end.
const MOST: usize = 64;

/// The times between which facts are missing, in nanoseconds since the machine was started.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    spans: Vec<(u64, u64)>,
    /// When the hole began whose end is the next fact.
    open: Option<u64>,
}

impl Holes {
    /// Records that facts are missing since the one at `before`, and before the next one.
    pub(crate) fn begin(&mut self, before: u64) {
        self.open.get_or_insert(before);
    }

    /// Ends the hole, if there is one, with a fact at `now`.
    pub(crate) fn end(&mut self, now: u64) {
        let Some(before) = self.open.take() else { return };
        match self.spans.len() + 1 {
            ..MOST => self.spans.push((before, now)),
            MOST => self.spans.push((before, u64::MAX)),
            _ => {}
        }
    }

    /// Records that facts may be missing at any time.
    pub(crate) fn add_everywhere(&mut self) {
        self.spans.insert(0, (0, u64::MAX));
    }

    /// Returns whether a fact between two times may be missing.
    pub(crate) fn touch(&self, from: u64, to: u64) -> bool {
        let open = self.open.map(|before| (before, u64::MAX));
        self.spans.iter().copied().chain(open).any(|(before, after)| before < to && from < after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_is_between_two_facts() {
        let mut holes = Holes::default();
        holes.end(5);
        assert!(!holes.touch(0, u64::MAX));
        holes.begin(10);
        holes.begin(11);
        assert!(holes.touch(50, 60), "it has no end yet");
        holes.end(20);
        assert_eq!(
            [(0, 10), (5, 11), (12, 13), (19, 30), (20, 30)].map(|(from, to)| holes.touch(from, to)),
            [false, true, true, true, false]
        );
        holes.add_everywhere();
        assert!(holes.touch(20, 30));
    }

    #[test]
    fn many_holes_are_one_from_then_on() {
        let mut holes = Holes::default();
        for number in 0..1000 {
            holes.begin(10 * number);
            holes.end(10 * number + 1);
        }
        assert_eq!(holes.spans.len(), MOST);
        assert!(!holes.touch(5, 6) && holes.touch(100_000, 100_001));
    }
}
