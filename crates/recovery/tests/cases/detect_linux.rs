//! Linux's undo in an engine: its detection with its response, at exact times.

use eifel_base::time::Duration;
use eifel_base::units::Timestamp;
use eifel_recovery::engine::{Config, Negotiated};
use eifel_recovery::fact::{Ack, Block, Echo};
use eifel_recovery::registry::{Choice, Value};

use crate::congest_cubic::cubic;
use crate::judged::check;
use crate::script::{UNSET, open, overtaken, spike, text};
use crate::talk::{MSS, Talk, at, config, start};

const FULL: (&str, &str) = ("Spurious", "full undo (TCPFullUndo)");
const PARTIAL: (&str, &str) = ("Spurious", "partial undo (TCPPartialUndo)");
const DSACK: (&str, &str) = ("Spurious", "DSACK undo (TCPDSACKUndo)");
const LOSS: (&str, &str) = ("Spurious", "loss undo (TCPLossUndo)");
const FRTO: (&str, &str) = ("Spurious", "spurious RTO by F-RTO (TCPSpuriousRTOs)");

fn linux(recover: &str) -> Config {
    Config {
        detect: Choice::named("linux"),
        respond: Choice::named("linux"),
        grant: Choice::named("always"),
        ..config(recover)
    }
}

/// Opens a connection with the same window as `open`, but without timestamps.
fn untimed(recover: &str) -> Talk {
    let mut talk = Talk::with(&linux(recover), Negotiated { mss: MSS as u32, sack: true, timestamps: false });
    talk.send();
    talk.ack(100, 1, &[], 0);
    talk
}

/// The retransmission left at 1100 ms. The echo of 1099 is older, the echo of 1100 is not.
#[test]
fn after_a_timeout_an_echo_older_than_the_retransmission_undoes_at_once() {
    for (echo, verdicts, window) in [(1099, &[LOSS][..], (12_000, UNSET)), (1100, &[][..], (2000, 5500))] {
        let mut talk = spike(&linux("reno-sack"));
        talk.ack(1200, 2, &[], echo);
        check(&mut talk, verdicts, window);
    }
}

/// Without SACK the repair goes on after the undo, and so does the time of the first retransmission,
/// 1100 ms. An echo of 1500 is older than the retransmission of 3, but not than that of 2.
#[test]
fn without_sack_an_undo_within_the_repair_keeps_the_time_of_the_first_retransmission() {
    for (echo, verdicts) in [(1500, &[LOSS][..]), (1099, &[LOSS, LOSS])] {
        let mut talk = Talk::with(&linux("newreno"), Negotiated { mss: MSS as u32, sack: false, timestamps: true });
        talk.send();
        talk.ack(100, 1, &[], 0);
        assert_eq!(text(&talk.expire().1), "2r");
        talk.ack(1200, 2, &[], 99);
        assert_eq!(text(&talk.expire().1), "3r");
        talk.ack(9000, 3, &[], echo);
        let found = talk.verdicts();
        let found: Vec<_> = found.iter().map(|(outcome, reason)| (outcome.as_str(), *reason)).collect();
        assert_eq!(found, verdicts, "{echo}");
    }
}

/// An ECN-Echo is congestion, whatever was needless. Linux counts the undo and leaves the repair, and
/// restores no window; only congestion avoidance adds 1000 * 1000 / 5500 bytes for the last ACK. 2 is
/// retransmitted at 103 ms, 3 to 5 are SACKed.
#[test]
fn after_an_ecn_echo_an_undo_ends_the_repair_and_restores_no_window() {
    for (ece, window) in [(false, (12_000, UNSET)), (true, (5681, 5500))] {
        let mut talk = overtaken(&linux("reno-sack"));
        let sacks = [Block { start: start(3), end: start(7) }];
        let echo = Some(Echo::Known { value: Timestamp(100), age: Duration::from_millis(4) });
        let ack = Ack { sacks: &sacks, echo, ece, ..Ack::new(start(2)) };
        talk.engine.on_ack(at(104), &ack);
        talk.ack(105, 5, &[], 102);
        check(&mut talk, &[PARTIAL], window);
    }
}

/// The ACK covers 2, which was retransmitted, and 3, which was not.
#[test]
fn without_timestamps_the_delivery_of_an_original_undoes_a_timeout() {
    let mut talk = untimed("reno-sack");
    assert_eq!(text(&talk.expire().1), "2r");
    talk.ack(1200, 3, &[], 0);
    check(&mut talk, &[FRTO], (12_000, UNSET));
}

/// 13 and 14 are new. The block for them ends F-RTO, and the originals that arrive later undo
/// nothing.
#[test]
fn a_report_of_the_new_data_ends_f_rto() {
    let mut talk = untimed("reno-sack");
    talk.expire();
    assert_eq!(text(&talk.ack(1200, 2, &[], 0)), "13 14");
    talk.ack(1201, 2, &[(13, 13)], 0);
    talk.ack(1202, 4, &[(13, 13)], 0);
    check(&mut talk, &[], (3000, 5500));
}

#[test]
fn a_sack_of_an_original_after_the_new_data_undoes_a_timeout() {
    let mut talk = untimed("reno-sack");
    talk.expire();
    talk.ack(1200, 2, &[], 0);
    talk.ack(1201, 2, &[(5, 5)], 0);
    check(&mut talk, &[FRTO], (11_000, UNSET));
}

/// 2 is retransmitted at 103 ms, 3 to 5 are SACKed. No retransmission is in flight any more.
#[test]
fn a_partial_ack_with_an_old_echo_undoes_fast_recovery() {
    for (echo, verdicts, window) in [(102, &[PARTIAL][..], (12_000, UNSET)), (103, &[][..], (5500, 5500))] {
        let mut talk = overtaken(&linux("reno-sack"));
        talk.ack(104, 5, &[], echo);
        check(&mut talk, verdicts, window);
    }
}

/// 2 and 3 are retransmitted. The partial ACK of 2 finds the retransmission of 3 in flight. Then
/// the ACK of everything undoes.
#[test]
fn a_retransmission_in_flight_delays_the_undo() {
    let mut talk = open(&linux("reno-sack"));
    let sent: Vec<_> = (4..=14).map(|last| text(&talk.ack(97 + last, 1, &[(4, last)], 0))).collect();
    let again = sent.join(" ");
    assert!(again.contains("2r") && again.contains("3r"), "{again}");
    talk.verdicts();
    assert!(!text(&talk.ack(112, 2, &[(4, 14)], 0)).contains('r'));
    assert_eq!(talk.verdicts(), []);
    let nxt = (talk.engine.nxt() - 1) / MSS;
    talk.ack(113, nxt, &[], 0);
    assert_eq!(talk.verdicts().iter().map(|(_, reason)| *reason).collect::<Vec<_>>(), [FULL.1]);
    assert!(talk.cwnd() >= 11_000);
}

/// The repair is over, and nothing has shown yet that it was needless. The DSACK does.
#[test]
fn a_dsack_undoes_even_after_the_repair() {
    let mut talk = overtaken(&linux("reno-sack"));
    let nxt = (talk.engine.nxt() - 1) / MSS;
    talk.ack(203, nxt, &[], 103);
    check(&mut talk, &[], (5500, 5500));
    talk.ack_with(204, nxt, &[], 103, Some(2));
    let found = talk.verdicts();
    assert_eq!(found.iter().map(|(_, reason)| *reason).collect::<Vec<_>>(), [DSACK.1]);
    assert_eq!(talk.ssthresh(), UNSET);
    // What is undone is not undone again.
    talk.ack_with(205, nxt, &[], 103, Some(2));
    assert_eq!(talk.verdicts(), []);
}

/// 2 was lost, and its repair is over. Any later DSACK counts for its retransmission, also that of a
/// copy which the network makes of a segment sent once. Linux 6.18 does so too
/// (docs/internals/kernel.md).
#[test]
fn the_networks_copy_of_a_later_segment_undoes_a_real_loss() {
    let mut talk = overtaken(&linux("reno-sack"));
    let nxt = (talk.engine.nxt() - 1) / MSS;
    let sent = talk.ack(203, nxt, &[], 103);
    check(&mut talk, &[], (5500, 5500));
    assert!(!sent.is_empty() && !text(&sent).contains('r'));
    talk.ack(303, nxt + 1, &[], 203);
    talk.ack_with(304, nxt + 1, &[], 203, Some(nxt + 1));
    assert_eq!(talk.verdicts(), [(DSACK.0.to_owned(), DSACK.1)]);
    assert_eq!(talk.ssthresh(), UNSET);
}

/// The network's copy of 1 is reported before anything was retransmitted. Then the DSACK of 2 is one
/// more than there were retransmissions.
#[test]
fn duplicates_by_the_network_use_up_the_trust_in_dsacks() {
    for (copies, verdicts, window) in [(0, &[LOSS][..], (12_000, UNSET)), (1, &[][..], (2000, 5500))] {
        let mut talk = untimed("reno-sack");
        for _ in 0..copies {
            talk.ack_with(101, 1, &[], 0, Some(1));
        }
        talk.expire();
        talk.ack_with(1200, 2, &[], 0, Some(2));
        check(&mut talk, verdicts, window);
    }
}

/// RACK-TLP: the probe is a retransmission of 12 at 300 ms, which the DSACK reports. The timeout
/// then repairs 2, which was lost. The DSACK of the probe does not undo it.
#[test]
fn the_dsack_of_a_tail_loss_probe_undoes_no_real_loss() {
    let mut talk = open(&linux("rack-tlp"));
    talk.end = start(13);
    let (now, probe) = talk.expire();
    assert_eq!((now, text(&probe)), (300, "12r".into()));
    let (now, again) = talk.expire();
    assert_eq!(text(&again), "2r");
    // F-RTO is out of the way: the report is of the probe's segment.
    talk.ack_with(now + 1, 1, &[(12, 12)], now, Some(12));
    assert_eq!(talk.verdicts(), []);
    talk.ack(now + 100, 2, &[(12, 12)], now);
    assert_eq!(talk.verdicts(), []);
}

/// Pacing holds the fast retransmit back until 104 ms. The original's ACK comes first.
#[test]
fn an_ack_before_anything_was_retransmitted_undoes() {
    let mut talk = Talk::new(&Config { pace: Choice::named("lasting-pacing"), ..linux("rack-tlp") });
    talk.send();
    assert_eq!(text(&talk.ack(100, 1, &[], 0)), "11");
    assert_eq!(text(&talk.ack(101, 1, &[(3, 6)], 0)), "");
    check(&mut talk, &[], (5000, 5000));
    assert_eq!(text(&talk.ack(102, 6, &[], 0)), "");
    check(&mut talk, &[PARTIAL], (12_000, UNSET));
    // The next retransmission would open an episode of its own.
    let (_, sent) = talk.expire();
    assert_eq!(text(&sent), "12");
}

/// The timer expires in fast recovery. The undo restores the window from before both cuts.
#[test]
fn a_timeout_in_fast_recovery_is_undone_with_it() {
    let mut talk = overtaken(&linux("reno-sack"));
    let (now, again) = talk.expire();
    assert_eq!(text(&again[..1]), "2r");
    assert_eq!(talk.cwnd(), 1000);
    talk.verdicts();
    talk.ack(now + 1, 5, &[], 102);
    assert_eq!(talk.verdicts(), [(LOSS.0.to_owned(), LOSS.1)]);
    assert_eq!((talk.cwnd(), talk.ssthresh()), (12_000, UNSET));
}

/// An ssthresh below three quarters of the old window rises to them: 4/2 + 4/4 segments of four.
#[test]
fn ssthresh_rises_to_three_quarters_of_the_window() {
    let congest = linux("reno-sack")
        .congest
        .with("initial_window_segments", Value::Integer(4))
        .with("initial_ssthresh_bytes", Value::Integer(2000));
    let mut talk = Talk::new(&Config { congest, ..linux("reno-sack") });
    talk.send();
    talk.ack(100, 1, &[], 0);
    let cwnd = talk.cwnd();
    let (now, _) = talk.expire();
    talk.ack(now + 1, 2, &[], 0);
    assert_eq!(talk.ssthresh(), 3000);
    assert!(talk.cwnd() >= cwnd);
}

/// Seen in slow start behind the undo: the old curve is none, so only the growth differs later.
/// Here a loss has set the curve's W_max, and then a timeout is spurious.
pub fn restore_epoch() {
    let windows: Vec<_> = [false, true]
        .into_iter()
        .map(|on| {
            let respond = Choice::named("linux").with("restore_epoch", Value::Switch(on));
            let mut talk = overtaken(&Config { respond, ..cubic(linux("reno-sack"), &[]) });
            // The loss of 2 was real.
            let nxt = (talk.engine.nxt() - 1) / MSS;
            talk.ack(203, nxt, &[], 103);
            let nxt = (talk.engine.nxt() - 1) / MSS;
            talk.ack(303, nxt - 2, &[], 203);
            let (now, _) = talk.expire();
            talk.ack(now + 1, nxt - 1, &[], 203);
            let mut time = now + 1;
            for _ in 0..20 {
                let nxt = (talk.engine.nxt() - 1) / MSS;
                time += 100;
                talk.ack(time, nxt, &[], time - 100);
            }
            talk.cwnd()
        })
        .collect();
    assert!(windows[0] != windows[1], "{windows:?}");
}
