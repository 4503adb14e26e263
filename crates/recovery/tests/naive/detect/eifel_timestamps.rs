//! RFC 3522, section 3.2, step by step, and section 3.4 in place of step (4). Section 3.4's variant also asks each later
//! retransmission of an episode for proof of its own, which is this project's addition.

use eifel_base::time::Duration;
use eifel_base::units::Timestamp;
use eifel_recovery::detect::eifel_timestamps::{EifelTimestamps, Proof};
use eifel_recovery::detect::{Detector, Judgement, Outcome};
use eifel_recovery::fact::{Acked, Block, Cause, Echo, Fact, Kind, Transmission, TxId};

use crate::dice::Dice;
use crate::rto::rfc6298::with_view;

const CONNECTIONS: u64 = 20_000;
const FACTS: u64 = 100;

/// The current step.
enum At {
    /// Nothing is being judged: before step (1), or (DONE).
    Done,
    /// Step (3).
    WaitingForAcceptableAck,
}

struct Naive {
    at: At,
    retransmit_ts: u32,
    retransmitted: u64,
    has_received_dsack: bool,
    /// Section 3.4: whether only the original's timestamp counts.
    asks_for_original: bool,
    /// Section 3.4: the timestamp of the original.
    original_ts: Option<u32>,
    /// Not in RFC 3522: every later retransmission of the episode, with its original's timestamp,
    /// and whether the peer has acknowledged it.
    later: Vec<(u64, Option<u32>, bool)>,
    /// Not in RFC 3522: whether the episode was called spurious and no later retransmission was
    /// found needed.
    undone: bool,
    /// Not in RFC 3522: echoes of timestamps that were never sent. After three of them, detection
    /// stops.
    forged: u32,
}

/// Returns whether `a` is earlier on the circle of timestamps: half of the circle lies before any
/// value.
fn earlier(a: u32, b: u32) -> bool {
    let ahead = (u64::from(b) + (1 << 32) - u64::from(a)) % (1 << 32);
    ahead > 0 && ahead < 1 << 31
}

impl Naive {
    /// Begins loss recovery with its first retransmission: steps (1) and (2).
    fn begin(&mut self, start: u64, tsval: Option<u32>, original: Option<u32>) {
        self.at = At::Done;
        self.later.clear();
        self.undone = false;
        self.original_ts = original;
        if let Some(tsval) = tsval.filter(|_| self.forged < 3) {
            self.retransmit_ts = tsval;
            self.retransmitted = start;
            self.at = At::WaitingForAcceptableAck;
        }
    }

    fn again(&mut self, start: u64, original: Option<u32>) {
        let in_episode = matches!(self.at, At::WaitingForAcceptableAck) || self.undone;
        let known = self.later.iter().any(|&(other, _, acknowledged)| other == start && !acknowledged);
        if self.asks_for_original && in_episode && !known {
            self.later.push((start, original, false));
        }
    }

    /// Returns whether the ACK covers a later retransmission for the first time without echoing its
    /// original.
    fn finds_another_loss(&mut self, acked: &Acked) -> bool {
        let mut found = false;
        for (start, original, acknowledged) in &mut self.later {
            if !*acknowledged && acked.cumulative > *start {
                *acknowledged = true;
                found |= match (acked.echo, *original) {
                    (Some(Echo::Known { value, .. }), Some(original)) => value.0 != original,
                    _ => true,
                };
            }
        }
        found
    }

    /// Returns whether the ACK shows a further loss (`GenuineLossWithin`).
    fn ack_after_undo(&mut self, acked: &Acked) -> bool {
        let lost = self.finds_another_loss(acked);
        self.undone &= !lost;
        self.has_received_dsack |= !acked.dsacks.is_empty();
        lost
    }

    /// Returns SpuriousRecovery, if this ACK decides it.
    fn ack(&mut self, acked: &Acked) -> Option<bool> {
        let had_received_dsack = self.has_received_dsack;
        self.has_received_dsack |= !acked.dsacks.is_empty();
        let At::WaitingForAcceptableAck = self.at else { return None };
        // (3) Wait for the arrival of an acceptable ACK.
        let acceptable = acked.cumulative > self.retransmitted;
        if !acceptable {
            return None;
        }
        self.at = At::Done;
        let another_loss = self.finds_another_loss(acked);
        // (4) Is the echoed timestamp less than RetransmitTS?
        let Some(Echo::Known { value: echo, .. }) = acked.echo else { return Some(false) };
        if !earlier(echo.0, self.retransmit_ts) {
            return Some(false);
        }
        // Section 3.4: is it equal to that of the original?
        if self.asks_for_original && self.original_ts != Some(echo.0) {
            return Some(false);
        }
        // (5) A DSACK on it: done. Otherwise a DSACK earlier, or data still outstanding: go on.
        if !acked.dsacks.is_empty() {
            return Some(false);
        }
        if had_received_dsack || !acked.all {
            self.undone = self.asks_for_original && !another_loss;
            // (6)
            return Some(!another_loss);
        }
        Some(false)
    }
}

#[test]
fn eifel_timestamps_agrees_with_a_model_of_rfc_3522() {
    let mut dice = Dice::new(3);
    let (mut judged, mut dismissed, mut lost_besides) = ([0_u64; 2], 0, 0);
    for connection in 0..CONNECTIONS {
        let asks_for_original = connection % 2 == 0;
        let mut detector = EifelTimestamps::new(if asks_for_original { Proof::Original } else { Proof::Older });
        let mut naive = Naive {
            at: At::Done,
            retransmit_ts: 0,
            retransmitted: 0,
            has_received_dsack: false,
            asks_for_original,
            original_ts: None,
            later: Vec::new(),
            undone: false,
            forged: 0,
        };
        let mut clock = dice.below(1 << 33) as u32;
        let mut una = dice.below(1 << 40);
        let mut last_stamp = clock;
        let dsacks = 1 + dice.below(40);
        let liar = if dice.once_in(4) { 20 } else { 10_000 };
        for _ in 0..FACTS {
            clock = clock.wrapping_add(dice.below(3) as u32);
            if dice.once_in(3) {
                let opens = !dice.once_in(3);
                let stamp = (!dice.once_in(20)).then_some(clock);
                let original = (!dice.once_in(10)).then(|| clock.wrapping_sub(dice.below(3) as u32));
                let start = una + dice.below(3) * 1000;
                let transmission =
                    Transmission { id: TxId(1), start, len: 1000, kind: Kind::Retransmission(Cause::Timeout), copy: 1 };
                let fact = Fact::Retransmitted {
                    transmission: &transmission,
                    stamp: stamp.map(Timestamp),
                    original: original.map(Timestamp),
                    opens,
                };
                assert_eq!(with_view(|view| detector.observe(&fact, view)), Judgement::Undecided);
                if opens {
                    naive.begin(start, stamp, original);
                    last_stamp = clock;
                } else {
                    naive.again(start, original);
                }
                continue;
            }
            let forged = dice.once_in(liar) && naive.forged < 3;
            let bytes = if dice.once_in(2) { 0 } else { dice.below(4) * 1000 };
            una += bytes;
            // Near the retransmission's own stamp, before and after it.
            let value = last_stamp.wrapping_add(dice.below(5) as u32).wrapping_sub(2);
            let acked = Acked {
                cumulative: una,
                bytes,
                duplicate: bytes == 0,
                dsacks: if dice.once_in(dsacks) { &[Block { start: 0, end: 1000 }] } else { &[] },
                echo: match forged {
                    true => Some(Echo::Forged),
                    false => {
                        (!dice.once_in(20)).then_some(Echo::Known { value: Timestamp(value), age: Duration::ZERO })
                    }
                },
                all: dice.once_in(4),
                ..Acked::default()
            };
            let judgement = with_view(|view| detector.observe(&Fact::Acked(&acked), view));
            naive.forged += u32::from(forged);
            let distrusted = forged && naive.forged == 3;
            assert_eq!(matches!(judgement, Judgement::Distrusted(_)), distrusted);
            if distrusted {
                naive.at = At::Done;
                naive.undone = false;
                dismissed += 1;
                continue;
            }
            if naive.undone {
                let lost = matches!(judgement, Judgement::GenuineLossWithin(_));
                assert_eq!(lost, naive.ack_after_undo(&acked));
                lost_besides += u64::from(lost);
                continue;
            }
            let spurious = match judgement {
                Judgement::GenuineLossWithin(_) | Judgement::NothingResent(_) => panic!("nothing was undone"),
                Judgement::Undecided | Judgement::Probe | Judgement::Mixed(_) | Judgement::Distrusted(_) => None,
                Judgement::Settled(outcome, _) => Some(outcome == Outcome::Spurious),
            };
            assert_eq!(spurious, naive.ack(&acked));
            if let Some(spurious) = spurious {
                judged[usize::from(spurious)] += 1;
            }
        }
    }
    assert!(judged.iter().all(|&count| count > CONNECTIONS), "{judged:?}");
    assert!(dismissed > CONNECTIONS / 20, "{dismissed}");
    assert!(lost_besides > CONNECTIONS / 40, "{lost_besides}");
}
