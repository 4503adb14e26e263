//! The example of the page "Embed it" does what it says.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;
use sender::transfer;

#[path = "../examples/sender.rs"]
#[expect(dead_code, reason = "its main function is the example's own")]
mod sender;

#[test]
fn a_spike_is_undone_only_with_detection() {
    let careful = transfer(2_000_000, &Config::default()).unwrap();
    assert_eq!((careful.timeouts, careful.undos), (1, 1), "{careful:?}");
    let blind = transfer(2_000_000, &Config { detect: Choice::named("none"), ..Config::default() }).unwrap();
    assert_eq!((blind.timeouts, blind.undos), (1, 0), "{blind:?}");
    assert!(careful.retransmissions < blind.retransmissions, "{careful:?} {blind:?}");
    assert!(transfer(1, &Config { detect: Choice::named("nobody"), ..Config::default() }).is_err());
}
