//! `send`: bulk to a kernel, to an iperf3 server, or to an HTTP server.

use super::options::Options;
use super::place::{self, Place, terms};
use super::recorded::{self, Moved};
use super::show::{Show, document};
use super::target::{FORMS, Service, Target};
use super::{Failure, OK, Recordings, print};
use crate::apps::call::{self, Call, Outcome};
use crate::apps::iperf::{self, Test};
use crate::apps::meter::Meter;
use crate::apps::{Amount, Watch};
use crate::recording::Recording;
use crate::system::Error;
use crate::terms::{Role, Terms};
use eifel_base::time::Duration;
use serde_json::{Value, json};
use std::io::IsTerminal;

const FLAGS: [&str; 3] = ["--json", "--offload", "--view"];

fn usage() -> String {
    format!(
        "\
Sends a stream from a host of ours, on a TUN device, to a peer, and says what its engine does.

usage: eifel live send [OPTIONS] TARGET [-- COMMAND ...]

  TARGET                {FORMS}
  --bytes N             ends after N bytes: 200, 64K, 10M or 2G
  --seconds S           for so long (default: 10)
  --view                draws the sender's variables as they move, ten times a second, on a terminal
  --record FOLDER       records the sender as `eifel run --record` does: tables, for plots and reports
{}
example: eifel live send --seconds 5 iperf3://10.85.0.1 -- iperf3 -s -1
",
        place::help(&FLAGS, place::IN_IPERF3_SHAPE)
    )
}

pub(super) fn command(words: &[String], recordings: Recordings<'_>) -> Result<u8, Failure> {
    let valued = [&place::VALUED[..], &["--bytes", "--seconds", "--record"]].concat();
    let Some(options) = Options::read(words, &valued, &FLAGS)? else {
        return print(&usage()).map(|()| OK);
    };
    let [target] = &options.rest[..] else {
        return Err(Failure::Usage(format!("one TARGET is needed: {FORMS}")));
    };
    let target = Target::parse(target)?;
    let amount = match (options.bytes("--bytes")?, options.seconds("--seconds")?) {
        (Some(_), Some(_)) => return Err(Failure::Usage("--bytes contradicts --seconds".to_owned())),
        (Some(bytes), None) => Amount::Bytes(bytes),
        (None, length) => Amount::Time(length.unwrap_or(Duration::from_secs(10))),
    };
    let views = options.has("--view");
    let usual = if views { Duration::from_millis(100) } else { Duration::from_secs(1) };
    let every = options.seconds("--interval")?.unwrap_or(usual);
    if views && (options.has("--json") || !std::io::stdout().is_terminal()) {
        return Err(Failure::Usage("--view: needs a terminal, and no --json".to_owned()));
    }
    recorded::check(&options, &recordings)?;
    let mut place = Place::make(&options)?;
    let end = terms(&options, Role::Calls, place.secret)?;
    let show = Show::new(options.has("--json"), true, &end.sender);
    let show = if views { show.drawing() } else { show };
    let recording = recorded::begin(&options, &mut place, &end.sender, Recording::new);
    let (outcome, meter) = match target.service {
        Service::Iperf => {
            let Terms { settings, sender } = end;
            let secret = place.secret[0];
            let plan = iperf::Plan { server: target.address, settings, sender, body: amount, every, secret };
            test(&mut place, plan, show.watch())?
        }
        Service::Plain | Service::Http => {
            let preamble = preamble(&target, amount)?;
            let ends = if target.service == Service::Http { call::End::PeerCloses } else { call::End::Close };
            let Terms { settings, sender } = end;
            let plan = call::Plan { peer: target.address, settings, sender, preamble, body: amount, end: ends, every };
            call(&mut place, plan, show.watch())?
        }
    };
    let (written, arrived, lasted) = (outcome.written, outcome.acknowledged, outcome.lasted);
    let moved = Moved { command: "eifel live send", written, arrived, lasted };
    recorded::finish(&options, recording, recordings, &mut place, &moved)?;
    if let Some(status) =
        status(&outcome).filter(|status| target.service == Service::Http && !(200..300).contains(status))
    {
        return Err(Error::new(target.address.to_string(), &format!("HTTP status {status}"), "").into());
    }
    finish(&show, &target, &outcome, meter, amount)
}

/// Returns the HTTP request before the body.
fn preamble(target: &Target, amount: Amount) -> Result<Vec<u8>, Failure> {
    if target.service != Service::Http {
        return Ok(Vec::new());
    }
    let Amount::Bytes(bytes) = amount else {
        return Err(Failure::Usage("HTTP has to know how much comes: give --bytes".to_owned()));
    };
    let (path, host) = (&target.path, target.address);
    Ok(format!("PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n")
        .into_bytes())
}

/// Returns the status of an HTTP answer.
pub(super) fn status(outcome: &Outcome) -> Option<u16> {
    let line = outcome.head.split(|&byte| byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
}

pub(super) fn call(place: &mut Place, plan: call::Plan, watch: Watch<'static>) -> Result<(Outcome, Meter), Failure> {
    let now = place.clock.now();
    let mut call = Call::begin(now, &mut place.station.host, plan, watch).map_err(|error| no_way(&error))?;
    place.run(&mut call)?;
    let (outcome, meter) = call.finish()?;
    Ok((outcome, meter))
}

fn test(place: &mut Place, plan: iperf::Plan, watch: Watch<'static>) -> Result<(Outcome, Meter), Failure> {
    let now = place.clock.now();
    let mut test = Test::begin(now, &mut place.station.host, plan, watch).map_err(|error| no_way(&error))?;
    place.run(&mut test)?;
    let (outcome, meter, _) = test.finish()?;
    Ok((outcome, meter))
}

pub(super) fn no_way(error: &crate::host::NotMade) -> Failure {
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
        show.summary(outcome);
        return Ok(OK);
    }
    let (duration, bytes) = match amount {
        Amount::Bytes(bytes) => (0.0, bytes),
        Amount::Time(length) => (length.as_secs_f64(), 0),
    };
    let start: Value = json!({
        "version": concat!("eifel ", env!("CARGO_PKG_VERSION")),
        "connecting_to": { "host": target.address.ip().to_string(), "port": target.address.port() },
        "test_start": { "protocol": "TCP", "num_streams": 1, "omit": 0, "duration": duration, "bytes": bytes, "reverse": 0 },
    });
    let document = document(start, outcome, &meter, show.sends, show.events());
    print(&format!("{document:#}\n")).map(|()| OK)
}
