//! Summarises a world after its run.

use crate::app::session::{Progress, Session};
use crate::end::End;
use crate::scenario::Flow;
use crate::sctp::flow::AssociationFlow;
use crate::stream_flow::StreamFlow;
use crate::summary::{FlowSummary, Requests, Summary};
use crate::tally::Counts;
use crate::world::{Running, World, seconds};
use eifel_base::time::Instant;

/// Summarises a run, after closing the oracle's open judgements.
pub fn summary<const IN_ORDER: bool>(world: &mut World<'_, IN_ORDER>) -> Summary {
    world.net.oracle.finish();
    world.hand_out_judgements();
    let now = world.net.now;
    for link in 0..world.net.spans.len() {
        world.net.catch_up(link);
    }
    let mut background_sent = 0;
    let flows = world
        .flows
        .iter()
        .zip(&world.scenario.flows)
        .enumerate()
        .map(|(index, (running, flow))| {
            let [from, to] = [&world.net.drops[2 * index], &world.net.drops[2 * index + 1]];
            let mut drops = from.all + to.all;
            let mut summary = match running {
                Running::Stream(stream) => of_stream(stream, flow, now),
                Running::Association(association) => of_association(association, flow, now),
                Running::Background(place) => {
                    let source = world.net.background(*place);
                    let counts = world.net.spans[place.link].link.background(place.source, now);
                    drops = counts.dropped.parcels;
                    background_sent += source.sent;
                    FlowSummary {
                        flow: flow.name.clone(),
                        time_s: seconds(source.started, now),
                        bytes: counts.delivered.bytes,
                        segments_sent: source.sent,
                        ..FlowSummary::default()
                    }
                }
                Running::Datagrams(datagrams) => FlowSummary {
                    flow: flow.name.clone(),
                    time_s: seconds(datagrams.started, now),
                    bytes: datagrams.arrived_bytes,
                    segments_sent: datagrams.sent,
                    ..FlowSummary::default()
                },
            };
            summary.drops = drops;
            summary.drops_after_undo = from.after_undo + to.after_undo;
            summary.goodput_bps = if summary.time_s > 0.0 { summary.bytes as f64 * 8.0 / summary.time_s } else { 0.0 };
            summary
        })
        .collect();
    Summary {
        flows,
        duration_s: now.as_secs_f64(),
        events: world.events + world.net.lookahead.crossings + background_sent,
    }
}

fn of_stream(stream: &StreamFlow, flow: &Flow, now: Instant) -> FlowSummary {
    let mut summary = begun(flow, &stream.session, now);
    let Some(ends) = &stream.ends else { return summary };
    for end in [End::From, End::To] {
        let endpoint = &ends[end.index()];
        summary.bytes += endpoint.read;
        add(&mut summary, &endpoint.tally.counts, stream.session.app.sends_from(end));
    }
    summary
}

fn of_association(association: &AssociationFlow, flow: &Flow, now: Instant) -> FlowSummary {
    let mut summary = begun(flow, &association.session, now);
    let Some(ends) = &association.ends else { return summary };
    for endpoint in ends.iter() {
        summary.bytes += endpoint.reader.bytes;
        summary.spurious_retransmissions += endpoint.spurious;
        for tally in &endpoint.tallies {
            add(&mut summary, &tally.counts, association.session.app.sends_from(endpoint.end));
        }
    }
    summary
}

/// Starts a flow's summary with its completion, its time and its requests.
fn begun(flow: &Flow, session: &Session, now: Instant) -> FlowSummary {
    let read_at = match session.progress {
        Progress::Read { at } => Some(at),
        Progress::Over { read_at } => read_at,
        Progress::Waiting | Progress::Running => None,
    };
    FlowSummary {
        flow: flow.name.clone(),
        completed: read_at.is_some(),
        time_s: seconds(session.started, read_at.unwrap_or(now)),
        requests: session.app.latencies().and_then(Requests::of),
        ..FlowSummary::default()
    }
}

/// Adds the counts of an end. `sends` says whether its application sends data. Otherwise its
/// timeouts are ignored, because they belong to the handshake.
fn add(summary: &mut FlowSummary, counts: &Counts, sends: bool) {
    summary.segments_sent += counts.segments;
    summary.retransmissions += counts.retransmissions;
    summary.spurious_retransmissions += counts.spurious;
    if sends {
        summary.timeouts += counts.timeouts;
        summary.timeout_episodes += counts.after_timeout.opened;
        summary.spurious_timeouts += counts.after_timeout.spurious;
        summary.genuine_timeouts += counts.after_timeout.genuine;
        summary.genuine_timeouts_wait_s += counts.after_timeout.genuine_wait.as_secs_f64();
        summary.fast_retransmits += counts.after_duplicates.opened;
        summary.spurious_fast_retransmits += counts.after_duplicates.spurious;
        summary.detected_spurious += counts.detected_spurious;
        summary.undos += counts.undos;
    }
}
