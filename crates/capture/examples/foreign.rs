//! Judges a stack of somebody else: its segments pass a path of `eifel-path`, a capture is made at the sender, and
//! `eifel-capture` is used as a library. Everything here knows which originals arrived, so it also knows the truth.
//! `cargo run -p eifel-capture --example foreign`

use eifel_capture::analysis::Analyzer;
use eifel_capture::eifel_base::time::{Duration, Instant};
use eifel_capture::eifel_base::units::Rate;
use eifel_capture::eifel_packet::ip::{Addresses, Header};
use eifel_capture::eifel_packet::pcapng::{Interface, Packet, Writer};
use eifel_capture::eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_capture::eifel_packet::{datagram, seq::Seq};
use eifel_capture::frame::read::Reader;
use eifel_capture::result::Verdict;
use eifel_sim::eifel_path::{config::LinkConfig, link::Link, parcel::Parcel, spike};
use std::collections::VecDeque;

const BYTES: u32 = 1000;
const WINDOW: u32 = 8;
const TIMEOUT: Duration = Duration::from_millis(500);
/// The path holds what would arrive in this time.
const SPIKE: [Duration; 2] = [Duration::from_millis(1000), Duration::from_millis(2200)];
/// The segment that the path loses at its first transmission.
const LOST: u32 = 100;

/// What the analysis says about the retransmissions, and what is true.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Judged {
    pub retransmissions: usize,
    pub spurious: usize,
    pub undecidable: usize,
    pub truly_spurious: usize,
    /// Verdicts that contradict the truth.
    pub wrong: usize,
}

/// The capture at the sender: frames, and of each whether it is a needless retransmission.
struct Capture {
    writer: Writer<Vec<u8>>,
    interface: Interface,
    needless: Vec<bool>,
}

impl Capture {
    fn add(&mut self, now: Instant, (addresses, segment): (Addresses, &Segment), needless: bool) -> Result<(), String> {
        let payload = vec![7; segment.payload_len as usize];
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(addresses), segment, &payload, &mut bytes).map_err(|error| error.to_string())?;
        let packet = Packet { bytes: &bytes, wire_len: bytes.len() as u32, comment: None };
        let nanos = 1_700_000_000_000_000_000 + now.since(Instant::ZERO).as_nanos();
        self.writer.packet(self.interface, nanos, packet).map_err(|error| error.to_string())?;
        self.needless.push(needless);
        Ok(())
    }
}

/// The foreign sender: a fixed window, a fixed timer, and go-back-N. Sends `count` segments, and judges the capture.
///
/// # Errors
/// A message, if the capture cannot be written or read.
pub fn transfer(count: u32) -> Result<Judged, String> {
    let rate = Rate::from_bps(2_000_000).ok_or("a rate of zero")?;
    let mut config = LinkConfig::plain(rate, Duration::from_millis(20));
    let span = spike::Span { start: Instant::ZERO + SPIKE[0], end: Instant::ZERO + SPIKE[1] };
    let source = spike::SpikeSource::Listed(vec![span]);
    config.spikes.push(spike::SpikeConfig { name: "spike".into(), holds: spike::HoldsAt::Arriving, source });
    let mut link = Link::new(&config, "link", 1).map_err(|error| error.to_string())?;
    let mut writer = Writer::new(Vec::new(), "foreign").map_err(|error| error.to_string())?;
    let interface = writer.interface("sender").map_err(|error| error.to_string())?;
    let mut capture = Capture { writer, interface, needless: Vec::new() };

    let there = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
    let millis = |now: Instant| now.since(Instant::ZERO).as_nanos() / 1_000_000;
    let (mut now, mut acked, mut next) = (Instant::ZERO, 0, 0);
    // By segment: whether a copy under way, or one that has arrived, reaches the receiver. The oracle of this example.
    let mut reaches = vec![false; count as usize];
    let mut sent = vec![0_u32; count as usize];
    let mut received = vec![false; count as usize];
    let (mut acks, mut outcomes) = (VecDeque::<(Instant, u32, u64)>::new(), Vec::new());
    let mut timer = Instant::NEVER;
    while acked < count {
        while next < count.min(acked + WINDOW) {
            let place = next as usize;
            let segment = Segment {
                seq: Seq(1000 + next * BYTES),
                ack: Seq(1),
                flags: Flags::ACK,
                payload_len: BYTES,
                options: stamps(millis(now), 0),
                ..Segment::EMPTY
            };
            capture.add(now, (there, &segment), sent[place] > 0 && reaches[place])?;
            if next != LOST || sent[place] > 0 {
                let handle = next | (millis(now) as u32) << 12;
                link.offer(now, Parcel { handle, bytes: 1040 }, Default::default, &mut outcomes);
                reaches[place] = true;
            }
            sent[place] += 1;
            next += 1;
            timer = timer.min(now + TIMEOUT);
        }
        let ack = acks.front().map_or(Instant::NEVER, |&(at, ..)| at);
        now = timer.min(ack).min(link.next_event());
        if now == ack
            && let Some((_, cumulative, stamp)) = acks.pop_front()
        {
            let options = stamps(millis(now), stamp);
            let answer = Segment { seq: Seq(1), ack: Seq(1000 + cumulative * BYTES), options, ..ACK };
            capture.add(now, (there.reversed(), &answer), false)?;
            if cumulative > acked {
                (acked, next) = (cumulative, next.max(cumulative));
                timer = if acked < next { now + TIMEOUT } else { Instant::NEVER };
            }
        } else if now == timer {
            (next, timer) = (acked, Instant::NEVER);
        } else if let Some(parcel) = link.advance(now, &mut outcomes) {
            received[(parcel.handle & 0xfff) as usize] = true;
            let cumulative = received.iter().take_while(|there| **there).count() as u32;
            acks.push_back((now + Duration::from_millis(20), cumulative, u64::from(parcel.handle >> 12)));
        }
    }
    judge(capture)
}

const ACK: Segment = Segment { flags: Flags::ACK, ..Segment::EMPTY };

fn stamps(value: u64, echo: u64) -> Options {
    let timestamps = Some(Timestamps { value: value as u32, echo: echo as u32 });
    Options { timestamps, ..Default::default() }
}

/// Analyses the capture, and compares each verdict with the truth.
fn judge(capture: Capture) -> Result<Judged, String> {
    let mut reader = Reader::new();
    reader.feed(&capture.writer.finish().map_err(|error| error.to_string())?);
    let mut analyzer = Analyzer::default();
    while let Some(frame) = reader.frame().map_err(|error| error.to_string())? {
        analyzer.frame(&frame);
    }
    let mut judged = Judged::default();
    for one in analyzer.finish().retransmissions {
        let truly = capture.needless[one.frame as usize - 1];
        judged.retransmissions += 1;
        judged.truly_spurious += usize::from(truly);
        match one.verdict {
            Verdict::Spurious => judged.spurious += 1,
            Verdict::Undecidable => judged.undecidable += 1,
            Verdict::Needed => {}
        }
        let decided = one.verdict != Verdict::Undecidable;
        judged.wrong += usize::from(decided && (one.verdict == Verdict::Spurious) != truly);
    }
    Ok(judged)
}

fn main() -> Result<(), String> {
    println!("{:?}", transfer(400)?);
    Ok(())
}
