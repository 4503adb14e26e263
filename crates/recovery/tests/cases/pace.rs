//! When what the window allows leaves.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::talk::{Out, Talk, config, new, start};

/// Pacing has not yet let go what the last ACK allowed when the next one comes, and with it the end of the window.
#[test]
fn a_window_that_closes_while_pacing_waits_is_what_holds_back() {
    let mut talk = Talk::new(&Config { pace: Choice::named("pacing"), ..config("rfc6675") });
    talk.limit = start(13);
    assert_eq!(talk.send().len(), 10);
    assert_eq!(talk.ack(100, 10, &[], 0), [Out::New(11)]);
    talk.now = talk.engine.deadline();
    assert_eq!(talk.now.as_nanos(), 104_545_454);
    talk.engine.on_timeout(talk.now);
    assert_eq!(talk.send(), new(12..=12));
    assert_eq!(talk.ack(105, 12, &[], 100), []);
    assert!(!talk.engine.is_held_back(), "the window is closed: nothing waits for pacing");
}
