//! `eifel`: the commands that need no Python, in one file to copy to a host.

use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;

use eifel_command::page::{Screen, WITHOUT_TERMINAL};
use eifel_command::{BAD_INPUT, FAILED, OK, nearest, print, unless_closed};

const USAGE: &str = "\
Spurious retransmissions: which they are in a capture, in a simulation, and on a real network.

usage: eifel advise [OPTIONS] FILE ...
       eifel analyze [OPTIONS] FILE ...
       eifel counters [OPTIONS] [FILE ...]
       eifel live COMMAND ...
       eifel run [OPTIONS] SCENARIO.toml
       eifel script [OPTIONS] FILE|FOLDER ...
       eifel watch [OPTIONS]
       eifel whatif [OPTIONS] FILE

  advise    says what another setting of the sender would have done to retransmissions that left
  analyze   says of each retransmission in a capture why it was sent, and whether it was needed
  counters  says what the kernel's TCP counters mean, and estimates the needless share of retransmissions
  live      sends, receives, records and judges on a real network
  run       runs a scenario in the simulator, and says what became of each flow
  script    holds conversations with a connection, in packetdrill's grammar and virtual time
  watch     says of each retransmission of this host why it was sent, and whether it was needed, as it happens
  whatif    runs other senders over the path that a capture shows

`eifel analyze --help` and so on say more. The Python package adds sweeps, reports and pictures.
";

/// The commands, as they stand in the usage.
const COMMANDS: [&str; 8] = ["advise", "analyze", "counters", "live", "run", "script", "watch", "whatif"];

fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os().skip(1).collect()))
}

fn run(mut words: Vec<OsString>) -> u8 {
    if words.first().is_some_and(|first| first == "help") {
        // `eifel help live send` is `eifel live send --help`.
        words.remove(0);
        words.push("--help".into());
    }
    let mut words = words.into_iter();
    let name = words.next();
    let rest: Vec<OsString> = words.collect();
    match name.as_deref().and_then(|name| name.to_str()) {
        Some("live") => {
            let program = std::env::current_exe().map_or_else(|_| "eifel".into(), OsString::from);
            eifel_live::command::main(&[program, "live".into()], &rest, None)
        }
        Some("advise") => with(advise, rest),
        Some("analyze") => with(eifel_capture::command::main, rest),
        Some("counters") => with(eifel_watch::command::counters::main, rest),
        Some("run") => with(simulate, rest),
        Some("script") => with(eifel_script::command::main, rest),
        Some("watch") => with(eifel_watch::command::main, rest),
        Some("whatif") => with(whatif, rest),
        Some("-h" | "--help") => shown(USAGE),
        Some("--version") => shown(concat!("eifel ", env!("CARGO_PKG_VERSION"), "\n")),
        None if name.is_none() => refused("no command; see --help"),
        _ => {
            let name = name.unwrap_or_default();
            let near = nearest(&name.to_string_lossy(), COMMANDS);
            refused(&format!("{name:?} is no command{near}; expected {}; see --help", COMMANDS.join(", ")))
        }
    }
}

type Command = fn(&[String], &mut dyn Write, &mut dyn Write) -> u8;

fn with(command: Command, words: Vec<OsString>) -> u8 {
    let words = match words.into_iter().map(OsString::into_string).collect::<Result<Vec<_>, _>>() {
        Ok(words) => words,
        Err(word) => return refused(&format!("{word:?}: not UTF-8; expected names and values in UTF-8")),
    };
    let mut out = BufWriter::new(stdout().lock());
    let code = command(&words, &mut out, &mut stderr().lock());
    unless_closed(out.flush()).map_or_else(|error| unwritten(&error), |()| code)
}

/// Returns how pages are shown on standard output.
fn screen() -> Screen {
    let size = rustix::termios::tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col));
    let columns = size.filter(|columns| *columns > 0).unwrap_or(WITHOUT_TERMINAL);
    Screen { columns, styled: stdout().is_terminal() }
}

/// Returns a counter on standard error, where that is a terminal.
fn counter() -> impl FnMut(&str, u64, u64) -> Result<(), String> {
    let is_seen = stderr().is_terminal();
    move |what, done, all| {
        // A counter that cannot be written is no failure of the command.
        if is_seen && all > 0 {
            let share = 100 * done.min(all) / all;
            _ = write!(stderr(), "\r{what} {share} %\x1b[K{}", if done < all { "" } else { "\r\x1b[K" });
        }
        Ok(())
    }
}

fn advise(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    eifel_capture::advise::command::main(words, screen(), (out, err))
}

fn whatif(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let mut counter = counter();
    eifel_whatif::command::main(words, screen(), (out, err), &mut |what, done, all| counter(what, done, all))
}

fn simulate(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let mut counter = counter();
    eifel_sim::command::main(words, None, screen(), (out, err), &mut |done, all| counter("runs", done, all))
}

fn shown(text: &str) -> u8 {
    print(text).map_or_else(|error| unwritten(&error), |()| OK)
}

fn unwritten(error: &std::io::Error) -> u8 {
    eprintln!("eifel: standard output: {error}");
    FAILED
}

fn refused(what: &str) -> u8 {
    eprintln!("eifel: {what}");
    BAD_INPUT
}
