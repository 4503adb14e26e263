//! Checks that the evidence that a detector needs is available. An end's own settings must provide
//! it, or the scenario is refused. If the other end does not agree to it, the run goes on, and the
//! detector reports that it is blind.

use super::algorithm;
use super::error::Fault;
use super::reader::Reader;
use eifel_recovery::registry::{Need, Seam};
use eifel_tcp::settings::{SackUse, Settings};

/// Checks the detectors that these tables name, the closest table first. The default detector may
/// be blind, because nobody asked for it by name.
pub(super) fn check<const N: usize>(tables: [Option<Reader<'_>>; N], settings: &Settings) -> Result<(), Fault> {
    for key in ["detect", "observers"] {
        let Some(table) = tables.iter().flatten().find(|table| table.has(key)) else { continue };
        for item in table.items(key) {
            let entry = algorithm::entry(item.node(), Seam::Detect);
            if let Some(need) = entry.needs.filter(|&need| !gives(settings, need)) {
                let off = if need == Need::Marks { "does not turn on" } else { "turns off" };
                let what = format!("{} is blind without {}, which tcp {off}", entry.name, need.name());
                return Err(item.fault(what).allowed(remedy(need)));
            }
        }
    }
    Ok(())
}

fn gives(settings: &Settings, need: Need) -> bool {
    match need {
        Need::Timestamps => settings.timestamps.is_some(),
        Need::Marks => settings.marks.is_some(),
        Need::Sack => settings.sack != SackUse::Off,
        Need::Duplicates => settings.sack == SackUse::WithDuplicates,
    }
}

/// Returns the settings under `tcp` that provide the evidence.
fn remedy(need: Need) -> &'static str {
    match need {
        Need::Timestamps => "timestamps = true in tcp, or another detector",
        Need::Marks => "retransmission_marks = \"bits\" or \"timestamps\" in tcp, or another detector",
        Need::Sack => "sack = true in tcp, or another detector",
        Need::Duplicates => "sack = true and dsack = true in tcp, or another detector",
    }
}
