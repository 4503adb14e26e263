//! Variables of assertions about an association.

use crate::variables::{Read, Variable};
use eifel_base::time::Duration;
use eifel_recovery::association::PathId;
use eifel_sctp::{Association, Phase};

/// The state that variables are read from.
pub(crate) struct Observed<'a> {
    pub(super) association: &'a Association,
    pub(super) counts: &'a Counts,
}

/// Counts of a run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(super) packets_in: u64,
    pub(super) packets_out: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    pub(super) episodes: u64,
    pub(super) spurious: u64,
    pub(super) genuine: u64,
    /// Verdict on the last episode: 0 none, 1 spurious, 2 genuine.
    pub(super) verdict: u64,
    pub(super) restarts: u64,
    pub(super) complaints: u64,
    pub(super) expired: u64,
}

const fn variable(name: &'static str, summary: &'static str, read: fn(&Observed<'_>) -> i128) -> Variable {
    Variable { name, summary, read: Read::Association(read) }
}

pub(crate) static VARIABLES: &[Variable] = &[
    variable("state", "the state, to be compared with SCTP_ESTABLISHED and its like", state),
    variable("paths", "addresses of the peer", |o| o.association.engine().paths() as i128),
    variable("cwnd", "the congestion window of the first path in bytes", |o| cwnd(o, 0)),
    variable("ssthresh", "the slow-start threshold of the first path in bytes, or UNSET", |o| ssthresh(o, 0)),
    variable("flight", "bytes of chunks under way on the first path, header and padding included", |o| flight(o, 0)),
    variable("rto_us", "the first path's retransmission timeout with its back-off, in microseconds", |o| rto(o, 0)),
    variable("alternate_cwnd", "the congestion window of the second path in bytes", |o| cwnd(o, 1)),
    variable("alternate_ssthresh", "the slow-start threshold of the second path in bytes, or UNSET", |o| {
        ssthresh(o, 1)
    }),
    variable("alternate_flight", "bytes of chunks under way on the second path", |o| flight(o, 1)),
    variable("alternate_rto_us", "the second path's retransmission timeout, in microseconds", |o| rto(o, 1)),
    variable("una", "the first chunk not acknowledged in order, counted from 0", |o| {
        o.association.engine().una().into()
    }),
    variable("nxt", "the first chunk never sent, counted from 0", |o| o.association.engine().nxt().into()),
    variable("streams", "streams to send on", |o| o.association.streams().into()),
    variable("send_room", "free bytes of the send buffer", |o| o.association.send_room() as i128),
    variable("packets_out", "packets sent", |o| o.counts.packets_out.into()),
    variable("packets_in", "packets received", |o| o.counts.packets_in.into()),
    variable("retransmissions", "retransmitted DATA chunks", |o| o.counts.retransmissions.into()),
    variable("timeouts", "expiries of T3-rtx", |o| o.counts.timeouts.into()),
    variable("episodes", "loss signals that have opened an episode, on any path", |o| o.counts.episodes.into()),
    variable("verdict", "the verdict on the last episode: NONE yet, SPURIOUS or GENUINE", |o| o.counts.verdict.into()),
    variable("spurious", "verdicts that an episode was spurious", |o| o.counts.spurious.into()),
    variable("genuine", "verdicts that an episode was genuine", |o| o.counts.genuine.into()),
    variable("restarts", "restarts of the peer", |o| o.counts.restarts.into()),
    variable("expired", "messages that were given up because their lifetime had ended", |o| o.counts.expired.into()),
    variable("complaints", "ERROR chunks from the peer that were reported", |o| o.counts.complaints.into()),
];

/// Numbers the states as FreeBSD does.
pub(super) fn number(phase: Phase) -> i128 {
    match phase {
        Phase::Closed => 0,
        Phase::CookieWait => 2,
        Phase::CookieEchoed => 4,
        Phase::Established => 8,
        Phase::ShutdownSent => 16,
        Phase::ShutdownReceived => 32,
        Phase::ShutdownAckSent => 64,
        Phase::ShutdownPending => 128,
    }
}

fn state(observed: &Observed<'_>) -> i128 {
    number(observed.association.phase())
}

/// Returns the path at `index`; `None` if the association has fewer. Its variables are then 0.
fn path(observed: &Observed<'_>, index: usize) -> Option<PathId> {
    (index < observed.association.engine().paths()).then_some(PathId(index))
}

fn cwnd(observed: &Observed<'_>, index: usize) -> i128 {
    path(observed, index).map_or(0, |path| observed.association.engine().window(path).cwnd.into())
}

fn ssthresh(observed: &Observed<'_>, index: usize) -> i128 {
    path(observed, index).map_or(0, |path| observed.association.engine().window(path).ssthresh.into())
}

fn flight(observed: &Observed<'_>, index: usize) -> i128 {
    path(observed, index).map_or(0, |path| observed.association.engine().flight(path).into())
}

fn rto(observed: &Observed<'_>, index: usize) -> i128 {
    let micros = |rto: Duration| i128::from(rto.as_nanos() / 1000);
    path(observed, index).map_or(0, |path| micros(observed.association.engine().rto(path)))
}
