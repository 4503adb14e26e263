//! `undo`: this kernel's CUBIC with another undo, while a command runs.

use super::{BAD_INPUT, FAILED, Failure, OK, print};
use crate::system::namespace::Namespace;
use crate::system::wait;
use crate::system::{Error, signals};
use eifel_base::time::Duration;
use eifel_command::{Options, nearest};
use eifel_watch::undo::{COLUMNS, Rule, Settings, Undo, Undone, cookie, switch};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;

const USAGE: &str = "\
Changes what this kernel's CUBIC restores when the kernel finds that a retransmission was needless, while a command runs.

usage: eifel live undo [OPTIONS] RULE -- COMMAND ...
       eifel live undo off|on

RULE is
  full          cwnd and ssthresh before the loss signal: what Linux does
  rfc4015       cwnd = the flight + what the ACK acknowledged, at most 10 segments; ssthresh = the flight at the loss signal,
                or ssthresh then, whichever is more
  as-carried    cwnd = the flight + at most 2 segments; slow start up to the flight at the loss signal
  none          nothing

It holds for TCP connections that are opened or accepted in this network namespace while COMMAND runs. They use CUBIC,
whatever they would use otherwise. When the kernel undoes, and what counts as needless, does not change. No file, route or
setting of the system changes: with this process, however it ends, all is gone for new connections. An open one keeps its
rule.

  --restore-epoch    restores CUBIC's curve and its epoch too (RFC 9438, section 4.9), which Linux does not
  --to PREFIX        only connections to these addresses, as 192.0.2.0/24
  --out FILE.csv     writes each undo with the windows before and after it

off switches the rules of all such processes off, also for open connections: then each undo is the kernel's own. on
switches them on again.

Needs root, Linux 6.4 or newer with its types (BTF), and CUBIC in it rather than as a module.

example: eifel live undo rfc4015 --to 198.51.100.0/24 -- sh -c 'curl -sT large.bin http://198.51.100.7/'
";

/// How often undos are read.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &["--to", "--out"], &["--restore-epoch"])? else {
        return print(USAGE).map(|()| OK);
    };
    match (&options.rest[..], &options.command[..]) {
        ([word], []) if word == "off" || word == "on" => turn(word),
        ([word], [program, arguments @ ..]) => {
            let restores_epoch = options.has("--restore-epoch");
            let to = options
                .text("--to")
                .map(str::parse)
                .transpose()
                .map_err(|what| Failure::Usage(format!("--to {what}")))?;
            let settings = Settings { rule: rule(word)?, restores_epoch, cookie: cookie().map_err(refused)?, to };
            let mut command = Command::new(program);
            command.args(arguments);
            run(&settings, command, options.text("--out"))
        }
        _ => Err(Failure::Usage("RULE -- COMMAND ... are needed; see --help".to_owned())),
    }
}

fn rule(word: &str) -> Result<Rule, Failure> {
    let names = Rule::ALL.map(Rule::name);
    Rule::ALL.into_iter().find(|rule| rule.name() == word).ok_or_else(|| {
        let near = nearest(word, names);
        Failure::Usage(format!("{word}: no such rule{near}; allowed: {}", names.join(", ")))
    })
}

/// Advises as root of a user namespace cannot help: the kernel has one list of congestion controls.
fn refused(error: eifel_watch::Error) -> Failure {
    let advice = if error.is_denied { "run it as root" } else { "" };
    Error::new(error.tried, &error.cause, advice).into()
}

fn turn(word: &str) -> Result<u8, Failure> {
    let count = switch(word == "on").map_err(refused)?;
    if count == 0 {
        eprintln!("eifel live undo: no rule is there to switch {word}");
        return Ok(BAD_INPUT);
    }
    print(&format!("{count} switched {word}\n")).map(|()| OK)
}

fn run(settings: &Settings, command: Command, out: Option<&str>) -> Result<u8, Failure> {
    let mut undo = Undo::new(settings).map_err(refused)?;
    let mut table = out.map(Table::create).transpose()?;
    let signals = signals()?;
    let mut running = Namespace::current()?.spawn(command)?;
    let mut count = 0;
    let status = loop {
        let status = running.ended()?;
        while let Some(undone) = undo.poll() {
            count += 1;
            table.as_mut().map_or(Ok(()), |table| table.row(&undone))?;
        }
        if status.is_some() || signals.ask_to_stop() {
            break status;
        }
        wait::until_readable(&[], PAUSE)?;
    };
    running.kill();
    table.map_or(Ok(()), Table::finish)?;
    let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    eprintln!("eifel live undo: {} of {}", plural(count, "undo"), plural(undo.connections(), "connection"));
    let code = status.and_then(|status| status.code()).unwrap_or(i32::from(FAILED));
    Ok(u8::try_from(code).unwrap_or(FAILED))
}

/// The file of undos.
struct Table {
    file: BufWriter<File>,
    /// Nanoseconds from 1970 to the machine's start.
    start: u64,
}

impl Table {
    fn create(path: &str) -> Result<Self, Error> {
        let mut file = BufWriter::new(File::create(path).map_err(Error::of(path))?);
        writeln!(file, "{COLUMNS}").map_err(Error::of(path))?;
        let nanos = |clock| {
            let now = clock_gettime(clock);
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
        };
        Ok(Self { file, start: nanos(ClockId::Realtime).saturating_sub(nanos(ClockId::Monotonic)) })
    }

    fn row(&mut self, undone: &Undone) -> Result<(), Error> {
        let micros = (self.start + undone.nanos) / 1000;
        let mut line = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        for value in &undone.values {
            line.push_str(&format!(",{value}"));
        }
        writeln!(self.file, "{line}").map_err(Error::of("write the undos"))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.file.flush().map_err(Error::of("write the undos"))
    }
}
