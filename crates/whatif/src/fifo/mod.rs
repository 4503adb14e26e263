//! Fits one queue with one server to the answers of a trace.
//!
//! *Looks at* when packets left, and when the ACKs came that the receiver sent at once.
//! *Decides* on the base delay, the rate, and on holds: delays that FIFO service at that rate does not explain.
//! *Blind to* other traffic in the queue, which looks like service of changing speed and lowers
//! `explained`.
//! *From* Lindley's recursion: a packet's service begins when it comes or when the packet before it
//! is done.

mod base;
mod pauses;

use crate::answers::{Answers, PacketOutcome};
use crate::trace::Trace;
use pauses::Pauses;

/// Factors within which times per byte count as one rate. The narrowest is tried first; captures of
/// busy machines need the wider ones.
const SAME_RATE: [f64; 3] = [1.03, 1.1, 1.2];
/// The shortest delay beyond that of the queue, in seconds, that counts as a hold.
pub(crate) const LEAST_HOLD_S: f64 = 0.008;
/// Number of answers after a hold that are used to tell how it ended.
const AFTER_A_HOLD: usize = 8;
/// Share of an answer's lateness by which the server's clock is moved, so that errors of the rate
/// do not add up.
const TRACKED: f64 = 0.1;
/// Minimum number of samples that are evidence of a rate.
const LEAST_SAMPLES: usize = 8;

/// How a hold releases packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The transmitter stood still: packets come at its rate after the hold.
    Sending,
    /// All packets that were due come at once, on the way to the receiver.
    Arriving,
    /// All ACKs that were due come at once.
    Back,
    /// Unknown, because only one packet was held.
    Open,
}

impl Kind {
    /// Returns the word for it, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Arriving => "arriving",
            Self::Back => "back",
            Self::Open => "open",
        }
    }
}

/// A period in which the path delivered nothing. Times are in seconds, at the transmitter's far
/// end.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Hold {
    /// Earliest and latest possible start.
    pub start_s: (f64, f64),
    pub end_s: f64,
    pub kind: Kind,
}

/// A server's settings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Server {
    /// Seconds per byte.
    pub per_byte: f64,
    /// Time from the end of a packet's transmission to its ACK, in seconds.
    pub base: f64,
}

/// A fit of the server to a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    pub server: Server,
    /// Whether the trace shows the rate, because packets waited for each other.
    pub rate_seen: bool,
    pub holds: Vec<Hold>,
    /// Lateness of each exact answer that shows no hold: index of its transmission, and seconds.
    pub late: Vec<(usize, f64)>,
    /// When each packet's transmission ended, in seconds; infinite if it never began.
    pub departed: Vec<f64>,
    /// Share of the exact answers that came at the time that this server predicts.
    pub explained: f64,
}

/// An exact answer.
#[derive(Clone, Copy, Debug)]
struct Sample {
    transmission: usize,
    at: f64,
    ack: usize,
}

/// Fits a server; `None` if too few answers are exact.
pub fn fit(trace: &Trace, answers: &Answers) -> Option<Fitted> {
    let samples = samples(trace, answers);
    if samples.len() < LEAST_SAMPLES {
        return None;
    }
    let work = Work { trace, answers, samples: &samples };
    let (rough, seen) = work.rate();
    let fitted = |per_byte: f64| work.pass(Server { per_byte, base: work.base(per_byte) });
    let mut best = fitted(rough);
    if seen {
        // The rate from neighbouring answers is only as exact as the clock. Its error adds up over
        // long busy periods.
        let mut misfit = work.misfit(&best);
        for step in -12..=12 {
            let other = fitted(rough * (1.0 + f64::from(step) * 0.001));
            let its = work.misfit(&other);
            if its < misfit {
                (best, misfit) = (other, its);
            }
        }
    }
    best.rate_seen = seen && work.waited(&best);
    Some(best)
}

/// Returns the exact answers in the order of transmissions. Omits transmissions that a later
/// transmission overtook.
fn samples(trace: &Trace, answers: &Answers) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut soonest = f64::INFINITY;
    let took = |transmission: usize| {
        answers.causes[transmission].map(|answer| answer.at - trace.transmissions[transmission].at)
    };
    let shortest = (0..trace.transmissions.len()).filter_map(took).fold(f64::INFINITY, f64::min);
    for transmission in (0..trace.transmissions.len()).rev() {
        if answers.outcomes[transmission] != PacketOutcome::Arrived {
            continue;
        }
        let Some(answer) = answers.exact(transmission) else { continue };
        // If a piece was sent several times, only the verdict says which transmission arrived. That
        // is not enough for a time.
        let copies = &trace.pieces[trace.transmissions[transmission].piece].transmissions;
        let alone =
            copies.iter().all(|copy| *copy <= transmission || trace.transmissions[*copy].at + shortest >= answer.at);
        if answer.at <= soonest && alone {
            samples.push(Sample { transmission, at: answer.at, ack: answer.ack });
        }
        soonest = soonest.min(answer.at);
    }
    samples.reverse();
    samples
}

/// Packets since the last packet whose ACK came in time. If the next ACK is late, they were held
/// too, except those whose own ACK came before. Otherwise the receiver would have acknowledged them
/// alone.
#[derive(Clone, Debug, Default)]
struct Since {
    /// When the transmission of the last packet with an ACK in time began.
    before: f64,
    /// When each transmission would have begun, its duration, and when its ACK came (infinite
    /// without one).
    packets: Vec<(f64, f64, f64)>,
}

impl Since {
    /// Removes packets up to the last whose ACK came before `late`. Returns the earliest and the
    /// latest start of a hold of the others, and their total transmission time.
    fn held(&mut self, late: f64) -> ((f64, f64), f64) {
        let through = self.packets.iter().rposition(|packet| packet.2 < late);
        if let Some(last) = through {
            self.before = self.packets[last].0;
            self.packets.drain(..=last);
        }
        let first = self.packets.first().map_or(self.before, |packet| packet.0);
        ((self.before, first), self.packets.iter().map(|packet| packet.1).sum())
    }
}

struct Work<'a> {
    trace: &'a Trace,
    answers: &'a Answers,
    samples: &'a [Sample],
}

impl Work<'_> {
    /// Returns the seconds per byte that neighbouring answers show, and whether enough of them
    /// agree.
    fn rate(&self) -> (f64, bool) {
        let mut served = vec![0.0; self.trace.transmissions.len() + 1];
        for (index, transmission) in self.trace.transmissions.iter().enumerate() {
            let lost = self.answers.outcomes[index] == PacketOutcome::Lost;
            served[index + 1] = served[index] + if lost { 0.0 } else { f64::from(transmission.wire) };
        }
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for pair in self.samples.windows(2) {
            let bytes = served[pair[1].transmission + 1] - served[pair[0].transmission + 1];
            let took = pair[1].at - pair[0].at;
            if bytes > 0.0 && took > 0.0 {
                steps.push((took / bytes, bytes));
            }
        }
        steps.sort_by(|one, other| one.0.total_cmp(&other.0));
        let all: f64 = steps.iter().map(|step| step.1).sum();
        let each = SAME_RATE.map(|same| densest(&steps, same));
        let enough = |one: &&(f64, f64, usize)| one.2 >= LEAST_SAMPLES && one.1 * 5.0 >= all;
        match each.iter().find(enough) {
            Some(one) => (one.0, true),
            None => (each[0].0, false),
        }
    }

    /// Serves all packets once with these settings.
    fn pass(&self, server: Server) -> Fitted {
        let transmissions = &self.trace.transmissions;
        let longest = transmissions.iter().map(|transmission| transmission.wire).max().unwrap_or(0);
        let least = LEAST_HOLD_S.max(server.base / 8.0).max(3.0 * f64::from(longest) * server.per_byte);
        let mut fitted = Fitted {
            server,
            rate_seen: false,
            holds: Vec::new(),
            late: Vec::new(),
            departed: vec![f64::INFINITY; transmissions.len()],
            explained: 0.0,
        };
        let near = 0.001_f64.max(server.base / 50.0).max(1.5 * f64::from(longest) * server.per_byte);
        let (mut free, mut released, mut next) = (f64::MIN, f64::MIN, 0);
        let (mut since, mut pauses) = (Since::default(), Pauses::default());
        for (index, transmission) in transmissions.iter().enumerate() {
            if self.answers.outcomes[index] == PacketOutcome::Lost {
                continue;
            }
            let begins = transmission.at.max(free);
            let takes = f64::from(transmission.wire) * server.per_byte;
            let mut departs = begins + takes;
            let cause = self.answers.causes[index];
            if self.answers.outcomes[index] == PacketOutcome::Arrived {
                since.packets.push((begins, takes, cause.map_or(f64::INFINITY, |answer| answer.at)));
            }
            if let Some(sample) = self.samples.get(next).filter(|sample| sample.transmission == index) {
                let seen = sample.at - server.base;
                let late = seen - departs.max(released);
                if late > least {
                    let kind = self.kind(next, (departs, seen), server);
                    let ((before, first), service) = since.held(sample.at - least);
                    let (before, natural) = match kind {
                        Kind::Sending => (before, first),
                        _ => (self.before(next, server), first + takes),
                    };
                    let end = if kind == Kind::Sending { seen - service } else { seen };
                    fitted.holds.push(Hold { start_s: (before.clamp(0.0, natural), natural), end_s: end, kind });
                    if kind == Kind::Sending {
                        departs = seen;
                    } else {
                        released = seen;
                    }
                } else {
                    fitted.late.push((index, late));
                    if transmission.at < free && released < departs {
                        let tracked = TRACKED * late.clamp(-takes / 2.0, takes / 2.0);
                        departs += if pauses.shows(late, near) { late } else { tracked };
                    }
                }
                next += 1;
            }
            if cause.is_some_and(|answer| answer.at - server.base - departs <= least) {
                since = Since { before: departs - takes, packets: Vec::new() };
            }
            free = departs;
            fitted.departed[index] = departs;
        }
        let explained = fitted.late.iter().filter(|(_, late)| late.abs() <= near).count();
        fitted.explained = explained as f64 / self.samples.len() as f64;
        fitted
    }

    /// Returns when the packet of the sample before `next` left the transmitter, judging by its
    /// answer; 0 without one.
    fn before(&self, next: usize, server: Server) -> f64 {
        next.checked_sub(1).map_or(0.0, |before| self.samples[before].at - server.base)
    }

    /// Returns how a hold released packets. The sample `first`, which shows the hold, was due at
    /// `due` and came at `seen`.
    fn kind(&self, first: usize, (due, seen): (f64, f64), server: Server) -> Kind {
        let (mut by_rate, mut at_once, mut count) = (0.0, 0.0, 0);
        let (mut natural, mut index) = (due, self.samples[first].transmission);
        let mut served = seen;
        for sample in self.samples[first + 1..].iter().take(AFTER_A_HOLD) {
            while index < sample.transmission {
                index += 1;
                if self.answers.outcomes[index] != PacketOutcome::Lost {
                    let transmission = &self.trace.transmissions[index];
                    let takes = f64::from(transmission.wire) * server.per_byte;
                    natural = natural.max(transmission.at) + takes;
                    served = served.max(transmission.at) + takes;
                }
            }
            if natural >= seen {
                break;
            }
            let came = sample.at - server.base;
            by_rate += (came - served).abs();
            at_once += (came - seen).abs();
            count += 1;
        }
        if self.acks_were_held(first) {
            Kind::Back
        } else if count == 0 {
            Kind::Open
        } else if at_once < by_rate {
            Kind::Arriving
        } else {
            Kind::Sending
        }
    }

    /// Returns whether this late ACK was sent soon after the ACK before it, by the receiver's
    /// timestamps.
    fn acks_were_held(&self, sample: usize) -> bool {
        let ack = self.samples[sample].ack;
        let now = &self.trace.acks[ack];
        // ACKs that were held together with this one also came together with it.
        let earlier = self.trace.acks[..ack].iter().rev().find(|other| other.at + LEAST_HOLD_S < now.at);
        let Some(then) = earlier else { return false };
        let (Some(stamp), Some(earlier), Some(tick)) = (now.stamp, then.stamp, self.tick()) else { return false };
        let sent_apart = f64::from(stamp.wrapping_sub(earlier)) * tick;
        sent_apart + tick < (now.at - then.at) / 2.0
    }

    /// Returns the length of a tick of the receiver's timestamps in seconds; `None` if it is
    /// unusual.
    fn tick(&self) -> Option<f64> {
        let stamped = |ack: &&crate::trace::ReceivedAck| ack.stamp.is_some();
        let (first, last) = (self.trace.acks.iter().find(stamped)?, self.trace.acks.iter().rev().find(stamped)?);
        let ticks = last.stamp?.wrapping_sub(first.stamp?);
        let tick = (last.at - first.at) / f64::from(ticks.max(1));
        [1e-6, 1e-3, 2e-3, 4e-3, 1e-2].into_iter().find(|usual| (tick / usual - 1.0).abs() < 0.3)
    }

    fn misfit(&self, fitted: &Fitted) -> f64 {
        let cap = LEAST_HOLD_S;
        let sum: f64 = fitted.late.iter().map(|(_, late)| late.abs().min(cap)).sum();
        sum + cap * 4.0 * fitted.holds.len() as f64
    }

    /// Returns whether enough packets waited for others to show the rate.
    fn waited(&self, fitted: &Fitted) -> bool {
        let waits = |index: usize| {
            let transmission = &self.trace.transmissions[index];
            fitted.departed[index] - transmission.at > 1.5 * f64::from(transmission.wire) * fitted.server.per_byte
        };
        fitted.late.iter().filter(|(index, _)| waits(*index)).count() >= LEAST_SAMPLES
    }
}

/// Finds the steps within a factor of `same` that have the most bytes. A step is a time per byte
/// and a number of bytes; `steps` are in ascending order. Returns the mean time per byte of the
/// steps found, their bytes, and their number.
fn densest(steps: &[(f64, f64)], same: f64) -> (f64, f64, usize) {
    let (mut from, mut sum, mut best) = (0, 0.0, (0.0, 0, 0));
    for to in 0..steps.len() {
        sum += steps[to].1;
        while steps[to].0 > steps[from].0 * same {
            sum -= steps[from].1;
            from += 1;
        }
        if sum > best.0 {
            best = (sum, from, to + 1);
        }
    }
    let among = &steps[best.1..best.2];
    let bytes: f64 = among.iter().map(|step| step.1).sum();
    let took: f64 = among.iter().map(|step| step.0 * step.1).sum();
    (took / bytes.max(1.0), bytes, among.len())
}

/// Returns for each transmission how many packets were not yet transmitted when it came.
pub fn backlogs(trace: &Trace, fitted: &Fitted) -> Vec<u32> {
    let mut waiting = std::collections::VecDeque::new();
    let mut found = Vec::with_capacity(trace.transmissions.len());
    for (index, transmission) in trace.transmissions.iter().enumerate() {
        while waiting.front().is_some_and(|departs| *departs <= transmission.at) {
            waiting.pop_front();
        }
        found.push(waiting.len() as u32);
        let departs = fitted.departed[index];
        if departs.is_finite() {
            waiting.push_back(departs);
        }
    }
    found
}
