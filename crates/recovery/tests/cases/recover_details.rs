//! Details of single algorithms beyond the five situations.

use eifel_recovery::engine::{Ack, Block};

use crate::script::{open, overtaken, spike, text};
use crate::talk::{Out, at, config, start};

#[test]
fn newreno_restarts_the_timer_on_the_first_partial_ack_only() {
    let mut talk = overtaken(&config("newreno"));
    talk.ack(203, 5, &[], 103);
    assert_eq!(talk.engine.deadline(), at(1203));
    talk.ack(303, 6, &[], 203);
    assert_eq!(talk.engine.deadline(), at(1203));
}

/// RFC 6675, section 4, IsLost: DupThresh blocks above a hole are enough, however small they are.
#[test]
fn rfc_6675_counts_blocks_as_well_as_bytes() {
    let enters = |count: u64| {
        let mut talk = open(&config("rfc6675"));
        let sacks: Vec<_> =
            (3..3 + count).map(|segment| Block { start: start(segment), end: start(segment) + 100 }).collect();
        let cumulative = start(2);
        talk.engine.on_ack(
            at(101),
            &Ack { cumulative, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: true, ece: false },
        );
        talk.cwnd() == 5500
    };
    assert_eq!([1, 2, 3, 4].map(enters), [false, false, true, true]);
}

/// RFC 2018, section 8: after a timeout SACKed data may be gone, and is retransmitted unless it is
/// acknowledged.
#[test]
fn a_timeout_clears_the_sack_reports() {
    for name in ["reno-sack", "newreno-sack", "fack", "rfc6675"] {
        let mut talk = open(&config(name));
        talk.ack(101, 1, &[(3, 4)], 0);
        assert_eq!(talk.engine.scoreboard().sacked_bytes(), 2000);
        assert_eq!(text(&talk.expire().1), "2r", "{name}");
        assert_eq!(talk.engine.scoreboard().sacked_bytes(), 0);
        assert_eq!(text(&talk.ack(1200, 2, &[], 1100)), "3r 4r", "{name}");
    }
}

/// Data that is SACKed after a timeout is not retransmitted.
#[test]
fn go_back_n_skips_segments_sacked_since_the_timeout() {
    for name in ["reno-sack", "newreno-sack", "fack", "rfc6675"] {
        let mut talk = spike(&config(name));
        assert_eq!(text(&talk.ack(1150, 1, &[(4, 5)], 0)), "", "{name}");
        assert_eq!(text(&talk.ack(1200, 2, &[(4, 5)], 1100)), "3r 6r", "{name}");
        assert_eq!(text(&talk.ack(1300, 6, &[], 1200)), "7r 8r 9r", "{name}");
    }
}

/// RFC 2018, section 8: a cumulative ACK that stops at SACKed data says that the data is gone.
#[test]
fn a_segment_that_the_peer_reneged_on_is_retransmitted() {
    for name in ["reno", "newreno", "reno-sack", "newreno-sack", "fack", "rfc6675"] {
        let mut talk = open(&config(name));
        talk.ack(101, 1, &[(4, 6)], 0);
        assert_eq!(talk.engine.scoreboard().sacked_bytes(), 3000);
        let mut out = talk.ack(102, 3, &[], 0);
        assert_eq!(talk.engine.scoreboard().sacked_bytes(), 0, "{name}");
        for at in 103..=105 {
            out.extend(talk.ack(at, 3, &[(8, at - 95)], 0));
        }
        out.retain(|sent| matches!(sent, Out::Again(_)));
        assert_eq!(out.first(), Some(&Out::Again(4)), "{name}");
    }
}
