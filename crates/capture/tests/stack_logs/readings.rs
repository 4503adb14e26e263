//! How logs are read: units, names, times, paths, and events that only some stacks write.

use eifel_capture::quic::{LossVerdict, Losses, analyse};
use eifel_capture::result::Confidence;
use serde_json::{Value, json};

fn packet(number: u64) -> Value {
    json!({ "header": { "packet_type": "1RTT", "packet_number": number } })
}

fn event(time: f64, name: &str, data: Value) -> Value {
    json!({ "time": time, "name": format!("quic:{name}"), "data": data })
}

fn ack(time: f64, number: u64, ranges: Value) -> Value {
    let mut data = packet(number);
    data["frames"] = json!([{ "frame_type": "ack", "acked_ranges": ranges }]);
    event(time, "packet_received", data)
}

/// Returns the events of a server: packets 0 to 9 leave, a round trip of 50 ms is seen, 3 is
/// declared lost at 58 ms, and an ACK at `last_ms` still lacks it.
fn server(last_ms: f64) -> Vec<Value> {
    let mut events: Vec<_> = (0..10).map(|number| event(number as f64, "packet_sent", packet(number))).collect();
    events.push(ack(50.0, 0, json!([[0, 0]])));
    events.push(ack(58.0, 1, json!([[0, 2], [4, 8]])));
    events.push(event(58.0, "packet_lost", packet(3)));
    events.push(ack(last_ms, 2, json!([[0, 2], [4, 9]])));
    events
}

fn file(head: &Value, events: &[Value]) -> String {
    let mut trace = head.clone();
    trace["events"] = events.into();
    json!({ "qlog_version": "0.3", "traces": [trace] }).to_string()
}

fn judged(events: &[Value]) -> Losses {
    analyse(&[("server.qlog", &file(&json!({ "vantage_point": { "type": "server" } }), events))]).unwrap()
}

/// The stack reports 50 ms in milliseconds, microseconds, seconds or nanoseconds, beside times in
/// milliseconds. If it were taken for 50 s, nothing would be decided; for 0.05 ms, all too early.
#[test]
fn a_round_trip_counts_in_the_unit_that_packets_confirm() {
    for reported in [50.0, 50_000.0, 0.05, 50_000_000.0] {
        let metrics = event(50.0, "recovery_metrics_updated", json!({ "smoothed_rtt": reported }));
        for (last_ms, verdict) in [(107.0, LossVerdict::Undecidable), (109.0, LossVerdict::Genuine)] {
            let mut events = server(last_ms);
            events.insert(0, metrics.clone());
            assert_eq!(judged(&events).packets[0].verdict, verdict, "{reported}, {last_ms} ms");
        }
    }
}

/// Drafts 00 and 01 declare one unit for all times.
#[test]
fn a_declared_unit_holds_for_times_and_round_trips() {
    for (unit, scale) in [("us", 1e3), ("ms", 1.0), ("ns", 1e6)] {
        let head = json!({
            "vantage_point": { "type": "server" },
            "configuration": { "time_units": unit },
            "event_fields": ["relative_time", "category", "event", "data"],
        });
        let mut events = server(109.0);
        events.insert(0, event(0.0, "metrics_updated", json!({ "smoothed_rtt": 50.0 * scale })));
        let list =
            |event: &Value| json!([event["time"].as_f64().unwrap() * scale, "quic", event["name"], event["data"]]);
        let events: Vec<_> = events.iter().map(list).collect();
        let found = analyse(&[("server.qlog", &file(&head, &events))]).unwrap();
        assert_eq!((found.packets[0].verdict, found.packets[0].time_ms), (LossVerdict::Genuine, 58.0), "{unit}");
    }
}

#[test]
fn delta_times_are_relative_to_the_event_before() {
    let head =
        json!({ "vantage_point": { "type": "server" }, "event_fields": ["delta_time", "category", "event", "data"] });
    let mut before = 0.0;
    let mut list = |event: &Value| {
        let time = event["time"].as_f64().unwrap();
        let delta = time - before;
        before = time;
        json!([delta, "quic", event["name"], event["data"]])
    };
    let events: Vec<_> = server(109.0).iter().map(&mut list).collect();
    let found = analyse(&[("server.qlog", &file(&head, &events))]).unwrap();
    assert_eq!((found.packets[0].time_ms, found.traces[0].duration_ms), (58.0, 109.0));
}

/// Returns a client's log that has received all packets but 3.
fn client() -> Vec<Value> {
    (0..10).filter(|number| *number != 3).map(|number| event(30.0, "packet_received", packet(number))).collect()
}

fn initial(name: &str, dcid: &str) -> Value {
    let header = json!({ "packet_type": "initial", "packet_number": 0, "dcid": dcid });
    event(0.0, name, json!({ "header": header }))
}

#[test]
fn the_first_initial_packet_names_the_connection_and_the_end() {
    for (dcid, joined) in [("aabbccdd00112233", Some(1)), ("aabbccdd00112244", None)] {
        let (mut server, mut client) = (server(109.0), client());
        server.insert(0, initial("packet_received", "aabbccdd00112233"));
        client.insert(0, initial("packet_sent", dcid));
        let head = json!({ "vantage_point": { "type": "unknown" } });
        let found = analyse(&[("a", &file(&head, &server)), ("b", &file(&head, &client))]).unwrap();
        assert_eq!(found.traces[0].other_end, joined);
        assert_eq!(
            found.traces.iter().map(|one| one.vantage.as_deref()).collect::<Vec<_>>(),
            [Some("server"), Some("client")]
        );
        assert_eq!(found.packets[0].verdict, LossVerdict::Genuine);
    }
}

#[test]
fn two_logs_that_nothing_connects_are_not_joined() {
    let head = |end: &str| json!({ "vantage_point": { "type": end } });
    let found =
        analyse(&[("a", &file(&head("server"), &server(60.0))), ("b", &file(&head("client"), &client()))]).unwrap();
    assert_eq!((found.traces[0].other_end, found.packets[0].verdict), (None, LossVerdict::Undecidable));
    assert!(found.traces[0].notes[0].contains("nothing shows that they are of one connection"));
}

/// A group may hold several connections; the packets then tell them apart.
#[test]
fn a_shared_group_does_not_join_logs_whose_packets_differ() {
    let head = |end: &str| json!({ "vantage_point": { "type": end }, "common_fields": { "group_id": "premium" } });
    let mut other = client();
    other.extend((20..40).map(|number| event(31.0, "packet_received", packet(number))));
    let mut sends = server(109.0);
    sends.push(event(200.0, "packet_sent", packet(50)));
    for (client, joined) in [(client(), Some(1)), (other, None)] {
        let found = analyse(&[("a", &file(&head("server"), &sends)), ("b", &file(&head("client"), &client))]).unwrap();
        assert_eq!(found.traces[0].other_end, joined);
    }
}

/// quinn writes all connections of an endpoint into one trace, and renames one after its handshake.
#[test]
fn events_of_several_connections_in_one_trace_are_divided() {
    let named = |group: &str, events: Vec<Value>| -> Vec<Value> {
        let named = |mut event: Value| {
            event["group_id"] = group.into();
            event
        };
        events.into_iter().map(named).collect()
    };
    let head = json!({ "vantage_point": { "type": "unknown" } });
    let both = [named("one", server(109.0)), named("two", server(109.0))].concat();
    let found = analyse(&[("server.qlog", &file(&head, &both))]).unwrap();
    assert_eq!((found.traces.len(), found.packets.len(), found.events.len()), (2, 2, 2));
    let (first, rest) = (server(109.0)[..5].to_vec(), server(109.0)[5..].to_vec());
    let numbered: Vec<_> = both
        .iter()
        .cloned()
        .map(|mut event| {
            event["group_id"] = if event["group_id"] == "one" { 1.into() } else { 2.into() };
            event
        })
        .collect();
    assert_eq!(analyse(&[("server.qlog", &file(&head, &numbered))]).unwrap().traces.len(), 2);
    let renamed = [named("one", first), named("two", rest)].concat();
    let found = analyse(&[("server.qlog", &file(&head, &renamed))]).unwrap();
    assert_eq!((found.traces.len(), found.traces[0].sent, found.packets[0].verdict), (1, 10, LossVerdict::Genuine));
}

/// A path may change without Multipath; then all paths share their numbers.
#[test]
fn only_multipath_has_packet_numbers_per_path() {
    let mut events = server(109.0);
    for event in events.iter_mut().skip(5) {
        event["data"]["path_id"] = 1.into();
    }
    let found = judged(&events);
    assert_eq!((found.packets[0].path_id, found.packets[0].verdict), (None, LossVerdict::Genuine));
    let mut data = packet(3);
    data["frames"] = json!([{ "frame_type": "path_ack", "path_id": 1, "acked_ranges": [[0, 9]] }]);
    events.push(event(120.0, "packet_received", data));
    let found = judged(&events);
    assert_eq!((found.packets[0].path_id, found.packets[0].acknowledged_ms), (Some(1), Some(120.0)));
}

#[test]
fn events_without_an_ack_frame_may_show_that_a_packet_arrived() {
    let acked = json!({ "packet_number_space": "application_data", "packet_numbers": [3] });
    let spurious = json!({ "packet_number_space": "application_data", "packet_number": 3 });
    for shown in [event(70.0, "packets_acked", acked), event(70.0, "spurious_loss", spurious)] {
        let mut events = server(60.0);
        events.push(shown);
        let found = judged(&events);
        assert_eq!((found.packets[0].verdict, found.packets[0].acknowledged_ms), (LossVerdict::Spurious, Some(70.0)));
        let takes_back = |name: &str| found.events[0].rules.iter().find(|rule| rule.rule == name).unwrap().takes_back;
        assert_eq!(takes_back("all-acknowledged"), 1.0);
    }
}

/// RFC 9000, section 14.4: the loss of a probe for a larger MTU is no sign of congestion.
#[test]
fn a_lost_mtu_probe_begins_no_congestion_event() {
    let mut events = server(109.0);
    events[3]["data"]["is_mtu_probe_packet"] = true.into();
    let found = judged(&events);
    assert_eq!((found.packets[0].event, found.packets[0].verdict, found.events.len()), (None, LossVerdict::Genuine, 0));
}

/// An ACK may be written before the loss of the same time that it contradicts.
#[test]
fn the_order_of_events_of_one_time_does_not_matter() {
    let late = ack(58.0, 2, json!([[0, 8]]));
    for place in 0..3 {
        let mut events = server(109.0);
        events.insert(11 + place, late.clone());
        let found = judged(&events);
        assert_eq!(
            (found.packets[0].verdict, found.packets[0].confidence),
            (LossVerdict::Spurious, Confidence::Certain)
        );
    }
}
