//! `sctp`: messages to and from a peer over SCTP.

use super::output::{heading, line};
use super::setup::{self, Device, scenario};
use super::{Failure, OK, json_of, print, say};
use crate::apps::meter::Interval;
use crate::messenger::{Carrier, Messenger, Outcome, Task};
use crate::system::namespace::{Calls, Running};
use crate::system::random;
use eifel_command::Options;
use eifel_packet::udp;
use eifel_sctp::{Association, Listener, Ports, Settings};
use eifel_sim::scenario::Traffic;
use serde_json::json;
use std::net::SocketAddr;

const FLAGS: [&str; 1] = ["--json"];

fn usage() -> String {
    format!(
        "\
Sends or receives messages over SCTP, from a host of ours on a TUN device: native (protocol 132), or in UDP (RFC 6951).

usage: eifel live sctp send [OPTIONS] ADDRESS:PORT [-- COMMAND ...]
       eifel live sctp receive [OPTIONS] PORT [-- COMMAND ...]

  --bytes N             how much is sent: 200, 64K, 10M or 2G (default: 10M)
  --message N           bytes of a message (default: 16K)
  --streams N           number of streams, used in turn (default: 1)
  --udp PORT            in UDP, from 9899 to this port; 9899 is the usual one
{}
example: eifel live sctp send --udp 9899 10.85.0.1:5001 -- ./server
",
        setup::help(&FLAGS, "print one JSON object: messages, bytes, chunks, retransmissions, seconds, rate")
    )
}

/// The usual port of SCTP in UDP (RFC 6951, section 8).
const UDP_PORT: u16 = 9899;

/// The expected number of streams, for errors.
const STREAMS: &str = "a number from 1 to 65535";

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let valued = [&setup::VALUED[..], &["--bytes", "--message", "--streams", "--udp"]].concat();
    let Some(options) = Options::read(words, &valued, &FLAGS)? else { return print(&usage()).map(|()| OK) };
    let wrong = || Failure::Usage("send ADDRESS:PORT or receive PORT is needed; see --help".to_owned());
    let [what, target] = &options.rest[..] else { return Err(wrong()) };
    let load = Load::read(&options)?;
    let udp: Option<u16> = options.value("--udp", "a port")?;
    let remote: Option<SocketAddr> = match what.as_str() {
        "send" => Some(target.parse().map_err(|_| Failure::Usage(format!("{target}: expected ADDRESS:PORT")))?),
        "receive" => None,
        _ => return Err(wrong()),
    };
    let port = match remote {
        Some(_) => 5001,
        None => target.parse().ok().filter(|&port| port > 0).ok_or_else(wrong)?,
    };
    let mut settings = settings(&options)?;
    let mut ground = Device::make(&options)?;
    settings.addresses = ground.addresses();
    settings.secret = random()?;
    settings.pmtu = ground.mtu;
    settings.udp = udp.is_some();
    let carrier = udp.map_or(Carrier::Native, |port| Carrier::Udp(udp::Ports { source: UDP_PORT, destination: port }));
    let unknown = |error: eifel_recovery::registry::Error| Failure::Usage(error.to_string());
    let (end, task) = match remote {
        Some(remote) => {
            if ground.peer.is_some() {
                ground.namespace.wait_for_listener(udp.map_or(Calls::Sctp, Calls::SctpInUdp))?;
            }
            let ports = Ports { local: port, remote: remote.port() };
            // Keeps only our address of the peer's IP version: the peer has no route to the other.
            settings.addresses.retain(|own| own.is_ipv4() == remote.is_ipv4());
            let called = Association::connect(ground.clock.now(), &settings, ports, &[remote.ip()], 0);
            (
                Ok(called.map_err(unknown)?),
                Task::Send { bytes: load.bytes, message: load.message, streams: load.streams },
            )
        }
        None => (Err(Listener::new(settings, port).map_err(unknown)?), Task::Receive),
    };
    let addresses = ground.addresses();
    let capture = ground.capture.take();
    let mut messenger = Messenger::new((ground.tun, ground.clock, addresses), carrier, end, task);
    if let Some(capture) = capture {
        messenger.captured(capture)?;
    }
    if !options.has("--json") {
        let every = setup::interval(&options)?;
        let sends = remote.is_some();
        say(heading(sends));
        let watch = move |interval: &Interval| say(&line(interval, sends));
        messenger.watched(every, Box::new(watch));
    }
    let mut peer = ground.peer;
    let outcome = messenger.run(|| match peer.as_mut().map_or(Ok(None), Running::ended)? {
        Some(status) => Err(setup::command_ended(status)),
        None => Ok(()),
    })?;
    print(&shown(&outcome, options.has("--json"))).map(|()| OK)
}

/// The data that a sender sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Load {
    bytes: u64,
    /// Bytes of a message.
    message: usize,
    streams: u16,
}

/// The default load.
const USUAL: Load = Load { bytes: 10_000_000, message: 16_000, streams: 1 };

impl Load {
    fn read(options: &Options) -> Result<Self, Failure> {
        let message = options.bytes("--message")?.map_or(USUAL.message, |bytes| bytes as usize);
        if !(1..=1_000_000).contains(&message) {
            return Err(Failure::Usage(format!("--message {message}: expected 1 to 1000000 bytes")));
        }
        let bytes = options.bytes("--bytes")?.unwrap_or(USUAL.bytes);
        let streams = options.value("--streams", STREAMS)?.unwrap_or(USUAL.streams);
        if streams == 0 {
            return Err(Failure::Usage(format!("--streams 0: expected {STREAMS}")));
        }
        Ok(Self { bytes, message, streams })
    }
}

/// Returns the settings of `--like`, or those of RFC 9260 with buffers of 4 MB. `--buffer` replaces
/// either's buffers.
fn settings(options: &Options) -> Result<Settings, Failure> {
    let buffer = options.bytes("--buffer")?;
    let mut settings = match options.text("--like") {
        None => Settings { receive_buffer: 4_000_000, send_buffer: 4_000_000, ..Settings::default() },
        Some(path) => {
            let flows = scenario(path)?.flows;
            let found = flows.into_iter().find_map(|flow| match flow.traffic {
                Traffic::Messages { association, .. } => Some(association.settings[0].clone()),
                _ => None,
            });
            found.ok_or_else(|| Failure::Usage(format!("--like {path}: no flow over SCTP in it")))?
        }
    };
    if let Some(buffer) = buffer {
        (settings.receive_buffer, settings.send_buffer) = (u32::try_from(buffer).unwrap_or(u32::MAX), buffer as usize);
    }
    Ok(settings)
}

fn shown(outcome: &Outcome, as_json: bool) -> String {
    let Outcome { messages, bytes, chunks, retransmissions, lasted } = *outcome;
    let seconds = lasted.as_secs_f64();
    let rate = if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
    if as_json {
        let document = json!({
            "messages": messages, "bytes": bytes, "chunks": chunks, "retransmissions": retransmissions,
            "seconds": seconds, "bits_per_second": rate,
        });
        return json_of("live-sctp", document);
    }
    let rate = rate / 1e6;
    format!(
        "{messages} messages, {bytes} bytes in {seconds:.6} s, {rate:.3} Mbit/s; {retransmissions} of {chunks} chunks retransmitted\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;

    #[test]
    fn a_sender_sends_ten_megabytes_by_default() {
        let load = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let read = Options::read(&words, &["--bytes", "--message", "--streams"], &[]).ok().flatten().unwrap();
            Load::read(&read).ok().map(|load| (load.bytes, load.message, load.streams))
        };
        for (words, found) in [
            ("", Some((10_000_000, 16_000, 1))),
            ("--bytes 3K --streams 65535", Some((3000, 16_000, 65_535))),
            ("--message 1", Some((10_000_000, 1, 1))),
            ("--message 1M --streams 1", Some((10_000_000, 1_000_000, 1))),
            ("--message 0", None),
            ("--message 1000001", None),
            ("--streams 0", None),
            ("--streams 65536", None),
        ] {
            assert_eq!(load(words), found, "{words}");
        }
    }

    #[test]
    fn an_outcome_prints_as_one_line_or_as_json() {
        let lasted = Duration::from_millis(2500);
        let outcome = Outcome { messages: 7, bytes: 1_000_000, chunks: 700, retransmissions: 3, lasted };
        assert_eq!(
            shown(&outcome, false),
            "7 messages, 1000000 bytes in 2.500000 s, 3.200 Mbit/s; 3 of 700 chunks retransmitted\n"
        );
        let document: serde_json::Value = serde_json::from_str(&shown(&outcome, true)).unwrap();
        assert_eq!(
            document,
            json!({ "schema": "live-sctp", "version": 1, "messages": 7, "bytes": 1_000_000, "chunks": 700, "retransmissions": 3, "seconds": 2.5,
                "bits_per_second": 3_200_000.0 })
        );
        let nothing = Outcome { messages: 0, bytes: 0, chunks: 0, retransmissions: 0, lasted: Duration::ZERO };
        assert!(shown(&nothing, false).contains("0 bytes in 0.000000 s, 0.000 Mbit/s"));
    }

    #[test]
    fn settings_are_rfc_9260s_with_the_requested_buffer() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let read = Options::read(&words, &["--buffer", "--like"], &[]).ok().flatten().unwrap();
            settings(&read).ok().map(|settings| (settings.receive_buffer, settings.send_buffer))
        };
        assert_eq!(of(&[]), Some((4_000_000, 4_000_000)));
        assert_eq!(of(&["--buffer", "64K"]), Some((64_000, 64_000)));
        assert_eq!(of(&["--buffer", "5G"]), Some((u32::MAX, 5_000_000_000)));
        assert_eq!(of(&["--like", "nothing.toml"]), None);
    }
}
