//! Checks that each detector has the evidence that it needs. An end's own settings must provide the
//! evidence, or the scenario is refused. If the other end does not agree to it, the run goes on,
//! and the detector reports that it is blind.

use super::algorithm;
use super::error::Fault;
use super::reader::Reader;
use eifel_recovery::registry::{Need, Seam};
use eifel_tcp::settings::{SackUse, Settings};

/// Checks the detectors that these tables name, the closest table first. The default detector may
/// be blind, because no table names it. `gives` says whether the settings under `transport` provide
/// the evidence.
pub(super) fn check<const N: usize>(
    tables: [Option<Reader<'_>>; N],
    transport: &str,
    gives: impl Fn(Need) -> bool,
) -> Result<(), Fault> {
    for key in ["detect", "observers"] {
        let Some(table) = tables.iter().flatten().find(|table| table.has(key)) else { continue };
        for item in table.items(key) {
            let entry = algorithm::entry(item.node(), Seam::Detect);
            if let Some(need) = entry.needs.filter(|&need| !gives(need)) {
                let remedy = remedy(transport, need);
                let off = if remedy.contains("true") && transport == "tcp" { "turns off" } else { "does not turn on" };
                let what = format!("{} is blind without {}, which {transport} {off}", entry.name, need.name());
                return Err(item.fault(what).allowed(format!("{remedy} in {transport}, or another detector")));
            }
        }
    }
    Ok(())
}

/// Returns whether TCP's settings provide the evidence `need`.
pub(super) fn by_tcp(settings: &Settings, need: Need) -> bool {
    match need {
        Need::Timestamps => settings.timestamps.is_some(),
        Need::Marks => settings.marks.is_some(),
        Need::Sack => settings.sack != SackUse::Off,
        Need::Duplicates => settings.sack == SackUse::WithDuplicates,
    }
}

/// Returns the settings of a transport that provide the evidence.
fn remedy(transport: &str, need: Need) -> &'static str {
    match (transport, need) {
        ("sctp", Need::Timestamps) => "timestamp_chunk = \"agreed\" or \"always\"",
        ("sctp", _) => "retransmit_bit = true",
        (_, Need::Timestamps) => "timestamps = true",
        (_, Need::Marks) => "retransmission_marks = \"bits\" or \"timestamps\"",
        (_, Need::Sack) => "sack = true",
        (_, Need::Duplicates) => "sack = true and dsack = true",
    }
}
