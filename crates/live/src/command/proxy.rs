//! `proxy`: lets any program send through the engine's TCP.

use super::output::amount;
use super::setup::{self, Setup, terms};
use super::{Failure, OK, print, say};
use crate::apps::proxy::{EndedConnection, Plan, Proxy};
use crate::end_settings::{EndSettings, Role};
use crate::system::Error;
use eifel_command::Options;
use serde_json::json;
use std::net::{Ipv4Addr, TcpListener};

const FLAGS: [&str; 2] = ["--json", "--offload"];

fn usage() -> String {
    format!(
        "\
A proxy on loopback, SOCKS 5 and HTTP CONNECT: programs that use it send through a host of ours, on a TUN device.

usage: eifel live proxy [OPTIONS] PORT [-- COMMAND ...]

  PORT                  where it listens, on 127.0.0.1 of the namespace from which this is called
  --clients N           ends after N clients (default: no limit)
{}
example: eifel live proxy 1080 -- python3 -m http.server 80
         curl --proxy socks5h://127.0.0.1:1080 http://10.85.0.1/
",
        setup::help(&FLAGS, "print one JSON object a line, for each connection as it ends")
    )
}

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let valued = [&setup::VALUED[..], &["--clients"]].concat();
    let Some(options) = Options::read(words, &valued, &FLAGS)? else { return print(&usage()).map(|()| OK) };
    let port = match &options.rest[..] {
        [port] => port.parse::<u16>().ok().filter(|&port| port > 0),
        _ => None,
    };
    let port = port.ok_or_else(|| Failure::Usage("one PORT from 1 to 65535 is needed; see --help".to_owned()))?;
    let clients = options.value("--clients", "a whole number")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let taken = error.kind() == std::io::ErrorKind::AddrInUse;
        Error::new(format!("listen at 127.0.0.1:{port}"), &error, if taken { "choose another port" } else { "" })
    })?;
    let mut place = Setup::that_calls(&options)?;
    let EndSettings { settings, sender } = terms(&options, Role::Calls, place.secret)?;
    let told = if options.has("--json") { as_json } else { line };
    let told = Box::new(move |passed: &EndedConnection| say(&told(passed)));
    let mut proxy = Proxy::begin(listener, Plan { settings, sender, clients }, told)?;
    eprintln!("listening at 127.0.0.1:{port}: SOCKS 5 and HTTP CONNECT");
    place.run(&mut proxy)?;
    Ok(OK)
}

fn line(passed: &EndedConnection) -> String {
    let EndedConnection { target, opened, moved, lasted, tally, spurious } = passed;
    let seconds = lasted.as_secs_f64();
    if !opened {
        return format!("{target}: not opened, {seconds:.3} s");
    }
    format!(
        "{target}: {} sent, {} received in {seconds:.3} s; {} of {} segments retransmitted, {spurious} spurious episodes",
        amount(moved.sent),
        amount(moved.received),
        tally.retransmissions,
        tally.segments,
    )
}

fn as_json(passed: &EndedConnection) -> String {
    let EndedConnection { target, opened, moved, lasted, tally, spurious } = passed;
    json!({
        "target": target.to_string(), "opened": opened, "bytes_sent": moved.sent, "bytes_received": moved.received,
        "seconds": lasted.as_secs_f64(), "segments": tally.segments, "retransmissions": tally.retransmissions,
        "spurious_episodes": spurious, "schema": "live-proxy", "version": 1,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::proxy::ByteCounts;
    use crate::host::Tally;
    use eifel_base::time::Duration;

    #[test]
    fn a_connection_prints_as_one_line_or_as_json() {
        let open = EndedConnection {
            target: "10.0.0.1:80".parse().unwrap(),
            opened: true,
            moved: ByteCounts { sent: 100, received: 2_097_152 },
            lasted: Duration::from_millis(1250),
            tally: Tally { segments: 9, retransmissions: 2 },
            spurious: 1,
        };
        assert_eq!(
            line(&open),
            "10.0.0.1:80: 100 Bytes sent, 2.00 MBytes received in 1.250 s; 2 of 9 segments retransmitted, 1 spurious episodes"
        );
        let closed = EndedConnection { opened: false, ..open };
        assert_eq!(line(&closed), "10.0.0.1:80: not opened, 1.250 s");
        for passed in [open, closed] {
            let document: serde_json::Value = serde_json::from_str(&as_json(&passed)).unwrap();
            assert_eq!(
                document,
                json!({ "schema": "live-proxy", "version": 1, "target": "10.0.0.1:80", "opened": passed.opened, "bytes_sent": 100, "bytes_received": 2_097_152,
                    "seconds": 1.25, "segments": 9, "retransmissions": 2, "spurious_episodes": 1 })
            );
        }
    }
}
