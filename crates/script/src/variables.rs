//! Variables of assertions: packetdrill's names for Linux's `struct tcp_info`, and names of this
//! engine.

use crate::counts::Counts;
use crate::sctp::variables as association;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::Cause;
use eifel_tcp::{Connection, Settings, State};

/// The state that variables are read from.
pub struct Observed<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) counts: &'a Counts,
    /// The settings with which the connection began.
    pub(crate) settings: &'a Settings,
    pub(crate) now: Instant,
}

/// A value of the connection that scripts read by its name.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    /// Meaning and unit, on one line.
    pub summary: &'static str,
    pub(crate) read: Read,
}

impl Variable {
    /// Returns whether this variable is the state, which an end without a connection also has.
    pub(crate) fn is_state(&self) -> bool {
        matches!(self.name, "state" | "tcpi_state")
    }
}

/// The state of an end without a connection.
pub(crate) const CLOSED: i128 = 7;

/// Returns the variables of a conversation with a connection.
pub fn variables() -> &'static [Variable] {
    VARIABLES
}

/// Returns the variables of a conversation with an association.
pub fn of_associations() -> &'static [Variable] {
    association::VARIABLES
}

/// Returns the value of a named constant.
pub(crate) fn constant(name: &str) -> Option<i128> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Returns the names of these variables and of all constants, for messages.
pub(crate) fn names(variables: &[Variable]) -> String {
    let names: Vec<_> = variables.iter().map(|v| v.name).chain(CONSTANTS.iter().map(|(name, _)| *name)).collect();
    format!("one of {}", names.join(", "))
}

/// Linux's number for an unset slow-start threshold.
const UNSET_IN_SEGMENTS: i128 = 0x7fff_ffff;

/// Named constants: the states by Linux's names and FreeBSD's, and this engine's verdicts and unset threshold.
pub const CONSTANTS: &[(&str, i128)] = &[
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_ESTABLISHED", 1),
    ("TCPI_SYN_SENT", 2),
    ("TCPI_SYN_RECEIVED", 3),
    ("TCPI_FIN_WAIT_1", 4),
    ("TCPI_FIN_WAIT_2", 5),
    ("TCPI_TIME_WAIT", 6),
    ("TCPI_CLOSED", 7),
    ("TCPI_CLOSE_WAIT", 8),
    ("TCPI_LAST_ACK", 9),
    ("TCPI_LISTEN", 10),
    ("TCPI_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("SCTP_CLOSED", 0),
    ("SCTP_COOKIE_WAIT", 2),
    ("SCTP_COOKIE_ECHOED", 4),
    ("SCTP_ESTABLISHED", 8),
    ("SCTP_SHUTDOWN_SENT", 16),
    ("SCTP_SHUTDOWN_RECEIVED", 32),
    ("SCTP_SHUTDOWN_ACK_SENT", 64),
    ("SCTP_SHUTDOWN_PENDING", 128),
    ("UNSET", u64::MAX as i128),
    ("NONE", 0),
    ("SPURIOUS", 1),
    ("GENUINE", 2),
];

/// The kind of end that has a variable, and the function that reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Connection(fn(&Observed<'_>) -> i128),
    Association(fn(&association::Observed<'_>) -> i128),
}

const fn variable(name: &'static str, summary: &'static str, read: fn(&Observed<'_>) -> i128) -> Variable {
    Variable { name, summary, read: Read::Connection(read) }
}

static VARIABLES: &[Variable] = &[
    variable("tcpi_state", "the state, as Linux numbers them", state),
    variable(
        "tcpi_ca_state",
        "TCP_CA_Recovery or TCP_CA_Loss while an episode is open; TCP_CA_CWR while PRR reduces cwnd after an ECN echo; \
         TCP_CA_Disorder while SACK reports anything; else TCP_CA_Open",
        ca_state,
    ),
    variable("tcpi_retransmits", "expiries of the timer since the last ACK of new data", |o| {
        o.connection.engine().consecutive_timeouts().into()
    }),
    variable("tcpi_total_retrans", "retransmissions so far, SYN included", |o| o.counts.retransmissions.into()),
    variable("tcpi_rto", "the retransmission timeout with its back-off, in microseconds", rto),
    variable("tcpi_rtt", "SRTT in microseconds, 0 before the first sample", srtt),
    variable("tcpi_rttvar", "RTTVAR in microseconds, 0 before the first sample", rttvar),
    variable("tcpi_snd_cwnd", "cwnd in whole segments; while PRR reduces it after an ECN echo, PRR's", |o| {
        o.connection.engine().cwnd_after_echo().map_or(window(o).0, i128::from) / mss(o)
    }),
    variable("tcpi_snd_ssthresh", "ssthresh in whole segments, 2147483647 while unset", |o| match window(o).1 {
        UNSET => UNSET_IN_SEGMENTS,
        bytes => bytes / mss(o),
    }),
    variable("tcpi_snd_mss", "bytes of payload in a full segment", mss),
    variable("tcpi_unacked", "segments outstanding", |o| o.connection.engine().scoreboard().segments() as i128),
    variable("tcpi_sacked", "bytes that SACK has reported, in whole segments", |o| {
        i128::from(o.connection.engine().scoreboard().sacked_bytes()) / mss(o)
    }),
    variable("tcpi_lost", "segments marked lost and not delivered since, retransmitted or not", lost),
    variable("tcpi_retrans", "segments retransmitted and not delivered since", retrans),
    variable(
        "tcpi_reordering",
        "the largest reordering that SACK has shown to RACK-TLP, in segments; at least 3",
        |o| i128::from(o.connection.engine().scoreboard().overtaken_by()).div_euclid(mss(o)).max(3),
    ),
    variable("tcpi_advmss", "bytes in this end's MSS option", |o| o.settings.mss.into()),
    variable("tcpi_rcv_mss", "bytes of the longest segment that arrived", |o| o.counts.longest_in.into()),
    variable("tcpi_last_data_recv", "milliseconds since data, or the SYN, arrived", |o| {
        (o.now.since(o.counts.last_arrival).as_nanos() / 1_000_000).into()
    }),
    variable("tcpi_busy_time", "microseconds with something to send or outstanding", |o| {
        micros(o.counts.clocks.busy(o.now))
    }),
    variable("tcpi_rwnd_limited", "microseconds in which the peer's window limited sending", |o| {
        micros(o.counts.clocks.held_back(o.now))
    }),
    variable("tcpi_notsent_bytes", "bytes written and not sent", |o| {
        i128::from(o.connection.end().saturating_sub(o.connection.engine().nxt()))
    }),
    variable("tcpi_bytes_received", "bytes that have arrived in order", |o| o.connection.received().into()),
    variable("tcpi_segs_out", "segments sent", |o| o.counts.segments_out.into()),
    variable("tcpi_segs_in", "segments received", |o| o.counts.segments_in.into()),
    variable("state", "the same as tcpi_state", state),
    variable("cwnd", "the congestion window in bytes", |o| window(o).0),
    variable("ssthresh", "the slow-start threshold in bytes, or UNSET", |o| window(o).1),
    variable("flight", "FlightSize of RFC 5681 in bytes", |o| o.connection.engine().snapshot().flight.into()),
    variable("pipe", "pipe of RFC 6675 in bytes", |o| o.connection.engine().snapshot().pipe.into()),
    variable("rto_us", "the retransmission timeout with its back-off, in microseconds", rto),
    variable("srtt_us", "SRTT in microseconds, 0 before the first sample", srtt),
    variable("rttvar_us", "RTTVAR in microseconds, 0 before the first sample", rttvar),
    variable("samples", "round-trip samples so far", |o| o.connection.engine().snapshot().samples.into()),
    variable("una", "the first position not acknowledged; the SYN's is 0", |o| o.connection.engine().una().into()),
    variable("nxt", "the first position never sent", |o| o.connection.engine().nxt().into()),
    variable("unread", "bytes ready to be read", |o| o.connection.readable().into()),
    variable("peer_window", "the peer's receive window in bytes, counted from una", |o| {
        o.connection.peer_window().into()
    }),
    variable("timeouts", "expiries of the retransmission timer after the handshake", |o| o.counts.timeouts.into()),
    variable("episodes", "loss signals that have opened an episode", |o| o.counts.episodes.into()),
    variable("verdict", "the verdict on the last episode: NONE yet, SPURIOUS or GENUINE", |o| o.counts.verdict.into()),
    variable("spurious", "verdicts that an episode was spurious", |o| o.counts.spurious.into()),
    variable("genuine", "verdicts that an episode was genuine", |o| o.counts.genuine.into()),
    variable("refused_by_paws", "segments refused for their timestamps (RFC 7323, section 5)", |o| {
        o.connection.counts().old_timestamps.into()
    }),
    variable("without_timestamp", "segments refused because they lacked the negotiated timestamp", |o| {
        o.connection.counts().missing_timestamps.into()
    }),
    variable("ignored_echoes", "invalid timestamp echoes", |o| o.connection.counts().ignored_echoes.into()),
    variable("forged_echoes", "echoes of timestamps that were never sent", |o| {
        o.connection.counts().forged_echoes.into()
    }),
    variable("ignored_sack_blocks", "invalid SACK blocks", |o| o.connection.counts().ignored_sack_blocks.into()),
    variable("refused_acks", "acknowledgements of data that was never sent, or of data too old to count", |o| {
        o.connection.counts().refused_acks.into()
    }),
    variable("outside_window", "segments outside the receive window", |o| o.connection.counts().outside_window.into()),
    variable("challenges", "challenge ACKs sent (RFC 5961)", |o| o.connection.counts().challenges.into()),
];

const UNSET: i128 = u64::MAX as i128;

fn state(observed: &Observed<'_>) -> i128 {
    match observed.connection.state() {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived(_) => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait { .. } => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

fn ca_state(observed: &Observed<'_>) -> i128 {
    match observed.connection.engine().episode().map(|episode| episode.cause) {
        None if observed.connection.engine().cwnd_after_echo().is_some() => 2,
        None => i128::from(observed.connection.engine().scoreboard().sacked_bytes() > 0),
        Some(Cause::FastRetransmit) => 3,
        Some(Cause::Timeout) => 4,
    }
}

fn lost(observed: &Observed<'_>) -> i128 {
    let board = observed.connection.engine().scoreboard();
    board.unreported(board.una()).take_while(|segment| segment.end() <= board.lost_below()).count() as i128
}

fn retrans(observed: &Observed<'_>) -> i128 {
    let board = observed.connection.engine().scoreboard();
    board.unreported(board.una()).filter(|segment| segment.copies() > 0).count() as i128
}

fn mss(observed: &Observed<'_>) -> i128 {
    observed.connection.mss().max(1).into()
}

/// Returns cwnd and ssthresh in bytes.
fn window(observed: &Observed<'_>) -> (i128, i128) {
    let snapshot = observed.connection.engine().snapshot();
    (snapshot.cwnd.into(), snapshot.ssthresh.into())
}

fn micros(duration: Duration) -> i128 {
    i128::from(duration.as_nanos() / 1000)
}

fn rto(observed: &Observed<'_>) -> i128 {
    micros(observed.connection.engine().snapshot().rto)
}

fn srtt(observed: &Observed<'_>) -> i128 {
    observed.connection.engine().snapshot().srtt.map_or(0, micros)
}

fn rttvar(observed: &Observed<'_>) -> i128 {
    observed.connection.engine().snapshot().rttvar.map_or(0, micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_across_kinds() {
        for variables in [VARIABLES, of_associations()] {
            let names: Vec<_> = variables.iter().map(|v| v.name).chain(CONSTANTS.iter().map(|c| c.0)).collect();
            for (index, name) in names.iter().enumerate() {
                assert!(!names[..index].contains(name), "{name}");
            }
        }
    }
}
