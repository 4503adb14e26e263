//! What the engine makes of an offer: lengths near the end of the data and of the peer's window, the FIN, the SYN, and
//! probes of a closed window.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Ack, Echo, Engine, Kind, Negotiated, Offer};
use eifel_recovery::fact::{Cause, TxId};
use eifel_recovery::registry::{Choice, Value};

use crate::talk::{MSS, at, config, ms};

/// An open connection with a Reno-SACK sender; position 1 is the first.
fn open() -> Engine {
    let mut engine = Engine::new(&config("reno-sack")).expect("a known algorithm");
    engine.established(Instant::ZERO, Negotiated { mss: MSS as u32, sack: true, timestamps: true });
    engine
}

fn offer(end: u64, limit: u64, fin: bool) -> Offer {
    Offer { end, fin, limit, stamp: None }
}

/// First position and length of all that leaves.
fn send(engine: &mut Engine, now: Instant, offer: &Offer) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| engine.poll_send(now, offer)).map(|sent| (sent.start, sent.len)).collect()
}

fn ack(engine: &mut Engine, now: Instant, cumulative: u64) {
    // A round trip of 10 ms.
    let echo = Some(Echo { value: Timestamp(0), age: ms(10) });
    let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo, mark: None, plain: true, ece: false };
    engine.on_ack(now, &ack);
}

/// The deadline expires.
fn expire(engine: &mut Engine) -> Instant {
    let now = engine.deadline();
    assert_ne!(now, Instant::NEVER);
    engine.on_timeout(now);
    now
}

#[test]
fn the_fin_rides_on_a_full_segment_and_on_a_part_of_one() {
    // 1000 bytes and the FIN.
    assert_eq!(send(&mut open(), at(0), &offer(1002, 9000, true)), [(1, 1001)]);
    // 1001 bytes without one.
    assert_eq!(send(&mut open(), at(0), &offer(1002, 9000, false)), [(1, 1000), (1001, 1)]);
    // 1001 bytes and the FIN: the rest is a byte and the FIN.
    assert_eq!(send(&mut open(), at(0), &offer(1003, 9000, true)), [(1, 1000), (1001, 2)]);
    assert_eq!(send(&mut open(), at(0), &offer(301, 9000, true)), [(1, 300)]);
    // A FIN that finds no room in the peer's window waits.
    assert_eq!(send(&mut open(), at(0), &offer(1002, 1001, true)), [(1, 1000)]);
}

/// The most that the peer has offered is a segment or more: half of two segments and more may go, less waits.
#[test]
fn half_a_full_segment_is_not_silly() {
    let after = |limit: u64| {
        let mut engine = open();
        assert_eq!(send(&mut engine, at(0), &offer(9000, 3001, false)), [(1, 1000), (1001, 1000), (2001, 1000)]);
        ack(&mut engine, at(100), 3001);
        send(&mut engine, at(100), &offer(9000, limit, false))
    };
    assert_eq!(after(3001 + 1000), [(3001, 1000)]);
    assert_eq!(after(3001 + 999), []);
    // The end of the data is never silly.
    let mut engine = open();
    assert_eq!(send(&mut engine, at(0), &offer(1011, 5001, false)), [(1, 1000), (1001, 10)]);
}

/// The largest window was 600 bytes: half of that.
#[test]
fn half_the_largest_window_is_not_silly() {
    let after = |limit: u64| {
        let mut engine = open();
        assert_eq!(send(&mut engine, at(0), &offer(9000, 601, false)), [(1, 600)]);
        ack(&mut engine, at(100), 601);
        send(&mut engine, at(100), &offer(9000, limit, false))
    };
    assert_eq!(after(601 + 300), [(601, 300)]);
    assert_eq!(after(601 + 299), []);
}

/// The path takes less from now on: what was sent as one goes again in parts, a FIN with the last of them if it fits.
#[test]
fn a_smaller_mss_cuts_what_is_sent_again() {
    let mut engine = open();
    let all = offer(1002, 9000, true);
    assert_eq!(send(&mut engine, at(0), &all), [(1, 1001)]);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, &all), [(1, 1001)]);
    engine.reduce_mss(600);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, &all), [(1, 600)]);
    ack(&mut engine, now + ms(10), 601);
    // 400 bytes and the FIN.
    assert_eq!(send(&mut engine, now + ms(10), &all), [(601, 401)]);
    // A larger one changes nothing.
    engine.reduce_mss(900);
    assert_eq!(engine.snapshot().cwnd, 2 * 600);

    // Without a FIN there, a full segment is one of the new size.
    let mut engine = open();
    let all = offer(1002, 9000, false);
    assert_eq!(send(&mut engine, at(0), &all), [(1, 1000), (1001, 1)]);
    engine.reduce_mss(999);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, &all), [(1, 999)]);
}

#[test]
fn every_transmission_has_an_id_of_its_own() {
    let mut engine = open();
    let all = offer(3001, 9000, false);
    let ids: Vec<_> = std::iter::from_fn(|| engine.poll_send(at(0), &all)).map(|sent| sent.id).collect();
    assert_eq!(ids, [TxId(0), TxId(1), TxId(2)]);
    let now = expire(&mut engine);
    let again = engine.poll_send(now, &all).expect("the oldest");
    assert_eq!((again.id, again.kind, again.copy), (TxId(3), Kind::Retransmission(Cause::Timeout), 1));
}

/// Nothing is outstanding and the peer has closed its window: a probe after the RTO of 1 s, then after twice that, and so
/// on up to a minute; each carries a byte, or what has meanwhile room.
#[test]
fn a_closed_window_is_probed_at_growing_intervals() {
    let mut engine = open();
    assert_eq!(send(&mut engine, at(0), &offer(9000, 1001, false)), [(1, 1000)]);
    ack(&mut engine, at(100), 1001);
    let mut closed = offer(9000, 1001, false);
    assert_eq!(send(&mut engine, at(100), &closed), []);
    let rto = engine.snapshot().rto;
    assert_eq!(rto, ms(1000));
    let mut now = at(100);
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        let before = now;
        now = expire(&mut engine);
        assert_eq!(now.since(before), Duration::from_secs(seconds));
        let probe = engine.poll_send(now, &closed).expect("a probe");
        let una = engine.una();
        assert_eq!((probe.start, probe.len, probe.kind), (una, 1, Kind::Probe));
        assert_eq!(send(&mut engine, now, &closed), []);
        // The peer takes the byte, and its window stays closed.
        ack(&mut engine, now, una + 1);
        closed = offer(9000, una + 1, false);
        assert_eq!(send(&mut engine, now, &closed), []);
    }

    // Where there is room for a part, the probe fills it; the data may end before.
    for (end, limit, len) in [(9000, 1301, 300), (1101, 1301, 100)] {
        let mut engine = open();
        send(&mut engine, at(0), &offer(end.min(1001), 3001, false));
        ack(&mut engine, at(100), 1001);
        let small = offer(end, limit, false);
        let sent = send(&mut engine, at(100), &small);
        if end < limit {
            assert_eq!(sent, [(1001, len)], "the end of the data does not wait");
        } else {
            assert_eq!(sent, [], "silly");
            let now = expire(&mut engine);
            assert_eq!(send(&mut engine, now, &small), [(1001, len)]);
        }
    }
}

/// A probe that nobody answers goes again, the same byte.
#[test]
fn an_unanswered_probe_is_repeated() {
    let mut engine = open();
    send(&mut engine, at(0), &offer(9000, 1001, false));
    ack(&mut engine, at(100), 1001);
    let closed = offer(9000, 1001, false);
    assert_eq!(send(&mut engine, at(100), &closed), []);
    let now = expire(&mut engine);
    let first = engine.poll_send(now, &closed).expect("a probe");
    let now = expire(&mut engine);
    let second = engine.poll_send(now, &closed).expect("it again");
    assert_eq!((first.start, first.len, first.copy), (1001, 1, 0));
    assert_eq!((second.start, second.len, second.copy), (1001, 1, 1));
}

/// The SYN leaves once, again when its timer expires, and again when the peer shows that it lacks it; never without an
/// offer.
#[test]
fn the_syn_waits_for_its_timer() {
    let mut engine = Engine::new(&config("reno-sack")).expect("a known algorithm");
    assert_eq!(send(&mut engine, at(0), &offer(0, 0, false)), []);
    engine.repeat_syn();
    let syn = offer(1, 1, false);
    assert_eq!(send(&mut engine, at(0), &syn), [(0, 1)]);
    assert_eq!(send(&mut engine, at(1), &syn), []);
    engine.repeat_syn();
    assert_eq!(send(&mut engine, at(2), &syn), [(0, 1)]);
    let now = expire(&mut engine);
    assert_eq!(send(&mut engine, now, &syn), [(0, 1)]);
    ack(&mut engine, now + ms(10), 1);
    engine.established(now + ms(10), Negotiated { mss: 1000, sack: true, timestamps: true });
    engine.repeat_syn();
    assert_eq!(send(&mut engine, now + ms(10), &offer(501, 9000, false)), [(1, 500)]);
}

/// Longer than the RTO of 1 s without anything outstanding: the window begins anew (RFC 5681, section 4.1).
#[test]
fn only_more_than_an_rto_is_a_long_pause() {
    let after = |pause: u64| {
        let mut config = config("reno-sack");
        config.congest = Choice::named("reno")
            .with("grow", Value::Word("always".into()))
            .with("restart_after_idle", Value::Switch(true));
        let mut engine = Engine::new(&config).expect("a known algorithm");
        engine.established(Instant::ZERO, Negotiated { mss: 1000, sack: true, timestamps: true });
        send(&mut engine, at(0), &offer(2001, 99_000, false));
        ack(&mut engine, at(100), 2001);
        assert_eq!(engine.snapshot().cwnd, 11_000);
        let now = at(100 + pause);
        send(&mut engine, now, &offer(3001, 99_000, false));
        engine.snapshot().cwnd
    };
    assert_eq!([after(1000), after(1001)], [11_000, 10_000]);
}
