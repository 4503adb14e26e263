//! Tests beyond the scripts of the five situations: every parameter of the registry at a value
//! other than its default, the steps and arithmetic of single algorithms, and properties of all of
//! them.

#[path = "../talk/mod.rs"]
mod talk;

mod adapted;
mod association_by_time;
mod association_parts;
mod association_probes;
mod congest_cubic;
mod congest_hystart;
mod congest_windows;
mod detect_cover;
mod detect_dsack;
mod detect_dual_rtt;
mod detect_eifel_bit;
mod detect_eifel_f_rto_dsack;
mod detect_f_rto;
mod detect_f_rto_sack;
mod detect_linux;
mod detect_min_rtt;
mod detect_steps;
mod distrusted;
mod engine_duplicates;
mod engine_sends;
mod engine_timers;
mod judged;
mod late_fast_retransmit;
mod pace;
mod parameters;
mod recover_details;
mod recover_ns2;
mod recover_point;
mod recover_properties;
mod recover_prr;
mod recover_rack_tlp;
mod recover_rfc6675;
mod recover_tcp_ncr;
mod respond_arithmetic;
mod rto_laws;
mod rto_parameters;
mod rto_properties;
mod rto_samples;
mod rto_sequences;
mod rto_series;
mod script;
mod undone_flight;

use std::panic::catch_unwind;

use eifel_recovery::registry::entries;

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
fn every_row_names_an_algorithm_and_parameter_of_the_registry() {
    for (seam, name, parameter, _) in parameters::SET {
        let entry = seam.entry(name);
        assert!(entry.is_some_and(|e| e.parameters.iter().any(|known| known.name == *parameter)), "{name} {parameter}");
    }
}
