//! Checkers verify the laws in random scenarios.

use crate::common::{ROUGH, SPIKES, observed, scenario};
use eifel_recovery::registry::Seam;
use eifel_sim::record::Record;
use eifel_sim::{Options, run_with};
use proptest::prelude::*;

#[test]
fn the_transfers_of_the_tests_keep_the_laws() {
    for text in [ROUGH, SPIKES] {
        let scenario = scenario(text);
        for repetition in 0..10 {
            let outcome = observed(&scenario, repetition);
            let flow = &outcome.summary.flows[0];
            assert!(flow.completed, "{repetition}: {flow:?}");
            assert!(flow.spurious_retransmissions <= flow.retransmissions, "{flow:?}");
            let judged = flow.spurious_timeouts + flow.genuine_timeouts;
            assert!(judged <= flow.timeout_episodes && flow.timeout_episodes <= flow.timeouts, "{flow:?}");
        }
    }
}

/// The record judges retransmissions of a lone SYN or FIN, which carries no data. The summary does
/// not count them as retransmissions of data.
#[test]
fn a_spurious_syn_retransmission_is_not_counted_as_data() {
    let text = "duration_s = 60
        point_to_point = { rate_bps = 1_000_000, delay_ms = 10 }
        spike = [{ links = [\"bottleneck\"], holds = \"arriving\", at = [{ start_s = 0, length_s = 4 }] }]
        [[flow]]
        name = \"main\"
        from = \"sender\"
        to = \"receiver\"
        application = { kind = \"bulk\", bytes = 100_000 }";
    let outcome = observed(&scenario(text), 0);
    let needless = outcome.tables.transmissions.needed.iter().filter(|needed| **needed == 2).count();
    let flow = &outcome.summary.flows[0];
    assert!(flow.completed && needless > 0, "{flow:?}");
    assert_eq!((flow.retransmissions, flow.spurious_retransmissions), (0, 0));
}

#[test]
fn without_loss_or_delay_nothing_is_sent_twice() {
    let text =
        SPIKES.split("[[spike]]").next().unwrap().to_owned() + SPIKES.split("\"start-to-start\"").nth(1).unwrap();
    let text = text.replace("packets = 75", "packets = 1000");
    let flow = observed(&scenario(&text), 0).summary.flows[0].clone();
    assert_eq!((flow.completed, flow.segments_sent, flow.retransmissions), (true, 2000, 0));
}

/// Every retransmission is judged needed or spurious. Needed retransmissions repair lost data, so
/// they carry no more positions than were lost.
#[test]
fn every_retransmission_is_judged() {
    let scenario = scenario(ROUGH);
    for repetition in 0..5 {
        let outcome = observed(&scenario, repetition);
        let table = &outcome.tables.transmissions;
        for row in 0..table.kind.len() {
            assert_eq!(table.kind[row] == 1, table.needed[row] != 0, "row {row}");
        }
        let lost_data: i64 = (0..table.kind.len()).filter(|&row| table.fate[row] == 2).map(|row| table.len[row]).sum();
        let needed: i64 = (0..table.kind.len()).filter(|&row| table.needed[row] == 1).map(|row| table.len[row]).sum();
        assert!(lost_data > 0 && needed <= lost_data, "{needed} positions repaired, {lost_data} lost");
    }
}

/// `drops_after_undo` counts the drops in the table within a smoothed round trip after a verdict
/// that changed the window.
#[test]
fn drops_after_an_undo_are_those_of_the_round_trip_after_it() {
    let scenario = scenario(&(ROUGH.to_owned() + "[sender]\nrespond = \"option-1\""));
    let (mut undos, mut dropped) = (0, 0);
    for repetition in 0..5 {
        let outcome = observed(&scenario, repetition);
        let flow = &outcome.summary.flows[0];
        let (episodes, timer) = (&outcome.tables.episodes, &outcome.tables.timer);
        let spurious = (0..episodes.flow.len()).filter(|&row| episodes.verdict[row] == 1);
        let bursts: Vec<(i64, i64)> = spurious
            .map(|row| {
                let at = episodes.verdict_ns[row];
                let latest = (0..timer.t_ns.len()).rev().find(|&row| timer.t_ns[row] <= at).unwrap();
                (at, at + timer.srtt_ns[latest])
            })
            .collect();
        let drops = &outcome.tables.drops;
        let after = (0..drops.t_ns.len())
            .filter(|&row| drops.tx[row] >= 0)
            .filter(|&row| bursts.iter().any(|&(from, until)| (from..until).contains(&drops.t_ns[row])))
            .count() as u64;
        assert_eq!(flow.drops_after_undo, after, "repetition {repetition}");
        assert!(flow.undos <= flow.detected_spurious, "{flow:?}");
        undos += flow.undos;
        dropped += after;
    }
    assert!(undos > 5 && dropped > 0, "{undos} undos, {dropped} drops after them");
}

fn recoveries() -> impl Strategy<Value = &'static str> {
    let names = Seam::Recover.entries().iter().map(|entry| entry.name);
    prop::sample::select(names.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn drawn_scenarios_keep_the_laws(
        recover in recoveries(),
        detect in prop::sample::select(vec!["eifel-timestamps", "none", "f-rto", "f-rto-sack", "dsack", "dual-rtt", "min-rtt"]),
        congest in prop::sample::select(vec!["reno", "cubic"]),
        respond in prop::sample::select(vec!["rfc4015", "option-1", "rfc3708", "partial-credit"]),
        grant in prop::sample::select(vec!["always", "once-a-round-trip"]),
        (rate, delay, packets) in (100_000u64..20_000_000, 0u64..200, 2u32..60),
        (loss, duplicate, reorder) in (0.0f64..0.1, 0.0f64..0.1, 0.0f64..0.1),
        (bytes, seed, handshake, window) in (1u64..300_000, 0u64..1000, any::<bool>(), 1500u32..200_000),
        carries_bytes in any::<bool>(),
    ) {
        let text = format!(r#"
            seed = {seed}
            duration_s = 200
            [point_to_point]
            rate_bps = {rate}
            delay_ms = {delay}
            queue = {{ kind = "drop-tail", packets = {packets} }}
            loss = {{ kind = "random", rate = {loss} }}
            duplicate = {{ rate = {duplicate} }}
            reorder = {{ rate = {reorder}, length = 3 }}
            [point_to_point.back]
            loss = {{ kind = "random", rate = {loss} }}
            duplicate = {{ rate = {duplicate} }}
            [[spike]]
            links = ["bottleneck"]
            holds = "arriving"
            first_s = {{ uniform = [0, 3] }}
            length_s = {{ uniform = [0.5, 4] }}
            interval_s = {{ uniform = [5, 20] }}
            interval = "end-to-start"
            [tcp]
            receive_window_bytes = {window}
            [sender]
            recover = "{recover}"
            detect = "{detect}"
            respond = "{respond}"
            grant = "{grant}"
            congest = "{congest}"
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            handshake = {handshake}
            application = {{ kind = "bulk", bytes = {bytes} }}
        "#);
        let options = Options { record: Record::all(), checked: true, bytes: carries_bytes, ..Options::default() };
        let outcome = run_with(&scenario(&text), 0, options).unwrap();
        prop_assert!(outcome.summary.flows[0].bytes <= bytes);
    }
}
