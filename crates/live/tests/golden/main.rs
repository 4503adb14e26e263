//! Whole runs of two hosts with the box between them in virtual time, the files and reports made of
//! them, and the program's output.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod run;

use eifel_base::time::{Duration, Instant};
use eifel_live::apps::Amount;
use eifel_live::apps::proxy::request::{self, Dialect};
use eifel_live::hiccup::counts::{Counts, Expectation, numbers};
use eifel_live::hiccup::log::Log;
use eifel_live::hiccup::order::{Order, Trigger};
use eifel_live::hiccup::{Direction, Transit};
use eifel_live::system::clock::Clock;
use eifel_packet::pcapng::{self, Writer};
use eifel_testkit::Folder;
use eifel_testkit::golden;
use run::{LOSSY, MS, Run, SPIKE, run, scenario};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn a_conversation_between_hosts_behind_the_box_matches_its_golden() {
    let mut text = String::new();
    let runs: [(&str, &str, &[&str], Amount, bool); 6] = [
        ("", "", &[], Amount::Bytes(30_000), false),
        (LOSSY, "", &[], Amount::Bytes(400_000), true),
        ("", SPIKE, &[], Amount::Bytes(900_000), false),
        (LOSSY, SPIKE, &[], Amount::Time(Duration::from_secs(3)), false),
        ("", "", &["segment 9: hold 0.7 there", "back packet 30: drop 3 back"], Amount::Bytes(90_000), false),
        (
            "jitter = { delay_ms = { uniform = [0.0, 9.0] } }",
            "",
            &["position 20000: drop 2 there"],
            Amount::Bytes(60_000),
            true,
        ),
    ];
    for (link, more, triggers, body, v6) in runs {
        let found = run(&scenario(link, more), triggers, body, v6);
        writeln!(text, "# {link} {more} {triggers:?} {body:?}\n{}", found.text).unwrap();
    }
    golden!("hosts.txt", text);
}

/// Writes the files that the box of a run would have written, and a kernel's counters for them.
/// Times begin one second after the beginning of 1970.
fn folder(run: &Run, folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let seconds = |at: Instant| {
        let micros = at.as_nanos() / 1000;
        format!("{}.{:06}", 1 + micros / 1_000_000, micros % 1_000_000)
    };
    let mut path = String::from(
        "dir,t_in,t_out,fate,seq,ack,len,flags,ipid,tsval,tsecr,t_due,flow,n,protocol,bytes,segment,copy,sport,dport\n",
    );
    for Transit { direction, entered, due, fate, seen, bytes, .. } in &run.passages {
        let dir = if *direction == Direction::There { "A" } else { "B" };
        let out = if matches!(fate.name(), "ok" | "copy") { seconds(*due) } else { String::new() };
        let tcp = seen.tcp.unwrap();
        let stamps = tcp.options.timestamps.map_or(",".to_owned(), |both| format!("{},{}", both.value, both.echo));
        let label = &seen.label;
        let numbers = format!("{},{},{},{}", tcp.seq.0, tcp.ack.0, tcp.payload_len, tcp.flags.0);
        writeln!(
            path,
            "{dir},{},{out},{},{numbers},{},{stamps},{},{},{},{},{bytes},{},{},{},{}",
            seconds(*entered),
            fate.name(),
            seen.identification,
            seconds(*due),
            label.flow,
            seen.number,
            seen.protocol,
            label.segment,
            label.copy,
            tcp.source_port,
            tcp.destination_port
        )
        .unwrap();
    }
    std::fs::write(folder.join("path.csv"), path).unwrap();
    for (side, name) in ["sender", "receiver"].into_iter().enumerate() {
        let mut writer = Writer::new(Vec::new(), "golden").unwrap();
        let interface = writer.interface(name).unwrap();
        for (at, _, bytes) in run.packets.iter().filter(|(_, at, _)| *at == side) {
            let packet = pcapng::Packet { bytes, wire_len: bytes.len() as u32, comment: None };
            writer.packet(interface, 1_000_000_000 + at.as_nanos(), packet).unwrap();
        }
        std::fs::write(folder.join(format!("{name}.pcapng")), writer.finish().unwrap()).unwrap();
    }
    let mut counters = String::from("time,name,value\n");
    let mut values = [0_u64; 5];
    let names = ["TCPTimeouts", "TCPFastRetrans", "TCPSlowStartRetrans", "TCPLossProbes", "TCPFullUndo"];
    for (number, one) in run.judged.iter().filter(|one| one.direction == Direction::There).enumerate() {
        let which = number % 4;
        values[which] += 1;
        let at = seconds(one.at + MS);
        writeln!(counters, "{at},{},{}\n{at},RetransSegs,{}", names[which], values[which], number + 1).unwrap();
        if number % 5 == 2 {
            values[4] += 1;
            writeln!(counters, "{},{},{}", seconds(one.at + MS * 40), names[4], values[4]).unwrap();
        }
    }
    std::fs::write(folder.join("sender.counters.csv"), counters).unwrap();
}

/// Parses seconds with six digits after the point into microseconds; `None` if there is no point.
fn micros(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.')?;
    assert_eq!(part.len(), 6, "{seconds}");
    Some(whole.parse::<u64>().unwrap() * 1_000_000 + part.parse::<u64>().unwrap())
}

#[test]
fn the_box_logs_every_packet() {
    const LATE: Duration = Duration::from_micros(7);
    let top = Folder::new();
    let found = run(&scenario(LOSSY, SPIKE), &["back packet 30: drop 3 back"], Amount::Bytes(400_000), false);
    folder(&found, &top.join("naive"));
    let clock = Clock::start();
    let mut log = Log::create(&top.join("log"), clock).unwrap();
    log.begin(Instant::ZERO + MS);
    let (mut frames, mut leaving, mut copies) = ([0_u64; 2], 0, 0);
    for passage in &found.passages {
        let side = passage.direction as usize;
        frames[side] += 1;
        assert_eq!(log.enters(passage, b"it comes", Some("a word on it")).unwrap(), frames[side]);
        if matches!(passage.fate.name(), "ok" | "copy") {
            log.leaves(passage, b"it goes", passage.due + LATE).unwrap();
            frames[1 - side] += 1;
            leaving += 1;
            copies += usize::from(passage.fate.name() == "copy");
        } else {
            log.row(passage, None).unwrap();
        }
    }
    found.judged.iter().for_each(|one| log.judged(one).unwrap());
    log.finish().unwrap();
    let read = |name: &str| std::fs::read_to_string(top.join(name)).unwrap();
    let began = clock.unix_nanos(Instant::ZERO + MS) / 1000;
    let (written, naive) = (read("log/path.csv"), read("naive/path.csv"));
    assert!(copies > 0 && written.lines().count() == naive.lines().count());
    assert_eq!(written.lines().next(), naive.lines().next());
    for (written, naive) in written.lines().zip(naive.lines()).skip(1) {
        let (one, other): (Vec<&str>, Vec<&str>) = (written.split(',').collect(), naive.split(',').collect());
        for (column, (one, other)) in one.iter().zip(&other).enumerate() {
            let Some(expected) = micros(other).filter(|_| matches!(column, 1 | 2 | 11)) else {
                assert_eq!(one, other, "{written}\n{naive}");
                continue;
            };
            let late = if column == 2 { 7 } else { 0 };
            let passed = micros(one).unwrap() - began;
            // The clock's own beginning may lie between two microseconds.
            assert!((passed..=passed + 1).contains(&(expected - 1_000_000 + late)), "{written}\n{naive}");
        }
    }
    let truth = read("log/truth.csv");
    assert_eq!(truth.lines().count(), found.judged.len() + 1);
    assert!(found.judged.iter().any(|one| one.direction == Direction::There));
    for (line, one) in truth.lines().skip(1).zip(&found.judged) {
        let (from, when) = (if one.direction == Direction::There { 'A' } else { 'B' }, line.split(',').nth(1).unwrap());
        let passed = micros(when).unwrap() - began;
        assert!((passed..=passed + 1).contains(&(one.at.as_nanos() / 1000)), "{line}");
        let expected = format!(
            "{},{when},{},{},{},{},{},{},{from},{}",
            one.frame,
            one.seq,
            one.len,
            one.nth,
            one.fate.name(),
            u8::from(one.spurious),
            u8::from(one.original_known),
            one.flow
        );
        assert_eq!(line, expected);
    }
    let captures = ["sender", "receiver"].map(|name| {
        String::from_utf8_lossy(&std::fs::read(top.join(format!("log/{name}.pcapng"))).unwrap()).into_owned()
    });
    let count = |what: &str| captures.iter().map(|capture| capture.matches(what).count()).sum::<usize>();
    assert_eq!(
        [count("it comes"), count("a word on it"), count("it goes")],
        [found.passages.len(), found.passages.len(), leaving]
    );
    assert_eq!([count(" s in the box, released 7 us late"), count("a copy, ")], [leaving, copies]);
    for (side, capture) in captures.iter().enumerate() {
        let comes = found.passages.iter().filter(|one| one.direction as usize == side).count();
        assert_eq!(capture.matches("it comes").count(), comes);
    }
}

fn called(folder: &Path, arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eifel"));
    let output = command.arg("live").args(arguments.split_whitespace()).current_dir(folder).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("$ eifel live {arguments}\n{out}{err}{:?}\n\n", output.status.code())
}

#[test]
fn the_output_of_judge_matches_its_golden() {
    let top = Folder::new();
    let mut text = String::new();
    let runs = [("lossy", LOSSY, ""), ("spike", "", SPIKE), ("both", LOSSY, SPIKE)];
    for (name, link, more) in runs {
        folder(&run(&scenario(link, more), &[], Amount::Bytes(700_000), false), &top.join(name));
        text += &called(&top, &format!("judge {name}"));
        text += &std::fs::read_to_string(top.join(name).join("judged.csv")).unwrap();
        text += &called(&top, &format!("judge --json --truth {name}.csv {name}"));
        text += &called(&top, &format!("judge --back {name}"));
    }
    text += &called(&top, "judge --sender both/receiver.pcapng --receiver both/sender.pcapng spike");
    let path = std::fs::read_to_string(top.join("lossy/path.csv")).unwrap();
    for (from, to) in [("dir,", "way,"), ("A,1", "A,x"), (",ok,", ",fine,")] {
        std::fs::write(top.join("lossy/path.csv"), path.replacen(from, to, 1)).unwrap();
        text += &called(&top, "judge lossy");
    }
    std::fs::remove_file(top.join("spike/sender.counters.csv")).unwrap();
    text += &called(&top, "judge spike");
    text += &called(&top, "judge nothing");
    golden!("judged.txt", text);
}

#[test]
fn help_texts_and_usage_errors_match_their_golden() {
    let folder = std::env::temp_dir();
    let calls = [
        "",
        "--help",
        "other",
        "send --help",
        "receive --help",
        "sctp --help",
        "proxy --help",
        "record --help",
        "hiccup --help",
        "judge --help",
        "compare --help",
        "worlds --help",
        "worlds --count 0",
        "worlds one two",
        "worlds --seed x",
        "undo --help",
        "undo",
        "undo ful -- true",
        "undo full --to 10.0.0.0/33 -- true",
        "send",
        "send nowhere",
        "send 10.0.0.1",
        "send 10.0.0.1:x",
        "send tcp://10.0.0.1:1 a",
        "send --bytes x 10.0.0.1:5",
        "send --bytes 5 --seconds 5 10.0.0.1:5",
        "send --seconds 0 10.0.0.1:5",
        "send --other",
        "send --record x 10.0.0.1:5",
        "send --bytes",
        "send http://10.0.0.1",
        "send iperf3://10.0.0.1:x",
        "receive",
        "receive 0",
        "receive 70000",
        "receive http://x",
        "receive iperf3://10.0.0.1",
        "receive --calls 2 --record x 5",
        "sctp",
        "sctp send",
        "sctp send x",
        "sctp receive 0",
        "sctp receive x",
        "sctp other 5",
        "sctp send --message 0 10.0.0.1:5",
        "sctp send --message 1000001 10.0.0.1:5",
        "sctp send --streams x 10.0.0.1:5",
        "sctp send --bytes 1X 10.0.0.1:5",
        "proxy",
        "proxy 0",
        "proxy x",
        "record",
        "record a.pcapng",
        "hiccup",
        "hiccup nothing.toml",
        "hiccup nothing.toml -- true",
        "judge",
        "judge a b",
        "judge --truth",
        "compare",
        "compare nothing.toml",
        "compare a b",
    ];
    golden!("program.txt", calls.map(|call| called(&folder, call)).concat());
}

#[test]
fn parsed_orders_expectations_and_requests_match_their_golden() {
    let mut text = String::new();
    let orders = [
        "hold",
        "hold 0.5",
        "hold 0.5 there",
        "hold there 0.5",
        "release back",
        "toggle both",
        "drop",
        "drop 3",
        "drop 0",
        "drop x",
        "hold -1",
        "hold 1 2",
        "",
        "other",
        "drop 3 back",
        "release 1",
    ];
    for order in orders {
        writeln!(text, "{order:?}: {:?}", Order::parse(order)).unwrap();
        for when in ["packet 7", "back segment 0", "position 20000", "back", "segment x", ""] {
            writeln!(text, "  {when:?}: {:?}", Trigger::parse(&format!("{when}: {order}"))).unwrap();
        }
    }
    let found = numbers(&[Counts::default(); 2]);
    writeln!(text, "{found:?}").unwrap();
    for sign in ["<=", ">=", "==", "<", ">", "=", ""] {
        for bound in ["-1", "0", " 1 ", "x"] {
            let name = found[0].0.as_str();
            let read = Expectation::parse(&format!("{name}{sign}{bound}"));
            let checked = read.as_ref().map(|one| one.check(&found));
            writeln!(text, "{sign}{bound}: {read:?} {checked:?}").unwrap();
        }
    }
    writeln!(text, "{:?}", Expectation::parse("nothing<1").unwrap().check(&found)).unwrap();
    let requests: [&[u8]; 14] = [
        b"",
        &[5],
        &[5, 1, 0],
        &[5, 1, 2],
        &[5, 2, 2, 0],
        &[4, 1],
        &[5, 1, 0, 1, 10, 0, 0, 9, 0, 80],
        &[5, 1, 0, 3, 3, b'a', b'.', b'b', 1, 0],
        &[5, 2, 0, 1, 10, 0, 0, 9, 0, 80],
        &[5, 1, 0, 4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 80],
        &[5, 1, 0, 9, 1],
        b"CONNECT host.example:443 HTTP/1.1\r\nHost: x\r\n\r\nmore",
        b"CONNECT [fd00::2]:8080 HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ];
    for bytes in requests {
        for dialect in [None, Some(Dialect::Socks), Some(Dialect::Http)] {
            for length in 0..=bytes.len() {
                let step = request::read(&bytes[..length], dialect);
                if length == bytes.len() || step != Ok(request::Step::More) {
                    writeln!(text, "{dialect:?} {:?}: {step:?}", bytes[..length].escape_ascii().to_string()).unwrap();
                }
            }
        }
    }
    golden!("read.txt", text);
}

/// Each command knows all options that its `--help` lists. Nothing runs, because a value or a word
/// is missing.
#[test]
fn every_option_in_a_help_text_is_accepted() {
    let call =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_eifel")).arg("live").args(arguments).output().unwrap();
    let commands: [&[&str]; 8] = [
        &["send"],
        &["receive"],
        &["sctp", "send"],
        &["sctp", "receive"],
        &["proxy"],
        &["hiccup"],
        &["judge"],
        &["compare"],
    ];
    for words in commands {
        let help = call(&[words, &["--help"]].concat());
        let help = String::from_utf8(help.stdout).unwrap();
        let listed: Vec<&str> = help
            .lines()
            .filter_map(|line| line.strip_prefix("  --")?.split([' ', '=']).next())
            .filter(|name| !name.is_empty())
            .collect();
        assert!(listed.len() > 1, "{words:?}: {help}");
        for name in listed {
            let option = format!("--{name}");
            let output = call(&[words, &[option.as_str()]].concat());
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(2) && !said.contains("unknown option"), "{words:?} {option}: {said}");
        }
    }
}
