//! `receive`: receives the data sent to a port, or gets a document from an HTTP server.

use super::output::Show;
use super::recorded::{self, Transferred};
use super::send::{call, finish, is_success, no_way, refusal, status};
use super::setup::{self, Setup, terms};
use super::target::{Service, Target};
use super::{Failure, OK, Recordings, json_of, print, say};
use crate::apps::Amount;
use crate::apps::client;
use crate::apps::server::{self, Read, Server};
use crate::end_settings::{EndSettings, Role};
use crate::recording::Recording;
use crate::system::Error;
use eifel_base::time::Duration;
use eifel_command::Options;
use serde_json::json;

const FLAGS: [&str; 3] = ["--json", "--check", "--offload"];

fn usage() -> String {
    format!(
        "\
Receives streams on a host of ours, on a TUN device.

usage: eifel live receive [OPTIONS] PORT|http://ADDRESS[:PORT]/PATH [-- COMMAND ...]

  PORT                  where it listens
  --calls N             ends after N connections (default: 1)
  --record FOLDER       records a connection: tables of what arrives and of what this end sends, and a page
  --check               compares every byte with those that `eifel live send` sends
{}
example: eifel live receive 5001 -- sh -c 'head -c 10000000 /dev/zero | nc -N 10.85.0.2 5001'
",
        setup::help(&FLAGS, setup::IN_IPERF3_SHAPE)
    )
}

pub(super) fn command(words: &[String], recordings: Recordings<'_>) -> Result<u8, Failure> {
    let valued = [&setup::VALUED[..], &["--calls", "--record"]].concat();
    let Some(options) = Options::read(words, &valued, &FLAGS)? else {
        return print(&usage()).map(|()| OK);
    };
    let [from] = &options.rest[..] else {
        return Err(Failure::Usage("one PORT or http://ADDRESS[:PORT]/PATH is needed".to_owned()));
    };
    recorded::check(&options, &recordings)?;
    if options.has("--record") && options.has("--calls") {
        return Err(Failure::Usage("--record: one connection is recorded; leave --calls out".to_owned()));
    }
    match from.parse::<u16>() {
        Ok(port) if port > 0 => listen(&options, port, recordings),
        _ => get(&options, from, recordings),
    }
}

fn get(options: &Options, from: &str, recordings: Recordings<'_>) -> Result<u8, Failure> {
    let refused = || Failure::Usage(format!("{from}: expected a PORT from 1 to 65535, or http://ADDRESS[:PORT]/PATH"));
    let target = Target::parse(from).map_err(|_| refused())?;
    if target.service != Service::Http {
        return Err(refused());
    }
    let every = setup::interval(options)?;
    let mut place = Setup::that_calls(options)?;
    let EndSettings { settings, sender } = terms(options, Role::Calls, place.secret)?;
    let show = Show::new(options.has("--json"), false, &sender);
    let recording = recorded::begin(options, &mut place, &sender, Recording::receiving);
    let (path, host) = (&target.path, target.address);
    let preamble = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").into_bytes();
    let (peer, end) = (target.address, client::End::PeerCloses);
    let plan = client::Plan { peer, settings, sender, preamble, body: Amount::Bytes(0), end, every };
    let (outcome, meter) = call(&mut place, plan, show.watch())?;
    let moved = moved(outcome.read, outcome.lasted);
    recorded::finish(options, recording, recordings, &mut place, &moved)?;
    match status(&outcome.head) {
        Some(status) if is_success(status) => finish(&show, &target, &outcome, meter, Amount::Bytes(0)),
        Some(status) => Err(refusal(peer, status).into()),
        None => Err(Error::new(peer.to_string(), &"no answer in HTTP", "").into()),
    }
}

/// Describes the data of one connection, all of which has arrived.
fn moved(bytes: u64, lasted: Duration) -> Transferred {
    Transferred { command: "eifel live receive", written: bytes, arrived: bytes, lasted }
}

fn listen(options: &Options, port: u16, recordings: Recordings<'_>) -> Result<u8, Failure> {
    let every = setup::interval(options)?;
    let calls = Some(options.value("--calls", "a whole number")?.unwrap_or(1));
    let mut place = Setup::that_answers(options)?;
    let EndSettings { settings, sender } = terms(options, Role::Answers, place.secret)?;
    let show = Show::new(options.has("--json"), false, &sender);
    let recording = recorded::begin(options, &mut place, &sender, Recording::receiving);
    let plan = server::Plan { port, settings, sender, calls, checked: options.has("--check"), every };
    let mut answer = Server::begin(&mut place.station.host, plan, show.watch()).map_err(|error| no_way(&error))?;
    place.run(&mut answer)?;
    let reads = answer.finish();
    if let Some(first) = reads.first() {
        recorded::finish(options, recording, recordings, &mut place, &moved(first.bytes, first.lasted))?;
    }
    if show.json {
        let streams: Vec<_> = reads.iter().map(stream).collect();
        return print(&json_of("live-receive", json!({ "streams": streams }))).map(|()| OK);
    }
    for read in reads {
        say(&format!("{} bytes in {:.6} s", read.bytes, read.lasted.as_secs_f64()));
    }
    Ok(OK)
}

fn stream(read: &Read) -> serde_json::Value {
    let (bytes, seconds) = (read.bytes, read.lasted.as_secs_f64());
    let rate = if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
    json!({ "bytes": bytes, "seconds": seconds, "bits_per_second": rate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::meter::Meter;
    use eifel_base::time::{Duration, Instant};

    #[test]
    fn a_streams_rate_is_its_bytes_over_its_duration() {
        let read = |lasted| Read { bytes: 1000, lasted, meter: Meter::new(Instant::ZERO, Duration::from_secs(1)) };
        let shown = |lasted| stream(&read(lasted)).to_string();
        let expected = r#"{"bits_per_second":4000.0,"bytes":1000,"seconds":2.0}"#;
        assert_eq!(shown(Duration::from_secs(2)), expected);
        assert_eq!(shown(Duration::ZERO), r#"{"bits_per_second":0.0,"bytes":1000,"seconds":0.0}"#);
    }

    #[test]
    fn record_contradicts_calls() {
        let said = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            match command(&words, Some(&mut Vec::new())) {
                Err(Failure::Usage(what)) => what,
                _ => panic!("{words:?} makes nothing"),
            }
        };
        assert_eq!(said("--record x --calls 2 5"), "--record: one connection is recorded; leave --calls out");
        for words in ["--record x 0", "--calls 2 0"] {
            assert!(said(words).starts_with("0: expected a PORT"), "{words}");
        }
    }
}
