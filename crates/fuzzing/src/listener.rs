//! A listener with a backlog and SYN cookies, and its callers.

use arbitrary::{Result, Unstructured};
use eifel_base::time::Instant;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::{Caller, Listener, ListenerReply, State};

use crate::connection::{marks, settings};
use crate::input::{duration, magnitude};

const PORT: u16 = 1000;
const MOST_BACKLOG: usize = 6;
const MOST_PAYLOAD: u64 = 4000;

/// Delivers any segments from a few callers. Nothing panics or overflows, and half-open connections
/// never exceed the backlog. The listener never answers a reset, answers a SYN with a SYN-ACK, and
/// answers a wrong acknowledgement with a reset. A caller that completes a handshake has an open
/// connection, and is no longer half open.
///
/// # Panics
/// If an invariant does not hold.
pub fn listener(data: &[u8]) {
    // Bytes that yield no valid input are ignored.
    let _ = run(&mut Unstructured::new(data));
}

/// A listener, and its last answer to each caller.
struct Driver {
    listener: Listener,
    now: Instant,
    backlog: usize,
    answers: [Option<Segment>; 16],
}

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let settings = settings(u)?;
    let backlog = u.int_in_range(0..=MOST_BACKLOG)?;
    let listener = Listener::new(&settings, PORT, backlog, [u.arbitrary()?, u.arbitrary()?]);
    let mut driver = Driver { listener, now: Instant::ZERO, backlog, answers: [None; 16] };
    while !u.is_empty() {
        if u.ratio(1, 8)? {
            driver.now += duration(u)?;
        }
        driver.arrives(u)?;
    }
    Ok(())
}

impl Driver {
    fn arrives(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let number = u.int_in_range(0..=15_u8)?;
        let caller = Caller::v4([10, 0, 0, number], [10, 0, 1, 1], 2000);
        let segment = self.segment(u, usize::from(number))?;
        let payload = vec![7; segment.payload_len as usize];
        let engine = || Engine::new(&Config::default()).expect("the registry's own");
        let half_open = self.listener.half_open();
        let heard = self.listener.handle_segment(self.now, &caller, &segment, &payload, engine);
        assert!(self.listener.half_open() <= self.backlog, "more than the backlog");
        match heard {
            ListenerReply::Nothing => {}
            ListenerReply::Answer(answer) => self.answered(usize::from(number), &segment, answer),
            ListenerReply::Opened(connection) => {
                assert!(segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN), "{segment:?} opens");
                assert!(!matches!(connection.state(), State::Listen | State::SynSent | State::SynReceived(_)));
                assert!(self.listener.half_open() <= half_open);
            }
        }
        Ok(())
    }

    fn answered(&mut self, number: usize, segment: &Segment, answer: Segment) {
        let flags = segment.flags;
        assert!(!flags.has(Flags::RST), "a reset is answered");
        assert_eq!((answer.source_port, answer.destination_port), (PORT, 2000));
        assert!(answer.payload_len == 0);
        if !flags.has(Flags::ACK) {
            assert!(flags.has(Flags::SYN) && answer.flags == Flags::SYN.with(Flags::ACK), "{segment:?}: {answer:?}");
            assert_eq!(answer.ack.0, segment.seq.0.wrapping_add(1));
            self.answers[number] = Some(answer);
        } else if answer.flags.has(Flags::RST) {
            assert_eq!(answer.seq, segment.ack);
        }
    }

    /// Draws a segment: usually a SYN, or the reply to its answer.
    fn segment(&self, u: &mut Unstructured<'_>, number: usize) -> Result<Segment> {
        let stamps = u.arbitrary::<Option<(u32, u32)>>()?;
        let options = Options {
            mss: u.arbitrary()?,
            window_scale: u.arbitrary()?,
            sack_permitted: u.arbitrary()?,
            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
            sack: SackBlocks::EMPTY,
            marks: marks(u)?,
        };
        let mut segment = Segment {
            source_port: 2000,
            destination_port: PORT,
            seq: Seq(u.arbitrary()?),
            ack: Seq(u.arbitrary()?),
            flags: match u.int_in_range(0..=7)? {
                0 => Flags(u.arbitrary()?),
                1 => Flags::RST,
                2 | 3 => Flags::SYN,
                _ => Flags::ACK,
            },
            window: u.arbitrary()?,
            options,
            payload_len: if u.ratio(1, 4)? { magnitude(u, MOST_PAYLOAD)? as u32 } else { 0 },
            ecn: Ecn::NotEct,
        };
        if let Some(answer) = self.answers[number].filter(|_| segment.flags != Flags::SYN) {
            segment.flags = if u.ratio(1, 4)? { segment.flags } else { Flags::ACK };
            let apart = u32::from(u.ratio(1, 8)?);
            (segment.seq, segment.ack) = (answer.ack, Seq(answer.seq.0.wrapping_add(1 + apart)));
        }
        Ok(segment)
    }
}
