//! What each recovery algorithm sends, ACK by ACK.

use eifel_recovery::engine::Negotiated;

use crate::script::{open, overtaken, spike, text};
use crate::talk::{Talk, config, eifel};

/// What leaves for each ACK, in the words of [`text`].
pub struct Expected {
    /// Nine duplicates after a spike in which segment 3 was lost.
    pub spike: [&'static str; 9],
    /// Eleven duplicates while 2 and 5 are lost, and the ACK of 2's retransmission.
    pub loss: [&'static str; 12],
    /// The ACK of the overtaken segment, and the ACK of all.
    pub reordering: [&'static str; 2],
    /// cwnd then.
    pub reordered_cwnd: u64,
    /// The only ACK that is left of ten, and the one for what it let go.
    pub lost_acks: [&'static str; 2],
}

/// The spike's timeout is undone: new segments go. Then 3 proves lost: 12 outstanding are halved to 6.
pub fn delay_spike(name: &str, expected: &Expected) {
    let mut talk = spike(&eifel(name, "option-1"));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13 14");
    let sent = (1..=9).map(|d| text(&talk.ack(3000 + d, 2, &[(4, 3 + d)], 0)));
    assert_eq!(sent.collect::<Vec<_>>(), expected.spike);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (6000, 6000));

    // Without a detector everything is sent again.
    let mut talk = spike(&config(name));
    assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "3r 4r");
    assert_eq!(text(&talk.ack(3001, 3, &[], 0)), "5r 6r");
}

/// 2 and 5 of 2..=12 are lost; 11 outstanding are halved to 5.5.
pub fn genuine_loss(name: &str, expected: &Expected) {
    let mut talk = open(&config(name));
    let mut sent = Vec::new();
    // 13 and 14, which the first two duplicates let go, take a round trip as all do.
    let times = (101..=109).chain([201, 202]);
    for (at, last) in times.zip([3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14]) {
        let sacks = if last < 5 { vec![(3, last)] } else { vec![(6, last), (3, 4)] };
        sent.push(text(&talk.ack(at, 1, &sacks, 0)));
    }
    sent.push(text(&talk.ack(203, 4, &[(6, 14)], 103)));
    assert_eq!(sent, expected.loss);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
}

/// 2 arrives after 3, 4 and 5, and no detector tells; two overtakings are not enough to send it again.
pub fn reordering(name: &str, expected: &Expected) {
    let mut talk = overtaken(&config(name));
    let sent = [talk.ack(104, 5, &[], 0), talk.ack(105, 14, &[], 0)].map(|sent| text(&sent));
    assert_eq!(sent, expected.reordering);
    assert_eq!(talk.cwnd(), expected.reordered_cwnd);

    let mut talk = open(&config(name));
    talk.ack(101, 1, &[(3, 3)], 0);
    talk.ack(102, 1, &[(3, 4)], 0);
    // cwnd 12, and 5..=14 are outstanding.
    assert_eq!(text(&talk.ack(103, 4, &[], 0)), "15 16");
}

/// 2 is lost, and of the ten ACKs for 3..=12 only the last arrives.
pub fn lost_acks(name: &str, expected: &Expected) {
    let mut talk = open(&config(name));
    let sent = [talk.ack(110, 1, &[(3, 12)], 0), talk.ack(210, 1, &[(3, 13)], 0)].map(|sent| text(&sent));
    assert_eq!(sent, expected.lost_acks);

    // Where nothing is missing the next ACK says all that the lost ones would have.
    let mut talk = open(&config(name));
    assert_eq!(text(&talk.ack(110, 10, &[], 0)), "13 14 15 16 17 18 19 20 21 22");
}

/// The network delivers segment 1 four times. A DSACK tells; where SACK was not negotiated it looks like a loss.
pub fn duplicated_packet(name: &str) {
    let mut talk = open(&config(name));
    for at in 101..=103 {
        assert_eq!(talk.ack_with(at, 1, &[], 0, Some(1)), []);
    }
    assert_eq!(talk.ssthresh(), u64::MAX);

    let mut talk = Talk::with(&config(name), Negotiated { mss: 1000, sack: false, timestamps: true });
    assert_eq!(text(&talk.send()), "1 2 3 4 5 6 7 8 9 10");
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), "11 12");
    let sent = [101, 102, 103].map(|at| text(&talk.ack(at, 1, &[], 0)));
    assert_eq!(sent, ["13", "14", "2r"]);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (5500, 5500));
}

macro_rules! recover {
    ($module:ident, $name:literal, $expected:expr) => {
        pub mod $module {
            use super::*;

            const EXPECTED: Expected = $expected;

            pub const CASES: [fn(); 5] = [
                || delay_spike($name, &EXPECTED),
                || genuine_loss($name, &EXPECTED),
                || reordering($name, &EXPECTED),
                || lost_acks($name, &EXPECTED),
                || duplicated_packet($name),
            ];
        }
    };
}

// Inflated by each duplicate: 6 + 9 > 14, 5.5 + 9 > 13. The first ACK of new data ends it, and 5 waits for the timer.
recover!(
    reno,
    "reno",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", "17"],
        loss: ["13", "14", "2r", "", "", "", "", "", "15", "16", "17", ""],
        reordering: ["", "15 16 17 18 19"],
        reordered_cwnd: 5681,
        lost_acks: ["13", "14"],
    }
);

// A partial ACK sends the next at once, lost or only overtaken; 11 duplicates less 3 acknowledged and 1 back: 14.5 > 13.
// At the end cwnd is what is outstanding, at least a segment, and one more.
recover!(
    newreno,
    "newreno",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", "17"],
        loss: ["13", "14", "2r", "", "", "", "", "", "15", "16", "17", "5r 18"],
        reordering: ["6r", "15 16"],
        reordered_cwnd: 2000,
        lost_acks: ["13", "14"],
    }
);

// pipe is 14 - 3 + 1 = 12 after 3r, and 6 at the ninth duplicate. For the two losses it is 11 after 2r and 4 at the tenth.
// The partial ACK takes two from 5.
recover!(
    reno_sack,
    "reno-sack",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", ""],
        loss: ["13", "14", "2r", "", "", "", "", "", "", "5r", "15", "16 17"],
        reordering: ["", "15 16 17 18 19"],
        reordered_cwnd: 5500,
        lost_acks: ["13", "14"],
    }
);

// As Reno-SACK, but a partial ACK sends the next hole whatever pipe says.
recover!(
    newreno_sack,
    "newreno-sack",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", ""],
        loss: ["13", "14", "2r", "", "", "", "", "", "", "5r", "15", "16 17"],
        reordering: ["6r", "15 16 17 18 19"],
        reordered_cwnd: 5500,
        lost_acks: ["13", "14"],
    }
);

// awnd is what lies above the forward-most block and what was sent again: 14 - d in the spike; with two losses
// 11..=14 and 2r at the seventh duplicate, one less at the eighth.
recover!(
    fack,
    "fack",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", "17"],
        loss: ["13", "14", "2r", "", "", "", "", "5r", "15", "16", "17", "18"],
        reordering: ["", "15 16 17 18 19"],
        reordered_cwnd: 5500,
        lost_acks: ["2r 13 14 15 16", "17"],
    }
);

// pipe agrees with awnd once three segments' bytes are above each hole.
recover!(
    rfc6675,
    "rfc6675",
    Expected {
        spike: ["15", "16", "3r", "", "", "", "", "", "17"],
        loss: ["13", "14", "2r", "", "", "", "", "5r", "15", "16", "17", "18"],
        reordering: ["", "15 16 17 18 19"],
        reordered_cwnd: 5500,
        lost_acks: ["2r 13 14 15 16", "17"],
    }
);
