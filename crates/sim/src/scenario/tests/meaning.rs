//! The effects of settings.

use super::super::model::{DatagramApplication, Opening, Stop, StreamApplication, Traffic};
use super::super::{Connection, Scenario};
use super::{GRAPH, PLAIN, parse, with};
use crate::scenario::Amount;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use eifel_packet::ip::Version;
use eifel_path::config::{Capacity, RateChange};
use eifel_path::draw::Draw;
use eifel_path::element::ElementConfig;
use eifel_path::element::listed::ListedDrop;
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;
use eifel_path::spike::{HoldsAt, Measured, Span, SpikeSource};
use eifel_recovery::association::{Config, Rules};
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::settings::{SackUse, SendKind, Stamping, WindowScale};

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn connection(scenario: &Scenario, flow: usize) -> &Connection {
    let Traffic::Stream { connection, .. } = &scenario.flows[flow].traffic else { panic!("a stream") };
    connection
}

#[test]
fn what_is_left_out_has_the_documented_defaults() {
    let scenario = parse(PLAIN);
    assert_eq!((scenario.seed, scenario.repetitions, scenario.title.as_str()), (1, 1, ""));
    assert_eq!((scenario.stop, scenario.header_bytes), (Stop::AllFlowsDone, None));
    assert_eq!(scenario.duration, Duration::from_secs(100));
    assert!(scenario.recording.tables.is_empty() && scenario.recording.captures.is_empty());
    assert_eq!(scenario.flows[0].start, Draw::Constant { value_s: 0.0 });
    let connection = connection(&scenario, 0);
    assert_eq!(connection.opening, Opening::Handshake);
    let settings = &connection.settings;
    assert_eq!((settings.receive_window, settings.window_scale), (1 << 20, WindowScale::Fit));
    assert_eq!((settings.acks.every, settings.acks.delay), (2, Duration::from_millis(200)));
    assert_eq!((settings.sack, settings.send), (SackUse::WithDuplicates, SendKind::Counted));
    assert_eq!(connection.sender.congest, Choice::named("reno"));
}

#[test]
fn a_full_sized_segment_fills_an_ethernet_frame_over_either_version_of_ip() {
    let unsized_ = with(PLAIN, "payload_bytes = 1000", "");
    let six = with(&unsized_, "duration_s = 100", "duration_s = 100\nip = \"ipv6\"");
    for (text, ip) in [(&unsized_, Version::V4), (&six, Version::V6)] {
        let scenario = parse(text);
        assert_eq!(scenario.ip, ip);
        assert_eq!(u32::from(connection(&scenario, 0).settings.mss) + 20 + ip.header_len(), 1500);
    }
}

#[test]
fn the_short_form_is_two_nodes_and_two_links() {
    let scenario = parse(PLAIN);
    let links: Vec<_> = scenario.links.iter().map(|link| (link.name.as_str(), link.from, link.to)).collect();
    assert_eq!(links, [("bottleneck", 0, 1), ("bottleneck-back", 1, 0)]);
    for link in &scenario.links {
        let Capacity::Rate { rate, changes } = &link.config.capacity else { panic!("a rate") };
        assert_eq!((rate.as_bps(), changes.len()), (2_000_000, 0));
        assert_eq!(link.config.delay, Duration::from_millis(150));
        assert_eq!(link.config.queue, QueueConfig::DropTail(DropTail::Packets(75)));
    }
    let [spike] = scenario.links[0].config.spikes.as_slice() else { panic!("one spike") };
    assert_eq!((spike.name.as_str(), spike.holds), ("spike1", HoldsAt::Sending));
    let SpikeSource::Listed(spans) = &spike.source else { panic!("listed") };
    assert_eq!(spans, &[Span { start: at(28), end: at(40) }]);
    assert!(scenario.links[1].config.spikes.is_empty());
}

#[test]
fn the_way_back_keeps_speed_delay_and_queue_and_nothing_else() {
    let changed = "packets = 75 }\nloss = { kind = \"random\", rate = 0.5 }\nback = { delay_ms = 0.25, duplicate = { rate = 1 } }";
    let scenario = parse(&with(PLAIN, "packets = 75 }", changed));
    let [there, back] = scenario.links.as_slice() else { panic!("two links") };
    assert_eq!(there.config.elements, [ElementConfig::RandomLoss { rate: 0.5 }]);
    assert_eq!(back.config.elements, [ElementConfig::Duplicate { rate: 1.0 }]);
    assert_eq!(back.config.delay, Duration::from_micros(250));
    assert_eq!(back.config.queue, there.config.queue);
}

#[test]
fn changes_of_the_rate_are_in_order_and_not_the_last_word_of_the_way_back() {
    let changed = "rate_bps = 3e5\nrate_changes = [{ at_s = 20, rate_bps = 10_000 }]\nback = { rate_bps = 7 }";
    let scenario = parse(&with(PLAIN, "rate_bps = 2_000_000", changed));
    let rate = |bps| Rate::from_bps(bps).expect("not zero");
    let Capacity::Rate { changes, .. } = &scenario.links[0].config.capacity else { panic!("a rate") };
    assert_eq!(changes, &[RateChange { at: at(20), rate: rate(10_000) }]);
    let Capacity::Rate { rate: back, changes } = &scenario.links[1].config.capacity else { panic!("a rate") };
    assert_eq!((*back, changes.len()), (rate(7), 0));
}

#[test]
fn drops_name_flows_by_number() {
    let changed = "packets = 75 }\ndrops = [{ flow = \"main\", segments = [9, 10] }, { flow = \"main\", segments = [12], copies = 2 }]";
    let scenario = parse(&with(PLAIN, "packets = 75 }", changed));
    let [ElementConfig::ListedDrops(drops)] = scenario.links[0].config.elements.as_slice() else { panic!("drops") };
    let drop = |segment, copies| ListedDrop { flow: 0, segment, copies };
    assert_eq!(drops, &[drop(9, 1), drop(10, 1), drop(12, 2)]);
}

#[test]
fn spikes_are_drawn_from_distributions() {
    let drawn = "first_s = { exponential = 5 }\nlength_s = { uniform = [3, 15] }\ninterval_s = { uniform = [20, 40] }\ninterval = \"end-to-start\"";
    let scenario = parse(&with(PLAIN, "at = [{ start_s = 28, end_s = 40 }]", drawn));
    let SpikeSource::Drawn(spikes) = &scenario.links[0].config.spikes[0].source else { panic!("drawn") };
    assert_eq!(spikes.first, Draw::Exponential { mean_s: 5.0 });
    assert_eq!(spikes.length, Draw::Uniform { low_s: 3.0, high_s: 15.0 });
    assert_eq!(spikes.interval, Draw::Uniform { low_s: 20.0, high_s: 40.0 });
    assert_eq!(spikes.measured, Measured::EndToStart);
}

#[test]
fn sizes_in_segments_are_of_payload() {
    let text = with(PLAIN, "bytes = 100_000", "segments = 7");
    let scenario = parse(&with(&text, "payload_bytes = 1000", "mss_bytes = 512\nreceive_window_segments = 20"));
    let Traffic::Stream { application: StreamApplication::Bulk { bytes }, .. } = &scenario.flows[0].traffic else {
        panic!("a bulk transfer")
    };
    assert_eq!((bytes.clone(), connection(&scenario, 0).settings.receive_window), (Some(Amount::fixed(3500)), 10_000));
}

#[test]
fn a_flow_changes_the_settings_of_all_key_by_key() {
    let common = "[tcp]\nmss_bytes = 600\nnagle = true\n[sender]\nrecover = \"fack\"\ndetect = \"none\"\n[[flow]]";
    let scenario = parse(&with(PLAIN, "[[flow]]", common));
    let Connection { settings, sender, .. } = connection(&scenario, 0);
    assert_eq!((settings.mss, settings.nagle), (1012, true));
    assert_eq!((sender.recover.name.as_str(), sender.detect.name.as_str()), ("reno-sack", "none"));
    let minimum = Value::Duration(Duration::from_secs(1));
    assert_eq!(sender.rto, Choice::named("rfc6298").with("minimum_ms", minimum));
}

#[test]
fn the_end_that_answers_may_have_settings_and_algorithms_of_its_own() {
    let common = "[tcp]\nnagle = true\n[sender]\nrecover = \"fack\"\ndetect = \"none\"\n[[flow]]";
    let own = "[flow.answering_tcp]\npayload_bytes = 200\nsack = false\n[flow.answering_sender]\nrecover = \"reno\"\n";
    let scenario = parse(&format!("{}\n{own}", with(PLAIN, "[[flow]]", common)));
    let Connection { settings, sender, answering_settings, answering_sender, .. } = connection(&scenario, 0);
    assert_eq!((settings.mss, settings.nagle, settings.sack), (1012, true, SackUse::WithDuplicates));
    assert_eq!((answering_settings.mss, answering_settings.nagle, answering_settings.sack), (212, true, SackUse::Off));
    assert_eq!((sender.recover.name.as_str(), answering_sender.recover.name.as_str()), ("reno-sack", "reno"));
    assert_eq!(answering_sender.detect, sender.detect);
    // Settings that the scenario does not give are equal at both ends.
    let plain = parse(PLAIN);
    let Connection { settings, sender, answering_settings, answering_sender, .. } = connection(&plain, 0);
    assert_eq!((settings, sender), (answering_settings, answering_sender));
}

#[test]
fn listed_routes_go_before_the_shortest_way() {
    let shortcut = "[[link]]\nfrom = \"a\"\nto = \"c\"\nboth = true\nrate_bps = 5\ndelay_ms = 0\n[[flow]]";
    let short = parse(&with(GRAPH, "[[flow]]", shortcut));
    assert_eq!((short.flows[0].there.as_slice(), short.flows[0].back.as_slice()), (&[4][..], &[5][..]));
    let listed = format!("{}{}", "[[route]]\nat = \"a\"\nto = \"c\"\nvia = \"a-b\"\n", shortcut);
    let long = parse(&with(GRAPH, "[[flow]]", &listed));
    assert_eq!((long.flows[0].there.as_slice(), long.flows[0].back.as_slice()), (&[0, 2][..], &[5][..]));
}

#[test]
fn datagrams_need_no_way_back() {
    let one_way = with(GRAPH, "from = \"b\"\nto = \"c\"\nboth = true", "from = \"b\"\nto = \"c\"");
    let cbr = "{ kind = \"cbr\", rate_bps = 8000, packet_bytes = 100, jitter = 0.5 }";
    let scenario = parse(&with(&one_way, "{ kind = \"bulk\", segments = 10 }", cbr));
    let Traffic::Datagrams(DatagramApplication::Cbr { rate, packet_bytes, jitter }) = scenario.flows[0].traffic else {
        panic!("datagrams")
    };
    assert_eq!((rate.as_bps(), packet_bytes, jitter.to_bits()), (8000, 100, 0.5_f64.to_bits()));
    assert!(scenario.flows[0].back.is_empty() && !scenario.flows[0].has_end());
}

#[test]
fn json_and_toml_mean_the_same() {
    let json = r#"{
        "duration_s": 100.0,
        "point_to_point": { "rate_bps": 2e6, "delay_ms": 150, "queue": { "kind": "drop-tail", "packets": 75.0 } },
        "spike": [{ "links": ["bottleneck"], "holds": "sending", "at": [{ "start_s": 28, "length_s": 12 }] }],
        "flow": [{
            "name": "main", "from": "sender", "to": "receiver",
            "application": { "kind": "bulk", "bytes": 100000 },
            "tcp": { "payload_bytes": 1000 },
            "sender": { "rto": { "name": "rfc6298", "minimum_ms": 1000.0 }, "recover": "reno-sack" }
        }]
    }"#;
    assert_eq!(format!("{:?}", parse(json)), format!("{:?}", parse(PLAIN)));
}

#[test]
fn what_is_kept_is_by_name_and_number() {
    let scenario =
        parse(&with(PLAIN, "duration_s = 100", "duration_s = 100\nrecord = [\"acks\"]\ncaptures = [\"receiver\"]"));
    assert_eq!((scenario.recording.tables, scenario.recording.captures), (vec!["acks"], vec![1]));
}

#[test]
fn a_detector_may_be_blind_where_nobody_names_it_or_the_other_end_is_another_stack() {
    parse(&with(PLAIN, "payload_bytes = 1000", "timestamps = false\nsack = false"));
    let other = "detect = \"dsack\"\n[flow.answering_tcp]\nsack = false\ntimestamps = false\n";
    parse(&with(PLAIN, "recover = \"reno-sack\"", other));
    let marked = "payload_bytes = 1000\nretransmission_marks = \"bits\"";
    parse(&with(&with(PLAIN, "payload_bytes = 1000", marked), "recover = \"reno-sack\"", "detect = \"eifel-bit\""));
}

fn tried(text: &str) -> Result<Scenario, crate::scenario::Error> {
    Scenario::parse(text, "test.toml".as_ref())
}

/// The unit of a key applies to every number of the distribution under it.
#[test]
fn drawn_delays_in_milliseconds_are_so_many_thousandths_of_a_second() {
    let jitter = |draw: &str| {
        let link = format!("delay_ms = 150\njitter = {{ delay_ms = {draw} }}");
        format!("{:?}", parse(&PLAIN.replace("delay_ms = 150", &link)).links[0])
    };
    for (draw, meaning) in [
        (
            "{ normal = { mean = 8, deviation = 2, minimum = 1, maximum = 16 } }",
            "Normal { mean_s: 0.008, deviation_s: 0.002, minimum_s: 0.001, maximum_s: 0.016 }",
        ),
        ("{ log_normal = { median = 4, sigma = 0.5 } }", "LogNormal { median_s: 0.004, sigma: 0.5 }"),
        ("{ pareto = { minimum = 4, shape = 1.5 } }", "Pareto { minimum_s: 0.004, shape: 1.5 }"),
        ("{ exponential = 8 }", "Exponential { mean_s: 0.008 }"),
        ("{ uniform = [1, 2] }", "Uniform { low_s: 0.001, high_s: 0.002 }"),
    ] {
        let found = jitter(draw);
        assert!(found.contains(meaning), "{draw}: {found}");
    }
}

#[test]
fn spikes_may_touch() {
    let at = |list: &str| tried(&PLAIN.replace("[{ start_s = 28, end_s = 40 }]", list));
    assert!(at("[{ start_s = 28, end_s = 40 }, { start_s = 40, end_s = 41 }]").is_ok());
    let refused = at("[{ start_s = 28, end_s = 40 }, { start_s = 39.999, end_s = 41 }]").unwrap_err().to_string();
    assert!(refused.contains("begins at 39.999 s, but the one before it ends at 40 s"), "{refused}");
}

/// The check uses the larger window and the smaller segment of both ends.
#[test]
fn a_window_of_either_end_may_hold_too_many_segments() {
    let ends = |own: &str, other: &str| {
        let text = PLAIN.replace("payload_bytes = 1000", own);
        tried(&format!("{text}\n[flow.answering_tcp]\n{other}\n"))
    };
    let (large, small) = ("receive_window_bytes = 1_073_741_824\npayload_bytes = 511", "payload_bytes = 511");
    assert!(ends(small, small).is_ok());
    for (own, other) in [(large, small), (small, large)] {
        let refused = ends(own, other).unwrap_err().to_string();
        assert!(refused.contains("a window of 1073741824 bytes holds 2101256 segments of 511 bytes"), "{refused}");
    }
}

#[test]
fn among_equally_short_ways_the_first_listed_link_is_taken() {
    let beside = "[[flow]]";
    for names in [["one", "two"], ["two", "one"]] {
        let links: String = names
            .iter()
            .map(|name| {
                format!(
                    "[[link]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"c\"\nboth = true\nrate_bps = 9\ndelay_ms = 1\n\n"
                )
            })
            .collect();
        let scenario = parse(&with(GRAPH, beside, &format!("{links}{beside}")));
        let flow = &scenario.flows[0];
        let taken = [&flow.there, &flow.back]
            .map(|way| way.iter().map(|&link| scenario.links[link].name.as_str()).collect::<Vec<_>>());
        assert_eq!(taken, [vec![names[0]], vec![&format!("{}-back", names[0])]]);
    }
}

/// The headers of a packet take 20 bytes for IPv4 or 40 for IPv6, 12 for SCTP and 16 for a DATA
/// chunk. A timestamp chunk takes 12 bytes.
#[test]
fn a_message_fills_a_packet_to_a_multiple_of_four_bytes() {
    for (ip, header) in [("ipv4", 20), ("ipv6", 40)] {
        for (stamps, stamp) in [("off", 0), ("agreed", 12), ("always", 12)] {
            for pmtu in (512..524).chain([1280, 1500, 65_535]) {
                let sctp = format!("[sctp]\npmtu_bytes = {pmtu}\ntimestamp_chunk = \"{stamps}\"");
                let scenario = parse(&format!("ip = \"{ip}\"\n{GRAPH}{sctp}\n{}", flow_over("sctp", "")));
                let Traffic::Messages { association, .. } = &scenario.flows.last().unwrap().traffic else {
                    panic!("an association")
                };
                let longest = (0..=pmtu).rev().find(|bytes| bytes % 4 == 0 && header + 28 + stamp + bytes <= pmtu);
                assert_eq!(association.message_bytes.map(Some), [longest; 2], "{ip} {stamps} {pmtu}");
            }
        }
    }
}

#[test]
fn rules_of_rfc_2960_change_the_defaults_of_an_ends_algorithms() {
    let settings = "
        sctp = { rules = \"rfc2960\" }
        answering_sctp = { rules = \"rfc9260\" }
        sender = { detect = \"dsack\" }";
    let scenario = parse(&format!("{GRAPH}{}", flow_over("sctp", settings)));
    let Traffic::Messages { association, .. } = &scenario.flows.last().unwrap().traffic else {
        panic!("an association")
    };
    for (settings, rules) in association.settings.iter().zip([Rules::Rfc2960, Rules::Rfc9260]) {
        let mut expected = Config::by(rules);
        expected.path.detect = Choice::named("dsack");
        assert_eq!(settings.engine, expected);
    }
}

#[test]
fn a_flow_with_a_liar_lies() {
    for transport in ["tcp", "sctp"] {
        for (liar, lies) in [("", false), ("liar = { in_order = { number = \"one-more\" } }", true)] {
            let scenario = parse(&format!("{GRAPH}{}", flow_over(transport, liar)));
            assert_eq!(scenario.flows.last().unwrap().lies(), lies, "{transport} {liar}");
        }
    }
}

fn flow_over(transport: &str, more: &str) -> String {
    format!(
        "[[flow]]\nname = \"last\"\nfrom = \"a\"\nto = \"c\"\ntransport = \"{transport}\"\n{more}\n\
         application = {{ kind = \"bulk\", endless = true }}\n"
    )
}

#[test]
fn a_profile_sets_what_the_scenario_does_not_say() {
    let unsaid = with(PLAIN, "rto = { name = \"rfc6298\", minimum_ms = 1000 }\nrecover = \"reno-sack\"\n", "");
    let plain = with(&unsaid, "[[flow]]\n", "[[flow]]\nprofile = \"linux\"\n");
    let scenario = parse(&plain);
    let linux = connection(&scenario, 0);
    for (settings, sender) in [(&linux.settings, &linux.sender), (&linux.answering_settings, &linux.answering_sender)] {
        let stamps = settings.timestamps.unwrap();
        assert_eq!((stamps.stamping, stamps.granularity), (Stamping::Clock, Duration::from_millis(1)));
        assert_eq!((settings.acks.quick, settings.acks.delay), (16, Duration::from_millis(40)));
        assert_eq!([&sender.detect, &sender.respond, &sender.rto], [&Choice::named("linux"); 3]);
        assert_eq!((sender.grant.name.as_str(), sender.recover.name.as_str()), ("always", "rack-tlp"));
        assert_eq!((sender.congest.name.as_str(), sender.pace.name.as_str()), ("cubic", "tso"));
    }

    // Each key of the scenario wins, of the flow and of all flows, at one end and at both.
    let mut said = with(&plain, "[[flow]]\n", "[sender]\nrespond = \"none\"\n[tcp]\nnagle = false\n[[flow]]\n");
    said.push_str("detect = \"dsack\"\n[flow.answering_tcp]\nquick_acks = 0\n");
    let scenario = parse(&said);
    let mixed = connection(&scenario, 0);
    assert_eq!(
        [&mixed.sender.detect.name, &mixed.sender.respond.name, &mixed.sender.rto.name],
        ["dsack", "none", "linux"]
    );
    assert_eq!((mixed.settings.nagle, mixed.settings.acks.quick, mixed.answering_settings.acks.quick), (false, 16, 0));

    // Without timestamps, those of the profile are no contradiction.
    let without = with(&plain, "[[flow]]\n", "[tcp]\ntimestamps = false\n[[flow]]\n");
    assert_eq!(connection(&parse(&without), 0).settings.timestamps, None);
}
