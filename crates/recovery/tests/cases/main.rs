//! Five situations for every algorithm of the registry, each by hand: delay spike, genuine loss, reordering, lost ACKs, a
//! duplicated packet; and every parameter at a value that is not its default. The walk over the registry is the runner.

#[path = "../talk/mod.rs"]
mod talk;

mod after_spurious;
mod congest;
mod congest_cubic;
mod congest_windows;
mod detect_dsack;
mod detect_dual_rtt;
mod detect_eifel_bit;
mod detect_eifel_timestamps;
mod detect_f_rto;
mod detect_f_rto_sack;
mod detect_min_rtt;
mod detect_none;
mod detect_steps;
mod grant;
mod judged;
mod late_fast_retransmit;
mod pace;
mod parameters;
mod recover;
mod recover_details;
mod recover_point;
mod recover_properties;
mod recover_prr;
mod recover_rack_tlp;
mod respond;
mod respond_arithmetic;
mod rto;
mod rto_conversations;
mod rto_laws;
mod rto_parameters;
mod rto_properties;
mod rto_samples;
mod rto_sequences;
mod rto_series;
mod script;

use std::panic::catch_unwind;

use eifel_recovery::registry::{Seam, entries};

/// The situations, in the order of every row.
const SITUATIONS: [&str; 5] = ["delay spike", "genuine loss", "reordering", "lost ACKs", "duplicated packet"];

type Row = (Seam, &'static str, [fn(); 5]);

const CASES: &[Row] = &[
    (Seam::Detect, "none", detect_none::CASES),
    (Seam::Detect, "eifel-bit", detect_eifel_bit::CASES),
    (Seam::Detect, "eifel-timestamps", detect_eifel_timestamps::CASES),
    (Seam::Detect, "f-rto", detect_f_rto::CASES),
    (Seam::Detect, "f-rto-sack", detect_f_rto_sack::CASES),
    (Seam::Detect, "dsack", detect_dsack::CASES),
    (Seam::Detect, "dual-rtt", detect_dual_rtt::CASES),
    (Seam::Detect, "min-rtt", detect_min_rtt::CASES),
    (Seam::Respond, "none", respond::none::CASES),
    (Seam::Respond, "option-1", respond::option_1::CASES),
    (Seam::Respond, "option-2", respond::option_2::CASES),
    (Seam::Respond, "option-3", respond::option_3::CASES),
    (Seam::Respond, "option-4", respond::option_4::CASES),
    (Seam::Respond, "option-4-ssthresh", respond::option_4_ssthresh::CASES),
    (Seam::Respond, "by-retransmissions", respond::by_retransmissions::CASES),
    (Seam::Respond, "rfc4015", respond::rfc4015::CASES),
    (Seam::Respond, "rfc3708", respond::rfc3708::CASES),
    (Seam::Respond, "partial-credit", respond::partial_credit::CASES),
    (Seam::Grant, "always", grant::always::CASES),
    (Seam::Grant, "once-a-round-trip", grant::once_a_round_trip::CASES),
    (Seam::Rto, "rfc6298", rto::CASES),
    (Seam::Rto, "lite", rto_conversations::lite::CASES),
    (Seam::Rto, "eifel", rto_conversations::eifel::CASES),
    (Seam::Rto, "self-trained", rto_conversations::self_trained::CASES),
    (Seam::Rto, "linux", rto_conversations::linux::CASES),
    (Seam::Rto, "fixed", rto_conversations::fixed::CASES),
    (Seam::AfterSpurious, "none", after_spurious::none::CASES),
    (Seam::AfterSpurious, "reseed", after_spurious::reseed::CASES),
    (Seam::AfterSpurious, "back-off", after_spurious::back_off::CASES),
    (Seam::AfterSpurious, "min-plus-plus", after_spurious::min_plus_plus::CASES),
    (Seam::Recover, "reno", recover::reno::CASES),
    (Seam::Recover, "newreno", recover::newreno::CASES),
    (Seam::Recover, "reno-sack", recover::reno_sack::CASES),
    (Seam::Recover, "newreno-sack", recover::newreno_sack::CASES),
    (Seam::Recover, "fack", recover::fack::CASES),
    (Seam::Recover, "rfc6675", recover::rfc6675::CASES),
    (Seam::Recover, "rack-tlp", recover_rack_tlp::CASES),
    (Seam::Congest, "reno", congest::CASES),
    (Seam::Congest, "cubic", congest_cubic::CASES),
    (Seam::Pace, "none", pace::none::CASES),
    (Seam::Pace, "burst-limit", pace::burst_limit::CASES),
    (Seam::Pace, "pacing", pace::pacing::CASES),
    (Seam::Pace, "burst-pacer", pace::burst_pacer::CASES),
];

#[test]
fn every_algorithm_stands_its_five_situations() {
    let mut failed = Vec::new();
    for entry in entries() {
        let name = format!("{} {}", entry.seam.name(), entry.name);
        match CASES.iter().find(|(seam, of, _)| (*seam, *of) == (entry.seam, entry.name)) {
            None => failed.push(format!("{name} has no cases")),
            Some((_, _, cases)) => {
                let broken = SITUATIONS.iter().zip(cases).filter(|(_, case)| catch_unwind(**case).is_err());
                failed.extend(broken.map(|(situation, _)| format!("{name}: {situation}")));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_parameter_has_a_test_away_from_its_default() {
    let mut failed = Vec::new();
    for entry in entries() {
        for parameter in entry.parameters {
            let wanted = (entry.seam, entry.name, parameter.name);
            match parameters::SET.iter().find(|(seam, of, name, _)| (*seam, *of, *name) == wanted) {
                None => failed.push(format!("{wanted:?} has no test")),
                Some((.., test)) if catch_unwind(test).is_err() => failed.push(format!("{wanted:?}")),
                Some(_) => {}
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn no_row_speaks_of_an_algorithm_that_is_not_there() {
    let known = |seam, name| entries().iter().any(|entry| (entry.seam, entry.name) == (seam, name));
    for (seam, name, _) in CASES {
        assert!(known(*seam, name), "{} {name}", seam.name());
    }
    for (seam, name, parameter, _) in parameters::SET {
        let entry = entries().iter().find(|entry| (entry.seam, entry.name) == (*seam, *name));
        assert!(entry.is_some_and(|e| e.parameters.iter().any(|known| known.name == *parameter)), "{name} {parameter}");
    }
}
