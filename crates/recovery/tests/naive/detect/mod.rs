//! The detectors, fact by fact: a detector and its transcription see every retransmission and ACK
//! of random conversations, and their answers must be equal.

mod dsack;
mod dual_rtt;
mod eifel_bit;
mod eifel_f_rto_dsack;
mod eifel_or_f_rto;
mod eifel_timestamps;
mod f_rto;
mod f_rto_sack;
mod linux;
mod min_rtt;
mod world;

use eifel_recovery::detect::{Judgement, NeedlessShare, Outcome};
use eifel_recovery::fact::{Acked, Fact, Refusal};
use eifel_recovery::registry::{Choice, part};

use crate::dice::Dice;
use world::{Again, Happening, Seen, World};

const CONVERSATIONS: u64 = 6_000;
const STEPS: u64 = 150;

/// A detector's judgement of the episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Undecided,
    Probe,
    Spurious,
    Genuine,
    /// The number of needless retransmissions, and of all retransmissions.
    Mixed(u32, u32),
}

/// A transcription.
pub trait Naive {
    /// Learns of a loss signal, before its retransmission.
    fn signalled(&mut self, _: &Again, _: &Seen) {}
    /// Learns of a retransmission.
    fn sent_again(&mut self, again: &Again, seen: &Seen);
    /// Judges an ACK.
    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer;
    /// Learns that the new data that it has asked for will not be sent.
    fn not_probed(&mut self, _: Refusal) -> Answer {
        Answer::Undecided
    }
}

fn answer(judgement: Judgement) -> Answer {
    match judgement {
        Judgement::GenuineLossWithin(_) => {
            panic!("only Eifel detection by timestamps says this, and has a model of its own")
        }
        Judgement::NothingResent(_) => panic!("each loss signal is followed by its retransmission at once"),
        Judgement::Undecided => Answer::Undecided,
        Judgement::Probe => Answer::Probe,
        Judgement::Settled(Outcome::Spurious, _) => Answer::Spurious,
        Judgement::Settled(Outcome::Genuine, _) | Judgement::Distrusted(_) => Answer::Genuine,
        Judgement::Mixed(NeedlessShare { needless, resent }) => Answer::Mixed(needless, resent),
    }
}

/// Compares a detector with its transcription over many random conversations.
pub fn compare(choice: &Choice, new: &dyn Fn(&Seen) -> Box<dyn Naive>) {
    let mut dice = Dice::new(8);
    let mut settled = [0_u64; 2];
    for conversation in 0..CONVERSATIONS {
        let mut detector = part::detector(choice).unwrap_or_else(|error| panic!("{error}"));
        let mut world = World::new(&mut dice);
        let mut naive = new(&world.seen());
        for step in 0..STEPS {
            let place = || format!("{}, conversation {conversation}, step {step}", choice.name);
            let happening = world.step(&mut dice);
            let (said, expected) = match &happening {
                Happening::Nothing => continue,
                Happening::Again(again) => {
                    if again.opens || again.by_timer {
                        detector.on_loss_signal(again.cause, again.opens, &world.view());
                        naive.signalled(again, &world.seen());
                    }
                    let fact = Fact::Retransmitted {
                        transmission: &again.transmission,
                        stamp: again.stamp,
                        original: None,
                        opens: again.opens,
                    };
                    let said = detector.observe(&fact, &world.view());
                    naive.sent_again(again, &world.seen());
                    (answer(said), Answer::Undecided)
                }
                Happening::Acked(acked, sacks, dsack) => {
                    let acked = Acked { sacks, dsacks: dsack.as_slice(), ..*acked };
                    let said = detector.observe(&Fact::Acked(&acked), &world.view());
                    (answer(said), naive.acked(&acked, &world.seen()))
                }
            };
            assert_eq!(said, expected, "{}: {happening:?}, {:?}", place(), world.seen());
            match said {
                Answer::Spurious => settled[0] += 1,
                Answer::Genuine | Answer::Mixed(..) => settled[1] += 1,
                // The engine grants the probe to the acting detector, if there is new data.
                Answer::Probe => match dice.below(4) {
                    0 => {
                        let refusal = if dice.once_in(3) { Refusal::Watches } else { Refusal::NothingNew };
                        let said = answer(detector.observe(&Fact::NotProbed(refusal), &world.view()));
                        assert_eq!(said, naive.not_probed(refusal), "{}: {refusal:?}", place());
                    }
                    _ => world.write(&mut dice),
                },
                Answer::Undecided => {}
            }
        }
    }
    // Linux undoes or does not, and calls nothing genuine.
    let kinds = if choice.name == "linux" { 1 } else { 2 };
    assert!(settled[..kinds].iter().all(|&count| count > CONVERSATIONS / 5), "{}: {settled:?}", choice.name);
}
