//! Pauses of the server that are too short to count as holds.
//!
//! While packets wait for each other, each answer after a pause is late by the length of the pause.

/// Minimum number of answers in time between two pauses. Other traffic in the queue would move the
/// clock more often, and has to stay visible.
const BETWEEN: usize = 300;

/// The answers since a pause last moved the server's clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Pauses {
    in_time: usize,
    /// Lateness of the last answer in seconds; `None` if it was in time.
    late: Option<f64>,
}

impl Pauses {
    /// Returns whether an answer that comes `late`, and the one before it, show a pause of the
    /// server. Both must be late by the same time, after enough answers that were late by at most
    /// `near`. Times are in seconds.
    pub(super) fn shows(&mut self, late: f64, near: f64) -> bool {
        if late.abs() <= near {
            self.in_time += 1;
            self.late = None;
            return false;
        }
        let same = self.late.replace(late).is_some_and(|before| (before - late).abs() <= near);
        let shows = same && self.in_time >= BETWEEN;
        if shows {
            *self = Self::default();
        }
        shows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: f64 = 0.002;

    /// Returns how many answers show a pause, given the lateness of each.
    fn shown(answers: impl Iterator<Item = f64>) -> usize {
        let mut pauses = Pauses::default();
        answers.filter(|late| pauses.shows(*late, NEAR)).count()
    }

    #[test]
    fn two_equally_late_answers_show_a_pause_and_one_does_not() {
        let in_time = || std::iter::repeat_n(0.001, BETWEEN);
        assert_eq!(shown(in_time().chain([0.006, 0.0065])), 1);
        assert_eq!(shown(in_time().chain([0.006, 0.0, 0.006])), 0);
        assert_eq!(shown(in_time().chain([0.006, 0.010])), 0);
        // A clock that runs ahead is set back.
        assert_eq!(shown(in_time().chain([-0.006, -0.006])), 1);
    }

    #[test]
    fn frequent_clock_moves_are_other_traffic() {
        let often = || std::iter::repeat_n(0.0, BETWEEN - 1).chain([0.006, 0.006]);
        assert_eq!(shown(often()), 0);
        let twice = std::iter::repeat_n(0.0, BETWEEN).chain([0.006, 0.006]).chain(often());
        assert_eq!(shown(twice), 1);
    }
}
