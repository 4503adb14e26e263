//! `--record`: records a live run in the tables of a simulated run.

use super::setup::Setup;
use super::{Failure, Recorded, Recordings};
use crate::mirror;
use crate::recording::Recording;
use crate::system::Error;
use eifel_base::time::Duration;
use eifel_command::Options;
use eifel_recovery::engine::Config;
use eifel_sim::record::{Record, Tables};
use eifel_sim::summary::FlowSummary;

/// The data that a run moved.
pub(super) struct Transferred {
    /// The command. Without `--like`, it is the title and the origin of the scenario.
    pub(super) command: &'static str,
    pub(super) written: u64,
    /// Bytes known to have arrived.
    pub(super) arrived: u64,
    pub(super) lasted: Duration,
}

/// Checks that a recording can be written. Call it before anything is created.
pub(super) fn check(options: &Options, recordings: &Recordings<'_>) -> Result<(), Failure> {
    if options.has("--record") && recordings.is_none() {
        return Err(Failure::Usage("--record: only `eifel live` can write the tables".to_owned()));
    }
    Ok(())
}

/// Starts to record the host's first connection if `--record` is given. `of` makes the recording of
/// one end.
pub(super) fn begin(
    options: &Options,
    place: &mut Setup,
    sender: &Config,
    of: fn(Record, &Config) -> Recording,
) -> Option<Recording> {
    let recording = options.has("--record").then(|| of(Record::all(), sender))?;
    recording.attach(&mut place.station.host);
    Some(recording)
}

/// Adds the recording to `recordings`, with the scenario of `--like` or one made from `moved`.
pub(super) fn finish(
    options: &Options,
    recording: Option<Recording>,
    recordings: Recordings<'_>,
    place: &mut Setup,
    moved: &Transferred,
) -> Result<(), Failure> {
    let (Some(recording), Some(recordings), Some(folder)) = (recording, recordings, options.text("--record")) else {
        return Ok(());
    };
    place.station.host.take_witness();
    let (tables, _) =
        recording.finish(place.clock.now()).ok_or_else(|| Error::new("the recording", &"it is still in use", ""))?;
    let seconds = moved.lasted.as_secs_f64();
    let (scenario, origin) = match options.text("--like") {
        Some(path) => (std::fs::read_to_string(path).map_err(Error::of(path))?, path.to_owned()),
        None => (scenario(moved, seconds), moved.command.to_owned()),
    };
    let summary = summary(&tables, moved, seconds);
    recordings.push(Recorded { folder: folder.to_owned(), scenario, origin, summary, tables });
    Ok(())
}

fn summary(tables: &Tables, moved: &Transferred, seconds: f64) -> FlowSummary {
    let mut summary = mirror::summarised(tables);
    summary.flow = "main".to_owned();
    summary.completed = moved.arrived >= moved.written;
    summary.time_s = seconds;
    summary.bytes = moved.arrived;
    summary.goodput_bps = moved.arrived as f64 * 8.0 / seconds.max(1e-9);
    summary
}

fn scenario(moved: &Transferred, seconds: f64) -> String {
    format!(
        "title = \"{}\"\nduration_s = {:.3}\n\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\n\
         to = \"receiver\"\napplication = {{ kind = \"bulk\", bytes = {} }}\n",
        moved.command,
        seconds.max(0.001),
        moved.written.max(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_scenario_records_a_scenario_of_its_transfer() {
        let moved = Transferred { command: "eifel live send", written: 0, arrived: 0, lasted: Duration::ZERO };
        let empty = scenario(&moved, 0.0);
        assert!(empty.contains("duration_s = 0.001\n") && empty.contains("bytes = 1 }"), "{empty}");
        let text = scenario(&Transferred { written: 700, ..moved }, 2.5);
        assert!(text.contains("duration_s = 2.500\n") && text.contains("bytes = 700 }"), "{text}");
        assert!(text.contains("title = \"eifel live send\""), "{text}");
    }

    #[test]
    fn a_run_is_complete_when_all_written_bytes_have_arrived() {
        let recording = Recording::new(Record::all(), &Config::default());
        let (tables, _) = recording.finish(eifel_base::time::Instant::ZERO).unwrap();
        let of = |written, arrived, lasted: Duration| {
            let moved = Transferred { command: "send", written, arrived, lasted };
            let summary = summary(&tables, &moved, lasted.as_secs_f64());
            assert_eq!(summary.flow, "main");
            (summary.completed, summary.time_s, summary.bytes, summary.goodput_bps)
        };
        assert_eq!(of(100, 100, Duration::from_secs(2)), (true, 2.0, 100, 400.0));
        assert_eq!(of(100, 99, Duration::from_secs(2)), (false, 2.0, 99, 396.0));
        assert_eq!(of(100, 101, Duration::ZERO), (true, 0.0, 101, 808e9));
    }
}
