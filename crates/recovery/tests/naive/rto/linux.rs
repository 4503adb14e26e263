//! Linux, tcp_rtt_estimator and tcp_set_rto, statement by statement, in nanoseconds: m is the error, mdev four times the mean
//! deviation.

use eifel_recovery::registry::Choice;

use super::pair::{BackOff, Naive, Taken, compare, milliseconds};

struct Linux {
    rto_min: i64,
    srtt: i64,
    mdev: i64,
    mdev_max: i64,
    rttvar: i64,
    rtt_seq: u64,
    back_off: BackOff,
}

impl Linux {
    fn first(&mut self, srtt: u64, rttvar: u64) {
        self.srtt = (srtt as i64) << 3;
        self.mdev = (rttvar as i64) << 2;
        self.rttvar = self.mdev.max(self.rto_min);
        self.mdev_max = self.rttvar;
    }
}

impl Naive for Linux {
    fn sample(&mut self, taken: &Taken) {
        self.back_off.sampled();
        let mut m = taken.rtt as i64;
        if self.srtt == 0 {
            self.srtt = m << 3;
            self.mdev = m << 1;
            self.rttvar = self.mdev.max(self.rto_min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = taken.nxt;
            return;
        }
        m -= self.srtt >> 3;
        self.srtt += m;
        if m < 0 {
            m = -m - (self.mdev >> 2);
            if m > 0 {
                m >>= 3;
            }
        } else {
            m -= self.mdev >> 2;
        }
        self.mdev += m;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            if self.mdev_max > self.rttvar {
                self.rttvar = self.mdev_max;
            }
        }
        if taken.una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = taken.nxt;
            self.mdev_max = self.rto_min;
        }
    }

    fn reseed(&mut self, r: u64) {
        self.first(r, r / 2);
        self.mdev = (r as i64) << 1;
        self.rttvar = self.mdev.max(self.rto_min);
        self.mdev_max = self.rttvar;
    }

    /// Restarts without a granularity, because this timer counts no ticks.
    fn reseed_at_least(&mut self, r: u64, srtt_prev: u64, rttvar_prev: u64) {
        self.first(r.max(srtt_prev), rttvar_prev.max(r / 2));
    }

    fn back_off(&mut self) -> &mut BackOff {
        &mut self.back_off
    }

    fn rto(&self) -> f64 {
        self.back_off.rto((self.srtt != 0).then(|| ((self.srtt >> 3) + self.rttvar) as f64))
    }

    /// Returns SRTT, and a quarter of RTO - SRTT as RTTVAR.
    fn estimate(&self) -> Option<(f64, f64)> {
        (self.srtt != 0).then_some(((self.srtt >> 3) as f64, (self.rttvar / 4) as f64))
    }
}

#[test]
fn linux_agrees_with_a_model_of_the_kernels_code() {
    compare(15, &mut |dice| {
        let (initial, maximum) = (1000 * dice.of_any_size(7), 1000 * dice.of_any_size(8));
        let minimum = 1000 * dice.of_any_size(6);
        let choice = Choice::named("linux")
            .with("initial_ms", milliseconds(initial))
            .with("minimum_ms", milliseconds(minimum))
            .with("maximum_ms", milliseconds(maximum));
        let back_off = BackOff::new(initial, minimum, maximum);
        let rto_min = minimum as i64;
        (choice, Box::new(Linux { rto_min, srtt: 0, mdev: 0, mdev_max: 0, rttvar: 0, rtt_seq: 0, back_off }))
    });
}
