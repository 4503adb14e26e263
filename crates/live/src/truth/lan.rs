//! Records a LAN: veth devices, and a router whose queue drops.
//!
//! No box slows these packets, so round trips take microseconds, the sender's device gets large
//! segments, and the kernel's processors reorder. A packet's fate follows from the captures of both
//! ends: IP identification and sequence number tell one transmission from another.

use super::draw::{Draw, Lan};
use super::record::{AFTER, Beside, KEPT, KERNEL, PLACES, WATCH};
use super::traffic::{Closes, Running};
use crate::capture::Capture;
use crate::hiccup::Fate;
use crate::hiccup::log::COLUMNS;
use crate::judge::frames::packets_of;
use crate::side::Side;
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::kernel::Watcher;
use crate::system::namespace::Namespace;
use crate::system::trace::Tracer;
use crate::system::wait;
use eifel_base::time::{Duration, Instant};
use eifel_capture::frame::decode::Packet;
use eifel_packet::segment::Flags;
use eifel_path::parcel::DropCause;
use eifel_watch::Tap;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The router's address on both sides.
const ROUTER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 254);
/// Bytes that the router's queue sends at once.
const BURST: u64 = 64 << 10;
/// The longest packet that a device gets.
const LONGEST: usize = 65_536;
/// The control bits that only the last piece of a large segment has.
const LAST: u16 = Flags::FIN.0 | Flags::PSH.0;
/// Processors give packets times that differ from their order by less than this, in nanoseconds.
const MOST_OUT_OF_ORDER: u64 = 1_000_000;
/// The hop limit of packets that no router has passed.
const FRESH: u8 = 64;

/// Runs the connections over the LAN, and writes the captures of all places, the log of the path,
/// and what the sender's kernel tells into `own`.
pub fn run(draw: &Draw, lan: Lan, own: &Path, port: u16, beside: Beside) -> Result<(), Error> {
    fs::create_dir_all(own).map_err(|error| Error::new(own.display().to_string(), &error, ""))?;
    let (near, router, far) = (Namespace::new()?, Namespace::new()?, Namespace::new()?);
    connect(&near, &router, &far)?;
    shape(&router, lan)?;
    for namespace in [&near, &far] {
        namespace.set(&draw.kernel_settings())?;
        draw.limit_segments(namespace, "lan")?;
    }
    let clock = Clock::start();
    let watcher = Watcher::begin(&near, clock, own, PLACES[0])?;
    let tracer = Tracer::begin(clock, &own.join("trace.csv"), Side::addresses(), None)?;
    let places = [&near, &router, &far].into_iter().zip(PLACES);
    let taps = places.map(|(namespace, place)| Tapped::begin(namespace, place)).collect::<Result<Vec<_>, _>>()?;
    let watched = beside.watched(&near)?;
    let running = Running::begin(&near, &far, draw.traffic, port, Closes::First)?;
    while !running.is_over() {
        thread::sleep(std::time::Duration::from_millis(5));
    }
    thread::sleep(std::time::Duration::from_nanos(AFTER.as_nanos()));
    taps.into_iter().try_for_each(|tap| tap.finish(own, clock))?;
    if let Some(watched) = watched {
        watched.finish(&own.join(WATCH))?;
    }
    watcher.finish()?;
    tracer.finish()?;
    running.finish()?;
    write_path(own)
}

/// Connects both ends to the router.
fn connect(near: &Namespace, router: &Namespace, far: &Namespace) -> Result<(), Error> {
    router.set(&[("net/ipv4/ip_forward", "1")])?;
    for (end, side, device) in [(near, Side::NEAR, "near"), (far, Side::FAR, "far")] {
        router.configure(&format!(
            "link add {device} type veth peer name lan netns {}\n\
             link set {device} addrgenmode none\nlink set {device} up\n\
             addr add {ROUTER}/32 dev {device}\nroute add {} dev {device}\n",
            end.path(),
            side.v4()
        ))?;
        end.configure(&format!(
            "link set lan addrgenmode none\nlink set lan up\naddr add {}/32 dev lan\n\
             route add {ROUTER} dev lan\nroute add default via {ROUTER}\n",
            side.v4()
        ))?;
    }
    Ok(())
}

/// Limits the rate and the queue of the router's device to the receiver.
fn shape(router: &Namespace, lan: Lan) -> Result<(), Error> {
    let Lan { rate_bps, queue_bytes } = lan;
    router.within(|| {
        let words = format!("qdisc add dev far root tbf rate {rate_bps}bit burst {BURST} limit {queue_bytes}");
        let output = Command::new("tc").args(words.split(' ')).output().map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            Error::new("run tc", &error, if missing { "install iproute2" } else { "" })
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(Error::new(format!("tc {words}"), &said.trim(), "")) }
    })
}

/// A packet as a device saw it: when, in nanoseconds since 1970, its first bytes, and its length.
type Seen = (u64, Vec<u8>, u32);

/// Corrects times that are later than those of packets that came behind. A busy kernel leaves some packets without a
/// time, and they get that at which they are read. Smaller differences are those of its processors.
fn order_times(seen: &mut [Seen]) {
    let mut behind = u64::MAX;
    for (nanos, ..) in seen.iter_mut().rev() {
        if *nanos > behind.saturating_add(MOST_OUT_OF_ORDER) {
            *nanos = behind;
        }
        behind = behind.min(*nanos);
    }
}

/// A thread that takes the packets of a namespace.
pub(super) struct Tapped {
    place: &'static str,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Seen>, Error>>,
}

impl Tapped {
    pub(super) fn begin(namespace: &Namespace, place: &'static str) -> Result<Self, Error> {
        let tap = namespace.within(|| Ok(Tap::open()?))?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut room, mut seen) = (vec![0; LONGEST], Vec::new());
            loop {
                // The last look comes after the request to stop, so no packet is missed.
                let last = asked.load(Ordering::Relaxed);
                while let Some((length, nanos)) = tap.read(&mut room)? {
                    if is_here(place, &room[..length]) {
                        seen.push((nanos, room[..length.min(KEPT)].to_vec(), length as u32));
                    }
                }
                if last {
                    break;
                }
                wait::until_readable(&[tap.as_fd()], Duration::from_millis(20))?;
            }
            match tap.missed()? {
                0 => Ok(seen),
                missed => Err(Error::new("capture", &format!("{missed} packets came faster than they were read"), "")),
            }
        });
        Ok(Self { place, stop, thread })
    }

    /// Ends, and writes the capture.
    pub(super) fn finish(self, own: &Path, clock: Clock) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        let mut seen = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        order_times(&mut seen);
        let mut capture = Capture::create(&own.join(format!("{}.pcapng", self.place)), clock)?;
        let place = capture.place(self.place)?;
        for (nanos, bytes, length) in &seen {
            capture.note_cut(*nanos, place, bytes, *length)?;
        }
        capture.finish()
    }
}

/// Returns whether a packet belongs to the capture of a place. The router has each packet on two
/// devices; that to the receiver counts.
fn is_here(place: &str, packet: &[u8]) -> bool {
    if place == KERNEL {
        return true;
    }
    let [version, .., hops] = packet.get(..9).unwrap_or(&[0; 9]) else { return false };
    let to_receiver = packet.get(16..20) == Some(&Side::FAR.v4().octets());
    version >> 4 == 4 && (place != PLACES[1] || (*hops < FRESH) == to_receiver)
}

/// A data segment on the path, told from others by what no router changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    ports: (u16, u16),
    identification: u16,
    seq: u32,
    len: u32,
    flags: u16,
}

/// The segments in a packet: large ones are cut as the device cuts them.
struct Cutter {
    /// The smaller MSS of both ends, by the sender's port.
    mss: BTreeMap<u16, u32>,
}

impl Cutter {
    fn pieces(&mut self, packet: &Packet) -> Vec<Piece> {
        let segment = &packet.segment;
        let to_receiver = packet.addresses.destination() == std::net::IpAddr::from(Side::FAR.v4());
        let port = if to_receiver { segment.source_port } else { segment.destination_port };
        if let (true, Some(mss)) = (segment.flags.has(Flags::SYN), segment.options.mss) {
            let known = self.mss.entry(port).or_insert(u32::from(mss));
            *known = (*known).min(u32::from(mss));
        }
        let options = if segment.options.timestamps.is_some() { 12 } else { 0 };
        let most = self.mss.get(&port).map_or(u32::MAX, |mss| mss - options);
        let offsets = (0..segment.payload_len).step_by(most as usize).enumerate();
        offsets
            .filter(|_| to_receiver)
            .map(|(index, offset)| Piece {
                ports: (segment.source_port, segment.destination_port),
                identification: packet.identification.wrapping_add(index as u16),
                seq: segment.seq.0.wrapping_add(offset),
                len: most.min(segment.payload_len - offset),
                // Only the last one ends what was written.
                flags: segment.flags.0 & if segment.payload_len - offset > most { !LAST } else { u16::MAX },
            })
            .collect()
    }
}

/// Writes the log of the path, as the box does: a line for each data segment that the sender sent.
fn write_path(own: &Path) -> Result<(), Error> {
    let pieces_of = |place: &str, take: &mut dyn FnMut(Piece, u64, &Packet)| {
        let mut cutter = Cutter { mss: BTreeMap::new() };
        packets_of(&own.join(format!("{place}.pcapng")), |packet, nanos, _| {
            cutter.pieces(packet).into_iter().for_each(|piece| take(piece, nanos, packet));
        })
    };
    let mut arrived: BTreeMap<Piece, u64> = BTreeMap::new();
    pieces_of(PLACES[2], &mut |piece, nanos, _| {
        arrived.entry(piece).or_insert(nanos);
    })?;
    let mut flows: BTreeMap<(u16, u16), (usize, u64)> = BTreeMap::new();
    let mut text = format!("{COLUMNS}\n");
    pieces_of(PLACES[0], &mut |piece, nanos, packet| {
        let known = flows.len();
        let (flow, number) = flows.entry(piece.ports).or_insert((known, 0));
        *number += 1;
        let out = arrived.remove(&piece);
        let fate = if out.is_some() { Fate::Delivered } else { Fate::Dropped(DropCause::Queue) };
        let (t_in, t_out) = (seconds(nanos), out.map(seconds).unwrap_or_default());
        let stamps = packet.segment.options.timestamps;
        let stamps = stamps.map_or(",".to_owned(), |stamps| format!("{},{}", stamps.value, stamps.echo));
        let Piece { ports: (source, destination), identification, seq, len, flags } = piece;
        let ack = packet.segment.ack.0;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "A,{t_in},{t_out},{},{seq},{ack},{len},{flags},{identification},{stamps},{t_out},{flow},{number},6,{len},,,\
             {source},{destination}",
            fate.name()
        );
    })?;
    let path = own.join("path.csv");
    fs::write(&path, text).map_err(|error| Error::new(path.display().to_string(), &error, ""))
}

/// Formats nanoseconds since 1970 as seconds.
fn seconds(nanos: u64) -> String {
    let at = Instant::from_nanos(nanos).as_nanos();
    format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_without_a_time_of_its_own_passed_no_later_than_those_behind_it() {
        let mut seen: Vec<Seen> = [1, 90, 90, 20, 19, 30].map(|millis| (millis * 1_000_000, Vec::new(), 0)).into();
        seen[4].0 += 500_000;
        order_times(&mut seen);
        let millis: Vec<_> = seen.iter().map(|(nanos, ..)| *nanos as f64 / 1e6).collect();
        assert_eq!(millis, [1.0, 19.5, 19.5, 20.0, 19.5, 30.0]);
    }
}
