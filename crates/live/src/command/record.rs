//! `record`: captures what a command sends and receives.

use super::{FAILED, Failure, OK, print};
use crate::capture::Capture;
use crate::system::clock::Clock;
use crate::system::namespace::Namespace;
use crate::system::signals;
use crate::system::wait;
use eifel_base::time::Duration;
use eifel_command::Options;
use eifel_watch::Tap;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

const USAGE: &str = "\
Captures the IP packets of this network namespace while a command runs: for `eifel analyze`. Times are the kernel's.

usage: eifel live record FILE.pcapng -- COMMAND ...

Packets over loopback are there twice, as they leave and as they arrive.

example: eifel live record flow.pcapng -- curl -sO https://example.org/large
";

/// How long packets are taken after the command has ended.
const AFTER: Duration = Duration::from_millis(200);
const LONGEST: usize = 65_535;

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &[], &[])? else { return print(USAGE).map(|()| OK) };
    let ([file], [program, arguments @ ..]) = (&options.rest[..], &options.command[..]) else {
        return Err(Failure::Usage("FILE.pcapng -- COMMAND ... are needed; see --help".to_owned()));
    };
    let tap = Tap::open()?;
    let clock = Clock::start();
    let mut capture = Capture::create(Path::new(file), clock)?;
    let place = capture.place("all")?;
    let signals = signals()?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut running = Namespace::current()?.spawn(command)?;
    let (mut room, mut status, mut ended) = (vec![0; LONGEST], None, None);
    loop {
        if let Some((length, unix_nanos)) = tap.read(&mut room)? {
            let packet = &room[..length];
            if packet.first().is_some_and(|first| matches!(first >> 4, 4 | 6)) {
                capture.note_at(unix_nanos, place, packet, None)?;
            }
            continue;
        }
        if let (None, Some(done)) = (status, running.ended()?) {
            (status, ended) = (Some(done), Some(clock.now()));
        }
        if signals.ask_to_stop() || ended.is_some_and(|ended| clock.now().since(ended) >= AFTER) {
            break;
        }
        wait::until_readable(&[tap.as_fd()], Duration::from_millis(20))?;
    }
    running.kill();
    capture.finish()?;
    let missed = tap.missed()?;
    if missed > 0 {
        eprintln!("eifel live record: {missed} packets are not in {file}: they came faster than they could be written");
    }
    let code = status.and_then(|status| status.code()).unwrap_or(i32::from(FAILED));
    Ok(u8::try_from(code).unwrap_or(FAILED))
}
