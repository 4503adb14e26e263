//! A flow over SCTP: two ends and an application.

use super::endpoint::Endpoint;
use crate::app::Step;
use crate::app::session::Session;
use crate::end::End;
use crate::network::Network;
use crate::oracle::JudgedRetransmission;
use crate::record::recorder::Subject;
use crate::scenario::Changeover;
use crate::transport_flow::TransportFlow;
use eifel_base::time::Instant;
use eifel_recovery::association::PathId;
use eifel_recovery::engine;
use eifel_sctp::{Association, Event, Processed};
use std::collections::VecDeque;

pub struct AssociationFlow {
    /// The two ends; `None` before the flow has started.
    pub ends: Option<Box<[Endpoint; 2]>>,
    pub session: Session,
    /// Whether an association has failed before its application had read everything.
    pub failed: bool,
    /// Changes of the primary path that are still to come, in the order of time.
    pub changeovers: VecDeque<Changeover>,
}

impl AssociationFlow {
    /// Does the work of [`pump`](Self::pump) after a packet that header prediction has processed.
    #[inline(always)]
    fn go_on<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End, processed: Processed) {
        let Some(ends) = &mut self.ends else { return };
        let mut endpoint = &mut ends[end.index()];
        if processed == Processed::Data {
            if let Some(step) = endpoint.read(net, &mut self.session) {
                self.apply(net, end, &step);
                let Some(ends) = &mut self.ends else { return };
                endpoint = &mut ends[end.index()];
            }
            // Data makes only the timer of the SACK due earlier than before.
            if let Some(due) = endpoint.silent_until(net.now) {
                return endpoint.wake_by(net, due);
            }
        }
        endpoint.transmit(net);
        let silent = if processed == Processed::Data { endpoint.silent_until(net.now) } else { None };
        let due = silent.unwrap_or_else(|| endpoint.due::<IN_ORDER>());
        endpoint.wake_by(net, due);
    }

    #[inline(never)]
    fn take_events<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        while let Some((path, event)) = self.association(end).and_then(Association::poll_engine_event) {
            self.on_recovery(net, end, path, &event);
        }
        while let Some(event) = self.association(end).and_then(Association::poll_event) {
            self.on_event(net, end, &event);
        }
    }

    /// Returns when the next change of the primary path is due.
    pub(super) fn next_change(&self) -> Instant {
        self.changeovers.front().map_or(Instant::NEVER, |change| change.at)
    }

    fn association(&mut self, end: End) -> Option<&mut Association> {
        self.ends.as_mut().and_then(|ends| ends[end.index()].association.as_mut())
    }

    fn on_event<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End, event: &Event) {
        match event {
            Event::Established => self.begin(net, end),
            // Messages that arrived before the failure can still be read. A closed peer answers a
            // late HEARTBEAT with an ABORT, which can overtake SHUTDOWN COMPLETE on a faster path.
            Event::Failed(_) if self.ends.as_ref().is_some_and(|ends| ends[end.index()].has_unread()) => {
                self.failed = true;
            }
            Event::Failed(_) => self.session.end(),
            Event::Restarted
            | Event::Expired { .. }
            | Event::Readable
            | Event::PeerShutsDown
            | Event::Closed
            | Event::Inactive(_)
            | Event::Active(_)
            | Event::RemoteError(_) => {}
        }
    }

    /// Starts the application at `end`.
    fn begin<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let step = self.session.app.start(net.now, end);
        self.apply(net, end, &step);
    }

    fn on_recovery<const IN_ORDER: bool>(
        &mut self,
        net: &mut Network<IN_ORDER>,
        end: End,
        path: PathId,
        event: &engine::Event,
    ) {
        let Some(ends) = &mut self.ends else { return };
        let Endpoint { association: Some(association), tallies, flow, .. } = &mut ends[end.index()] else { return };
        if IN_ORDER
            && self.session.app.sends_from(end)
            && let Some(recorder) = &mut net.observers.recorder
        {
            recorder.recovery(net.now, Subject { flow: *flow, end, path: path.0 }, event);
        }
        tallies[path.0].on_recovery(event, || association.engine().oldest_marked(path));
        if matches!(event, engine::Event::Adjusted { .. })
            && let Some(round_trip) = association.engine().snapshot(path).srtt
        {
            net.drops[2 * *flow as usize + end.index()].undone(net.now, round_trip);
        }
    }

    /// Notes the oracle's judgement on one of this flow's retransmissions.
    pub fn on_judged<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, judged: &JudgedRetransmission) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[judged.sender.index()];
        endpoint.spurious += u64::from(!judged.needed);
        let mut paths = endpoint.tallies.iter_mut().enumerate();
        let opened = paths.find_map(|(path, tally)| tally.judge_episode(judged).map(|episode| (path, episode)));
        if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
            recorder.on_judged(judged, opened);
        }
    }
}

impl<const IN_ORDER: bool> TransportFlow<IN_ORDER> for AssociationFlow {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// An association ends as a whole. If both ends have data to send, it ends when both have read
    /// everything.
    fn apply(&mut self, net: &mut Network<IN_ORDER>, end: End, step: &Step) {
        let by_turns = !self.session.app.closes_with_peer();
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        endpoint.writer.add(step.write);
        endpoint.closes |= if by_turns { step.done } else { step.close };
        self.session.note(net.now, &mut net.queue, step);
    }

    #[inline(never)]
    fn pump(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &mut self.ends else { return };
        if ends[end.index()].association.as_ref().is_some_and(Association::has_events) {
            self.take_events(net, end);
        }
        let Some(ends) = &mut self.ends else { return };
        if let Some(step) = ends[end.index()].read(net, &mut self.session) {
            self.apply(net, end, &step);
        }
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        endpoint.transmit(net);
        endpoint.set_alarm(net);
        if IN_ORDER && self.session.app.sends_from(end) {
            endpoint.observe(net);
        }
        let closed = endpoint.is_closed();
        if IN_ORDER && let Some(checkers) = &mut net.observers.checkers {
            checkers.after_packet(net.now, [ends[0].checked(), ends[1].checked()]);
        }
        if closed {
            TransportFlow::<IN_ORDER>::end_if_closed(self);
        }
    }

    fn stop(&mut self, net: &mut Network<IN_ORDER>) {
        self.session.app.stop();
        let drops_backlog_on_stop = self.session.app.drops_backlog_on_stop();
        for end in [End::From, End::To] {
            let over = self.session.app.is_over(end) && end == End::From;
            let Some(ends) = &mut self.ends else { return };
            if drops_backlog_on_stop {
                ends[end.index()].drop_waiting();
            }
            ends[end.index()].closes |= over;
            self.pump(net, end);
        }
    }

    fn change_over(&mut self, net: &mut Network<IN_ORDER>) {
        let now = net.now;
        while let Some(&change) = self.changeovers.front()
            && change.at <= now
        {
            self.changeovers.pop_front();
            if let Some(ends) = &mut self.ends {
                let Endpoint { association, ways, .. } = &mut ends[End::From.index()];
                let to = ways[change.path].addresses.destination();
                association.iter_mut().for_each(|association| {
                    association.set_primary(to);
                });
            }
        }
        self.session.alarm.change_at = self.next_change();
        self.pump(net, End::From);
    }

    /// If an association has failed, the flow ends once all messages are read.
    fn end_if_closed(&mut self) {
        let Some(ends) = &self.ends else { return };
        let over =
            if self.failed { !ends.iter().any(Endpoint::has_unread) } else { ends.iter().all(Endpoint::is_closed) };
        if over {
            self.session.end();
        }
    }

    #[inline]
    fn timer_due(&self, end: End) -> Instant {
        self.ends.as_ref().map_or(Instant::NEVER, |ends| ends[end.index()].alarm)
    }

    fn timer(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &mut self.ends else { return };
        if IN_ORDER {
            ends[end.index()].release(net);
        }
        let endpoint = &mut ends[end.index()];
        let due = endpoint.due::<IN_ORDER>();
        if due > net.now {
            return endpoint.renew_alarm(net, due);
        }
        if endpoint.run_timer(net.now) {
            self.pump(net, end);
        }
        if let Some(ends) = &mut self.ends {
            let endpoint = &mut ends[end.index()];
            endpoint.renew_alarm(net, endpoint.due::<IN_ORDER>());
        }
    }

    #[inline(always)]
    fn receive(&mut self, net: &mut Network<IN_ORDER>, handle: u32, end: End) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        if IN_ORDER {
            endpoint.record(net, handle);
        }
        if IN_ORDER
            && let Some(liar) = &mut endpoint.liar
            && let Some(sctp) = net.slab.cell(handle).contents.sctp()
        {
            liar.observe(&sctp.packet);
        }
        match endpoint.take(net, handle) {
            processed @ (Processed::Data | Processed::Sack) if !IN_ORDER => self.go_on(net, end, processed),
            _ => self.pump(net, end),
        }
    }
}
