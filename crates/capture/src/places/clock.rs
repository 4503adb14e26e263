//! Compares the clocks of two places by the packets that both saw.
//!
//! A packet arrives after it left. So each packet from here to there bounds the difference of the
//! clocks from above, and each packet from there to here bounds it from below. The least drift that
//! all bounds allow is taken, as clocks of hosts are disciplined. What remains of the difference is
//! unknown by the shortest round trip.

/// The most drift of a clock, as a share of time. A clock that drifts more is a fault.
const MOST_DRIFT: f64 = 0.001;

/// A packet at two places: nanoseconds since the first packet here, and the time there minus that
/// here.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) at: f64,
    pub(super) difference: f64,
}

/// The difference of two clocks: that of the place there minus that of the place here.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Clocks {
    /// The bounds of the drift that the packets allow, as shares of time; infinite without bounds.
    pub(super) drift: (f64, f64),
    /// The drift that is taken.
    drift_taken: f64,
    /// The bounds of the difference at time 0, for that drift.
    least: Option<f64>,
    most: Option<f64>,
    /// Whether no constant difference and drift fits: a clock was set.
    pub(super) stepped: bool,
}

impl Clocks {
    /// Compares two clocks by packets that went there and packets that came back.
    pub(super) fn new(there: &[Point], back: &[Point]) -> Self {
        let upper = hull(there, 1.0);
        let lower = hull(back, -1.0);
        let mut drift = (f64::NEG_INFINITY, f64::INFINITY);
        for up in &upper {
            for low in &lower {
                let slope = (up.difference - low.difference) / (up.at - low.at);
                if up.at > low.at {
                    drift.1 = drift.1.min(slope);
                } else if up.at < low.at {
                    drift.0 = drift.0.max(slope);
                }
            }
        }
        let stepped = drift.0 > drift.1 || drift.0 > MOST_DRIFT || drift.1 < -MOST_DRIFT;
        let drift_taken = if stepped { 0.0 } else { 0.0_f64.clamp(drift.0, drift.1) };
        let at_start = |point: &Point| point.difference - drift_taken * point.at;
        let most = upper.iter().map(at_start).reduce(f64::min);
        let least = lower.iter().map(at_start).reduce(f64::max);
        let stepped = stepped || least.zip(most).is_some_and(|(least, most)| least > most);
        Self { drift, drift_taken, least, most, stepped }
    }

    /// Returns the shortest time on the clock there after which a packet that left here at `at` was
    /// seen there, as nanoseconds since the first packet here.
    pub(super) fn soonest(&self, at: f64) -> Option<f64> {
        self.most.filter(|_| !self.stepped).map(|most| at * (1.0 + self.drift_taken) + most)
    }

    /// Returns whether packets both ways bound the difference. Otherwise times are compared by the
    /// soonest packets that were seen, and others may have been sooner.
    pub(super) fn is_bounded(&self) -> bool {
        self.difference().is_some()
    }

    /// Returns the time on the clock there before which no packet that left here at `at` can be
    /// there. Without packets back nothing is known but the soonest time that was seen.
    pub(super) fn possible(&self, at: f64) -> Option<f64> {
        self.least
            .filter(|_| !self.stepped)
            .map_or_else(|| self.soonest(at), |least| Some(at * (1.0 + self.drift_taken) + least))
    }

    /// Returns half the sum of the bounds and half their distance, in nanoseconds: the difference
    /// at time 0, and how far it may be off.
    pub(super) fn difference(&self) -> Option<(f64, f64)> {
        let (least, most) = self.least.zip(self.most).filter(|_| !self.stepped)?;
        Some(((least + most) / 2.0, (most - least) / 2.0))
    }

    /// Returns the nanoseconds that a packet took from here to there, if both ways take equally long
    /// at least.
    pub(super) fn delay(&self, point: Point) -> Option<f64> {
        let (difference, _) = self.difference()?;
        Some(point.difference - self.drift_taken * point.at - difference)
    }

    /// Returns the difference of a point without the drift.
    pub(super) fn level(&self, point: Point) -> f64 {
        point.difference - self.drift_taken * point.at
    }
}

/// Returns the corners of the lower convex hull of points; of the upper one if `sign` is -1.
fn hull(points: &[Point], sign: f64) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| {
        one.at.total_cmp(&other.at).then((sign * one.difference).total_cmp(&(sign * other.difference)))
    });
    sorted.dedup_by(|later, earlier| later.at.total_cmp(&earlier.at).is_eq());
    let mut corners: Vec<Point> = Vec::new();
    for point in sorted {
        while let [.., one, other] = corners[..] {
            let turn = (other.at - one.at) * (point.difference - one.difference)
                - (point.at - one.at) * (other.difference - one.difference);
            if sign * turn > 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(point);
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(at: f64, difference: f64) -> Point {
        Point { at, difference }
    }

    proptest! {
        /// Packets leave here and there every millisecond and take 1 ms and what queues add.
        #[test]
        fn the_true_difference_and_drift_lie_within_the_bounds(
            offset in -1e9_f64..1e9,
            drift in -1e-4_f64..1e-4,
            queues in proptest::collection::vec((0.0_f64..1e7, 0.0_f64..1e7), 2..60),
        ) {
            let clock = |at: f64| offset + drift * at;
            let (mut there, mut back) = (Vec::new(), Vec::new());
            for (number, (queue, queue_back)) in queues.iter().enumerate() {
                let at = number as f64 * 1e6;
                there.push(point(at, clock(at) + 1e6 + queue));
                back.push(point(at + 5e5, clock(at + 5e5) - 1e6 - queue_back));
            }
            let clocks = Clocks::new(&there, &back);
            prop_assert!(!clocks.stepped);
            prop_assert!(clocks.drift.0 <= drift + 1e-9 && drift - 1e-9 <= clocks.drift.1);
            // The drift that is taken is off by at most the width of its bounds.
            let width = (clocks.drift.1 - clocks.drift.0).min(2e-3) * queues.len() as f64 * 1e6;
            let (middle, off) = clocks.difference().unwrap();
            prop_assert!((middle - offset).abs() <= off + width + 1.0);
        }
    }

    #[test]
    fn a_clock_that_was_set_fits_no_line() {
        let there = [point(0.0, 1e6), point(1e9, 5e9), point(2e9, 1e6)];
        let back = [point(0.5e9, -1e6), point(1.1e9, 4.9e9), point(1.9e9, -1e6)];
        let clocks = Clocks::new(&there, &back);
        assert!(clocks.stepped);
        assert_eq!((clocks.soonest(0.0), clocks.difference()), (None, None));
    }

    #[test]
    fn without_packets_back_only_the_soonest_time_is_known() {
        let clocks = Clocks::new(&[point(0.0, 7.0), point(10.0, 5.0)], &[]);
        assert_eq!((clocks.soonest(10.0), clocks.possible(10.0)), (Some(15.0), Some(15.0)));
        assert_eq!(clocks.difference(), None);
    }
}
