//! Network namespaces without a name. Each exists as long as this process, or a command in it, uses
//! it. However the process ends, nothing is left behind.

use super::{Error, advice, kernel};
use eifel_base::time::Duration;
use eifel_packet::sctp;
use rustix::process::{Pid, Signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    link: File,
}

impl Namespace {
    /// Makes a namespace with only the loopback device, which is up.
    ///
    /// # Errors
    /// If the rights are missing.
    pub fn new() -> Result<Self, Error> {
        let made = apart(|| {
            leave(UnshareFlags::NEWNET, "make a network namespace")?;
            Self::current()
        })?;
        made.configure("link set lo up\n")?;
        Ok(made)
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is missing.
    pub fn current() -> Result<Self, Error> {
        let link = File::open("/proc/thread-self/ns/net").map_err(Error::of("open /proc/thread-self/ns/net"))?;
        Ok(Self { link })
    }

    /// Returns a path by which other commands find the namespace, as long as this value exists.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.link.as_raw_fd())
    }

    /// Returns another handle to the same namespace.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Self { link: self.link.try_clone().map_err(Error::of("dup"))? })
    }

    /// Runs `what` in the namespace, on a thread of its own.
    ///
    /// # Errors
    /// If the namespace cannot be entered, and those of `what`.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        apart(|| {
            self.enter()?;
            what()
        })
    }

    /// Moves the calling thread into the namespace.
    ///
    /// # Errors
    /// If the rights are missing.
    pub fn enter(&self) -> Result<(), Error> {
        move_into_link_name_space(self.link.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|error| {
            let error = io::Error::from(error);
            Error::new("enter a network namespace", &error, advice(&error))
        })
    }

    /// Configures devices, addresses and routes with commands of `ip`, one per line.
    ///
    /// # Errors
    /// If there is no `ip`, or with its first message if it fails.
    pub fn configure(&self, commands: &str) -> Result<(), Error> {
        self.within(|| {
            let mut ip = Command::new("ip");
            ip.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
            let failed = |error: io::Error| {
                let missing = error.kind() == io::ErrorKind::NotFound;
                Error::new("run ip", &error, if missing { "install iproute2" } else { "" })
            };
            let mut running = ip.spawn().map_err(failed)?;
            if let Some(mut input) = running.stdin.take() {
                input.write_all(commands.as_bytes()).map_err(failed)?;
            }
            let output = running.wait_with_output().map_err(failed)?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr);
            Err(Error::new("configure a network namespace", &said.lines().next().unwrap_or("ip failed"), ""))
        })
    }

    /// Writes settings of the kernel, for example ("net/ipv4/ip_forward", "1").
    ///
    /// # Errors
    /// If a setting does not exist or may not be written.
    pub fn set(&self, settings: &[(&str, &str)]) -> Result<(), Error> {
        self.within(|| {
            settings.iter().try_for_each(|(key, value)| {
                let path = format!("/proc/sys/{key}");
                std::fs::write(&path, value)
                    .map_err(|error| Error::new(format!("write {path}"), &error, advice(&error)))
            })
        })
    }

    /// Waits until there is a route to `peer`. Over IPv6, a device is usable only some time after
    /// it is up.
    ///
    /// # Errors
    /// If there is none within two seconds.
    pub fn wait_for_route(&self, peer: IpAddr) -> Result<(), Error> {
        self.within(|| {
            let any: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let mut last = String::new();
            for _ in 0..LOOKS {
                // Connecting a datagram socket looks up its route, and sends nothing.
                match UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((peer, 9))) {
                    Ok(()) => return Ok(()),
                    Err(error) => last = error.to_string(),
                }
                pause(BETWEEN_LOOKS);
            }
            Err(Error::new(format!("find a route to {peer}"), &last, ""))
        })
    }

    /// Returns whether a socket in the namespace takes calls.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn takes_calls(&self, over: Calls) -> Result<bool, Error> {
        self.within(|| Ok(over.are_taken()))
    }

    /// Waits until a socket in the namespace takes calls, for at most [`LONGEST_START`]: not every
    /// command opens one.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn wait_for_listener(&self, over: Calls) -> Result<(), Error> {
        self.within(|| {
            for _ in 0..LOOKS {
                if over.are_taken() {
                    pause(over.grace());
                    break;
                }
                pause(BETWEEN_LOOKS);
            }
            Ok(())
        })
    }

    /// Runs a command in the namespace. All of its processes end with this process, or when the
    /// command itself ends.
    ///
    /// # Errors
    /// If the command does not exist, or namespaces may not be made.
    pub fn spawn(&self, mut command: Command) -> Result<Running, Error> {
        let namespace = self.try_clone()?;
        let (started, begun) = mpsc::channel();
        let (ended, end) = mpsc::channel();
        // The thread lives as long as the command: the kernel takes the thread's end for the
        // parent's.
        let waiting = thread::spawn(move || {
            let mut start = || {
                namespace.enter()?;
                leave(UnshareFlags::NEWPID, "make a process namespace")?;
                // SAFETY: between fork and exec this makes one system call, prctl, and allocates nothing.
                unsafe {
                    command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?));
                }
                let name = command.get_program().to_string_lossy().into_owned();
                command.spawn().map_err(|error| Error::new(format!("run {name}"), &error, ""))
            };
            match start() {
                Ok(mut child) => {
                    let _ = started.send(Ok(child.id()));
                    let _ = ended.send(child.wait().map_err(Error::of("wait")));
                }
                Err(error) => drop(started.send(Err(error))),
            }
        });
        let pid = begun.recv().map_err(Error::of("start a command"))??;
        Ok(Running { pid, end, status: None, waiting: Some(waiting) })
    }
}

/// How often a table is looked at: with the pauses, for two seconds.
const LOOKS: u32 = 100;
/// The pause between two looks for a socket that takes calls.
pub const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// How long a command may take until a socket of it takes calls.
pub const LONGEST_START: Duration = Duration::from_secs(2);

fn pause(length: Duration) {
    thread::sleep(std::time::Duration::from_nanos(length.as_nanos()));
}

/// The protocol of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    Tcp,
    /// SCTP, to the kernel or to a program with a raw socket.
    Sctp,
    /// SCTP in UDP, to a program or the kernel with a socket at this port.
    SctpInUdp(u16),
}

impl Calls {
    /// Returns whether a socket in the namespace of the calling thread takes calls.
    fn are_taken(self) -> bool {
        let table = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        match self {
            Self::Tcp => {
                kernel::has_listener().unwrap_or_else(|_| ["tcp", "tcp6"].iter().any(|name| has_listener(&table(name))))
            }
            Self::Sctp => {
                ["raw", "raw6"].iter().any(|name| has_local(&table(name), sctp::PROTOCOL.into()))
                    || table("sctp/eps").lines().count() > 1
            }
            Self::SctpInUdp(port) => ["udp", "udp6"].iter().any(|name| has_local(&table(name), port)),
        }
    }

    /// Returns the time between the opening of that socket and the first call. A program with SCTP
    /// of its own opens its socket first, and no table says when it listens.
    fn grace(self) -> Duration {
        if self == Self::Tcp { Duration::ZERO } else { Duration::from_millis(200) }
    }
}

/// Returns whether a table of the kernel's sockets has one in the state LISTEN, which is its fourth
/// column.
fn has_listener(table: &str) -> bool {
    table.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some("0A"))
}

/// Returns whether a table of the kernel's sockets has one with this local port, which for a raw
/// socket is the protocol. It follows the address in the second column.
fn has_local(table: &str, port: u16) -> bool {
    let local = |line: &str| u16::from_str_radix(line.split_whitespace().nth(1)?.rsplit_once(':')?.1, 16).ok();
    table.lines().skip(1).any(|line| local(line) == Some(port))
}

/// A command in a namespace. The command is killed when this value is dropped.
#[derive(Debug)]
pub struct Running {
    pid: u32,
    end: mpsc::Receiver<Result<ExitStatus, Error>>,
    status: Option<ExitStatus>,
    waiting: Option<thread::JoinHandle<()>>,
}

impl Running {
    /// Returns the exit status; `None` while it runs.
    ///
    /// # Errors
    /// Those of waiting for the command.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        if self.status.is_none()
            && let Ok(status) = self.end.try_recv()
        {
            self.status = Some(status?);
        }
        Ok(self.status)
    }

    /// Kills the command and all processes that it has started.
    pub fn kill(&mut self) {
        if let (None, Some(pid)) = (self.status, Pid::from_raw(self.pid as i32))
            && self.end.try_recv().is_err()
        {
            // It may have ended at this moment.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs `what` on a thread of its own, so that the calling thread keeps its namespaces.
pub(super) fn apart<T: Send>(what: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| match scope.spawn(what).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

pub(super) fn leave(flags: UnshareFlags, tried: &str) -> Result<(), Error> {
    // SAFETY: the remaining flags do not include the table of file descriptors.
    let left = unsafe { rustix::thread::unshare_unsafe(flags) };
    left.map_err(|error| {
        let error = io::Error::from(error);
        Error::new(tried, &error, advice(&error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_listens_is_found_by_its_state() {
        const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue\n";
        let line = |state: &str| format!("   0: 0100007F:1389 00000000:0000 {state} 00000000:00000000\n");
        let table = |states: &[&str]| states.iter().fold(HEAD.to_owned(), |text, state| text + &line(state));
        assert!(has_listener(&table(&["01", "0A"])));
        assert!(!has_listener(&table(&["01", "06"])) && !has_listener(HEAD) && !has_listener(""));
        // The first line names the columns.
        assert!(!has_listener(&line("0A")));
    }

    #[test]
    fn a_socket_is_found_by_its_local_port_or_protocol() {
        const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                             132: 0100007F:0084 00000000:0000 07 00000000:00000000\n\
                             9: 00000000000000000000000000000000:26AB 00000000000000000000000000000000:0007 07\n";
        assert_eq!([132, 9899, 7, 0].map(|port| has_local(TABLE, port)), [true, true, false, false]);
        assert!(!has_local("", 0) && !has_local("9: 0100007F:0084", 132), "the first line names the columns");
    }

    /// Asks in a namespace where nothing else has a socket.
    #[test]
    fn a_callable_socket_is_found_over_either_version_of_ip() {
        use std::net::{TcpListener, UdpSocket};
        let raw = |domain: i32| {
            // SAFETY: no pointers.
            let raw = unsafe { libc::socket(domain, libc::SOCK_RAW, 132) };
            assert!(raw >= 0, "root of the namespace may open it");
            // SAFETY: a new descriptor that nobody else has.
            unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(raw) }
        };
        let taken = || [Calls::Tcp, Calls::Sctp, Calls::SctpInUdp(9899)].map(Calls::are_taken);
        let asked = Namespace::new().and_then(|namespace| {
            namespace.within(|| {
                assert_eq!(taken(), [false; 3]);
                for (address, domain) in [("127.0.0.1:9899", libc::AF_INET), ("[::1]:9899", libc::AF_INET6)] {
                    let tcp = TcpListener::bind(address).unwrap();
                    let table = |name: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap();
                    let listed = ["tcp", "tcp6"].map(|name| has_listener(&table(name)));
                    assert_eq!((taken(), listed.contains(&true)), ([true, false, false], true), "{address}");
                    drop(tcp);
                    let udp = UdpSocket::bind(address).unwrap();
                    assert_eq!(taken(), [false, false, true], "{address}");
                    drop(udp);
                    let sctp = raw(domain);
                    assert_eq!(taken(), [false, true, false], "{address}");
                    drop(sctp);
                }
                Ok(())
            })
        });
        if let Err(error) = asked {
            eprintln!("SKIPPED: {error}");
        }
    }
}
