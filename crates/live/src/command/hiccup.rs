//! `hiccup`: runs a command behind the box.

use super::setup::{mtu, namespace, scenario};
use super::{FAILED, Failure, OK, json_of, print};
use crate::hiccup::Hiccup;
use crate::hiccup::counts::{Expectation, Numbers, numbers};
use crate::hiccup::log::Log;
use crate::hiccup::order::Trigger;
use crate::hiccup::run::{Control, Relay, Report};
use crate::side::Side;
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::kernel::Watcher;
use crate::system::namespace::{Calls, Namespace, Running};
use crate::system::trace::Tracer;
use eifel_command::Options;
use eifel_sim::scenario::Scenario;
use serde_json::{Map, Value, json};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

const USAGE: &str = "\
Runs a command behind a box that treats its packets as a scenario's links do: rate, delay, queue, loss, duplication,
reordering, spikes, recorded links. Both directions have the links of the scenario's first flow.

usage: eifel live hiccup [OPTIONS] SCENARIO.toml -- COMMAND ...

  --peer COMMAND     runs it at the other side (by sh), in a namespace of its own; without it, the other side is the namespace
                     from which this is called
  --out FOLDER       writes path.csv (the fate of every packet), sender.pcapng and receiver.pcapng (with fates as comments),
                     truth.csv (which retransmissions were needed), and the counters and sockets of the kernels at both
                     sides (sender.counters.csv, sender.sockets.csv, receiver. ...); as root also trace.csv (when the
                     kernels retransmitted, and in which congestion state); `eifel live judge` joins them
  --on 'WHEN: ORDER' an order on a condition: packet N, segment N or position N of the first flow (back before it: of the way
                     back). Orders: hold [SECONDS], release, toggle, drop [N]; and there, back or both
  --keys             orders at the terminal, one a line; Enter alone holds and releases
  --control PATH     orders as datagrams to this Unix socket
  --seed N           a seed in place of the scenario's
  --expect 'A<=B'    exit with 1 if it does not hold, as there.dropped==3 or spurious<=0; may be repeated
  --mtu BYTES        of both devices (default: 1500)
  --json             print JSON

Both commands find their own address in EIFEL_ADDRESS and the other's in EIFEL_PEER (EIFEL_ADDRESS6, EIFEL_PEER6).

example: eifel live hiccup examples/spike.toml --peer 'iperf3 -s -1' -- sh -c 'iperf3 -c $EIFEL_PEER'
";

const VALUED: [&str; 7] = ["--peer", "--out", "--on", "--control", "--seed", "--expect", "--mtu"];

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &VALUED, &["--json", "--keys"])? else { return print(USAGE).map(|()| OK) };
    let ([file], [_, ..]) = (&options.rest[..], &options.command[..]) else {
        return Err(Failure::Usage("SCENARIO.toml -- COMMAND ... are needed; see --help".to_owned()));
    };
    let mut scenario = scenario(file)?;
    if let Some(seed) = options.value("--seed", "a whole number")? {
        scenario.seed = seed;
    }
    let triggers: Vec<Trigger> = all(&options, "--on", Trigger::parse)?;
    let expectations: Vec<Expectation> = all(&options, "--expect", Expectation::parse)?;
    let names = found(&Report::default(), ExitStatus::default());
    expectations.iter().try_for_each(|expected| expected.of(&names).map(drop).map_err(usage("--expect")))?;
    let (report, status) = run(&options, &scenario, triggers)?;
    let numbers = found(&report, status);
    let unmet: Vec<String> = expectations.iter().filter_map(|expected| expected.check(&numbers).err()).collect();
    show(&options, &numbers, &unmet)?;
    let code = status.code().unwrap_or(i32::from(FAILED));
    Ok(if !unmet.is_empty() { FAILED } else { u8::try_from(code).unwrap_or(FAILED) })
}

fn all<T>(options: &Options, name: &str, parse: fn(&str) -> Result<T, String>) -> Result<Vec<T>, Failure> {
    options.all(name).map(|text| parse(text).map_err(usage(name))).collect()
}

fn usage(option: &str) -> impl Fn(String) -> Failure {
    move |what| Failure::Usage(format!("{option}: {what}"))
}

fn run(options: &Options, scenario: &Scenario, triggers: Vec<Trigger>) -> Result<(Report, ExitStatus), Failure> {
    let hiccup = Hiccup::new(scenario, triggers).map_err(|error| Failure::Usage(error.to_string()))?;
    let mtu = mtu(options)?;
    let near = namespace()?;
    let peer = options.text("--peer");
    let far = if peer.is_some() { namespace()? } else { Namespace::current()? };
    let tuns = [Side::NEAR.device(&near, mtu, true)?, Side::FAR.device(&far, mtu, peer.is_some())?];
    let clock = Clock::start();
    let log = options.text("--out").map(|folder| Log::create(Path::new(folder), clock)).transpose()?;
    let control = control(options)?;
    let mut watchers = Vec::new();
    if let Some(folder) = options.text("--out") {
        watchers.push(Watcher::begin(&near, clock, Path::new(folder), "sender")?);
        // Without a peer, the other side is the caller's namespace, which this run does not own.
        if peer.is_some() {
            watchers.push(Watcher::begin(&far, clock, Path::new(folder), "receiver")?);
        }
    }
    // Without the right to read tracepoints, counters tell the causes of most retransmissions.
    let tracer = options
        .text("--out")
        .and_then(|folder| Tracer::begin(clock, &Path::new(folder).join("trace.csv"), Side::addresses(), None).ok());
    let relay = Relay::new(hiccup, tuns, clock, control, log);
    // Both devices are up before the commands start. They queue packets until the box runs.
    let shell = |text: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    };
    let mut peer = peer.map(|text| far.spawn(prepared(shell(text), Side::FAR, options))).transpose()?;
    let mut main = Command::new(&options.command[0]);
    main.args(&options.command[1..]);
    let (main, waits) = (prepared(main, Side::NEAR, options), peer.is_some());
    // The box runs while another thread waits for the peer to listen.
    let (starts, started) = mpsc::channel();
    let starting = thread::spawn(move || {
        let ready = if waits { far.wait_for_listener(Calls::Tcp) } else { Ok(()) };
        // The command is killed here if the box has stopped.
        let _ = starts.send(ready.and_then(|()| near.spawn(main)));
    });
    let (mut running, mut status): (Option<Running>, _) = (None, None);
    let report = relay.run(|| {
        if let Ok(begun) = started.try_recv() {
            running = Some(begun?);
        }
        status = running.as_mut().map_or(Ok(None), Running::ended)?;
        Ok(status.is_some())
    })?;
    drop((running, started));
    let _ = starting.join();
    if let Some(peer) = &mut peer {
        peer.kill();
    }
    remove(options);
    watchers.into_iter().try_for_each(Watcher::finish)?;
    tracer.map_or(Ok(()), Tracer::finish)?;
    let status = status.ok_or_else(|| Error::new("the command", &"interrupted", ""))?;
    Ok((report, status))
}

fn prepared(mut command: Command, side: Side, options: &Options) -> Command {
    let (own, other) = (side, side.other());
    command.env("EIFEL_ADDRESS", own.v4().to_string()).env("EIFEL_PEER", other.v4().to_string());
    command.env("EIFEL_ADDRESS6", own.v6().to_string()).env("EIFEL_PEER6", other.v6().to_string());
    if side == Side::FAR || options.has("--keys") {
        command.stdin(Stdio::null());
    }
    if side == Side::FAR || options.has("--json") {
        // Their output would mix with the JSON document.
        command.stdout(std::io::stderr());
    }
    command
}

fn control(options: &Options) -> Result<Control, Failure> {
    let socket = match options.text("--control") {
        None => None,
        Some(path) => {
            let failed = |error: std::io::Error| {
                let taken = error.kind() == std::io::ErrorKind::AddrInUse;
                Error::new(path, &error, if taken { "remove the file, or choose another" } else { "" })
            };
            // A killed box leaves a socket that nobody listens on. Only a socket like that is
            // removed.
            let is_socket = std::fs::metadata(path).is_ok_and(|file| file.file_type().is_socket());
            let deaf =
                || UnixDatagram::unbound().and_then(|socket| socket.connect(path)).is_err_and(|e| is_refused(&e));
            if is_socket && deaf() {
                let _ = std::fs::remove_file(path);
            }
            let socket = UnixDatagram::bind(path).map_err(failed)?;
            socket.set_nonblocking(true).map_err(failed)?;
            Some(socket)
        }
    };
    let own = || std::io::stdin().as_fd().try_clone_to_owned().map_err(Error::of("standard input"));
    let keys = if options.has("--keys") { Some(own()?) } else { None };
    Ok(Control { keys, socket })
}

fn is_refused(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::ConnectionRefused
}

fn remove(options: &Options) {
    if let Some(path) = options.text("--control") {
        let _ = std::fs::remove_file(path);
    }
}

/// Returns all numbers that an expectation may name.
fn found(report: &Report, status: ExitStatus) -> Numbers {
    let (judged, spurious) = (report.retransmissions as f64, report.spurious as f64);
    let late = |share: f64| report.lateness.quantile(share).as_nanos() as f64 / 1e3;
    let mut numbers = numbers(&report.counts);
    let more = [
        ("retransmissions", judged),
        ("spurious", spurious),
        ("needed", judged - spurious),
        ("refused", report.refused as f64),
        ("late_us_median", late(0.5)),
        ("late_us_p99", late(0.99)),
        ("late_us_max", report.lateness.longest().as_nanos() as f64 / 1e3),
        ("seconds", report.lasted.as_secs_f64()),
        ("command", f64::from(status.code().unwrap_or(i32::from(FAILED)))),
    ];
    numbers.extend(more.map(|(name, number)| (name.to_owned(), number)));
    numbers
}

fn show(options: &Options, numbers: &Numbers, unmet: &[String]) -> Result<(), Failure> {
    if options.has("--json") {
        let members: Map<String, Value> = numbers.iter().map(|(name, number)| (name.clone(), json!(number))).collect();
        let document = json!({ "numbers": members, "unmet": unmet });
        return print(&json_of("live-hiccup", document));
    }
    let mut text = String::new();
    for (name, number) in numbers {
        text += &format!("  {name:<18} {number}\n");
    }
    eprint!("{text}");
    unmet.iter().for_each(|line| eprintln!("eifel live hiccup: {line}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_testkit::Folder;
    use std::os::unix::process::ExitStatusExt;

    /// Returns whether a command with these switches keeps its own input and output, and the
    /// variables set in its environment.
    fn streams(side: Side, switches: &str) -> (bool, bool, Vec<String>) {
        let words: Vec<String> = switches.split_whitespace().map(str::to_owned).collect();
        let options = Options::read(&words, &VALUED, &["--json", "--keys"]).ok().flatten().unwrap();
        let mut command = Command::new("true");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut command = prepared(command, side, &options);
        let named = command
            .get_envs()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.unwrap_or_default().to_string_lossy()));
        let named = named.collect();
        let mut running = command.spawn().unwrap();
        let kept = (running.stdin.is_some(), running.stdout.is_some(), named);
        running.wait().unwrap();
        kept
    }

    #[test]
    fn the_near_command_has_the_terminal_unless_keys_or_json_need_it() {
        let near = |switches| {
            let (input, output, _) = streams(Side::NEAR, switches);
            (input, output)
        };
        assert_eq!(near(""), (true, true));
        assert_eq!(near("--keys"), (false, true));
        assert_eq!(near("--json"), (true, false));
        assert_eq!(near("--keys --json"), (false, false));
        for switches in ["", "--keys", "--json"] {
            let (input, output, _) = streams(Side::FAR, switches);
            assert_eq!((input, output), (false, false), "{switches}");
        }
    }

    #[test]
    fn both_commands_find_the_addresses_of_both_sides() {
        let [near, far] = [Side::NEAR, Side::FAR].map(|side| streams(side, "").2);
        assert_eq!(
            near,
            ["EIFEL_ADDRESS=10.77.0.1", "EIFEL_ADDRESS6=fd77::1", "EIFEL_PEER=10.77.0.2", "EIFEL_PEER6=fd77::2"]
        );
        assert_eq!(
            far,
            ["EIFEL_ADDRESS=10.77.0.2", "EIFEL_ADDRESS6=fd77::2", "EIFEL_PEER=10.77.0.1", "EIFEL_PEER6=fd77::1"]
        );
    }

    #[test]
    fn values_of_a_run_are_in_the_units_of_their_keys() {
        let mut report = Report {
            retransmissions: 7,
            spurious: 3,
            refused: 2,
            lasted: Duration::from_millis(2500),
            ..Report::default()
        };
        (0..99).for_each(|_| report.lateness.note(Duration::from_micros(8)));
        report.lateness.note(Duration::from_millis(4));
        let numbers = found(&report, ExitStatus::from_raw(5 << 8));
        let named = |numbers: &Numbers, name: &str| numbers.iter().find(|one| one.0 == name).unwrap().1;
        let number = |name: &str| named(&numbers, name);
        assert_eq!((number("retransmissions"), number("spurious"), number("needed")), (7.0, 3.0, 4.0));
        assert_eq!((number("refused"), number("seconds"), number("command")), (2.0, 2.5, 5.0));
        let late = ["late_us_median", "late_us_p99", "late_us_max"].map(number);
        assert_eq!(late, [9.0, 9.0, 4000.0], "two are rounded up");
        // A signal ended it.
        assert_eq!(named(&found(&report, ExitStatus::from_raw(9)), "command"), f64::from(FAILED));
    }

    /// A socket that nobody listens on is replaced. Every other file is left alone.
    #[test]
    fn a_control_socket_replaces_only_a_file_that_nobody_listens_on() {
        let folder = Folder::new();
        let path = folder.join("control");
        let words = ["--control".to_owned(), path.to_string_lossy().into_owned()];
        let options = Options::read(&words, &VALUED, &[]).ok().flatten().unwrap();
        let made = || control(&options).ok().map(|control| (control.keys.is_some(), control.socket.is_some()));
        // The first one leaves its file behind.
        assert_eq!([made(), made()], [Some((false, true)); 2]);
        std::fs::remove_file(&path).unwrap();
        let listens = UnixDatagram::bind(&path).unwrap();
        assert_eq!(made(), None);
        drop(listens);
        assert_eq!(made(), Some((false, true)));
        remove(&options);
        assert!(!path.exists());
        std::fs::write(&path, "a file").unwrap();
        assert_eq!((made(), std::fs::read_to_string(&path).unwrap().as_str()), (None, "a file"));
        let none = Options::read(&[], &VALUED, &[]).ok().flatten().unwrap();
        assert!(control(&none).is_ok_and(|control| control.socket.is_none() && control.keys.is_none()));
    }
}
