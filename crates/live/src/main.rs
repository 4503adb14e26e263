//! `eifel`: the commands that need no Python, in one file to copy to a host.

use std::ffi::OsString;
use std::io::{BufWriter, Write, stderr, stdout};
use std::process::ExitCode;

use eifel_command::{BAD_INPUT, FAILED, OK, print, unless_closed};

const USAGE: &str = "\
Spurious retransmissions: which they are in a capture, and the engine on a real network.

usage: eifel analyze [OPTIONS] FILE ...
       eifel counters [OPTIONS] [FILE ...]
       eifel live COMMAND ...
       eifel script [OPTIONS] FILE|FOLDER ...
       eifel watch [OPTIONS]

  analyze   says of each retransmission in a capture why it was sent, and whether it was needed
  counters  says what the kernel's TCP counters mean, and estimates the needless share of retransmissions
  live      sends, receives, records and judges on a real network
  script    holds conversations with a connection, in packetdrill's grammar and virtual time
  watch     says of each retransmission of this host why it was sent, and whether it was needed, as it happens

`eifel analyze --help` and so on say more. The Python package adds simulation, sweeps, reports and pictures.
";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let name = words.next();
    let rest: Vec<OsString> = words.collect();
    ExitCode::from(match name.as_deref().and_then(|name| name.to_str()) {
        Some("live") => {
            let program = std::env::current_exe().map_or_else(|_| "eifel".into(), OsString::from);
            eifel_live::command::main(&[program, "live".into()], &rest, None)
        }
        Some("analyze") => with(eifel_capture::command::main, rest),
        Some("counters") => with(eifel_watch::command::counters::main, rest),
        Some("script") => with(eifel_script::command::main, rest),
        Some("watch") => with(eifel_watch::command::main, rest),
        Some("-h" | "--help") => shown(USAGE),
        Some("--version") => shown(concat!("eifel ", env!("CARGO_PKG_VERSION"), "\n")),
        None if name.is_none() => refused("no command; see --help"),
        _ => refused(&format!(
            "{:?} is no command; expected analyze, counters, live, script or watch",
            name.unwrap_or_default()
        )),
    })
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
