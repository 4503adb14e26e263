//! Whole ladders of the scripts: unchanged, for the other profiles, and with a fault in a line.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use eifel_recovery::registry::Seam;
use eifel_script::{Profile, parse_for, run};
use eifel_testkit::{digest, golden, hash};

/// Events that open a connection or an association, and the application's calls after them.
macro_rules! open {
    () => {
        "+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n\
         +.1 < S. 0:0(0) ack 1 win 30000 <mss 1000,sackOK,nop,nop,nop,wscale 7>\n+0 > . 1:1(0) ack 1\n"
    };
}
macro_rules! associating {
    () => {
        "+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > sctp: INIT[flgs=0, tag=1, a_rwnd=..., os=..., is=..., tsn=1, ...]\n"
    };
}
macro_rules! associated {
    () => {
        "+.1 < sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=100000, os=5, is=3, tsn=1, STATE_COOKIE[len=8, val=...]]\n\
         +0 > sctp: COOKIE_ECHO[flgs=0, len=8, val=...]\n+.1 < sctp: COOKIE_ACK[flgs=0]\n"
    };
}
macro_rules! writing {
    () => {
        "+0 write(3, ..., 3000) = 3000\n+.3 write(3, ..., 1) = 1\n+2 read(3, ..., 100) = 100\n"
    };
}

/// Number of faulty copies of each script.
const FAULTS: usize = 4;
/// Number of misspelt copies of each script.
const MISSPELT: usize = 30;

/// Returns all scripts below a folder, in the order of their names.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|end| end == "pkt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Leaves out the lists of all algorithms of a seam, which change with the registry.
fn without_lists(text: &str) -> String {
    let mut text = text.to_owned();
    for seam in Seam::ALL.into_iter().chain(Seam::OF_ASSOCIATIONS) {
        let mut names: Vec<_> =
            seam.entries().iter().chain(seam.association_entries()).map(|entry| entry.name).collect();
        text = text.replace(&names.join(", "), "(all)");
        names.truncate(seam.entries().len());
        if !names.is_empty() {
            text = text.replace(&names.join(", "), "(all)");
        }
    }
    text
}

/// Returns the outcome of a script in one line, and its whole report.
fn told(profile: &str, text: &str) -> (String, String) {
    let (said, report) = outcome(profile, text);
    (without_lists(&said), without_lists(&report))
}

fn outcome(profile: &str, text: &str) -> (String, String) {
    match parse_for(Profile::named(profile).unwrap(), text, "x.pkt") {
        Ok(script) => {
            let outcome = run(&script);
            let failure = outcome.failure.as_ref().map(|failure| format!("{}: {}", failure.line, failure.what));
            (failure.unwrap_or_else(|| "passed".to_owned()), format!("{outcome}\n{}", outcome.json()))
        }
        Err(error) => (error.to_string(), error.to_string()),
    }
}

/// A linear congruential generator with the constants of Knuth's MMIX.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// Increases one of the numbers of a line.
fn increased(line: &str, dice: &mut Dice) -> String {
    let digit = |index: &usize| line.as_bytes()[*index].is_ascii_digit();
    let starts: Vec<usize> =
        (0..line.len()).filter(|index| digit(index) && (*index == 0 || !digit(&(index - 1)))).collect();
    let Some(&start) = starts.get(dice.below(starts.len().max(1))) else { return format!("{line} 1") };
    let end = (start..line.len()).find(|index| !digit(index)).unwrap_or(line.len());
    let number: u64 = line[start..end].parse().unwrap_or(0);
    format!("{}{}{}", &line[..start], number.saturating_add(1), &line[end..])
}

/// Returns the script with one fault.
fn faulty(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let written: Vec<usize> =
        (0..lines.len()).filter(|line| !lines[*line].trim().is_empty() && !lines[*line].starts_with("// ")).collect();
    let place = written[dice.below(written.len())];
    match dice.below(6) {
        0 => drop(lines.remove(place)),
        1 => lines.insert(place, lines[place].clone()),
        2 if place > 0 => lines.swap(place, place - 1),
        3 => {
            let words: Vec<&str> = lines[place].split(' ').collect();
            let left_out = dice.below(words.len());
            let rest = words.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, word)| *word);
            lines[place] = rest.collect::<Vec<_>>().join(" ");
        }
        _ => lines[place] = increased(&lines[place], dice),
    }
    lines.join("\n") + "\n"
}

/// Returns the script with one character removed, doubled, or replaced by another.
fn misspelt(text: &str, dice: &mut Dice) -> String {
    let mut marks: Vec<char> = text.chars().collect();
    let (place, other) = (dice.below(marks.len()), dice.below(marks.len()));
    match dice.below(3) {
        0 => drop(marks.remove(place)),
        1 => marks.insert(place, marks[place]),
        _ => marks[place] = marks[other],
    }
    marks.into_iter().collect()
}

#[test]
fn errors_on_misspelt_scripts_match_their_golden() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut digests = String::new();
    for path in scripts(&root) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
        let mut dice = Dice(hash(&name));
        let all: Vec<_> = (0..MISSPELT).map(|_| told("standard", &misspelt(&text, &mut dice))).collect();
        let faults = all.iter().filter(|(said, _)| said != "passed").count();
        writeln!(digests, "{name}: {faults} {}", digest(format!("{all:?}"))).unwrap();
    }
    golden!("misspelt.txt", digests);
}

#[test]
fn outcomes_of_valid_and_faulty_scripts_match_their_golden() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let (mut whole, mut digests) = (String::new(), String::new());
    for path in scripts(&root) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
        let all: Vec<_> = ["standard", "linux", "freebsd"].iter().map(|profile| told(profile, &text).1).collect();
        writeln!(digests, "{name}: {} {} {}", digest(&all[0]), digest(&all[1]), digest(&all[2])).unwrap();
        let mut dice = Dice(hash(&name) ^ 1);
        let faults: Vec<_> = (0..FAULTS).map(|_| told("standard", &faulty(&text, &mut dice))).collect();
        for (fault, (said, all)) in faults.iter().enumerate() {
            writeln!(digests, "  {fault} {}: {said}", digest(all)).unwrap();
        }
        if hash(&name) % 40 == 7 {
            writeln!(whole, "# {name}\n{}\n# {name} with a fault\n{}\n", all[0], faults[2].1).unwrap();
        }
    }
    golden!("ladders.txt", whole);
    golden!("ladder_digests.txt", digests);
}

/// Values that settings of hosts and of connections may or may not have.
const VALUES: [&str; 38] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "14",
    "15",
    "100",
    "101",
    "1000",
    "1001",
    "65535",
    "65536",
    "100000",
    "262144",
    "1000000",
    "1000001",
    "4294967295",
    "4294967296",
    "-1",
    "x",
    "on",
    "off",
    "fit",
    "plain",
    "bits",
    "ask",
    "answer",
    "clock",
    "distinct",
    "standard",
    "empty",
    "reno",
    "cubic",
    "eifel-timestamps",
];

/// Names of settings, `sysctl`s and options.
const NAMES: [&str; 75] = [
    "//: detect = ",
    "//: observe = ",
    "//: respond = ",
    "//: grant = ",
    "//: rto = ",
    "//: after-spurious = ",
    "//: recover = ",
    "//: congest = ",
    "//: pace = ",
    "//: mss = ",
    "//: receive_window_bytes = ",
    "//: window_scale = ",
    "//: sack = ",
    "//: timestamps = ",
    "//: timestamp_values = ",
    "//: timestamp_offset = ",
    "//: timestamp_echo = ",
    "//: timestamps_required = ",
    "//: ack_every = ",
    "//: ack_delay_ms = ",
    "//: quick_acks = ",
    "//: out_of_order_ack = ",
    "//: nagle = ",
    "//: fin_beyond_cwnd = ",
    "//: window_probe = ",
    "//: time_wait = ",
    "//: time_wait_ms = ",
    "//: handshake_timeouts = ",
    "//: timeouts = ",
    "//: user_timeout_ms = ",
    "//: challenge_acks = ",
    "//: challenge_interval_ms = ",
    "//: iss = ",
    "//: irs = ",
    "//: marks = ",
    "//: ecn = ",
    "//: ecn_syns = ",
    "//: tolerance_us = ",
    "//: other = ",
    "--tolerance_usecs=",
    "--mtu=",
    "--ip_version=",
    "--mss=",
    "--strict_segments",
    "--tcp_ts_tick_usecs=",
    "net.inet.tcp.rfc1323",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.inet.tcp.sack.enable",
    "net.ipv4.tcp_sack",
    "net.inet.tcp.ecn.enable",
    "net.inet.tcp.ecn.maxretries",
    "net.ipv4.tcp_ecn",
    "net.inet.tcp.recvspace",
    "kern.ipc.maxsockbuf",
    "net.inet.tcp.delacktime",
    "net.inet.tcp.rexmit_initial",
    "net.inet.tcp.rexmit_slop",
    "net.inet.tcp.rexmit_drop_options",
    "net.inet.tcp.keepinit",
    "net.inet.tcp.insecure_rst",
    "net.inet.tcp.insecure_syn",
    "net.inet.tcp.drop_synfin",
    "net.inet.tcp.icmp_may_rst",
    "net.ipv4.tcp_mtu_probing",
    "net.inet.tcp.tolerate_missing_ts",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_wmem",
    "net.ipv4.other",
    "route advmss",
    "route initcwnd",
    "queue fq",
    "queue pfifo",
    "hystart",
];

/// Returns the line that gives a setting a value.
fn line(name: &str, value: &str) -> String {
    match name.split_once(' ') {
        Some(("//:", _)) => format!("{name}{value}"),
        Some(("route", metric)) => format!("0 `ip route change 192.0.2.1 via 192.168.0.2 dev tun0 {metric} {value}`"),
        Some((_, queue)) => format!("0 `tc qdisc replace dev tun0 root {queue} limit {value}`"),
        None if name == "hystart" => format!("0 `echo {value} > /sys/module/tcp_cubic/parameters/hystart_detect`"),
        None if name.starts_with("--") => format!("{name}{value}"),
        None => format!("0 `sysctl -w {name}={value}`"),
    }
}

/// Names of the settings of an association.
const OF_SCTP: [&str; 25] = [
    "detect",
    "observe",
    "respond",
    "grant",
    "rto",
    "after-spurious",
    "congest",
    "pace",
    "retransmit",
    "credit",
    "addresses",
    "peer_addresses",
    "pmtu_bytes",
    "receive_buffer_bytes",
    "ack_every",
    "ack_delay_ms",
    "nagle",
    "timestamp_chunk",
    "retransmit_bit",
    "forward_tsn",
    "data_with_cookie",
    "heartbeat_interval_ms",
    "cookie_life_ms",
    "tolerance_us",
    "other",
];

/// Values that only settings of an association have, and values at their bounds.
const VALUES_OF_SCTP: [&str; 16] = [
    "agreed",
    "always",
    "10.0.0.1",
    "fd00::1",
    "10.0.0.1 fd00::1",
    "10.0.0.1 x",
    "499",
    "500",
    "501",
    "511",
    "512",
    "1499",
    "1500",
    "1073741824",
    "1073741825",
    "60000001",
];

/// Each setting of an association with each value.
#[test]
fn parsed_sctp_settings_match_their_golden() {
    let mut text = String::new();
    for name in OF_SCTP {
        let mut meanings: Vec<(String, Vec<&str>)> = Vec::new();
        for value in VALUES.into_iter().chain(VALUES_OF_SCTP) {
            let script = format!("//: {name} = {value}\n0 socket(..., SOCK_SEQPACKET, IPPROTO_SCTP) = 3\n");
            let meaning = match parse_for(Profile::named("standard").unwrap(), &script, "x.pkt") {
                Ok(script) => digest(format!("{script:?}")).to_string(),
                Err(error) => {
                    let (said, given) = (error.to_string(), format!("= {value} "));
                    said.lines().next().unwrap_or_default().replacen(&given, "= VALUE ", 1)
                }
            };
            match meanings.iter_mut().find(|(known, _)| *known == meaning) {
                Some((_, values)) => values.push(value),
                None => meanings.push((meaning, vec![value])),
            }
        }
        writeln!(text, "{name}").unwrap();
        for (meaning, values) in meanings {
            writeln!(text, "  {}: {meaning}", values.join(" ")).unwrap();
        }
    }
    golden!("settings_sctp.txt", without_lists(&text));
}

/// Each setting with each value, for each profile: the error, or a digest of the resulting script.
#[test]
fn parsed_tcp_settings_match_their_golden() {
    let mut text = String::new();
    for name in NAMES {
        let mut meanings: Vec<(String, Vec<String>)> = Vec::new();
        for value in VALUES {
            let script = format!("{}\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n", line(name, value));
            let meaning = ["standard", "linux", "freebsd"].map(|profile| {
                match parse_for(Profile::named(profile).unwrap(), &script, "x.pkt") {
                    Ok(script) => digest(format!("{script:?}")).to_string(),
                    Err(error) => {
                        let said = error.to_string();
                        let line = said.lines().next().unwrap_or_default();
                        line.replacen(&format!("={value} "), "=VALUE ", 1).replacen(
                            &format!("= {value} "),
                            "= VALUE ",
                            1,
                        )
                    }
                }
            });
            let meaning =
                if meaning.windows(2).all(|two| two[0] == two[1]) { meaning[0].clone() } else { meaning.join(" ") };
            match meanings.iter_mut().find(|(known, _)| *known == meaning) {
                Some((_, values)) => values.push(value.to_owned()),
                None => meanings.push((meaning, vec![value.to_owned()])),
            }
        }
        writeln!(text, "{name}").unwrap();
        for (meaning, values) in meanings {
            writeln!(text, "  {}: {meaning}", values.join(" ")).unwrap();
        }
    }
    golden!("settings.txt", without_lists(&text));
}

/// Calls of an association's application, with `VALUE` in place of an argument.
const CALLS_OF_SCTP: [&str; 16] = [
    "setsockopt(3, IPPROTO_SCTP, SCTP_RTOINFO, {srto_initial=VALUE, srto_max=VALUE, srto_min=...}, 16) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_INITMSG, {sinit_num_ostreams=VALUE, sinit_max_instreams=...}, 8) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_INITMSG, {sinit_max_instreams=VALUE}, 8) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_INITMSG, {sinit_max_attempts=VALUE, sinit_max_init_timeo=100}, 8) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_ASSOCINFO, {sasoc_asocmaxrxt=VALUE}, 8) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_ASSOCINFO, {sasoc_cookie_life=VALUE}, 8) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, {spp_flags=VALUE, spp_hbinterval=700}, 152) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, {spp_flags=SPP_HB_ENABLE, spp_hbinterval=VALUE}, 152) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, {spp_pathmaxrxt=VALUE}, 152) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_DELAYED_SACK, {sack_delay=VALUE, sack_freq=2}, 12) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_DELAYED_ACK_TIME, {sack_freq=VALUE}, 12) = 0",
    "setsockopt(3, IPPROTO_SCTP, SCTP_NODELAY, VALUE, 4) = 0",
    "getsockopt(3, IPPROTO_SCTP, SCTP_STATUS, {sstat_state=VALUE, sstat_instrms=VALUE, sstat_outstrms=3}, 8) = 0",
    "sctp_sendmsg(3, ..., 1000, ..., ..., VALUE, 0, 1, 0, 0) = 1000",
    "sctp_sendmsg(3, ..., 1000, ..., ..., htonl(4), VALUE, 1, 0, 0) = 1000",
    "sctp_sendmsg(3, ..., 1000, ..., ..., htonl(4), 0, VALUE, 0, 0) = 1000",
];

/// Arguments of calls: numbers near bounds, words, and flags alone and combined.
const TOLD: [&str; 36] = [
    "...",
    "0",
    "1",
    "2",
    "99",
    "100",
    "101",
    "999",
    "1000",
    "1001",
    "65534",
    "65535",
    "65536",
    "3600000",
    "3600001",
    "4294967295",
    "4294967296",
    "-1",
    "[0]",
    "[1]",
    "[2]",
    "[1, 1]",
    "htonl(7)",
    "SCTP_ESTABLISHED",
    "SPP_HB_ENABLE",
    "SPP_HB_DISABLE",
    "SPP_HB_DEMAND",
    "SPP_HB_ENABLE|SPP_HB_DEMAND",
    "SPP_HB_DEMAND|SPP_PMTUD_DISABLE",
    "SPP_HB_DISABLE|SPP_HB_DEMAND",
    "SPP_HB_ENABLE|SPP_HB_DISABLE",
    "SPP_PMTUD_ENABLE",
    "SCTP_UNORDERED",
    "SCTP_SACK_IMMEDIATELY",
    "SCTP_UNORDERED|SCTP_SACK_IMMEDIATELY",
    "SCTP_EOF|SCTP_UNORDERED",
];

/// Returns the call as parsed, or the error.
fn meaning_of_call(socket: &str, call: &str) -> String {
    let script = format!("0 socket({socket}) = 3\n+0 {call}\n");
    match parse_for(Profile::named("standard").unwrap(), &script, "x.pkt") {
        Ok(script) => {
            let events = format!("{script:?}");
            let from = events.rfind("Calls { call: ").unwrap();
            events[from..].split(", expected: ").next().unwrap().replacen("Calls { call: ", "", 1)
        }
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

/// Returns each call as parsed with each value, or the errors.
fn meanings_of_calls(socket: &str, calls: &[&str]) -> String {
    let mut text = String::new();
    for call in calls {
        let mut meanings: Vec<(String, Vec<&str>)> = Vec::new();
        for told in TOLD {
            let meaning = meaning_of_call(socket, &call.replace("VALUE", told));
            match meanings.iter_mut().find(|(known, _)| *known == meaning) {
                Some((_, values)) => values.push(told),
                None => meanings.push((meaning, vec![told])),
            }
        }
        writeln!(text, "{call}").unwrap();
        for (meaning, values) in meanings {
            writeln!(text, "  {}: {meaning}", values.join(" ")).unwrap();
        }
    }
    text
}

/// Calls of a connection's application.
const CALLS_OF_TCP: [&str; 44] = [
    "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [VALUE], 4) = 0",
    "setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=VALUE, linger=0}, 8) = 0",
    "setsockopt(3, SOL_SOCKET, SO_LINGER, {onoff=1, linger=VALUE}, 8) = 0",
    "setsockopt(3, SOL_SOCKET, SO_RCVBUF, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_NODELAY, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_CORK, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_MAXSEG, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_USER_TIMEOUT, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_KEEPINIT, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_MD5SIG, [VALUE], 4) = 0",
    "setsockopt(3, SOL_TCP, TCP_NODELAY, VALUE, 4) = 0",
    "setsockopt(VALUE, SOL_TCP, TCP_NODELAY, [1], 4) = 0",
    "getsockopt(3, SOL_SOCKET, SO_ERROR, [VALUE], [4]) = 0",
    "getsockopt(3, SOL_TCP, TCP_MAXSEG, [VALUE], [4]) = 0",
    "getsockopt(3, SOL_SOCKET, SO_SNDBUF, [VALUE], [4]) = 0",
    "connect(3, ..., ...) = VALUE",
    "write(3, ..., VALUE) = VALUE",
    "read(3, ..., VALUE) = VALUE",
    "write(3, \"ab\"..., VALUE) = VALUE",
    "write(3, \"ab\" \"cd\"..., 700) = VALUE",
    "send(3, ..., 700, VALUE) = 700",
    "send(3, ..., 700, MSG_MORE) = VALUE",
    "send(3, ..., 700, MSG_EOR|MSG_MORE) = VALUE",
    "send(3, ..., 700, MSG_OOB) = VALUE",
    "writev(3, [{..., 300}, {..., VALUE}], 2) = VALUE",
    "writev(3, [{..., 300}, {...}], VALUE) = 300",
    "sendmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., VALUE}], msg_flags=0}, MSG_MORE) = VALUE",
    "sendmsg(3, {msg_iov(2)=[{..., 300}, {..., 400}], msg_flags=0}, VALUE) = 700",
    "recv(3, ..., VALUE, 0) = 700",
    "recv(3, ..., 100, MSG_DONTWAIT|MSG_PEEK) = VALUE",
    "readv(3, [{..., 300}, {..., VALUE}], 2) = 700",
    "recvmsg(3, {msg_iov(1)=[{..., VALUE}], msg_flags=0}, 0) = 700",
    "recvmsg(3, {msg_iov(1)=[{..., 300}], msg_control=[{cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=VALUE}]}, 0) = 300",
    "recvmsg(3, {msg_iov(1)=[{..., 300}], msg_control=[VALUE]}, 0) = 300",
    "read(3, ..., 300) = VALUE",
    "accept(3, ..., ...) = VALUE",
    "sendto(3, ..., VALUE, 0, ..., ...) = VALUE",
    "recvfrom(3, ..., VALUE, MSG_PEEK, ..., ...) = VALUE",
    "listen(3, VALUE) = 0",
    "shutdown(3, SHUT_WR) = VALUE",
    "shutdown(3, VALUE) = 0",
    "close(VALUE) = 0",
    "fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = VALUE",
    "ioctl(3, SIOCINQ, [VALUE]) = 0",
];

/// Each call of a connection's application with each value.
#[test]
fn parsed_tcp_calls_match_their_golden() {
    golden!("calls.txt", meanings_of_calls("..., SOCK_STREAM, IPPROTO_TCP", &CALLS_OF_TCP));
}

/// Each call of an association's application with each value.
#[test]
fn parsed_sctp_calls_match_their_golden() {
    golden!("calls_sctp.txt", meanings_of_calls("..., SOCK_SEQPACKET, IPPROTO_SCTP", &CALLS_OF_SCTP));
}

/// States of a socket: name, events that lead to the state, and events after the call.
const STATES_OF_TCP: [[&str; 3]; 9] = [
    ["fresh", "", concat!(open!(), writing!())],
    ["bound", "+0 bind(3, ..., ...) = 0\n", concat!(open!(), writing!())],
    [
        "listening",
        "+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n",
        "+.1 < S 0:0(0) win 9000 <mss 1000>\n+0 > S. 0:0(0) ack 1 <...>\n+.1 < . 1:1(0) ack 1 win 9000\n\
         +0 accept(3, ..., ...) = 4\n+0 write(4, ..., 3000) = 3000\n",
    ],
    ["calling", "+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n", writing!()],
    ["open", open!(), writing!()],
    ["with data of the peer", concat!(open!(), "+.1 < P. 1:701(700) ack 1 win 100\n"), writing!()],
    ["after the peer's FIN", concat!(open!(), "+.1 < F. 1:1(0) ack 1 win 100\n+0 > . 1:1(0) ack 2\n"), writing!()],
    ["shut down", concat!(open!(), "+.1 shutdown(3, SHUT_WR) = 0\n+0 > F. 1:1(0) ack 1\n"), writing!()],
    ["closed", concat!(open!(), "+.1 close(3) = 0\n+0 > F. 1:1(0) ack 1\n"), writing!()],
];

/// States of a socket of an association, in the same form.
const STATES_OF_SCTP: [[&str; 3]; 4] = [
    ["fresh", "", concat!(associating!(), associated!(), writing!())],
    ["bound", "+0 bind(3, ..., ...) = 0\n", concat!(associating!(), associated!(), writing!())],
    ["calling", associating!(), concat!(associated!(), writing!())],
    ["open", concat!(associating!(), associated!()), writing!()],
];

/// Makes each call in each state, with some of its arguments. A line shows how the script ends with
/// the standard profile, and a digest of all profiles' reports.
fn calls_made(socket: &str, states: &[[&str; 3]], calls: &[&str]) -> String {
    let mut text = String::new();
    for [state, before, after] in states {
        writeln!(text, "# {state}").unwrap();
        for call in calls {
            let (mut ends, mut all) = (Vec::new(), String::new());
            for value in ["0", "1", "2", "1000", "[1]", "[500]", "SCTP_UNORDERED", "SCTP_ESTABLISHED"] {
                let made = call.replace("VALUE", value);
                let script = format!("0 socket({socket}) = 3\n{before}+0 {made}\n{after}");
                if parse_for(Profile::named("standard").unwrap(), &script, "x.pkt").is_err() {
                    continue;
                }
                for profile in ["standard", "linux", "freebsd"] {
                    let (end, report) = told(profile, &script);
                    all += &report;
                    if profile == "standard" {
                        ends.push(format!("{value}: {end}"));
                    }
                }
            }
            if ends.is_empty() {
                continue;
            }
            ends.dedup_by(|one, other| {
                one.split_once(": ").map(|pair| pair.1) == other.split_once(": ").map(|pair| pair.1)
            });
            writeln!(text, "{call}\n  {} {}", digest(all), ends.join("; ")).unwrap();
        }
    }
    text
}

#[test]
fn system_calls_in_each_state_match_their_golden() {
    let tcp = calls_made("..., SOCK_STREAM, IPPROTO_TCP", &STATES_OF_TCP, &CALLS_OF_TCP);
    golden!("made.txt", tcp + &calls_made("..., SOCK_STREAM, IPPROTO_SCTP", &STATES_OF_SCTP, &CALLS_OF_SCTP));
}
