//! Loss recovery inside the engine that applies its decisions, with any algorithm at every other
//! seam.

use arbitrary::{Result, Unstructured};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Block, Config, Engine, Kind, Negotiated, Transmission};
use eifel_recovery::registry::Seam;

use crate::input::{block, choice, duration, echo, magnitude, mark, mss};

/// The most segments of the peer's window. It bounds the segments that may leave for one input.
const MOST_SEGMENTS: u64 = 64;
/// The most transmissions for one input: each segment of that window once, split by the peer's SACK
/// blocks, plus needless retransmissions. More would be endless.
const MOST_TRANSMISSIONS: u32 = 1000;

/// The most timers that may expire at once: the pacing timer, and the retransmission timer once.
const MOST_EXPIRIES: u32 = 3;

/// Gives ACKs, true and false SACK blocks, DSACKs, echoes, expiries and windows in any order.
/// Nothing panics or overflows. New data leaves only in order and within the peer's window;
/// otherwise only outstanding data leaves again. A timer runs while data is outstanding, and does
/// not expire endlessly.
///
/// # Panics
/// If an invariant does not hold.
pub fn recover(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

/// Draws the algorithms and the observers of an engine.
pub fn config(u: &mut Unstructured<'_>) -> Result<Config> {
    let observers = if u.ratio(1, 4)? { vec![choice(u, Seam::Detect)?] } else { Vec::new() };
    Ok(Config {
        detect: choice(u, Seam::Detect)?,
        observers,
        respond: choice(u, Seam::Respond)?,
        grant: choice(u, Seam::Grant)?,
        rto: choice(u, Seam::Rto)?,
        after_spurious: choice(u, Seam::AfterSpurious)?,
        recover: choice(u, Seam::Recover)?,
        congest: choice(u, Seam::Congest)?,
        pace: choice(u, Seam::Pace)?,
    })
}

/// The connection around an engine.
struct Driver {
    engine: Engine,
    now: Instant,
    negotiated: Negotiated,
    end: u64,
    fin: bool,
    limit: u64,
    /// Whether the handshake is in progress.
    opens: bool,
    /// Whether the timer has expired while the window was closed.
    probes_window: bool,
    una: u64,
    nxt: u64,
    next_id: u64,
    /// The most segments outstanding at any time so far.
    segments: usize,
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let engine = Engine::new(&config(u)?).expect("the registry's own");
    let negotiated = Negotiated { mss: mss(u)?, sack: u.arbitrary()?, timestamps: u.arbitrary()? };
    let (now, end, limit) = (Instant::ZERO, 0, 0);
    let mut driver = Driver {
        engine,
        now,
        negotiated,
        end,
        fin: false,
        limit,
        opens: false,
        probes_window: false,
        una: 0,
        nxt: 0,
        next_id: 0,
        segments: 0,
    };
    driver.open(u)?;
    while !u.is_empty() {
        driver.step(u)?;
        driver.send(u)?;
        driver.catch_up(u)?;
    }
    Ok(())
}

impl Driver {
    /// Opens the connection, with a handshake or without one.
    fn open(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        if u.arbitrary()? {
            (self.end, self.opens) = (1, true);
            self.send(u)?;
            for _ in 0..u.int_in_range(0..=3)? {
                self.expire();
                self.send(u)?;
            }
            self.opens = false;
            self.now += duration(u)?;
            self.ack(u, 1, &[], None)?;
        } else {
            (self.una, self.nxt) = (1, 1);
        }
        self.engine.established(self.now, self.negotiated);
        self.end = self.una;
        Ok(())
    }

    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let segment = u64::from(self.negotiated.mss);
        match u.int_in_range(0..=7)? {
            0 if !self.fin => {
                self.end += magnitude(u, MOST_SEGMENTS * segment)?;
                if u.ratio(1, 16)? {
                    self.fin = true;
                    self.end += 1;
                }
            }
            // The peer's window may shrink as well (RFC 9293, section 3.8.6).
            1 => self.limit = self.una + magnitude(u, MOST_SEGMENTS * segment)?,
            2 => self.expire(),
            3 => self.wait(u)?,
            4 | 5 => {
                let cumulative = self.una + magnitude(u, self.nxt - self.una)?;
                self.ack(u, cumulative, &[], None)?;
            }
            _ => self.sack(u)?,
        }
        Ok(())
    }

    fn sack(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let cumulative = if u.ratio(1, 4)? { self.una + magnitude(u, self.nxt - self.una)? } else { self.una };
        let mut blocks = [Block { start: 0, end: 0 }; 4];
        let count = u.int_in_range(0..=4)?;
        for sack in &mut blocks[..count] {
            *sack = if u.ratio(1, 16)? {
                // A block that a connection would have dropped: never sent, or inverted.
                Block { start: magnitude(u, 2 * self.nxt)?, end: magnitude(u, 2 * self.nxt)? }
            } else {
                block(u, cumulative, self.nxt)?
            };
        }
        let dsack = if u.ratio(1, 4)? { Some(block(u, 0, self.nxt)?) } else { None };
        self.ack(u, cumulative, &blocks[..count], dsack)
    }

    fn ack(&mut self, u: &mut Unstructured<'_>, cumulative: u64, sacks: &[Block], dsack: Option<Block>) -> Result<()> {
        let sacks = if self.negotiated.sack { sacks } else { &[] };
        let dsack = dsack.filter(|_| self.negotiated.sack);
        let echo = if self.negotiated.timestamps { echo(u, self.now)? } else { None };
        let ack = Ack {
            cumulative,
            sacks,
            dsacks: dsack.as_slice(),
            echo,
            mark: mark(u)?,
            plain: !u.ratio(1, 4)?,
            ece: u.ratio(1, 16)?,
        };
        self.engine.on_ack(self.now, &ack);
        self.una = cumulative;
        self.limit = self.limit.max(cumulative);
        Ok(())
    }

    fn expire(&mut self) {
        let deadline = self.engine.deadline();
        if deadline != Instant::NEVER {
            self.now = self.now.max(deadline);
            self.time_out();
        }
    }

    fn time_out(&mut self) {
        self.probes_window |= self.engine.on_timeout(self.now);
    }

    fn wait(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let then = self.now + duration(u)?;
        self.now = then.min(self.engine.deadline().max(self.now));
        self.time_out();
        Ok(())
    }

    /// Sends one segment as a connection would. A FIN may ride on a full segment.
    fn poll(&mut self, stamp: Option<Timestamp>) -> Option<Transmission> {
        if self.opens {
            return self.engine.poll_handshake(self.now, stamp);
        }
        if std::mem::take(&mut self.probes_window) {
            return Some(self.engine.probe_window(self.now, 1, stamp));
        }
        let mut offer = self.engine.offer(self.end, self.limit, stamp);
        offer.weightless = u32::from(self.fin);
        if self.fin && self.nxt + u64::from(offer.next) + 1 == self.end && self.end <= self.limit {
            offer.next += 1;
        }
        self.engine.poll_send(self.now, &offer)
    }

    /// Sends until nothing more may leave.
    fn send(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let stamp = if self.negotiated.timestamps { Some(Timestamp(u.arbitrary()?)) } else { None };
        let mut count = 0;
        while let Some(sent) = self.poll(stamp) {
            count += 1;
            assert!(count <= MOST_TRANSMISSIONS, "sending never ends");
            assert_eq!(sent.id.0, self.next_id, "an id that is not the next");
            self.next_id += 1;
            let end = sent.start + u64::from(sent.len);
            assert!(sent.len > 0 && end <= self.end, "{sent:?}: nothing is there");
            assert!(sent.len <= self.negotiated.mss + u32::from(self.fin), "{sent:?}: longer than a segment");
            match sent.kind {
                Kind::New => assert!(sent.start == self.nxt && end <= self.limit.max(1), "{sent:?}"),
                Kind::Retransmission(_) => {
                    assert!(sent.start >= self.una && end <= self.nxt && sent.copy > 0, "{sent:?}")
                }
                Kind::WindowProbe => assert!(sent.start == self.una && end <= self.nxt, "{sent:?}"),
            }
            self.nxt = self.nxt.max(end);
        }
        while self.engine.poll_event().is_some() {}
        self.segments = self.segments.max(self.engine.scoreboard().segments());
        self.consistent();
        Ok(())
    }

    /// Handles timers that are already due. A timer that counts the age of the oldest segment may
    /// be due when it starts, but not again for the retransmission.
    fn catch_up(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..MOST_EXPIRIES {
            if self.engine.deadline() > self.now {
                return Ok(());
            }
            self.time_out();
            self.send(u)?;
        }
        panic!("timers expire without end: {:?} at {:?}", self.engine.snapshot(), self.now);
    }

    fn consistent(&self) {
        let (now, board) = (self.engine.snapshot(), self.engine.scoreboard());
        assert_eq!((now.una, now.nxt, now.flight), (self.una, self.nxt, self.nxt - self.una));
        assert!(board.sacked_bytes() <= now.flight);
        // Each unreported byte is in flight once, or twice if it was retransmitted before it was
        // deemed lost.
        assert!(now.pipe <= 2 * (now.flight - board.sacked_bytes()), "{now:?}");
        assert!(now.una <= board.resent_below() && board.resent_below() <= board.nxt());
        assert!(now.una <= board.lost_below() && board.lost_below() <= board.nxt());
        assert!(board.sacked().count() <= self.segments + 1, "reports cost more than segments do");
        assert!(now.cwnd > 0 && now.ssthresh > 0, "{now:?}");
        assert!(now.rto > Duration::ZERO, "{now:?}");
        // An RTO without a maximum may exceed the range of time.
        let runs = now.deadline != Instant::NEVER || self.now + now.rto == Instant::NEVER;
        assert!(now.flight == 0 || runs, "outstanding, but no timer runs: {now:?}");
    }
}
