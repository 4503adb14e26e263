//! Proportional Rate Reduction (RFC 6937, RFC 9937), ACK by ACK.

use eifel_recovery::engine::{Ack, Config, Engine, Negotiated};
use eifel_recovery::registry::{Choice, Value};

use crate::script::{open, text};
use crate::talk::{at, config};

fn with(recover: &str, reduction: &str) -> Config {
    let recover = Choice::named(recover).with("reduction", Value::Word(reduction.into()));
    Config { recover, ..config("rfc6675") }
}

/// Of segments 2..=14, 2 is lost. RecoverFS is 13 segments less the two that were SACKed before,
/// and ssthresh is half of it. The third duplicate delivers one segment and triggers the
/// retransmission of 2. From there on, every second delivery lets another segment go. From the
/// tenth duplicate on, pipe is at most ssthresh, and data is sent up to ssthresh.
pub fn reduction(recover: &str) {
    let sent = |reduction| {
        let mut talk = open(&with(recover, reduction));
        let sent: Vec<_> = (3..=14).map(|last| text(&talk.ack(98 + last, 1, &[(3, last)], 0))).collect();
        assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
        sent
    };
    assert_eq!(sent("prr"), ["13", "14", "2r", "", "", "15", "", "16", "", "", "17", "18"]);
    assert_eq!(sent("at-once"), ["13", "14", "2r", "", "", "", "", "", "15", "16", "17", "18"]);
}

/// An echo halves the flight of ten. With PRR, every second delivery lets a segment go; without
/// PRR, nothing is sent until the flight is halved. At the eighth delivery five segments are in
/// flight, which is ssthresh. From there on each delivery lets one go.
pub fn after_echo() {
    let sent = |after_echo: &str| {
        let recover = Choice::named("rack-tlp").with("after_echo", Value::Word(after_echo.into()));
        let mut engine = Engine::new(&Config { recover, ..Config::default() }).expect("the registry's own");
        engine.established(at(0), Negotiated { mss: 100, sack: true, timestamps: false });
        let mut sent: Vec<usize> = Vec::new();
        for number in 0..=10 {
            let now = at(100 + number);
            if number > 0 {
                let cumulative = 1 + 100 * number;
                let ece = number == 1;
                engine.on_ack(
                    now,
                    &Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece },
                );
            }
            let offer = |engine: &Engine| engine.offer(10_000, 10_000, None);
            sent.push(std::iter::from_fn(|| engine.poll_send(now, &offer(&engine))).count());
        }
        sent
    };
    assert_eq!(sent("prr"), [10, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    assert_eq!(sent("at-once")[..6], [10, 0, 0, 0, 0, 0]);
}

/// Most of the window is lost, so pipe is below ssthresh at once. The conservative bound lets one
/// segment go for each delivered one. An ACK that advances and reports no further loss lets one
/// more go (RFC 9937).
#[test]
fn after_heavy_losses_prr_grows_by_slow_start() {
    let mut talk = open(&with("rfc6675", "prr"));
    // 2..=9 are lost.
    let sent: Vec<_> = (10..=12).map(|last| text(&talk.ack(91 + last, 1, &[(10, last)], 0))).collect();
    assert_eq!(sent, ["13", "14", "2r"]);
    // 13, 14 and the retransmission of 2 were in flight. Two segments were delivered in recovery,
    // and one was sent.
    assert_eq!(text(&talk.ack(201, 1, &[(10, 13)], 101)), "3r");
    assert_eq!(text(&talk.ack(203, 2, &[(10, 13)], 103)), "4r 5r");
}
