//! The surroundings of an eifel host: a device, its addresses, and the network namespace of both.

use super::Failure;
use crate::capture::Capture;
use crate::end_settings::{EndSettings, Role};
use crate::host::{Config, Host};
use crate::station::{Application, Next, Station, Waits};
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::namespace::{BETWEEN_LOOKS, Calls, LONGEST_START, Namespace, Running};
use crate::system::random;
use crate::system::tun::Tun;
use eifel_base::time::{Duration, Instant};
use eifel_command::Options;
use eifel_sim::scenario::Scenario;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// The options with a value that all commands with a host have.
pub(super) const VALUED: [&str; 8] =
    ["--device", "--address", "--address6", "--mtu", "--like", "--capture", "--interval", "--buffer"];
const HELP: &str = "  --like SCENARIO.toml  settings and algorithms of the scenario's first flow over the same protocol
  --buffer BYTES        size of the send and receive buffers (default: the scenario's, or 4M)
  --interval SECONDS    length of an interval (default: 1)
  --capture FILE        write all packets as pcapng
  --address A           the host's IPv4 address (default: 10.85.0.2); the kernel's is A with its last two bits flipped
  --address6 A          the host's IPv6 address (default: fd85::2); the kernel's likewise
  --device NAME         the TUN device (default: eifel0, eifel1 ...: the first that is free)
  --mtu BYTES           the longest packet (default: 1500)
";
const OFFLOAD: &str = "  --offload             lets the kernel checksum, split and merge segments (TSO): faster, but split segments share a timestamp
";
const COMMAND: &str = "  -- COMMAND ...        runs COMMAND, the peer, in a new network namespace with the device
";
/// Help text of `--json` for one connection.
pub(super) const IN_IPERF3_SHAPE: &str = "print one JSON document, in iperf3's shape";

/// Returns the help text of [`VALUED`], of `--offload` if `flags` has it, of `--json`, and of the
/// command.
pub(super) fn help(flags: &[&str], json: &str) -> String {
    let offload = if flags.contains(&"--offload") { OFFLOAD } else { "" };
    format!("{HELP}{offload}  --json                {json}\n{COMMAND}")
}

const EVERY: Duration = Duration::from_secs(1);
const EVERY_OF_VIEW: Duration = Duration::from_millis(100);
const MOST_CONNECTIONS: usize = 100_000;

/// A host, and the command that runs as its peer.
pub(super) struct Setup {
    pub(super) station: Station,
    pub(super) clock: Clock,
    peer: Option<Running>,
    pub(super) secret: [u64; 2],
}

/// An application whose peer is a command. It fails once the command has ended and no connection is
/// open.
struct WithPeerCommand<'a> {
    application: &'a mut dyn Application,
    peer: &'a mut Option<Running>,
    /// When the command was first seen ended with no connection open. `None` while the command runs
    /// or a connection is open.
    alone_since: Option<Instant>,
}

/// An application without connections, until a socket listens in the namespace. Meanwhile the host
/// answers what the command sends.
struct WaitsForListener {
    namespace: Namespace,
    /// When to look next. A look enters the namespace on a thread of its own, so packets cause none.
    next: Instant,
    until: Instant,
    stopped: bool,
}

impl Application for WaitsForListener {
    fn turn(&mut self, now: Instant, _: &mut Host) -> Result<Next, Error> {
        if self.stopped || now >= self.until {
            return Ok(Next::Done);
        }
        if now >= self.next {
            if self.namespace.takes_calls(Calls::Tcp)? {
                return Ok(Next::Done);
            }
            self.next = now + BETWEEN_LOOKS;
        }
        Ok(Next::Turn(self.next))
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {
        self.stopped = true;
    }
}

/// Returns the error of a command that has ended while nothing is connected.
pub(super) fn command_ended(status: ExitStatus) -> Error {
    match status.success() {
        true => Error::new("the command behind --", &"it has ended, and nothing is connected", ""),
        false => Error::new("the command behind --", &status, ""),
    }
}

/// How long packets that the command sent before its end may be under way.
const GRACE: Duration = Duration::from_secs(1);

impl Application for WithPeerCommand<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        let next = self.application.turn(now, host)?;
        let Some(peer) = &mut self.peer else { return Ok(next) };
        let ended = if host.connections() == 0 && next != Next::Done { peer.ended()? } else { None };
        match ended {
            None => self.alone_since = None,
            Some(status) if !status.success() || now.since(*self.alone_since.get_or_insert(now)) >= GRACE => {
                return Err(command_ended(status));
            }
            Some(_) => {}
        }
        Ok(next)
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        self.application.stop(now, host);
    }

    fn waits(&self) -> Vec<Waits<'_>> {
        self.application.waits()
    }
}

/// A device with addresses, and the command that runs as the peer.
pub(super) struct Device {
    pub(super) tun: Tun,
    pub(super) clock: Clock,
    pub(super) capture: Option<Capture>,
    pub(super) peer: Option<Running>,
    pub(super) v4: Ipv4Addr,
    pub(super) v6: Ipv6Addr,
    pub(super) mtu: u32,
    /// Where the device is.
    pub(super) namespace: Namespace,
}

impl Device {
    /// Makes the device, and starts the command, as the options say.
    pub(super) fn make(options: &Options) -> Result<Self, Failure> {
        let v4 = options.value("--address", "an IPv4 address")?.unwrap_or(Ipv4Addr::new(10, 85, 0, 2));
        let v6 = options.value("--address6", "an IPv6 address")?.unwrap_or(Ipv6Addr::new(0xfd85, 0, 0, 0, 0, 0, 0, 2));
        let mtu = mtu(options)?;
        let namespace = match options.command.is_empty() {
            true => Namespace::current()?,
            false => namespace()?,
        };
        let name = options.text("--device").unwrap_or("eifel%d").to_owned();
        let tun = namespace.within(|| match options.has("--offload") {
            false => Tun::create(&name),
            true => Tun::create_offloading(&name),
        })?;
        let (device, v4_kernel, v6_kernel) =
            (tun.name(), Ipv4Addr::from_bits(v4.to_bits() ^ 3), Ipv6Addr::from_bits(v6.to_bits() ^ 3));
        // Without `addrgenmode none`, a device that comes up gives itself a link-local address and
        // searches for routers.
        namespace.configure(&format!(
            "link set {device} mtu {mtu} txqueuelen 5000 addrgenmode none\nlink set {device} up\n\
             addr add {v4_kernel} peer {v4} dev {device}\n\
             addr add {v6_kernel} peer {v6} dev {device} nodad\n"
        ))?;
        namespace.wait_for_route(v6.into())?;
        let peer = match options.command.split_first() {
            None => None,
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command.env("EIFEL_ADDRESS", v4_kernel.to_string()).env("EIFEL_PEER", v4.to_string());
                command.env("EIFEL_ADDRESS6", v6_kernel.to_string()).env("EIFEL_PEER6", v6.to_string());
                command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
                Some(namespace.spawn(command)?)
            }
        };
        let clock = Clock::start();
        let capture = options.text("--capture").map(|path| Capture::create(Path::new(path), clock)).transpose()?;
        Ok(Self { tun, clock, capture, peer, v4, v6, mtu, namespace })
    }

    /// Returns the host's addresses.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        vec![self.v4.into(), self.v6.into()]
    }
}

impl Setup {
    /// Makes the place that the options ask for, for a host that calls the command behind `--`. It
    /// serves the device until a socket of the command listens, or for [`LONGEST_START`].
    pub(super) fn that_calls(options: &Options) -> Result<Self, Failure> {
        let (mut place, namespace) = Self::made(options)?;
        if place.peer.is_some() {
            let now = place.clock.now();
            let mut waits = WaitsForListener { namespace, next: now, until: now + LONGEST_START, stopped: false };
            place.station.serve(&mut waits)?;
            if waits.stopped {
                return Err(Error::new("the command behind --", &"interrupted before it listened", "").into());
            }
        }
        Ok(place)
    }

    /// Makes the place that the options ask for, for a host that is called.
    pub(super) fn that_answers(options: &Options) -> Result<Self, Failure> {
        Self::made(options).map(|(place, _)| place)
    }

    fn made(options: &Options) -> Result<(Self, Namespace), Failure> {
        let Device { tun, clock, capture, peer, v4, v6, mtu, namespace } = Device::make(options)?;
        let secret = random()?;
        let config = Config { v4: Some(v4), v6: Some(v6), mtu, secret, most_connections: MOST_CONNECTIONS };
        let mut station = Station::new(config, tun, clock);
        if let Some(capture) = capture {
            station.captured(capture)?;
        }
        Ok((Self { station, clock, peer, secret }, namespace))
    }

    /// Runs until the application is done.
    pub(super) fn run(&mut self, application: &mut dyn Application) -> Result<(), Error> {
        self.station.run(&mut WithPeerCommand { application, peer: &mut self.peer, alone_since: None })
    }
}

/// Returns the longest packet in bytes. IPv6 needs 1280 at least (RFC 8200, section 5).
pub(super) fn mtu(options: &Options) -> Result<u32, Failure> {
    let mtu = options.value("--mtu", "a number of bytes")?.unwrap_or(1500);
    match (1280..=65_535).contains(&mtu) {
        true => Ok(mtu),
        false => Err(Failure::Usage(format!("--mtu {mtu}: expected 1280 to 65535"))),
    }
}

/// Returns the length of an interval. The default is a second, or a tenth of a second for a view.
pub(super) fn interval(options: &Options) -> Result<Duration, Failure> {
    let usual = if options.has("--view") { EVERY_OF_VIEW } else { EVERY };
    Ok(options.seconds("--interval")?.unwrap_or(usual))
}

/// Makes a namespace. If the rights are missing, the failure makes [`main`](super::main) restart
/// the command in a user namespace.
pub(super) fn namespace() -> Result<Namespace, Failure> {
    Namespace::new().map_err(|error| match error.is_denied() {
        true => Failure::NeedsRoot(error),
        false => Failure::Failed(error),
    })
}

/// Reads a scenario file.
pub(super) fn scenario(path: &str) -> Result<Scenario, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    Scenario::parse(&text, Path::new(path)).map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the settings and algorithms of `--like`, or those of a present-day stack.
pub(super) fn terms(options: &Options, role: Role, secret: [u64; 2]) -> Result<EndSettings, Failure> {
    let buffer = options.bytes("--buffer")?;
    if buffer == Some(0) {
        return Err(Failure::Usage("--buffer 0: expected at least 1 byte".to_owned()));
    }
    let Some(path) = options.text("--like") else {
        let today = EndSettings::today(secret, buffer);
        return Ok(if options.has("--offload") { today.with_shared_timestamps() } else { today });
    };
    let none = || Failure::Usage(format!("--like {path}: no flow over TCP in it"));
    EndSettings::like(&scenario(path)?, role, secret, buffer).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_recovery::engine;
    use eifel_tcp::Settings;

    /// An application that always returns the same [`Next`].
    struct Idle(Next);

    impl Application for Idle {
        fn turn(&mut self, _: Instant, _: &mut Host) -> Result<Next, Error> {
            Ok(self.0)
        }

        fn stop(&mut self, _: Instant, _: &mut Host) {}
    }

    /// Runs a command to its end. Returns `None`, and prints a line, if no command may be started.
    fn ended(program: &str) -> Option<Running> {
        let started = Namespace::current().and_then(|current| current.spawn(Command::new(program)));
        let mut running = started.map_err(|error| eprintln!("SKIPPED: {error}")).ok()?;
        while running.ended().unwrap().is_none() {
            std::thread::yield_now();
        }
        Some(running)
    }

    fn host() -> Host {
        Host::new(Config { v4: Some([10, 0, 0, 1].into()), v6: None, mtu: 1500, secret: [1, 2], most_connections: 8 })
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn options(words: &[&str]) -> Options {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        Options::read(&words, &VALUED, &["--view"]).ok().flatten().unwrap()
    }

    #[test]
    fn the_default_interval_is_one_second() {
        for (words, millis) in [
            (&[][..], 1000),
            (&["--view"], 100),
            (&["--interval", "0.25"], 250),
            (&["--view", "--interval", "2"], 2000),
            (&["--interval", "1000000000"], 1_000_000_000_000),
        ] {
            let found = interval(&options(words)).ok();
            assert_eq!(found, Some(Duration::from_millis(millis)), "{words:?}");
        }
        for text in ["0", "-1", "1000000001", "soon"] {
            assert!(interval(&options(&["--interval", text])).is_err(), "{text}");
        }
    }

    #[test]
    fn a_device_takes_packets_of_1280_to_65535_bytes() {
        assert_eq!(mtu(&options(&[])).ok(), Some(1500));
        for (bytes, taken) in [(1279, None), (1280, Some(1280)), (65_535, Some(65_535)), (65_536, None)] {
            assert_eq!(mtu(&options(&["--mtu", &bytes.to_string()])).ok(), taken, "{bytes}");
        }
    }

    const WAITS: Next = Next::Turn(Instant::NEVER);

    #[test]
    fn after_the_command_exits_the_run_waits_one_second_for_a_connection() {
        let Some(running) = ended("true") else { return };
        let (mut idle, mut peer, mut host) = (Idle(WAITS), Some(running), host());
        let mut attended = WithPeerCommand { application: &mut idle, peer: &mut peer, alone_since: None };
        let alone = command_ended(ExitStatus::default()).to_string();
        let mut turn = |millis, host: &mut Host| attended.turn(at(millis), host).map_err(|error| error.to_string());
        assert_eq!(turn(5000, &mut host), Ok(WAITS));
        assert_eq!(turn(5999, &mut host), Ok(WAITS));
        // While a connection is open, the wait does not count.
        let to = "10.0.0.2:80".parse().unwrap();
        let call = host.connect(at(5999), to, &Settings::default(), &engine::Config::default()).unwrap();
        assert_eq!(turn(9000, &mut host), Ok(WAITS));
        host.connection(call).unwrap().abort();
        while host.poll_packet(at(9000), &mut Vec::new()) {}
        assert_eq!((turn(9500, &mut host), turn(10_499, &mut host)), (Ok(WAITS), Ok(WAITS)));
        assert_eq!(turn(10_500, &mut host), Err(alone));
    }

    #[test]
    fn a_failed_command_ends_an_unfinished_run_at_once() {
        let Some(running) = ended("false") else { return };
        let (mut idle, mut done, mut peer, mut host) = (Idle(WAITS), Idle(Next::Done), Some(running), host());
        let mut attended = WithPeerCommand { application: &mut done, peer: &mut peer, alone_since: None };
        assert_eq!(attended.turn(at(1), &mut host).unwrap(), Next::Done);
        let mut attended = WithPeerCommand { application: &mut idle, peer: &mut peer, alone_since: None };
        let error = attended.turn(at(1), &mut host).unwrap_err().to_string();
        assert_eq!(error, "the command behind --: exit status: 1");
        let mut attended = WithPeerCommand { application: &mut idle, peer: &mut None, alone_since: None };
        assert_eq!(attended.turn(at(1), &mut host).unwrap(), WAITS);
    }
}
