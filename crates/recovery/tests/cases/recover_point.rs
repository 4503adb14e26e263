//! The first segment beyond a recovery point is lost: which algorithms may begin a fast retransmit for it?

use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};

use crate::script::text;
use crate::talk::{Talk, again, config, start};

/// There are only ten segments. The timer expires for 1, and all ten are acknowledged. Then more
/// data is sent, 11 is lost, and 12, 13 and 14 are SACKed. Returns the segments sent for these
/// reports.
fn lost_at_the_point(config: &Config) -> String {
    let mut talk = Talk::new(config);
    talk.end = start(11);
    talk.send();
    assert_eq!(talk.expire(), (1000, again(1..=1)));
    for segment in [1, 3, 6, 10] {
        talk.ack(1100, segment, &[], 1000);
    }
    talk.end = start(21);
    // The initial window of ten was halved to five, and slow start has just reached five.
    assert_eq!(text(&talk.send()), "11 12 13 14 15");
    let sent = (1..=3).map(|d| text(&talk.ack(1200 + d, 10, &[(12, 11 + d)], 1100)));
    sent.collect::<Vec<_>>().join(" ")
}

/// RFC 6582, section 3.2, step 2: the ACK has to cover more than recover.
#[test]
fn newreno_leaves_a_loss_at_the_recovery_point_to_the_timer() {
    for name in ["reno", "newreno"] {
        assert!(!lost_at_the_point(&config(name)).contains("11r"), "{name}");
        let recover = Choice::named(name).with("bugfix", Value::Switch(false));
        assert!(lost_at_the_point(&Config { recover, ..config(name) }).contains("11r"), "{name}");
    }
}

/// RFC 6675, section 5.1: a new recovery phase may begin once HighACK, the highest byte acknowledged, is greater than or
/// equal to RecoveryPoint, the highest byte sent before.
#[test]
fn rfc_6675_may_repair_a_loss_at_the_recovery_point() {
    let sent = lost_at_the_point(&config("rfc6675"));
    assert!(sent.contains("11r"), "{sent}");
}
