//! The timer of RFC 6298 in an engine: when it is sampled, restarted and backed off.

use eifel_recovery::engine::Negotiated;
use eifel_recovery::time::Instant;

use crate::script::{open, overtaken, spike};
use crate::talk::{Talk, again, at, config, ms, new, start};

pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

/// SRTT, RTTVAR, RTO and deadline in microseconds.
fn timer(talk: &Talk) -> [u64; 4] {
    let now = talk.engine.snapshot();
    let micros = |duration: eifel_recovery::time::Duration| duration.as_nanos() / 1000;
    [
        micros(now.srtt.expect("a sample")),
        micros(now.rttvar.expect("a sample")),
        micros(now.rto),
        now.deadline.as_nanos() / 1000,
    ]
}

/// Two expiries, then the sample of 4100 ms: RTTVAR (150 + 4000) / 4, SRTT (700 + 4100) / 8. It ends the back-off.
/// [rfc6298:5.1] [rfc6298:5.4] [rfc6298:5.6]
fn delay_spike() {
    let mut talk = spike(&config("reno-sack"));
    assert_eq!(timer(&talk), [100_000, 50_000, 2_000_000, 3_100_000]);
    assert_eq!(talk.expire(), (3100, again(2..=2)));
    assert_eq!(timer(&talk), [100_000, 50_000, 4_000_000, 7_100_000]);
    talk.ack(4100, 2, &[], 0);
    assert_eq!(timer(&talk), [600_000, 1_037_500, 4_750_000, 8_850_000]);
}

/// With timestamps the retransmission is timed by its echo; without, nothing is until all of it is behind (Karn's rule).
/// [rfc6298:3.a] [rfc6298:5.a]
fn genuine_loss() {
    let mut talk = overtaken(&config("reno-sack"));
    assert_eq!(talk.engine.deadline(), at(1103), "the fast retransmit starts it anew");
    talk.ack(203, 14, &[], 103);
    assert_eq!(timer(&talk), [100_000, 37_500, 1_000_000, 1_203_000]);

    let mut talk = Talk::with(&config("reno-sack"), Negotiated { mss: 1000, sack: true, timestamps: false });
    talk.send();
    assert_eq!(talk.ack(100, 1, &[], 0), new(11..=12));
    assert_eq!(talk.expire(), (1100, again(2..=2)));
    assert_eq!(talk.ack(1200, 2, &[], 0), again(3..=4));
    assert_eq!(timer(&talk), [100_000, 50_000, 2_000_000, 3_200_000]);
    assert_eq!(talk.ack(1300, 12, &[], 0), new(13..=15));
    assert_eq!(timer(&talk), [100_000, 50_000, 2_000_000, 3_300_000]);
    talk.ack(1400, 13, &[], 0);
    assert_eq!(timer(&talk), [100_000, 37_500, 1_000_000, 2_400_000]);
}

/// The overtaken segment took 104 ms.
fn reordering() {
    let mut talk = overtaken(&config("reno-sack"));
    talk.ack(104, 5, &[], 0);
    assert_eq!(timer(&talk), [100_500, 38_500, 1_000_000, 1_104_000]);
}

/// One ACK in the place of six is one sample. Without timestamps one segment a round trip is timed: 1, then 11.
/// [rfc6298:3.b] [rfc6298:5.2] [rfc6298:5.3]
fn lost_acks() {
    let mut talk = open(&config("reno-sack"));
    talk.ack(105, 7, &[], 0);
    assert_eq!(talk.engine.snapshot().samples, 2);
    assert_eq!(timer(&talk), [100_625, 38_750, 1_000_000, 1_105_000]);

    let mut talk = Talk::with(&config("reno-sack"), Negotiated { mss: 1000, sack: true, timestamps: false });
    talk.send();
    for (millis, segment) in [(100, 1), (110, 2), (150, 10)] {
        talk.ack(millis, segment, &[], 0);
    }
    assert_eq!(talk.engine.snapshot().samples, 1);
    talk.ack(230, 14, &[], 0);
    assert_eq!(talk.engine.snapshot().latest_rtt, Some(ms(130)));
    assert_eq!(timer(&talk), [103_750, 45_000, 1_000_000, 1_230_000]);

    // All there is to send is acknowledged: the timer stops.
    let mut talk = Talk::new(&config("reno-sack"));
    talk.end = start(11);
    talk.send();
    talk.ack(100, 9, &[], 0);
    assert_eq!(talk.engine.deadline(), at(1100));
    talk.ack(110, 10, &[], 0);
    assert_eq!(talk.engine.deadline(), Instant::NEVER);
}

/// An ACK that acknowledges nothing new gives no sample and does not move the deadline.
fn duplicated_packet() {
    let mut talk = open(&config("reno-sack"));
    talk.ack_with(350, 1, &[], 0, Some(1));
    talk.ack_with(650, 1, &[], 0, Some(1));
    assert_eq!(talk.engine.snapshot().samples, 1);
    assert_eq!(timer(&talk), [100_000, 50_000, 1_000_000, 1_100_000]);
}
