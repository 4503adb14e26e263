//! Reads a kernel's own view of its TCP during a run: the counters of a namespace, and TCP_INFO of its sockets.

use super::Error;
use super::clock::Clock;
use super::namespace::Namespace;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The most sockets whose last row is kept, so that an unchanged row is not written again.
const MOST_SOCKETS: usize = 4096;
/// The shortest pause between two looks.
const EVERY: Duration = Duration::from_millis(4);

/// A thread that looks at the counters and sockets of a namespace.
#[derive(Debug)]
pub struct Watcher {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Result<(), Error>>,
}

impl Watcher {
    /// Writes changes from now on into `SIDE.counters.csv` and `SIDE.sockets.csv` in `folder`.
    ///
    /// # Errors
    /// Those of files.
    pub fn begin(namespace: &Namespace, clock: Clock, folder: &Path, side: &str) -> Result<Self, Error> {
        let file = |kind: &str, header: &str| {
            let path = folder.join(format!("{side}.{kind}.csv"));
            let failed = |error| Error::new(path.display().to_string(), &error, "");
            let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
            writeln!(file, "{header}").map_err(failed)?;
            Ok::<_, Error>(file)
        };
        let (counters, sockets) = (file("counters", "time,name,value")?, file("sockets", SOCKETS)?);
        let (stop, namespace) = (Arc::new(AtomicBool::new(false)), namespace.try_clone()?);
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            namespace.enter()?;
            let mut look = Sample { clock, counters, sockets, known: BTreeMap::new(), last: BTreeMap::new() };
            let diagnosis = diagnosis().ok();
            let mut text = [String::new(), String::new()];
            loop {
                // The last look comes after the request to stop, so no change is missed.
                let (last, begun) = (asked.load(Ordering::Relaxed), clock.now());
                look.counters(&mut text)?;
                if let Some(socket) = &diagnosis {
                    look.sockets(socket)?;
                }
                if last {
                    look.counters.flush().map_err(Error::of("write counters"))?;
                    return look.sockets.flush().map_err(Error::of("write sockets"));
                }
                thread::sleep(pause(Duration::from_nanos(clock.now().since(begun).as_nanos())));
            }
        });
        Ok(Self { stop, thread })
    }

    /// Looks a last time, and ends.
    ///
    /// # Errors
    /// Those of files.
    pub fn finish(self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

struct Sample {
    clock: Clock,
    counters: BufWriter<File>,
    sockets: BufWriter<File>,
    known: BTreeMap<String, u64>,
    /// The last row of each socket.
    last: BTreeMap<String, String>,
}

/// Returns a time in nanoseconds since 1970 as seconds with six decimals.
fn seconds(unix_nanos: u64) -> String {
    format!("{}.{:06}", unix_nanos / 1_000_000_000, unix_nanos % 1_000_000_000 / 1000)
}

impl Sample {
    fn counters(&mut self, before: &mut [String; 2]) -> Result<(), Error> {
        let time = seconds(self.clock.unix_nanos(self.clock.now()));
        for (text, table) in before.iter_mut().zip(["snmp", "netstat"]) {
            let path = format!("/proc/thread-self/net/{table}");
            let now = std::fs::read_to_string(&path).map_err(Error::of(&path))?;
            if now == *text {
                continue;
            }
            for (name, value) in counted(&now) {
                if self.known.get(name) != Some(&value) {
                    self.known.insert(name.to_owned(), value);
                    writeln!(self.counters, "{time},{name},{value}").map_err(Error::of("write counters"))?;
                }
            }
            *text = now;
        }
        Ok(())
    }

    fn sockets(&mut self, socket: &OwnedFd) -> Result<(), Error> {
        let time = seconds(self.clock.unix_nanos(self.clock.now()));
        for (name, row) in dump(socket, CONNECTED)? {
            if is_new(&mut self.last, &name, &row) {
                writeln!(self.sockets, "{time},{name},{row}").map_err(Error::of("write sockets"))?;
            }
        }
        Ok(())
    }
}

/// Returns whether the row of a socket differs from its last one, and keeps it. If too many rows
/// are kept, all are forgotten, and each is written once more.
fn is_new(last: &mut BTreeMap<String, String>, name: &str, row: &str) -> bool {
    if last.get(name).is_some_and(|before| before == row) {
        return false;
    }
    if last.len() >= MOST_SOCKETS {
        last.clear();
    }
    last.insert(name.to_owned(), row.to_owned());
    true
}

/// Returns the pause after a look that lasted `took`. With many sockets a look is slow, so four
/// fifths of the time stay free.
fn pause(took: Duration) -> Duration {
    EVERY.max(took * 4)
}

/// Returns the TCP counters in a table of the kernel, which has two lines for each protocol: names
/// and values. Zeros are left out.
fn counted(table: &str) -> impl Iterator<Item = (&str, u64)> {
    let mut lines = table.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
        .filter(|(names, _)| names.starts_with("Tcp:") || names.starts_with("TcpExt:"))
        .flat_map(|(names, values)| names.split(' ').skip(1).zip(values.split(' ').skip(1)))
        // The number of current connections is no counter.
        .filter(|(name, _)| *name != "CurrEstab")
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .filter(|&(_, value)| value > 0)
}

/// The columns of `SIDE.sockets.csv`: `ca_state` is 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
const SOCKETS: &str = "time,local_port,remote_port,ca_state,cwnd,ssthresh,rto_us,unacked,lost,retrans,total_retrans,\
                       reordering,dsack_dups,reord_seen";

/// Opens a socket for questions about sockets (sock_diag(7)).
fn diagnosis() -> rustix::io::Result<OwnedFd> {
    rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// NLM_F_REQUEST and NLM_F_DUMP.
const DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const INET_DIAG_INFO: u16 = 2;
const TCP: u8 = 6;
/// The state LISTEN alone.
const LISTENING: u32 = 1 << 10;
/// All states but LISTEN and CLOSE.
const CONNECTED: u32 = 0xfff & !LISTENING & !(1 << 7);
const HEADER: usize = 16;
const MESSAGE: usize = 72;

/// Returns whether a TCP socket listens in the namespace of the calling thread. `/proc/net/tcp`
/// says it too, but for it the kernel walks its whole table of connections, which takes
/// milliseconds.
///
/// # Errors
/// If the kernel does not answer questions about sockets.
pub fn has_listener() -> Result<bool, Error> {
    let socket = diagnosis().map_err(|error| Error::new("ask about sockets", &error, ""))?;
    Ok(!dump(&socket, LISTENING)?.is_empty())
}

/// Returns the TCP sockets of the namespace in these states: ports, and the other columns.
fn dump(socket: &OwnedFd, states: u32) -> Result<Vec<(String, String)>, Error> {
    let failed = |error: rustix::io::Errno| Error::new("ask about sockets", &error, "");
    let mut found = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut request = Vec::with_capacity(72);
        request.extend(72_u32.to_ne_bytes());
        request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        request.extend(DUMP.to_ne_bytes());
        request.extend([0; 8]);
        request.extend([family as u8, TCP, 1 << (INET_DIAG_INFO - 1), 0]);
        request.extend(states.to_ne_bytes());
        request.extend([0; 48]);
        rustix::io::write(socket, &request).map_err(failed)?;
        let mut room = vec![0; 1 << 15];
        loop {
            let length = rustix::io::read(socket, &mut room).map_err(failed)?;
            if !answered(&room[..length], &mut found)? || length == 0 {
                break;
            }
        }
    }
    Ok(found)
}

/// Reads the messages of an answer (netlink(7)); returns whether more answers follow.
fn answered(mut rest: &[u8], found: &mut Vec<(String, String)>) -> Result<bool, Error> {
    while let Some(size) = number(rest, 0).map(|size| size as usize).filter(|&size| size >= HEADER) {
        let (message, after) = rest.split_at(size.min(rest.len()));
        let kind = message.get(4..6).and_then(|kind| Some(u16::from_ne_bytes(kind.try_into().ok()?)));
        match (kind, message.get(HEADER..)) {
            (Some(NLMSG_DONE) | None, _) | (_, None) => return Ok(false),
            // Nothing follows an error.
            (Some(NLMSG_ERROR), Some(content)) => return Err(refused(content)),
            (Some(_), Some(content)) => found.extend(described(content)),
        }
        rest = &after[(size.next_multiple_of(4) - size).min(after.len())..];
    }
    Ok(true)
}

/// Returns the error of an `nlmsgerr`, which begins with the negative error number.
fn refused(message: &[u8]) -> Error {
    let number = number(message, 0).map_or(0, |number| (number as i32).wrapping_neg());
    Error::new("ask about sockets", &std::io::Error::from_raw_os_error(number), "")
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads an `inet_diag_msg` and the `tcp_info` behind it (linux/inet_diag.h, linux/tcp.h).
fn described(message: &[u8]) -> Option<(String, String)> {
    let port = |at: usize| Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let name = format!("{},{}", port(4)?, port(6)?);
    let mut rest = message.get(MESSAGE..)?;
    loop {
        let size = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
        if kind == INET_DIAG_INFO {
            let info = rest.get(4..size)?;
            // cwnd, ssthresh, rto, unacked, lost, retrans, total_retrans, reordering, dsack_dups, reord_seen.
            let places = [80, 76, 8, 24, 32, 36, 100, 88, 216, 220];
            let columns = places.map(|at| number(info, at).map_or(String::new(), |value| value.to_string()));
            return Some((name, format!("{},{}", info.get(1)?, columns.join(","))));
        }
        rest = rest.get(size.next_multiple_of(4).max(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_netlink_error_is_reported() {
        let error = refused(&(-libc::ENOENT).to_ne_bytes()).to_string();
        assert!(error.contains("ask about sockets") && error.contains("No such file"), "{error}");
    }

    #[test]
    fn counters_list_the_nonzero_tcp_counters() {
        let table = "Ip: Forwarding\nIp: 9\nTcp: CurrEstab ActiveOpens RetransSegs InErrs\nTcp: 7 1 25 0\n\
                     TcpExt: TCPTimeouts Odd\nTcpExt: 3 -1\nIpExt: InOctets\nIpExt: 4\n";
        let found: Vec<_> = counted(table).collect();
        assert_eq!(found, [("ActiveOpens", 1), ("RetransSegs", 25), ("TCPTimeouts", 3)]);
        assert_eq!(counted("Tcp: ActiveOpens\n").count(), 0, "its values are missing");
    }

    #[test]
    fn a_time_prints_six_decimals() {
        let all = [0, 999, 1000, 1_234_567_891_999, 59_000_000_000].map(seconds);
        assert_eq!(all, ["0.000000", "0.000000", "0.000001", "1234.567891", "59.000000"]);
    }

    #[test]
    fn a_sockets_row_is_written_only_if_it_changed_or_was_forgotten() {
        let mut last = BTreeMap::new();
        let mut new = |number: usize, row: &str| is_new(&mut last, &number.to_string(), row);
        assert!(new(0, "a") && !new(0, "a") && new(0, "b") && !new(0, "b") && new(0, "a"));
        // The kept rows reach their limit.
        assert!((1..MOST_SOCKETS).all(|number| new(number, "a")));
        assert!(!(0..MOST_SOCKETS).any(|number| new(number, "a")));
        assert!(new(MOST_SOCKETS, "a") && !new(MOST_SOCKETS, "a") && new(0, "a") && new(1, "a"));
    }

    #[test]
    fn polling_tcp_info_takes_at_most_a_fifth_of_the_time() {
        let ms = Duration::from_millis;
        assert_eq!([0, 1, 2, 50].map(|took| pause(ms(took))), [ms(4), ms(4), ms(8), ms(200)]);
    }

    /// Returns a message of this kind: its length, its kind, the rest of its header, the content,
    /// and padding to a multiple of four.
    fn message(kind: u16, content: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + content.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0xff);
        bytes
    }

    /// An answer holds any number of sockets, and the last answer says so.
    #[test]
    fn a_multipart_netlink_answer_is_read_whole() {
        let socket = |port: u8| {
            let mut described = vec![0; MESSAGE];
            (described[5], described[7]) = (port, 9);
            // An odd length, so that the next message is aligned.
            message(SOCK_DIAG_BY_FAMILY, &[described, attribute(INET_DIAG_INFO, &info(104)), vec![0]].concat())
        };
        let (done, refusal) = (message(NLMSG_DONE, &[0; 4]), message(NLMSG_ERROR, &(-libc::EPERM).to_ne_bytes()));
        let read = |messages: &[Vec<u8>]| {
            let mut found = Vec::new();
            let more = answered(&messages.concat(), &mut found).map_err(|error| error.to_string());
            (more, found.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        let named = |ports: &[u8]| ports.iter().map(|port| format!("{port},9")).collect::<Vec<_>>();
        assert_eq!(read(&[]), (Ok(true), named(&[])));
        assert_eq!(read(&[socket(1), socket(2), socket(3)]), (Ok(true), named(&[1, 2, 3])));
        assert_eq!(read(&[socket(1), done.clone(), socket(3)]), (Ok(false), named(&[1])));
        assert_eq!(read(&[done]), (Ok(false), named(&[])));
        let (said, found) = read(&[socket(1), refusal, socket(3)]);
        assert!(said.unwrap_err().contains("not permitted") && found == named(&[1]));
        // A message that is cut off, or has no length, ends the answer.
        assert_eq!(read(&[socket(1), vec![16, 0, 0]]), (Ok(true), named(&[1])));
        assert_eq!(read(&[socket(1), vec![0; 16], socket(3)]), (Ok(true), named(&[1])));
        assert_eq!(read(&[socket(1), socket(2)[..10].to_vec()]), (Ok(false), named(&[1])));
    }

    /// Returns an attribute of this kind: length and kind, the content, and padding to a multiple
    /// of four.
    fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
        let mut bytes = (content.len() as u16 + 4).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(4), 0xff);
        bytes
    }

    /// Returns a `tcp_info` in which each 32-bit number is its own offset.
    fn info(length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..length as u32).step_by(4).flat_map(u32::to_ne_bytes).collect();
        bytes[1] = 4;
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn a_socket_is_described_by_the_columns_of_its_kernel() {
        let mut message = vec![0; MESSAGE];
        message[4..8].copy_from_slice(&[0x13, 0x89, 0x9c, 0x40]);
        let socket = |attributes: &[Vec<u8>]| described(&[message.clone(), attributes.concat()].concat());
        let whole = ("5001,40000".to_owned(), "4,80,76,8,24,32,36,100,88,216,220".to_owned());
        assert_eq!(socket(&[attribute(INET_DIAG_INFO, &info(224))]), Some(whole.clone()));
        // Attributes in front of it are skipped, whatever their length.
        let (odd, empty) = (attribute(1, &[7; 5]), attribute(16, &[]));
        assert_eq!(socket(&[odd.clone(), empty.clone(), attribute(INET_DIAG_INFO, &info(224))]), Some(whole));
        // An older kernel has fewer numbers.
        let older = ("5001,40000".to_owned(), "4,80,76,8,24,32,36,100,88,,".to_owned());
        assert_eq!(socket(&[attribute(INET_DIAG_INFO, &info(104))]), Some(older));
        assert_eq!(socket(&[odd, empty]), None, "nothing is said about TCP");
        assert_eq!(socket(&[vec![0; 8]]), None, "a length of nothing ends nowhere");
        assert_eq!(described(&message[..MESSAGE - 1]), None);
        assert_eq!(socket(&[vec![9]]), None);
    }
}
