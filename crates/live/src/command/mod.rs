//! The commands `advise`, `send`, `receive`, `sctp`, `proxy`, `record`, `hiccup`, `judge`, `compare`, `truth`,
//! `decisions`, `worlds` and `undo` of `eifel live`.

mod advised;
mod compare;
mod decisions;
mod hiccup;
mod judge;
mod output;
mod proxy;
mod receive;
mod record;
mod recorded;
mod sctp;
mod send;
mod setup;
mod target;
mod truth;
mod undo;
mod view;
mod worlds;

use crate::system::Error;
use eifel_command::{BAD_INPUT, FAILED, OK, Usage, unless_closed};
use eifel_sim::record::Tables;
use eifel_sim::summary::FlowSummary;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;

const USAGE: &str = "\
The engine on a real network.

usage: eifel live advise [OPTIONS] FOLDER
       eifel live send [OPTIONS] TARGET [-- COMMAND ...]
       eifel live receive [OPTIONS] TARGET [-- COMMAND ...]
       eifel live sctp send|receive [OPTIONS] TARGET [-- COMMAND ...]
       eifel live proxy [OPTIONS] PORT [-- COMMAND ...]
       eifel live record FILE.pcapng -- COMMAND ...
       eifel live hiccup [OPTIONS] SCENARIO.toml -- COMMAND ...
       eifel live judge [OPTIONS] FOLDER
       eifel live compare [OPTIONS] SCENARIO.toml
       eifel live truth [OPTIONS] FOLDER
       eifel live decisions [OPTIONS] FOLDER
       eifel live worlds [OPTIONS] [FOLDER]
       eifel live undo [OPTIONS] RULE -- COMMAND ...

  advise    judges eifel advise by this kernel: predicts what a setting does, and tries it
  send      sends to a kernel, an iperf3 server or an HTTP server
  receive   receives a stream, or fetches it from an HTTP server
  sctp      sends and receives messages over SCTP, native or in UDP
  proxy     lets any program send through a host of ours: SOCKS 5 and HTTP CONNECT on loopback
  record    captures what COMMAND sends and receives
  hiccup    runs COMMAND behind a box that delays and drops its packets as SCENARIO says
  judge     says which retransmissions of a kernel behind the box were needed, and what the kernel undid
  compare   runs SCENARIO in the simulator and live, and compares the two
  truth     records this kernel's TCP over drawn paths, with the truth about each retransmission
  decisions compares this kernel's undos with those of detect = \"linux\", over the same packets
  worlds    plays small worlds against this kernel, and says where it undoes wrongly or otherwise than detect = \"linux\"
  undo      changes what this kernel's CUBIC restores after a needless retransmission, while COMMAND runs

`eifel live send --help` and so on say more.
";

/// Why a command failed.
enum Failure {
    /// The command line is wrong; the text says what is wrong and what is allowed.
    Usage(String),
    /// An error of the system, the network or the peer.
    Failed(Error),
    /// Rights are missing that a user namespace would give.
    NeedsRoot(Error),
}

impl From<Usage> for Failure {
    fn from(Usage(what): Usage) -> Self {
        Self::Usage(what)
    }
}

impl From<eifel_watch::Error> for Failure {
    fn from(error: eifel_watch::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A recorded run, to be written in the files of a simulated run.
pub struct Recorded {
    /// The folder to write to.
    pub folder: String,
    /// The text of its scenario.
    pub scenario: String,
    /// The path or command that the scenario comes from.
    pub origin: String,
    /// The summary of its flow.
    pub summary: FlowSummary,
    pub tables: Tables,
}

/// Receives recorded runs; `None` if the caller cannot write them.
pub type Recordings<'a> = Option<&'a mut Vec<Recorded>>;

/// Runs a command, and returns the exit code. `called_as` is the program and the arguments in front
/// of `arguments`. If rights are missing, the same call is started again in a user namespace.
pub fn main(called_as: &[OsString], arguments: &[OsString], recordings: Recordings<'_>) -> u8 {
    let words: Result<Vec<String>, _> = arguments.iter().map(|word| word.clone().into_string()).collect();
    let done = match words.as_deref() {
        Err(word) => Err(Failure::Usage(format!("{word:?}: expected UTF-8"))),
        Ok([]) => Err(Failure::Usage("no command; see --help".to_owned())),
        Ok([name, rest @ ..]) => match name.as_str() {
            "advise" => advised::command(rest),
            "send" => send::command(rest, recordings),
            "receive" => receive::command(rest, recordings),
            "hiccup" => hiccup::command(rest),
            "record" => record::command(rest),
            "sctp" => sctp::command(rest),
            "proxy" => proxy::command(rest),
            "judge" => judge::command(rest),
            "compare" => compare::command(rest),
            "truth" => truth::command(rest),
            "decisions" => decisions::command(rest),
            "worlds" => worlds::command(rest),
            "undo" => undo::command(rest),
            "-h" | "--help" => print(USAGE).map(|()| OK),
            other => Err(Failure::Usage(format!(
                "{other}: no such command; allowed: advise, send, receive, sctp, proxy, record, hiccup, judge, compare, truth, \
                 decisions, worlds, undo"
            ))),
        },
    };
    let line = match done {
        Ok(code) => return code,
        Err(Failure::NeedsRoot(error)) => again(called_as, arguments, &error),
        Err(Failure::Usage(what)) => {
            eprintln!("eifel live: {what}");
            return BAD_INPUT;
        }
        Err(Failure::Failed(error)) => error.to_string(),
    };
    eprintln!("eifel live: {line}");
    FAILED
}

/// Environment variable of a restarted call, so that a call is restarted only once.
const AGAIN: &str = "EIFEL_LIVE_AGAIN";

/// Restarts the call as the root of a user namespace. Returns only if that fails, with the reason.
fn again(called_as: &[OsString], arguments: &[OsString], error: &Error) -> String {
    if std::env::var_os(AGAIN).is_some() {
        return error.to_string();
    }
    const USER_NAMESPACE: [&str; 3] = ["--user", "--map-root-user", "--"];
    let tried = Command::new("unshare").args(USER_NAMESPACE).arg("true").output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return format!("{error}; user namespaces are not allowed here");
    }
    let mut unshare = Command::new("unshare");
    unshare.args(USER_NAMESPACE).args(called_as).args(arguments).env(AGAIN, "1");
    format!("{error}; and in a user namespace: unshare: {}", unshare.exec())
}

/// Writes `text` to standard output.
fn print(text: &str) -> Result<(), Failure> {
    eifel_command::print(text).map_err(|error| Error::new("standard output", &error, "").into())
}

/// Returns what a command prints with `--json`: the numbers, and the name and version of their schema (in
/// docs/reference/schemas).
fn json_of(schema: &str, mut document: serde_json::Value) -> String {
    document["schema"] = schema.into();
    document["version"] = 1.into();
    format!("{document:#}\n")
}

/// Writes a line to standard output during a run. A failure is reported, and does not end the run.
fn say(line: &str) {
    if let Err(error) = unless_closed(writeln!(std::io::stdout(), "{line}")) {
        eprintln!("eifel live: standard output: {error}");
    }
}
