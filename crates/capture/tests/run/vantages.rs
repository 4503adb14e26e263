//! The same transfer, captured next to its sender and next to its receiver.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};

use eifel_capture::report::Report;
use eifel_hostile::captured::{Weather, captured};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, run_with};

/// A delay spike of three seconds on a path of 100 ms causes a timeout, and then ACKs of the
/// originals. No packet is lost.
const SPIKE: &str = r#"
duration_s = 12

[point_to_point]
rate_bps = 2_000_000
delay_ms = 50

[[spike]]
links = ["bottleneck"]
holds = "arriving"
at = [{ start_s = 2.0, end_s = 5.0 }]

[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }

[flow.tcp]
receive_window_segments = 10

[flow.sender]
detect = "eifel-timestamps"
respond = "option-1"
"#;

type DetectorVerdict = BTreeSet<(&'static str, bool)>;

/// Returns the judgements of the detectors on each retransmission of a capture, by frame and
/// number.
fn told(pcapng: &[u8]) -> Vec<((u64, u32), DetectorVerdict)> {
    let report = Report::of_bytes("x.pcapng", pcapng).unwrap();
    let one = |one: &eifel_capture::result::Retransmission| {
        let told = one.first_told.iter().map(|told| (told.detector, told.spurious)).collect();
        ((one.frame, one.number.value()), told)
    };
    report.retransmissions.iter().map(one).collect()
}

#[test]
fn detectors_at_the_receiver_agree_after_the_originals_are_acknowledged() {
    let scenario = Scenario::parse(SPIKE, "vantages".as_ref()).unwrap();
    let record = Record::none().capturing(0).capturing(1);
    let outcome = run_with(&scenario, 0, Options { record, ..Options::default() }).unwrap();
    let [sender, receiver] = [0, 1].map(|place| told(&outcome.captures[place].pcapng));
    // The retransmission passes the receiver after all outstanding data have been acknowledged
    // there.
    let said = |found: Vec<((u64, u32), DetectorVerdict)>| {
        found.into_iter().map(|((_, seq), told)| (seq, told)).collect::<Vec<_>>()
    };
    let (sender, receiver) = (said(sender), said(receiver));
    assert!(!sender.is_empty() && sender[0].1.contains(&("eifel-timestamps", true)), "{sender:?}");
    assert_eq!(receiver, sender);
}

#[test]
fn detectors_at_the_receiver_judge_most_retransmissions() {
    // By capture point: the retransmissions that detectors judge at the sender, and how many of
    // them have no judgement at this point.
    let mut found = BTreeMap::<String, (usize, usize)>::new();
    for seed in 0..80 {
        let Ok(run) = captured(seed, Weather::Wild) else { continue };
        let of_place = run.places.iter().map(|place| {
            let by_frame: BTreeMap<_, _> = told(&place.pcapng).into_iter().collect();
            let rows = place.truth.lines().skip(1).filter_map(|line| {
                let fields: Vec<_> = line.split(',').collect();
                let number = |place: usize| fields[place].parse::<u32>().unwrap();
                Some(((number(2), number(3)), by_frame.get(&(number(0).into(), number(2)))?.clone()))
            });
            rows.collect::<BTreeMap<_, _>>()
        });
        let of_place: Vec<_> = of_place.collect();
        for (place, here) in run.places.iter().zip(&of_place).skip(1) {
            let (judged, silent) = found.entry(place.name.clone()).or_default();
            for (_, told) in here.iter().filter(|(key, _)| of_place[0].get(*key).is_some_and(|told| !told.is_empty())) {
                *judged += 1;
                *silent += usize::from(told.is_empty());
            }
        }
    }
    for (place, (judged, silent)) in &found {
        assert!(*judged > 500 && silent * 10 < *judged, "{place}: nothing is said of {silent} of {judged}");
    }
    assert_eq!(found.len(), 2);
}
