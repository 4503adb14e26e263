//! RACK-TLP for chunks (RFC 8985, applied to TSNs as its section 9.5 suggests). A chunk is lost if it was sent before
//! a delivered one on the same path, and long enough ago; a probe finds losses at the tail.
//!
//! Each path has RACK's variables and TLP's, because only chunks of one path are sent in an order
//! that their deliveries keep. The rules are those of a connection: `recover::rack` and
//! `recover::tlp`. What differs is the record. A ledger marks single chunks, so a lost
//! retransmission is marked like any other, and a timeout spares what is not overdue.

use super::ledger::{Delivery, Ledger, SackNews, Size};
use super::rules::Permission;
use super::{Destination, Engine, Offer, PacketContents, PacketToSend, PathId, Sack};
use crate::fact::{Acked, Cause, Kind, Transmission};
use crate::recover::Alarm;
use crate::recover::fast_recovery::Phase;
use crate::recover::rack::{Overdue, Rack, Repairing, Resent};
use crate::recover::tlp::Tlp;
use crate::registry::{Choice, Error, Parameters, Seam};
use crate::view::View;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// The algorithm's name in the registry.
pub const RACK_TLP: &str = "rack-tlp";
/// The parameters that an association uses. The others are for the window's reduction, and for
/// connections without SACK.
pub const PARAMETERS: [&str; 2] = ["duplicate_threshold", "max_ack_delay_ms"];

/// RACK and TLP of one path.
#[derive(Clone, Debug)]
pub(super) struct RackTlp {
    /// DupThresh, in reported packets.
    threshold: u32,
    rack: Rack,
    tlp: Tlp,
    /// The retransmissions on the path, and those that are no longer under way.
    resent: Resent,
    /// No chunk below this position is under way and was sent once.
    originals_from: u64,
    /// When the chunks that are not lost yet are checked again; `None` if no chunk waits.
    timeout: Option<Instant>,
    /// Recovery from losses or from a timeout, which ends when its point is acknowledged.
    phase: Phase,
    /// The first position beyond the highest chunk that was deemed lost.
    lost_below: u64,
    /// When congestion control last learned of a loss. A lost retransmission that was sent earlier
    /// belongs to the same window and is not reported again.
    loss_signalled_at: Instant,
}

/// The result of [`RackTlp::detect`].
#[derive(Clone, Debug, Default)]
struct Found {
    /// The chunks that are newly lost.
    lost: Vec<u64>,
    /// When the newest of the newly lost retransmissions was sent; `None` if there is none.
    again: Option<Instant>,
}

impl RackTlp {
    /// Creates the algorithm, if `choice` names it.
    ///
    /// # Errors
    /// A parameter that the registry does not know, or a value out of its bounds.
    pub(super) fn chosen(choice: &Choice) -> Result<Option<Box<Self>>, Error> {
        let entry = Seam::Recover.entry(RACK_TLP).filter(|entry| entry.name == choice.name);
        let Some(entry) = entry else { return Ok(None) };
        let parameters = Parameters::check(entry, &choice.parameters)?;
        Ok(Some(Box::new(Self {
            threshold: parameters.integer("duplicate_threshold") as u32,
            rack: Rack::new(),
            tlp: Tlp::new(parameters.duration("max_ack_delay_ms")),
            resent: Resent::default(),
            originals_from: 0,
            timeout: None,
            phase: Phase::Open,
            lost_below: 0,
            loss_signalled_at: Instant::ZERO,
        })))
    }

    fn repairing(&self) -> Repairing {
        if self.phase == Phase::Open { Repairing::Nothing } else { Repairing::Losses }
    }

    /// Processes a SACK before losses are looked for. `needless` is whether it reports a duplicate
    /// that was no probe's. Returns whether a probe has repaired a loss.
    fn on_sack(&mut self, acked: &Acked<'_>, delivery: &Delivery, needless: bool, view: &View) -> bool {
        let ends = match self.phase {
            Phase::Open => false,
            Phase::FastRecovery { point } | Phase::AfterTimeout { point } => acked.cumulative >= point,
        };
        if ends {
            self.phase = Phase::Open;
        }
        let repaired = self.tlp.on_ack(acked, view.now);
        self.rack.on_ack(acked, Some(&delivery.delivered), delivery.highest, view);
        self.rack.adapt(needless, if ends { Repairing::Ending } else { self.repairing() }, view);
        repaired
    }

    fn wait(&self, ledger: &Ledger, path: PathId, view: &View) -> Duration {
        self.rack.wait(ledger.reported_packets(path) >= self.threshold, self.repairing(), view)
    }

    /// Finds the lost chunks of `path`: section 6.2, step 5. Sets when those that wait are checked again.
    fn detect(&mut self, ledger: &Ledger, path: PathId, view: &View) -> Found {
        self.timeout = None;
        let mut found = Found::default();
        if !self.rack.has_deliveries() {
            return found;
        }
        let wait = self.wait(ledger, path, view);
        self.prune(ledger, path);
        let (mut first, mut waits) = (None, None);
        for (position, chunk) in ledger.under_way_from(path, self.originals_from) {
            if chunk.copies > 0 {
                continue;
            }
            first.get_or_insert(position);
            match self.rack.overdue((chunk.last_sent, position + 1), wait, view.now) {
                Overdue::Unknown => break,
                Overdue::At(lost_at) => waits = waits.max(Some(lost_at)),
                Overdue::Now => found.lost.push(position),
            }
        }
        let mut last = None;
        for (sent, position) in self.resent.iter().filter(|one| is_under_way(ledger, path, *one)) {
            if last.replace((sent, position)) == Some((sent, position)) {
                // Without delay, a chunk may be lost and leave again at one instant.
                continue;
            }
            match self.rack.overdue((sent, position + 1), wait, view.now) {
                Overdue::Unknown => break,
                Overdue::At(lost_at) => waits = waits.max(Some(lost_at)),
                Overdue::Now => {
                    found.lost.push(position);
                    found.again = Some(sent);
                }
            }
        }
        self.originals_from = first.unwrap_or(ledger.nxt());
        self.timeout = waits;
        if let Some(highest) = found.lost.iter().max() {
            self.lost_below = self.lost_below.max(highest + 1);
        }
        found
    }

    /// Forgets the first retransmissions, as long as they are not under way any more.
    fn prune(&mut self, ledger: &Ledger, path: PathId) {
        while self.resent.first().is_some_and(|first| !is_under_way(ledger, path, first)) {
            self.resent.remove_first();
        }
    }

    /// Begins recovery from a timeout, and returns the chunks that it deems lost: the earliest, and
    /// those that were sent RACK.rtt and the reordering window ago (section 6.3, RACK_mark_losses_on_RTO).
    fn on_timeout(&mut self, ledger: &Ledger, path: PathId, view: &View) -> Vec<u64> {
        self.phase = Phase::AfterTimeout { point: view.nxt };
        self.timeout = None;
        self.tlp.forget();
        let wait = self.wait(ledger, path, view);
        let under_way = ledger.under_way_from(path, view.una);
        let first = ledger.oldest(path);
        let lost = under_way.filter(|(position, chunk)| Some(*position) == first || chunk.last_sent + wait <= view.now);
        lost.map(|(position, _)| position).collect()
    }

    /// Learns that the last loss signal of the path was spurious. Chunks may count as under way
    /// again.
    fn on_spurious(&mut self) {
        (self.phase, self.lost_below, self.originals_from) = (Phase::Open, 0, 0);
    }

    /// Returns the timer of the path that runs in place of T3-rtx (section 8). `may_probe` is
    /// whether the peer's window is open.
    fn alarm(&self, ledger: &Ledger, path: PathId, view: &View, may_probe: bool) -> Alarm {
        if let Some(at) = self.timeout {
            return Alarm::Reordering(at);
        }
        if self.phase != Phase::Open || !may_probe {
            return Alarm::None;
        }
        self.tlp.alarm(ledger.tail(path), view).map_or(Alarm::None, Alarm::Probe)
    }
}

/// Returns whether the retransmission of `position` at `sent` is under way on `path`.
fn is_under_way(ledger: &Ledger, path: PathId, (sent, position): (Instant, u64)) -> bool {
    ledger.under_way_at(path, position).is_some_and(|chunk| chunk.copies > 0 && chunk.last_sent == sent)
}

impl Destination {
    /// Takes in a round trip that no chunk measured.
    pub(super) fn on_round_trip(&mut self, rtt: Duration) {
        if let Some(by_time) = &mut self.by_time {
            by_time.rack.on_round_trip(rtt, self.path.watch.view());
        }
    }

    fn is_in_fast_recovery(&self) -> bool {
        self.by_time.as_ref().is_some_and(|by_time| matches!(by_time.phase, Phase::FastRecovery { .. }))
    }
}

impl Engine {
    /// Returns whether losses are found by time, and not by counting.
    pub(super) fn is_by_time(&self) -> bool {
        self.destinations.iter().any(|destination| destination.by_time.is_some())
    }

    /// Ends a path's recovery, whose loss signal was spurious.
    pub(super) fn on_spurious(&mut self, path: PathId) {
        let Some(by_time) = &mut self.destinations[path.0].by_time else { return };
        by_time.on_spurious();
        if !self.destinations.iter().any(Destination::is_in_fast_recovery) {
            self.exit = None;
        }
    }

    /// Looks for losses after a SACK, path by path.
    pub(super) fn find_losses(&mut self, now: Instant, sack: &Sack<'_>, taken: &SackNews) {
        let open = self.exit.is_none();
        let probes = |destination: &Destination, acked: &Acked<'_>| {
            destination.by_time.as_ref().is_some_and(|by_time| by_time.tlp.is_answered_by_dsack(acked))
        };
        let acked = self.acked(PathId(0), sack, taken);
        let of_a_probe = self.destinations.iter().any(|destination| probes(destination, &acked));
        let needless = !sack.duplicates.is_empty() && !of_a_probe;
        for path in (0..self.destinations.len()).map(PathId) {
            self.update_view(now, path);
            let (acked, delivery) = (self.acked(path, sack, taken), self.ledger.delivery(path));
            let destination = &mut self.destinations[path.0];
            let Some(by_time) = &mut destination.by_time else { continue };
            let view = destination.path.watch.view();
            if taken.reneged {
                by_time.originals_from = 0;
            }
            let repaired = by_time.on_sack(&acked, &delivery, needless, view);
            let found = by_time.detect(&self.ledger, path, view);
            let entered = self.follow(now, path, &found, open);
            if repaired && !entered {
                let flight = self.flight_of(path);
                self.destinations[path.0].path.cut_for_repaired(flight);
            }
        }
    }

    /// Marks the lost chunks of `path`, and begins fast recovery. `open` is whether the association
    /// was outside of it. Returns whether fast recovery begins.
    fn follow(&mut self, now: Instant, path: PathId, found: &Found, open: bool) -> bool {
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        let flight = self.flight_of(path);
        for &position in &found.lost {
            self.ledger.mark_one(position, Cause::FastRetransmit);
        }
        let exit = self.exit;
        let destination = &mut self.destinations[path.0];
        let Some(by_time) = &mut destination.by_time else { return false };
        // A loss above the last recovery's end begins its own recovery, even if it was found before
        // that end was reached.
        let lost = by_time.lost_below > una;
        if open && lost && by_time.phase == Phase::Open {
            by_time.phase = Phase::FastRecovery { point: nxt };
            by_time.loss_signalled_at = now;
            by_time.tlp.forget();
            destination.path.open_episode(Cause::FastRetransmit, flight, 0);
            // Otherwise the timer could expire before the SACK of the fast retransmit arrives.
            destination.path.start_timer(now);
            // One packet is sent regardless of cwnd, and no later one in this recovery [rfc8540:3.15].
            self.exit = Some(nxt);
            self.permission = Permission::OnePacket;
            return true;
        }
        if let Some(point) = exit.filter(|_| lost && by_time.phase == Phase::Open) {
            // Fast recovery is the association's: it began with a loss on another path.
            by_time.phase = Phase::FastRecovery { point };
        }
        // RFC 8985, section 9.3: the lost retransmission cuts the window once more.
        let recovers = matches!(by_time.phase, Phase::FastRecovery { .. });
        if recovers && found.again.is_some_and(|sent| sent >= by_time.loss_signalled_at) {
            by_time.loss_signalled_at = now;
            destination.path.cut_for_lost_retransmission(flight);
        }
        false
    }

    /// Sets the timer of a path that runs in place of T3-rtx.
    pub(super) fn set_alarm(&mut self, path: PathId) {
        let may_probe = self.probes == 0;
        let destination = &mut self.destinations[path.0];
        if let Some(by_time) = &destination.by_time {
            destination.alarm = by_time.alarm(&self.ledger, path, destination.path.watch.view(), may_probe);
        }
    }

    /// Handles the reordering timers and the probe timers that are due.
    pub(super) fn run_alarms(&mut self, now: Instant) {
        for path in (0..self.destinations.len()).map(PathId) {
            let destination = &self.destinations[path.0];
            let (alarm, expired) = (destination.alarm, destination.path.timer <= now);
            // An expiry deems more lost than the reordering timer would.
            let overtaken = matches!(alarm, Alarm::Reordering(due) if destination.path.timer <= due);
            // A tail loss probe takes the place of an expiry (RFC 8985, section 7.2).
            let replaced = matches!(alarm, Alarm::Probe(_));
            if (alarm.due(now) || expired && replaced) && !(expired && overtaken) {
                self.run_alarm(now, path, alarm);
                self.set_alarm(path);
            }
        }
    }

    fn run_alarm(&mut self, now: Instant, path: PathId, alarm: Alarm) {
        self.quiet = None;
        self.update_view(now, path);
        let open = self.exit.is_none();
        let destination = &mut self.destinations[path.0];
        destination.path.on_input();
        let Some(by_time) = &mut destination.by_time else { return };
        let view = destination.path.watch.view();
        if matches!(alarm, Alarm::Probe(_)) {
            by_time.tlp.on_alarm(self.ledger.tail(path), view);
            // Section 7.3.
            destination.path.start_timer(now);
        } else {
            let found = by_time.detect(&self.ledger, path, view);
            self.follow(now, path, &found, open);
        }
    }

    /// Marks what an expiry of a path's timer deems lost. Returns `false`, with nothing changed, if
    /// losses are found by counting.
    pub(super) fn mark_overdue(&mut self, now: Instant, path: PathId) -> bool {
        let destination = &mut self.destinations[path.0];
        let Some(by_time) = &mut destination.by_time else { return false };
        for position in by_time.on_timeout(&self.ledger, path, destination.path.watch.view()) {
            self.ledger.mark_one(position, Cause::Timeout);
        }
        destination.path.timer = Instant::NEVER;
        if self.ledger.oldest(path).is_some() {
            destination.path.start_timer(now);
        }
        true
    }

    /// Returns the packet of a tail loss probe, if one is due: new data, or else the highest chunk
    /// again (section 7.3). `Some(None)` means that pacing holds it back.
    pub(super) fn poll_tail_probe(&mut self, now: Instant, offer: &Offer) -> Option<Option<PacketToSend>> {
        let due = |destination: &Destination| destination.by_time.as_ref().is_some_and(|by_time| by_time.tlp.is_due());
        let path = PathId(self.destinations.iter().position(due)?);
        let Some(position) = self.ledger.newest(path) else {
            self.destinations[path.0].by_time.as_mut()?.tlp.forget();
            return None;
        };
        if !self.is_permitted(now, path) {
            return Some(None);
        }
        let room = offer.a_rwnd.saturating_sub(self.ledger.data_under_way());
        let fits = offer.path == path && offer.next.is_some_and(|next| room >= u64::from(next.data));
        let contents = if fits && self.ledger.marked_from(0).is_none() {
            PacketContents::New { room }
        } else {
            PacketContents::TailLossProbe { position }
        };
        Some(Some(PacketToSend { path, contents }))
    }

    /// Returns the size of an outstanding chunk.
    pub fn size(&self, position: u64) -> Size {
        self.ledger.chunk(position).size
    }

    /// Records that the chunk of [`PacketContents::TailLossProbe`] is sent again, in a packet with timestamp `stamp`.
    pub fn on_tail_probe(&mut self, now: Instant, go: &PacketToSend, stamp: Option<Timestamp>) -> Transmission {
        let PacketContents::TailLossProbe { position } = go.contents else { unreachable!("no probe of the tail") };
        let before = self.ledger.on_probe(now, position);
        self.again_below = self.again_below.max(position + 1);
        let kind = Kind::Retransmission(Cause::Timeout);
        let id = self.next_id();
        let transmission = Transmission { id, start: position, len: 1, kind, copy: before.copies + 1 };
        self.tell_of_retransmission(now, (go.path, &before), &transmission, stamp);
        if let Some(by_time) = &mut self.destinations[go.path.0].by_time {
            by_time.tlp.on_sent(now, position + 1, true);
        }
        transmission
    }

    /// Records that a chunk is sent again on `path`.
    pub(super) fn on_resent(&mut self, now: Instant, path: PathId, position: u64) {
        if let Some(by_time) = &mut self.destinations[path.0].by_time {
            by_time.resent.on_retransmission(now, position);
        }
    }

    /// Records that a packet was sent on a path: it may be a probe with new data, and it restarts the
    /// timer of the next one.
    pub(super) fn follow_packet(&mut self, now: Instant, go: &PacketToSend) {
        let Some(by_time) = &mut self.destinations[go.path.0].by_time else { return };
        if by_time.tlp.is_due() && matches!(go.contents, PacketContents::New { .. }) {
            by_time.tlp.on_sent(now, self.ledger.nxt(), false);
        }
        self.set_alarm(go.path);
    }
}

#[cfg(test)]
mod tests;
