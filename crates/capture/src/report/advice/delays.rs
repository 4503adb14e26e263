//! Faults that make a timer expire although nothing was lost.

use super::super::total::{counted, time};
use super::{Advice, Fault, Way, hosts};
use crate::result::{Cause, Confidence, Retransmission, StackReaction, Vantage};

/// A delay is a stall from this multiple of the shortest round trip on.
const STALL: f64 = 2.0;
/// A receiver's ACK is a delayed one from this time on, in milliseconds. Without a delay, a host
/// acknowledges within a millisecond or two.
const DELAYED_MS: f64 = 20.0;
/// The longest time by which a receiver may delay an ACK, in milliseconds (RFC 1122, section
/// 4.2.3.2).
const MOST_DELAYED_MS: f64 = 500.0;
/// An ACK answers a transmission if it comes within this multiple of the shortest round trip. Packets
/// may be a little faster than in all samples.
const PROMPT: std::ops::RangeInclusive<f64> = 15.0 / 16.0..=1.5;
/// One retransmission whose ACK was lost looks like one that arrived together with its original.
const LEAST_LOST: usize = 2;

/// A single expiry before a round trip may be a wrong name for another cause.
const LEAST_EARLY: u64 = 2;

/// The retransmission timer, and the probe timer.
const TIMERS: [Cause; 2] = [Cause::Rto, Cause::Tlp];

/// Returns when it was sent and acknowledged, in milliseconds since the first transmission.
fn times(one: &Retransmission) -> Option<(f64, f64)> {
    one.timing.since_first_ms.zip(one.timing.answered_ms)
}

/// A time in which neither data nor ACKs passed, as needless retransmissions of one direction show.
struct Stall<'a> {
    way: &'a Way<'a>,
    /// In seconds since 1970.
    begin: f64,
    end: f64,
    frame: u64,
}

impl Stall<'_> {
    fn ms(&self) -> f64 {
        (self.end - self.begin) * 1e3
    }
}

/// The original of a segment was acknowledged much later than usual, after a timer had sent it again:
/// a delay spike. F-RTO (RFC 5682) and the Eifel algorithm (RFC 3522) detect it at the sender, the
/// latter with timestamps. The kernel's ip-sysctl has `tcp_frto`, and snmp_counter TCPSpuriousRTOs.
pub(super) fn stall(ways: &[Way<'_>]) -> Option<Advice> {
    let mut stalls: Vec<Stall<'_>> = Vec::new();
    let mut rows = Vec::new();
    let shows = |way: &&Way<'_>| {
        way.is_seen_from(&[Vantage::Sender, Vantage::Between]) && answered_as_duplicates(way) < LEAST_LOST
    };
    for way in ways.iter().filter(shows) {
        for one in way.needless(&TIMERS) {
            let Some((sent, held)) = held(way, one) else { continue };
            rows.push(one);
            let begin = one.time_s - sent / 1e3;
            let end = begin + held / 1e3;
            match stalls.last_mut().filter(|last| std::ptr::eq(last.way, way) && begin <= last.end) {
                Some(last) => last.end = last.end.max(end),
                None => stalls.push(Stall { way, begin, end, frame: one.frame }),
            }
        }
    }
    let longest = stalls.iter().max_by(|one, other| one.ms().total_cmp(&other.ms()))?;
    let round_trip = time(longest.way.round_trip().unwrap_or(0.0));
    let after = longest.begin - longest.way.connection.time_s;
    let mut evidence = format!(
        "A timer had sent {} again, and then the original was acknowledged. The longest wait for such an ACK was {}, \
         from {after:.3} s after the first packet of {} (frame {}); the shortest round trip is {round_trip}.",
        counted(rows.len() as u64, "segment", "segments"),
        time(longest.ms()),
        longest.way.name(),
        longest.frame,
    );
    if stalls.len() > 1 {
        evidence += &format!(" This happened {} times.", stalls.len());
    }
    let senders = hosts(stalls.iter().map(|one| one.way.sender));
    let timeouts = || rows.iter().copied().filter(|one| one.cause == Cause::Rto);
    let find = "Find what holds packets on the path.";
    let action = match timeouts().next() {
        None => format!("Nothing on {senders}: only probes (TLP) were sent, to which a sender does not react. {find}"),
        Some(_) if timeouts().all(|one| one.stack_noticed == StackReaction::Undone) => {
            format!("Nothing on {senders}: the sender undid its reaction. {find}")
        }
        Some(_) => {
            let stamped = |one: &Stall<'_>| one.way.offered().iter().flatten().all(|end| end.timestamps);
            let stamps = if stalls.iter().all(stamped) { "" } else { ", and net.ipv4.tcp_timestamps is 1" };
            format!(
                "On the sender {senders}: see that sysctl net.ipv4.tcp_frto is not 0{stamps}, so that it detects such a \
                 timeout and undoes its reaction. {find}"
            )
        }
    };
    Some(Advice {
        fault: Fault::Stall,
        evidence,
        action,
        confirm: format!("On {senders}: nstat -az TcpExtTCPSpuriousRTOs TcpExtTCPTimeouts TcpExtTCPLossProbes"),
        source: "RFC 5682; RFC 3522; ip-sysctl.rst: tcp_frto, tcp_timestamps; snmp_counter.rst: TcpExtTCPSpuriousRTOs",
    })
}

/// Returns when a retransmission was sent and when its original was acknowledged, in milliseconds since
/// that left, if the ACK is of the original and late.
fn held(way: &Way<'_>, one: &Retransmission) -> Option<(f64, f64)> {
    let (sent, answered) = times(one)?;
    let round_trip = way.round_trip()?;
    let late = answered > sent && sent >= round_trip && answered >= STALL * round_trip;
    // If the ACK comes a round trip after the last retransmission, it may answer that. Then it would
    // report a duplicate, if the receiver does.
    let same =
        way.rows.iter().filter(|other| other.number == one.number).filter_map(|other| other.timing.since_first_ms);
    let trips = (answered - same.filter(|sent| *sent < answered).fold(sent, f64::max)) / round_trip;
    let not_again = trips > *PROMPT.end() || way.way.reports_duplicates == Some(true);
    let of_original = trips < *PROMPT.start() || not_again && one.confidence == Confidence::Certain;
    (of_original && late && !one.timing.answered_as_duplicate).then_some((sent, answered))
}

/// A timer expired sooner than any ACK can come. RFC 6298, section 2.4, demands a timeout of at least a
/// second. Linux takes 200 ms, unless a route has `rto_min` (ip-route(8)) or `tcp_rto_min_us` is set
/// (the kernel's ip-sysctl).
pub(super) fn timer_below_delay(ways: &[Way<'_>]) -> Option<Advice> {
    let mut found: Vec<(&Way<'_>, f64, f64)> = Vec::new();
    let mut count = 0;
    for way in ways.iter().filter(|way| way.is_seen_from(&[Vantage::Sender])) {
        let Some(round_trip) = way.round_trip() else { continue };
        let rows = way.needless(&TIMERS);
        let waits: Vec<_> =
            rows.filter_map(|one| one.timing.since_first_ms).filter(|waited| *waited < round_trip).collect();
        count += waits.len() as u64;
        if let Some(shortest) = waits.into_iter().min_by(f64::total_cmp) {
            found.push((way, shortest, round_trip));
        }
    }
    if count < LEAST_EARLY {
        return None;
    }
    let (way, shortest, round_trip) =
        found.iter().max_by(|one, other| (one.2 - one.1).total_cmp(&(other.2 - other.1)))?;
    let senders = hosts(found.iter().map(|(way, ..)| way.sender));
    Some(Advice {
        fault: Fault::TimerBelowDelay,
        evidence: format!(
            "A retransmission timer expired {} sooner than the shortest round trip: after {}, with a round trip of at \
             least {} ({}).",
            counted(count, "time", "times"),
            time(*shortest),
            time(*round_trip),
            way.name(),
        ),
        action: format!(
            "On the sender {senders}: look for a small rto_min in ip route show and for net.ipv4.tcp_rto_min_us; set it \
             above the round trip, e.g. ip route change {} ... rto_min {:.0}ms.",
            way.receiver,
            (round_trip * 2.0).max(200.0),
        ),
        confirm: format!("On {senders}: ss -ti shows rto; nstat -az TcpExtTCPTimeouts TcpExtTCPSpuriousRTOs"),
        source: "RFC 6298, section 2.4; ip-route(8): rto_min; ip-sysctl.rst: tcp_rto_min_us",
    })
}

/// The receiver acknowledged data late that had arrived, and a timer expired meanwhile. RFC 1122,
/// section 4.2.3.2, and RFC 5681, section 4.2, allow half a second. tcp(7) has TCP_QUICKACK, ip-route(8)
/// `quickack`; snmp_counter has DelayedACKs and DelayedACKLost.
pub(super) fn delayed_acks(ways: &[Way<'_>]) -> Option<Advice> {
    let mut found: Vec<(&Way<'_>, f64)> = Vec::new();
    for way in ways.iter().filter(|way| way.is_seen_from(&[Vantage::Receiver])) {
        let late = way.needless(&TIMERS).filter_map(|one| times(one).map(|(_, answered)| answered));
        found.extend(late.filter(|answered| (DELAYED_MS..=MOST_DELAYED_MS).contains(answered)).map(|late| (way, late)));
    }
    let (way, longest) = found.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let receivers = hosts(found.iter().map(|(way, _)| way.receiver));
    Some(Advice {
        fault: Fault::DelayedAcks,
        evidence: format!(
            "Next to the receiver, {} only up to {} after arrival ({}). Meanwhile a timer of the sender had expired.",
            counted(found.len() as u64, "segment was acknowledged", "segments were acknowledged"),
            time(*longest),
            way.name(),
        ),
        action: format!(
            "On the receiver {receivers}: the application sets TCP_QUICKACK, or ip route change {} ... quickack 1.",
            way.sender
        ),
        confirm: format!("On {receivers}: nstat -az TcpExtDelayedACKs TcpExtDelayedACKLost"),
        source: "RFC 1122, section 4.2.3.2; RFC 5681, section 4.2; tcp(7): TCP_QUICKACK; ip-route(8): quickack",
    })
}

/// Returns how many retransmissions by a timer were answered a round trip later with a duplicate report.
fn answered_as_duplicates(way: &Way<'_>) -> usize {
    let Some(round_trip) = way.round_trip().filter(|_| way.is_seen_from(&[Vantage::Sender])) else { return 0 };
    let prompt = |one: &&Retransmission| {
        times(one).is_some_and(|(sent, answered)| PROMPT.contains(&((answered - sent) / round_trip)))
    };
    way.needless(&TIMERS).filter(|one| one.timing.answered_as_duplicate).filter(prompt).count()
}

/// The first ACK of the data came a round trip after their retransmission and reports that as a
/// duplicate. So the original had arrived, and its ACK had not (RFC 2883, section 5.3). snmp_counter has
/// TCPDSACKRecv, TCPDSACKOldSent and DelayedACKLost.
pub(super) fn lost_acks(ways: &[Way<'_>]) -> Option<Advice> {
    let found: Vec<_> = ways.iter().filter(|way| answered_as_duplicates(way) >= LEAST_LOST).collect();
    let first = found.first()?;
    let count: usize = found.iter().map(|way| answered_as_duplicates(way)).sum();
    let (senders, receivers) = (hosts(found.iter().map(|way| way.sender)), hosts(found.iter().map(|way| way.receiver)));
    Some(Advice {
        fault: Fault::LostAcks,
        evidence: format!(
            "A timer repeated {} that had arrived: the first ACK came a round trip after the retransmission and reports \
             a duplicate, so earlier ACKs are missing (first in {}).",
            counted(count as u64, "segment", "segments"),
            first.name(),
        ),
        action: format!(
            "On the path from {receivers} to {senders}: look for what drops ACKs, such as a policer or a full uplink. \
             No setting of the sender replaces them."
        ),
        confirm: format!(
            "On the sender {senders}: nstat -az TcpExtTCPDSACKRecv; on the receiver {receivers}: nstat -az \
             TcpExtTCPDSACKOldSent TcpExtDelayedACKLost"
        ),
        source: "RFC 2883, section 5.3; snmp_counter.rst: TcpExtTCPDSACKRecv, TcpExtDelayedACKLost",
    })
}
