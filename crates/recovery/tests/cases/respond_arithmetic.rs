//! Each response called by itself: after one, two and three timeouts, after a fast retransmit, with
//! ECN-Echo, and after a loss was seen.

use eifel_recovery::congest::Window;
use eifel_recovery::detect::NeedlessShare;
use eifel_recovery::episode::{Estimate, Saved};
use eifel_recovery::fact::Cause;
use eifel_recovery::respond::by_retransmissions::ByRetransmissions;
use eifel_recovery::respond::option_1::Option1;
use eifel_recovery::respond::option_2::Option2;
use eifel_recovery::respond::option_3::Option3;
use eifel_recovery::respond::option_4::Option4;
use eifel_recovery::respond::option_4_ssthresh::Option4Ssthresh;
use eifel_recovery::respond::partial_credit::PartialCredit;
use eifel_recovery::respond::rfc3708::Rfc3708;
use eifel_recovery::respond::rfc4015::Rfc4015;
use eifel_recovery::respond::{Response, Verdict, none};

use crate::script::UNSET;

const ESTIMATE: Estimate =
    Estimate { srtt: eifel_base::time::Duration::from_millis(100), rttvar: eifel_base::time::Duration::ZERO };

const NOW: Window = Window { cwnd: 1000, ssthresh: 9000 };

fn saved() -> Saved {
    Saved {
        window: Window { cwnd: 20_000, ssthresh: 16_000 },
        reduced: Window { cwnd: 1000, ssthresh: 9000 },
        flight: 18_000,
        peer_window: 64_000,
        estimate: Some(ESTIMATE),
    }
}

fn verdict(timeouts: u32) -> Verdict {
    Verdict {
        cause: if timeouts == 0 { Cause::FastRetransmit } else { Cause::Timeout },
        timeouts,
        fast_retransmitted: false,
        flight: 15_000,
        acked: 3000,
        ece: false,
        ece_in_episode: false,
        before_repair: Window { cwnd: 20_000, ssthresh: 16_000 },
        loss_seen: false,
        mss: 1000,
        initial_window: 4000,
    }
}

fn window(response: &mut dyn Response, verdict: &Verdict) -> (u64, u64) {
    let Window { cwnd, ssthresh } = response.respond(verdict, &saved(), &NOW).window;
    (cwnd, ssthresh)
}

/// A response, and its windows (cwnd, ssthresh) after a fast retransmit and after one, two and
/// three timeouts.
type Row = (Box<dyn Response>, [(u64, u64); 4]);

fn table() -> Vec<Row> {
    let option_1 = (20_000, 16_000);
    let (option_2, option_3) = ((9000, 9000), (1000, 9000));
    vec![
        (Box::new(none::None), [(1000, 9000); 4]),
        (Box::new(Option1), [option_1; 4]),
        (Box::new(Option2), [option_2; 4]),
        (Box::new(Option3), [option_3; 4]),
        (Box::new(Option4), [(20_000, 20_000); 4]),
        (Box::new(Option4Ssthresh), [option_1; 4]),
        (Box::new(ByRetransmissions), [option_1, option_1, option_2, option_3]),
        (Box::new(Rfc4015::default()), [(18_000, 18_000); 4]),
        (Box::new(Rfc3708), [(1000, 20_000); 4]),
        (Box::new(PartialCredit), [option_1; 4]),
    ]
}

#[test]
fn by_retransmissions_restores_by_the_number_of_timeouts() {
    for (index, (mut response, expected)) in table().into_iter().enumerate() {
        let found = [0, 1, 2, 3].map(|timeouts| window(&mut *response, &verdict(timeouts)));
        assert_eq!(found, expected, "row {index}");
    }
}

/// Thesis, section 5.2.2: "a timeout that occurs after the fast retransmit" is the second retransmission.
#[test]
fn by_retransmissions_counts_a_fast_retransmit_before_the_timeouts() {
    let after = |timeouts| Verdict { fast_retransmitted: true, ..verdict(timeouts) };
    let found = [1, 2, 3, u32::MAX].map(|timeouts| window(&mut ByRetransmissions, &after(timeouts)));
    assert_eq!(found, [(9000, 9000), (1000, 9000), (1000, 9000), (1000, 9000)]);
    assert_eq!(window(&mut Option1, &after(1)), (20_000, 16_000), "no other response counts");
}

#[test]
fn rfc_4015_s_pipe_prev_decays_with_each_further_timeout() {
    let decay = |timeouts, flight, ssthresh| {
        let before = Saved { flight, window: Window { cwnd: 20_000, ssthresh }, ..saved() };
        let now = Window { cwnd: 1000, ssthresh: 2000 };
        Rfc4015::new(true).respond(&verdict(timeouts), &before, &now).window.ssthresh
    };
    let halved = [0, 1, 2, 3, 4, 5, u32::MAX].map(|timeouts| decay(timeouts, 18_000, 16_000));
    assert_eq!(halved, [18_000, 18_000, 9000, 4500, 2250, 2000, 2000]);
    assert_eq!(decay(1, 1500, 1800), 1800, "ssthresh now does not raise pipe_prev");
    assert_eq!([1, 3].map(|timeouts| decay(timeouts, 18_000, UNSET)), [UNSET, 4500]);
}

#[test]
fn a_fourth_timeout_restores_no_more_than_the_third() {
    assert_eq!(window(&mut ByRetransmissions, &verdict(4)), (1000, 9000));
    assert_eq!(window(&mut ByRetransmissions, &verdict(u32::MAX)), (1000, 9000));
}

#[test]
fn a_loss_seen_changes_only_the_variation_of_option_4() {
    for (index, (mut response, expected)) in table().into_iter().enumerate() {
        let seen = Verdict { loss_seen: true, ..verdict(1) };
        let wanted = if index == 5 { (20_000, 20_000) } else { expected[1] };
        assert_eq!(window(&mut *response, &seen), wanted, "row {index}");
    }
}

/// [rfc4015:3.4.a]
#[test]
fn ecn_echo_changes_only_rfc_4015_which_leaves_the_window() {
    for (index, (mut response, expected)) in table().into_iter().enumerate() {
        let echo = Verdict { ece: true, ..verdict(1) };
        let wanted = if index == 7 { (1000, 9000) } else { expected[1] };
        assert_eq!(window(&mut *response, &echo), wanted, "row {index}");
    }
}

/// [rfc4015:3.1.9]
#[test]
fn rfc_4015_opens_no_more_than_the_initial_window_beyond_the_flight() {
    let many = Verdict { acked: 9000, ..verdict(1) };
    assert_eq!(window(&mut Rfc4015::default(), &many), (15_000 + 4000, 18_000));
    let all = Verdict { flight: 0, acked: 18_000, ..verdict(1) };
    assert_eq!(window(&mut Rfc4015::default(), &all), (4000, 18_000));
    // A few bytes are acknowledged and nothing is outstanding: cwnd is still one segment.
    let little = Verdict { flight: 0, acked: 10, ..verdict(1) };
    assert_eq!(window(&mut Rfc4015::default(), &little), (1000, 18_000));
}

/// [rfc4015:3.1.0]
#[test]
fn rfc_4015_s_pipe_prev_is_the_larger_of_flight_and_ssthresh() {
    let respond = |flight, ssthresh| {
        let before = Saved { flight, window: Window { cwnd: 20_000, ssthresh }, ..saved() };
        Rfc4015::default().respond(&verdict(1), &before, &NOW).window.ssthresh
    };
    assert_eq!(respond(18_000, 16_000), 18_000);
    assert_eq!(respond(18_000, 19_000), 19_000);
    assert_eq!(respond(18_000, UNSET), UNSET);
}

#[test]
fn only_rfc_4015_reseeds_the_timer_after_a_timeout_that_had_an_estimate() {
    for (index, (mut response, _)) in table().into_iter().enumerate() {
        let reseed = (index == 7).then_some(ESTIMATE);
        for timeouts in 1..=3 {
            assert_eq!(response.respond(&verdict(timeouts), &saved(), &NOW).reseed, reseed, "row {index}");
        }
        assert_eq!(response.respond(&verdict(0), &saved(), &NOW).reseed, None, "row {index}");
        let unknown = Saved { estimate: None, ..saved() };
        assert_eq!(response.respond(&verdict(1), &unknown, &NOW).reseed, None, "row {index}");
    }
}

/// The window was cut from 20 to 9. The response restores a share of the eleven, up to 14 in all,
/// and never lowers the window.
#[test]
fn partial_credit_restores_up_to_seven_tenths() {
    let credit = |needless, resent, now: &Window| {
        let Window { cwnd, ssthresh } = PartialCredit.respond_partly(NeedlessShare { needless, resent }, &saved(), now);
        (cwnd, ssthresh)
    };
    assert_eq!(credit(1, 11, &NOW), (1000, 10_000));
    assert_eq!(credit(4, 11, &NOW), (1000, 13_000));
    assert_eq!(credit(5, 11, &NOW), (1000, 14_000));
    assert_eq!(credit(10, 11, &NOW), (1000, 14_000));
    assert_eq!(credit(1, 11, &Window { cwnd: 12_000, ssthresh: 12_000 }), (12_000, 12_000));
}

#[test]
fn only_partial_credit_restores_a_part_of_the_window() {
    for (index, (mut response, _)) in table().into_iter().enumerate() {
        let credited = response.respond_partly(NeedlessShare { needless: 1, resent: 2 }, &saved(), &NOW) != NOW;
        assert_eq!(credited, index == 9, "row {index}");
    }
}
