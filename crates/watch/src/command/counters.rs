//! The command `counters` of the program `eifel`, and `watch --from counters`.

use super::{Failure, marked, reported};
use crate::counters::{Counters, Estimate, FEWEST, Group, MEANINGS, Meaning, OF_THIS_HOST, Signs};
use crate::watch::nanos;
use eifel_command::{OK, Options, Signals, Usage, unless_closed};
use rustix::time::ClockId;
use serde::Serialize;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

const USAGE: &str = "\
Says in words what the kernel's TCP counters mean, and estimates from them which share of the retransmissions was
needless. Of Linux 5.9 on; it needs no rights.

usage: eifel counters [OPTIONS] [FILE ...]

  --since FILE   take an earlier text off: counters count from the start of the host on
  --seconds N    count this host's for N seconds; Ctrl-C ends it earlier
  --json         print JSON

FILE is a text of /proc/net/netstat or snmp, of nstat (also -az or -j), of node_exporter, or of ss -ti; - is standard
input. Several files are of one host. Without FILE: this host's, in its network namespace.

example: nstat -az | eifel counters -
";

/// The longest wait between two looks at the signals.
const STEP: Duration = Duration::from_millis(100);

/// Runs the command with its `words`, and returns the exit code. Results go to `out`, and what is wrong to `err`.
pub fn main(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    reported(err, |note| counters(words, out, note))
}

fn counters(words: &[String], out: &mut dyn Write, note: &mut dyn FnMut(&str)) -> Result<u8, Failure> {
    let Some(options) = Options::read(words, &["--since", "--seconds"], &["--json"])? else {
        unless_closed(out.write_all(USAGE.as_bytes()).and_then(|()| out.flush()))?;
        return Ok(OK);
    };
    if !options.command.is_empty() {
        return Err(Usage("counters: --: expected files; see --help".to_owned()).into());
    }
    let files: Vec<&str> = options.rest.iter().map(String::as_str).collect();
    let before = options.text("--since").map(read).transpose()?;
    if options.seconds("--seconds")?.is_some() {
        if before.is_some() || !files.is_empty() {
            return Err(Usage("--seconds: expected neither FILE nor --since beside it".to_owned()).into());
        }
        return during(&options, out, &mut || note("counters: counting"));
    }
    let shown = if files.is_empty() { OF_THIS_HOST.to_vec() } else { files };
    let mut counters = joined(&shown)?;
    if let Some(before) = before {
        counters = grown(&counters, &before, options.text("--since").unwrap_or_default())?;
    }
    show(&counters, None, options.has("--json"), out)
}

/// Shows how this host's counters grow for the time of `--seconds`, or until Ctrl-C. Says when it `begins`.
pub(super) fn during(options: &Options, out: &mut dyn Write, begins: &mut dyn FnMut()) -> Result<u8, Failure> {
    let time = options.seconds("--seconds")?.map(|time| time.as_nanos());
    let signals = Signals::note().map_err(|error| Failure::Failed(format!("sigaction: {error}")))?;
    let (before, began) = (joined(&OF_THIS_HOST)?, nanos(ClockId::Monotonic));
    begins();
    let passed = || nanos(ClockId::Monotonic) - began;
    while !signals.ask_to_stop() && time.is_none_or(|time| passed() < time) {
        let left = time.map_or(STEP, |time| Duration::from_nanos(time.saturating_sub(passed())));
        thread::sleep(left.min(STEP));
    }
    let counters = grown(&joined(&OF_THIS_HOST)?, &before, "this host")?;
    show(&counters, Some(passed() as f64 / 1e9), options.has("--json"), out)
}

fn grown(counters: &Counters, before: &Counters, named: &str) -> Result<Counters, Usage> {
    let down =
        |name| Usage(format!("--since {named}: {name} was larger then; expected an earlier text of the same host"));
    counters.since(before).map_err(down)
}

fn joined(files: &[&str]) -> Result<Counters, Usage> {
    let mut all = Counters::default();
    for file in files {
        let twice =
            |name| Usage(format!("{file}: {name} is in another file too; expected the counters of one host, once"));
        all.join(read(file)?).map_err(twice)?;
    }
    Ok(all)
}

fn read(file: &str) -> Result<Counters, Usage> {
    let mut text = String::new();
    let got = match file {
        "-" => std::io::stdin().lock().read_to_string(&mut text),
        file => std::fs::File::open(file).and_then(|mut opened| opened.read_to_string(&mut text)),
    };
    let named = if file == "-" { "standard input" } else { file };
    got.map_err(|error| Usage(format!("{named}: {error}")))?;
    Counters::parse(&text).map_err(|malformed| Usage(format!("{named}: {malformed}")))
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    group: Group,
    value: u64,
    means: &'static str,
}

#[derive(Serialize)]
struct Shown {
    /// How long this host's were counted; `None` for texts.
    seconds: Option<f64>,
    counters: Vec<Row>,
    /// Segments with data that were sent again, if the counters show them.
    retransmissions: Option<u64>,
    /// The share of these that was reported as received twice.
    duplicates: Option<f64>,
    estimate: Option<Estimate>,
    /// Why there is none.
    no_estimate: Option<String>,
}

impl Shown {
    fn of(counters: &Counters, seconds: Option<f64>) -> Self {
        let row = |one: &Meaning| {
            let Meaning { name, group, means } = *one;
            counters.get(name).map(|value| Row { name, group, value, means })
        };
        let signs = Signs::of(counters);
        let estimate = signs.ok().and_then(|signs| signs.estimate());
        let no_estimate = match signs {
            Err(name) => Some(format!(
                "{name} is not in the text; node_exporter has it with --collector.netstat.fields='^(Tcp|TcpExt)_.*'"
            )),
            Ok(signs) if estimate.is_none() => {
                Some(format!("{} retransmissions of data are too few; {FEWEST} are needed", signs.retransmissions))
            }
            Ok(_) => None,
        };
        Self {
            seconds,
            counters: MEANINGS.iter().filter_map(row).collect(),
            retransmissions: signs.ok().map(|signs| signs.retransmissions),
            duplicates: signs.ok().map(|signs| signs.duplicates),
            estimate,
            no_estimate,
        }
    }

    fn text(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut group = None;
        for row in self.counters.iter().filter(|row| row.value > 0) {
            if group.replace(row.group) != Some(row.group) {
                lines.push(format!("{}:", row.group.heading()));
            }
            lines.push(format!("{:>12}  {:<24}  {}", row.value, row.name, row.means));
        }
        let zeros: Vec<&str> = self.counters.iter().filter(|row| row.value == 0).map(|row| row.name).collect();
        if !zeros.is_empty() {
            lines.push(format!("0: {}", zeros.join(", ")));
        }
        lines.extend(self.no_estimate.as_ref().map(|why| format!("no estimate: {why}")));
        if let (Some(estimate), Some(count)) = (&self.estimate, self.retransmissions) {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let [share, low, high] = [estimate.share, estimate.low, estimate.high];
            lines.push(format!(
                "estimate: {} of {count} retransmissions were needless, about {:.0}; in nine of ten recordings with such \
                 counters, {} to {}",
                percent(share),
                share * count as f64,
                percent(low),
                percent(high)
            ));
            lines.push(format!(
                "because {}; fitted to {} recordings of Linux {}",
                estimate.situation.words(),
                estimate.recordings,
                estimate.kernel
            ));
        }
        lines
    }
}

fn show(counters: &Counters, seconds: Option<f64>, json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let shown = Shown::of(counters, seconds);
    let written = match json {
        true => marked(out, "counters", &shown),
        false => shown.text().iter().try_for_each(|line| writeln!(out, "{line}")),
    };
    unless_closed(written.and_then(|()| out.flush()))?;
    Ok(OK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_command::BAD_INPUT;
    use eifel_testkit::{TextFile, command::answer};

    const SS: &str = "ESTAB 0 0 a:1 b:2\n ts sack cubic rto:204 data_segs_out:90 retrans:0/20 dsack_dups:4\n";

    fn said(words: &[&str]) -> (u8, String, String) {
        answer(words, |words, out, err| main(words, out, err))
    }

    #[test]
    fn counters_are_explained_and_the_share_is_estimated() {
        let text = Shown::of(&Counters::parse(SS).unwrap(), None).text().join("\n");
        assert!(text.starts_with("sums over sockets:\n           1  sockets                   sockets with"), "{text}");
        assert!(text.contains("0: sockets_without_sack, bytes_retrans, dsack_dups_ignored, reord_seen\n"), "{text}");
        assert!(text.contains("of 20 retransmissions were needless, about "), "{text}");
        assert!(text.contains("\nbecause peers report duplicates; fitted to "), "{text}");
    }

    #[test]
    fn a_missing_counter_or_too_few_retransmissions_are_told() {
        let why = |text: &str| Shown::of(&Counters::parse(text).unwrap(), None).no_estimate.unwrap();
        let node = "node_netstat_Tcp_RetransSegs 20\nnode_netstat_TcpExt_TCPSynRetrans 1\n";
        assert!(why(node).starts_with("TCPDSACKRecvSegs is not in the text; node_exporter"), "{}", why(node));
        assert_eq!(why(&SS.replace("0/20", "0/4")), "4 retransmissions of data are too few; 5 are needed");
    }

    #[test]
    fn json_begins_with_its_schema_and_a_second_text_is_taken_off() {
        let (now, before) = (TextFile::new(SS, ""), TextFile::new(&SS.replace("0/20", "0/9"), ""));
        let (code, out, err) = said(&[&now, "--since", &before, "--json"]);
        assert_eq!((code, err.as_str()), (OK, ""));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(out.starts_with("{\"schema\":\"counters\",\"version\":1,\"seconds\":null,"), "{out}");
        assert_eq!(value["retransmissions"], 11);
        let (code, _, err) = said(&[&before, "--since", &now]);
        let expected = format!(
            "eifel: --since {}: total_retrans was larger then; expected an earlier text of the same host\n",
            &*now
        );
        assert_eq!((code, err), (BAD_INPUT, expected));
    }

    #[test]
    fn this_host_is_counted_for_a_while() {
        let (code, out, err) = said(&["--seconds", "0.01", "--json"]);
        assert_eq!((code, err.as_str()), (OK, "eifel: counters: counting\n"));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(value["seconds"].as_f64().unwrap() >= 0.01);
    }

    #[test]
    fn wrong_words_and_files_are_refused_in_one_line() {
        let file = TextFile::new("hello\n", "");
        for (words, expected) in [
            (&["/nowhere"][..], "eifel: /nowhere: No such file or directory (os error 2)\n".to_owned()),
            (&["--seconds", "0"], "eifel: --seconds 0: expected seconds, more than 0\n".to_owned()),
            (&["--seconds", "1", "x"], "eifel: --seconds: expected neither FILE nor --since beside it\n".to_owned()),
            (
                &[&file],
                format!(
                    "eifel: {}: line 1: expected the text of /proc/net/netstat or snmp, of nstat, node_exporter or ss -ti\n",
                    &*file
                ),
            ),
        ] {
            let (code, out, err) = said(words);
            assert_eq!((code, out.as_str(), err), (BAD_INPUT, "", expected));
        }
        let twice = said(&["/proc/net/snmp", "/proc/net/snmp"]).2;
        assert!(twice.ends_with("is in another file too; expected the counters of one host, once\n"), "{twice}");
    }
}
