//! Every algorithm of the registry has a transcription here, or the reason why there is none.

use eifel_recovery::registry::{Seam, entries};
use std::path::Path;

/// The file of an algorithm's transcription, from this folder.
fn model(seam: Seam, name: &str) -> Option<&'static str> {
    Some(match (seam, name) {
        (Seam::Detect, "eifel-timestamps") => "detect/eifel_timestamps.rs",
        (Seam::Detect, "eifel-bit") => "detect/eifel_bit.rs",
        (Seam::Detect, "f-rto") => "detect/f_rto.rs",
        (Seam::Detect, "f-rto-sack") => "detect/f_rto_sack.rs",
        (Seam::Detect, "dsack") => "detect/dsack.rs",
        (Seam::Detect, "dual-rtt") => "detect/dual_rtt.rs",
        (Seam::Detect, "min-rtt") => "detect/min_rtt.rs",
        (Seam::Rto, "rfc6298") => "rto.rs",
        (Seam::Rto, "lite") => "rto/lite.rs",
        (Seam::Rto, "eifel") => "rto/eifel.rs",
        (Seam::Rto, "self-trained") => "rto/self_trained.rs",
        (Seam::Rto, "linux") => "rto/linux.rs",
        (Seam::Rto, "fixed") => "rto/fixed.rs",
        (Seam::AfterSpurious, "none" | "reseed" | "back-off" | "min-plus-plus") => "after_spurious.rs",
        (Seam::Recover, "reno") => "recover/reno.rs",
        (Seam::Recover, "newreno") => "recover/newreno.rs",
        (Seam::Recover, "reno-sack") => "recover/reno_sack.rs",
        (Seam::Recover, "newreno-sack") => "recover/newreno_sack.rs",
        (Seam::Recover, "fack") => "recover/fack.rs",
        (Seam::Recover, "rfc6675") => "recover/rfc6675.rs",
        (Seam::Recover, "rack-tlp") => "recover/rack_tlp.rs",
        (Seam::Congest, "reno") => "congest.rs",
        (Seam::Congest, "cubic") => "cubic.rs",
        // These walk the registry themselves.
        (Seam::Respond, _) => "respond.rs",
        (Seam::Grant, _) => "grant.rs",
        (Seam::Pace, _) => "pace.rs",
        // It never answers: there is nothing to transcribe.
        (Seam::Detect, "none") => "detect/mod.rs",
        _ => return None,
    })
}

#[test]
fn every_algorithm_has_a_transcription() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/naive");
    let without: Vec<_> = entries()
        .iter()
        .filter(|entry| model(entry.seam, entry.name).is_none_or(|file| !folder.join(file).is_file()))
        .map(|entry| format!("{} {}", entry.seam.name(), entry.name))
        .collect();
    assert!(without.is_empty(), "no naive model in tests/naive: {}", without.join(", "));
}
