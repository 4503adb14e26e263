//! Loss recovery by RFC 6675, by hand: when it is entered, and which segments are sent first and
//! last.

use eifel_recovery::engine::{Ack, Block};

use crate::talk::{Out, Talk, again, config, new, start, twenty};

#[test]
fn bytes_sacked_above_begin_recovery_before_three_duplicates() {
    let mut talk = twenty(&config("rfc6675"));
    assert_eq!(talk.ack(101, 1, &[(3, 5)], 0)[..1], again(2..=2), "one ACK, three segments above");
}

/// RFC 6675, section 2: an ACK that reports something new is a duplicate "even if it carries new data, changes the
/// advertised window, or moves the cumulative acknowledgment point".
#[test]
fn every_ack_with_new_sack_reports_counts_as_a_duplicate() {
    let mut talk = twenty(&config("rfc6675"));
    for last in 3..=5 {
        let sacks = [Block { start: start(3), end: start(last + 1) }];
        let cumulative = talk.engine.una();
        talk.engine.on_ack(
            talk.now,
            &Ack { cumulative, sacks: &sacks, dsacks: &[], echo: None, mark: None, plain: false, ece: false },
        );
    }
    assert_eq!(talk.send()[..1], again(2..=2), "data come with each of them");

    let mut talk = twenty(&config("rfc6675"));
    assert_eq!(talk.ack(101, 2, &[(4, 6)], 0)[..1], again(3..=3), "it moves on, and three segments lie above the hole");
    // Half of the 20 outstanding segments. The ACK that reports the loss does not let the window
    // grow.
    assert_eq!(talk.cwnd(), 10_000);

    // The first of three ACKs advances. The blocks are smaller than a segment, so only their number
    // counts.
    let mut talk = twenty(&config("rfc6675"));
    let small = |segment| Block { start: start(segment), end: start(segment) + 100 };
    for (acknowledged, blocks) in [(2, vec![small(4)]), (2, vec![small(4), small(6)])] {
        let cumulative = start(acknowledged + 1);
        let ack = Ack { cumulative, sacks: &blocks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
        talk.engine.on_ack(talk.now, &ack);
    }
    // cwnd is 22 now, 20 segments are outstanding, and pipe is 200 bytes less. Two segments fit
    // within cwnd, and none may go beyond it.
    assert_eq!(talk.send(), new(23..=24));
    let blocks = [Block { start: start(4), end: start(4) + 200 }];
    let cumulative = start(3);
    let ack = Ack { cumulative, sacks: &blocks, dsacks: &[], echo: None, mark: None, plain: true, ece: false };
    talk.engine.on_ack(talk.now, &ack);
    assert_eq!(talk.send()[..1], again(3..=3), "the third that reports something new");
    assert_eq!(talk.cwnd(), 11_000, "half of what is outstanding");
}

/// RFC 6675, section 2: an ACK without a SACK block is no duplicate.
#[test]
fn an_ack_without_new_sack_reports_is_no_duplicate() {
    let mut talk = twenty(&config("rfc6675"));
    for at in 101..110 {
        assert_eq!(talk.ack(at, 1, &[], 0), []);
        assert_eq!(talk.ack_with(at, 1, &[], 0, Some(1)), []);
    }
    assert_eq!(talk.ssthresh(), u64::MAX);
    talk.ack(111, 1, &[(3, 3)], 0);
    for at in 112..120 {
        assert_eq!(talk.ack(at, 1, &[(3, 3)], 0), []);
    }
    assert_eq!(talk.ssthresh(), u64::MAX);
}

/// RFC 6675, section 5, step (3): new data is sent as far as cwnd is larger than pipe.
#[test]
fn limited_transmit_sends_as_much_as_pipe_allows() {
    let mut talk = twenty(&config("rfc6675"));
    assert_eq!(talk.ack(101, 1, &[(3, 4)], 0), new(23..=24), "one ACK tells that two have left");
    assert_eq!(talk.ack(102, 1, &[(3, 5)], 0)[..1], again(2..=2));
    assert_eq!(talk.cwnd(), 10_500, "half of 21 outstanding, without those two");
}

#[test]
fn a_recovery_has_one_rescue_retransmission() {
    let mut talk = Talk::new(&config("rfc6675"));
    talk.end = start(11);
    assert_eq!(talk.send(), new(1..=10));
    // 2, 9 and 10 are lost, and there is no new data.
    talk.ack(100, 1, &[], 0);
    let sent: Vec<_> = [(101, 4), (102, 5), (103, 6), (104, 7), (105, 8)]
        .into_iter()
        .flat_map(|(at, last)| talk.ack(at, 1, &[(3, last)], 0))
        .collect();
    assert_eq!(sent.iter().filter(|out| **out == Out::Again(2)).count(), 1);
    // No rescue before more than the retransmission's own segment is acknowledged (section 5, step
    // 4.3).
    assert_eq!(sent.iter().filter(|out| **out == Out::Again(10)).count(), 0, "{sent:?}");
    assert_eq!(talk.ack(203, 8, &[], 103), again(10..=10));
    // The SACK block for the rescue shows the other hole.
    assert_eq!(talk.ack(303, 8, &[(10, 10)], 203), again(9..=9));
}
