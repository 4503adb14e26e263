//! A shortcut for nearly all ACKs and segments: new data is acknowledged, and new data leaves,
//! while nothing is lost, reported, suspected or held back.
//!
//! Such an ACK samples the round trip, lets the window grow and starts the timer anew. What the
//! full way asks besides is skipped, because the answer is known:
//!
//! - Detectors wait for a retransmission, and would ignore an ACK of new data.
//! - Loss recovery said that it would change nothing on such an ACK, and lets new data fill the
//!   window.
//! - On the scoreboard nothing is reported or deemed lost, so `una` and the marks move together.
//! - No episode is open, so no verdict can undo anything, and the timer has nothing to learn.
//! - No pacing is in use, and no probe is granted, so cwnd alone says whether a full segment
//!   leaves.
//! - Something is outstanding before and after, so the timer runs, and no idle time ends.
//!
//! [`find_quiet`](Engine::find_quiet) asks each of them after every ACK taken in in full; no rule
//! is written twice. A property test sends the same conversation over both ways, and compares what
//! leaves and what is told.

use super::duplicates::Duplicated;
use super::{Engine, Kind, Transmission, TxId};
use crate::congest::Progress;
use crate::fact::Echo;
use crate::recover::Attention;
use crate::scoreboard::Sent;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

impl Engine {
    /// Takes in an acceptable ACK without SACK blocks as [`on_ack`](Self::on_ack) would, if all is quiet and something remains
    /// outstanding. Returns `false`, with nothing done, if not.
    #[inline(always)]
    pub(super) fn on_quiet_ack(&mut self, now: Instant, cumulative: u64, echo: Option<Echo>) -> bool {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        if !self.quiet || cumulative <= una || nxt <= cumulative {
            return false;
        }
        let highest = self.board.on_quiet_ack(cumulative);
        self.look(now);
        let oldest = self.board.oldest().map_or(now, Sent::last_sent);
        let progress = Progress { acked: cumulative - una, sacked: 0, delivered: cumulative - una, flight: nxt - una };
        self.path.on_quiet_ack((cumulative, echo), highest, oldest, &progress);
        true
    }

    /// Returns whether a full segment of new data leaves now. `None` where [`poll_send`](Self::poll_send) has to find out,
    /// because all is not quiet. Otherwise cwnd alone says it: the timer runs, and neither loss recovery nor pacing has to
    /// know. `limit` is as in [`Offer`](super::Offer).
    #[inline(always)]
    pub fn quiet_room(&mut self, limit: u64) -> Option<bool> {
        self.limit = limit;
        let full = u64::from(self.path.watch.view().mss);
        self.quiet.then(|| self.board.outstanding() + full <= self.path.window.cwnd)
    }

    /// Sends a full segment of new data for which there is [quiet room](Self::quiet_room).
    #[inline(always)]
    pub fn send_quiet(&mut self, now: Instant, stamp: Option<Timestamp>) -> Transmission {
        let (start, len) = (self.board.nxt(), self.path.watch.view().mss);
        self.note_new(now, len, stamp);
        self.named(Transmission { id: TxId(0), start, len, kind: Kind::New, copy: 0 })
    }

    /// Returns whether detectors and loss recovery would ignore an ACK of new data. Then it makes no difference to them whether
    /// segments leave between two such ACKs or after both.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether detectors and loss recovery would ignore an ACK of new data alone. Holds until anything but new data leaves,
    /// or anything but such an ACK comes in.
    pub(super) fn find_quiet(&self) -> bool {
        let open = self.handshake.is_none() && self.probe.is_none() && self.duplicated == Duplicated::NOTHING;
        open && self.path.is_quiet() && self.board.is_quiet() && self.recovery.attention() == Attention::Quiet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Ack, Block, Config, Negotiated};
    use crate::registry::{Choice, Seam};
    use eifel_base::time::Duration;
    use proptest::prelude::*;

    const MSS: u64 = 1000;

    /// An event at a sender; shares are in 255ths.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Wait { millis: u64 },
        Acknowledge { share: u8, echo: bool, report: Option<u8> },
        Duplicate,
        Expire,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (0..300u64).prop_map(|millis| Step::Wait { millis }),
            8 => (any::<u8>(), prop::bool::weighted(0.9), prop::option::weighted(0.1, any::<u8>()))
                .prop_map(|(share, echo, report)| Step::Acknowledge { share, echo, report }),
            1 => Just(Step::Duplicate),
            1 => Just(Step::Expire),
        ]
    }

    fn name(seam: Seam) -> impl Strategy<Value = &'static str> {
        let names = seam.entries().iter().map(|entry| entry.name);
        prop::sample::select(names.collect::<Vec<_>>())
    }

    /// Takes a step, and sends what may go: all that is asked of an engine between two inputs.
    fn take(engine: &mut Engine, now: Instant, step: Step) -> Vec<String> {
        let (una, nxt) = (engine.una(), engine.nxt());
        let at = |share: u8| una + (nxt - una) * u64::from(share) / 255;
        let mut ack = Ack { cumulative: una, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
        match step {
            Step::Wait { .. } => {}
            Step::Expire => {
                engine.on_timeout(engine.deadline().min(now + Duration::from_secs(100)));
            }
            _ if una == nxt => {}
            Step::Duplicate => engine.on_ack(now, &ack),
            Step::Acknowledge { share, echo, report } => {
                ack.cumulative = at(share);
                let age = Duration::from_millis(100);
                ack.echo = echo.then_some(Echo::Known { value: Timestamp(7), age });
                let block = report.map(|share| Block { start: at(share), end: (at(share) + MSS).min(nxt) });
                engine.on_ack(now, &Ack { sacks: block.as_slice(), ..ack });
            }
        }
        let (limit, stamp) = (una + 64 * MSS, Some(Timestamp(7)));
        let mut told = Vec::new();
        while let Some(sent) = engine.poll_send(now, &engine.offer(10_000_000, limit, stamp)) {
            told.push(format!("{sent:?}"));
        }
        told.extend(std::iter::from_fn(|| engine.poll_event()).map(|event| format!("{event:?}")));
        told.push(format!("{:?}", engine.snapshot()));
        told
    }

    proptest! {
        #[test]
        fn a_quiet_ack_does_what_any_ack_does(
            recovery in name(Seam::Recover),
            detection in name(Seam::Detect),
            timestamps in any::<bool>(),
            steps in prop::collection::vec(step(), 1..200),
        ) {
            let config =
                Config { recover: Choice::named(recovery), detect: Choice::named(detection), ..Config::default() };
            let mut brisk = Engine::new(&config).unwrap();
            brisk.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: true, timestamps });
            let mut thorough = brisk.clone();
            let mut now = Instant::ZERO;
            for step in steps {
                if let Step::Wait { millis } = step {
                    now += Duration::from_millis(millis);
                }
                thorough.quiet = false;
                prop_assert_eq!(take(&mut brisk, now, step), take(&mut thorough, now, step), "{:?}", step);
            }
        }
    }
}
