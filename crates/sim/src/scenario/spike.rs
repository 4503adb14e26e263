//! Delay spikes, and the links that they hold.

use super::draw;
use super::error::Fault;
use super::names::Names;
use super::reader::Reader;
use super::topology::Topology;
use eifel_base::time::Instant;
use eifel_path::spike::{DrawnSpikes, HoldsAt, Measured, Span, SpikeConfig, SpikeSource};

/// Adds every spike of the scenario to its links.
pub(super) fn attach(top: &Reader<'_>, topology: &mut Topology) -> Result<(), Fault> {
    let mut names = Names::new("spike");
    for (index, table) in top.tables("spike").iter().enumerate() {
        let name = table.maybe_text("name").map_or_else(|| format!("spike{}", index + 1), str::to_owned);
        names.add(&name).map_err(|what| table.fault("name", what))?;
        let holds = if table.text("holds") == "arriving" { HoldsAt::Arriving } else { HoldsAt::Sending };
        let source =
            if table.has("at") { SpikeSource::Listed(listed(table)?) } else { SpikeSource::Drawn(drawn(table)?) };
        let config = SpikeConfig { name, holds, source };
        let key = if table.has("at") { "at" } else { "interval_s" };
        config.check().map_err(|error| super::link::problem(table, key, &error.problem))?;
        let mut held = Vec::new();
        for item in table.items("links") {
            let link = topology.link_names.item(&item)?;
            if held.contains(&link) {
                return Err(item.fault(format!("the link {} is listed twice", item.text())));
            }
            held.push(link);
            topology.links[link].config.spikes.push(config.clone());
        }
    }
    Ok(())
}

fn listed(table: &Reader<'_>) -> Result<Vec<Span>, Fault> {
    let mut spans: Vec<Span> = Vec::new();
    for at in table.tables("at") {
        let start = Instant::ZERO + at.duration("start_s");
        let end = match at.maybe_duration("length_s") {
            Some(length) => start + length,
            None => Instant::ZERO + at.duration("end_s"),
        };
        if end <= start {
            let what = format!("the spike ends at {} s, but begins at {} s", end.as_secs_f64(), start.as_secs_f64());
            return Err(at.fault("end_s", what).allowed("an end after the start"));
        }
        if let Some(earlier) = spans.last().filter(|earlier| earlier.end > start) {
            let (start, end) = (start.as_secs_f64(), earlier.end.as_secs_f64());
            let what = format!("the spike begins at {start} s, but the one before it ends at {end} s");
            return Err(at.fault("start_s", what).allowed("spikes in the order of time that do not overlap"));
        }
        spans.push(Span { start, end });
    }
    Ok(spans)
}

fn drawn(table: &Reader<'_>) -> Result<DrawnSpikes, Fault> {
    Ok(DrawnSpikes {
        first: draw::read(table, "first_s")?,
        length: draw::read(table, "length_s")?,
        interval: draw::read(table, "interval_s")?,
        measured: if table.text("interval") == "end-to-start" { Measured::EndToStart } else { Measured::StartToStart },
    })
}
