//! Associations with several addresses at each end.

use crate::common::{observed, scenario};
use eifel_sim::{Options, run_with};

/// The answering end may send to the primary address from its second address, as it does here. So a
/// packet's way does not determine its addresses.
#[test]
fn a_packet_between_addresses_of_two_paths_is_answered_where_it_came_from() {
    let text = r#"
        duration_s = 1000
        [[flow]]
        from = "receiver"
        name = "flow1"
        to = "sender"
        transport = "sctp"
        [[flow.alternates]]
        from = "receiver-2"
        to = "sender-2"
        [flow.application]
        back_bytes = 45892
        bytes = 425178
        kind = "exchange"
        [[link]]
        both = true
        delay_ms = 0.0
        from = "sender"
        name = "bottleneck"
        rate_bps = 92870445
        to = "receiver"
        [link.back.loss]
        kind = "random"
        rate = 0.087
        [[link]]
        both = true
        delay_ms = 47.413
        from = "sender-2"
        rate_bps = 74834
        to = "receiver-2"
        [link.queue]
        kind = "fq-codel"
        [[node]]
        name = "sender"
        [[node]]
        name = "receiver"
        [[node]]
        name = "sender-2"
        [[node]]
        name = "receiver-2"
    "#;
    for repetition in 0..10 {
        let scenario = scenario(text);
        let observed = observed(&scenario, repetition).summary;
        let unobserved = run_with(&scenario, repetition, Options::default()).unwrap().summary;
        assert_eq!(unobserved, observed, "{repetition}");
        assert!(observed.flows[0].completed && observed.flows[0].retransmissions > 0);
    }
}
