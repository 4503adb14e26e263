//! `send`: sends bulk data to a kernel, to an iperf3 server, or to an HTTP server.

use super::output::{Show, document};
use super::recorded::{self, Transferred};
use super::setup::{self, Setup, terms};
use super::target::{FORMS, Service, Target};
use super::{Failure, OK, Recordings, print, say};
use crate::apps::client::{self, Client, Outcome};
use crate::apps::iperf::{self, Test};
use crate::apps::meter::Meter;
use crate::apps::{Amount, Watch};
use crate::end_settings::{EndSettings, Role};
use crate::recording::Recording;
use crate::system::Error;
use eifel_base::time::Duration;
use eifel_command::Options;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::net::SocketAddr;

const FLAGS: [&str; 3] = ["--json", "--offload", "--view"];

fn usage() -> String {
    format!(
        "\
Sends a stream from a host of ours, on a TUN device, to a peer, and prints what its engine does.

usage: eifel live send [OPTIONS] TARGET [-- COMMAND ...]

  TARGET                {FORMS}
  --bytes N             ends after N bytes: 200, 64K, 10M or 2G
  --seconds S           ends after S seconds (default: 10)
  --view                draws the sender's variables as they move, ten times a second, on a terminal
  --record FOLDER       records the sender as `eifel run --record` does: tables, for plots and reports
{}
example: eifel live send --seconds 5 iperf3://10.85.0.1 -- iperf3 -s -1
",
        setup::help(&FLAGS, setup::IN_IPERF3_SHAPE)
    )
}

/// The default length of a run.
const USUAL: Duration = Duration::from_secs(10);

pub(super) fn command(words: &[String], recordings: Recordings<'_>) -> Result<u8, Failure> {
    let valued = [&setup::VALUED[..], &["--bytes", "--seconds", "--record"]].concat();
    let Some(options) = Options::read(words, &valued, &FLAGS)? else {
        return print(&usage()).map(|()| OK);
    };
    let [target] = &options.rest[..] else {
        return Err(Failure::Usage(format!("one TARGET is needed: {FORMS}")));
    };
    let target = Target::parse(target)?;
    let amount = amount(&options)?;
    let views = options.has("--view");
    let every = setup::interval(&options)?;
    if views && (options.has("--json") || !std::io::stdout().is_terminal()) {
        return Err(Failure::Usage("--view: needs a terminal, and no --json".to_owned()));
    }
    recorded::check(&options, &recordings)?;
    let mut place = Setup::that_calls(&options)?;
    let end = terms(&options, Role::Calls, place.secret)?;
    let show = Show::new(options.has("--json"), true, &end.sender);
    let show = if views { show.drawing() } else { show };
    let recording = recorded::begin(&options, &mut place, &end.sender, Recording::new);
    let (outcome, meter) = match target.service {
        Service::Iperf => {
            let EndSettings { settings, sender } = end;
            let secret = place.secret[0];
            let plan = iperf::Plan { server: target.address, settings, sender, body: amount, every, secret };
            test(&mut place, plan, show.watch())?
        }
        Service::Plain | Service::Http => {
            let preamble = preamble(&target, amount)?;
            let ends = if target.service == Service::Http { client::End::PeerCloses } else { client::End::Close };
            let EndSettings { settings, sender } = end;
            let plan =
                client::Plan { peer: target.address, settings, sender, preamble, body: amount, end: ends, every };
            call(&mut place, plan, show.watch())?
        }
    };
    let (written, arrived, lasted) = (outcome.written, outcome.acknowledged, outcome.lasted);
    let moved = Transferred { command: "eifel live send", written, arrived, lasted };
    recorded::finish(&options, recording, recordings, &mut place, &moved)?;
    if let Some(status) = status(&outcome.head).filter(|&status| target.service == Service::Http && !is_success(status))
    {
        return Err(refusal(target.address, status).into());
    }
    finish(&show, &target, &outcome, meter, amount)
}

/// Returns the amount to send. The default is as much as ten seconds allow.
fn amount(options: &Options) -> Result<Amount, Failure> {
    match (options.bytes("--bytes")?, options.seconds("--seconds")?) {
        (Some(_), Some(_)) => Err(Failure::Usage("--bytes contradicts --seconds".to_owned())),
        (Some(bytes), None) => Ok(Amount::Bytes(bytes)),
        (None, length) => Ok(Amount::Time(length.unwrap_or(USUAL))),
    }
}

/// Returns the HTTP request before the body.
fn preamble(target: &Target, amount: Amount) -> Result<Vec<u8>, Failure> {
    if target.service != Service::Http {
        return Ok(Vec::new());
    }
    let Amount::Bytes(bytes) = amount else {
        return Err(Failure::Usage("HTTP needs a length: give --bytes".to_owned()));
    };
    let (path, host) = (&target.path, target.address);
    Ok(format!("PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n")
        .into_bytes())
}

/// Returns the error for a server's answer with a status that reports no success.
pub(super) fn refusal(server: SocketAddr, status: u16) -> Error {
    Error::new(server.to_string(), &format!("HTTP status {status}"), "")
}

/// Returns whether an HTTP status reports success (RFC 9110, section 15).
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Returns the status of an HTTP answer that begins with `head`.
pub(super) fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|&byte| byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
}

pub(super) fn call(place: &mut Setup, plan: client::Plan, watch: Watch<'static>) -> Result<(Outcome, Meter), Failure> {
    let now = place.clock.now();
    let over_http = plan.end == client::End::PeerCloses;
    let peer = plan.peer;
    let mut call = Client::begin(now, &mut place.station.host, plan, watch).map_err(|error| no_way(&error))?;
    place.run(&mut call)?;
    // A server that refuses a body answers, and resets the connection as it leaves the body unread.
    let refused = status(call.head()).filter(|&status| over_http && !is_success(status));
    call.finish().map_err(|error| refused.map_or(error, |status| refusal(peer, status)).into())
}

fn test(place: &mut Setup, plan: iperf::Plan, watch: Watch<'static>) -> Result<(Outcome, Meter), Failure> {
    let now = place.clock.now();
    let mut test = Test::begin(now, &mut place.station.host, plan, watch).map_err(|error| no_way(&error))?;
    place.run(&mut test)?;
    let (outcome, meter, _) = test.finish()?;
    Ok((outcome, meter))
}

pub(super) fn no_way(error: &crate::host::ConnectError) -> Failure {
    Failure::Usage(error.to_string())
}

pub(super) fn finish(
    show: &Show,
    target: &Target,
    outcome: &Outcome,
    meter: Meter,
    amount: Amount,
) -> Result<u8, Failure> {
    if !show.json {
        say(&show.summary(outcome));
        return Ok(OK);
    }
    let start = start(target, amount);
    let document = document(start, outcome, &meter, show.sends, show.events());
    print(&format!("{document:#}\n")).map(|()| OK)
}

/// Returns the `start` member of a document in iperf3's format.
fn start(target: &Target, amount: Amount) -> Value {
    let (duration, bytes) = match amount {
        Amount::Bytes(bytes) => (0.0, bytes),
        Amount::Time(length) => (length.as_secs_f64(), 0),
    };
    json!({
        "version": concat!("eifel ", env!("CARGO_PKG_VERSION")),
        "connecting_to": { "host": target.address.ip().to_string(), "port": target.address.port() },
        "test_start": { "protocol": "TCP", "num_streams": 1, "omit": 0, "duration": duration, "bytes": bytes, "reverse": 0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_lasts_ten_seconds_by_default() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            amount(&Options::read(&words, &["--bytes", "--seconds"], &[]).ok().flatten().unwrap()).ok()
        };
        assert_eq!(of(&[]), Some(Amount::Time(Duration::from_secs(10))));
        assert_eq!(of(&["--seconds", "2.5"]), Some(Amount::Time(Duration::from_millis(2500))));
        assert_eq!(of(&["--bytes", "64K"]), Some(Amount::Bytes(64_000)));
        assert_eq!(of(&["--bytes", "1", "--seconds", "1"]), None);
    }

    #[test]
    fn the_json_begins_with_target_and_amount() {
        let start = |amount| start(&Target::parse("iperf3://10.0.0.1").ok().unwrap(), amount);
        for (amount, duration, bytes) in [
            (Amount::Bytes(70), json!(0.0), json!(70)),
            (Amount::Time(Duration::from_millis(2500)), json!(2.5), json!(0)),
        ] {
            let found = start(amount);
            assert_eq!((&found["test_start"]["duration"], &found["test_start"]["bytes"]), (&duration, &bytes));
            assert_eq!(found["connecting_to"], json!({ "host": "10.0.0.1", "port": 5201 }));
        }
    }

    #[test]
    fn an_http_request_precedes_the_body() {
        let before = |target: &str, amount| {
            let bytes = preamble(&Target::parse(target).ok().unwrap(), amount).ok()?;
            Some(String::from_utf8(bytes).unwrap())
        };
        let (bytes, time) = (Amount::Bytes(70), Amount::Time(Duration::from_secs(1)));
        let request = "PUT /a HTTP/1.1\r\nHost: 10.0.0.1:80\r\nContent-Length: 70\r\nConnection: close\r\n\r\n";
        assert_eq!(before("http://10.0.0.1/a", bytes).as_deref(), Some(request));
        assert_eq!(before("http://10.0.0.1/a", time), None, "no length is known");
        assert_eq!(before("10.0.0.1:80", bytes).as_deref(), Some(""));
        assert_eq!(before("iperf3://10.0.0.1", time).as_deref(), Some(""));
    }

    #[test]
    fn a_status_is_the_second_word_of_an_answer_in_http() {
        for (head, found) in [
            ("HTTP/1.1 200 OK\r\nHost: a\r\n", Some(200)),
            ("HTTP/1.0 404", Some(404)),
            ("HTTP/1.1 x\r\n", None),
            ("HTTP/1.1\r\n200", None),
            ("HTTP/2 200 OK\r\n", None),
            ("a\r\nHTTP/1.1 200 OK", None),
            ("", None),
        ] {
            assert_eq!(status(head.as_bytes()), found, "{head:?}");
        }
        let successes: Vec<u16> = (0..1000).filter(|&status| is_success(status)).collect();
        assert_eq!(successes, (200..=299).collect::<Vec<_>>());
    }
}
