//! Runs a scenario from start to end.

use crate::bounds::Bounds;
use crate::capture::{Capture, Captures};
use crate::check::Checkers;
use crate::check::links::UnderWay;
use crate::comments::Commented;
use crate::end::End;
use crate::error::Error;
use crate::network::{Network, Observers};
use crate::opening;
use crate::outcome;
use crate::record::recorder::Recorder;
use crate::record::{Record, Sink, Tables};
use crate::scenario::{Flow, Scenario, Stop, Traffic};
use crate::sctp;
use crate::seed;
use crate::slab::Address;
use crate::summary::Summary;
use crate::transport_flow::TransportFlow;
use crate::world::{ALARM, Running, SLOTS_PER_FLOW, World};
use eifel_base::time::Instant;
use eifel_path::background::Source;
use eifel_path::parcel::Parcel;

/// The options of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The tables and captures that the run keeps.
    pub record: Record,
    /// Whether checkers verify the laws after each event.
    pub checked: bool,
    /// Whether segments are carried as bytes, and every byte read is verified. This does not change
    /// the results.
    pub bytes: bool,
    /// The most events of the run; `None` for no limit.
    pub most_events: Option<u64>,
}

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// The tables asked for. Empty if a sink received them.
    pub tables: Tables,
    /// The captures asked for, in the order of the request. Empty if a sink received them.
    pub captures: Vec<Capture>,
    /// The comments on each capture that was streamed, by the name of its node.
    pub comments: Vec<Commented>,
}

/// Runs one repetition of a scenario. Equal arguments give equal results, on any machine and in any
/// thread. Debug builds verify the laws of the checkers.
///
/// # Errors
/// See [`Error`].
pub fn run(scenario: &Scenario, repetition: u32, record: Record) -> Result<Outcome, Error> {
    run_with(scenario, repetition, Options { record, checked: cfg!(debug_assertions), ..Options::default() })
}

/// Runs one repetition of a scenario with these options.
///
/// # Errors
/// See [`Error`].
///
/// # Panics
/// Panics when a law is broken, or when bytes differ from those sent. Both are faults of the
/// simulator.
pub fn run_with(scenario: &Scenario, repetition: u32, options: Options) -> Result<Outcome, Error> {
    run_observed(scenario, repetition, options, None)
}

/// Runs one repetition of a scenario, and hands its record to `sink` during the run. A table is
/// handed over whenever it has `rows` rows. The outcome holds no tables and no captures.
///
/// # Errors
/// See [`Error`].
pub fn run_into(
    scenario: &Scenario,
    repetition: u32,
    record: Record,
    (sink, rows): (Box<dyn Sink>, usize),
) -> Result<Outcome, Error> {
    let options = Options { record, checked: cfg!(debug_assertions), ..Options::default() };
    run_observed(scenario, repetition, options, Some((sink, rows)))
}

fn run_observed(
    scenario: &Scenario,
    repetition: u32,
    options: Options,
    sink: Option<(Box<dyn Sink>, usize)>,
) -> Result<Outcome, Error> {
    let seed = seed::of_repetition(scenario.seed, repetition);
    let names: Vec<String> = scenario.nodes.iter().map(|node| node.name.clone()).collect();
    let watched = options != Options::default();
    let interfered = scenario.flows.iter().any(Flow::lies) || scenario.links.iter().any(|link| link.proxied);
    if !watched && !interfered {
        let mut world = World::<false>::new(scenario, seed, Observers::default())?;
        world.run(u64::MAX)?;
        let summary = outcome::summary(&mut world);
        Bounds::fits(world.net.now, world.net.under_way(), &world.net.spans)?;
        return Ok(Outcome { summary, tables: Tables::default(), captures: Vec::new(), comments: Vec::new() });
    }
    let most_events = options.most_events.unwrap_or(u64::MAX);
    let mut world = World::<true>::new(scenario, seed, observers(scenario, options, &names, sink)?)?;
    world.run(most_events)?;
    let summary = outcome::summary(&mut world);
    let now = world.net.now;
    Bounds::fits(now, world.net.under_way(), &world.net.spans)?;
    let Network { spans, slab, observers, .. } = &mut world.net;
    if let Some(checkers) = &mut observers.checkers {
        checkers.finish(now, &UnderWay { spans, slab });
    }
    let (tables, captures) = match world.net.observers.recorder.take() {
        Some(recorder) => recorder.finish(now, &mut world.net.spans),
        None => (Tables::default(), None),
    };
    let (captures, comments) = match captures {
        Some(captures) => captures.finish(&names).map_err(Error::Capture)?,
        None => (Vec::new(), Vec::new()),
    };
    Ok(Outcome { summary, tables, captures, comments })
}

fn observers(
    scenario: &Scenario,
    options: Options,
    names: &[String],
    mut sink: Option<(Box<dyn Sink>, usize)>,
) -> Result<Observers, Error> {
    let flows = scenario.flows.len();
    let mut observers = Observers::default();
    if options.checked {
        observers.checkers = Some(Checkers::new(scenario));
    }
    if options.bytes {
        observers.wire = Some(Vec::new());
    }
    if options.record.is_none() {
        return Ok(observers);
    }
    let captures = match options.record.captures() {
        [] => None,
        _ => {
            let sink = sink.as_mut().map(|(sink, _)| sink.as_mut() as &mut dyn Sink);
            Some(Captures::new(&options.record, names, scenario.ip, sink).map_err(Error::Capture)?)
        }
    };
    let links = scenario.links.iter().map(|link| link.name.clone()).collect();
    let mut recorder = Recorder::new(options.record, links, flows, captures);
    if let Some((sink, rows)) = sink {
        recorder.hand_over(sink, rows);
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        recorder.follow_captured([flow.from as u16, flow.to as u16]);
        let (application, senders, paths) = match &flow.traffic {
            Traffic::Stream { application, connection } => {
                (application, [&connection.sender, &connection.answering_sender], None)
            }
            Traffic::Messages { application, association } => {
                let [from, to] = &association.settings;
                (application, [&from.engine.path, &to.engine.path], Some(1 + flow.alternates.len()))
            }
            Traffic::Datagrams(_) => continue,
        };
        for (end, sender) in [End::From, End::To].into_iter().zip(senders) {
            if end == End::From || !application.is_one_way() {
                let detectors = std::iter::once(&sender.detect).chain(&sender.observers);
                recorder.follow((index as u32, end), paths, detectors.map(|choice| choice.name.as_str()));
            }
        }
    }
    observers.recorder = Some(recorder);
    Ok(observers)
}

impl<const IN_ORDER: bool> World<'_, IN_ORDER> {
    /// Runs events up to the scenario's end. An observed run fails after `most_events`, and can be
    /// continued with a higher limit.
    pub(crate) fn run(&mut self, most_events: u64) -> Result<(), Error> {
        let links = self.scenario.links.len();
        let end = Instant::ZERO + self.scenario.duration;
        let finite = self.unfinished;
        let stop_at = match self.scenario.stop {
            Stop::AllFlowsDone => 0,
            Stop::FirstFlowDone => finite.saturating_sub(1),
            Stop::AtDuration => usize::MAX,
        };
        loop {
            let next = self.net.queue.peek();
            if self.net.lookahead.is_due_by(next.map_or(end, |(at, _)| at)) {
                self.look_ahead()?;
                continue;
            }
            let Some((at, slot)) = next else { break };
            if at > end {
                break;
            }
            self.net.now = at;
            if self.bounds.turn() {
                self.bounds.look(at, self.net.under_way(), &self.net.spans)?;
            }
            // Background traffic does not count as events, but takes turns in an observed run.
            if IN_ORDER && self.events.max(self.bounds.turns()) > most_events {
                return Err(Error::TooManyEvents { at });
            }
            let slot = slot as usize;
            if slot < links {
                self.events += 1;
                if let Some(parcel) = self.net.advance(slot) {
                    self.deliver(parcel);
                }
            } else {
                self.wake((slot - links) / SLOTS_PER_FLOW, (slot - links) % SLOTS_PER_FLOW)?;
            }
            if self.net.oracle.has_judged() {
                self.hand_out_judgements();
            }
            let Network { queue, spans, slab, observers, .. } = &mut self.net;
            if IN_ORDER && let Some(checkers) = &mut observers.checkers {
                let link = (slot < links).then_some(slot);
                checkers.after_event(at, queue, link, &UnderWay { spans, slab });
            }
            if self.unfinished == stop_at && finite > 0 {
                return Ok(());
            }
        }
        self.net.now = end;
        Ok(())
    }

    /// Delivers a packet at its destination.
    #[inline]
    fn deliver(&mut self, Parcel { handle, bytes }: Parcel) {
        let Address { flow, sender, .. } = self.net.slab.address(handle);
        let index = flow as usize;
        match &mut self.flows[index] {
            Running::Background(_) => {}
            Running::Datagrams(datagrams) => {
                datagrams.arrived_bytes += u64::from(bytes);
                self.net.slab.release(handle);
            }
            Running::Stream(stream) => {
                stream.receive(&mut self.net, handle, sender.other());
                if stream.session.end_uncounted {
                    self.note_end(index);
                }
            }
            Running::Association(flow) => {
                flow.receive(&mut self.net, handle, sender.other());
                if flow.session.end_uncounted {
                    self.note_end(index);
                }
            }
        }
    }

    /// Delivers packets to the ends that are evaluated ahead of the clock.
    #[inline]
    fn look_ahead(&mut self) -> Result<(), Error> {
        while let Some(flow) = self.net.lookahead.next_flow() {
            let Self { net, bounds, .. } = self;
            net.slab.fetch(net.lookahead.packets_of(flow));
            self.events += match &mut self.flows[flow as usize] {
                Running::Stream(stream) => stream.receive_row(net, bounds, flow)?,
                Running::Association(association) => association.receive_row(net, bounds, flow)?,
                Running::Datagrams(_) | Running::Background(_) => unreachable!("they are not evaluated ahead"),
            };
            if self.net.oracle.has_judged() {
                self.hand_out_judgements();
            }
        }
        Ok(())
    }

    /// Handles a flow's timer or alarm that is due. `which` is the slot within the flow's slots.
    fn wake(&mut self, index: usize, which: usize) -> Result<(), Error> {
        match &mut self.flows[index] {
            Running::Background(place) => {
                self.net.catch_up(place.link);
                let due = self.net.background(*place).due();
                let slot = self.slot(index, which);
                self.net.queue.set(slot, due);
            }
            Running::Datagrams(flow) => {
                self.events += 1;
                flow.ring(&mut self.net);
            }
            Running::Stream(flow) => {
                self.events += 1;
                let made_of = (&self.scenario.flows[index], index as u32);
                if which == ALARM && flow.session.is_starting(self.net.now) {
                    flow.session.alarm.wake_at = Instant::NEVER;
                    opening::open(&mut self.net, flow, made_of, self.seed)?;
                    self.net.queue.set(flow.session.slot, flow.session.next_alarm());
                } else {
                    wake(&mut self.net, flow, which);
                }
                if flow.session.end_uncounted {
                    self.note_end(index);
                }
            }
            Running::Association(flow) => {
                self.events += 1;
                let made_of = (&self.scenario.flows[index], index as u32);
                if which == ALARM && flow.session.is_starting(self.net.now) {
                    flow.session.alarm.wake_at = Instant::NEVER;
                    sctp::opening::open(&mut self.net, flow, made_of, self.seed)?;
                    self.net.queue.set(flow.session.slot, flow.session.next_alarm());
                } else {
                    wake(&mut self.net, &mut **flow, which);
                }
                if flow.session.end_uncounted {
                    self.note_end(index);
                }
            }
        }
        Ok(())
    }

    /// Counts a flow that is over.
    #[cold]
    fn note_end(&mut self, index: usize) {
        match &mut self.flows[index] {
            Running::Stream(flow) => flow.session.end_uncounted = false,
            Running::Association(flow) => flow.session.end_uncounted = false,
            Running::Datagrams(_) | Running::Background(_) => return,
        }
        self.unfinished -= usize::from(self.scenario.flows[index].has_end());
    }

    /// Hands the oracle's judgements to their flows.
    #[cold]
    pub(crate) fn hand_out_judgements(&mut self) {
        for judged in self.net.oracle.take_judged() {
            match &mut self.flows[judged.flow as usize] {
                Running::Stream(flow) => flow.on_judged(&mut self.net, &judged),
                Running::Association(flow) => flow.on_judged(&mut self.net, &judged),
                Running::Datagrams(_) | Running::Background(_) => {}
            }
        }
    }
}

/// Handles a flow's timer or alarm that is due. `which` is the slot within the flow's slots.
fn wake<const IN_ORDER: bool>(net: &mut Network<IN_ORDER>, flow: &mut impl TransportFlow<IN_ORDER>, which: usize) {
    match which {
        ALARM => flow.ring(net),
        0 => flow.timer(net, End::From),
        _ => flow.timer(net, End::To),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of packets are reused: a transfer ten times as long needs at most twice as many cells,
    /// because its window grows larger.
    #[test]
    fn a_longer_run_needs_no_more_cells() {
        let cells = |flow: &str, path: &str, bytes: u32, observed: bool| {
            let text = format!(
                "duration_s = 600\n[point_to_point]\nrate_bps = 8_000_000\ndelay_ms = 10\n{path}\n[[flow]]\n\
                 name = \"a\"\nfrom = \"sender\"\nto = \"receiver\"\n{flow}\n\
                 application = {{ kind = \"bulk\", bytes = {bytes} }}\n"
            );
            let scenario = Scenario::parse(&text, "cells.toml".as_ref()).expect("a scenario");
            let seed = seed::of_repetition(scenario.seed, 0);
            if observed {
                let mut world = World::<true>::new(&scenario, seed, Observers::default()).expect("a world");
                world.run(u64::MAX).expect("a run");
                world.net.slab.cells()
            } else {
                let mut world = World::<false>::new(&scenario, seed, Observers::default()).expect("a world");
                world.run(u64::MAX).expect("a run");
                world.net.slab.cells()
            }
        };
        let queue = "queue = { kind = \"drop-tail\", packets = 20 }";
        let worse = "queue = { kind = \"drop-tail\", packets = 20 }\nloss = { kind = \"random\", rate = 0.02 }\n\
                     duplicate = { rate = 0.05 }";
        for flow in ["", "transport = \"sctp\""] {
            for path in [queue, worse] {
                for observed in [false, true] {
                    let [short, long] = [300_000, 3_000_000].map(|bytes| cells(flow, path, bytes, observed));
                    assert!(long <= short * 2, "{flow} {path} {observed}: {short} cells, then {long}");
                }
            }
        }
    }
}
