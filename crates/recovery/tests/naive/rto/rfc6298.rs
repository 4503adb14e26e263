//! RFC 6298, sections 2 and 5, with the adaptations that a verdict may request.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::episode::Estimate;
use eifel_recovery::rto::rfc6298::{Bounds, Ends, Rfc6298};
use eifel_recovery::rto::timer::Timer;
use eifel_recovery::rto::{Rto, Sample, TimerChange};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::dice::Dice;

const TIMERS: u64 = 20_000;
const OPERATIONS: u64 = 100;

/// The RFC's variables, in nanoseconds.
pub struct Naive {
    pub initial: u128,
    pub configured_minimum: u128,
    pub minimum: u128,
    pub maximum: u128,
    pub g: u128,
    /// FreeBSD's TCPT_RANGESET: (tv) = (value) + tcp_rexmit_slop, within the limits.
    pub slop: u128,
    pub srtt: Option<u128>,
    pub rttvar: u128,
    /// Expiries since the last sample that counted.
    pub doublings: u64,
    pub held: bool,
    /// Which sample ends the back-off.
    pub ends: Ends,
    /// The bytes sent in all when the timer last expired; `None` once the back-off has ended.
    pub sent_at_expiry: Option<u64>,
    /// The smoothed average of the delays that caused spurious timeouts (section III.C).
    pub delays: Option<u128>,
}

impl Naive {
    pub fn new(bounds: &Bounds) -> Self {
        let nanos = |duration: Duration| u128::from(duration.as_nanos());
        Self {
            initial: nanos(bounds.initial),
            configured_minimum: nanos(bounds.minimum),
            minimum: nanos(bounds.minimum),
            maximum: nanos(bounds.maximum),
            g: nanos(bounds.granularity),
            slop: nanos(bounds.slop),
            srtt: None,
            rttvar: 0,
            doublings: 0,
            held: false,
            ends: Ends::Sample,
            sent_at_expiry: None,
            delays: None,
        }
    }

    /// Takes a sample by section 5: "once a new RTT measurement is obtained (which can only happen
    /// when new data has been sent and acknowledged)".
    pub fn sample_of(&mut self, r: u128, acked: u64) {
        let doublings = self.doublings;
        self.sample(r);
        if self.ends == Ends::NewData && self.sent_at_expiry.is_some_and(|sent| acked <= sent) {
            self.doublings = doublings;
        } else {
            self.sent_at_expiry = None;
        }
    }

    pub fn sample(&mut self, r: u128) {
        match self.srtt {
            // (2.2)
            None => {
                self.srtt = Some(r);
                self.rttvar = r / 2;
            }
            // (2.3): RTTVAR <- (1 - 1/4) * RTTVAR + 1/4 * |SRTT - R'|; SRTT <- (1 - 1/8) * SRTT + 1/8 * R'
            Some(srtt) => {
                let difference = srtt.abs_diff(r);
                self.rttvar = (3 * self.rttvar + difference) / 4;
                self.srtt = Some((7 * srtt + r) / 8);
            }
        }
        if !self.held {
            self.doublings = 0;
        }
    }

    /// Raises the minimum, up to the maximum (section III.C, option 3).
    pub fn raise_minimum(&mut self, step: u128) {
        let highest = if self.maximum < self.configured_minimum { self.configured_minimum } else { self.maximum };
        self.minimum = if self.minimum + step > highest { highest } else { self.minimum + step };
    }

    pub fn rto(&self) -> u128 {
        let mut rto = match self.srtt {
            None => self.initial,
            Some(srtt) => srtt + if self.g > 4 * self.rttvar { self.g } else { 4 * self.rttvar },
        };
        // (2.4), (2.5): a maximum below the minimum does not count.
        if rto < self.minimum {
            rto = self.minimum;
        }
        let maximum = if self.maximum < self.minimum { self.minimum } else { self.maximum };
        // (5.5)
        for _ in 0..self.doublings.min(200) {
            rto = (2 * rto).min(maximum);
        }
        if self.srtt.is_some() || self.doublings > 0 {
            rto += self.slop;
        }
        rto.min(maximum)
    }
}

pub fn bounds(dice: &mut Dice) -> Bounds {
    Bounds {
        initial: Duration::from_nanos(dice.of_any_size(11)),
        minimum: Duration::from_nanos(dice.of_any_size(11) - 1),
        maximum: Duration::from_nanos(dice.of_any_size(12)),
        granularity: Duration::from_nanos(dice.of_any_size(9) - 1),
        slop: if dice.once_in(3) { Duration::from_nanos(dice.of_any_size(10)) } else { Duration::ZERO },
    }
}

/// Draws a timer with any bounds, and its transcription.
pub fn pair(dice: &mut Dice, ends: Ends) -> (Timer<Rfc6298>, Naive) {
    let bounds = bounds(dice);
    (Rfc6298::timer(bounds, ends), Naive { ends, ..Naive::new(&bounds) })
}

/// Calls `then` with a view, for code that does not look at the view.
pub fn with_view<T>(then: impl FnOnce(&View) -> T) -> T {
    then(&view_at(1, 1))
}

fn view_at(una: u64, nxt: u64) -> View {
    View { now: Instant::ZERO, una, nxt, mss: 1000, sack: true, round_trips: RoundTrips::new(true) }
}

/// Gives the timer a sample, in nanoseconds.
pub fn take(timer: &mut Timer<Rfc6298>, nanos: u64) {
    with_view(|view| timer.sample(&sample(nanos), view));
}

pub fn sample(nanos: u64) -> Sample {
    let window = Window { cwnd: 10_000, ssthresh: u64::MAX };
    Sample { rtt: Duration::from_nanos(nanos), acked: 1000, window }
}

pub fn same(naive: &Naive, timer: &Timer<Rfc6298>) {
    assert_eq!(u128::from(timer.rto().as_nanos()), naive.rto());
    let estimate =
        timer.estimate().map(|estimate| (estimate.srtt.as_nanos().into(), estimate.rttvar.as_nanos().into()));
    assert_eq!(estimate, naive.srtt.map(|srtt| (srtt, naive.rttvar)));
}

#[test]
fn the_timer_agrees_with_a_model_of_rfc_6298() {
    let mut dice = Dice::new(1);
    for _ in 0..TIMERS {
        let (mut timer, mut naive) = pair(&mut dice, Ends::Sample);
        let magnitude = 1 + dice.below(11) as u32;
        for _ in 0..OPERATIONS {
            let r = dice.of_any_size(magnitude) - 1;
            let sample = Duration::from_nanos(r);
            match dice.below(12) {
                0..=6 => {
                    take(&mut timer, r);
                    naive.sample(r.into());
                }
                7..=9 => {
                    timer.back_off();
                    naive.doublings += 1;
                }
                // (5.7): at least 3 seconds when data transmission begins after a lost SYN.
                10 => {
                    timer.change(TimerChange::RaiseInitial(Duration::from_secs(3)));
                    naive.initial = naive.initial.max(3_000_000_000);
                    naive.doublings = 0;
                }
                // RFC 4015, section 3.2, steps 0 and 11: SRTT <- max(R, SRTT_prev + 2G), RTTVAR <- max(RTTVAR_prev, R/2).
                _ => {
                    let (srtt, rttvar) = (dice.of_any_size(magnitude), dice.of_any_size(magnitude));
                    let before = Estimate { srtt: Duration::from_nanos(srtt), rttvar: Duration::from_nanos(rttvar) };
                    timer.change(TimerChange::ReseedAtLeast { sample, before });
                    naive.srtt = Some(u128::from(r).max(u128::from(srtt) + 2 * naive.g));
                    naive.rttvar = u128::from(rttvar).max(u128::from(r) / 2);
                    naive.doublings = 0;
                }
            }
            same(&naive, &timer);
        }
    }
}

#[test]
fn the_back_off_can_end_with_new_data_alone() {
    let mut dice = Dice::new(2);
    for _ in 0..TIMERS {
        let (mut timer, mut naive) = pair(&mut dice, Ends::NewData);
        let (mut una, mut nxt) = (1, 1);
        for _ in 0..OPERATIONS {
            if dice.below(3) == 0 && una < nxt {
                timer.back_off();
                naive.doublings += 1;
                naive.sent_at_expiry = Some(nxt - 1);
            } else {
                // Segments that an ACK releases are sent after its sample was taken.
                una += dice.below(nxt - una + 1);
                let r = dice.of_any_size(9);
                timer.sample(&sample(r), &view_at(una, nxt));
                naive.sample_of(r.into(), una - 1);
                nxt += dice.below(4);
            }
            same(&naive, &timer);
        }
    }
}
