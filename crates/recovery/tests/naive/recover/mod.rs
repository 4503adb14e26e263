//! Compares each recovery algorithm in a whole engine with its transcription in a whole naive
//! sender. Transmissions, window, pipe, timer and samples must be equal after every ACK and
//! timeout.

mod fack;
pub mod late;
mod newreno;
mod newreno_sack;
mod prr;
pub mod rack_tlp;
mod reno;
mod reno_sack;
mod rfc6675;
mod tcp_ncr;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Echo, Engine, Kind, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use crate::dice::Dice;
use crate::sender;
use crate::sender::{Left, MSS, Phase, Repair, Sender};

const CONNECTIONS: u64 = 2_000;
const OPERATIONS: u64 = 200;

struct Pair<'a> {
    engine: Engine,
    naive: Sender,
    repair: &'a mut dyn Repair,
    now: u64,
    timestamps: bool,
    timeouts_of: Option<u64>,
}

/// Compares an algorithm with its transcription over many random connections.
fn compare(name: &str, sack: bool, repair: &mut dyn Repair) {
    compare_with(&Choice::named(name), sack, repair, &Sender::new);
}

/// As [`compare`], with parameters. `new` makes a sender with or without timestamps.
fn compare_with(choice: &Choice, sack: bool, repair: &mut dyn Repair, new: &dyn Fn(bool) -> Sender) {
    let name = &choice.name;
    let mut dice = Dice::new(6);
    let (mut again, mut timeouts, mut fast) = (0, 0, 0);
    for connection in 0..CONNECTIONS {
        let config = Config {
            detect: Choice::named("none"),
            respond: Choice::named("option-1"),
            recover: choice.clone(),
            congest: Choice::named("reno").with("grow", Value::Word("always".into())),
            ..Config::default()
        };
        let mut engine = Engine::new(&config).unwrap_or_else(|error| panic!("{error}"));
        let timestamps = dice.once_in(2);
        engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack, timestamps });
        let naive = new(timestamps);
        repair.fresh();
        let mut pair = Pair { engine, naive, repair: &mut *repair, now: 0, timestamps, timeouts_of: None };
        pair.naive.end += dice.from(1, 300 * MSS);
        pair.send();
        for operation in 0..OPERATIONS {
            let place = || format!("{name}, connection {connection}, operation {operation}");
            let what = pair.step(&mut dice, sack);
            let left = pair.send();
            again += left.iter().filter(|left| left.again).count();
            timeouts += usize::from(what == What::Timeout);
            fast += usize::from(what == What::Ack && left.first().is_some_and(|left| left.again));
            pair.same(&place);
        }
    }
    // The comparison is meaningful only if the algorithms had losses to repair.
    let least = CONNECTIONS as usize;
    assert!(again > 4 * least && timeouts > least && fast > least, "{name}: {again} again, {timeouts}, {fast}");
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Ack,
    Alarm,
    Timeout,
    Write,
}

impl Pair<'_> {
    fn instant(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    fn step(&mut self, dice: &mut Dice, sack: bool) -> What {
        self.now += dice.from(0, 100_000_000);
        let alarm = self.repair.by_time().and_then(|rack_tlp| rack_tlp.alarm(&self.naive));
        let deadline = self.naive.deadline.into_iter().chain(alarm).min();
        let due = deadline.is_some_and(|deadline| deadline <= self.now);
        if due || self.naive.outstanding() > 0 && dice.once_in(40) {
            // Time advances to the expiry of the timer.
            self.now = deadline.unwrap_or(self.now);
            self.engine.on_timeout(self.instant());
            if let Some(rack_tlp) = self.repair.by_time()
                && rack_tlp.ring(&mut self.naive, self.now)
            {
                if matches!(self.naive.phase, Phase::FastRecovery { .. }) {
                    self.timeouts_of = None;
                }
                return What::Alarm;
            }
            let again = self.timeouts_of == Some(self.naive.una);
            self.timeouts_of = Some(self.naive.una);
            self.naive.on_timeout(self.repair, self.now, again);
            return What::Timeout;
        }
        if self.naive.outstanding() == 0 || dice.once_in(30) {
            self.naive.end += dice.from(1, 60 * MSS);
            if dice.once_in(3) {
                self.now += dice.from(0, 2_000_000_000);
                if let Some(deadline) = deadline {
                    self.now = self.now.min(deadline);
                }
            }
            return What::Write;
        }
        self.ack(dice, sack);
        What::Ack
    }

    fn ack(&mut self, dice: &mut Dice, sack: bool) {
        let bounds: Vec<u64> = self.naive.segments.iter().map(|segment| segment.end).collect();
        let mut advance = if dice.once_in(3) { 1 + dice.below(bounds.len() as u64).min(dice.below(6)) } else { 0 };
        let reneges = self.repair.by_time().is_none() && dice.once_in(50);
        if advance > 0 && !reneges {
            // SACKed data is acknowledged together with the data before it, except by a peer that
            // reneges.
            advance +=
                self.naive.segments[advance as usize..].iter().take_while(|segment| segment.sacked).count() as u64;
        }
        let cumulative = if advance == 0 { self.naive.una } else { bounds[advance as usize - 1] };
        let mut sacks = Vec::new();
        let beyond: Vec<_> = self.naive.segments.iter().skip(advance as usize + 1).collect();
        if sack && !beyond.is_empty() && !dice.once_in(5) {
            for _ in 0..dice.from(1, 3) {
                let first = dice.below(beyond.len() as u64) as usize;
                let last = (first + dice.below(3) as usize).min(beyond.len() - 1);
                sacks.push((beyond[first].start, beyond[last].end));
            }
        }
        let echoed_at = self.timestamps.then(|| self.now - dice.below(200_000_000.min(self.now + 1)));
        let blocks: Vec<_> = sacks.iter().map(|&(start, end)| Block { start, end }).collect();
        let echo = echoed_at.map(|at| Echo::Known { value: Timestamp(0), age: Duration::from_nanos(self.now - at) });
        let reports = self.repair.by_time().is_some() && sack && cumulative > MSS && dice.once_in(10);
        let dsack = reports.then(|| (cumulative - MSS, cumulative));
        let dsack_block = dsack.map(|(start, end)| Block { start, end });
        let ack = Ack {
            cumulative,
            sacks: &blocks,
            dsacks: dsack_block.as_slice(),
            echo,
            mark: None,
            plain: true,
            ece: false,
        };
        self.engine.on_ack(self.instant(), &ack);
        let heard = sender::Ack { cumulative, sacks: &sacks, dsack, echoed_at };
        self.naive.on_ack(self.repair, self.now, &heard);
        // A later loss signal replaces the timeout's.
        if matches!(self.naive.phase, Phase::FastRecovery { .. }) || cumulative >= self.naive.nxt {
            self.timeouts_of = None;
        }
    }

    /// Lets both send all that they may, and checks that the transmissions are equal.
    fn send(&mut self) -> Vec<Left> {
        let expected = self.naive.send(self.repair, self.now);
        let (now, stamp) = (Instant::from_nanos(self.now), Some(Timestamp(0)));
        let mut all = Vec::new();
        while let Some(sent) = self.engine.poll_send(now, &self.engine.offer(self.naive.end, u64::MAX, stamp)) {
            let again = matches!(sent.kind, Kind::Retransmission(_));
            all.push(Left { start: sent.start, end: sent.start + u64::from(sent.len), again });
        }
        let naive = &self.naive;
        assert_eq!(all, expected, "at {}: {:?}, {:#?}", self.now, naive.phase, naive.segments);
        all
    }

    fn same(&mut self, place: &dyn Fn() -> String) {
        let alarm = self.repair.by_time().and_then(|rack_tlp| rack_tlp.alarm(&self.naive));
        let (snapshot, naive) = (self.engine.snapshot(), &self.naive);
        assert_eq!((snapshot.una, snapshot.nxt), (naive.una, naive.nxt), "{}", place());
        assert_eq!(snapshot.pipe, naive.pipe(), "{}: {:#?}", place(), naive.segments);
        assert_eq!((snapshot.cwnd, snapshot.ssthresh), (naive.congest.cwnd, naive.congest.ssthresh), "{}", place());
        assert_eq!(u128::from(snapshot.rto.as_nanos()), naive.timer.rto(), "{}", place());
        assert_eq!(snapshot.samples, naive.samples, "{}", place());
        let deadline = naive.deadline.into_iter().chain(alarm).min().map_or(Instant::NEVER, Instant::from_nanos);
        assert_eq!(snapshot.deadline, deadline, "{}", place());
    }
}
