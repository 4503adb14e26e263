//! A flow over a TCP connection: two ends and an application.

use crate::app::session::{Progress, Session};
use crate::app::{Step, Supply};
use crate::end::End;
use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::oracle::JudgedRetransmission;
use crate::record::recorder::Subject;
use crate::slab::{Arrival, Cell};
use crate::transport_flow::TransportFlow;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_recovery::engine;
use eifel_tcp::{Event, State};

pub struct StreamFlow {
    /// The two ends; `None` before the flow has started.
    pub ends: Option<Box<[Endpoint; 2]>>,
    pub session: Session,
    /// Whether segments open and close its connection.
    pub handshake: bool,
    /// Whether each end leaves what it has learnt to the next connection, and inherits it.
    pub shares: [bool; 2],
}

impl StreamFlow {
    /// Does the work of [`pump`](TransportFlow::pump), inlined.
    #[inline(always)]
    fn pump_inlined<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &mut self.ends else { return };
        let mut endpoint = &mut ends[end.index()];
        let carries_bytes = self.session.carries_bytes;
        let news = match self.session.reader {
            None => endpoint.read_all(carries_bytes),
            Some(_) => self.session.read_slowly(
                (net.now, &mut net.queue, end),
                endpoint,
                |endpoint, limit| endpoint.read_some(limit, carries_bytes),
                |endpoint| endpoint.connection.readable() > 0,
            ),
        };
        let step = if news { self.session.app.read(net.now, end, endpoint.read) } else { None };
        if step.is_some() || endpoint.connection.has_events() {
            self.apply_and_take_events(net, end, step);
            let Some(ends) = &mut self.ends else { return };
            endpoint = &mut ends[end.index()];
        }
        if endpoint.connection.may_transmit() {
            endpoint.transmit(net);
        }
        if endpoint.supply == Supply::Ahead {
            endpoint.refill(net, &mut self.session.app, self.session.carries_bytes);
        }
        // A deadline that moves later costs nothing: the event fires early and is then rescheduled.
        if endpoint.connection.may_wake_before(endpoint.alarm) {
            endpoint.set_alarm(net);
        }
        if IN_ORDER {
            self.observe(net, end);
        }
        if matches!(self.session.progress, Progress::Read { .. }) {
            self.end_if_quiet(net);
        }
    }

    /// Applies the application's step after reading, then handles the connection's events.
    #[inline(never)]
    fn apply_and_take_events<const IN_ORDER: bool>(
        &mut self,
        net: &mut Network<IN_ORDER>,
        end: End,
        step: Option<Step>,
    ) {
        if let Some(step) = step {
            self.apply(net, end, &step);
        }
        while let Some(event) = self.ends.as_mut().and_then(|ends| ends[end.index()].connection.poll_event()) {
            self.on_event(net, end, event);
        }
    }

    #[cold]
    fn on_event<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End, event: Event) {
        match event {
            Event::Connected => self.begin(net, end),
            Event::PeerClosed => {
                if let Some(ends) = self.ends.as_mut().filter(|_| self.session.app.closes_with_peer()) {
                    ends[end.index()].close();
                }
            }
            Event::Writable => {
                if let Some(ends) = &mut self.ends {
                    ends[end.index()].note_room();
                }
            }
            Event::Reset | Event::Refused | Event::Unreachable | Event::TimedOut => self.session.end(),
            Event::Closed if self.session.progress == Progress::Running && end == End::From => self.give_up_if_read(),
            Event::Recovery(event) => self.on_recovery(net, end, event),
            Event::Readable | Event::SoftError(_) | Event::Closed => {}
        }
    }

    /// Starts the application at `end`.
    pub fn begin<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let step = self.session.app.start(net.now, end);
        self.apply(net, end, &step);
        if let Some(ends) = &mut self.ends {
            ends[end.index()].note_supply(&self.session.app);
        }
    }

    /// Ends the flow if nothing is left to read. For a connection that closed before the
    /// application had read everything.
    fn give_up_if_read(&mut self) {
        if self.ends.iter().flat_map(|ends| ends.iter()).all(|endpoint| endpoint.connection.readable() == 0) {
            self.session.end();
        }
    }

    /// Ends the flow if its connection is closed or, without a handshake, everything is
    /// acknowledged. The application must have read everything.
    fn end_if_quiet<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        let Some(ends) = &self.ends else { return };
        let quiet = ends.iter().all(|endpoint| {
            let connection = &endpoint.connection;
            match self.handshake {
                true => matches!(connection.state(), State::TimeWait { .. } | State::Closed),
                false => connection.engine().una() == connection.end(),
            }
        });
        if quiet {
            for endpoint in ends.iter().filter(|endpoint| self.shares[endpoint.end.index()]) {
                net.learnt.insert(endpoint.path, endpoint.connection.engine().learnt());
            }
            self.session.end();
        }
    }

    fn on_recovery<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End, event: engine::Event) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        let connection = &endpoint.connection;
        let oldest = || connection.engine().scoreboard().oldest().map(|segment| segment.last_sent());
        endpoint.tally.on_recovery(&event, oldest);
        if matches!(event, engine::Event::Adjusted { .. })
            && let Some(round_trip) = connection.engine().snapshot().srtt
        {
            net.drops[2 * endpoint.flow as usize + end.index()].undone(net.now, round_trip);
        }
        if IN_ORDER
            && self.session.app.sends_from(end)
            && let Some(recorder) = &mut net.observers.recorder
        {
            recorder.recovery(net.now, Subject { flow: endpoint.flow, end, path: 0 }, &event);
        }
    }

    /// Notes the oracle's judgement on one of this flow's retransmissions.
    pub fn on_judged<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, judged: &JudgedRetransmission) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[judged.sender.index()];
        endpoint.tally.on_judged(judged);
        let episode = endpoint.tally.judge_episode(judged);
        if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
            recorder.on_judged(judged, episode.map(|number| (0, number)));
        }
    }

    /// Records and checks the connection after an input.
    fn observe<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &self.ends else { return };
        let endpoint = &ends[end.index()];
        if let Some(recorder) = &mut net.observers.recorder
            && self.session.app.sends_from(end)
        {
            recorder.connection(net.now, (endpoint.flow, end), &endpoint.connection);
        }
        if let Some(checkers) = &mut net.observers.checkers {
            checkers.after_input(net.now, endpoint.checked(), ends[end.other().index()].checked());
        }
    }
}

impl<const IN_ORDER: bool> TransportFlow<IN_ORDER> for StreamFlow {
    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn apply(&mut self, net: &mut Network<IN_ORDER>, end: End, step: &Step) {
        if let Some(ends) = &mut self.ends {
            ends[end.index()].apply(step, self.session.carries_bytes);
        }
        self.session.note(net.now, &mut net.queue, step);
    }

    #[inline(never)]
    fn pump(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        self.pump_inlined(net, end);
    }

    fn end_if_closed(&mut self) {
        let closed = |ends: &[Endpoint; 2]| ends[End::From.index()].connection.state() == State::Closed;
        if self.session.progress == Progress::Running && self.ends.as_ref().is_some_and(|ends| closed(ends)) {
            self.give_up_if_read();
        }
    }

    fn stop(&mut self, net: &mut Network<IN_ORDER>) {
        self.session.app.stop();
        for endpoint in self.ends.iter_mut().flat_map(|ends| ends.iter_mut()) {
            if self.session.app.drops_backlog_on_stop() {
                endpoint.drop_backlog();
            }
            endpoint.note_supply(&self.session.app);
        }
        for end in [End::From, End::To] {
            if let Some(ends) = self.ends.as_mut().filter(|_| self.session.app.is_over(end)) {
                ends[end.index()].close();
                self.pump(net, end);
            }
        }
    }

    #[inline]
    fn timer_due(&self, end: End) -> Instant {
        self.ends.as_ref().map_or(Instant::NEVER, |ends| ends[end.index()].alarm)
    }

    #[inline]
    fn timer(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        if IN_ORDER {
            endpoint.release(net);
        }
        if endpoint.connection.poll_timeout() <= net.now {
            endpoint.connection.handle_timeout(net.now);
            self.pump(net, end);
        }
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        let due = if IN_ORDER { endpoint.due() } else { endpoint.connection.poll_timeout() };
        // A past deadline that the connection leaves in place would stop time.
        endpoint.alarm = if due <= net.now { net.now + Duration::from_nanos(1) } else { due };
        net.queue.set(endpoint.slot, endpoint.alarm);
    }

    #[inline(always)]
    fn receive(&mut self, net: &mut Network<IN_ORDER>, handle: u32, end: End) {
        let (Cell { packet, contents, .. }, arrival) = net.slab.arrive(handle);
        let Some(segment) = contents.segment() else { return };
        let flow = packet.flow;
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        let mut news = (0, false);
        if packet.transmission > 0 && arrival == Arrival::First {
            let accepted = endpoint.connection.takes_below(net.now, segment);
            let oracle = &mut net.oracle;
            let end = packet.start + u64::from(packet.positions);
            news = match end <= accepted && oracle.arrived_in_order(flow, packet.sender, packet.start, end) {
                true => (packet.positions, true),
                false => oracle.arrived(flow, packet.sender, packet.sent(), accepted),
            };
        } else if segment.flags.has(Flags::SYN) {
            net.oracle.syn_arrived(flow, packet.sender);
        } else if packet.transmission > 0 {
            let accepted = endpoint.connection.takes_below(net.now, segment);
            net.oracle.arrived_again(flow, packet.sender, packet.sent(), accepted);
        }
        if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
            recorder.passes(net.now, endpoint.path.0, (packet, contents), packet.start.saturating_sub(1));
            if packet.transmission > 0 && arrival == Arrival::First {
                recorder.arrived(net.now, (flow, packet.sender), &packet.sent(), news);
            }
            let of = (endpoint.flow, endpoint.end);
            recorder.acknowledged(net.now, of, (&endpoint.connection, endpoint.isn), segment);
        }
        if IN_ORDER && let Some(liar) = &mut endpoint.liar {
            liar.observe(segment);
        }
        if IN_ORDER && let Some(wire) = &net.observers.wire {
            let (read, payload) = crate::wire::read(&wire[handle as usize]);
            assert_eq!(&read, segment, "a segment's bytes are not the segment");
            endpoint.connection.handle_segment(net.now, &read, payload);
        } else {
            endpoint.connection.handle_segment(net.now, segment, &[]);
        }
        net.slab.release(handle);
        self.pump_inlined(net, end);
    }
}
