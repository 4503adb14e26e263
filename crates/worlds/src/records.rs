//! What a world records of its packets, whatever protocol its ends speak.

use eifel_sim::End;
use eifel_sim::oracle::{Oracle, SentData};

use crate::fate::{Fate, Fates, Subject};
use crate::path::Packet;
use crate::question::Size;
use crate::truth::Truth;

/// Inputs after which a world counts as stuck. Other worlds take some hundred inputs.
pub(crate) const MOST_INPUTS: u32 = 5_000;

/// The records of a world, and the packet that needs a fate.
#[derive(Clone)]
pub(crate) struct Records<C> {
    pub(crate) size: Size,
    pub(crate) waiting: Option<(Subject, Packet<C>)>,
    pub(crate) fates: Fates,
    pub(crate) inputs: u32,
    oracle: Oracle,
    pub(crate) truth: Truth,
}

impl<C> Records<C> {
    pub(crate) fn new(size: Size) -> Self {
        let (oracle, truth) = (Oracle::new(1), Truth::default());
        Self { size, waiting: None, fates: Fates::default(), inputs: 0, oracle, truth }
    }

    /// Records the SYN, which takes the first position.
    pub(crate) fn on_syn(&mut self) {
        self.oracle.syn_arrived(0, End::From);
    }

    /// Records data that the sender sends.
    pub(crate) fn on_sent(&mut self, sent: &SentData) {
        self.truth.left(sent);
        self.oracle.on_sent(0, End::From, *sent);
    }

    /// Records data that arrive. The receiver accepts those below the position `accepted`.
    pub(crate) fn on_arrival(&mut self, sent: SentData, accepted: u64) {
        self.oracle.arrived(0, End::From, sent, accepted);
    }

    /// Records data that are lost.
    pub(crate) fn on_loss(&mut self, sent: &SentData) {
        self.oracle.lost(0, End::From, *sent);
        self.truth.lost(sent);
    }

    /// Keeps a packet that needs a fate, and returns its subject. Returns any other packet.
    pub(crate) fn keep(&mut self, packet: Packet<C>) -> Result<Subject, Packet<C>> {
        match packet.subject {
            Some(subject) => {
                self.waiting = Some((subject, packet));
                Ok(subject)
            }
            None => Err(packet),
        }
    }

    /// Records the fate of the packet that needs one, and returns the packet.
    pub(crate) fn choose(&mut self, fate: Fate) -> Option<Packet<C>> {
        let (subject, packet) = self.waiting.take()?;
        self.fates.choose(subject, fate);
        Some(packet)
    }

    /// Counts an input. Returns whether the world is stuck.
    pub(crate) fn is_stuck_after_input(&mut self) -> bool {
        self.inputs += 1;
        self.inputs > MOST_INPUTS
    }

    /// Completes the records of a world that is over. `ssthresh` is the sender's at the beginning
    /// and at the end, in bytes.
    pub(crate) fn finish(&mut self, ssthresh: (u64, u64)) {
        for judged in self.oracle.take_judged() {
            self.truth.on_judged(&judged);
        }
        self.truth.ends(ssthresh);
    }
}
