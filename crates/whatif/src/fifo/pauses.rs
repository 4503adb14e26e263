//! Pauses of the server that are too short to count as holds.
//!
//! While packets wait for each other, each answer after a pause is late by the length of the pause.

/// As many answers have to be in time between two pauses: other traffic in the queue would move the clock more often, and has to
/// stay visible.
const BETWEEN: usize = 300;

/// The answers since the server's clock was last moved at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Pauses {
    in_time: usize,
    /// How late the last answer was, if it was not in time.
    late: Option<f64>,
}

impl Pauses {
    /// Whether an answer that comes `late`, and the one before it, show that the server has paused. Both are late by as much, and
    /// those before were late by `near` at most. In seconds.
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

    /// How many of the answers, by their lateness, show a pause.
    fn shown(answers: impl Iterator<Item = f64>) -> usize {
        let mut pauses = Pauses::default();
        answers.filter(|late| pauses.shows(*late, NEAR)).count()
    }

    #[test]
    fn two_answers_that_are_late_by_as_much_show_a_pause_and_one_alone_does_not() {
        let in_time = || std::iter::repeat_n(0.001, BETWEEN);
        assert_eq!(shown(in_time().chain([0.006, 0.0065])), 1);
        assert_eq!(shown(in_time().chain([0.006, 0.0, 0.006])), 0);
        assert_eq!(shown(in_time().chain([0.006, 0.010])), 0);
        // A clock that runs ahead is put back.
        assert_eq!(shown(in_time().chain([-0.006, -0.006])), 1);
    }

    #[test]
    fn what_moves_the_clock_often_is_other_traffic() {
        let often = || std::iter::repeat_n(0.0, BETWEEN - 1).chain([0.006, 0.006]);
        assert_eq!(shown(often()), 0);
        let twice = std::iter::repeat_n(0.0, BETWEEN).chain([0.006, 0.006]).chain(often());
        assert_eq!(shown(twice), 1);
    }
}
