//! When what the window allows leaves.

use eifel_recovery::engine::Config;
use eifel_recovery::registry::Choice;

use crate::talk::{Out, Talk, config, eifel, start};

fn with(name: &str, recover: &str) -> Config {
    Config { pace: Choice::named(name), ..config(recover) }
}

fn with_eifel(name: &str) -> Config {
    Config { pace: Choice::named(name), ..eifel("reno-sack", "option-1") }
}

/// Sleeps until the deadline; the time in nanoseconds and what then leaves.
fn release(talk: &mut Talk) -> (u64, String) {
    talk.now = talk.engine.deadline();
    talk.engine.on_timeout(talk.now);
    (talk.now.as_nanos(), crate::script::text(&talk.send()))
}

/// Pacing has not yet let go what the last ACK allowed when the next one comes, and with it the end of the window.
#[test]
fn a_window_that_closes_while_pacing_waits_is_probed() {
    let mut talk = Talk::new(&with("pacing", "rfc6675"));
    talk.limit = start(13);
    assert_eq!(talk.send().len(), 10);
    assert_eq!(talk.ack(100, 10, &[], 0), [Out::New(11)]);
    assert_eq!(release(&mut talk), (104_545_454, "12".to_owned()));
    assert_eq!(talk.ack(105, 12, &[], 100), []);
    assert_eq!(talk.expire(), (1105, vec![Out::Probe(13)]));
}

pub mod none {
    use super::{with, with_eifel};
    use crate::script::{open, overtaken, spike, text};
    use crate::talk::at;

    pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

    fn delay_spike() {
        let mut talk = spike(&with_eifel("none"));
        assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "13 14 15 16 17 18 19");
    }

    fn genuine_loss() {
        let mut talk = open(&with("none", "fack"));
        assert_eq!(text(&talk.ack(101, 1, &[(12, 12)], 0)), "2r 3r 4r 5r 6r");
    }

    fn reordering() {
        let mut talk = overtaken(&with_eifel("none"));
        assert_eq!(text(&talk.ack(104, 5, &[], 0)), "15 16 17");
    }

    fn lost_acks() {
        let mut talk = open(&with("none", "reno-sack"));
        assert_eq!(text(&talk.ack(101, 12, &[], 0)), "13 14 15 16 17 18 19 20 21 22 23 24");
    }

    fn duplicated_packet() {
        let mut talk = open(&with("none", "reno-sack"));
        assert_eq!(text(&talk.ack_with(101, 1, &[], 0, Some(1))), "");
        assert_eq!(talk.engine.deadline(), at(1100), "nothing waits but the timer");
    }
}

pub mod burst_limit {
    use eifel_recovery::engine::Config;

    use super::{with, with_eifel};
    use crate::script::text;
    use crate::talk::Talk;

    pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

    /// Four segments an ACK: cwnd is 13 in the end, and 4..=16 are outstanding.
    fn limited(config: &Config) -> Talk {
        let mut talk = Talk::new(config);
        assert_eq!(text(&talk.send()), "1 2 3 4");
        assert_eq!(text(&talk.ack(100, 1, &[], 0)), "5 6 7 8");
        assert_eq!(text(&talk.ack(101, 2, &[], 0)), "9 10 11 12");
        assert_eq!(text(&talk.ack(102, 3, &[], 0)), "13 14 15 16");
        talk
    }

    /// The window of 14 has room for eight, then for six of 15.
    fn delay_spike() {
        let mut talk = limited(&with_eifel("burst-limit"));
        assert_eq!(talk.expire().0, 1102);
        assert_eq!(text(&talk.ack(3000, 10, &[], 101)), "17 18 19 20");
        assert_eq!(text(&talk.ack(3001, 11, &[], 101)), "21 22 23 24");
    }

    /// Half of 13 has room for six retransmissions.
    fn genuine_loss() {
        let mut talk = limited(&with("burst-limit", "fack"));
        assert_eq!(text(&talk.ack(103, 3, &[(16, 16)], 0)), "4r 5r 6r 7r");
        assert_eq!(text(&talk.ack(104, 3, &[(15, 16)], 0)), "8r 9r");
    }

    /// After the undo there is room for five, then for three.
    fn reordering() {
        let mut talk = limited(&with_eifel("burst-limit"));
        assert_eq!(text(&talk.ack(103, 3, &[(5, 5)], 0)), "17");
        assert_eq!(text(&talk.ack(104, 3, &[(5, 6)], 0)), "18");
        assert_eq!(text(&talk.ack(105, 3, &[(5, 7)], 0)), "4r");
        assert_eq!(text(&talk.ack(106, 9, &[], 0)), "19 20 21 22");
        assert_eq!(text(&talk.ack(107, 10, &[], 101)), "23 24 25");
    }

    /// One ACK in the place of nine lets four go where ten could.
    fn lost_acks() {
        let mut talk = limited(&with("burst-limit", "reno-sack"));
        assert_eq!(text(&talk.ack(103, 12, &[], 101)), "17 18 19 20");
    }

    /// Any ACK lets four more go, if there is room.
    fn duplicated_packet() {
        let mut talk = limited(&with("burst-limit", "reno-sack"));
        assert_eq!(text(&talk.ack_with(103, 3, &[], 0, Some(1))), "");
        talk.ack(104, 12, &[], 101);
        assert_eq!(text(&talk.ack_with(105, 12, &[], 101, Some(1))), "21 22 23 24");
    }
}

pub mod pacing {
    use eifel_recovery::engine::Config;

    use super::{release, with, with_eifel};
    use crate::script::text;
    use crate::talk::Talk;

    pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

    /// The first ten leave at once; then, in slow start, one each 100 ms / 11 / 2.
    fn paced(config: &Config) -> Talk {
        let mut talk = Talk::new(config);
        assert_eq!(text(&talk.send()), "1 2 3 4 5 6 7 8 9 10");
        assert_eq!(text(&talk.ack(100, 1, &[], 0)), "11");
        assert_eq!(release(&mut talk), (104_545_454, "12".into()));
        talk
    }

    /// SRTT is 462.5 ms after the spike, the window 12 again.
    fn delay_spike() {
        let mut talk = paced(&with_eifel("pacing"));
        assert_eq!(release(&mut talk), (109_090_908, String::new()), "the window is full");
        assert_eq!(release(&mut talk), (1_100_000_000, "2r".into()));
        assert_eq!(text(&talk.ack(3000, 2, &[], 0)), "13");
        assert_eq!(release(&mut talk), (3_019_270_833, "14".into()));
    }

    /// Segment 2 goes again at 120 ms. In congestion avoidance the gain is 1.2: 100 ms / 5.5 / 1.2.
    fn halved(config: &Config) -> Talk {
        let mut talk = paced(config);
        assert_eq!(text(&talk.ack(110, 1, &[(3, 3)], 0)), "13");
        assert_eq!(text(&talk.ack(112, 1, &[(3, 4)], 0)), "");
        assert_eq!(release(&mut talk), (114_545_454, "14".into()));
        assert_eq!(text(&talk.ack(120, 1, &[(3, 5)], 0)), "2r");
        assert_eq!(talk.cwnd(), 5500);
        talk
    }

    fn genuine_loss() {
        let mut talk = halved(&with("pacing", "reno-sack"));
        assert_eq!(text(&talk.ack(220, 14, &[], 120)), "15");
        let times: Vec<_> = (16..=19).map(|segment: u64| (release(&mut talk), segment)).collect();
        let expected = [235_151_515, 250_303_030, 265_454_545, 280_606_060];
        for ((found, segment), time) in times.into_iter().zip(expected) {
            assert_eq!(found, (time, segment.to_string()));
        }
    }

    /// The undo comes while the retransmission's interval still runs. SRTT is 103.125 ms, the window 12.
    fn reordering() {
        let mut talk = halved(&with_eifel("pacing"));
        assert_eq!(text(&talk.ack(125, 5, &[], 0)), "");
        assert_eq!(release(&mut talk), (135_151_515, "15".into()));
        assert_eq!(release(&mut talk), (139_448_390, "16".into()));
        assert_eq!(release(&mut talk), (143_745_265, "17".into()));
    }

    /// No burst of twelve. SRTT is 100.625 ms.
    fn lost_acks() {
        let mut talk = paced(&with("pacing", "reno-sack"));
        assert_eq!(text(&talk.ack(205, 12, &[], 100)), "13");
        assert_eq!(release(&mut talk), (209_192_708, "14".into()));
        assert_eq!(release(&mut talk), (213_385_416, "15".into()));
    }

    /// An ACK in between changes no release time.
    fn duplicated_packet() {
        let mut talk = Talk::new(&with("pacing", "reno-sack"));
        talk.send();
        talk.ack(100, 1, &[], 0);
        assert_eq!(text(&talk.ack_with(102, 1, &[], 0, Some(1))), "");
        assert_eq!(release(&mut talk), (104_545_454, "12".into()));
    }
}

pub mod burst_pacer {
    use super::{release, with, with_eifel};
    use crate::script::{open, spike, text};

    pub const CASES: [fn(); 5] = [delay_spike, genuine_loss, reordering, lost_acks, duplicated_packet];

    /// SRTT is 462.5 ms, the window 12, slow start: one each 19.270 833 ms beyond the first four.
    fn delay_spike() {
        let mut talk = spike(&with_eifel("burst-pacer"));
        assert_eq!(text(&talk.ack(3000, 7, &[], 0)), "13 14 15 16");
        assert_eq!(release(&mut talk), (3_019_270_833, "17".into()));
        assert_eq!(release(&mut talk), (3_038_541_666, "18".into()));
    }

    /// 11 and 12 have left at 100 ms, each 4.545 454 ms of the bucket. Now it is one each 15.151 515 ms: 100 ms / 5.5 / 1.2,
    /// and after three of them the bucket is 100 + 2 * 4.545 454 + 3 * 15.151 515 - 101 ms ahead, 53.5 of 45.5 allowed.
    fn genuine_loss() {
        let mut talk = open(&with("burst-pacer", "fack"));
        assert_eq!(text(&talk.ack(101, 1, &[(12, 12)], 0)), "2r 3r 4r");
        assert_eq!(release(&mut talk), (109_090_908, "5r".into()));
        assert_eq!(release(&mut talk), (124_242_423, "6r".into()));
    }

    /// 11 to 14 are a burst, so the retransmission waits for the bucket. It counts 15.151 515 ms, which the rest of the
    /// restored window waits for, to leave one each 100.625 ms / 12 / 2.
    fn reordering() {
        let mut talk = open(&with_eifel("burst-pacer"));
        assert_eq!(text(&talk.ack(101, 1, &[(3, 3)], 0)), "13");
        assert_eq!(text(&talk.ack(102, 1, &[(3, 4)], 0)), "14");
        assert_eq!(text(&talk.ack(103, 1, &[(3, 5)], 0)), "");
        assert_eq!(release(&mut talk), (104_545_454, "2r".into()));
        assert_eq!(text(&talk.ack(105, 5, &[], 0)), "15");
        assert_eq!(release(&mut talk), (124_947_915, "16".into()));
        assert_eq!(release(&mut talk), (129_140_623, "17".into()));
    }

    /// SRTT is 100.125 ms, the window 12: 4.171 875 ms.
    fn lost_acks() {
        let mut talk = open(&with("burst-pacer", "reno-sack"));
        assert_eq!(text(&talk.ack(101, 12, &[], 0)), "13 14");
        let times: Vec<_> = (0..10).map(|_| release(&mut talk).0).collect();
        assert!(
            times.windows(2).all(|pair| pair[1] - pair[0] == 4_171_875 || pair[1] - pair[0] == 4_171_876),
            "{times:?}"
        );
    }

    /// What is not held back needs no timer.
    fn duplicated_packet() {
        let mut talk = open(&with("burst-pacer", "reno-sack"));
        assert_eq!(text(&talk.ack_with(101, 1, &[], 0, Some(1))), "");
        assert_eq!(talk.engine.deadline(), crate::talk::at(1100));
    }
}
