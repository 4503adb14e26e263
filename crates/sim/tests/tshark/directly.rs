//! Two connections with nothing between them but a delay and listed losses: what no scenario has. Sequence numbers and
//! timestamps that wrap, IPv6, a reader who makes the window close, probes into it, and each way to end.

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::segment::Flags;
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine, Kind};
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};
use eifel_tcp::{Connection, Event, Ports, Settings, State};

use crate::Reasons;
use crate::capture::{Seen, write};
use crate::dissect::{Frame, dissect};

const DELAY: Duration = Duration::from_millis(15);
const WRITTEN: usize = 60_000;

/// How the reading end behaves after all is read.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Fin,
    Reset,
}

/// What was sent, as the writing end's engine knows it, beside the capture at that end.
struct Talk {
    packets: Vec<Seen>,
    /// Kinds of what the writing end has sent that takes positions, in order.
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

/// A segment under way.
struct Flying {
    at: Instant,
    to_writer: bool,
    seen: Seen,
}

/// Every tenth data segment is lost once; the reader reads a little now and then.
fn talk(end: End) -> Talk {
    let (near, far) = (Ports { local: 49152, remote: 5001 }, Ports { local: 5001, remote: 49152 });
    let mut ends = [
        Connection::connect(&settings(1), engine(), near, Seq(u32::MAX - 20_000)),
        Connection::listen(&settings(2), engine(), far, Seq(u32::MAX)),
    ];
    let written: Vec<u8> = (0..WRITTEN).map(|at| (at % 251) as u8).collect();
    let (mut read, mut sent) = (Vec::new(), 0);
    let (mut flying, mut done): (Vec<Flying>, _) = (Vec::new(), Talk { packets: Vec::new(), kinds: Vec::new() });
    let (mut now, mut reads_at) = (Instant::ZERO, Instant::ZERO + Duration::from_millis(700));
    assert_eq!(ends[0].write(&written), WRITTEN);
    while ends.iter().any(|one| one.state() != State::Closed) {
        for from in [0, 1] {
            while let Some(out) = eifel_talk::next(&mut ends[from], now) {
                let payload = eifel_talk::payload(&ends[from], &out);
                let seen =
                    Seen { nanos: now.as_nanos(), addresses: addresses(from == 0), segment: out.segment, payload };
                if from == 0 {
                    done.packets.push(seen.clone());
                    done.kinds.extend(out.transmission.map(|sent| sent.kind));
                    sent += u32::from(out.segment.payload_len > 0);
                }
                if from == 1 || out.segment.payload_len == 0 || sent % 10 != 0 {
                    flying.push(Flying { at: now + DELAY, to_writer: from == 1, seen });
                }
            }
        }
        for one in &mut ends {
            while let Some(event) = one.poll_event() {
                assert!(!matches!(event, Event::TimedOut), "{event:?}");
                if event == Event::PeerClosed {
                    one.close();
                }
            }
        }
        let due = flying.iter().map(|flying| flying.at).min().unwrap_or(Instant::NEVER);
        let timers = ends[0].poll_timeout().min(ends[1].poll_timeout());
        now = due.min(timers).min(reads_at);
        assert_ne!(now, Instant::NEVER, "{end:?}: all wait: {:?} {:?}", ends[0].state(), ends[1].state());
        let (here, still) = flying.into_iter().partition(|flying| flying.at <= now);
        flying = still;
        let here: Vec<Flying> = here;
        for Flying { to_writer, mut seen, .. } in here {
            ends[usize::from(!to_writer)].handle_segment(now, &seen.segment, &seen.payload);
            if to_writer {
                seen.nanos = now.as_nanos();
                done.packets.push(seen);
            }
        }
        ends.iter_mut().for_each(|one| one.handle_timeout(now));
        if now >= reads_at {
            let mut bytes = vec![0; 5000];
            let count = ends[1].read(&mut bytes);
            read.extend_from_slice(&bytes[..count]);
            reads_at += Duration::from_millis(2500);
            if read.len() == WRITTEN {
                reads_at = Instant::NEVER;
                match end {
                    End::Fin => ends[0].close(),
                    End::Reset => ends[1].abort(),
                }
            }
        }
    }
    assert!(read == written, "{end:?}: other bytes than were written");
    done
}

#[test]
fn closed_windows_probes_wraps_and_ends_are_so_to_wireshark() {
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
    // First position beyond the last probe, and the window that the reader has announced last.
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
