//! The endings of all lies that continue from one state.

use std::rc::Rc;

use eifel_sim::liar::schedule::Answer;

/// The number of lies by ending, and the smallest lie after which no cut remains.
#[derive(Clone, Default)]
pub(super) struct Endings {
    pub(super) lies: u64,
    /// Lies after which no cut remains.
    pub(super) uncut: u64,
    /// Lies with which the connection does not end.
    pub(super) stuck: u64,
    /// The most inputs from the state to an end.
    pub(super) inputs: u32,
    /// Of the lies after which no cut remains, the first with the fewest altered answers.
    smallest: Option<Tale>,
}

/// Answers up to an end. The answers of different states share their tails.
#[derive(Clone)]
struct Tale {
    altered: usize,
    next: Option<Rc<(Answer, Tale)>>,
}

impl Endings {
    /// Returns the ending of a world that is over.
    pub(super) fn over(is_cut: bool) -> Self {
        let smallest = (!is_cut).then_some(Tale { altered: 0, next: None });
        Self { lies: 1, uncut: u64::from(!is_cut), smallest, ..Self::default() }
    }

    /// Returns the ending of a world that is stuck.
    pub(super) fn stuck() -> Self {
        Self { lies: 1, stuck: 1, ..Self::default() }
    }

    /// Adds the endings that follow this answer. Of lies that alter equally many answers, the first
    /// to be added stays.
    pub(super) fn add(&mut self, answer: Answer, then: &Self) {
        self.lies += then.lies;
        self.uncut += then.uncut;
        self.stuck += then.stuck;
        self.inputs = self.inputs.max(then.inputs);
        let Some(tale) = &then.smallest else { return };
        let altered = tale.altered + usize::from(answer != Answer::default());
        if self.smallest.as_ref().is_none_or(|smallest| altered < smallest.altered) {
            self.smallest = Some(Tale { altered, next: Some(Rc::new((answer, tale.clone()))) });
        }
    }

    /// Returns the answers of the smallest lie that leaves no cut.
    pub(super) fn smallest(&self) -> Option<Vec<Answer>> {
        let mut tale = self.smallest.as_ref()?;
        let mut told = Vec::new();
        while let Some(next) = &tale.next {
            told.push(next.0);
            tale = &next.1;
        }
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_add_up_and_keep_the_longest_run_and_the_smallest_lie() {
        let altered = Answer { withheld: true, ..Answer::default() };
        let ways = [
            (altered, Endings { inputs: 3, ..Endings::over(false) }),
            (Answer::default(), Endings { inputs: 5, ..Endings::over(true) }),
            (Answer::default(), Endings { inputs: 2, ..Endings::stuck() }),
        ];
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            let mut all = Endings::default();
            order.iter().for_each(|way| all.add(ways[*way].0, &ways[*way].1));
            assert_eq!((all.lies, all.uncut, all.stuck, all.inputs), (3, 1, 1, 5));
            assert_eq!(all.smallest(), Some(vec![altered]));
            all.add(Answer::default(), &Endings::over(false));
            assert_eq!(all.smallest(), Some(vec![Answer::default()]));
        }
    }
}
