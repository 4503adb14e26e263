//! Commands that configure a host: `sysctl`, Google's `set_sysctls.py` and `defaults.sh`, `ip
//! route`. Commands that affect a single connection are translated. Other commands that might
//! matter are noted.

use crate::error::{Fault, Place, shown};
use crate::profile::Profile;
use crate::script::Header;
use eifel_base::time::Duration;
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::settings::{EcnUse, SackUse, WindowScale};

/// The largest window without scaling.
const UNSCALED: u64 = 0xffff;

/// Settings of hosts that change nothing on one connection: caches, limits of an operating system, other protocols.
const PASSED_OVER: [&str; 13] = [
    "net.inet.tcp.blackhole",
    "net.inet.tcp.hostcache.",
    "net.inet.tcp.sendspace",
    "net.inet.tcp.syncookies",
    "net.inet.tcp.keepidle",
    "net.inet.tcp.keepintvl",
    "net.inet.tcp.keepcnt",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ss_ratio",
];

/// Applies a command to the connection's settings.
pub(super) fn apply(text: &str, place: Place, header: &mut Header) -> Result<(), Fault> {
    for line in text.lines() {
        let line = line.split(" #").next().filter(|line| !line.starts_with('#')).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "\\").collect();
        match words.as_slice() {
            ["ip", rest @ ..] if rest.contains(&"route") => route(rest, place, header)?,
            [script, ..] if script.ends_with("defaults.sh") => defaults(header),
            ["tc", "qdisc", _, _, _, _, "fq"] => header.config.pace = Choice::named("pacing"),
            ["tc", "qdisc", rest @ ..] => queue(rest, place)?,
            ["echo", form, ">", file] if file.ends_with("/hystart_detect") => hystart(form, place, header)?,
            _ => {}
        }
        for word in words {
            let Some((name, value)) = word.split_once('=') else { continue };
            let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
            if name.starts_with("net.") || name.starts_with("kern.") {
                assign(&name, value.trim_end_matches('\\'), place, header)?;
            }
        }
    }
    Ok(())
}

/// Applies Google's `defaults.sh`: CUBIC, no restart after an idle time, and no ECN, unless a script asks for them.
fn defaults(header: &mut Header) {
    if header.profile == Profile::Linux {
        control(header, "cubic");
        congest(header, "restart_after_idle", Value::Switch(false));
        header.settings.ecn = EcnUse::Off;
    }
}

/// Reads which signals end CUBIC's slow start: both signals of HyStart, or none.
fn hystart(form: &str, place: Place, header: &mut Header) -> Result<(), Fault> {
    let word = match form {
        "0" => "standard",
        "3" => "hystart",
        _ => return Err(Fault::new(place, "half of HyStart", "0, or 3: trains of ACKs and longer round trips")),
    };
    congest(header, "slow_start", Value::Word(word.into()));
    Ok(())
}

/// Accepts only commands that remove a queue of the host, or set one without a limit. Other queues
/// might hold or drop packets.
fn queue(words: &[&str], place: Place) -> Result<(), Fault> {
    match words {
        ["del" | "delete", ..] | [_, _, _, _, "pfifo"] => Ok(()),
        _ => Err(Fault::new(place, "a queue of the operating system", "pfifo without a limit, which holds nothing")),
    }
}

/// Chooses a congestion controller, and keeps those parameters so far that it also has.
fn control(header: &mut Header, name: &str) {
    let mut choice = Choice::named(name);
    let entry = eifel_recovery::registry::Seam::Congest.entry(name);
    let known = |name: &str| entry.is_some_and(|entry| entry.parameters.iter().any(|parameter| parameter.name == name));
    choice.parameters.extend(header.config.congest.parameters.drain(..).filter(|(name, _)| known(name)));
    header.config.congest = choice;
}

fn congest(header: &mut Header, name: &str, value: Value) {
    let choice = &mut header.config.congest;
    choice.parameters.retain(|(known, _)| known != name);
    choice.parameters.push((name.into(), value));
}

/// Handles a command after the connection has begun. It can no longer change the settings.
pub(super) fn apply_late(text: &str, place: Place, header: &mut Header) -> Result<(), Fault> {
    for line in text.split(['\n', ';']) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["tc", "qdisc", rest @ ..] => queue(rest, place)?,
            [name, ..] if name.ends_with("sysctl") || name.ends_with("set_sysctls.py") || *name == "ip" => {
                header.notes.push((place.line, format!("{name} comes after the connection has begun")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn assign(name: &str, value: &str, place: Place, header: &mut Header) -> Result<(), Fault> {
    let number = |most: u64| {
        let read = value.parse().ok().filter(|number: &u64| *number <= most);
        read.ok_or_else(|| {
            Fault::new(place, format!("{name}={} is not allowed", shown(value)), format!("a whole number up to {most}"))
        })
    };
    let not_built =
        |what: &str| Err(Fault::new(place, format!("{name}={} asks for {what}", shown(value)), "a host without it"));
    let settings = &mut header.settings;
    match name {
        "net.inet.tcp.rfc1323" => {
            if number(3)? == 0 {
                settings.timestamps = None;
                settings.window_scale = WindowScale::Off;
            }
        }
        "net.ipv4.tcp_timestamps" => {
            settings.timestamps = (number(2)? > 0).then(|| settings.timestamps.unwrap_or_default());
        }
        "net.ipv4.tcp_window_scaling" => {
            if number(1)? == 0 {
                settings.window_scale = WindowScale::Off;
            }
        }
        "net.inet.tcp.sack.enable" | "net.ipv4.tcp_sack" => {
            settings.sack = if number(1)? == 0 { SackUse::Off } else { SackUse::WithDuplicates };
        }
        "net.inet.tcp.ecn.enable" => {
            settings.ecn = match number(4)? {
                0 => EcnUse::Off,
                1 => EcnUse::Ask,
                2 => EcnUse::Answer,
                _ => return not_built("accurate ECN, which is not implemented"),
            };
        }
        "net.inet.tcp.ecn.maxretries" => settings.ecn_syns = 1 + number(100)? as u32,
        "net.ipv4.tcp_ecn" => {
            settings.ecn = match number(5)? {
                0 => EcnUse::Off,
                1 => EcnUse::Ask,
                2 => EcnUse::Answer,
                _ => return not_built("accurate ECN, which is not implemented"),
            };
        }
        "net.inet.tcp.recvspace" => settings.receive_window = number(1 << 30)? as u32,
        "kern.ipc.maxsockbuf" => {
            let most = number(u64::MAX)?;
            let shift = (0..14).find(|shift| UNSCALED << shift >= most).unwrap_or(14);
            settings.window_scale = WindowScale::Shift(shift);
        }
        "net.inet.tcp.delacktime" => settings.acks.delay = Duration::from_millis(number(60_000)?),
        "net.inet.tcp.rexmit_initial" | "net.inet.tcp.rexmit_slop" => {
            let key = if name.ends_with("slop") { "slop_ms" } else { "initial_ms" };
            let choice = &mut header.config.rto;
            choice.parameters.retain(|(known, _)| known != key);
            choice.parameters.push((key.into(), Value::Duration(Duration::from_millis(number(3_600_000)?))));
        }
        "net.inet.tcp.rexmit_drop_options" if number(1)? == 1 => return not_built("SYNs that lose their options"),
        "net.inet.tcp.keepinit" => settings.give_up.handshake = Some(Duration::from_millis(number(3_600_000)?)),
        "net.inet.tcp.insecure_rst" | "net.inet.tcp.insecure_syn" if number(1)? == 1 => {
            header.notes.push((place.line, format!("{name}=1 asks for RFC 793's reading, which RFC 5961 forbids")));
        }
        "net.inet.tcp.drop_synfin" => header.drops_syn_fin = number(1)? == 1,
        "net.inet.tcp.icmp_may_rst" => header.ignores_hard_errors = number(1)? == 0,
        "net.ipv4.tcp_mtu_probing" if number(2)? > 0 => {
            return not_built("probes of larger segments, which are not implemented");
        }
        "net.inet.tcp.tolerate_missing_ts" => {
            let tolerated = number(1)? == 1;
            settings.timestamps.iter_mut().for_each(|stamps| stamps.required = !tolerated);
        }
        "net.inet.tcp.rexmit_drop_options"
        | "net.ipv4.tcp_mtu_probing"
        | "net.inet.tcp.insecure_rst"
        | "net.inet.tcp.insecure_syn" => {}
        "net.ipv4.tcp_congestion_control" if matches!(value, "reno" | "cubic") => control(header, value),
        "net.ipv4.tcp_slow_start_after_idle" => {
            let restarts = number(1)? == 1;
            congest(header, "restart_after_idle", Value::Switch(restarts));
        }
        _ if PASSED_OVER.iter().any(|known| name.starts_with(known)) => {}
        _ => header.notes.push((place.line, format!("{name}={value} has no effect here"))),
    }
    Ok(())
}

/// Reads the metrics of a route.
fn route(words: &[&str], place: Place, header: &mut Header) -> Result<(), Fault> {
    let read = |value: &str, most: u64| {
        let number = value.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            Fault::new(place, format!("a metric of {}", shown(value)), format!("a whole number, 1 to {most}"))
        })
    };
    for pair in words.windows(2) {
        match pair {
            ["advmss", mss] => header.settings.mss = read(mss, UNSCALED)? as u16,
            ["initcwnd", segments] => {
                let segments = read(segments, 1_000_000)? as i64;
                congest(header, "initial_window_segments", Value::Integer(segments));
            }
            _ => {}
        }
    }
    Ok(())
}
