//! What each response leaves of the window, and what may then leave at once.

use eifel_recovery::engine::Event;

use crate::script::{UNSET, open, overtaken, spike};
use crate::talk::{Talk, eifel, new};

/// cwnd and ssthresh after the ACK that settles the episode, and the last segment that is sent for it.
pub type After = (u64, u64, u64);

/// By situation.
pub struct Expected {
    pub spike: After,
    pub loss: After,
    pub reordering: After,
    pub lost_acks: After,
    pub duplicate: After,
}

fn check(talk: &Talk, sent: &[crate::talk::Out], first: u64, expected: After) {
    assert_eq!((talk.cwnd(), talk.ssthresh()), (expected.0, expected.1));
    assert_eq!(sent, new(first..=expected.2));
}

/// Saved: 11 000 and an unset ssthresh; reduced to one segment and 5500. The ACK of segment 2 leaves ten outstanding, and
/// the window then grows by its rule: a segment below ssthresh, 1 000 000 / cwnd bytes above.
pub fn delay_spike(name: &str, expected: After) {
    let mut talk = spike(&eifel("reno-sack", name));
    let sent = talk.ack(3000, 2, &[], 0);
    check(&talk, &sent, 13, expected);
}

/// Segment 2 is lost and repaired: nothing is restored, and the connection has seen a loss. Then a spike comes.
pub fn genuine_loss(name: &str, expected: After) {
    let mut talk = overtaken(&eifel("reno-sack", name));
    assert_eq!(talk.ack(203, 14, &[], 103), new(15..=19));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
    assert!(!talk.events().iter().any(|event| matches!(event, Event::Adjusted { .. })));
    // 1 000 000 / 5500 = 181.
    assert_eq!(talk.ack(303, 15, &[], 203), new(20..=20));
    assert_eq!(talk.cwnd(), 5681);
    assert_eq!(talk.expire(), (1303, crate::talk::again(16..=16)));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (1000, 2500));
    let sent = talk.ack(3303, 16, &[], 203);
    check(&talk, &sent, 21, expected);
}

/// Segment 2 arrives after 3, 4 and 5; nine segments are outstanding after its ACK.
pub fn reordering(name: &str, expected: After) {
    let mut talk = overtaken(&eifel("reno-sack", name));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
    let sent = talk.ack(104, 5, &[], 0);
    check(&talk, &sent, 15, expected);
}

/// After a spike the ACKs of 2 to 6 are lost, and that of 7 leaves five outstanding; where all ACKs but the last are lost,
/// nothing may be restored (RFC 3522, section 3.2, step 5).
pub fn lost_acks(name: &str, expected: After) {
    let mut talk = spike(&eifel("reno-sack", name));
    let sent = talk.ack(3000, 7, &[], 0);
    check(&talk, &sent, 13, expected);

    let mut talk = spike(&eifel("reno-sack", name));
    let sent = talk.ack(3000, 12, &[], 0);
    check(&talk, &sent, 13, (2000, 5500, 14));
}

/// Segment 1 arrives twice, which restores nothing but shows that the peer sends DSACKs: after a spike an ACK of
/// everything is then enough. Nothing is outstanding after it.
pub fn duplicated_packet(name: &str, expected: After) {
    let mut talk = open(&eifel("reno-sack", name));
    assert_eq!(talk.ack_with(101, 1, &[], 0, Some(1)), []);
    assert_eq!(talk.cwnd(), 11_000);
    talk.expire();
    let sent = talk.ack(3000, 12, &[], 0);
    check(&talk, &sent, 13, expected);

    // A DSACK on the first acceptable ACK speaks for the retransmission: nothing is restored.
    let mut talk = spike(&eifel("reno-sack", name));
    talk.ack_with(3000, 3, &[], 0, Some(2));
    assert_eq!((talk.cwnd(), talk.ssthresh()), (2000, 5500));
}

macro_rules! respond {
    ($module:ident, $name:literal, $expected:expr) => {
        pub mod $module {
            use super::*;

            const EXPECTED: Expected = $expected;

            pub const CASES: [fn(); 5] = [
                || delay_spike($name, EXPECTED.spike),
                || genuine_loss($name, EXPECTED.loss),
                || reordering($name, EXPECTED.reordering),
                || lost_acks($name, EXPECTED.lost_acks),
                || duplicated_packet($name, EXPECTED.duplicate),
            ];
        }
    };
}

// One segment and slow start, for a fast retransmit half the flight and congestion avoidance.
respond!(
    none,
    "none",
    Expected {
        spike: (2000, 5500, 12),
        loss: (2000, 2500, 20),
        reordering: (5681, 5500, 14),
        lost_acks: (2000, 5500, 12),
        duplicate: (2000, 5500, 14),
    }
);

respond!(
    option_1,
    "option-1",
    Expected {
        spike: (12_000, UNSET, 14),
        // 5681 + 1 000 000 / 5681: congestion avoidance, for ssthresh had been 5500.
        loss: (5857, 5500, 21),
        reordering: (12_000, UNSET, 17),
        lost_acks: (12_000, UNSET, 19),
        duplicate: (12_000, UNSET, 24),
    }
);

respond!(
    option_2,
    "option-2",
    Expected {
        spike: (5681, 5500, 12),
        // 2500 + 1 000 000 / 2500.
        loss: (2900, 2500, 20),
        reordering: (5681, 5500, 14),
        lost_acks: (5681, 5500, 12),
        duplicate: (5681, 5500, 17),
    }
);

respond!(
    option_3,
    "option-3",
    Expected {
        spike: (2000, 5500, 12),
        loss: (2000, 2500, 20),
        reordering: (2000, 5500, 14),
        lost_acks: (2000, 5500, 12),
        duplicate: (2000, 5500, 14),
    }
);

respond!(
    option_4,
    "option-4",
    Expected {
        // 11 000 + 1 000 000 / 11 000.
        spike: (11_090, 11_000, 13),
        loss: (5857, 5681, 21),
        reordering: (11_090, 11_000, 16),
        lost_acks: (11_090, 11_000, 18),
        duplicate: (11_090, 11_000, 23),
    }
);

respond!(
    option_4_ssthresh,
    "option-4-ssthresh",
    Expected {
        spike: (12_000, UNSET, 14),
        // A loss has been seen: ssthresh is the old cwnd.
        loss: (5857, 5681, 21),
        reordering: (12_000, UNSET, 17),
        lost_acks: (12_000, UNSET, 19),
        duplicate: (12_000, UNSET, 24),
    }
);

respond!(
    by_retransmissions,
    "by-retransmissions",
    Expected {
        spike: (12_000, UNSET, 14),
        loss: (5857, 5500, 21),
        reordering: (12_000, UNSET, 17),
        lost_acks: (12_000, UNSET, 19),
        duplicate: (12_000, UNSET, 24),
    }
);

respond!(
    rfc4015,
    "rfc4015",
    Expected {
        // Ten outstanding and one acknowledged; this ACK changes no more.
        spike: (11_000, UNSET, 13),
        // Four and one, below pipe_prev = max(5000, 5500).
        loss: (5000, 5500, 21),
        // Nine and four.
        reordering: (13_000, UNSET, 18),
        // Five and six.
        lost_acks: (11_000, UNSET, 18),
        // None and eleven, but no more than the initial window of ten.
        duplicate: (10_000, UNSET, 22),
    }
);

// Slow start up to the old window of eleven, from where the loss signal has left cwnd.
respond!(
    rfc3708,
    "rfc3708",
    Expected {
        spike: (2000, 11_000, 12),
        loss: (2000, 5681, 20),
        reordering: (6500, 11_000, 14),
        lost_acks: (2000, 11_000, 12),
        duplicate: (2000, 11_000, 14),
    }
);

// Eifel judges the episode as a whole: all of it is restored.
respond!(
    partial_credit,
    "partial-credit",
    Expected {
        spike: (12_000, UNSET, 14),
        loss: (5857, 5500, 21),
        reordering: (12_000, UNSET, 17),
        lost_acks: (12_000, UNSET, 19),
        duplicate: (12_000, UNSET, 24),
    }
);
