//! The kernel's tracepoints of TCP: when a socket retransmits, and when its congestion state changes.
//!
//! They are read as performance events, which vanish with the process. Only the numbers and layouts
//! of the tracepoints come from tracefs. It is mounted where nobody else sees it.

use super::Error;
use super::clock::Clock;
use super::namespace::{apart, leave};
use perf_event::data::Record;
use perf_event::events::Tracepoint;
use perf_event::{Builder, SampleFlag, Sampler};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The columns of the file. Times are seconds since 1970, on the nanosecond.
pub const COLUMNS: &str = "time,socket,local,remote,event,state";
/// The event of a retransmission that left.
pub const RETRANSMIT: &str = "retransmit";
/// The event of a new congestion state, which is then in the column `state`.
pub const STATE: &str = "state";
/// The event of records that did not fit into the kernel's buffer.
pub const LOST: &str = "lost";

/// Where tracefs is mounted in the thread's own mount namespace.
const TRACEFS: &str = "/sys/kernel/tracing";
/// Bytes of the kernel's buffer for each tracepoint and processor.
const BUFFER: usize = 1 << 18;
/// The pause between two looks at the buffers.
const EVERY: Duration = Duration::from_millis(5);

/// The place of a field in a tracepoint's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: usize,
    size: usize,
}

/// A tracepoint: its number, and the places of its fields.
#[derive(Clone, Debug)]
struct Layout {
    id: u64,
    format: String,
}

impl Layout {
    fn read(name: &str) -> Result<Self, Error> {
        let read = |file: &str| {
            let path = format!("{TRACEFS}/events/tcp/{name}/{file}");
            std::fs::read_to_string(&path).map_err(|error| Error::new(format!("read {path}"), &error, ""))
        };
        let id = read("id")?.trim().parse().map_err(Error::of("read the number of a tracepoint"))?;
        Ok(Self { id, format: read("format")? })
    }

    fn field(&self, name: &str) -> Result<Field, Error> {
        field(&self.format, name).ok_or_else(|| Error::new("read a tracepoint", &format!("no field {name}"), ""))
    }
}

/// Finds a field in a format of tracefs, as in `field:__u16 sport; offset:28; size:2; signed:0;`.
fn field(format: &str, name: &str) -> Option<Field> {
    format.lines().find_map(|line| {
        let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
        let declared = parts.next()?.rsplit([' ', '*']).next()?;
        let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
        (declared.split('[').next()? == name).then_some(())?;
        Some(Field { offset: number("offset:")?, size: number("size:")? })
    })
}

/// Where the fields of a record are that name its socket.
#[derive(Clone, Copy, Debug)]
struct SocketFields {
    socket: Field,
    local_port: Field,
    remote_port: Field,
    family: Field,
    v4: [Field; 2],
    v6: [Field; 2],
}

impl SocketFields {
    fn of(layout: &Layout) -> Result<Self, Error> {
        Ok(Self {
            socket: layout.field("skaddr")?,
            local_port: layout.field("sport")?,
            remote_port: layout.field("dport")?,
            family: layout.field("family")?,
            v4: [layout.field("saddr")?, layout.field("daddr")?],
            v6: [layout.field("saddr_v6")?, layout.field("daddr_v6")?],
        })
    }

    /// Returns the socket's number and its two ends.
    fn read(&self, record: &[u8]) -> Option<(u64, [SocketAddr; 2])> {
        let is_v4 = number(record, self.family)? == libc::AF_INET as u64;
        let end = |v4: Field, v6: Field, port: Field| {
            let address: IpAddr = if is_v4 {
                Ipv4Addr::from(<[u8; 4]>::try_from(bytes(record, v4)?).ok()?).into()
            } else {
                Ipv6Addr::from(<[u8; 16]>::try_from(bytes(record, v6)?).ok()?).to_canonical()
            };
            Some(SocketAddr::new(address, number(record, port)? as u16))
        };
        let ends = [end(self.v4[0], self.v6[0], self.local_port)?, end(self.v4[1], self.v6[1], self.remote_port)?];
        Some((number(record, self.socket)?, ends))
    }
}

fn bytes(record: &[u8], field: Field) -> Option<&[u8]> {
    record.get(field.offset..field.offset + field.size)
}

/// Reads a field in the machine's order of bytes.
fn number(record: &[u8], field: Field) -> Option<u64> {
    let bytes = bytes(record, field)?;
    match *bytes {
        [one] => Some(one.into()),
        [a, b] => Some(u16::from_ne_bytes([a, b]).into()),
        [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d]).into()),
        _ => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
    }
}

/// A tracepoint that is being read on all processors.
struct Source {
    event: &'static str,
    socket: SocketFields,
    /// The field of the congestion state, or of a retransmission's error.
    value: Field,
    samplers: Vec<Sampler>,
}

impl Source {
    fn begin(event: &'static str, tracepoint: &str, value: &str) -> Result<Self, Error> {
        let layout = Layout::read(tracepoint)?;
        let processors = thread::available_parallelism().map_err(Error::of("count the processors"))?.get();
        let sampler = |processor| {
            let flags = SampleFlag::TIME | SampleFlag::RAW;
            let mut sampler = Builder::new(Tracepoint::with_id(layout.id))
                .any_pid()
                .one_cpu(processor)
                .include_kernel()
                .sample(flags)
                .sample_period(1)
                .clockid(perf_event::Clock::MONOTONIC)
                .build()
                .and_then(|counter| counter.sampled(BUFFER))?;
            sampler.enable()?;
            Ok(sampler)
        };
        let samplers: std::io::Result<Vec<Sampler>> = (0..processors).map(sampler).collect();
        let samplers = samplers.map_err(Error::of("read a tracepoint"))?;
        Ok(Self { event, socket: SocketFields::of(&layout)?, value: layout.field(value)?, samplers })
    }
}

/// An event of a socket.
struct Event {
    nanos: u64,
    socket: u64,
    ends: [SocketAddr; 2],
    event: &'static str,
    state: u64,
}

/// A thread that writes the events of some sockets.
#[derive(Debug)]
pub struct Tracer {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<(), Error>>,
}

impl Tracer {
    /// Writes the events of sockets with one of the `local` addresses into a file, from now on.
    ///
    /// # Errors
    /// If the rights are missing, the kernel has no such tracepoints, or the file cannot be written.
    pub fn begin(clock: Clock, path: &Path, local: Vec<IpAddr>) -> Result<Self, Error> {
        let mut sources = apart(|| {
            leave(UnshareFlags::NEWNS | UnshareFlags::FS, "make a mount namespace")?;
            rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
                .map_err(Error::of("make mounts private"))?;
            rustix::mount::mount("tracefs", TRACEFS, "tracefs", MountFlags::empty(), None)
                .map_err(Error::of("mount tracefs"))?;
            Ok([
                Source::begin(RETRANSMIT, "tcp_retransmit_skb", "err")?,
                Source::begin(STATE, "tcp_cong_state_set", "cong_state")?,
            ])
        })?;
        let failed = |error: std::io::Error| Error::new(path.display().to_string(), &error, "");
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        writeln!(file, "{COLUMNS}").map_err(failed)?;
        let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let monotonic = monotonic.tv_sec as u64 * 1_000_000_000 + monotonic.tv_nsec as u64;
        let since_1970 = clock.unix_nanos(clock.now()).wrapping_sub(monotonic);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut waiting, mut lost) = (Vec::new(), 0);
            loop {
                // The last look comes after the request to stop, so no event is missed.
                let last = asked.load(Ordering::Relaxed);
                sources.iter_mut().for_each(|source| lost += drain(source, &local, &mut waiting));
                if last {
                    break;
                }
                thread::sleep(EVERY);
            }
            // The buffers of processors and tracepoints are read one after the other.
            waiting.sort_by_key(|event: &Event| event.nanos);
            for Event { nanos, socket, ends: [own, other], event, state } in waiting {
                let nanos = nanos.wrapping_add(since_1970);
                let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
                let state = if event == STATE { state.to_string() } else { String::new() };
                writeln!(file, "{seconds}.{fraction:09},{socket:x},{own},{other},{event},{state}")
                    .map_err(Error::of("write the events of sockets"))?;
            }
            if lost > 0 {
                writeln!(file, "0.0,,,,{LOST},{lost}").map_err(Error::of("write the events of sockets"))?;
            }
            file.flush().map_err(Error::of("write the events of sockets"))
        });
        Ok(Self { stop, thread })
    }

    /// Writes the last events, and ends.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Takes all records of a tracepoint. Returns how many the kernel had no room for.
fn drain(source: &mut Source, local: &[IpAddr], events: &mut Vec<Event>) -> u64 {
    let mut lost = 0;
    for sampler in &mut source.samplers {
        while let Some(record) = sampler.next_record() {
            match record.parse_record() {
                Ok(Record::Sample(sample)) => {
                    let (Some(nanos), Some(raw)) = (sample.time(), sample.raw()) else { continue };
                    let Some((socket, ends)) = source.socket.read(raw) else { continue };
                    let Some(state) = number(raw, source.value) else { continue };
                    let failed = source.event == RETRANSMIT && state != 0;
                    if local.contains(&ends[0].ip()) && !failed {
                        events.push(Event { nanos, socket, ends, event: source.event, state });
                    }
                }
                Ok(Record::Lost(records)) => lost += records.lost,
                _ => {}
            }
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: tcp_x\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
                          \tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n\
                          \tfield:__u8 saddr[4];\toffset:22;\tsize:4;\tsigned:0;\n";

    #[test]
    fn fields_are_found_by_their_declared_names() {
        assert_eq!(field(FORMAT, "skaddr"), Some(Field { offset: 8, size: 8 }));
        assert_eq!(field(FORMAT, "saddr"), Some(Field { offset: 22, size: 4 }));
        assert_eq!((field(FORMAT, "addr"), field(FORMAT, "daddr")), (None, None));
    }

    #[test]
    fn numbers_have_the_size_of_their_field() {
        let record = 0x0102_0304_0506_0708_u64.to_ne_bytes();
        let at = |offset, size| number(&record, Field { offset, size });
        assert_eq!(at(0, 8), Some(0x0102_0304_0506_0708));
        assert_eq!(at(0, 2), Some(u16::from_ne_bytes([record[0], record[1]]).into()));
        assert_eq!((at(7, 1), at(7, 2)), (Some(record[7].into()), None));
    }
}
