//! Two connections with only a delay and regular losses between them, for cases that the scenarios
//! lack. Sequence numbers and timestamps wrap, packets use IPv6, and a slow reader closes the
//! window, so that it is probed. Connections end by FIN or by RST.

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::segment::Flags;
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine, Kind};
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};
use eifel_tcp::{Connection, Event, Ports, Settings, State};
use eifel_testkit::connections::{Flying, Pair};

use crate::Reasons;
use crate::capture::{Seen, write};
use crate::dissect::{Frame, dissect};

const DELAY: Duration = Duration::from_millis(15);
const WRITTEN: usize = 60_000;

/// How the connection ends after everything is read.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Fin,
    Reset,
}

/// The packets at the writing end, and the kinds of its transmissions according to its engine.
struct Talk {
    packets: Vec<Seen>,
    /// Kinds of the writing end's transmissions, in order.
    kinds: Vec<Kind>,
}

fn settings(ports: u16) -> Settings {
    // Both clocks wrap within the first second.
    let offset = u32::MAX - u32::from(ports % 7) * 100;
    Settings {
        receive_window: 9000,
        timestamps: Some(TimestampSettings { offset, ..TimestampSettings::default() }),
        send: SendKind::Held { buffer: WRITTEN },
        receive: ReceiveKind::Held,
        ..Settings::default()
    }
}

fn addresses(from_writer: bool) -> Addresses {
    let there = Addresses::V6 { source: "fd00::1".parse().unwrap(), destination: "fd00::2".parse().unwrap() };
    if from_writer { there } else { there.reversed() }
}

fn engine() -> Engine {
    Engine::new(&Config::default()).unwrap()
}

/// Runs the two connections. Every tenth data segment is lost. The reader reads up to 5000 bytes
/// every 2.5 s.
fn talk(end: End) -> Talk {
    let (near, far) = (Ports { local: 49152, remote: 5001 }, Ports { local: 5001, remote: 49152 });
    let mut pair = Pair::new([
        Connection::connect(&settings(1), engine(), near, Seq(u32::MAX - 20_000)),
        Connection::listen(&settings(2), engine(), far, Seq(u32::MAX)),
    ]);
    let written: Vec<u8> = (0..WRITTEN).map(|at| (at % 251) as u8).collect();
    let (mut read, mut sent) = (Vec::new(), 0);
    let mut done = Talk { packets: Vec::new(), kinds: Vec::new() };
    let mut reads_at = Instant::ZERO + Duration::from_millis(700);
    assert_eq!(pair.ends[0].write(&written), WRITTEN);
    while pair.ends.iter().any(|one| one.state() != State::Closed) {
        let now = pair.now;
        pair.send(|flying| {
            let of_data = flying.from == 0 && flying.sent.segment.payload_len > 0;
            if flying.from == 0 {
                done.packets.push(seen(now, flying));
                done.kinds.extend(flying.sent.transmission.map(|sent| sent.kind));
                sent += u32::from(of_data);
            }
            (!of_data || sent % 10 != 0).then_some(DELAY)
        });
        for one in &mut pair.ends {
            for event in eifel_testkit::connections::events(one) {
                assert!(event != Event::TimedOut, "{event:?}");
                if event == Event::PeerClosed {
                    one.shutdown_write();
                }
            }
        }
        let next = pair.due().min(reads_at);
        assert_ne!(next, Instant::NEVER, "{end:?}: all wait: {:?}", pair.ends.each_ref().map(Connection::state));
        if let Some(flying) = pair.step(next).filter(|flying| flying.from == 1) {
            done.packets.push(seen(next, &flying));
        }
        if next >= reads_at {
            let mut bytes = vec![0; 5000];
            let count = pair.ends[1].read(&mut bytes);
            read.extend_from_slice(&bytes[..count]);
            reads_at += Duration::from_millis(2500);
            if read.len() == WRITTEN {
                reads_at = Instant::NEVER;
                match end {
                    End::Fin => pair.ends[0].shutdown_write(),
                    End::Reset => pair.ends[1].abort(),
                }
            }
        }
    }
    assert!(read == written, "{end:?}: other bytes than were written");
    done
}

fn seen(now: Instant, flying: &Flying) -> Seen {
    let addresses = addresses(flying.from == 0);
    Seen { nanos: now.as_nanos(), addresses, segment: flying.sent.segment, payload: flying.payload.clone() }
}

#[test]
fn wireshark_agrees_on_closed_windows_probes_wraps_and_ends() {
    let mut reasons = Reasons::default();
    for end in [End::Fin, End::Reset] {
        let talk = talk(end);
        let resets = talk.packets.iter().filter(|seen| seen.segment.flags.has(Flags::RST)).count();
        assert_eq!(resets, usize::from(end == End::Reset));
        let Some(frames) = dissect(&format!("directly-{end:?}"), &write(&talk.packets)) else { return };
        assert_eq!(frames.len(), talk.packets.len());
        compare(&talk, &frames, &mut reasons);
    }
    println!("differences:\n{reasons}");
}

fn compare(talk: &Talk, frames: &[Frame], reasons: &mut Reasons) {
    let mut kinds = talk.kinds.iter();
    let (mut closed, mut probes, mut again) = (0, 0, 0);
    // The first position after the last probe, and the window that the reader announced last.
    let (mut probed, mut open) = (None, 0);
    for (frame, seen) in frames.iter().zip(&talk.packets) {
        let control = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0;
        let zero = seen.segment.window == 0 && seen.segment.flags.0 & control == 0;
        assert_eq!(frame.is("zero_window"), zero, "{frame:?}");
        closed += u32::from(zero);
        if frame.is("lost_segment") || frame.is("ack_lost_segment") {
            let after = probed.is_some_and(|probe| if frame.ours { frame.seq == probe } else { frame.ack >= probe });
            let reason = after.then_some("after a probe, whose byte Wireshark does not count as sent");
            reasons.note(reason, &(frame, probed));
        }
        if !frame.ours {
            open = frame.window;
            continue;
        }
        if frame.len == 0 {
            continue;
        }
        let kind = *kinds.next().unwrap();
        probes += u32::from(kind == Kind::WindowProbe);
        probed = (kind == Kind::WindowProbe).then_some(frame.seq + frame.len).or(probed);
        let retransmission = matches!(kind, Kind::Retransmission(_));
        again += u32::from(retransmission);
        if frame.is("zero_window_probe") != (kind == Kind::WindowProbe) {
            let reason = match kind {
                Kind::WindowProbe if frame.is("keep_alive") => Some("a repeated probe: to Wireshark it keeps alive"),
                Kind::WindowProbe if open > 0 => Some("what fits into a small window when waiting for more is over"),
                _ => None,
            };
            reasons.note(reason, &(frame, kind));
        }
        if frame.goes_back() != retransmission {
            reasons.note(None, &(frame, kind));
        }
    }
    assert_eq!(kinds.next(), None);
    assert!(closed > 5 && probes > 3 && again > 3, "{closed} {probes} {again}");
}
