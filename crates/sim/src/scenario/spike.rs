//! Reads delay spikes and outages, and their links.

use super::draw;
use super::error::Fault;
use super::names::Names;
use super::reader::Reader;
use super::topology::Topology;
use eifel_base::time::Instant;
use eifel_path::config::LinkConfig;
use eifel_path::element::ElementConfig;
use eifel_path::element::outage::OutageConfig;
use eifel_path::spike::{DrawnSpikes, HoldsAt, Measured, Span, SpikeConfig, SpikeSource};

/// Adds every spike and outage of the scenario to its links.
pub(super) fn attach(top: &Reader<'_>, topology: &mut Topology) -> Result<(), Fault> {
    each(top, "spike", topology, |table, name, source, link| {
        let holds = if table.text("holds") == "arriving" { HoldsAt::Arriving } else { HoldsAt::Sending };
        link.spikes.push(SpikeConfig { name, holds, source });
    })?;
    each(top, "outage", topology, |_, name, source, link| {
        link.elements.insert(0, ElementConfig::Outage(OutageConfig { name, source }));
    })
}

/// Reads all tables of this kind. Calls `add` for each table and each of its links, with the
/// table's name and times.
fn each(
    top: &Reader<'_>,
    kind: &'static str,
    topology: &mut Topology,
    add: impl Fn(&Reader<'_>, String, SpikeSource, &mut LinkConfig),
) -> Result<(), Fault> {
    let mut names = Names::new(kind);
    for (index, table) in top.tables(kind).iter().enumerate() {
        let name = table.maybe_text("name").map_or_else(|| format!("{kind}{}", index + 1), str::to_owned);
        names.add(&name).map_err(|what| table.fault("name", what))?;
        let source =
            if table.has("at") { SpikeSource::Listed(listed(table, kind)?) } else { SpikeSource::Drawn(drawn(table)?) };
        let key = if table.has("at") { "at" } else { "interval_s" };
        let mut found = Vec::new();
        for item in table.items("links") {
            let link = topology.link_names.item(&item)?;
            if found.contains(&link) {
                return Err(item.fault(format!("the link {} is listed twice", item.text())));
            }
            found.push(link);
            let config = &mut topology.links[link].config;
            add(table, name.clone(), source.clone(), config);
            config.check().map_err(|error| super::link::problem(table, key, &error.problem))?;
        }
    }
    Ok(())
}

fn listed(table: &Reader<'_>, kind: &str) -> Result<Vec<Span>, Fault> {
    let mut spans: Vec<Span> = Vec::new();
    for at in table.tables("at") {
        let start = Instant::ZERO + at.duration("start_s");
        let end = match at.maybe_duration("length_s") {
            Some(length) => start + length,
            None => Instant::ZERO + at.duration("end_s"),
        };
        if end <= start {
            let what = format!("the {kind} ends at {} s, but begins at {} s", end.as_secs_f64(), start.as_secs_f64());
            return Err(at.fault("end_s", what).allowed("an end after the start"));
        }
        if let Some(earlier) = spans.last().filter(|earlier| earlier.end > start) {
            let (start, end) = (start.as_secs_f64(), earlier.end.as_secs_f64());
            let what = format!("the {kind} begins at {start} s, but the one before it ends at {end} s");
            return Err(at.fault("start_s", what).allowed(format!("{kind}s in the order of time that do not overlap")));
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
