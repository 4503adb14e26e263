//! The example that judges somebody else's stack does what it says.

use foreign::transfer;

#[path = "../../examples/foreign.rs"]
#[expect(dead_code, reason = "its main function is the example's own")]
mod foreign;

#[test]
fn a_foreign_sender_is_judged_as_the_path_knows() {
    let judged = transfer(400).unwrap();
    // Two timeouts in the spike and one for the lost segment, each with a window of eight. Only the lost segment was
    // needed.
    assert_eq!((judged.retransmissions, judged.truly_spurious), (24, 23), "{judged:?}");
    assert_eq!(judged.wrong, 0, "{judged:?}");
    assert!(judged.spurious > 0, "{judged:?}");
}
