//! The engine's answers to an offer: lengths of retransmissions, and the handshake.

use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Echo, Engine, Kind, Negotiated};
use eifel_recovery::fact::{Cause, TxId};
use eifel_recovery::registry::{Choice, Value};

use crate::talk::{MSS, at, config, ms};

/// Creates an open connection with a Reno-SACK sender. The first position is 1.
fn open() -> Engine {
    let mut engine = Engine::new(&config("reno-sack")).expect("a known algorithm");
    engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: true, timestamps: true });
    engine
}

/// Sends data up to `end`, whose last position may be a FIN. Returns the first position and length
/// of each transmission.
fn send(engine: &mut Engine, now: Instant, end: u64, fin: bool) -> Vec<(u64, u32)> {
    let poll = || {
        let mut offer = engine.offer(end, 9000, None);
        offer.weightless = u32::from(fin);
        if engine.nxt() + u64::from(offer.next + offer.weightless) == end {
            offer.next += offer.weightless;
        }
        engine.poll_send(now, &offer).map(|sent| (sent.start, sent.len))
    };
    std::iter::from_fn(poll).collect()
}

fn ack(engine: &mut Engine, now: Instant, cumulative: u64) {
    // A round trip of 10 ms.
    let echo = Some(Echo::Known { value: Timestamp(0), age: ms(10) });
    let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false };
    engine.on_ack(now, &ack);
}

/// Lets the deadline expire, and returns it.
fn expire(engine: &mut Engine) -> Instant {
    let now = engine.deadline();
    assert_ne!(now, Instant::NEVER);
    engine.on_timeout(now);
    now
}

/// The path's MSS shrinks, so a segment is retransmitted in parts. A FIN goes with the last part if
/// it fits.
#[test]
fn a_smaller_mss_splits_retransmissions() {
    let mut engine = open();
    assert_eq!(send(&mut engine, at(0), 1002, true), [(1, 1001)]);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, 1002, true), [(1, 1001)]);
    engine.reduce_mss(600);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, 1002, true), [(1, 600)]);
    ack(&mut engine, now + ms(10), 601);
    // 400 bytes and the FIN.
    assert_eq!(send(&mut engine, now + ms(10), 1002, true), [(601, 401)]);
    // A larger MSS changes nothing.
    engine.reduce_mss(900);
    assert_eq!(engine.snapshot().cwnd, 2 * 600);

    // Without a FIN, a full segment has the new size.
    let mut engine = open();
    assert_eq!(send(&mut engine, at(0), 1002, false), [(1, 1000), (1001, 1)]);
    engine.reduce_mss(999);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, 1002, false), [(1, 999)]);
}

#[test]
fn every_transmission_has_an_id_of_its_own() {
    let mut engine = open();
    let poll = || engine.poll_send(at(0), &engine.offer(3001, 9000, None)).map(|sent| sent.id);
    let ids: Vec<_> = std::iter::from_fn(poll).collect();
    assert_eq!(ids, [TxId(0), TxId(1), TxId(2)]);
    let now = expire(&mut engine);
    let again = engine.poll_send(now, &engine.offer(3001, 9000, None)).expect("the oldest");
    assert_eq!((again.id, again.kind, again.copy), (TxId(3), Kind::Retransmission(Cause::Timeout), 1));
}

/// The SYN is sent once, again when its timer expires, and again when the peer shows that it lacks
/// the SYN.
#[test]
fn the_syn_waits_for_its_timer() {
    let mut engine = Engine::new(&config("reno-sack")).expect("a known algorithm");
    let syn = |engine: &mut Engine, now| engine.poll_handshake(now, None).map(|sent| (sent.start, sent.len, sent.copy));
    engine.repeat_handshake();
    assert_eq!(syn(&mut engine, at(0)), Some((0, 1, 0)));
    assert_eq!(syn(&mut engine, at(1)), None);
    engine.repeat_handshake();
    assert_eq!(syn(&mut engine, at(2)), Some((0, 1, 1)));
    let now = expire(&mut engine);
    assert_eq!(syn(&mut engine, now), Some((0, 1, 2)));
    ack(&mut engine, now + ms(10), 1);
    engine.established(now + ms(10), Negotiated { mss: 1000, sack: true, timestamps: true });
    engine.repeat_handshake();
    assert_eq!(syn(&mut engine, now + ms(10)), None);
    assert_eq!(send(&mut engine, now + ms(10), 501, false), [(1, 500)]);
}

/// After more than the RTO of 1 s with nothing outstanding, the restart window applies (RFC 5681,
/// section 4.1).
#[test]
fn only_an_idle_time_longer_than_the_rto_restarts_the_window() {
    let after = |pause: u64| {
        let mut config = config("reno-sack");
        config.congest = Choice::named("reno")
            .with("grow", Value::Word("always".into()))
            .with("restart_after_idle", Value::Switch(true));
        let mut engine = Engine::new(&config).expect("a known algorithm");
        engine.established(Instant::ZERO, Negotiated { mss: 1000, sack: true, timestamps: true });
        send(&mut engine, at(0), 2001, false);
        ack(&mut engine, at(100), 2001);
        assert_eq!(engine.snapshot().cwnd, 11_000);
        let now = at(100 + pause);
        send(&mut engine, now, 3001, false);
        engine.snapshot().cwnd
    };
    assert_eq!([after(1000), after(1001)], [11_000, 10_000]);
}
