//! Eifel detection by the original's timestamp and, after a timeout that it cannot decide, RFC
//! 5682's second ACK. Eifel detection has its own model; here the real detector is used.

use eifel_base::time::Duration;
use eifel_base::units::Timestamp;
use eifel_recovery::detect::eifel_timestamps::{EifelTimestamps, Proof};
use eifel_recovery::detect::{Detector, Judgement, Outcome};
use eifel_recovery::fact::{Acked, Block, Cause, Echo, Fact, Kind, Refusal, Transmission, TxId};
use eifel_recovery::registry::{Choice, part};

use super::{Answer, answer};
use crate::dice::Dice;
use crate::rto::rfc6298::with_view;

const CONNECTIONS: u64 = 20_000;
const FACTS: u64 = 100;

/// Step 3 waits for an ACK.
struct Asked {
    retransmitted_with: u32,
    recovery_point: u64,
}

struct Naive {
    eifel: EifelTimestamps,
    /// The timestamp of the retransmission that opened the episode, if the timer did.
    by_timer: Option<u32>,
    asked: Option<Asked>,
}

impl Naive {
    fn ack(&mut self, acked: &Acked, nxt: u64) -> Answer {
        let eifel = with_view(|view| self.eifel.observe(&Fact::Acked(acked), view));
        let older_than = |stamp: u32| match acked.echo {
            Some(Echo::Known { value, .. }) => (stamp.wrapping_sub(value.0) as i32) > 0,
            _ => false,
        };
        match (self.asked.take(), eifel) {
            // RFC 5682, section 3.1, step 3, without an echo of the retransmission.
            (Some(asked), Judgement::Undecided) => {
                let highest = acked.cumulative.max(acked.sacked_up_to);
                let reports = acked.sacked > 0 && acked.dsacks.is_empty();
                let spurious = (acked.bytes > 0 || reports)
                    && highest <= asked.recovery_point
                    && older_than(asked.retransmitted_with);
                if spurious { Answer::Spurious } else { Answer::Genuine }
            }
            (asked, Judgement::Settled(Outcome::Genuine, reason)) if asked.is_none() => {
                let open = reason == "the echo is not the original's timestamp";
                match self.by_timer.filter(|_| open && !acked.all) {
                    // Step 2b.
                    Some(retransmitted_with) => {
                        self.asked = Some(Asked { retransmitted_with, recovery_point: nxt });
                        Answer::Probe
                    }
                    None => Answer::Genuine,
                }
            }
            (asked, Judgement::GenuineLossWithin(_)) => {
                self.asked = asked;
                Answer::Undecided
            }
            (asked, other) => {
                self.asked = asked;
                answer(other)
            }
        }
    }
}

#[test]
fn the_detector_probes_as_f_rto_if_the_first_echo_proves_nothing() {
    let mut dice = Dice::new(19);
    let mut said = [0_u64; 3];
    for _ in 0..CONNECTIONS {
        let mut detector = part::detector(&Choice::named("eifel-or-f-rto")).unwrap_or_else(|error| panic!("{error}"));
        let mut naive = Naive { eifel: EifelTimestamps::new(Proof::Original), by_timer: None, asked: None };
        let mut clock = dice.below(1 << 33) as u32;
        let (mut una, mut nxt) = (1000, 50_000);
        for _ in 0..FACTS {
            clock = clock.wrapping_add(1 + dice.below(3) as u32);
            if dice.once_in(4) {
                let opens = !dice.once_in(3);
                let cause = if dice.once_in(3) { Cause::FastRetransmit } else { Cause::Timeout };
                let kind = Kind::Retransmission(cause);
                let transmission = Transmission { id: TxId(1), start: una, len: 1000, kind, copy: 1 };
                let original = Some(Timestamp(clock.wrapping_sub(3)));
                let stamp = (!dice.once_in(20)).then_some(Timestamp(clock));
                let fact = Fact::Retransmitted { transmission: &transmission, stamp, original, opens };
                assert_eq!(with_view(|view| detector.observe(&fact, view)), Judgement::Undecided);
                with_view(|view| naive.eifel.observe(&fact, view));
                if opens {
                    naive.by_timer = stamp.filter(|_| cause == Cause::Timeout).map(|stamp| stamp.0);
                    naive.asked = None;
                }
                continue;
            }
            let bytes = if dice.once_in(2) { 0 } else { dice.below(4) * 1000 };
            una += bytes;
            nxt = nxt.max(una + dice.below(5) * 1000);
            let sacked = if dice.once_in(3) { 1000 } else { 0 };
            let acked = Acked {
                cumulative: una,
                bytes,
                sacked,
                duplicate: bytes == 0 && dice.once_in(2),
                sacked_up_to: if sacked > 0 { una + dice.below(60) * 1000 } else { 0 },
                dsacks: if dice.once_in(10) { &[Block { start: 0, end: 1000 }] } else { &[] },
                echo: (!dice.once_in(20)).then(|| Echo::Known {
                    value: Timestamp(clock.wrapping_sub(dice.below(8) as u32)),
                    age: Duration::ZERO,
                }),
                all: dice.once_in(6),
                ..Acked::default()
            };
            let judgement = with_view(|view| {
                let view = eifel_recovery::view::View { nxt, sack: true, ..*view };
                detector.observe(&Fact::Acked(&acked), &view)
            });
            let expected = naive.ack(&acked, nxt);
            let heard = if matches!(judgement, Judgement::GenuineLossWithin(_)) {
                Answer::Undecided
            } else {
                answer(judgement)
            };
            assert_eq!(heard, expected, "{acked:?}");
            match heard {
                Answer::Spurious => said[0] += 1,
                Answer::Genuine => said[1] += 1,
                Answer::Probe => {
                    said[2] += 1;
                    if dice.once_in(4) {
                        let refusal = if dice.once_in(2) { Refusal::NothingNew } else { Refusal::Watches };
                        let heard = with_view(|view| detector.observe(&Fact::NotProbed(refusal), view));
                        let expected = if refusal == Refusal::Watches { Answer::Undecided } else { Answer::Genuine };
                        assert_eq!(answer(heard), expected);
                        naive.asked = None;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(said.iter().all(|&count| count > CONNECTIONS / 2), "{said:?}");
}
