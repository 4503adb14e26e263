//! Why a kernel retransmitted, by its tracepoints.
//!
//! The congestion state of a socket when it retransmits is the cause: Recovery for a fast
//! retransmission, Loss after a timeout, and otherwise a tail-loss probe. Each expiry of the timer
//! sets the state Loss anew.

use super::causes::Cause;
use super::path::instant;
use crate::system::trace::{COLUMNS, LOST, RETRANSMIT, STATE};
use eifel_base::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// `TCP_CA_Recovery` and `TCP_CA_Loss` of Linux.
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// How much earlier than its tracepoint a packet may be seen. The tracepoint comes after the
/// packet has been handed to the device, which another processor may read.
const EARLY: Duration = Duration::from_micros(100);

/// How late the first event may be on a busy machine.
const LATE: Duration = Duration::from_millis(20);

/// The retransmissions of a connection's local end.
#[derive(Clone, Debug, Default)]
struct Retransmissions {
    /// The socket's number in the kernel, as its retransmissions name it.
    socket: String,
    /// Whether two sockets had these ports, as in two namespaces.
    is_ambiguous: bool,
    state: u8,
    /// Whether the timer has expired, and nothing was retransmitted since.
    after_timer: bool,
    sent: Vec<(Instant, Cause)>,
}

/// The events of sockets.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// By local and remote port.
    by_ports: BTreeMap<(u16, u16), Retransmissions>,
}

impl Trace {
    /// Parses the events that a [`Tracer`](crate::system::trace::Tracer) has written.
    ///
    /// # Errors
    /// The line that is wrong, or that events are missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut trace = Self::default();
        for (number, line) in text.lines().enumerate() {
            if number == 0 && line == COLUMNS {
                continue;
            }
            let fields: Vec<&str> = line.split(',').collect();
            if fields.get(4) == Some(&LOST) {
                return Err(format!("the kernel had no room for {} events of sockets", fields[5..].concat()));
            }
            trace.take(&fields).ok_or_else(|| format!("trace, line {}: expected {COLUMNS}", number + 1))?;
        }
        Ok(trace)
    }

    fn take(&mut self, fields: &[&str]) -> Option<()> {
        let &[time, socket, local, remote, event, state] = fields else { return None };
        let port = |end: &str| Some(end.parse::<SocketAddr>().ok()?.port());
        let one = self.by_ports.entry((port(local)?, port(remote)?)).or_default();
        if one.socket.is_empty() {
            one.socket = socket.to_owned();
        }
        one.is_ambiguous |= !socket.is_empty() && one.socket != socket;
        match event {
            STATE => {
                one.state = state.parse().ok()?;
                one.after_timer = one.state == LOSS;
            }
            RETRANSMIT => {
                let cause = match one.state {
                    RECOVERY => Cause::Fast,
                    LOSS if std::mem::take(&mut one.after_timer) => Cause::Rto,
                    LOSS => Cause::Loss,
                    _ => Cause::Probe,
                };
                one.sent.push((instant(time)?, cause));
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the causes of retransmissions: when each left the kernel, and its source and
    /// destination port, in the order of time. A cause is `None` if no event tells it.
    pub fn causes(&self, retransmissions: &[(Instant, (u16, u16))]) -> Vec<Option<Cause>> {
        let mut counted: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        retransmissions.iter().for_each(|&(_, ports)| *counted.entry(ports).or_default() += 1);
        let mut next: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        let cause = |&(at, ports): &(Instant, (u16, u16))| {
            let one = self.by_ports.get(&ports).filter(|one| !one.is_ambiguous)?;
            let place = if counted.get(&ports) == Some(&one.sent.len()) {
                let next = next.entry(ports).or_default();
                *next += 1;
                *next
            } else {
                // One event may be of several segments, and some are of segments without data.
                one.sent.partition_point(|&(sent, _)| sent <= at + EARLY)
            };
            match place.checked_sub(1) {
                Some(place) => one.sent.get(place).map(|&(_, cause)| cause),
                // A busy machine writes the first event late.
                None => one.sent.first().filter(|&&(sent, _)| sent <= at + LATE).map(|&(_, cause)| cause),
            }
        };
        retransmissions.iter().map(cause).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(time: &str, socket: &str, event: &str, state: &str) -> String {
        format!("{time},{socket},10.77.0.1:4000,10.77.0.2:80,{event},{state}\n")
    }

    fn trace(lines: &[(&str, &str, &str, &str)]) -> Trace {
        let lines: String =
            lines.iter().map(|&(time, socket, event, state)| line(time, socket, event, state)).collect();
        Trace::parse(&format!("{COLUMNS}\n{lines}")).unwrap()
    }

    fn at(micros: u64) -> (Instant, (u16, u16)) {
        (Instant::from_nanos(micros * 1000), (4000, 80))
    }

    #[test]
    fn the_congestion_state_names_the_cause() {
        let found = trace(&[
            ("0.1", "a", RETRANSMIT, ""),
            ("0.2", "a", STATE, "4"),
            ("0.3", "a", RETRANSMIT, ""),
            ("0.4", "a", RETRANSMIT, ""),
            ("0.5", "a", STATE, "4"),
            ("0.6", "a", RETRANSMIT, ""),
            ("0.7", "a", STATE, "0"),
            ("0.8", "a", STATE, "3"),
            ("0.9", "a", RETRANSMIT, ""),
        ]);
        let sent = [100_000, 300_000, 400_000, 600_000, 900_000].map(at);
        let expected = [Cause::Probe, Cause::Rto, Cause::Loss, Cause::Rto, Cause::Fast].map(Some);
        assert_eq!(found.causes(&sent), expected);
    }

    /// One event stands for two segments, and the time assigns both to it.
    #[test]
    fn without_an_event_for_each_segment_the_last_event_before_it_counts() {
        let found = trace(&[
            ("0.1", "a", STATE, "3"),
            ("0.2", "a", RETRANSMIT, ""),
            ("0.3", "a", STATE, "4"),
            ("0.4", "a", RETRANSMIT, ""),
        ]);
        let sent = [150_000, 190_000, 199_950, 200_020, 399_800, 400_000].map(at);
        let (fast, rto) = (Some(Cause::Fast), Some(Cause::Rto));
        assert_eq!(found.causes(&sent), [None, fast, fast, fast, fast, rto]);
    }

    #[test]
    fn two_sockets_with_the_same_ports_have_no_causes() {
        let found = trace(&[("0.1", "a", RETRANSMIT, ""), ("0.2", "b", RETRANSMIT, "")]);
        assert_eq!(found.causes(&[at(100_000), at(200_000)]), [None, None]);
        assert_eq!(found.causes(&[(at(1).0, (80, 4000))]), [None]);
    }

    #[test]
    fn lost_events_and_damaged_lines_are_refused() {
        assert!(Trace::parse(&format!("{COLUMNS}\n0.0,,,,{LOST},7\n")).unwrap_err().contains("no room for 7 events"));
        for wrong in ["x", "0.1,a,10.77.0.1:4000,80,retransmit,", "0.1,a,10.77.0.1:4,10.77.0.2:80,state,x"] {
            assert!(Trace::parse(&format!("{COLUMNS}\n{wrong}\n")).unwrap_err().contains("line 2"), "{wrong}");
        }
    }
}
