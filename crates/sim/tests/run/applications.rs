//! The traffic of applications.

use crate::common::{numbers, observed, scenario, words};
use eifel_sim::record::Record;
use eifel_sim::{Options, run, run_with};

fn flow(application: &str, rest: &str) -> String {
    format!(
        r#"
        duration_s = 10
        [point_to_point]
        rate_bps = 8_000_000
        delay_ms = 10
        [tcp]
        payload_bytes = 1000
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        {rest}
        application = {application}
        "#
    )
}

#[test]
fn a_constant_rate_source_sends_at_its_rate_until_its_end() {
    let text = flow(r#"{ kind = "cbr", rate_bps = 1_000_000, packet_bytes = 1000 }"#, "start_s = 1\nend_s = 3");
    let outcome = observed(&scenario(&text), 0);
    let summary = &outcome.summary.flows[0];
    // 125 datagrams a second for two seconds. The first leaves at the start, none at the end.
    assert_eq!((summary.segments_sent, summary.bytes, summary.completed), (250, 250_000, false));
    assert_eq!(outcome.summary.duration_s, 10.0);
    let times = numbers(&outcome, "queues", "t_ns");
    assert_eq!(times[..3], [1_000_000_000, 1_008_000_000, 1_016_000_000]);
}

/// Over two links a datagram is an ordinary packet. Over a single link it is background traffic.
#[test]
fn a_constant_rate_source_sends_none_at_its_end_over_two_links_either() {
    let text = r#"
        duration_s = 10
        node = [{ name = "sender" }, { name = "router" }, { name = "receiver" }]
        [[link]]
        name = "first"
        from = "sender"
        to = "router"
        rate_bps = 8_000_000
        delay_ms = 10
        [[link]]
        name = "second"
        from = "router"
        to = "receiver"
        rate_bps = 8_000_000
        delay_ms = 10
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        start_s = 1
        end_s = 3
        application = { kind = "cbr", rate_bps = 1_000_000, packet_bytes = 1000 }
    "#;
    let summary = observed(&scenario(text), 0).summary.flows[0].clone();
    assert_eq!((summary.segments_sent, summary.bytes), (250, 250_000));
}

#[test]
fn bursts_keep_to_their_mean_rate() {
    let text = flow(r#"{ kind = "on-off", rate_bps = 1_000_000, packet_bytes = 500, on_ms = 50, off_ms = 50 }"#, "");
    let text = text.replace("duration_s = 10", "duration_s = 400");
    let summary = observed(&scenario(&text), 0).summary.flows[0].clone();
    // 0.5 Mbit/s on average, over 4000 bursts and pauses.
    assert!((summary.goodput_bps / 500_000.0 - 1.0).abs() < 0.06, "{}", summary.goodput_bps);
}

#[test]
fn a_dialogue_takes_its_round_trips_and_pauses() {
    let dialogue =
        "{ kind = \"request-response\", requests = 3, request_bytes = 1000, response_bytes = 1000, think_ms = 100 }";
    let text = flow(dialogue, "handshake = false").replace("duration_s = 10", "duration_s = 10\nheader_bytes = 0");
    let outcome = observed(&scenario(&text), 0);
    let summary = &outcome.summary.flows[0];
    // Each request and response takes 1 ms to send and 10 ms to arrive. There are two pauses.
    assert_eq!((summary.completed, summary.bytes, summary.segments_sent), (true, 6000, 6));
    assert!((summary.time_s - (3.0 * 0.022 + 0.2)).abs() < 1e-12, "{}", summary.time_s);
}

#[test]
fn a_handshake_and_a_close_surround_the_data() {
    let outcome = observed(&scenario(&flow(r#"{ kind = "bulk", bytes = 1500 }"#, "")), 0);
    let summary = &outcome.summary.flows[0];
    assert_eq!((summary.completed, summary.segments_sent, summary.retransmissions), (true, 2, 0));
    // The SYN, and two data segments. The last one carries the FIN.
    assert_eq!(numbers(&outcome, "transmissions", "start"), [0, 1, 1001]);
    assert_eq!(numbers(&outcome, "transmissions", "len"), [1, 1000, 501]);
    assert_eq!(numbers(&outcome, "transmissions", "segment"), [0, 1, 2]);
}

#[test]
fn an_endless_transfer_stops_at_its_end() {
    let outcome = observed(&scenario(&flow(r#"{ kind = "bulk", endless = true }"#, "end_s = 2")), 0);
    let summary = &outcome.summary.flows[0];
    let last = numbers(&outcome, "transmissions", "t_ns").into_iter().max().unwrap();
    assert!((1_900_000_000..2_500_000_000).contains(&last), "{last}");
    assert!(summary.bytes > 1_000_000 && !summary.completed, "{summary:?}");
}

#[test]
fn both_ends_may_open_at_the_same_time() {
    let outcome = observed(&scenario(&flow(EXCHANGE, "handshake = \"simultaneous\"")), 0);
    let summary = &outcome.summary.flows[0];
    assert_eq!((summary.completed, summary.bytes), (true, 203_000));
    let ends = words(&outcome, "transmissions", "end");
    let (starts, times) = (numbers(&outcome, "transmissions", "start"), numbers(&outcome, "transmissions", "t_ns"));
    let syns: Vec<_> =
        (0..starts.len()).filter(|&at| starts[at] == 0).map(|at| (ends[at].as_str(), times[at])).collect();
    // The SYNs leave at the same time and cross. Each is answered by a SYN-ACK, which is not
    // recorded as a transmission.
    assert_eq!(syns, [("from", 0), ("to", 0)]);
    assert_eq!(summary.retransmissions, 0);
    // So data waits for one round trip only.
    let first = (0..starts.len()).find(|&at| starts[at] == 1).unwrap();
    assert!((20_000_000..21_000_000).contains(&times[first]), "{}", times[first]);
}

const EXCHANGE: &str = "{ kind = \"exchange\", bytes = 200_000, back_bytes = 3_000 }";

#[test]
fn an_exchange_uses_both_directions_at_once_and_closes_each_on_its_own() {
    for rest in ["", "handshake = false"] {
        let outcome = observed(&scenario(&flow(EXCHANGE, rest)), 0);
        let summary = &outcome.summary.flows[0];
        assert_eq!((summary.completed, summary.bytes, summary.retransmissions), (true, 203_000, 0), "{rest}");
        // 200 kB at 8 Mbit/s. One direction after the other would take a round trip more.
        assert!(summary.time_s < 0.32, "{}", summary.time_s);
    }
    let outcome = observed(&scenario(&flow(EXCHANGE, "")), 0);
    let (start, end) = (numbers(&outcome, "transmissions", "start"), numbers(&outcome, "transmissions", "end"));
    // The end that sends 3000 bytes closes long before the other end.
    let close = start.iter().zip(&end).position(|(&start, &end)| (start, end) == (2001, 1)).unwrap();
    assert!(close < 30, "{close}");
}

#[test]
fn an_application_that_takes_its_time_closes_the_window_and_gets_everything() {
    let reading = "reading = { bytes = 5_000, every_ms = 1000 }\n[flow.tcp]\nreceive_window_bytes = 8_000";
    for application in [r#"{ kind = "bulk", bytes = 60_000 }"#, EXCHANGE] {
        let text = flow("APPLICATION", "").replace("duration_s = 10", "duration_s = 1000");
        let text = text.replace("APPLICATION", application).replace("[tcp]\n        payload_bytes = 1000", "");
        let scenario = scenario(&(text + reading));
        let outcome = observed(&scenario, 0);
        let summary = &outcome.summary.flows[0];
        assert!(summary.completed, "{summary:?}");
        // Each read takes about one second.
        let readings = (if application == EXCHANGE { 200_000.0 } else { 60_000.0 }) / 5_000.0;
        assert!((readings - 1.0..readings + 2.0).contains(&summary.time_s), "{}", summary.time_s);
        let bytes = Options { record: Record::all(), checked: true, bytes: true, ..Options::default() };
        assert_eq!(run_with(&scenario, 0, bytes).unwrap().tables, outcome.tables);
    }
}

#[test]
fn sequence_numbers_begin_where_they_are_told_to() {
    let text = flow(r#"{ kind = "bulk", bytes = 5_000 }"#, "isn = [4294967290, 7]");
    let capture = run_with(&scenario(&text), 0, Options { record: Record::none().capturing(0), ..Options::default() });
    let capture = capture.unwrap().captures.remove(0);
    let holds = |number: u32| capture.pcapng.windows(4).any(|window| window == number.to_be_bytes());
    assert!(holds(4_294_967_290) && holds(7));
}

#[test]
fn a_run_can_be_stopped_by_its_number_of_events() {
    let scenario = scenario(&flow(r#"{ kind = "bulk", endless = true }"#, ""));
    let options = Options { most_events: Some(100), ..Options::default() };
    let error = run_with(&scenario, 0, options).unwrap_err().to_string();
    assert!(error.starts_with("more events than allowed, at 0."), "{error}");
}

#[test]
fn a_send_buffer_is_filled_once_a_round_trip() {
    let bulk = flow(r#"{ kind = "bulk", segments = 20 }"#, "handshake = false\ntcp = { send_buffer_bytes = 2000 }");
    let outcome = observed(&scenario(&bulk.replace("duration_s = 10", "duration_s = 10\nheader_bytes = 0")), 0);
    // Ten rounds: two segments of 1 ms each, 10 ms there and 10 ms back. The last round does not
    // wait for its ACK.
    let summary = &outcome.summary.flows[0];
    assert_eq!((summary.completed, summary.segments_sent), (true, 20));
    assert!((summary.time_s - (10.0 * 0.022 - 0.010)).abs() < 1e-12, "{}", summary.time_s);
}

#[test]
fn a_stopped_application_drops_its_backlog() {
    let rest = "end_s = 0.1\ntcp = { send_buffer_bytes = 2000, time_wait_s = 0.1 }";
    let outcome = observed(&scenario(&flow(r#"{ kind = "bulk", segments = 20 }"#, rest)), 0);
    let summary = &outcome.summary.flows[0];
    assert!(!summary.completed && (4_000..=10_000).contains(&summary.bytes), "{}", summary.bytes);
    assert!(outcome.summary.duration_s < 1.0, "both ends have closed");
}

/// A flow with `end_s` writes only a little ahead. Its FIN still follows right after the last byte.
#[test]
fn a_transfer_that_is_done_before_its_end_closes_at_once() {
    let rest = "end_s = 9\ntcp = { time_wait_s = 0.1 }";
    for buffer in ["", "send_buffer_bytes = 3000, "] {
        let text = flow(r#"{ kind = "bulk", bytes = 300_000 }"#, &rest.replace("{ ", &format!("{{ {buffer}")));
        let outcome = observed(&scenario(&text), 0);
        assert!(
            outcome.summary.flows[0].completed && outcome.summary.duration_s < 8.0,
            "{}",
            outcome.summary.duration_s
        );
        let ends =
            std::iter::zip(numbers(&outcome, "transmissions", "start"), numbers(&outcome, "transmissions", "len"));
        assert_eq!(ends.map(|(start, len)| start + len).max(), Some(300_002), "the SYN, the bytes and the FIN");
    }
}

/// Requests of 1000 bytes, with headers of 40 bytes, at 1 Mbit/s and 10 ms. Each way takes 8.32 ms
/// to send and 10 ms to arrive.
#[test]
fn a_request_takes_until_the_last_byte_of_its_response() {
    let text = r#"
        duration_s = 60
        header_bytes = 40
        [point_to_point]
        rate_bps = 1_000_000
        delay_ms = 10
        [tcp]
        payload_bytes = 1000
        timestamps = false
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        handshake = false
        application = { kind = "request-response", requests = 3, request_bytes = 1000, response_bytes = 1000, think_ms = 100 }
    "#;
    let requests = observed(&scenario(text), 0).summary.flows[0].requests.unwrap();
    assert_eq!((requests.answered, requests.p50_s, requests.longest_s), (3, 0.036_64, 0.036_64));
    let bulk = text.replace(
        "kind = \"request-response\", requests = 3, request_bytes = 1000, response_bytes = 1000, think_ms = 100",
        "kind = \"bulk\", bytes = 1000",
    );
    assert_eq!(observed(&scenario(&bulk), 0).summary.flows[0].requests, None);
}

#[test]
fn sizes_are_drawn_for_each_request_and_each_transfer() {
    let text = |application: &str| {
        format!(
            r#"
            duration_s = 600
            point_to_point = {{ rate_bps = 10_000_000, delay_ms = 1 }}
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            application = {{ {application} }}
            "#
        )
    };
    let bytes = |application: &str, repetition| {
        let flow = observed(&scenario(&text(application)), repetition).summary.flows[0].clone();
        assert!(flow.completed);
        flow.bytes
    };
    let listed =
        "kind = \"request-response\", requests = 50, request_bytes = 1, response_bytes = { listed = [100, 1000] }";
    let total = bytes(listed, 0) - 50;
    // 50 responses of 100 or 1000 bytes sum up to 5000 bytes and a multiple of 900.
    assert!(total % 900 == 5000 % 900 && (5_000..50_000).contains(&total), "{total}");
    assert_ne!(total, bytes(listed, 1) - 50);
    assert_eq!(total, bytes(listed, 0) - 50);
    let sizes: Vec<u64> = (0..20)
        .map(|run| bytes("kind = \"bulk\", bytes = { pareto = { minimum = 2000, shape = 1.5 } }", run))
        .collect();
    assert!(sizes.iter().all(|&size| size >= 2000) && sizes.iter().any(|&size| size != sizes[0]), "{sizes:?}");
}

/// The window is smaller than a segment. If less than half of it is open, silly window avoidance
/// holds data back. The persist timer then sends the data that fits: a probe without data would
/// change nothing.
#[test]
fn an_open_window_below_half_a_segment_takes_data_whatever_probes_a_closed_one() {
    let text = |probe: &str| {
        format!(
            r#"
            duration_s = 600
            [point_to_point]
            rate_bps = 25_000_000
            delay_ms = 100
            [tcp]
            window_probe = "{probe}"
            payload_bytes = 5329
            receive_window_bytes = 3673
            window_scale = 10
            [[flow]]
            name = "main"
            from = "sender"
            to = "receiver"
            application = {{ kind = "bulk", bytes = 62_788 }}
            "#
        )
    };
    for probe in ["data", "empty"] {
        let outcome = run_with(&scenario(&text(probe)), 0, Options::default()).unwrap();
        assert_eq!(outcome.summary.flows[0].bytes, 62_788, "{probe}");
    }
}

/// The application stops at 2 s. The connection closes long before the receiver has read all data.
#[test]
fn a_flow_that_stops_while_something_is_unread_ends_with_the_last_reading() {
    for transport in ["tcp", "sctp"] {
        for (bytes, every_s) in [(2000, 0.1), (500, 0.04), (9000, 1.0)] {
            let until = |seconds: f64, stop: &str| {
                let text = format!(
                    r#"
                    duration_s = {seconds}
                    stop = "{stop}"
                    [point_to_point]
                    rate_bps = 1_000_000
                    delay_ms = 20
                    [tcp]
                    time_wait_s = 0.5
                    [sctp]
                    send_buffer_bytes = 20_000
                    [[flow]]
                    name = "main"
                    from = "sender"
                    to = "receiver"
                    transport = "{transport}"
                    end_s = 2
                    application = {{ kind = "bulk", bytes = 5_000_000 }}
                    reading = {{ bytes = {bytes}, every_ms = {} }}
                    "#,
                    every_s * 1000.0
                );
                run(&scenario(&text), 0, Record::none()).unwrap().summary
            };
            let ended = until(100.0, "all-flows-done");
            let bytes = |seconds: f64| until(seconds, "at-duration").flows[0].bytes;
            let last = ended.duration_s;
            assert!((3.0..90.0).contains(&last) && !ended.flows[0].completed, "{transport} {every_s}: {last}");
            assert_eq!([ended.flows[0].bytes; 2], [bytes(100.0), bytes(last + 0.001)], "{transport} {every_s}");
            assert!(bytes(last - 0.001) < ended.flows[0].bytes, "{transport} {every_s}");
        }
    }
}

/// Returns the times in microseconds at which the messages of a scenario's flow left, without
/// duplicates, and the bytes that arrived.
fn messages(transport: &str, application: &str, rest: &str) -> (Vec<i64>, u64, bool) {
    let text = format!(
        r#"
        duration_s = 10
        [point_to_point]
        rate_bps = 8_000_000
        delay_ms = 10
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        transport = "{transport}"
        {rest}
        application = {application}
        "#
    );
    let outcome = observed(&scenario(&text), 0);
    let mut times: Vec<_> = numbers(&outcome, "transmissions", "t_ns").into_iter().map(|t| t / 1000).collect();
    times.dedup();
    let summary = &outcome.summary.flows[0];
    (times, summary.bytes, summary.completed)
}

/// One message of 100 bytes leaves every 50 ms from the opening of the connection on. Each way
/// takes 10 ms and 1 us a byte: a SYN of 60 bytes opens a connection after 20.12 ms.
#[test]
fn messages_leave_at_their_intervals_over_tcp() {
    let four = r#"{ kind = "messages", bytes = 100, interval_ms = 50, messages = 4 }"#;
    let (times, bytes, completed) = messages("tcp", four, "");
    // The SYN leaves first.
    assert_eq!(times[..5], [0, 20_120, 70_120, 120_120, 170_120]);
    assert_eq!((bytes, completed), (400, true));
    // Without a handshake the first leaves at the start.
    let (times, bytes, completed) = messages("tcp", four, "handshake = false\nstart_s = 1");
    assert_eq!(times, [1_000_000, 1_050_000, 1_100_000, 1_150_000]);
    assert_eq!((bytes, completed), (400, true));
}

#[test]
fn messages_leave_at_their_intervals_over_sctp() {
    let four = r#"{ kind = "messages", bytes = 100, interval_ms = 50, messages = 4 }"#;
    let (times, bytes, completed) = messages("sctp", four, "");
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [50_000; 3], "{times:?}");
    assert_eq!((bytes, completed), (400, true));
}

/// A message that is longer than a packet is one user message, and the interval is between the
/// writings of messages.
#[test]
fn a_long_message_is_sent_in_several_packets() {
    for transport in ["tcp", "sctp"] {
        let long = r#"{ kind = "messages", bytes = 4000, interval_ms = 300, messages = 2 }"#;
        let (_, bytes, completed) = messages(transport, long, "");
        assert_eq!((bytes, completed), (8000, true), "{transport}");
    }
}

#[test]
fn endless_messages_last_as_long_as_the_run_or_until_the_flow_ends() {
    // Over TCP, the SYN is a transmission too.
    for (transport, packets) in [("tcp", 101), ("sctp", 100)] {
        let endless = r#"{ kind = "messages", bytes = 100, interval_ms = 100, endless = true }"#;
        let (times, bytes, completed) = messages(transport, endless, "");
        // The last leaves at 9.9 s and the time of the handshake.
        assert_eq!((times.len(), bytes, completed), (packets, 10_000, false), "{transport}");
        let (_, bytes, completed) = messages(transport, endless, "end_s = 1.05");
        assert_eq!((bytes, completed), (1100, false), "{transport}");
    }
}

#[test]
fn intervals_may_be_drawn() {
    let drawn = r#"{ kind = "messages", bytes = 10, interval_ms = { uniform = [20, 40] }, messages = 30 }"#;
    let (times, bytes, completed) = messages("tcp", drawn, "handshake = false");
    assert_eq!((times.len(), bytes, completed), (30, 300, true));
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (20_000..=40_000).contains(gap)), "{gaps:?}");
}
