//! What a detector goes by has to be there: its end's own settings give it, or the scenario is refused. What the other end
//! leaves out is between the two of them, as in life: the detector is blind then, and says so.

use super::algorithm;
use super::error::Fault;
use super::reader::Reader;
use eifel_recovery::registry::{Need, Seam};
use eifel_tcp::settings::{SackUse, Settings};

/// Checks the detectors that these tables name, the closest first. One that nobody names is the default: where it is blind,
/// nobody has asked for more.
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

/// The settings under `tcp` with which it sees.
fn remedy(need: Need) -> &'static str {
    match need {
        Need::Timestamps => "timestamps = true in tcp, or another detector",
        Need::Marks => "retransmission_marks = \"bits\" or \"timestamps\" in tcp, or another detector",
        Need::Sack => "sack = true in tcp, or another detector",
        Need::Duplicates => "sack = true and dsack = true in tcp, or another detector",
    }
}
