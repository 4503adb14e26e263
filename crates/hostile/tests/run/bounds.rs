//! Bounds of scenarios, calculated by hand.

use eifel_hostile::bounds;
use eifel_sim::scenario::Scenario;

/// 1 Mbit/s and 100 ms each way.
const LINK: &str = "rate_bps = 1_000_000\ndelay_ms = 100\n";
/// A window of 1000 bytes that opens by 500. Segments have no timestamps and are acknowledged at
/// once. The ends never give up.
const TCP: &str = "payload_bytes = 1000\nreceive_window_bytes = 1000\ntimestamps = false\ndelayed_ack_ms = 0\n\
                   give_up_timeouts = 1_000_000\ngive_up_handshake_timeouts = 1_000_000\ntime_wait_s = 1_000_000\n";
const BULK: &str = "{ kind = \"bulk\", bytes = 10_000 }";

struct Case {
    top: &'static str,
    link: String,
    back: &'static str,
    tcp: String,
    sender: &'static str,
    flow: &'static str,
    application: &'static str,
}

/// A bulk transfer of 10 000 bytes over an undisturbed path.
fn plain() -> Case {
    let (link, tcp) = (LINK.to_owned(), TCP.to_owned());
    Case { top: "", link, back: "", tcp, sender: "detect = \"none\"", flow: "", application: BULK }
}

impl Case {
    fn scenario(&self) -> Scenario {
        let Self { top, link, back, tcp, sender, flow, application } = self;
        let text = format!(
            "duration_s = 100\n[point_to_point]\n{link}\n[point_to_point.back]\n{back}\n[tcp]\n{tcp}\n[sender]\n{sender}\n\
             [[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\napplication = {application}\n{flow}\n{top}"
        );
        Scenario::parse(&text, "case.toml".as_ref()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn seconds(&self) -> Option<f64> {
        bounds::of(&self.scenario()).until.map(|until| until.as_secs_f64())
    }

    fn events(&self) -> u64 {
        bounds::of(&self.scenario()).events
    }

    fn completes(&self) -> bool {
        bounds::of(&self.scenario()).completes
    }

    #[track_caller]
    fn takes(&self, expected: f64) {
        let seconds = self.seconds().expect("a path that heals");
        assert!((seconds - expected).abs() < 1e-6, "{seconds} s, and not {expected} s");
    }
}

/// Segments: 4 for SYN and FIN, 2 for the write, and 20 steps of 500 bytes.
const SEGMENTS: f64 = 26.0;
/// Each segment may take four round trips of 200 ms. Timeouts of 60 s: 20, and half a timeout per
/// segment.
const WAITS_S: f64 = SEGMENTS * 4.0 * 0.2 + (20.0 + SEGMENTS * 0.5) * 60.0;
/// Every byte 40 times, and 100 bytes of headers per segment, at 8 µs per byte.
const SENDS_S: f64 = 40.0 * (10_000.0 + 100.0 * SEGMENTS) * 8e-6;

#[test]
fn a_plain_transfer() {
    plain().takes(WAITS_S + SENDS_S);
    assert_eq!(plain().events(), 500 + 100 * 26);
    assert!(plain().completes());
}

#[test]
fn delays_of_the_ends_add_to_the_bound() {
    let plain = plain();
    let tcp = plain.tcp.replace("delayed_ack_ms = 0", "delayed_ack_ms = 150");
    Case { tcp, ..self::plain() }.takes(WAITS_S + SENDS_S + SEGMENTS * 4.0 * 0.15);
    let tcp = plain.tcp.clone() + "gro_wait_ms = 50\n";
    Case { tcp, ..self::plain() }.takes(WAITS_S + SENDS_S + SEGMENTS * 4.0 * 0.05);
    // A maximum of 90 s exceeds the minute; a maximum of 30 s does not shorten it.
    let rto = |sender| Case { sender, ..self::plain() };
    rto("rto = { name = \"rfc6298\", maximum_ms = 90_000 }").takes(WAITS_S + SENDS_S + (20.0 + SEGMENTS * 0.5) * 30.0);
    rto("rto = { name = \"rfc6298\", maximum_ms = 30_000 }").takes(WAITS_S + SENDS_S);
    // A send buffer smaller than the window's step: 40 steps of 250 bytes.
    let tcp = plain.tcp.clone() + "send_buffer_bytes = 250\n";
    let case = Case { tcp, ..self::plain() };
    assert_eq!(case.events(), 500 + 100 * 46);
    // A large window: steps of a full segment less room for timestamps, 10 000 / 988 = 10.12.
    let tcp = plain.tcp.replace("receive_window_bytes = 1000", "receive_window_bytes = 60_000");
    assert_eq!(Case { tcp: tcp.clone(), ..self::plain() }.events(), 500 + 1612);
    // Options take up to 40 bytes if data carries SACK blocks, 10 000 / 960 = 10.42, and leave 8.
    let tcp = tcp + "out_of_order_ack = \"with-data\"\n";
    assert_eq!(Case { tcp: tcp.clone(), ..self::plain() }.events(), 500 + 1641);
    let tcp = tcp.replace("payload_bytes = 1000", "payload_bytes = 30");
    assert_eq!(Case { tcp, ..self::plain() }.events(), 500 + 100 * 1256);
}

#[test]
fn detectors_by_round_trip_time_need_a_timeout_for_each_segment() {
    for (detect, timeouts) in [("dual-rtt", 1.0), ("min-rtt", 1.0), ("f-rto", 0.5)] {
        let sender = match detect {
            "dual-rtt" => "detect = \"dual-rtt\"",
            "min-rtt" => "detect = \"min-rtt\"",
            _ => "detect = \"f-rto\"",
        };
        Case { sender, ..plain() }.takes(WAITS_S + SENDS_S + (timeouts - 0.5) * SEGMENTS * 60.0);
    }
}

#[test]
fn rack_without_a_delay_may_have_a_thousand_times_as_many_events() {
    let at_once = LINK.replace("delay_ms = 100", "delay_ms = 0");
    let events = |link: &str, sender| Case { link: link.to_owned(), sender, ..plain() }.events();
    let rack = "recover = \"rack-tlp\"\ndetect = \"none\"";
    assert_eq!(events(&at_once, rack), 1000 * 3100);
    assert_eq!([events(LINK, rack), events(&at_once, plain().sender)], [3100, 3100]);
}

#[test]
fn applications_think_answer_and_read() {
    let application = "{ kind = \"exchange\", bytes = 6000, back_bytes = 4000 }";
    Case { application, ..plain() }.takes(WAITS_S + SENDS_S);
    // Four requests: 8 segments for the writes replace_tcp of 2, and four times 4 pauses of 3 s.
    let application =
        "{ kind = \"request-response\", requests = 4, request_bytes = 500, response_bytes = 2000, think_ms = 3000 }";
    let case = Case { application, ..plain() };
    let more = 6.0 * (4.0 * 0.2 + 30.0) + 40.0 * 600.0 * 8e-6;
    case.takes(WAITS_S + SENDS_S + more + 48.0);
    assert_eq!(case.events(), 500 + 3200);
    // 10 reads of 1000 bytes and two for the write. Each takes four times 2 s, and 20 events.
    let case = Case { flow: "reading = { bytes = 1000, every_ms = 2000 }", ..plain() };
    case.takes(WAITS_S + SENDS_S + 12.0 * 8.0);
    assert_eq!(case.events(), 3100 + 240);
    // A reader of 100 bytes at a time opens the window by 100 bytes.
    let case = Case { flow: "reading = { bytes = 100, every_ms = 0 }", ..plain() };
    assert_eq!(case.events(), 500 + 100 * 106 + 20 * 102);
    // An exponential pause with mean 1 s hardly ever exceeds 10 s.
    let flow = "reading = { bytes = 1000, every_ms = { exponential = 1000 } }";
    Case { flow, ..plain() }.takes(WAITS_S + SENDS_S + 12.0 * 40.0);
}

#[test]
fn flows_begin_and_are_stopped() {
    Case { flow: "start_s = 7", ..plain() }.takes(WAITS_S + SENDS_S + 7.0);
    let stopped = Case { flow: "end_s = 9", ..plain() };
    stopped.takes(WAITS_S + SENDS_S + 9.0 + 1_000_000.0);
    assert!(!stopped.completes());
    assert_eq!(Case { flow: "end_s = 9\nhandshake = false", ..plain() }.seconds(), None, "nothing ever closes it");
    let second = "[[flow]]\nname = \"other\"\nfrom = \"receiver\"\nto = \"sender\"\napplication = { kind = \"bulk\", bytes = 10_000 }";
    let both = Case { top: second, ..plain() };
    both.takes(2.0 * (WAITS_S + SENDS_S));
    assert_eq!(both.events(), 2 * 3100);
}

#[test]
fn of_two_different_ends_the_slower_one_counts() {
    let answering = |flow| Case { flow, ..plain() };
    answering("end_s = 9\nanswering_tcp = { time_wait_s = 2_000_000 }").takes(WAITS_S + SENDS_S + 9.0 + 2_000_000.0);
    answering("end_s = 9\nanswering_tcp = { time_wait_s = 600_000 }").takes(WAITS_S + SENDS_S + 9.0 + 1_000_000.0);
    answering("answering_tcp = { delayed_ack_ms = 150 }").takes(WAITS_S + SENDS_S + SEGMENTS * 4.0 * 0.15);
    answering("answering_sender = { rto = { name = \"rfc6298\", maximum_ms = 90_000 } }")
        .takes(WAITS_S + SENDS_S + (20.0 + SEGMENTS * 0.5) * 30.0);
    for gives_up in [
        "answering_tcp = { give_up_timeouts = 1000 }",
        "answering_tcp = { time_wait_s = 500_000 }",
        "answering_tcp = { user_timeout_s = 100_000 }",
    ] {
        assert!(!answering(gives_up).completes(), "{gives_up}");
    }
}

#[test]
fn an_end_that_may_give_up_need_not_complete() {
    for (from, to) in [
        ("give_up_timeouts = 1_000_000", "give_up_timeouts = 1000"),
        ("give_up_handshake_timeouts = 1_000_000", "give_up_handshake_timeouts = 1000"),
        ("time_wait_s = 1_000_000", "time_wait_s = 500_000"),
        ("timestamps = false", "timestamps = false\nuser_timeout_s = 100_000"),
    ] {
        let case = Case { tcp: TCP.replace(from, to), ..plain() };
        assert!(!case.completes(), "{to}");
        case.takes(WAITS_S + SENDS_S);
    }
    for (from, to) in [
        ("give_up_timeouts = 1_000_000", "give_up_timeouts = 1001"),
        ("time_wait_s = 1_000_000", "time_wait_s = 500_001"),
    ] {
        assert!(Case { tcp: TCP.replace(from, to), ..plain() }.completes(), "{to}");
    }
}

#[test]
fn the_bound_waits_until_the_path_heals() {
    let with = |more: &str| Case { link: format!("{LINK}{more}"), ..plain() };
    let loss = "loss = { kind = \"random\", rate = 0.5 }\n";
    assert_eq!(with(loss).seconds(), None);
    with(&format!("{loss}disturbed_until_s = 7")).takes(WAITS_S + SENDS_S + 7.0);
    let reorder = "reorder = { rate = 0.1, length = 3, longest_wait_s = 4 }\n";
    with(&format!("{reorder}disturbed_until_s = 7")).takes(WAITS_S + SENDS_S + 11.0);
    let jitter = "jitter = { delay_ms = { uniform = [0, 3000] } }\n";
    with(&format!("{jitter}disturbed_until_s = 7")).takes(WAITS_S + SENDS_S + 10.0);
    // Two seconds for each dropped copy.
    with("drops = [{ flow = \"main\", segments = [1, 2], copies = 3 }]").takes(WAITS_S + SENDS_S + 12.0);
    // The slower link decides how long the bytes take, at its last rate.
    with("rate_changes = [{ at_s = 5, rate_bps = 1 }, { at_s = 8, rate_bps = 500_000 }]")
        .takes(WAITS_S + 2.0 * SENDS_S + 8.0);
    Case { back: "rate_bps = 100_000", ..plain() }.takes(WAITS_S + 10.0 * SENDS_S);
    let unlimited = LINK.replace("1_000_000", "\"unlimited\"");
    Case { link: unlimited, ..plain() }.takes(WAITS_S);
    let further = Case { link: LINK.to_owned(), back: "delay_ms = 400", ..plain() };
    further.takes(WAITS_S + SENDS_S + SEGMENTS * 4.0 * 0.3);
}

#[test]
fn spikes_add_their_length_or_stretch_the_bound() {
    let spike = |top| Case { top, ..plain() };
    let listed = "[[spike]]\nlinks = [\"bottleneck\"]\nholds = \"sending\"\nat = [{ start_s = 1, length_s = 2 }, { start_s = 5, length_s = 4 }]";
    spike(listed).takes(WAITS_S + SENDS_S + 9.0);
    let drawn = "[[spike]]\nlinks = [\"bottleneck\"]\nholds = \"arriving\"\nfirst_s = 3\nlength_s = { uniform = [1, 6] }\n\
                 interval_s = 20\ninterval = \"start-to-start\"";
    // The longest spike is 6 s: everything takes 1 + 4 + 6 times as long.
    spike(drawn).takes(11.0 * (WAITS_S + SENDS_S + 3.0));
}

#[test]
fn a_recorded_link_is_as_fast_as_its_lap_and_pauses_for_one() {
    // Two opportunities of 1500 bytes in 24 ms: 1 Mbit/s. Each direction may wait for a lap.
    let recorded = LINK.replace("rate_bps = 1_000_000", "trace = [5, 24]");
    Case { link: recorded, ..plain() }.takes(WAITS_S + SENDS_S + SEGMENTS * 4.0 * 0.048);
}
