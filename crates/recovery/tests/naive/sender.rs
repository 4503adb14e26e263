//! A whole sender, one segment at a time: the rules that the recovery algorithms share (RFC 5681,
//! 3042, 6298). Each algorithm's fast recovery is in its own file, in `recover`.

use crate::congest::reno::{self, ALWAYS};
use crate::recover::late::Late;
use crate::recover::rack_tlp::Heard;
use crate::rto;
use crate::sampling;
use eifel_base::time::Duration;
use eifel_recovery::fact::Cause;
use eifel_recovery::rto::rfc6298::Bounds;

pub use crate::repair::{Left, Next, Phase, Repair, Segment};

pub const MSS: u64 = 1000;
pub const DUP_THRESH: u64 = 3;

/// An ACK of everything below `cumulative`; `sacks` are reported beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    pub cumulative: u64,
    pub sacks: &'a [(u64, u64)],
    pub dsack: Option<(u64, u64)>,
    /// When the echoed timestamp was sent, in nanoseconds.
    pub echoed_at: Option<u64>,
}

pub struct Sender {
    pub segments: Vec<Segment>,
    /// When the room for new data was computed. It is valid until the next ACK or timeout.
    asked_at: Option<u64>,
    /// The shortest time from the only transmission of a segment to its ACK, in nanoseconds.
    pub shortest: Option<u64>,
    /// This time for the last ACK; `None` if the ACK gave none.
    pub turn: Option<u64>,
    pub una: u64,
    pub nxt: u64,
    /// The first position that the application has not written.
    pub end: u64,
    pub congest: reno::Naive,
    pub phase: Phase,
    pub duplicates: u64,
    /// Whether the oldest segment is retransmitted regardless of the window.
    pub owed: bool,
    pub limited: u64,
    pub recover: u64,
    /// The end of the last loss's repair. Below it a timeout does not raise ssthresh.
    pub cut_until: u64,
    /// The first position that was unsent at the last loss.
    last_loss: u64,
    /// The part of the flight that the last loss counted, in bytes.
    counted: u64,
    pub timer: rto::rfc6298::Naive,
    pub sampler: sampling::Naive,
    pub samples: u64,
    /// When the timer expires, in nanoseconds.
    pub deadline: Option<u64>,
    idle_since: u64,
    /// State for duplicates after a timeout, if they must not compete with the timeout.
    pub late: Option<Late>,
}

impl Sender {
    pub fn new(timestamps: bool) -> Self {
        let second = Duration::from_secs(1);
        let bounds = Bounds {
            initial: second,
            minimum: second,
            maximum: Duration::from_secs(60),
            granularity: Duration::from_millis(1),
            slop: Duration::ZERO,
        };
        Self {
            segments: Vec::new(),
            asked_at: None,
            shortest: None,
            turn: None,
            una: 1,
            nxt: 1,
            end: 1,
            congest: reno::Naive::new(10 * MSS, u64::MAX, MSS),
            phase: Phase::Open,
            duplicates: 0,
            owed: false,
            limited: 0,
            recover: 0,
            cut_until: 0,
            last_loss: 0,
            counted: 0,
            timer: rto::rfc6298::Naive::new(&bounds),
            sampler: sampling::Naive::new(timestamps),
            samples: 0,
            deadline: None,
            idle_since: 0,
            late: None,
        }
    }

    /// Lets duplicate ACKs count from now on, at any position.
    pub fn no_recovery_point(&mut self) {
        self.recover = 0;
    }

    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// SetPipe of RFC 6675, section 4.
    pub fn pipe(&self) -> u64 {
        let mut pipe = 0;
        for segment in self.segments.iter().filter(|segment| !segment.sacked) {
            if !segment.lost {
                pipe += segment.len();
            }
            if segment.resent {
                pipe += segment.len();
            }
        }
        pipe
    }

    /// Returns the SACKed bytes.
    fn sacked(&self) -> u64 {
        self.segments.iter().filter(|segment| segment.sacked).map(Segment::len).sum()
    }

    /// Returns the first position beyond the highest SACKed segment, or `una`.
    pub fn highest_sacked(&self) -> u64 {
        self.segments.iter().filter(|segment| segment.sacked).map(|segment| segment.end).max().unwrap_or(self.una)
    }

    /// Returns how many of `counted` bytes may be sent, for algorithms that count duplicates. At
    /// most cwnd may be sent within the shortest round trip (Savage and others, section 2.2).
    pub fn within_a_round_trip(&self, now: u64, counted: u64) -> u64 {
        let Some(shortest) = self.shortest else { return counted };
        let since = now.saturating_sub(shortest);
        let recent = self.segments.iter().filter(|segment| segment.copies == 0 && segment.sent_at > since);
        let recent: u64 = recent.map(Segment::len).sum();
        counted.min(self.congest.cwnd.saturating_sub(recent))
    }

    pub fn start_timer(&mut self, now: u64) {
        self.deadline = Some(now + self.timer.rto() as u64);
    }

    pub fn on_ack(&mut self, repair: &mut dyn Repair, now: u64, ack: &Ack<'_>) {
        let Ack { cumulative, sacks, dsack, echoed_at } = *ack;
        let mut unheard = self.segments.clone();
        unheard.retain(|one| one.end <= cumulative && !one.sacked);
        let flight = self.outstanding();
        let acked = cumulative - self.una;
        let before = self.una + self.sacked();
        self.asked_at = None;
        self.turn = None;
        if let Some(newest) = self.segments.iter().rfind(|segment| segment.end <= cumulative)
            && newest.copies == 0
        {
            let turn = now - newest.sent_at;
            self.turn = Some(turn);
            self.shortest = Some(self.shortest.map_or(turn, |shortest| shortest.min(turn)));
        }
        self.segments.retain(|segment| segment.end > cumulative);
        self.una = cumulative;
        // A peer that SACKs data and then asks for it has discarded it (RFC 2018, section 8).
        for segment in self.segments.iter_mut().take_while(|segment| segment.sacked) {
            segment.sacked = false;
        }
        unheard.extend(self.segments.iter().filter(|one| !one.sacked).copied());
        let mut news = 0;
        for &(left, right) in sacks {
            for segment in self.segments.iter_mut().filter(|segment| left <= segment.start && segment.end <= right) {
                news += u64::from(!segment.sacked);
                segment.sacked = true;
            }
        }
        repair.heard(self, (self.una + self.sacked()).saturating_sub(before));
        if acked > 0
            && let Some(sample) = self.sampler.acked(cumulative, now, echoed_at)
        {
            self.samples += 1;
            self.timer.sample(sample.into());
        }
        let silent = sacks.is_empty() && dsack.is_none();
        let duplicate = match repair.by_sack() {
            // RFC 6675, section 2: even if it carries other news, or moves the cumulative
            // acknowledgment point.
            true => news > 0,
            // RFC 5681, section 2. With SACK blocks, the ACK must report something new.
            false => acked == 0 && flight > 0 && (silent || news > 0),
        };
        let duplicate = self.counts(duplicate, acked);
        let mut restart = true;
        if let Some(rack_tlp) = repair.by_time() {
            let still = |one: &Segment| self.segments.iter().any(|other| other.end == one.end && !other.sacked);
            unheard.retain(|one| !still(one));
            let delivered = unheard;
            let reported = sacks.iter().map(|&(_, end)| end).max();
            let heard = Heard { now, acked, flight, duplicate, delivered, reported, dsack, echoed_at };
            rack_tlp.on_ack(self, &heard);
        } else {
            let before = self.phase;
            if acked > 0 {
                self.duplicates = 0;
                self.limited = 0;
                match self.phase {
                    Phase::FastRecovery { point } if cumulative < point => restart = repair.partial(self, acked),
                    Phase::FastRecovery { .. } => {
                        self.phase = Phase::Open;
                        repair.full(self);
                    }
                    Phase::AfterTimeout { point } if cumulative >= point => self.phase = Phase::Open,
                    Phase::Open | Phase::AfterTimeout { .. } => {}
                }
            }
            let repairing = matches!(before, Phase::FastRecovery { .. });
            let resumed =
                if self.phase == Phase::Open { repair.undisturbed(self, acked, !sacks.is_empty()) } else { None };
            let begins = duplicate && !(repairing && acked > 0) && self.counts_one_more(repair);
            if begins {
                self.begin_recovery(repair, now);
            } else if let Some((cwnd, ssthresh)) = resumed {
                (self.congest.cwnd, self.congest.ssthresh) = (cwnd, ssthresh);
            } else if acked > 0 && !repairing {
                self.congest.ack(acked, flight, &ALWAYS);
            }
        }
        if matches!(self.phase, Phase::FastRecovery { .. }) {
            repair.update(self);
        }
        if self.outstanding() == 0 && acked > 0 {
            // RFC 6298, (5.2)
            self.deadline = None;
            self.idle_since = now;
        } else if acked > 0 && restart {
            // (5.3)
            self.start_timer(now);
        }
    }

    /// Counts one more duplicate ACK. Returns whether fast recovery begins with it.
    fn counts_one_more(&mut self, repair: &mut dyn Repair) -> bool {
        self.duplicates += 1;
        let past = self.una > self.recover || repair.by_sack() && self.una >= self.recover;
        let may_begin = past && !matches!(self.phase, Phase::FastRecovery { .. });
        let begins = may_begin && (repair.reaches_threshold(self) || repair.begins_early(self));
        if !begins {
            repair.duplicate(self);
        }
        begins
    }

    /// Returns the part of `flight` that a loss counts: the part that the window allowed, now or
    /// before it was cut. RFC 5681, equation (4), is a bound.
    pub fn count(&mut self, flight: u64) -> u64 {
        let before_the_cut = if self.una < self.last_loss { self.counted } else { 0 };
        self.counted = flight.min(before_the_cut.max(self.congest.cwnd + MSS));
        self.counted
    }

    /// As [`count`](Self::count), for a loss that is not part of the last one.
    pub fn begin_loss(&mut self, flight: u64) -> u64 {
        let counted = self.count(flight);
        self.last_loss = self.nxt;
        counted
    }

    fn begin_recovery(&mut self, repair: &mut dyn Repair, now: u64) {
        self.phase = Phase::FastRecovery { point: self.nxt };
        (self.recover, self.cut_until) = (self.nxt, self.nxt);
        self.owed = true;
        // RFC 3042, section 2: Limited Transmit's segments do not count.
        let flight = repair.flight(self).unwrap_or(self.outstanding() - self.limited);
        let flight = self.begin_loss(flight);
        self.congest.loss(Cause::FastRetransmit, flight, self.congest.cwnd, false, &ALWAYS);
        repair.begin(self);
        self.start_timer(now);
    }

    pub fn on_timeout(&mut self, repair: &mut dyn Repair, now: u64, again: bool) {
        repair.expired();
        self.note_timeout();
        self.asked_at = None;
        let flight = if again { self.count(self.outstanding()) } else { self.begin_loss(self.outstanding()) };
        let before = self.congest.ssthresh;
        self.congest.loss(Cause::Timeout, flight, self.congest.cwnd, again, &ALWAYS);
        if self.una < self.cut_until {
            // (4) is a bound, and the last cut is in force until its repair has ended.
            self.congest.ssthresh = self.congest.ssthresh.min(before);
        }
        // (5.5), (5.6)
        self.timer.doublings += 1;
        self.start_timer(now);
        for segment in &mut self.segments {
            // RFC 2018, section 8: the peer may have discarded SACKed data.
            *segment = Segment { sacked: false, lost: true, resent: false, ..*segment };
        }
        self.phase = Phase::AfterTimeout { point: self.nxt };
        (self.recover, self.cut_until) = (self.nxt, self.nxt);
        self.duplicates = 0;
        self.limited = 0;
        self.owed = false;
    }

    /// Sends all segments that may be sent now, and returns them.
    pub fn send(&mut self, repair: &mut dyn Repair, now: u64) -> Vec<Left> {
        let mut all = Vec::new();
        loop {
            // RFC 5681, section 4.1
            let idle = now - self.idle_since;
            if self.outstanding() == 0 && self.end > self.nxt && u128::from(idle) > self.timer.rto() && self.samples > 0
            {
                self.congest.cwnd = self.congest.cwnd.min(self.congest.iw);
            }
            let own = repair.by_time().and_then(|rack_tlp| rack_tlp.next_by_time(self));
            let next = match self.phase {
                _ if own.is_some() => own.unwrap_or(Next::New(0)),
                Phase::FastRecovery { .. } if self.owed => Next::Owed(0),
                Phase::FastRecovery { .. } => repair.next(self, self.asked_at.unwrap_or(now)),
                Phase::Open if repair.room(self).is_some() => Next::New(repair.room(self).unwrap_or(0)),
                _ => self.next_outside_recovery(repair.by_sack()),
            };
            if matches!(next, Next::New(_)) && self.end > self.nxt {
                self.asked_at.get_or_insert(now);
            }
            let left = match next {
                Next::Owed(index) => self.again(now, index, u64::MAX, true),
                Next::Again(index, room) => self.again(now, index, room, true),
                Next::Once(index, room) => self.again(now, index, room, false),
                Next::Rescue(index, room) => {
                    let left = self.again(now, index, room, false);
                    if left.is_some() {
                        repair.rescued(self);
                    }
                    left
                }
                Next::New(room) => self.new_data(now, room),
            };
            let Some(left) = left else { return all };
            if left.again {
                self.owed = false;
            }
            if self.deadline.is_none() {
                // (5.1)
                self.start_timer(now);
            }
            self.sampler.sent(left.start, left.end, now, left.again);
            repair.sent(&left);
            all.push(left);
        }
    }

    fn next_outside_recovery(&self, by_sack: bool) -> Next {
        if self.segments.first().is_some_and(|oldest| oldest.lost) {
            // Go-back-N in slow start.
            let room = self.congest.cwnd.saturating_sub(self.pipe());
            return match self.segments.iter().position(|segment| segment.lost && !segment.resent && !segment.sacked) {
                Some(index) => Next::Again(index, room),
                None => Next::New(room),
            };
        }
        if by_sack && self.duplicates > 0 && self.phase == Phase::Open {
            // RFC 6675, section 5, step (3.3): while cwnd - pipe >= 1 SMSS.
            return Next::New(self.congest.cwnd.saturating_sub(self.pipe()));
        }
        // RFC 3042: the first two duplicates allow one segment each.
        let beyond = if self.phase == Phase::Open { self.duplicates.min(2) * MSS } else { 0 };
        Next::New((self.congest.cwnd + beyond).saturating_sub(self.outstanding()))
    }

    fn again(&mut self, now: u64, index: usize, room: u64, counts: bool) -> Option<Left> {
        let segment = *self.segments.get(index)?;
        if segment.len() > room && self.pipe() > 0 {
            return None;
        }
        self.segments[index].copies += 1;
        self.segments[index].last_sent = now;
        if counts {
            // HighRxt moves up. This does not mark segments as lost, so both copies of a segment
            // may count in pipe.
            for earlier in &mut self.segments[..=index] {
                earlier.resent = true;
            }
        }
        Some(Left { start: segment.start, end: segment.end, again: true })
    }

    fn new_data(&mut self, now: u64, room: u64) -> Option<Left> {
        let len = (self.end - self.nxt).min(MSS);
        if len == 0 || len > room && self.outstanding() > 0 {
            return None;
        }
        let (start, end) = (self.nxt, self.nxt + len);
        self.segments.push(Segment { start, end, sent_at: now, last_sent: now, ..Segment::default() });
        self.nxt = end;
        // Data that cwnd allows anyway is not Limited Transmit's.
        if self.duplicates > 0 && self.phase == Phase::Open && self.outstanding() > self.congest.cwnd {
            self.limited += len;
        }
        Some(Left { start, end, again: false })
    }
}
