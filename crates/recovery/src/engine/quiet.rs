//! A shortcut for nearly all ACKs and segments: new data is acknowledged, and new data is sent,
//! while nothing is lost, SACKed, suspected or held back.
//!
//! The shortcut takes an RTT sample, grows the window and restarts the timer. All other steps of
//! the full processing are skipped, because their result is known:
//!
//! - Detectors wait for a retransmission, and would ignore an ACK of new data.
//! - Loss recovery said that it would ignore the ACK, and that new data may fill the window.
//! - On the scoreboard nothing is SACKed or marked lost, so `una` and the marks move together.
//! - No episode is open, so no verdict can undo anything, and the timer has nothing to learn.
//! - There is no pacing and no probe, so cwnd alone decides whether a full segment is sent.
//! - Data is outstanding before and after the ACK, so the timer runs, and no idle time ends.
//!
//! [`find_quiet`](Engine::find_quiet) checks these conditions after every ACK that is processed in
//! full. No rule is implemented twice. A property test runs the same exchange with and without the
//! shortcut, and compares all transmissions and events.

use super::duplicates::Duplicated;
use super::{Engine, Kind, Transmission, TxId};
use crate::congest::Progress;
use crate::fact::Echo;
use crate::recover::Attention;
use crate::scoreboard::SentSegment;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

impl Engine {
    /// Processes an acceptable ACK without SACK blocks as [`on_ack`](Self::on_ack) would, if the
    /// engine is quiet and data remains outstanding. Otherwise does nothing and returns `false`.
    #[inline(always)]
    pub(super) fn on_quiet_ack(&mut self, now: Instant, cumulative: u64, echo: Option<Echo>) -> bool {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        if !self.quiet || cumulative <= una || nxt <= cumulative {
            return false;
        }
        let highest = self.board.on_quiet_ack(cumulative);
        self.update_view(now);
        let oldest = self.board.oldest().map_or(now, SentSegment::last_sent);
        let progress = Progress { acked: cumulative - una, sacked: 0, delivered: cumulative - una, flight: nxt - una };
        self.path.on_quiet_ack((cumulative, echo), highest, oldest, &progress);
        true
    }

    /// Returns whether a full segment of new data may be sent now. Returns `None` if the engine is
    /// not quiet: then [`poll_send`](Self::poll_send) must decide. While the engine is quiet, cwnd
    /// alone decides. The timer runs, and neither loss recovery nor pacing needs to know. `limit`
    /// is as in [`Offer`](super::Offer).
    #[inline(always)]
    pub fn quiet_room(&mut self, limit: u64) -> Option<bool> {
        self.limit = limit;
        let full = u64::from(self.path.watch.view().mss);
        self.quiet.then(|| self.board.outstanding() + full <= self.path.window.cwnd)
    }

    /// Sends a full segment of new data. There must be [quiet room](Self::quiet_room) for it.
    #[inline(always)]
    pub fn send_quiet(&mut self, now: Instant, stamp: Option<Timestamp>) -> Transmission {
        let (start, len) = (self.board.nxt(), self.path.watch.view().mss);
        self.note_new(now, len, stamp);
        self.with_id(Transmission { id: TxId(0), start, len, kind: Kind::New, copy: 0 })
    }

    /// Returns whether detectors and loss recovery would ignore an ACK of new data. Then it makes
    /// no difference to them whether segments are sent between two of these ACKs or after both.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns whether detectors and loss recovery would ignore a plain ACK of new data. This holds
    /// until something other than new data is sent, or anything but such a plain ACK arrives.
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

    /// Performs a step, and sends all that may be sent, as a driver does between two inputs.
    /// Returns the transmissions, events and variables as text.
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
        fn the_shortcut_for_acks_agrees_with_the_full_path(
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
