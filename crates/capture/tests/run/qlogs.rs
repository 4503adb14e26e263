//! QUIC logs with a known truth.

use eifel_capture::quic::{LossVerdict, analyse};
use eifel_capture::report::{Report, text};
use eifel_capture::result::{Confidence, StackReaction};

/// Returns events of a server that sends packets 0 to 9, one millisecond apart. Packets 3 and 4 are
/// declared lost; packet 4 was only late.
fn events(name: fn(&str) -> String) -> Vec<String> {
    let event =
        |time: f64, what: &str, data: &str| format!(r#"{{"time": {time}, "name": "{}", "data": {data}}}"#, name(what));
    let packet = |number: u32| format!(r#""header": {{"packet_type": "1RTT", "packet_number": {number}}}"#);
    let mut events = vec![event(0.0, "metrics_updated", r#"{"congestion_window": 20000, "smoothed_rtt": 50}"#)];
    events.extend((0..10).map(|number| event(f64::from(number), "packet_sent", &format!("{{{}}}", packet(number)))));
    let ack = |time: f64, number: u32, ranges: &str| {
        let frames = format!(r#""frames": [{{"frame_type": "ack", "acked_ranges": {ranges}}}]"#);
        event(time, "packet_received", &format!("{{{}, {frames}}}", packet(number)))
    };
    events.push(ack(58.0, 0, "[[0, 2], [5, 8]]"));
    for number in [3, 4] {
        let data = format!(r#"{{{}, "trigger": "reordering_threshold"}}"#, packet(number));
        events.push(event(58.0, "packet_lost", &data));
    }
    events.push(event(58.0, "metrics_updated", r#"{"congestion_window": 10000}"#));
    events.push(ack(60.0, 1, "[[0, 2], [4, 9]]"));
    events.push(ack(160.0, 2, "[[0, 2], [4, 9]]"));
    events
}

fn drafts() -> String {
    let events = events(|name| format!("{}:{name}", if name == "packet_lost" { "recovery" } else { "transport" }));
    format!(
        r#"{{"qlog_version": "0.3", "traces": [{{"vantage_point": {{"type": "server"}}, "common_fields": {{"ODCID": "ab"}},
        "events": [{}]}}]}}"#,
        events.join(",")
    )
}

fn sequence() -> String {
    let head =
        r#"{"qlog_version": "0.4", "trace": {"vantage_point": {"type": "server"}, "common_fields": {"ODCID": "ab"}}}"#;
    let events = events(|name| format!("quic:{name}"));
    std::iter::once(head.to_owned()).chain(events).map(|record| format!("\u{1e}{record}\n")).collect()
}

#[test]
fn a_packet_that_is_acknowledged_later_was_not_lost() {
    for text in [drafts(), sequence()] {
        let found = analyse(&[("server.qlog", &text)]).unwrap();
        let verdicts: Vec<_> = found
            .packets
            .iter()
            .map(|one| (one.packet_number, one.verdict, one.confidence, one.acknowledged_ms))
            .collect();
        assert_eq!(
            verdicts,
            [
                (3, LossVerdict::Genuine, Confidence::Likely, None),
                (4, LossVerdict::Spurious, Confidence::Certain, Some(60.0))
            ]
        );
        assert_eq!(found.packets[0].trigger.as_deref(), Some("reordering_threshold"));
        let [event] = found.events.as_slice() else { panic!("{:?}", found.events) };
        assert_eq!((event.lost, event.late, event.cwnd_before, event.cwnd_after), (2, 1, Some(20_000), Some(10_000)));
        assert_eq!(event.stack_noticed, StackReaction::CannotBeTold);
        let takes_back = |name: &str| event.rules.iter().find(|rule| rule.rule == name).unwrap().takes_back;
        assert_eq!(takes_back("all-acknowledged"), 0.0);
        assert_eq!(takes_back("each-acknowledged"), 1.0);
        assert_eq!(takes_back("in-proportion"), 0.5);
    }
}

#[test]
fn the_text_of_logs_begins_with_the_total_and_ends_with_what_to_do() {
    let said = |text: &str| {
        let quic = Some(analyse(&[("server.qlog", text)]).unwrap());
        text::summary(&Report { quic, ..Report::default() })
    };
    let two = said(&drafts());
    assert!(
        two.starts_with(
            "1 of 2 packets declared lost had arrived. 1 was lost.\n\nserver.qlog: 10 packets sent by server, 2 declared \
             lost\n\n  declared lost by           spurious      genuine  undecidable\n  reordering_threshold              \
             1            1            0\n"
        ),
        "{two}"
    );
    let events = "\n1 congestion event (losses of one recovery period), 0 of them undone by the stack\n";
    assert!(two.contains(events) && two.contains("  in-proportion                            1         0.5  none\n"));
    assert!(two.ends_with("or adapts them.\n") && two.contains("\nLarger thresholds of packets or of time avoid"));
    // Packet 4 was lost too.
    let lost = said(&drafts().replace("[4, 9]", "[5, 9]"));
    let first = "2 packets declared lost: none is known to have arrived; 2 were lost.\n";
    assert!(lost.starts_with(first) && lost.ends_with("by the stack\n  no known rule would undo one\n"), "{lost}");
    let none = said(&drafts().replace("packet_lost", "packet_buffered"));
    assert_eq!(
        none,
        "No packet was declared lost, of 10 packets sent.\n\nserver.qlog: 10 packets sent by server, 0 declared lost\n"
    );
    let open =
        said(&drafts().replace("packet_received", "packet_dropped").replace("reordering_threshold", "a\\u001bb"));
    assert!(open.starts_with("2 packets declared lost: none is known to have arrived; 2 are undecidable.\n"), "{open}");
    assert!(open.contains("  a\\u{1b}b "), "a log may hold anything: {open}");
    assert!(
        open.ends_with("\nGive the logs of both ends together: that of the receiver may show which packets arrived.\n")
    );
}

/// RFC 9002, section 7.3.1: a new recovery period begins only for a packet sent after the current
/// one began, at 58 ms.
#[test]
fn a_packet_sent_when_recovery_begins_belongs_to_it() {
    for (left, lost) in [(57.5, &[3][..]), (58.0, &[3]), (58.5, &[2, 1])] {
        let mut events = events(|name| format!("quic:{name}"));
        let packet = r#"{"header": {"packet_type": "1RTT", "packet_number": 10}}"#;
        let later = events.split_off(events.len() - 2);
        events.push(format!(r#"{{"time": {left}, "name": "quic:packet_sent", "data": {packet}}}"#));
        events.extend(later);
        events.push(format!(r#"{{"time": 161, "name": "quic:packet_lost", "data": {packet}}}"#));
        let log = format!(
            r#"{{"traces": [{{"vantage_point": {{"type": "server"}}, "common_fields": {{"ODCID": "ab"}}, "events": [{}]}}]}}"#,
            events.join(",")
        );
        let found = analyse(&[("server.qlog", &log)]).unwrap();
        assert_eq!(found.events.iter().map(|event| event.lost).collect::<Vec<_>>(), lost, "{left} ms");
    }
}

#[test]
fn the_log_of_the_other_end_shows_what_arrived() {
    let received = [0, 1, 2, 4, 5, 6, 7, 8, 9].map(|number| {
        format!(r#"{{"time": 30, "name": "transport:packet_received", "data": {{"header": {{"packet_type": "1RTT", "packet_number": {number}}}}}}}"#)
    });
    let client = format!(
        r#"{{"traces": [{{"vantage_point": {{"type": "client"}}, "common_fields": {{"ODCID": "ab"}}, "events": [{}]}}]}}"#,
        received.join(",")
    );
    let found = analyse(&[("server.sqlog", &sequence()), ("client.qlog", &client)]).unwrap();
    let verdicts: Vec<_> = found.packets.iter().map(|one| (one.packet_number, one.verdict, one.confidence)).collect();
    assert_eq!(
        verdicts,
        [(3, LossVerdict::Genuine, Confidence::Likely), (4, LossVerdict::Spurious, Confidence::Certain)]
    );
    // If its log goes on to the end of the connection, nothing can arrive any more.
    let closes = r#"{"time": 200, "name": "connectivity:connection_closed"}"#;
    let closed = client.replace("]}]}", &format!(", {closes}]}}]}}"));
    let ended = analyse(&[("server.sqlog", &sequence()), ("client.qlog", &closed)]).unwrap();
    assert_eq!((ended.packets[0].verdict, ended.packets[0].confidence), (LossVerdict::Genuine, Confidence::Certain));
    assert_eq!(found.traces.iter().map(|trace| trace.other_end).collect::<Vec<_>>(), [Some(1), Some(0)]);
}

#[test]
fn events_of_the_first_draft_are_lists() {
    let text = r#"{"traces": [{"vantage_point": {"type": "client"}, "configuration": {"time_units": "us"},
        "event_fields": ["relative_time", "category", "event", "data"], "events": [
        ["1000", "transport", "packet_sent", {"packet_type": "1RTT", "header": {"packet_number": "7"}}],
        [5000, "recovery", "packet_lost", {"packet_type": "1RTT", "packet_number": "7"}],
        [6000, "transport", "packet_received", {"packet_type": "1RTT", "header": {"packet_number": "1"},
            "frames": [{"frame_type": "ACK", "acked_ranges": ["5-7"]}]}]]}]}"#;
    let found = analyse(&[("old.qlog", text)]).unwrap();
    assert_eq!((found.packets[0].verdict, found.packets[0].acknowledged_ms), (LossVerdict::Spurious, Some(5.0)));
}

#[test]
fn a_log_that_is_cut_anywhere_is_read_or_refused() {
    for text in [drafts(), sequence()] {
        for (end, _) in text.char_indices() {
            if let Err(message) = analyse(&[("cut", &text[..end])]) {
                assert!(message.starts_with("cut: not qlog"), "{message}");
            }
        }
    }
}

#[test]
fn records_that_cannot_be_read_are_counted() {
    let readable = r#"{"time": 1, "name": "transport:packet_sent", "data": {"header": {"packet_number": 1}}}"#;
    let of_no_interest = r#"{"time": 1, "name": "transport:key_updated"}"#;
    let unreadable = [
        "7",
        r#""text""#,
        "{}",
        r#"{"time": 1}"#,
        r#"{"time": 1, "name": 5}"#,
        r#"{"time": "soon", "name": "x"}"#,
        r#"{"name": "x"}"#,
        "[]",
        r#"[1, "transport"]"#,
        r#"[1, "transport", 5, {}]"#,
    ];
    for count in 0..=unreadable.len() {
        let events = [&[readable, of_no_interest], &unreadable[..count]].concat().join(",");
        let text = format!(r#"{{"traces": [{{"vantage_point": {{"type": "server"}}, "events": [{events}]}}]}}"#);
        let found = analyse(&[("damaged.qlog", &text)]).unwrap();
        assert_eq!(found.traces[0].damaged, count as u64, "{text}");
    }
}

/// draft-ietf-quic-qlog-main-schema: times may be relative to the previous event.
#[test]
fn delta_times_add_up() {
    let absolute =
        events(|name| format!("transport:{name}")).join(",").replace("transport:packet_lost", "recovery:packet_lost");
    let text = |format: &str, events: &str| {
        format!(
            r#"{{"qlog_version": "0.3", "traces": [{{"vantage_point": {{"type": "server"}},
            "common_fields": {{"ODCID": "ab", "time_format": "{format}"}}, "events": [{events}]}}]}}"#
        )
    };
    let mut list: Vec<serde_json::Value> = serde_json::from_str(&format!("[{absolute}]")).unwrap();
    let mut before = 0.0;
    for event in &mut list {
        let time = event["time"].as_f64().unwrap();
        event["time"] = (time - before).into();
        before = time;
    }
    let relative = list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let expected = analyse(&[("server.qlog", &text("absolute", &absolute))]).unwrap();
    assert_eq!(expected.packets.len(), 2);
    for format in ["delta", "relative_to_previous_event"] {
        let found = analyse(&[("server.qlog", &text(format, &relative))]).unwrap();
        assert_eq!(format!("{:?}", found.packets), format!("{:?}", expected.packets), "{format}");
        assert_eq!(format!("{:?}", found.events), format!("{:?}", expected.events), "{format}");
    }
}

/// Events of draft 01 are lists whose fields are in the order that the trace names, under any of
/// several names. Without names they are time, category, event and data.
#[test]
fn list_fields_follow_the_order_that_the_trace_declares() {
    let events: Vec<serde_json::Value> =
        events(|name| name.to_owned()).iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let log = |fields: Option<&[&str]>, order: &[usize]| {
        let list = |event: &serde_json::Value| {
            let values = [event["time"].clone(), "recovery".into(), event["name"].clone(), event["data"].clone()];
            serde_json::Value::Array(order.iter().map(|place| values[*place].clone()).collect())
        };
        let mut trace = serde_json::json!({
            "vantage_point": { "type": "server" },
            "common_fields": { "ODCID": "ab" },
            "events": events.iter().map(list).collect::<Vec<_>>(),
        });
        if let Some(fields) = fields {
            trace["event_fields"] = fields.into();
        }
        serde_json::json!({ "traces": [trace] }).to_string()
    };
    let expected = analyse(&[("server.qlog", &sequence())]).unwrap();
    let (time, category, event, data) = (0, 1, 2, 3);
    let orders: [(Option<&[&str]>, &[usize]); 7] = [
        (None, &[time, category, event, data]),
        (Some(&["time", "category", "event", "data"]), &[time, category, event, data]),
        (Some(&["data", "event", "category", "relative_time"]), &[data, event, category, time]),
        (Some(&["event_type", "data", "time"]), &[event, data, time]),
        (Some(&["category", "data", "name", "time"]), &[category, data, event, time]),
        // A field that the trace does not name is at its default position.
        (Some(&["when", "category", "event"]), &[time, category, event, data]),
        (Some(&["time", "category", "what", "trigger", "group"]), &[time, category, event, category, data]),
    ];
    for (fields, order) in orders {
        let found = analyse(&[("server.qlog", &log(fields, order))]).unwrap();
        assert_eq!(format!("{:?}", found.packets), format!("{:?}", expected.packets), "{fields:?}");
        assert_eq!(format!("{:?}", found.events), format!("{:?}", expected.events), "{fields:?}");
    }
}

/// Stacks differ in their names, numbers and units.
#[test]
fn a_log_in_another_schema_version_gets_equal_verdicts() {
    let text = sequence();
    let expected = analyse(&[("server.qlog", &text)]).unwrap();
    let spellings: [&[(&str, &str)]; 12] = [
        &[("packet_number", "pn")],
        &[("\"1RTT\"", "\"1rtt\"")],
        &[("packet_type", "packet_number_space"), ("\"1RTT\"", "\"application_data\"")],
        &[("\"1RTT\"", "\"0RTT\"")],
        &[("quic:", "recovery:"), ("metrics_updated", "metric_update")],
        &[("quic:", ""), ("metrics_updated", "RECOVERY_METRICS_UPDATED"), ("packet_lost", "Packet_Lost")],
        &[("congestion_window", "cwnd"), ("smoothed_rtt", "smoothed_rtt_ms"), ("20000", "\"20000\"")],
        &[("\"ack\"", "\"ACK\""), ("[0, 2]", "\"0-2\""), ("[4, 9]", "[4,9],[8,7],{},[]")],
        &[("[[0, 2]", "[[0], [1], [2]"), ("[4, 9]", "\"4 - 9\", \"9\", \"x\"")],
        &[("\"time\"", "\"relative_time\""), ("\"name\"", "\"event\"")],
        &[("\"name\"", "\"type\"")],
        &[("\u{1e}", ""), ("{\"qlog", "\u{feff}{\"qlog")],
    ];
    for spelling in spellings {
        let log = spelling.iter().fold(text.clone(), |text, (from, to)| text.replace(from, to));
        assert_ne!(log, text, "{spelling:?}");
        let found = analyse(&[("server.qlog", &log)]).unwrap();
        assert_eq!(found.traces[0].damaged, 0, "{spelling:?}");
        assert_eq!(format!("{:?}", found.packets), format!("{:?}", expected.packets), "{spelling:?}");
        assert_eq!(format!("{:?}", found.events), format!("{:?}", expected.events), "{spelling:?}");
    }
    // Each number space has its own numbers: the ACK is for packet 4 of another space.
    for (word, space) in [("initial", "initial"), ("Handshake", "handshake")] {
        let lost = |word: &str| format!("\"{word}\", \"packet_number\": 4}}, \"trigger\"");
        let log = text.replace(&lost("1RTT"), &lost(word));
        let found = analyse(&[("server.qlog", &log)]).unwrap();
        let told: Vec<_> = found.packets.iter().map(|one| (one.space, one.packet_number, one.verdict)).collect();
        assert_eq!(told, [("application", 3, LossVerdict::Genuine), (space, 4, LossVerdict::Undecidable)]);
    }
    // Units of time.
    for (unit, scale) in [("us", 1000.0), ("ns", 1_000_000.0), ("ms", 1.0)] {
        let scaled: Vec<String> = text
            .split_inclusive('\n')
            .map(|record| {
                let mut event: serde_json::Value = serde_json::from_str(record.trim_start_matches('\u{1e}')).unwrap();
                match event["time"].as_f64() {
                    Some(time) => event["time"] = (time * scale).into(),
                    None => event["trace"]["common_fields"]["time_units"] = unit.into(),
                }
                format!("{event}\n")
            })
            .collect();
        let found = analyse(&[("server.qlog", &scaled.concat())]).unwrap();
        let times = |losses: &eifel_capture::quic::Losses| {
            losses.packets.iter().map(|one| one.acknowledged_ms).collect::<Vec<_>>()
        };
        assert_eq!(times(&found), times(&expected), "{unit}");
    }
}

/// The process that wrote it was killed. A cut event, whose list of ranges may be cut too, does not count.
#[test]
fn a_log_that_was_cut_off_counts_up_to_its_last_whole_event() {
    let event = |number: u64| {
        let frames =
            r#""frames": [{"frame_type": "ack", "acked_ranges": [[0, 1], [3, 4]]}, {"note": "] \"events\": [ \\"}]"#;
        let packet = format!(r#""header": {{"packet_type": "1RTT", "packet_number": {number}}}"#);
        format!(r#"{{"time": {number}, "name": "packet_sent", "data": {{{packet}, {frames}}}}}"#)
    };
    let head =
        r#"{"qlog_version": "0.3", "title": "events", "traces": [{"vantage_point": {"type": "client"}, "events": ["#;
    let events: Vec<String> = (0..3).map(event).collect();
    let text = format!("{head}{}]}}]}}", events.join(", "));
    let ends: Vec<usize> = (1..=3).map(|count| head.len() + events[..count].join(", ").len()).collect();
    for cut in 1..text.len() {
        let whole = ends.iter().filter(|end| **end <= cut).count() as u64;
        match analyse(&[("cut.qlog", &text[..cut])]) {
            Ok(found) => assert_eq!((found.traces[0].sent, found.traces[0].damaged), (whole, 1), "{cut}"),
            Err(message) => assert!(whole == 0 && message.starts_with("cut.qlog: not qlog: "), "{cut}: {message}"),
        }
    }
    assert_eq!(analyse(&[("whole.qlog", &text)]).unwrap().traces[0].sent, 3);
}
