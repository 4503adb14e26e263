//! One queue with one server, fitted to the answers of a trace.
//!
//! *Looks at* when packets left and when those answers came that were sent at once.
//! *Decides* on the base delay, the rate, and on holds: delays that FIFO service at that rate does not explain.
//! *Blind to* other traffic in the queue, which looks like service of changing speed; `explained` says how much of it there is.
//! *From* Lindley's recursion: a packet's service begins when it comes or when the one before it is done.

mod base;
mod pauses;

use crate::answers::{Answers, Fate};
use crate::trace::Trace;
use pauses::Pauses;

/// Two ACKs this close in their time per byte are of one rate: at first narrowly, then as machines that are busy allow.
const SAME_RATE: [f64; 3] = [1.03, 1.1, 1.2];
/// The shortest delay beyond that of the queue, in seconds, that counts as a hold.
pub(crate) const LEAST_HOLD_S: f64 = 0.008;
/// Answers that are looked at to tell how a hold has ended.
const AFTER_A_HOLD: usize = 8;
/// How much of what an answer is late or early moves the server's clock: errors of the rate do not add up then.
const TRACKED: f64 = 0.1;
/// Fewer samples of the rate than this are no evidence of it.
const LEAST_SAMPLES: usize = 8;

/// How a hold lets packets go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The transmitter stood still: packets come at its rate after the hold.
    Sending,
    /// All that was due comes at once, on the way to the receiver.
    Arriving,
    /// All ACKs that were due come at once.
    Back,
    /// The capture does not say: one packet was held.
    Open,
}

/// A time during which the path delivered nothing. In seconds, as of the transmitter's far end.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Hold {
    /// It began between these.
    pub start_s: (f64, f64),
    pub end_s: f64,
    pub kind: Kind,
}

/// A server's settings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Server {
    /// Seconds per byte.
    pub per_byte: f64,
    /// From the end of a packet's transmission to the answer, in seconds.
    pub base: f64,
}

/// A fit of the server to a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    pub server: Server,
    /// Whether the rate was seen: packets waited for each other.
    pub rate_seen: bool,
    pub holds: Vec<Hold>,
    /// How late each exact answer came besides, in seconds, by its sending.
    pub late: Vec<(usize, f64)>,
    /// When each packet's transmission ended; infinite where it never began.
    pub departed: Vec<f64>,
    /// Share of the exact answers that came when this server would have it.
    pub explained: f64,
}

/// An exact answer.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sending: usize,
    at: f64,
    heard: usize,
}

/// Fits a server. `None` where too few answers are exact.
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
        // The rate of neighbours is as exact as the clock; over long busy periods even that adds up.
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

/// The exact answers in the order of sendings, without those that a later sending has overtaken.
fn samples(trace: &Trace, answers: &Answers) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut soonest = f64::INFINITY;
    let took = |sending: usize| answers.causes[sending].map(|answer| answer.at - trace.sendings[sending].at);
    let shortest = (0..trace.sendings.len()).filter_map(took).fold(f64::INFINITY, f64::min);
    for sending in (0..trace.sendings.len()).rev() {
        if answers.fates[sending] != Fate::Arrived {
            continue;
        }
        let Some(answer) = answers.exact(sending) else { continue };
        // Of several sendings, nothing but the verdict says which one arrived; that is not enough for a time.
        let copies = &trace.pieces[trace.sendings[sending].piece].sendings;
        let alone = copies.iter().all(|copy| *copy <= sending || trace.sendings[*copy].at + shortest >= answer.at);
        if answer.at <= soonest && alone {
            samples.push(Sample { sending, at: answer.at, heard: answer.heard });
        }
        soonest = soonest.min(answer.at);
    }
    samples.reverse();
    samples
}

/// Packets since the last one whose ACK came in time. Where the next ACK is late, they were held too, unless an ACK of their own
/// came before: else the receiver would have acknowledged them alone.
#[derive(Clone, Debug, Default)]
struct Since {
    /// When the transmission began that caused the last ACK in time.
    before: f64,
    /// When each transmission would have begun, how long it takes, and when its ACK came.
    packets: Vec<(f64, f64, f64)>,
}

impl Since {
    /// Leaves out those whose ACK came before `late`. Returns when a hold of the others can have begun, and how long their
    /// transmissions take.
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
    /// Seconds per byte as neighbouring answers show it, and whether enough of them agree.
    fn rate(&self) -> (f64, bool) {
        let mut served = vec![0.0; self.trace.sendings.len() + 1];
        for (index, sending) in self.trace.sendings.iter().enumerate() {
            let lost = self.answers.fates[index] == Fate::Lost;
            served[index + 1] = served[index] + if lost { 0.0 } else { f64::from(sending.wire) };
        }
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for pair in self.samples.windows(2) {
            let bytes = served[pair[1].sending + 1] - served[pair[0].sending + 1];
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

    /// One pass over all packets at these settings.
    fn pass(&self, server: Server) -> Fitted {
        let sendings = &self.trace.sendings;
        let longest = sendings.iter().map(|sending| sending.wire).max().unwrap_or(0);
        let least = LEAST_HOLD_S.max(server.base / 8.0).max(3.0 * f64::from(longest) * server.per_byte);
        let mut fitted = Fitted {
            server,
            rate_seen: false,
            holds: Vec::new(),
            late: Vec::new(),
            departed: vec![f64::INFINITY; sendings.len()],
            explained: 0.0,
        };
        let near = 0.001_f64.max(server.base / 50.0).max(1.5 * f64::from(longest) * server.per_byte);
        let (mut free, mut released, mut next) = (f64::MIN, f64::MIN, 0);
        let (mut since, mut pauses) = (Since::default(), Pauses::default());
        for (index, sending) in sendings.iter().enumerate() {
            if self.answers.fates[index] == Fate::Lost {
                continue;
            }
            let begins = sending.at.max(free);
            let takes = f64::from(sending.wire) * server.per_byte;
            let mut departs = begins + takes;
            let cause = self.answers.causes[index];
            if self.answers.fates[index] == Fate::Arrived {
                since.packets.push((begins, takes, cause.map_or(f64::INFINITY, |answer| answer.at)));
            }
            if let Some(sample) = self.samples.get(next).filter(|sample| sample.sending == index) {
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
                    if sending.at < free && released < departs {
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

    /// When the answer before that of sample `next` would have left the transmitter.
    fn before(&self, next: usize, server: Server) -> f64 {
        next.checked_sub(1).map_or(0.0, |before| self.samples[before].at - server.base)
    }

    /// How the hold ends that the sample `first` shows: it was due at `due` and came at `seen`.
    fn kind(&self, first: usize, (due, seen): (f64, f64), server: Server) -> Kind {
        let (mut by_rate, mut at_once, mut count) = (0.0, 0.0, 0);
        let (mut natural, mut index) = (due, self.samples[first].sending);
        let mut served = seen;
        for sample in self.samples[first + 1..].iter().take(AFTER_A_HOLD) {
            while index < sample.sending {
                index += 1;
                if self.answers.fates[index] != Fate::Lost {
                    let sending = &self.trace.sendings[index];
                    let takes = f64::from(sending.wire) * server.per_byte;
                    natural = natural.max(sending.at) + takes;
                    served = served.max(sending.at) + takes;
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

    /// Whether the receiver's timestamps say that it sent this ACK soon after the one before it, though it came late.
    fn acks_were_held(&self, sample: usize) -> bool {
        let heard = self.samples[sample].heard;
        let now = &self.trace.heard[heard];
        // Those that were held with it came with it.
        let earlier = self.trace.heard[..heard].iter().rev().find(|other| other.at + LEAST_HOLD_S < now.at);
        let Some(then) = earlier else { return false };
        let (Some(stamp), Some(earlier), Some(tick)) = (now.stamp, then.stamp, self.tick()) else { return false };
        let sent_apart = f64::from(stamp.wrapping_sub(earlier)) * tick;
        sent_apart + tick < (now.at - then.at) / 2.0
    }

    /// Seconds that a tick of the receiver's timestamps takes, if that is a usual length.
    fn tick(&self) -> Option<f64> {
        let stamped = |heard: &&crate::trace::Heard| heard.stamp.is_some();
        let (first, last) = (self.trace.heard.iter().find(stamped)?, self.trace.heard.iter().rev().find(stamped)?);
        let ticks = last.stamp?.wrapping_sub(first.stamp?);
        let tick = (last.at - first.at) / f64::from(ticks.max(1));
        [1e-6, 1e-3, 2e-3, 4e-3, 1e-2].into_iter().find(|usual| (tick / usual - 1.0).abs() < 0.3)
    }

    fn misfit(&self, fitted: &Fitted) -> f64 {
        let cap = LEAST_HOLD_S;
        let sum: f64 = fitted.late.iter().map(|(_, late)| late.abs().min(cap)).sum();
        sum + cap * 4.0 * fitted.holds.len() as f64
    }

    /// Whether packets have waited for others, so that the rate shows.
    fn waited(&self, fitted: &Fitted) -> bool {
        let waits = |index: usize| {
            let sending = &self.trace.sendings[index];
            fitted.departed[index] - sending.at > 1.5 * f64::from(sending.wire) * fitted.server.per_byte
        };
        fitted.late.iter().filter(|(index, _)| waits(*index)).count() >= LEAST_SAMPLES
    }
}

/// Of `steps`, each a time per byte and the bytes, in order: those within a factor of `same` that have most bytes. Returns their
/// mean time per byte, their bytes, and how many they are.
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

/// Packets that each packet finds not yet transmitted when it comes, by its index.
pub fn backlogs(trace: &Trace, fitted: &Fitted) -> Vec<u32> {
    let mut waiting = std::collections::VecDeque::new();
    let mut found = Vec::with_capacity(trace.sendings.len());
    for (index, sending) in trace.sendings.iter().enumerate() {
        while waiting.front().is_some_and(|departs| *departs <= sending.at) {
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
