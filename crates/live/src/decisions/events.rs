//! A sender's packets and its kernel's events, in the kernel's order.

use crate::judge::frames::packets_of;
use crate::judge::path::instant;
use crate::system::Error;
use crate::system::trace::{LOST, RECEIVED, STATE};
use crate::truth::record::KERNEL;
use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use std::net::SocketAddr;
use std::path::Path;

/// `TCP_CA_Recovery` and `TCP_CA_Loss` of Linux.
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
/// Nanoseconds from a packet's arrival to its processing, where that is fastest.
const FASTEST: i64 = 1000;
/// The most nanoseconds by which a segment may seem to be processed before it arrives.
const EARLIEST: i64 = -1_000_000;

/// What happened to the sender.
#[derive(Clone, Copy, Debug)]
pub enum What {
    Sent(Segment),
    /// A segment is about to be processed.
    Received(Segment, Standing),
    /// The kernel begins fast recovery.
    FastRetransmit,
    /// The timer has expired.
    Timeout,
}

/// The sender's state before a segment is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// cwnd and ssthresh in segments.
    pub cwnd: u64,
    pub ssthresh: u64,
    pub una: Seq,
}

/// The course of a connection.
pub struct Course {
    /// Both SYNs, the sender's first.
    pub syns: [Segment; 2],
    pub events: Vec<(Instant, What)>,
}

/// Reads the connection to `port` from a recording's files.
///
/// # Errors
/// A file that is missing or damaged, or does not show everything.
pub fn read(own: &Path, port: u16) -> Result<Course, Error> {
    let mut packets = Vec::new();
    let capture = own.join(format!("{KERNEL}.pcapng"));
    packets_of(&capture, |packet, nanos, _| packets.push((Instant::from_nanos(nanos), packet.segment)))?;
    let path = own.join("trace.csv");
    let failed = |cause: &dyn std::fmt::Display| Error::new(path.display().to_string(), cause, "");
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    join(&packets, &text, port).map_err(|what| failed(&what))
}

/// Joins packets and traced events.
fn join(packets: &[(Instant, Segment)], trace: &str, port: u16) -> Result<Course, String> {
    let (sent, received): (Vec<_>, Vec<_>) = packets
        .iter()
        .filter(|(_, segment)| segment.source_port == port || segment.destination_port == port)
        .copied()
        .partition(|(_, segment)| segment.destination_port == port);
    let syn = |packets: &[(Instant, Segment)]| packets.iter().position(|(_, one)| one.flags.has(Flags::SYN));
    let (Some(own), Some(answer)) = (syn(&sent), syn(&received)) else {
        return Err("there is no handshake".to_owned());
    };
    let syns = [sent[own].1, received[answer].1];
    let opened = received[answer].0;
    // The answer opens the connection. Whatever follows is received by it.
    let mut received = received[answer + 1..].iter();
    let mut events: Vec<(Instant, What)> = Vec::new();
    let (mut socket, mut ahead) = (String::new(), None);
    for (number, line) in trace.lines().enumerate().skip(1) {
        let wrong = || format!("line {}: {line}", number + 1);
        let fields: Vec<&str> = line.split(',').collect();
        let &[time, of, _, remote, event, state] = &fields[..] else { return Err(wrong()) };
        if event == LOST {
            return Err(format!("the kernel had no room for {state} events"));
        }
        let remote: SocketAddr = remote.parse().map_err(|_| wrong())?;
        if remote.port() != port {
            continue;
        }
        if !of.is_empty() && socket.is_empty() {
            of.clone_into(&mut socket);
        }
        if !of.is_empty() && socket != of {
            return Err("two sockets had this port".to_owned());
        }
        let at = instant(time).ok_or_else(wrong)?;
        match (event, state.parse::<u8>()) {
            (RECEIVED, _) => {
                let Some((arrived, segment)) = received.next() else {
                    return Err("more segments were processed than captured".to_owned());
                };
                let late = at.as_nanos().cast_signed() - arrived.as_nanos().cast_signed();
                ahead = Some(ahead.map_or(late, |ahead: i64| ahead.min(late)));
                events.push((at, What::Received(*segment, standing(state).ok_or_else(wrong)?)));
            }
            // A timeout of the SYN, which the kernel counts otherwise.
            (STATE, _) if at < opened => {}
            (STATE, Ok(RECOVERY)) => events.push((at, What::FastRetransmit)),
            (STATE, Ok(LOSS)) => events.push((at, What::Timeout)),
            _ => {}
        }
    }
    // Two clocks are set against each other once, and the machine may have been busy then. No segment
    // is processed before it arrives.
    if ahead.is_some_and(|ahead| ahead < EARLIEST) {
        return Err("the capture has not the times at which packets passed".to_owned());
    }
    let shift = ahead.map_or(0, |ahead| ahead - FASTEST);
    for (at, _) in &mut events {
        *at = Instant::from_nanos(at.as_nanos().saturating_add_signed(-shift));
    }
    let sent = sent.iter().filter(|(_, segment)| !segment.flags.has(Flags::SYN));
    let mut all: Vec<(Instant, What)> = sent.map(|(at, segment)| (*at, What::Sent(*segment))).collect();
    all.extend(events);
    // Stable: what is sent at the instant of an event comes before it.
    all.sort_by_key(|&(at, _)| at);
    Ok(Course { syns, events: all })
}

fn standing(text: &str) -> Option<Standing> {
    let mut numbers = text.split(' ').map(|number| number.parse::<u32>().ok());
    let (cwnd, ssthresh, una) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some(Standing { cwnd: u64::from(cwnd), ssthresh: u64::from(ssthresh), una: Seq(una) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::trace::COLUMNS;

    const PORT: u16 = 20_000;

    fn segment(from: u16, flags: u16, seq: u32) -> Segment {
        let destination_port = if from == PORT { 4000 } else { PORT };
        Segment { source_port: from, destination_port, flags: Flags(flags), seq: Seq(seq), ..Segment::EMPTY }
    }

    fn us(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    fn packets() -> Vec<(Instant, Segment)> {
        let (syn, ack) = (Flags::SYN.0, Flags::ACK.0);
        vec![
            (us(10), segment(4000, syn, 1)),
            (us(20), segment(PORT, syn | ack, 7)),
            (us(30), segment(4000, ack, 2)),
            (us(1000), segment(PORT, ack, 8)),
            (us(1012), segment(4000, ack, 3)),
            (us(2000), segment(PORT, ack, 9)),
        ]
    }

    fn trace(lines: &[(&str, &str, &str, &str)]) -> String {
        let line = |&(time, socket, event, state): &(&str, &str, &str, &str)| {
            format!("{time},{socket},10.77.0.1:4000,10.77.0.2:{PORT},{event},{state}\n")
        };
        format!("{COLUMNS}\n{}", lines.iter().map(line).collect::<String>())
    }

    /// The trace's clock is 50 us ahead: the second segment is processed 2 us after its arrival.
    #[test]
    fn the_fastest_segment_sets_the_trace_s_clock() {
        let lines = [
            ("0.000015", "", STATE, "4"),
            ("0.001060", "a", RECEIVED, "10 100 1"),
            ("0.001061", "", STATE, "3"),
            ("0.002051", "a", RECEIVED, "7 5 2"),
            ("0.002060", "", STATE, "4"),
            ("0.002061", "", STATE, "0"),
        ];
        let Course { syns, events } = join(&packets(), &trace(&lines), PORT).unwrap();
        assert_eq!(syns.map(|syn| syn.seq), [Seq(1), Seq(7)]);
        let told: Vec<(u64, String)> = events
            .iter()
            .map(|(at, what)| {
                let name = match what {
                    What::Sent(segment) => format!("sent {}", segment.seq.0),
                    What::Received(segment, standing) => {
                        format!("received {} at cwnd {}", segment.seq.0, standing.cwnd)
                    }
                    What::FastRetransmit => "recovery".to_owned(),
                    What::Timeout => "loss".to_owned(),
                };
                (at.as_nanos() / 1000, name)
            })
            .collect();
        let expected = [
            (30, "sent 2"),
            (1010, "received 8 at cwnd 10"),
            (1011, "recovery"),
            (1012, "sent 3"),
            (2001, "received 9 at cwnd 7"),
            (2010, "loss"),
        ];
        assert_eq!(told, expected.map(|(at, name)| (at, name.to_owned())));
    }

    #[test]
    fn a_recording_that_misses_something_is_refused() {
        let received = ("0.001", "a", RECEIVED, "1 2 3");
        let refused = |lines: &[(&str, &str, &str, &str)]| join(&packets(), &trace(lines), PORT).err().unwrap();
        assert!(refused(&[received; 3]).contains("than captured"));
        assert!(refused(&[received, ("0.002", "b", RECEIVED, "1 2 3")]).contains("two sockets"));
        assert!(refused(&[("0.001", "a", RECEIVED, "1 2")]).contains("line 2"));
        let early = ("0.000200", "a", RECEIVED, "1 2 3");
        let mut late = packets();
        late[3].0 = us(1201);
        assert!(join(&late, &trace(&[early]), PORT).err().unwrap().contains("has not the times"));
        let lost = format!("{COLUMNS}\n0.0,,,,{LOST},7\n");
        assert!(join(&packets(), &lost, PORT).err().unwrap().contains("7 events"));
        assert!(join(&packets()[..1], &trace(&[]), PORT).err().unwrap().contains("handshake"));
    }
}
