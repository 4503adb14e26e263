//! Detectors.

use arbitrary::{Result, Unstructured};
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_recovery::detect::{Detector, Judgement};
use eifel_recovery::fact::{Acked, Covered, Fact, Kind, Transmission, TxId};
use eifel_recovery::registry::{Seam, part};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::input::{block, cause, choice, duration, echo, magnitude, mark, mss};

/// The sender's state as a detector sees it.
struct Sender {
    now: Instant,
    una: u64,
    nxt: u64,
    next_id: u64,
    /// The first position of the retransmission that opened the last episode; `None` before any.
    first: Option<u64>,
    mss: u32,
}

/// Gives facts in any order that a sender can produce. Nothing panics. There are no more verdicts
/// than questions, and a second detector of the same kind returns the same verdicts.
///
/// # Panics
/// If an invariant does not hold.
pub fn detect(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let choice = choice(u, Seam::Detect)?;
    let mut pair = [(); 2].map(|()| part::detector(&choice).expect("the registry's own"));
    let mut sender = Sender { now: Instant::ZERO, una: 1, nxt: 1, next_id: 0, first: None, mss: mss(u)? };
    let (mut questions, mut settled) = (0, 0);
    while !u.is_empty() {
        sender.now += duration(u)?;
        if u.arbitrary()? {
            questions += u32::from(sender.sends_again(u, &mut pair)?);
        } else if let Judgement::Settled(_, reason) = sender.gets_ack(u, &mut pair)? {
            assert!(!reason.is_empty(), "a verdict without a reason");
            settled += 1;
        }
        assert!(settled <= questions, "{settled} verdicts on {questions} episodes and further expiries");
    }
    Ok(())
}

fn observe(pair: &mut [Box<dyn Detector>; 2], fact: &Fact<'_>, view: &View) -> Judgement {
    let [one, other] = pair;
    let judgement = one.observe(fact, view);
    assert_eq!(judgement, other.observe(fact, view), "the same facts, another judgement");
    judgement
}

impl Sender {
    /// Sends a retransmission. Returns whether it opened an episode, or repeats the first
    /// retransmission, as a further expiry does. F-RTO then starts again.
    fn sends_again(&mut self, u: &mut Unstructured<'_>, pair: &mut [Box<dyn Detector>; 2]) -> Result<bool> {
        self.nxt += 1 + magnitude(u, 1 << 32)?;
        let start = self.una + magnitude(u, self.nxt - self.una - 1)?;
        let len = (self.nxt - start).min(u64::from(self.mss)) as u32;
        let kind = Kind::Retransmission(cause(u)?);
        let transmission = Transmission { id: TxId(self.next_id), start, len, kind, copy: u.int_in_range(1..=20)? };
        self.next_id += 1;
        let stamp = u.arbitrary::<Option<u32>>()?.map(Timestamp);
        let original = u.arbitrary::<Option<u32>>()?.map(Timestamp);
        let opens = u.arbitrary()?;
        let round_trips = RoundTrips::new(stamp.is_some());
        let fact = Fact::Retransmitted { transmission: &transmission, stamp, original, opens };
        observe(pair, &fact, &self.view(&round_trips));
        if opens {
            self.first = Some(start);
        }
        Ok(self.first == Some(start))
    }

    fn gets_ack(&mut self, u: &mut Unstructured<'_>, pair: &mut [Box<dyn Detector>; 2]) -> Result<Judgement> {
        let bytes = magnitude(u, self.nxt - self.una)?;
        self.una += bytes;
        let dsack;
        let acked = Acked {
            cumulative: self.una,
            bytes,
            sacked: magnitude(u, self.nxt - self.una)?,
            originals: None,
            duplicate: bytes == 0 && u.arbitrary()?,
            highest: self.covered(u, bytes)?,
            sacked_up_to: self.una + magnitude(u, self.nxt - self.una)?,
            sacks: &[],
            dsacks: {
                // Drawn here, in the order of the fields, so that older inputs keep their meaning.
                dsack = if u.arbitrary()? { Some(block(u, 0, self.nxt)?) } else { None };
                dsack.as_slice()
            },
            echo: echo(u, self.now)?,
            mark: mark(u)?,
            ece: u.arbitrary()?,
            all: self.una == self.nxt,
        };
        let round_trips = RoundTrips::new(acked.echo.is_some());
        Ok(observe(pair, &Fact::Acked(&acked), &self.view(&round_trips)))
    }

    fn covered(&self, u: &mut Unstructured<'_>, bytes: u64) -> Result<Option<Covered>> {
        if bytes == 0 || u.ratio(1, 8)? {
            return Ok(None);
        }
        let last_sent = Instant::from_nanos(magnitude(u, self.now.as_nanos())?);
        Ok(Some(Covered { end: self.una, copies: u.int_in_range(0..=20)?, last_sent }))
    }

    fn view(&self, round_trips: &RoundTrips) -> View {
        View { now: self.now, una: self.una, nxt: self.nxt, mss: self.mss, sack: true, round_trips: *round_trips }
    }
}
