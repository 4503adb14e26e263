//! Reads the settings of a link.

use super::error::Fault;
use super::names::Names;
use super::reader::Reader;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_path::config::{Capacity, DelayChange, LinkConfig, RateChange};
use eifel_path::element::ElementConfig;
use eifel_path::element::gilbert_elliott::GilbertElliottConfig;
use eifel_path::element::jitter::JitterConfig;
use eifel_path::element::late::LateConfig;
use eifel_path::element::listed::ListedDrop;
use eifel_path::element::remark::RemarkConfig;
use eifel_path::element::reorder::{Choice, ReorderConfig};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::adaptive_red::AdaptiveRedConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::queue::drop_tail::DropTail;
use eifel_path::queue::fq_codel::FqCodelConfig;
use eifel_path::queue::red::{Manner, RedConfig, Unit};
use eifel_path::trace::Trace;
use std::path::Path;
use std::sync::Arc;

/// The files and flows that a link's settings refer to.
pub(super) struct Surroundings<'a> {
    /// The folder of the files that a scenario names.
    pub(super) folder: &'a Path,
    /// The names of the flows, which drops and reordering refer to.
    pub(super) flows: &'a Names,
}

/// Reads a link from its table. Also reads the reverse link, with the changes in the table's
/// `back`.
pub(super) fn both_ways(table: &Reader<'_>, around: &Surroundings<'_>) -> Result<(LinkConfig, LinkConfig), Fault> {
    let there = one_way(table, None, around)?;
    let plain = LinkConfig { elements: Vec::new(), ..there.clone() };
    let back = match table.table("back") {
        Some(changes) => one_way(&changes, Some(plain), around)?,
        None => plain,
    };
    Ok((there, back))
}

/// Reads a link from its table. Uses the settings of `like` for missing settings, except elements.
pub(super) fn one_way(
    table: &Reader<'_>,
    like: Option<LinkConfig>,
    around: &Surroundings<'_>,
) -> Result<LinkConfig, Fault> {
    let given = capacity(table, around.folder)?;
    let (old_capacity, (old_delay, old_changes), old_queue) = match like {
        Some(like) => (like.capacity, (like.delay, like.delay_changes), like.queue),
        None => (Capacity::Unlimited, (Duration::ZERO, Vec::new()), QueueConfig::Unlimited),
    };
    let given_delay = table.maybe_duration("delay_ms");
    let old_changes = if given_delay.is_some() { Vec::new() } else { old_changes };
    let config = LinkConfig {
        capacity: given.unwrap_or(old_capacity),
        delay: given_delay.unwrap_or(old_delay),
        delay_changes: if table.has("delay_changes") { delay_changes(table)? } else { old_changes },
        queue: table.table("queue").map_or(old_queue, |queue| queue_of(&queue)),
        spikes: Vec::new(),
        elements: elements(table, around)?,
        elements_until: table.maybe_duration("disturbed_until_s").map_or(Instant::NEVER, |until| Instant::ZERO + until),
    };
    config.check().map_err(|error| problem(table, &error.key, &error.problem))?;
    Ok(config)
}

/// Turns the error of a path element into a fault. The error may end with the allowed values.
pub(super) fn problem(table: &Reader<'_>, key: &str, problem: &str) -> Fault {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let inner = (!first.is_empty()).then(|| table.table(first)).flatten();
    let place = |what: &str| match &inner {
        Some(inner) if !rest.is_empty() => inner.fault(rest, what),
        _ => table.fault(first, what),
    };
    match problem.split_once("; allowed: ") {
        Some((what, allowed)) => place(what).allowed(allowed),
        None => place(problem),
    }
}

fn capacity(table: &Reader<'_>, folder: &Path) -> Result<Option<Capacity>, Fault> {
    if let Some(file) = table.maybe_text("trace") {
        return trace(table, &folder.join(file)).map(Some);
    }
    if table.has("trace") {
        let times = table.items("trace").iter().map(|item| item.integer() as u32).collect();
        let refused = |expected: &str| table.fault("trace", "no recording of a link").allowed(expected);
        return Ok(Some(Capacity::Trace(Arc::new(Trace::of_times(times).map_err(refused)?))));
    }
    let Some(rate) = table.maybe_integer("rate_bps").and_then(Rate::from_bps) else {
        if !table.has("rate_bps") {
            return Ok(None);
        }
        if table.has("rate_changes") {
            return Err(table.fault("rate_changes", "contradicts rate_bps = \"unlimited\""));
        }
        return Ok(Some(Capacity::Unlimited));
    };
    let mut changes: Vec<RateChange> = Vec::new();
    for change in table.tables("rate_changes") {
        let at = after(&change, changes.last().map(|earlier| earlier.at))?;
        changes.extend(Rate::from_bps(change.integer("rate_bps")).map(|rate| RateChange { at, rate }));
    }
    Ok(Some(Capacity::Rate { rate, changes }))
}

fn delay_changes(table: &Reader<'_>) -> Result<Vec<DelayChange>, Fault> {
    let mut changes: Vec<DelayChange> = Vec::new();
    for change in table.tables("delay_changes") {
        let at = after(&change, changes.last().map(|earlier| earlier.at))?;
        changes.push(DelayChange { at, delay: change.duration("delay_ms") });
    }
    Ok(changes)
}

/// Reads the time of a change, which must be after the time of the `earlier` change.
pub(super) fn after(change: &Reader<'_>, earlier: Option<Instant>) -> Result<Instant, Fault> {
    let at = Instant::ZERO + change.duration("at_s");
    match earlier.filter(|&earlier| earlier >= at) {
        Some(earlier) => {
            let what = format!("{} s does not come after {} s", at.as_secs_f64(), earlier.as_secs_f64());
            Err(change.fault("at_s", what).allowed("changes in the order of time"))
        }
        None => Ok(at),
    }
}

fn trace(table: &Reader<'_>, file: &Path) -> Result<Capacity, Fault> {
    let refused =
        |what: String| table.fault("trace", what).allowed("a file of one millisecond a line, never decreasing");
    let text = std::fs::read_to_string(file).map_err(|error| refused(format!("{}: {error}", file.display())))?;
    let trace = Trace::parse(&text).map_err(|error| refused(format!("{}: {error}", file.display())))?;
    Ok(Capacity::Trace(Arc::new(trace)))
}

fn queue_of(table: &Reader<'_>) -> QueueConfig {
    match table.kind() {
        "drop-tail" => QueueConfig::DropTail(match table.maybe_count("packets") {
            Some(packets) => DropTail::Packets(packets),
            None => DropTail::Bytes(table.integer("bytes")),
        }),
        "red" => QueueConfig::Red(RedConfig {
            minimum_packets: table.number("minimum_packets"),
            maximum_packets: table.number("maximum_packets"),
            maximum_probability: table.number("maximum_probability"),
            weight: table.number("weight"),
            manner: manner(table),
        }),
        "adaptive-red" => QueueConfig::AdaptiveRed(AdaptiveRedConfig {
            target_delay: table.duration("target_delay_ms"),
            manner: manner(table),
        }),
        "codel" => QueueConfig::Codel(CodelConfig { law: law(table), limit_packets: table.count("packets") }),
        "fq-codel" => QueueConfig::FqCodel(FqCodelConfig {
            law: law(table),
            limit_packets: table.count("packets"),
            queues: table.count("queues"),
            quantum_bytes: table.count("quantum_bytes"),
        }),
        _ => QueueConfig::Unlimited,
    }
}

fn law(table: &Reader<'_>) -> Law {
    Law { target: table.duration("target_ms"), interval: table.duration("interval_ms"), ecn: table.switch("ecn") }
}

fn manner(table: &Reader<'_>) -> Manner {
    Manner {
        gentle: table.switch("gentle"),
        wait: table.switch("wait"),
        unit: if table.text("measure") == "bytes" { Unit::Bytes } else { Unit::Packets },
        mean_packet_bytes: table.count("mean_packet_bytes"),
        limit_packets: table.count("packets"),
        ecn: table.switch("ecn"),
    }
}

/// Reads the elements before the queue, in the order in which packets pass them: drops, loss,
/// duplication, ECN faults, reordering, jitter.
fn elements(table: &Reader<'_>, around: &Surroundings<'_>) -> Result<Vec<ElementConfig>, Fault> {
    let mut elements = Vec::new();
    let mut drops = Vec::new();
    for listed in table.tables("drops") {
        let (flow, copies) = (flow(&listed, around)?, listed.count("copies"));
        drops.extend(listed.items("segments").iter().map(|item| ListedDrop { flow, segment: item.integer(), copies }));
    }
    if !drops.is_empty() {
        elements.push(ElementConfig::ListedDrops(drops));
    }
    elements.extend(table.tables("loss").iter().map(|loss| match loss.kind() {
        "gilbert-elliott" => ElementConfig::GilbertElliott(GilbertElliottConfig {
            good_to_bad: loss.number("good_to_bad"),
            bad_to_good: loss.number("bad_to_good"),
            loss_in_good: loss.number("loss_in_good"),
            loss_in_bad: loss.number("loss_in_bad"),
        }),
        "larger-than" => ElementConfig::LargerThan { bytes: loss.count("bytes") },
        _ => ElementConfig::RandomLoss { rate: loss.number("rate") },
    }));
    elements
        .extend(table.table("duplicate").map(|duplicate| ElementConfig::Duplicate { rate: duplicate.number("rate") }));
    elements.extend(table.table("ecn_faults").map(|faults| {
        ElementConfig::Remark(RemarkConfig { clear: faults.number("clear"), forge: faults.number("forge") })
    }));
    if let Some(reorder) = table.table("reorder") {
        let choice = match reorder.maybe_number("rate") {
            Some(rate) => Choice::Rate(rate),
            None => {
                let flow = flow(&reorder, around)?;
                Choice::Listed(reorder.items("segments").iter().map(|item| (flow, item.integer())).collect())
            }
        };
        elements.push(match reorder.maybe_count("length") {
            Some(length) => {
                let longest_wait = reorder.duration("longest_wait_s");
                ElementConfig::Reorder(ReorderConfig { choice, length, longest_wait })
            }
            None => ElementConfig::Late(LateConfig { choice, late: super::draw::read(&reorder, "late_ms")? }),
        });
    }
    if let Some(jitter) = table.table("jitter") {
        let delay = super::draw::read(&jitter, "delay_ms")?;
        elements.push(ElementConfig::Jitter(JitterConfig { delay, keeps_order: jitter.switch("keeps_order") }));
    }
    Ok(elements)
}

fn flow(table: &Reader<'_>, around: &Surroundings<'_>) -> Result<u32, Fault> {
    around.flows.key(table, "flow").map(|index| u32::try_from(index).unwrap_or(u32::MAX))
}
