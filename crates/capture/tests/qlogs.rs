//! Logs of QUIC whose truth is known by hand.

use eifel_capture::quic::{Fate, analyse};
use eifel_capture::verdict::{Confidence, Noticed};

/// The server sends packets 0 to 9, a millisecond apart; 3 and 4 are declared lost, and 4 was late.
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
            [(3, Fate::Genuine, Confidence::Likely, None), (4, Fate::Spurious, Confidence::Certain, Some(60.0))]
        );
        assert_eq!(found.packets[0].trigger.as_deref(), Some("reordering_threshold"));
        let [event] = found.events.as_slice() else { panic!("{:?}", found.events) };
        assert_eq!((event.lost, event.late, event.cwnd_before, event.cwnd_after), (2, 1, Some(20_000), Some(10_000)));
        assert_eq!(event.stack_noticed, Noticed::CannotBeTold);
        assert_eq!(event.rules.map(|rule| rule.takes_back), [0.0, 0.0, 0.5]);
    }
}

/// RFC 9002, section 7.3.1: recovery begins anew only for a packet that left after it began, at 58 ms.
#[test]
fn a_packet_that_left_as_recovery_began_belongs_to_it() {
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
fn the_other_end_knows_what_arrived() {
    let received = [0, 1, 2, 4, 5, 6, 7, 8, 9].map(|number| {
        format!(r#"{{"time": 30, "name": "transport:packet_received", "data": {{"header": {{"packet_type": "1RTT", "packet_number": {number}}}}}}}"#)
    });
    let client = format!(
        r#"{{"traces": [{{"vantage_point": {{"type": "client"}}, "common_fields": {{"ODCID": "ab"}}, "events": [{}]}}]}}"#,
        received.join(",")
    );
    let found = analyse(&[("server.sqlog", &sequence()), ("client.qlog", &client)]).unwrap();
    let verdicts: Vec<_> = found.packets.iter().map(|one| (one.packet_number, one.verdict, one.confidence)).collect();
    assert_eq!(verdicts, [(3, Fate::Genuine, Confidence::Certain), (4, Fate::Spurious, Confidence::Certain)]);
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
    assert_eq!((found.packets[0].verdict, found.packets[0].acknowledged_ms), (Fate::Spurious, Some(5.0)));
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

/// draft-ietf-quic-qlog-main-schema: a time may be that since the event before.
#[test]
fn times_since_the_event_before_add_up() {
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
