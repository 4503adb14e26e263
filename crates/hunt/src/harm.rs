//! The claim that a sender's goodput is never much below another sender's. It covers the sender
//! itself, a neighbour on its path, and both together if both use the claimed algorithms.

use eifel_sim::record::Record;
use toml::Table;

use crate::climb::{Subject, Worth, ratio};
use crate::field::{Field, Place};
use crate::table::{outcomes, senders};

/// The claim: a sender with the claimed algorithms, compared with a sender with others, over any
/// scenario of a field.
#[derive(Clone, Debug)]
pub struct Harm {
    /// The scenarios.
    pub field: Field,
    /// The algorithms of the sender that the claim is about, by seam.
    pub claimed: Table,
    /// The algorithms with which they are compared.
    pub other: Table,
    /// Every scenario's seed.
    pub seed: u64,
}

/// The goodput of each flow in bit/s, in each repetition.
type Goodput = Vec<Vec<f64>>;

impl Harm {
    /// Returns a place's scenario. The first `claimed` flows use the claimed algorithms, the rest
    /// the others.
    pub fn scenario(&self, place: &Place, claimed: usize) -> Table {
        let mut scenario = self.field.scenario(place, self.seed);
        for (number, sender) in senders(&mut scenario).enumerate() {
            let algorithms = if number < claimed { &self.claimed } else { &self.other };
            sender.extend(algorithms.clone());
        }
        scenario
    }

    fn goodput(&self, place: &Place, claimed: usize, first: u32, repetitions: u32) -> Goodput {
        let outcomes = outcomes(&self.scenario(place, claimed), first, repetitions, Record::none());
        outcomes.map(|outcome| outcome.summary.flows.iter().map(|flow| flow.goodput_bps).collect()).collect()
    }
}

/// Returns by how much the first amounts are below the second, as a share of the second. Amounts
/// are paired by run.
fn below(first: impl Iterator<Item = f64>, second: impl Iterator<Item = f64>) -> Worth {
    let pairs: Vec<(f64, f64)> = first.zip(second).collect();
    // If the second amounts are 0, nothing can be lost.
    if pairs.iter().all(|(_, other)| *other <= 0.0) {
        return Worth::default();
    }
    let Worth { value, error } = ratio(pairs.into_iter());
    Worth { value: 1.0 - value, error }
}

fn of_flow(goodput: &Goodput, flow: usize) -> impl Iterator<Item = f64> + '_ {
    goodput.iter().map(move |run| run[flow])
}

impl Subject for Harm {
    type Candidate = Place;

    /// Returns the largest share of goodput that is lost compared with the other algorithms. The
    /// loss is that of the sender itself, of its neighbour, or of both together if both use the
    /// claimed algorithms. A neighbour that has half of the path loses nothing.
    fn measure(&self, place: &Place, first: u32, repetitions: u32) -> Worth {
        let [without, with] = [0, 1].map(|claimed| self.goodput(place, claimed, first, repetitions));
        let own = below(of_flow(&with, 0), of_flow(&without, 0));
        if without.first().is_none_or(|run| run.len() < 2) {
            return own;
        }
        let both = self.goodput(place, 2, first, repetitions);
        let total = |goodput: &Goodput| goodput.iter().map(|run| run.iter().sum()).collect::<Vec<f64>>();
        let fair = with.iter().zip(&without).map(|(with, without)| without[1].min((with[0] + with[1]) / 2.0));
        let beside = below(of_flow(&with, 1), fair);
        let together = below(total(&both).into_iter(), total(&without).into_iter());
        [own, beside, together].into_iter().max_by(|one, other| one.least().total_cmp(&other.least())).unwrap_or(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Gene;

    /// Without the claimed sender the neighbour had more than half of the path. Its loss counts
    /// only below half.
    #[test]
    fn a_neighbours_fair_share_is_half_of_the_path() {
        let algorithms = |congest: &str| [("congest".to_owned(), congest.into())].into_iter().collect();
        let field = Field { without_timestamps: false, neighbours: true, pace: None, linux: false };
        let harm = Harm { field, claimed: algorithms("cubic"), other: algorithms("reno"), seed: 1 };
        let place = [(Gene::Neighbour, 1.0), (Gene::Rate, 0.3), (Gene::Queue, 0.6), (Gene::Window, 1.0)];
        let place = place.iter().fold(Place::PLAIN, |place, &(gene, number)| place.with(gene, number));
        let [without, with] = [0, 1].map(|claimed| harm.goodput(&place, claimed, 0, 1).remove(0));
        let half = with.iter().sum::<f64>() / 2.0;
        assert!(half < without[1] && half < with[0], "{without:?} {with:?}");
        let found = harm.measure(&place, 0, 1).value;
        assert!((found - (1.0 - with[1] / half)).abs() < 1e-12, "{found}: {with:?}");
    }
}
