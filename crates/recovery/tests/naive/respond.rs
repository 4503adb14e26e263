//! The responses: "Responding to Spurious Timeouts in TCP", section III.B; RFC 4015, section 3.2.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::congest::Window;
use eifel_recovery::engine::{Config, Engine, Event, Negotiated};
use eifel_recovery::fact::{Ack, Cause, Echo};
use eifel_recovery::registry::{Choice, Value};

use crate::dice::Dice;

const CONNECTIONS: u64 = 3_000;
const MSS: u64 = 1000;
const INITIAL: u64 = 10 * MSS;

/// The state before the first expiry (`_prev`), the reduced ssthresh, and the state at the verdict.
struct Known {
    cwnd_prev: u64,
    ssthresh_prev: u64,
    flight_prev: u64,
    ssthresh_reduced: u64,
    timeouts: u32,
    flight: u64,
    acked: u64,
    ece: bool,
    any_loss_before: bool,
    cwnd: u64,
    ssthresh: u64,
}

/// Returns (cwnd, ssthresh) after the response.
fn naive(name: &str, known: &Known) -> (u64, u64) {
    let &Known { cwnd_prev, ssthresh_prev, ssthresh_reduced, timeouts, flight, acked, .. } = known;
    let option_1 = (cwnd_prev, ssthresh_prev);
    let option_2 = (ssthresh_reduced, ssthresh_reduced);
    let option_3 = (MSS, ssthresh_reduced);
    match name {
        "none" => (known.cwnd, known.ssthresh),
        "option-1" => option_1,
        "option-2" => option_2,
        "option-3" => option_3,
        "option-4" => (cwnd_prev, cwnd_prev),
        "option-4-ssthresh" if known.any_loss_before => (cwnd_prev, cwnd_prev),
        "option-4-ssthresh" => option_1,
        "by-retransmissions" if timeouts == 1 => option_1,
        "by-retransmissions" if timeouts == 2 => option_2,
        "by-retransmissions" => option_3,
        // Step (9): congestion was signalled, so nothing is restored; else FlightSize + min(bytes_acked, IW), pipe_prev.
        "rfc4015" if known.ece => (known.cwnd, known.ssthresh),
        "rfc4015" => (flight + acked.min(INITIAL), known.flight_prev.max(ssthresh_prev)),
        // Section 1: slow start back to the old window.
        "rfc3708" => (known.cwnd, known.ssthresh.max(cwnd_prev)),
        // This project's: RFC 4015's form with two segments instead of IW, and the old flight
        // instead of pipe_prev. Neither exceeds the window before.
        "as-carried" if known.ece => (known.cwnd, known.ssthresh),
        "as-carried" => {
            ((flight + acked.min(2 * MSS)).min(cwnd_prev), known.flight_prev.min(cwnd_prev).max(ssthresh_reduced))
        }
        // The largest of the window now and before, and three quarters of the old cwnd in whole segments.
        "linux" if known.ece => (known.cwnd, known.ssthresh),
        "linux" => {
            let segments = cwnd_prev / MSS;
            let current_ssthresh = ssthresh_prev.max((segments / 2 + segments / 4) * MSS);
            (known.cwnd.max(cwnd_prev), known.ssthresh.max(current_ssthresh))
        }
        // All retransmissions were needless.
        "partial-credit" => option_1,
        other => panic!("{other} has no transcription here"),
    }
}

/// Compares each response on random connections, up to their first verdict.
#[test]
fn the_responses_agree_with_models_of_their_papers() {
    for entry in eifel_recovery::registry::Seam::Respond.entries() {
        let mut dice = Dice::new(4);
        let verdicts = (0..CONNECTIONS).filter(|_| one(&mut dice, entry.name)).count() as u64;
        assert!(verdicts * 2 > CONNECTIONS, "{}: {verdicts} verdicts", entry.name);
    }
}

fn one(dice: &mut Dice, name: &str) -> bool {
    let config = Config {
        detect: Choice::named("eifel-timestamps").with("proof", Value::Word("older".into())),
        respond: Choice::named(name),
        recover: Choice::named("reno"),
        congest: Choice::named("reno").with("grow", Value::Word("always".into())),
        ..Config::default()
    };
    let mut engine = Engine::new(&config).unwrap_or_else(|error| panic!("{error}"));
    engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: false, timestamps: true });
    let end = 1 + MSS * dice.from(20, 400);
    let mut now = Instant::ZERO;
    let send = |engine: &mut Engine, now: Instant| {
        let stamp = Some(Timestamp((now.as_nanos() / 1_000_000) as u32));
        while engine.poll_send(now, &engine.offer(end, u64::MAX, stamp)).is_some() {}
    };
    let ack = |engine: &mut Engine, now: Instant, cumulative: u64, sent_at: Instant, ece: bool| {
        let echo = Echo::Known { value: Timestamp((sent_at.as_nanos() / 1_000_000) as u32), age: now.since(sent_at) };
        engine
            .on_ack(now, &Ack { cumulative, sacks: &[], dsacks: &[], echo: Some(echo), mark: None, plain: true, ece });
    };
    send(&mut engine, now);
    // Some round trips, with a loss that a timeout repairs in some connections.
    let mut any_loss_before = false;
    for _ in 0..dice.below(6) {
        let sent_at = now;
        if dice.once_in(5) && engine.una() < engine.nxt() {
            now = engine.deadline();
            engine.on_timeout(now);
            send(&mut engine, now);
            now += Duration::from_millis(100);
            let (una, nxt) = (engine.una(), engine.nxt());
            ack(&mut engine, now, nxt, Instant::from_nanos(now.as_nanos() - 100_000_000), false);
            assert!(engine.una() > una);
            any_loss_before = true;
        } else {
            now += Duration::from_millis(100);
            let nxt = engine.nxt();
            ack(&mut engine, now, nxt, sent_at, false);
        }
        send(&mut engine, now);
    }
    if engine.nxt() - engine.una() < 2 * MSS {
        return false;
    }
    let before = engine.snapshot();
    let first_sent = now;
    while engine.poll_event().is_some() {}
    let timeouts = dice.from(1, 4) as u32;
    for _ in 0..timeouts {
        now = engine.deadline();
        engine.on_timeout(now);
        send(&mut engine, now);
    }
    let reduced = engine.snapshot();
    // The original's ACK comes, but it does not acknowledge everything.
    let acked = MSS * dice.from(1, (before.nxt - before.una) / MSS - 1);
    let ece = dice.once_in(4);
    now += Duration::from_millis(1);
    ack(&mut engine, now, before.una + acked, first_sent, ece);
    let known = Known {
        cwnd_prev: before.cwnd,
        ssthresh_prev: before.ssthresh,
        flight_prev: before.flight,
        ssthresh_reduced: (before.flight / 2).max(2 * MSS),
        timeouts,
        flight: before.flight - acked,
        acked,
        ece,
        any_loss_before,
        cwnd: reduced.cwnd,
        ssthresh: reduced.ssthresh,
    };
    let adjusted = std::iter::from_fn(|| engine.poll_event()).find_map(|event| match event {
        Event::Adjusted { window: Window { cwnd, ssthresh }, .. } => Some((cwnd, ssthresh)),
        _ => None,
    });
    assert_eq!(adjusted, Some(naive(name, &known)), "{name} after {timeouts} timeouts");
    assert_eq!(engine.episode().map(|episode| episode.cause), Some(Cause::Timeout));
    true
}
