//! The kernel's tracepoints of TCP: when a socket retransmits, and when its congestion state changes.
//!
//! They are read from an instance of tracefs, which has buffers of its own. Performance events
//! would vanish with the process, but some virtual machines sample none of an idle processor, and
//! timers expire there. The file system is mounted where nobody else sees it.

use super::Error;
use super::clock::Clock;
use super::namespace::{apart, leave};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// The columns of the file. Times are seconds since 1970, on the microsecond.
pub const COLUMNS: &str = "time,socket,local,remote,event,state";
/// The event of a retransmission that left.
pub const RETRANSMIT: &str = "retransmit";
/// The event of a new congestion state, which is then in the column `state`.
pub const STATE: &str = "state";
/// The event of a segment that an established connection receives. The column `state` then has what
/// stands before it is processed: cwnd and ssthresh in segments, and the oldest unacknowledged
/// sequence number.
pub const RECEIVED: &str = "received";
/// The event of records that did not fit into the kernel's buffer.
pub const LOST: &str = "lost";

/// Where tracefs is mounted in the thread's own mount namespace.
const TRACEFS: &str = "/sys/kernel/tracing";
/// The tracepoints that are always read.
const TRACEPOINTS: [&str; 2] = ["tcp_retransmit_skb", "tcp_cong_state_set"];
/// The tracepoint of received segments.
const PROBE: &str = "tcp_probe";
/// KiB of the kernel's buffer for each processor.
const BUFFER_KIB: &str = "1024";
/// The pause between two looks at the buffers.
const EVERY: Duration = Duration::from_millis(5);

/// Removes the instance once its standard input ends, which it does however this process ends.
const GUARDIAN: &str = "read _; while [ -d \"$0\" ] && ! rmdir \"$0\" 2>/dev/null; do sleep 0.05; done";

/// An instance of tracefs.
#[derive(Debug)]
struct Instance {
    guardian: Child,
}

impl Instance {
    /// Makes an instance that records the tracepoints, and opens its records. Received segments are
    /// recorded if they come from the port `received_from`.
    fn new(received_from: Option<u16>) -> Result<(Self, File), Error> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = format!("{TRACEFS}/instances/eifel-{}-{number}", std::process::id());
        apart(|| {
            leave(UnshareFlags::NEWNS | UnshareFlags::FS, "make a mount namespace")?;
            rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
                .map_err(Error::of("make mounts private"))?;
            rustix::mount::mount("tracefs", TRACEFS, "tracefs", MountFlags::empty(), None)
                .map_err(Error::of("mount tracefs"))?;
            let guardian = Command::new("sh")
                .args(["-c", GUARDIAN, &folder])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // A Ctrl-C at the terminal goes to the whole group, and would end it too early.
                .process_group(0)
                .spawn()
                .map_err(Error::of("run sh"))?;
            let instance = Self { guardian };
            let failed = |path: &str| {
                let tried = format!("use {path}");
                move |error: io::Error| Error::new(tried, &error, "")
            };
            fs::create_dir(&folder).map_err(failed(&folder))?;
            let write = |file: &str, text: &str| {
                let path = format!("{folder}/{file}");
                fs::write(&path, text).map_err(failed(&path))
            };
            write("trace_clock", "mono")?;
            write("buffer_size_kb", BUFFER_KIB)?;
            for tracepoint in TRACEPOINTS {
                write(&format!("events/tcp/{tracepoint}/enable"), "1")?;
            }
            if let Some(port) = received_from {
                write(&format!("events/tcp/{PROBE}/filter"), &format!("dport == {port}"))?;
                write(&format!("events/tcp/{PROBE}/enable"), "1")?;
            }
            let pipe = format!("{folder}/trace_pipe");
            let records = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe);
            Ok((instance, records.map_err(failed(&pipe))?))
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        // The instance is gone afterwards, or will be as soon as nobody reads it.
        let _ = self.guardian.wait();
    }
}

/// A line of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Record {
    /// Time is in microseconds since the machine was started.
    Event {
        micros: u64,
        socket: String,
        ends: [SocketAddr; 2],
        event: &'static str,
        state: String,
    },
    Lost(u64),
}

impl Record {
    /// Parses a line as `sh-7 [001] b..1. 11.070204: tcp_retransmit_skb: sport=5001 dport=80 ...`.
    fn parse(line: &str) -> Option<Self> {
        if let Some((_, lost)) = line.split_once("[LOST ") {
            return Some(Self::Lost(lost.split(' ').next()?.parse().ok()?));
        }
        let [retransmit, state] = TRACEPOINTS.map(|name| line.split_once(&format!(": {name}: ")));
        let (event, (head, fields)) = match (retransmit, state) {
            (Some(found), _) => (RETRANSMIT, found),
            (_, Some(found)) => (STATE, found),
            _ => (RECEIVED, line.split_once(&format!(": {PROBE}: "))?),
        };
        let value =
            |name: &str| fields.split_whitespace().find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        // A retransmission that the device refused did not leave.
        if value("err").is_some_and(|error| error != "0") {
            return None;
        }
        let (seconds, micros) = head.split_whitespace().next_back()?.split_once('.')?;
        let micros = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
        let socket = value("skaddr").unwrap_or_default().to_owned();
        if event == RECEIVED {
            let end = |name: &str| {
                let end: SocketAddr = value(name)?.parse().ok()?;
                Some(SocketAddr::new(end.ip().to_canonical(), end.port()))
            };
            let una = u32::from_str_radix(value("snd_una")?.trim_start_matches("0x"), 16).ok()?;
            let state = format!("{} {} {una}", value("snd_cwnd")?, value("ssthresh")?);
            return Some(Self::Event { micros, socket, ends: [end("src")?, end("dest")?], event, state });
        }
        let end = |address: &str, address_v6: &str, port: &str| {
            let name = if value("family")? == "AF_INET" { address } else { address_v6 };
            let address: IpAddr = value(name)?.parse().ok()?;
            Some(SocketAddr::new(address.to_canonical(), value(port)?.parse().ok()?))
        };
        Some(Self::Event {
            micros,
            socket,
            ends: [end("saddr", "saddrv6", "sport")?, end("daddr", "daddrv6", "dport")?],
            event,
            state: value("cong_state").unwrap_or_default().to_owned(),
        })
    }
}

/// A thread that writes the events of some sockets.
#[derive(Debug)]
pub struct Tracer {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<(), Error>>,
}

impl Tracer {
    /// Writes the events of sockets with one of the `local` addresses into a file, from now on. Received
    /// segments are events if they come from the port `received_from`.
    ///
    /// # Errors
    /// If the rights are missing, the kernel has no such tracepoints, or the file cannot be written.
    pub fn begin(clock: Clock, path: &Path, local: Vec<IpAddr>, received_from: Option<u16>) -> Result<Self, Error> {
        let (instance, mut records) = Instance::new(received_from)?;
        let failed = |error: io::Error| Error::new(path.display().to_string(), &error, "");
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        writeln!(file, "{COLUMNS}").map_err(failed)?;
        let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let monotonic = monotonic.tv_sec as u64 * 1_000_000_000 + monotonic.tv_nsec as u64;
        let since_1970 = clock.unix_nanos(clock.now()).wrapping_sub(monotonic) / 1000;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut text = Vec::new();
            loop {
                // The last look comes after the request to stop, so no event is missed.
                let last = asked.load(Ordering::Relaxed);
                drain(&mut records, &mut text).map_err(Error::of("read the events of sockets"))?;
                if last {
                    break;
                }
                thread::sleep(EVERY);
            }
            drop((records, instance));
            write_events(&String::from_utf8_lossy(&text), &local, since_1970, &mut file)
                .map_err(Error::of("write the events of sockets"))
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

/// Takes all records that there are.
fn drain(records: &mut File, text: &mut Vec<u8>) -> io::Result<()> {
    match records.read_to_end(text) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the events of sockets with one of the `local` addresses, in the order of time.
fn write_events(text: &str, local: &[IpAddr], since_1970: u64, to: &mut impl Write) -> io::Result<()> {
    let (mut events, mut lost) = (Vec::new(), 0);
    for record in text.lines().filter_map(Record::parse) {
        match record {
            Record::Lost(records) => lost += records,
            Record::Event { micros, socket, ends, event, state } => {
                if local.contains(&ends[0].ip()) {
                    events.push((since_1970 + micros, socket, ends, event, state));
                }
            }
        }
    }
    // The processors' buffers are merged as far as they are filled when they are read. The sort is
    // stable, so the events of one processor keep their order.
    events.sort_by_key(|&(micros, ..)| micros);
    for (micros, socket, [own, other], event, state) in events {
        writeln!(to, "{}.{:06},{socket},{own},{other},{event},{state}", micros / 1_000_000, micros % 1_000_000)?;
    }
    if lost > 0 {
        writeln!(to, "0.0,,,,{LOST},{lost}")?;
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRANSMITTED: &str = "  my: app-7  [001] .Ns2. 11911.652080: tcp_retransmit_skb: skbaddr=00000000d1fe5414 \
        skaddr=000000003c4f9442 family=AF_INET sport=45366 dport=5001 saddr=10.77.0.1 daddr=10.77.0.2 \
        saddrv6=::ffff:10.77.0.1 daddrv6=::ffff:10.77.0.2 state=TCP_ESTABLISHED err=0";
    const CHANGED: &str = "  <idle>-0  [001] ..s2. 11911.652054: tcp_cong_state_set: family=AF_INET6 sport=45366 \
        dport=5001 saddr=0.0.0.0 daddr=0.0.0.0 saddrv6=fd00::1 daddrv6=fd00::2 cong_state=4";

    const PROBED: &str = "  <idle>-0  [001] ..s2. 11911.652061: tcp_probe: family=AF_INET src=10.77.0.1:45366 \
        dest=10.77.0.2:5001 mark=0 data_len=0 snd_nxt=0x7 snd_una=0x5 snd_cwnd=12 ssthresh=2147483647 snd_wnd=65536 \
        srtt=9 rcv_wnd=8 sock_cookie=1 skbaddr=00000000d1fe5414 skaddr=000000003c4f9442";

    fn written(lines: &[&str], local: &str) -> String {
        let mut file = Vec::new();
        write_events(&lines.join("\n"), &[local.parse().unwrap()], 88_000_000, &mut file).unwrap();
        String::from_utf8(file).unwrap()
    }

    #[test]
    fn lines_of_both_tracepoints_become_events() {
        assert_eq!(
            written(&[RETRANSMITTED, CHANGED], "10.77.0.1"),
            "11999.652080,000000003c4f9442,10.77.0.1:45366,10.77.0.2:5001,retransmit,\n"
        );
        assert_eq!(
            written(&[RETRANSMITTED, CHANGED], "fd00::1"),
            "11999.652054,,[fd00::1]:45366,[fd00::2]:5001,state,4\n"
        );
        assert_eq!(written(&[RETRANSMITTED, CHANGED], "10.77.0.2"), "");
    }

    #[test]
    fn a_received_segment_has_the_windows_before_it() {
        let line = "11999.652061,000000003c4f9442,10.77.0.1:45366,10.77.0.2:5001,received,12 2147483647 5\n";
        assert_eq!(written(&[PROBED], "10.77.0.1"), line);
        let v6 = PROBED.replace("10.77.0.1:45366", "[fd77::1]:45366").replace("10.77.0.2:5001", "[fd77::2]:5001");
        assert_eq!(
            written(&[&v6], "fd77::1"),
            line.replace("10.77.0.1:", "[fd77::1]:").replace("10.77.0.2:", "[fd77::2]:")
        );
    }

    #[test]
    fn a_retransmission_that_did_not_leave_is_no_event() {
        assert_eq!(Record::parse(&RETRANSMITTED.replace("err=0", "err=-11")), None);
        // Older kernels report only those that left.
        assert!(Record::parse(&RETRANSMITTED.replace(" err=0", "")).is_some());
        assert_eq!(Record::parse(""), None);
    }

    #[test]
    fn events_are_in_the_order_of_time_and_lost_ones_are_counted() {
        let later = RETRANSMITTED.replace("11911.652080", "11912.000001");
        let lost = "CPU:1 [LOST 12 EVENTS]";
        let text = written(&[&later, lost, RETRANSMITTED], "10.77.0.1");
        let times: Vec<&str> = text.lines().map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(times, ["11999.652080", "12000.000001", "0.0"]);
        assert!(text.ends_with("0.0,,,,lost,12\n"));
    }
}
