//! Properties of every recovery algorithm that hold for any order of ACKs, SACK blocks and
//! timeouts.

use std::collections::BTreeSet;

use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Echo, Engine, Kind, Negotiated};
use eifel_recovery::registry::{Choice, Seam, Value};
use proptest::prelude::*;

use crate::talk::{eifel, ms};

#[derive(Clone, Debug)]
enum Step {
    /// Acknowledges this share of the outstanding segments, in 256ths, whole segments.
    Advance(u8),
    /// Acknowledges a part of the oldest segment, in bytes.
    Part(u16),
    /// Reports a number of segments by SACK, from this share of the flight on.
    Sack(u8, u8),
    /// A duplicate ACK that reports nothing new.
    Duplicate,
    /// The timer expires, if one runs.
    Expire,
    /// The peer's window opens by a number of segments.
    Open(u8),
    /// Time passes, in milliseconds.
    Wait(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Advance),
        1 => (1u16..999).prop_map(Step::Part),
        6 => (any::<u8>(), 1u8..4).prop_map(|(at, count)| Step::Sack(at, count)),
        2 => Just(Step::Duplicate),
        2 => Just(Step::Expire),
        3 => (0u8..20).prop_map(Step::Open),
        2 => (1u16..400).prop_map(Step::Wait),
    ]
}

/// A sender, and the peer as the sender knows it.
struct Peer {
    engine: Engine,
    now: Instant,
    limit: u64,
    una: u64,
    nxt: u64,
    /// The starts of the outstanding segments.
    starts: BTreeSet<u64>,
    /// The starts of segments that were SACKed since the last timeout.
    sacked: BTreeSet<u64>,
    /// Whether the timer has expired while the window was closed.
    probes_window: bool,
}

impl Peer {
    fn new(config: &Config, sack: bool) -> Self {
        let mut engine = Engine::new(config).expect("a known algorithm");
        engine.established(Instant::ZERO, Negotiated { mss: 1000, sack, timestamps: true });
        let (starts, sacked) = (BTreeSet::new(), BTreeSet::new());
        Self { engine, now: Instant::ZERO, limit: 20_001, una: 1, nxt: 1, starts, sacked, probes_window: false }
    }

    /// Sends until nothing more may be sent. Returns the number of transmissions.
    fn send(&mut self) -> Result<u32, TestCaseError> {
        let mut count = 0;
        for turn in 0.. {
            prop_assert!(turn < 1000, "sending never ends");
            let stamp = Some(Timestamp((self.now.as_nanos() / 1_000_000) as u32));
            let sent = match std::mem::take(&mut self.probes_window) {
                true => Some(self.engine.probe_window(self.now, 1, stamp)),
                false => self.engine.poll_send(self.now, &self.engine.offer(10_000_001, self.limit, stamp)),
            };
            let Some(sent) = sent else { break };
            let end = sent.start + u64::from(sent.len);
            prop_assert!(sent.len > 0);
            match sent.kind {
                Kind::New => {
                    prop_assert_eq!(sent.start, self.nxt);
                    prop_assert!(end <= self.limit, "beyond the peer's window");
                }
                Kind::Retransmission(_) => {
                    prop_assert!(sent.start >= self.una, "acknowledged already");
                    prop_assert!(end <= self.nxt, "never sent");
                    prop_assert!(sent.copy > 0);
                    let reported = self.sacked.range(sent.start..end).next();
                    prop_assert!(reported.is_none(), "reported already: {reported:?}");
                }
                Kind::WindowProbe => {
                    prop_assert!(sent.start == self.una && end <= self.nxt, "of what is outstanding");
                }
            }
            if sent.start == self.nxt {
                self.starts.insert(sent.start);
            }
            self.nxt = self.nxt.max(end);
            count += 1;
        }
        self.consistent()?;
        Ok(count)
    }

    fn consistent(&self) -> Result<(), TestCaseError> {
        let now = self.engine.snapshot();
        prop_assert_eq!((now.una, now.nxt), (self.una, self.nxt));
        prop_assert_eq!(now.flight, self.nxt - self.una);
        let board = self.engine.scoreboard();
        prop_assert!(board.sacked_bytes() <= now.flight);
        // Each byte that is not SACKed is in flight once, or twice if it was retransmitted before
        // it was deemed lost.
        prop_assert!(now.pipe <= 2 * (now.flight - board.sacked_bytes()));
        prop_assert!(now.una <= board.resent_below() && board.resent_below() <= board.nxt());
        prop_assert!(now.una <= board.lost_below() && board.lost_below() <= board.nxt());
        // RFC 4015's FlightSize + min(bytes_acked, IW) may be less than a segment if only a part of
        // a segment was acknowledged.
        prop_assert!(now.cwnd > 0 && now.ssthresh >= 2000);
        if now.flight > 0 {
            prop_assert!(now.deadline != Instant::NEVER, "outstanding, but no timer runs");
        }
        Ok(())
    }

    fn ack(&mut self, cumulative: u64, sacks: &[Block]) {
        let echo = Some(Echo::Known { value: Timestamp(0), age: self.now.since(Instant::ZERO) });
        self.engine
            .on_ack(self.now, &Ack { cumulative, sacks, dsacks: &[], echo, mark: None, plain: true, ece: false });
        self.una = cumulative;
        self.starts = self.starts.split_off(&cumulative);
        self.sacked = self.sacked.split_off(&cumulative);
    }

    fn share(&self, part: u8) -> Option<u64> {
        let count = self.starts.len();
        self.starts.iter().nth(count * usize::from(part) / 256).copied()
    }

    fn end_of(&self, start: u64) -> u64 {
        self.starts.range(start + 1..).next().copied().unwrap_or(self.nxt)
    }

    fn sack(&mut self, part: u8, count: u8) {
        let Some(start) = self.share(part).filter(|&start| start > self.una) else { return };
        let mut end = start;
        for _ in 0..count {
            if end < self.nxt {
                self.sacked.insert(end);
                end = self.end_of(end);
            }
        }
        self.ack(self.una, &[Block { start, end }]);
    }

    fn apply(&mut self, step: &Step, sack: bool) {
        match *step {
            // SACKed data is acknowledged together with the hole below it.
            Step::Advance(part) => {
                if let Some(mut cumulative) = self.share(part).map(|start| self.end_of(start)) {
                    while self.sacked.contains(&cumulative) {
                        cumulative = self.end_of(cumulative);
                    }
                    self.ack(cumulative, &[]);
                }
            }
            Step::Part(bytes) => {
                let cumulative = self.una + u64::from(bytes);
                if self.una < self.nxt && cumulative < self.end_of(self.una) {
                    self.ack(cumulative, &[]);
                    self.starts.insert(cumulative);
                }
            }
            Step::Sack(part, count) if sack => self.sack(part, count),
            Step::Sack(..) | Step::Duplicate => self.ack(self.una, &[]),
            Step::Expire => {
                let deadline = self.engine.deadline();
                if deadline != Instant::NEVER {
                    self.now = self.now + deadline.since(self.now);
                    self.probes_window |= self.engine.on_timeout(self.now);
                    // After a timeout the peer may have reneged.
                    if self.engine.scoreboard().sacked().is_empty() {
                        self.sacked.clear();
                    }
                }
            }
            Step::Open(segments) => self.limit += 1000 * u64::from(segments),
            Step::Wait(millis) => {
                self.now += ms(u64::from(millis));
                self.probes_window |= self.engine.on_timeout(self.now);
                if self.engine.scoreboard().sacked().is_empty() {
                    self.sacked.clear();
                }
            }
        }
    }
}

fn run(config: &Config, steps: &[Step], sack: bool) -> Result<(), TestCaseError> {
    let mut peer = Peer::new(config, sack);
    peer.send()?;
    for step in steps {
        let (before, expiries) = (peer.engine.deadline(), peer.engine.consecutive_timeouts());
        peer.apply(step, sack);
        let sent = peer.send()?;
        if matches!(step, Step::Expire) && before != Instant::NEVER {
            let expired = peer.engine.consecutive_timeouts() > expiries;
            prop_assert!(sent > 0 || !expired, "the timer expired, and nothing goes");
            prop_assert!(peer.engine.deadline() > peer.now, "an alarm that rings for ever");
        }
    }
    // Everything arrives and the peer's window opens: each of the next rounds sends new data.
    for _ in 0..5 {
        peer.limit = peer.nxt + 100_000;
        let all = peer.nxt;
        peer.ack(all, &[]);
        prop_assert_eq!(peer.engine.snapshot().flight, 0);
        prop_assert_eq!(peer.engine.snapshot().pipe, 0);
        prop_assert!(peer.send()? > 0, "nothing is outstanding, and nothing goes");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_recovery_algorithm_stays_consistent_over_random_operations(
        steps in prop::collection::vec(step(), 1..100),
        sack: bool,
        detect in 0usize..64,
        bugfix: bool,
    ) {
        let detectors: Vec<_> =
            Seam::Detect.entries().iter().map(|entry| entry.name).collect();
        for entry in Seam::Recover.entries() {
            let base = Config { detect: Choice::named(detectors[detect % detectors.len()]), ..eifel(entry.name, "rfc4015") };
            let recover = Choice::named(entry.name).with("bugfix", Value::Switch(bugfix));
            run(&Config { recover, ..base }, &steps, sack)?;
        }
    }
}
