//! Flows over SCTP.

use crate::common::{numbers, observed, scenario, words};
use eifel_packet::{ip, sctp};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::FlowSummary;
use eifel_sim::{Options, Outcome, run_with};
use std::net::IpAddr;

/// Two paths of 1 Mbit/s and 100 ms each way, and 20 s of data, as in "On making SCTP robust to
/// spurious retransmissions", section 4. Tests replace the words in braces.
const TWO_PATHS: &str = r#"
    duration_s = 20
    node = [{ name = "a" }, { name = "b" }, { name = "a2" }, { name = "b2" }]
    [[link]]
    name = "primary"
    from = "a"
    to = "b"
    both = true
    rate_bps = 1_000_000
    delay_ms = 100
    queue = { kind = "drop-tail", packets = 100 }
    {primary}
    [[link]]
    name = "alternate"
    from = "a2"
    to = "b2"
    both = true
    rate_bps = 1_000_000
    delay_ms = 100
    queue = { kind = "drop-tail", packets = 100 }
    {alternate}
    [sctp]
    message_bytes = 1432
    receive_window_bytes = 65_536
    {sctp}
    [[flow]]
    name = "main"
    from = "a"
    to = "b"
    alternates = [{ from = "a2", to = "b2" }]
    transport = "sctp"
    {flow}
"#;

const ENDLESS: (&str, &str) = ("{flow}", r#"application = { kind = "bulk", endless = true }"#);

fn two_paths(replacements: &[(&str, &str)], more: &str) -> Scenario {
    let mut text = replacements.iter().fold(TWO_PATHS.to_owned(), |text, (from, to)| text.replace(from, to));
    for place in ["{primary}", "{alternate}", "{sctp}"] {
        text = text.replace(place, "");
    }
    scenario(&(text + more))
}

/// Runs a scenario, and verifies messages, packets and laws.
fn run(scenario: &Scenario, repetition: u32) -> FlowSummary {
    let options = Options { checked: true, bytes: true, ..Options::default() };
    let checked = run_with(scenario, repetition, options).unwrap().summary;
    let plain = eifel_sim::run(scenario, repetition, Record::none()).unwrap().summary;
    assert_eq!(checked, plain, "whether messages are verified changes nothing");
    checked.flows[0].clone()
}

#[test]
fn a_clean_association_fills_its_path() {
    let flow = run(&two_paths(&[ENDLESS], ""), 0);
    assert_eq!((flow.retransmissions, flow.timeouts, flow.drops), (0, 0, 0));
    // After a handshake of four packets and slow start, 1432 of each 1480 bytes are user data.
    let share = flow.goodput_bps / (1e6 * 1432.0 / 1480.0);
    assert!((0.93..0.97).contains(&share), "{share}");
}

#[test]
fn a_spike_on_the_primary_sends_a_window_again_on_the_alternate() {
    let spike = "
        [[spike]]
        links = [\"primary\"]
        holds = \"arriving\"
        at = [{ start_s = 10.5, length_s = 1.2 }]
    ";
    let to_alternate = "\n[sender]\nretransmit = \"all-to-alternate\"\n";
    let flow = run(&two_paths(&[ENDLESS], &format!("{to_alternate}{spike}")), 0);
    assert_eq!((flow.timeouts, flow.spurious_timeouts), (1, 1));
    assert_eq!((flow.spurious_retransmissions, flow.detected_spurious), (flow.retransmissions, 0));
    assert!((30..50).contains(&flow.retransmissions), "{}", flow.retransmissions);
    let stamps = ("{sctp}", "timestamp_chunk = \"agreed\"");
    let eifel = |detect: &str| {
        let sender = format!("{to_alternate}detect = {detect}\nrespond = \"rfc4015\"\n{spike}");
        run(&two_paths(&[ENDLESS, stamps], &sender), 0)
    };
    let paper = eifel("{ name = \"eifel-cover-timestamps\", proof = \"older\" }");
    assert_eq!((paper.detected_spurious, paper.undos), (1, 1));
    // The alternate's initial window lets three chunks leave at once. Each SACK before the cover
    // ACK releases more.
    assert!(paper.retransmissions < 10 && paper.bytes > flow.bytes, "{paper:?}");
    // By RFC 2960 one packet leaves, and the next one waits for a SACK: the cover ACK.
    let old = ("{sctp}", "rules = \"rfc2960\"\n    timestamp_chunk = \"agreed\"");
    let sender = format!("[sender]\ndetect = {{ name = \"eifel-cover-timestamps\", proof = \"older\" }}\n{spike}");
    let old = run(&two_paths(&[ENDLESS, old], &sender), 0);
    assert_eq!((old.timeouts, old.retransmissions, old.undos), (1, 1, 1));
    // A single SACK covers two of the three chunks, so it proves at most one original.
    let safe = eifel("\"eifel-cover-timestamps\"");
    assert_eq!((safe.detected_spurious, safe.undos), (0, 0));
}

/// A packet in a hundred is passed by three, within a quarter of the round trip of 212 ms: counting
/// deems each lost, and RACK-TLP the first ones alone. The last two packets of the transfer are lost:
/// a probe repairs the second, and shows that the first is lost.
#[test]
fn losses_are_found_by_time_and_at_the_tail() {
    let late = ("{primary}", "reorder = { rate = 0.01, length = 3 }");
    let by_time = "\n[sender]\nrecover = \"rack-tlp\"\n";
    let [counting, rack] = ["", by_time].map(|sender| run(&two_paths(&[ENDLESS, late], sender), 0));
    assert!(counting.spurious_fast_retransmits >= 5, "{counting:?}");
    assert!(rack.spurious_fast_retransmits <= 2 && rack.bytes > counting.bytes, "{rack:?}");
    let flow = "application = { kind = \"bulk\", bytes = 57_280 }";
    let tail = "\n[[outage]]\nlinks = [\"primary\"]\nat = [{ start_s = 1.098, length_s = 0.002 }]\n";
    let [counting, rack] =
        ["", by_time].map(|sender| run(&two_paths(&[("{flow}", flow)], &format!("{sender}{tail}")), 0));
    assert_eq!((counting.drops, counting.timeouts, counting.retransmissions), (2, 1, 2));
    assert_eq!((rack.drops, rack.timeouts, rack.retransmissions), (2, 0, 2));
}

/// The receive window holds 44 chunks, and the primary's queue most of them. Those on the new path overtake them.
#[test]
fn after_a_changeover_new_data_leaves_on_the_other_path_and_overtakes_the_rest() {
    let changing = r#"changeovers = [{ at_s = 10, path = 1 }, { at_s = 15, path = 0 }]
    application = { kind = "bulk", endless = true }"#;
    let outcome = observed(&two_paths(&[("{flow}", changing)], ""), 0);
    let [times, paths, again] = ["t_ns", "path", "copy"].map(|column| numbers(&outcome, "transmissions", column));
    for ((&at, &path), &copy) in times.iter().zip(&paths).zip(&again) {
        let second = (10_000_000_000..15_000_000_000).contains(&at);
        assert!(copy > 0 || path == i64::from(second), "{at}");
    }
    let flow = run(&two_paths(&[("{flow}", changing)], ""), 0);
    assert!(flow.spurious_fast_retransmits >= 2 && flow.drops == 0, "{flow:?}");
    assert_eq!(flow.spurious_retransmissions, flow.retransmissions);
}

#[test]
fn a_changeover_to_the_primary_itself_changes_nothing() {
    let with = |changes: &str| {
        let flow = format!("{changes}application = {{ kind = \"bulk\", endless = true }}");
        run(&two_paths(&[("{flow}", flow.as_str())], ""), 0)
    };
    assert_eq!(with("changeovers = [{ at_s = 7, path = 0 }]\n"), with(""));
}

#[test]
fn data_goes_over_the_alternate_while_the_primary_is_dead() {
    let dead = ("{primary}", "loss = { kind = \"random\", rate = 1 }\ndisturbed_until_s = 100");
    let hundred = ("{flow}", "start_s = 0\napplication = { kind = \"bulk\", bytes = 100_000 }");
    // The INIT goes to the alternate when the primary does not answer.
    let flow = run(&two_paths(&[dead, hundred, ("duration_s = 20", "duration_s = 300")], ""), 0);
    assert!(flow.completed, "{flow:?}");
}

#[test]
fn every_message_arrives_over_rough_paths() {
    let rough =
        "loss = { kind = \"gilbert-elliott\", good_to_bad = 0.005, bad_to_good = 0.4 }\nduplicate = { rate = 0.01 }
        reorder = { rate = 0.01, length = 4 }\nback = { loss = { kind = \"random\", rate = 0.02 } }";
    let applications = [
        "{ kind = \"bulk\", bytes = 200_000 }",
        "{ kind = \"exchange\", bytes = 100_000, back_bytes = 50_000 }",
        "{ kind = \"request-response\", requests = 5, request_bytes = 1000, response_bytes = 20_000, think_ms = 50 }",
    ];
    let settings = [
        ("", "rfc9260"),
        ("streams = 7\nmessage_bytes = 300", "rfc9260"),
        ("message_bytes = 5000", "same-path"),
        ("unordered = true\ntimestamp_chunk = \"agreed\"\nretransmit_bit = true", "all-to-alternate"),
        ("nagle = true\nmessage_bytes = 100\nreceive_window_bytes = 4000", "largest-window"),
    ];
    for (number, application) in applications.iter().enumerate() {
        for (other, (settings, policy)) in settings.iter().enumerate() {
            let flow = format!("application = {application}\nreading = {{ bytes = 3000, every_ms = 5 }}");
            let flow = if number == 1 { flow } else { format!("application = {application}") };
            let settings = if settings.contains("message_bytes") {
                ("message_bytes = 1432\n    receive_window_bytes = 65_536", format!("message_bytes = 1432\n{settings}"))
            } else {
                ("receive_window_bytes", format!("{settings}\nreceive_window_bytes"))
            };
            let settings = (settings.0, without_repeats(&settings.1));
            let all = [
                ("{primary}", rough),
                ("{alternate}", rough),
                ("{flow}", flow.as_str()),
                (settings.0, settings.1.as_str()),
                ("duration_s = 20", "duration_s = 3000"),
            ];
            let scenario = two_paths(&all, &format!("\n[sender]\nretransmit = \"{policy}\"\n"));
            for repetition in 0..3 {
                let flow = run(&scenario, repetition);
                let bytes = [200_000, 150_000, 105_000][number];
                assert!(flow.completed && flow.bytes == bytes, "{other} {repetition}: {flow:?}");
            }
        }
    }
}

/// Keeps the last line of each key.
fn without_repeats(lines: &str) -> String {
    let key = |line: &str| line.split('=').next().unwrap_or("").trim().to_owned();
    let all: Vec<&str> = lines.lines().collect();
    let last = all.iter().enumerate().filter(|(at, line)| !all[at + 1..].iter().any(|later| key(later) == key(line)));
    last.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_application_that_stops_ends_its_association() {
    let flow = run(&two_paths(&[("{flow}", "end_s = 5\napplication = { kind = \"bulk\", endless = true }")], ""), 0);
    assert!(!flow.completed && flow.bytes > 400_000 && flow.bytes < 850_000, "{flow:?}");
}

#[test]
fn wrong_settings_are_refused_with_their_place() {
    let refused = |text: &str| Scenario::parse(text, "test.toml".as_ref()).unwrap_err().to_string();
    let plain = TWO_PATHS.replace(ENDLESS.0, ENDLESS.1).replace("{primary}", "").replace("{alternate}", "");
    let plain = plain.replace("{sctp}", "");
    for (from, to, says) in [
        ("transport = \"sctp\"", "", "makes no sense over TCP"),
        ("transport = \"sctp\"", "transport = \"sctp\"\nhandshake = false", "makes no sense over SCTP"),
        ("to = \"b2\" }]", "to = \"b\" }]", "is an address of another path"),
        (
            "to = \"b2\" }]",
            "to = \"b2\" }]\nchangeovers = [{ at_s = 1, path = 2 }]",
            "flow[0].changeovers[0].path: 2; allowed: 0 to 1",
        ),
        (
            "to = \"b2\" }]",
            "to = \"b2\" }]\nchangeovers = [{ at_s = 2, path = 1 }, { at_s = 2, path = 0 }]",
            "2 s does not come after 2 s; allowed: changes in the order of time",
        ),
        (
            "transport = \"sctp\"",
            "transport = \"sctp\"\nsender = { recover = \"reno\" }",
            "recovers losses by the rules of its table sctp or by rack-tlp, not by reno",
        ),
        (
            "transport = \"sctp\"",
            "transport = \"sctp\"\nsender = { recover = { name = \"rack-tlp\", reduction = \"prr\" } }",
            "reduction of rack-tlp has no effect in an association",
        ),
        (
            "transport = \"sctp\"",
            "transport = \"sctp\"\nsender = { detect = \"eifel-cover-timestamps\" }",
            "is blind without timestamps, which sctp does not turn on",
        ),
        (
            "[[flow]]\n",
            "[[flow]]\nname = \"other\"\nfrom = \"a\"\nto = \"b\"\nsender = { congest = \"sctp\" }\n\
             application = { kind = \"bulk\", bytes = 1 }\n[[flow]]\n",
            "is for associations alone",
        ),
        ("message_bytes = 1432", "message_bytes = 100_000\nsend_buffer_bytes = 5000", "has no room in a send buffer"),
    ] {
        let said = refused(&plain.replace(from, to));
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_proxy_in_the_way_of_an_association_is_refused() {
    let text = r#"
        duration_s = 20
        proxy = { links = ["wireless"] }
        node = [{ name = "a" }, { name = "edge" }, { name = "b" }]
        link = [
            { name = "wired", from = "a", to = "edge", both = true, rate_bps = 1_000_000, delay_ms = 10 },
            { name = "wireless", from = "edge", to = "b", both = true, rate_bps = 1_000_000, delay_ms = 50 },
        ]
        [[flow]]
        name = "seen"
        from = "a"
        to = "b"
        application = { kind = "bulk", bytes = 1000 }
        [[flow]]
        name = "unseen"
        from = "a"
        to = "b"
        transport = "sctp"
        application = { kind = "bulk", bytes = 1000 }
    "#;
    let said = Scenario::parse(text, "test.toml".as_ref()).unwrap_err().to_string();
    assert!(said.contains("a proxy reads TCP, and the flow \"unseen\" over SCTP takes the link"), "{said}");
    assert!(Scenario::parse(&text.replace("transport = \"sctp\"", ""), "test.toml".as_ref()).is_ok());
}

#[test]
fn records_tell_the_paths_apart_and_tcp_has_none() {
    let spike = "
        [sender]
        retransmit = \"all-to-alternate\"
        [[spike]]
        links = [\"primary\"]
        holds = \"arriving\"
        at = [{ start_s = 10.5, length_s = 1.2 }]
    ";
    let outcome = observed(&two_paths(&[ENDLESS], spike), 0);
    let flow = &outcome.summary.flows[0];
    let paths = numbers(&outcome, "transmissions", "path");
    let kinds = words(&outcome, "transmissions", "kind");
    let needs = words(&outcome, "transmissions", "needed");
    let again: Vec<usize> = (0..kinds.len()).filter(|&row| kinds[row] == "retransmission").collect();
    assert_eq!((paths.len() as u64, again.len() as u64), (flow.segments_sent, flow.retransmissions));
    for row in 0..paths.len() {
        assert_eq!(paths[row] == 1, kinds[row] == "retransmission", "row {row}");
        assert_eq!(needs[row], if kinds[row] == "new" { "-" } else { "spurious" }, "row {row}");
    }
    // TSNs count from 0, and segments from 1. Nearly all chunks are acknowledged.
    let (starts, segments) =
        (numbers(&outcome, "transmissions", "start"), numbers(&outcome, "transmissions", "segment"));
    assert!(starts.iter().zip(&segments).all(|(start, segment)| start + 1 == *segment));
    let acked = numbers(&outcome, "acks", "cumulative");
    assert!(acked.iter().max().unwrap() > &(starts.iter().max().unwrap() - 60));
    assert_eq!(words(&outcome, "episodes", "truth"), ["spurious"]);
    assert_eq!(numbers(&outcome, "episodes", "path"), [0]);
    // The alternate's window grows from data that the primary delivered: the overgrowth of figure
    // 3.
    let windows = numbers(&outcome, "window", "path").into_iter().zip(numbers(&outcome, "window", "cwnd"));
    let alternate: Vec<i64> = windows.filter(|(path, _)| *path == 1).map(|(_, cwnd)| cwnd).collect();
    assert_eq!(alternate[0], 4404);
    assert!(alternate.is_sorted() && *alternate.last().unwrap() > 4 * alternate[0], "{alternate:?}");
    let columns = |outcome: &Outcome| -> Vec<&str> {
        let tables = outcome.tables.clone().into_columns();
        tables.into_iter().flat_map(|(_, columns)| columns).map(|(name, _)| name).collect()
    };
    assert_eq!(columns(&outcome).iter().filter(|name| **name == "path").count(), 5);
    assert!(!columns(&observed(&scenario(crate::common::SPIKES), 0)).contains(&"path"));
}

#[test]
fn an_undone_timeout_restores_the_window_to_the_flight() {
    let spike = "
        [sender]
        detect = \"eifel-cover-timestamps\"
        grant = \"always\"
        [[spike]]
        links = [\"primary\"]
        holds = \"arriving\"
        at = [{ start_s = 10.5, length_s = 1.2 }]
    ";
    let alone = ("alternates = [{ from = \"a2\", to = \"b2\" }]", "");
    let stamps = ("{sctp}", "timestamp_chunk = \"agreed\"");
    let outcome = observed(&two_paths(&[ENDLESS, alone, stamps], spike), 0);
    assert_eq!((outcome.summary.flows[0].retransmissions, outcome.summary.flows[0].undos), (1, 1));
    let told = numbers(&outcome, "episodes", "verdict_ns")[0];
    let window = |name| numbers(&outcome, "window", name);
    let row = window("t_ns").iter().rposition(|&at| at <= told).unwrap();
    // RFC 4015 sets cwnd to FlightSize plus the data that one SACK acknowledges. The chunks that
    // the timer had marked count as in flight again.
    let (cwnd, flight) = (window("cwnd")[row], window("flight")[row]);
    assert!(cwnd >= flight && cwnd <= flight + 3 * 1448 && flight > 40 * 1400, "{cwnd} {flight}");
}

#[test]
fn a_capture_is_of_one_address() {
    let options = || Options { checked: true, ..Options::default() };
    let scenario = two_paths(&[("{flow}", "application = { kind = \"bulk\", bytes = 20_000 }")], "");
    let record = Record::none().capturing(0).capturing(3);
    let outcome = run_with(&scenario, 0, Options { record, ..options() }).unwrap();
    let [primary, alternate] = &outcome.captures[..] else { panic!("two captures") };
    assert_eq!((primary.name.as_str(), alternate.name.as_str()), ("a", "b2"));
    for (capture, last) in [(primary, 1), (alternate, 4)] {
        let frames = frames(&capture.pcapng);
        assert_eq!(frames.len(), capture.shown.len());
        for frame in frames {
            let packet = ip::parse(frame).unwrap();
            assert!(sctp::parse(packet.payload).is_ok() && packet.protocol == sctp::PROTOCOL);
            let addresses = packet.header.addresses;
            let own: IpAddr = [10, 0, 0, last].into();
            assert!(addresses.source() == own || addresses.destination() == own, "{addresses:?}");
        }
    }
    // 14 chunks of at most 1432 bytes. The alternate carries only HEARTBEATs.
    assert_eq!(primary.shown.iter().filter(|shown| shown.transmission.is_some()).count(), 14);
    assert!(alternate.shown.iter().all(|shown| shown.transmission.is_none()) && !alternate.shown.is_empty());
}

/// Returns the packets of a pcapng file: its blocks of type 6 (Enhanced Packet Block).
fn frames(pcapng: &[u8]) -> Vec<&[u8]> {
    let number = |at: usize| u32::from_le_bytes(pcapng[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut frames) = (0, Vec::new());
    while at < pcapng.len() {
        if number(at) == 6 {
            frames.push(&pcapng[at + 28..at + 28 + number(at + 20)]);
        }
        at += number(at + 4);
    }
    frames
}

#[test]
fn a_slow_reader_reads_all_although_its_association_is_closed_before() {
    let slow = "application = { kind = \"bulk\", bytes = 20_000 }\nreading = { bytes = 500, every_ms = 200 }";
    let flow = run(&two_paths(&[("{flow}", slow)], ""), 0);
    assert!(flow.completed && flow.bytes == 20_000, "{flow:?}");
}

/// The answering end's first HEARTBEAT takes 5 s on the alternate. By then its peer is closed and
/// answers with an ABORT. The ABORT takes 1 ms, but SHUTDOWN COMPLETE takes 1.5 s on the primary.
#[test]
fn messages_before_an_abort_that_overtakes_the_shutdown_are_read() {
    let queue = "queue = { kind = \"drop-tail\", packets = 100 }";
    let [primary, alternate] =
        ["{primary}", "{alternate}"].map(|more| format!("delay_ms = 100\n    {queue}\n    {more}"));
    let ways = |there: u32, back: u32| format!("delay_ms = {there}\n{queue}\nback = {{ delay_ms = {back} }}");
    let (slow_there, slow_back) = (ways(1500, 5), ways(1, 5000));
    let slow = "application = { kind = \"bulk\", bytes = 5000 }\nreading = { bytes = 500, every_ms = 5000 }
        sender = { rto = { name = \"rfc9260\", initial_ms = 4000 } }
        answering_sender = { rto = { name = \"rfc9260\", initial_ms = 4000 } }";
    let all = [
        (&*primary, &*slow_there),
        (&*alternate, &*slow_back),
        ("{flow}", slow),
        ("duration_s = 20", "duration_s = 300"),
    ];
    let scenario = two_paths(&all, "");
    let flow = run(&scenario, 0);
    assert!(flow.completed && flow.bytes == 5000, "{flow:?}");
    let record = Record::none().capturing(3);
    let outcome = run_with(&scenario, 0, Options { record, checked: true, ..Options::default() }).unwrap();
    let aborts = |frame: &&[u8]| {
        let (_, mut chunks) = sctp::parse(ip::parse(frame).unwrap().payload).unwrap();
        chunks.any(|chunk| matches!(chunk, Ok(sctp::Chunk::Abort { .. })))
    };
    assert!(frames(&outcome.captures[0].pcapng).iter().any(aborts), "no ABORT overtook the end");
}

#[test]
fn a_link_that_forges_ecn_marks_changes_nothing_for_an_association() {
    let plain = run(&two_paths(&[ENDLESS], ""), 0);
    let forged = run(&two_paths(&[ENDLESS, ("{primary}", "ecn_faults = { forge = 1.0 }")], ""), 0);
    assert_eq!(plain, forged);
}

/// Both ends send until a spike cuts them off, and give up at the second timeout. Data that arrived
/// before is read slowly.
#[test]
fn an_association_that_fails_while_something_is_unread_ends_with_the_last_reading() {
    let text = |links: &str, (bytes, every_s): (u32, f64)| {
        format!(
            r#"
            [point_to_point]
            rate_bps = 1_000_000
            delay_ms = 20
            [[spike]]
            links = [{links}]
            holds = "arriving"
            at = [{{ start_s = 2, length_s = 16 }}]
            [sctp]
            association_max_retransmits = 1
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            transport = "sctp"
            application = {{ kind = "exchange", bytes = 900_000, back_bytes = 700_000 }}
            reading = {{ bytes = {bytes}, every_ms = {} }}
            "#,
            every_s * 1000.0
        )
    };
    for links in ["\"bottleneck\"", "\"bottleneck-back\"", "\"bottleneck\", \"bottleneck-back\""] {
        for reading in [(2000, 0.1), (900, 0.1), (9000, 1.0)] {
            let until = |seconds: f64, stop: &str| {
                let text = format!("duration_s = {seconds}\nstop = \"{stop}\"\n{}", text(links, reading));
                eifel_sim::run(&scenario(&text), 0, Record::none()).unwrap().summary
            };
            let ended = until(100.0, "all-flows-done");
            let bytes = |seconds: f64| until(seconds, "at-duration").flows[0].bytes;
            let last = ended.duration_s;
            assert!((5.0..50.0).contains(&last) && !ended.flows[0].completed, "{links} {reading:?}: {last}");
            assert_eq!([ended.flows[0].bytes; 2], [bytes(100.0), bytes(last + 0.001)], "{links} {reading:?}");
            assert!(bytes(last - 0.001) < ended.flows[0].bytes, "{links} {reading:?}");
        }
    }
}

/// At 1 Mbit/s, 4 bytes more of DATA take 32 µs longer and 20 bytes more of a SACK 160 µs.
#[test]
fn links_charge_the_headers_that_a_scenario_states() {
    let time_s = |bytes: u32, sctp: &str| {
        let text = format!(
            r#"
            duration_s = 60
            point_to_point = {{ rate_bps = 1_000_000, delay_ms = 100 }}
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            transport = "sctp"
            application = {{ kind = "bulk", bytes = {bytes} }}
            sctp = {{ message_bytes = 1000{sctp} }}
            "#
        );
        run(&scenario(&text), 0).time_s
    };
    let longer = |bytes: u32, sctp: &str| ((time_s(bytes, sctp) - time_s(bytes, "")) * 1e6).round() as i64;
    // A packet with DATA has 20 bytes of IP, 12 of SCTP and 16 of the chunk. A SACK's chunk has 16 too.
    assert_eq!(longer(6000, ", data_header_bytes = 48, sack_bytes = 48"), 0);
    assert_eq!(longer(2000, ", data_header_bytes = 52"), 2 * 32);
    assert_eq!(longer(2000, ", data_header_bytes = 40"), -2 * 64);
    // Two chunks leave at once. The last of twelve waits for a SACK.
    assert_eq!((longer(2000, ", sack_bytes = 68"), longer(12_000, ", sack_bytes = 68")), (0, 160));
}

/// A listed drop can name the first transmissions of a chunk; a listed reordering names the first one only.
#[test]
fn elements_with_lists_know_the_copies_of_a_chunk() {
    for copies in [1, 2] {
        let drops = format!("drops = {{ flow = \"main\", segments = [40], copies = {copies} }}");
        let flow = run(&two_paths(&[("{primary}", &drops), ENDLESS], "[sender]\nretransmit = \"same-path\"\n"), 0);
        assert_eq!((flow.drops, flow.completed), (copies, false), "{flow:?}");
        assert!(flow.retransmissions >= copies, "{flow:?}");
    }
    // Six packets pass chunk 40, and none its retransmission, whose duplicate is thus reported a round trip later.
    let late = ("{primary}", r#"reorder = { flow = "main", segments = [40], length = 6, longest_wait_s = 1000 }"#);
    let held = run(&two_paths(&[late, ("{flow}", r#"application = { kind = "bulk", bytes = 68_736 }"#)], ""), 0);
    assert_eq!(
        (held.spurious_fast_retransmits, held.spurious_retransmissions, held.completed),
        (1, 1, true),
        "{held:?}"
    );
}
