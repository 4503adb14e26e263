//! A receiver echoes random timestamps, to shrink the retransmission timer or to inflate it.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;

use crate::Attack;
use crate::draw::Draw;
use crate::losses::{Losses, ROUND_TRIP};
use crate::trial::Trial;
use crate::victim::{MSS, ack, stamped, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "e6-random-echo",
    summary: "timestamps echoed at random",
    source: "RFC 7323, sections 4.1 and 4.3",
    defence: "an echo outside what is outstanding gives no sample; the timer keeps to its bounds",
    run,
};

fn run(trial: &mut Trial) {
    let mut sender = Losses::new(&with_timestamps(), &Config::default());
    sender.flows(ROUND_TRIP);
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut outside, mut shortest, mut longest) = (0, Duration::MAX, Duration::ZERO);
    for _ in 0..trial.times(1_000_000, 20_000) {
        sender.victim.waits(ROUND_TRIP / 16);
        let engine = sender.victim.connection.engine();
        let next = (engine.una() + MSS).min(engine.nxt());
        let now = (sender.victim.now.as_nanos() / 1_000_000) as u32;
        sender.gets(&stamped(ack(next), now, draw.any()));
        let snapshot = sender.victim.connection.engine().snapshot();
        outside += u64::from(is_outside(snapshot.rto));
        if let Some(srtt) = snapshot.srtt {
            (shortest, longest) = (shortest.min(srtt), longest.max(srtt));
        }
    }
    trial.exactly("times that the timer left its bounds", "times", outside, 0);
    trial.at_most("longest smoothed round trip", "ms", longest.as_nanos() / 1_000_000, 1_000);
    trial.at_most("distance of the shortest from the truth", "ms", distance(shortest), 100);
}

/// Returns whether a timer is outside the bounds of RFC 6298, section 2.
fn is_outside(rto: Duration) -> bool {
    !(Duration::from_secs(1)..=Duration::from_secs(60)).contains(&rto)
}

fn distance(srtt: Duration) -> u64 {
    srtt.as_nanos().abs_diff(ROUND_TRIP.as_nanos()) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_bounds_are_inclusive() {
        let outside = |nanos| is_outside(Duration::from_nanos(nanos));
        assert_eq!([1_000_000_000, 60_000_000_000].map(outside), [false; 2]);
        assert_eq!([0, 999_999_999, 60_000_000_001].map(outside), [true; 3]);
    }

    #[test]
    fn a_distance_from_the_true_round_trip_is_absolute() {
        let far = |millis| distance(Duration::from_millis(millis));
        let truth = ROUND_TRIP.as_nanos() / 1_000_000;
        assert_eq!([truth - 30, truth, truth + 30].map(far), [30, 0, 30]);
    }
}
