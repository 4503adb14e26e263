//! A peer that lost a chunk forges evidence that the retransmission was spurious.

use core::net::IpAddr;

use eifel_base::time::Duration;
use eifel_packet::sctp::{self, Chunk, Gap, Gaps, Sack, SackFlags};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_recovery::association::PathId;
use eifel_recovery::event::Event;
use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{Delivery, TimestampChunk, TimestampValues};

use crate::Attack;
use crate::associated::{Associated, settings};
use crate::trial::{Limit, Trial};

pub(super) const ATTACK: Attack = Attack {
    name: "s9-forged-evidence",
    summary: "SACKs that hide a loss, and SACKs of retransmissions that echo an older timestamp, deny the retransmit bit, or report a duplicate",
    source: "RFC 3522, section 6; RFC 3708, section 3; for SCTP, \"On making SCTP robust to spurious retransmissions\"",
    defence: "a gap ack block that contradicts the cumulative TSN says nothing; Eifel by timestamps believes each original's own alone; against forged bits and duplicates there is none in the protocol: detection over SCTP is off unless it is asked for; an undo at most once a round trip",
    run,
};

/// The paper's detector: any older timestamp proves that an original arrived.
const PLAIN: &str = "eifel-cover-timestamps, older";
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The forgery in the answer to a retransmission.
#[derive(Clone, Copy, PartialEq)]
enum Forged {
    Nothing,
    Echo,
    Bit,
    Duplicate,
}

fn run(trial: &mut Trial) {
    let losses = trial.times(200, 40);
    trial.exactly("bytes that a block right behind the cumulative TSN takes for received", "bytes", hidden(), 0);
    let all = [Forged::Echo, Forged::Bit, Forged::Duplicate];
    let by_default: u64 = all.iter().map(|forged| undone("none", *forged, losses)).sum();
    trial.exactly("undos by default, whatever is forged", "undos", by_default, 0);
    let safe = undone("eifel-cover-timestamps", Forged::Echo, losses);
    trial.exactly("undos by the originals' own timestamps, where others are echoed", "undos", safe, 0);
    for (detect, forged, honest, lying) in [
        (
            PLAIN,
            Forged::Echo,
            "undos by the paper's timestamps, of an honest peer's losses",
            "undos by the paper's timestamps where echoes are forged",
        ),
        (
            "eifel-cover-bit",
            Forged::Bit,
            "undos by the bit, of an honest peer's losses",
            "undos by the bit where it is denied",
        ),
        (
            "dsack",
            Forged::Duplicate,
            "undos by DupTSN, of an honest peer's losses",
            "undos by DupTSN where duplicates are forged",
        ),
    ] {
        trial.exactly(honest, "undos", undone(detect, Forged::Nothing, losses), 0);
        trial.counted(lying, "undos", undone(detect, forged, losses) as f64, Limit::None);
    }
}

/// Returns the bytes that leave the flight when the peer hides a loss. It reports the first missing
/// chunk and all chunks behind it as received beyond a gap. An honest receiver would acknowledge
/// that chunk cumulatively.
#[expect(clippy::expect_used, reason = "the buffer is large")]
fn hidden() -> u64 {
    let mut victim = Associated::open(&settings());
    for _ in 0..20 {
        victim.association.send(Delivery::default(), vec![0; 1432]).expect("there is room");
    }
    victim.sends();
    let flight = |victim: &Associated| victim.association.engine().flight(PathId(0));
    let (before, nxt) = (flight(&victim), victim.association.engine().nxt());
    victim.acknowledges(0, &[Gap { start: 1, end: nxt as u16 }.to_bytes()], &[]);
    before - flight(&victim)
}

/// Counts the losses that a sender undoes.
#[expect(clippy::expect_used, reason = "the buffer is large")]
fn undone(detect: &str, forged: Forged, losses: u64) -> u64 {
    let mut settings = settings();
    settings.timestamp_chunk = TimestampChunk::Agreed;
    settings.retransmit_bit = true;
    settings.engine.path.detect = Choice::named(detect);
    if detect == PLAIN {
        settings.timestamp_values = TimestampValues::Clock;
        settings.engine.path.detect = Choice::named("eifel-cover-timestamps");
        settings.engine.path.detect.parameters.push(("proof".into(), Value::Word("older".into())));
    }
    settings.engine.path.respond = Choice::named("rfc4015");
    let mut victim = Associated::open(&settings);
    let mut undone = 0;
    for _ in 0..losses {
        // Runs rounds without loss until three chunks can be reported behind a missing one.
        let original = loop {
            while victim.association.send_room() > 500_000 {
                victim.association.send(Delivery::default(), vec![0; 1432]).expect("there is room");
            }
            victim.now += ROUND_TRIP;
            // The first chunk will be lost. The peer knows the timestamp of the packet behind it.
            let left = stamp(victim.sends().get(1..).unwrap_or_default());
            victim.now += ROUND_TRIP;
            let (una, nxt) = (victim.association.engine().una(), victim.association.engine().nxt());
            if nxt - una > 3 {
                break left;
            }
            answer(&mut victim, nxt, (None, &[]), (left, false));
        };
        let (una, nxt) = (victim.association.engine().una(), victim.association.engine().nxt());
        for reported in 1..=3 {
            let gap = Gap { start: 2, end: 1 + reported }.to_bytes();
            answer(&mut victim, una, (Some(gap), &[]), (original, false));
        }
        let again = stamp(&victim.sends());
        victim.now += ROUND_TRIP;
        let echo = if forged == Forged::Echo { original } else { again };
        let duplicates = if forged == Forged::Duplicate { &[una as u32][..] } else { &[] };
        answer(&mut victim, nxt, (None, duplicates), (echo, forged != Forged::Bit));
        while let Some((_, event)) = victim.association.poll_engine_event() {
            undone += u64::from(matches!(event, Event::Adjusted { .. }));
        }
    }
    undone
}

/// Returns the timestamp of the first packet; 0 if no packet was sent.
fn stamp(sent: &[(IpAddr, Vec<u8>)]) -> u32 {
    let chunks = sent.first().and_then(|(_, bytes)| sctp::parse(bytes).ok()).map(|(_, chunks)| chunks);
    let stamps = chunks.into_iter().flatten().find_map(|chunk| match chunk {
        Ok(Chunk::Timestamp(stamps)) => Some(stamps.value),
        _ => None,
    });
    stamps.unwrap_or_default()
}

/// Sends a SACK up to the chunk `next`, with a gap and duplicates, and echoes the transmission that
/// it answers.
fn answer(
    victim: &mut Associated,
    next: u64,
    (gap, duplicates): (Option<[u8; 4]>, &[u32]),
    (echo, again): (u32, bool),
) {
    let gaps: Vec<[u8; 4]> = gap.into_iter().collect();
    let duplicates: Vec<[u8; 4]> =
        duplicates.iter().map(|index| victim.tsn.wrapping_add(*index).to_be_bytes()).collect();
    let flags = if again { SackFlags::ANSWERS_SENT_AGAIN } else { SackFlags::default() };
    let cumulative = Seq(victim.tsn.wrapping_add(next as u32).wrapping_sub(1));
    let sack = Sack { flags, cumulative, a_rwnd: 1 << 30, gaps: Gaps(&gaps), duplicates: &duplicates };
    victim.gets(&[Chunk::Timestamp(Timestamps { value: 1, echo }), Chunk::Sack(sack)]);
}
