//! What flows over TCP and over SCTP have in common.

use crate::app::Step;
use crate::app::session::Session;
use crate::bounds::Bounds;
use crate::end::End;
use crate::error::Error;
use crate::lookahead::KnownArrival;
use crate::network::Network;
use eifel_base::time::Instant;

/// A flow between two ends that an application drives. Its ends can be evaluated
/// [ahead of the clock](crate::lookahead).
pub trait TransportFlow<const IN_ORDER: bool> {
    fn session(&mut self) -> &mut Session;

    /// Applies an application's step at `end`.
    fn apply(&mut self, net: &mut Network<IN_ORDER>, end: End, step: &Step);

    /// Handles the effects of an input at `end`: events, the application's actions, packets that
    /// leave, timers.
    fn pump(&mut self, net: &mut Network<IN_ORDER>, end: End);

    /// Stops the application, even if it is not done.
    fn stop(&mut self, net: &mut Network<IN_ORDER>);

    /// Changes the primary path, if a change is due. Only associations have several paths.
    fn change_over(&mut self, _: &mut Network<IN_ORDER>) {}

    /// Ends the flow if it is closed and everything has been read.
    fn end_if_closed(&mut self);

    /// Handles the application's alarm.
    fn ring(&mut self, net: &mut Network<IN_ORDER>) {
        if net.now >= self.session().alarm.change_at {
            self.change_over(net);
        }
        if net.now >= self.session().alarm.stop_at {
            self.session().alarm.stop_at = Instant::NEVER;
            self.stop(net);
        }
        if net.now >= self.session().alarm.wake_at {
            self.session().alarm.wake_at = Instant::NEVER;
            let step = self.session().app.wake(net.now);
            self.apply(net, End::From, &step);
            self.pump(net, End::From);
        }
        if self.session().reader.as_ref().is_some_and(|reader| net.now >= reader.next()) {
            self.pump(net, End::From);
            self.pump(net, End::To);
            self.end_if_closed();
        }
        net.queue.set(self.session().slot, self.session().next_alarm());
    }

    /// Returns the earliest time at which an end's timer can be due; [`Instant::NEVER`] before the
    /// flow has started.
    fn timer_due(&self, end: End) -> Instant;

    /// Handles the timer of an end. The timer may be due, or may have moved to a later time.
    fn timer(&mut self, net: &mut Network<IN_ORDER>, end: End);

    /// Handles a packet that reached its destination, `end`.
    fn receive(&mut self, net: &mut Network<IN_ORDER>, handle: u32, end: End);

    /// Handles a packet ahead of the clock, after the timers that are due before it arrives.
    /// Returns the number of events handled.
    #[inline(always)]
    fn receive_ahead(&mut self, net: &mut Network<IN_ORDER>, handle: u32, end: End, arrives: Instant) -> u64 {
        let expired = if self.timer_due(end) <= arrives { self.expire(net, end, arrives) } else { 0 };
        net.now = arrives;
        self.receive(net, handle, end);
        expired + 1
    }

    /// Handles the packets that arrive at the ends of `flow`, which is this flow, ahead of the clock:
    /// until none is left, or the oracle has settled a judgement. Returns the number of events.
    ///
    /// # Errors
    /// Those of [`Bounds::look`].
    #[inline(never)]
    fn receive_row(&mut self, net: &mut Network<IN_ORDER>, bounds: &mut Bounds, flow: u32) -> Result<u64, Error> {
        let mut events = 0;
        while let Some((end, KnownArrival { arrives, packet })) = net.lookahead.next_of(flow) {
            if bounds.turn() {
                bounds.look(arrives, net.under_way(), &net.spans)?;
            }
            events += self.receive_ahead(net, packet, end, arrives);
            if net.oracle.has_judged() {
                break;
            }
        }
        Ok(events)
    }

    /// Handles an end's timers that are due by `until`, each at its own time. Returns their number.
    #[inline(never)]
    fn expire(&mut self, net: &mut Network<IN_ORDER>, end: End, until: Instant) -> u64 {
        let mut expired = 0;
        while self.timer_due(end) <= until {
            net.now = self.timer_due(end);
            self.timer(net, end);
            expired += 1;
        }
        expired
    }
}
