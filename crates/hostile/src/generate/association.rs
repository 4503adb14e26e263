//! Turns the flows of a scenario into flows over SCTP, often with a second path between the hosts.

use super::{Put, Scale, algorithms, path, table};
use crate::dice::Dice;
use toml::{Table, Value};

/// The keys that a flow over TCP has, and a flow over SCTP does not.
const OVER_TCP: [&str; 7] = ["handshake", "isn", "tcp", "answering_tcp", "sender", "answering_sender", "end_s"];

const LONGEST_PACKET: i64 = 9100;
const FEWEST_PACKETS: i64 = 8;

/// Turns all flows into SCTP, unless a proxy reads them. The second path may be as bad as the
/// first, or dead.
pub(super) fn replace_tcp(dice: &mut Dice, scale: &Scale, top: &mut Table) {
    let Some(Value::Table(mut primary)) = top.remove("point_to_point") else { return };
    top.remove("tcp");
    top.remove("header_bytes");
    holds_a_packet(&mut primary);
    let mut paths = vec!["sender", "receiver"];
    let mut links = Vec::new();
    let two = dice.chance(0.7);
    if two {
        let mut alternate = path::both_ways(dice, scale);
        holds_a_packet(&mut alternate);
        path::between(&mut alternate, "alternate", "sender-2", "receiver-2");
        path::between(&mut primary, "bottleneck", "sender", "receiver");
        paths.extend(["sender-2", "receiver-2"]);
        links.extend([primary, alternate]);
        top.put("node", paths.iter().map(|name| table([("name", (*name).into())])).collect::<Vec<_>>());
        top.put("link", links);
    } else {
        top.put("point_to_point", primary);
    }
    let Some(Value::Array(flows)) = top.get_mut("flow") else { return };
    for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
        OVER_TCP.iter().for_each(|key| {
            flow.remove(*key);
        });
        flow.put("transport", "sctp");
        if two {
            let forth = flow.get("from").and_then(Value::as_str) == Some("sender");
            let (from, to) = if forth { ("sender-2", "receiver-2") } else { ("receiver-2", "sender-2") };
            flow.put("alternates", vec![table([("from", from.into()), ("to", to.into())])]);
        }
        let sctp = settings(dice, scale);
        flow.put("sender", algorithms::of_an_association(dice, &sctp));
        flow.put("sctp", sctp);
    }
}

/// Makes a link's queue large enough for several packets of the longest size. If HEARTBEATs fit but
/// data does not, some policies retransmit for ever. T1 and T3 both double up to one maximum,
/// without jitter: in a queue of one packet, a COOKIE ACK can meet a retransmission each time.
fn holds_a_packet(link: &mut Table) {
    if let Some(Value::Table(back)) = link.get_mut("back") {
        holds_a_packet(back);
    }
    for (unit, least) in [("bytes", LONGEST_PACKET), ("packets", FEWEST_PACKETS)] {
        if let Some(Value::Table(queue)) = link.get_mut("queue")
            && let Some(Value::Integer(most)) = queue.get_mut(unit)
        {
            *most = (*most).max(least);
        }
    }
}

/// Draws the table `sctp`. Neither end gives up, so every message has to arrive.
fn settings(dice: &mut Dice, scale: &Scale) -> Table {
    let mut sctp = Table::new();
    let message = if dice.chance(0.7) { scale.payload } else { dice.scale(1, 20_000) };
    let window = (message * dice.scale(1, 100)).clamp(1500, 1 << 22);
    sctp.put("message_bytes", message);
    sctp.put("receive_window_bytes", window);
    sctp.put("send_buffer_bytes", (window * dice.scale(1, 8)).max(message).max(1500));
    if dice.chance(0.3) {
        sctp.put("pmtu_bytes", dice.scale(600, 9000));
    }
    if dice.chance(0.5) {
        sctp.put("streams", dice.scale(1, 20));
    }
    if dice.chance(0.3) {
        sctp.put("unordered", true);
    }
    if dice.chance(0.5) {
        sctp.put("sack_every", dice.scale(1, 8));
        sctp.put("sack_delay_ms", if dice.chance(0.3) { 0.0 } else { dice.scale_of_time(1.0, 500.0) });
    }
    if dice.chance(0.2) {
        sctp.put("nagle", true);
    }
    if dice.chance(0.5) {
        sctp.put("timestamp_chunk", *dice.one(&["agreed", "always"]));
        if dice.chance(0.3) {
            sctp.put("timestamp_values", "clock");
        }
    }
    if dice.chance(0.5) {
        sctp.put("retransmit_bit", true);
    }
    if dice.chance(0.3) {
        sctp.put("heartbeat_interval_s", if dice.chance(0.3) { 0.0 } else { dice.scale_of_time(1.0, 100.0) });
    }
    if dice.chance(0.5) {
        sctp.put("path_max_retransmits", dice.scale(1, 10));
    }
    sctp.put("cookie_life_s", 1_000_000);
    sctp.put("association_max_retransmits", 1_000_000);
    sctp.put("max_init_retransmits", 1_000_000);
    sctp
}
