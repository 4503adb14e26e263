//! Reads association settings. A flow's settings override the scenario's, key by key.

use super::algorithm;
use super::error::Fault;
use super::layers::Layers;
use super::link;
use super::model::Changeover;
use super::reader::Reader;
use crate::packet::Charges;
use eifel_base::time::Duration;
use eifel_packet::ip::Version;
use eifel_packet::sctp::{Chunk, Data, HEADER_LEN};
use eifel_recovery::association::{Config, RACK_TLP, RACK_TLP_PARAMETERS, Rules};
use eifel_recovery::registry::{Choice, Need, Seam};
use eifel_sctp::{Settings, TimestampChunk, TimestampValues};

/// Returns the settings of one end with these algorithms, and the bytes of its messages. `peer` is
/// the size of the other end's receive buffer, in bytes.
pub(super) fn settings(layers: &Layers<'_>, ip: Version, engine: Config, peer: u32) -> Result<(Settings, u32), Fault> {
    let word = |key: &'static str| layers.of(&[key]).text(key);
    let count = |key: &'static str| layers.of(&[key]).count(key);
    let switch = |key: &'static str| layers.of(&[key]).switch(key);
    let time = |key: &'static str| layers.of(&[key]).duration(key);
    let pmtu = count("pmtu_bytes");
    let timestamp_chunk = match word("timestamp_chunk") {
        "agreed" => TimestampChunk::Agreed,
        "always" => TimestampChunk::Always,
        _ => TimestampChunk::Off,
    };
    let stamp = if timestamp_chunk == TimestampChunk::Off { 0 } else { Chunk::TIMESTAMP_LEN as u32 };
    let headers = ip.header_len() + (HEADER_LEN + Data::HEADER_LEN) as u32 + stamp;
    // Chunks are padded to a multiple of four bytes.
    let full = (pmtu - headers) & !3;
    let size = layers.of(&["message_bytes"]);
    let message = size.maybe_count("message_bytes").unwrap_or(full);
    let buffer = layers.of(&["send_buffer_bytes"]);
    let send_buffer = buffer.maybe_count("send_buffer_bytes").unwrap_or(peer.saturating_mul(4).max(message));
    if message > send_buffer {
        let what = format!("a message of {message} bytes has no room in a send buffer of {send_buffer} bytes");
        return Err(buffer.fault("send_buffer_bytes", what).allowed(format!("{message} bytes or more")));
    }
    let interval = time("heartbeat_interval_s");
    let settings = Settings {
        engine,
        pmtu,
        outbound_streams: count("streams") as u16,
        inbound_streams: u16::MAX,
        receive_buffer: receive_buffer(layers),
        send_buffer: send_buffer as usize,
        sack_delay: time("sack_delay_ms"),
        sack_every: count("sack_every"),
        nagle: switch("nagle"),
        concurrent_paths: switch("concurrent_paths"),
        timestamp_chunk,
        timestamp_values: match word("timestamp_values") {
            "clock" => TimestampValues::Clock,
            _ => TimestampValues::Distinct,
        },
        retransmit_bit: switch("retransmit_bit"),
        cookie_life: time("cookie_life_s"),
        max_init_retransmits: count("max_init_retransmits"),
        association_max_retransmits: count("association_max_retransmits"),
        path_max_retransmits: count("path_max_retransmits"),
        heartbeat_interval: (interval > Duration::ZERO).then_some(interval),
        ..Settings::default()
    };
    Ok((settings, message))
}

/// Returns what links charge for the packets of one end.
pub(super) fn charges(layers: &Layers<'_>) -> Charges {
    let count = |key: &'static str| layers.of(&[key]).maybe_count(key);
    Charges { data_header: count("data_header_bytes"), sack: count("sack_bytes") }
}

/// Returns a flow's changes of the primary path, in the order of time.
pub(super) fn changeovers(flow: &Reader<'_>) -> Result<Vec<Changeover>, Fault> {
    let paths = 1 + flow.tables("alternates").len();
    let mut changes: Vec<Changeover> = Vec::new();
    for change in flow.tables("changeovers") {
        let at = link::after(&change, changes.last().map(|earlier| earlier.at))?;
        let path = change.integer("path") as usize;
        if path >= paths {
            return Err(change.fault("path", format!("{path}")).allowed(format!("0 to {}", paths - 1)));
        }
        changes.push(Changeover { at, path });
    }
    Ok(changes)
}

/// Returns the rules that an end follows.
pub(super) fn rules(layers: &Layers<'_>) -> Rules {
    match layers.of(&["rules"]).text("rules") {
        "rfc2960" => Rules::Rfc2960,
        _ => Rules::Rfc9260,
    }
}

/// Checks that an association can use the recovery that a flow's table of algorithms names.
pub(super) fn check_recovery(sender: &Reader<'_>) -> Result<(), Fault> {
    let Some(node) = sender.node("recover") else { return Ok(()) };
    let Choice { name, parameters } = algorithm::choice(node, Seam::Recover);
    if name != RACK_TLP {
        let what =
            format!("an association recovers losses by the rules of its table sctp or by {RACK_TLP}, not by {name}");
        return Err(sender
            .fault("recover", what)
            .allowed(format!("{RACK_TLP}, or no recover, or transport = \"tcp\"")));
    }
    if let Some((key, _)) = parameters.iter().find(|(key, _)| !RACK_TLP_PARAMETERS.contains(&key.as_str())) {
        let what = format!("{key} of {RACK_TLP} has no effect in an association");
        return Err(sender.fault("recover", what).allowed(RACK_TLP_PARAMETERS.join(", ")));
    }
    Ok(())
}

/// Returns the bytes of an end's receive buffer.
pub(super) fn receive_buffer(layers: &Layers<'_>) -> u32 {
    layers.of(&["receive_window_bytes"]).count("receive_window_bytes")
}

/// Returns whether these settings provide the evidence `need`. SACKs always report gaps and
/// duplicates.
pub(super) fn gives(settings: &Settings, need: Need) -> bool {
    match need {
        Need::Timestamps => settings.timestamp_chunk != TimestampChunk::Off,
        Need::Marks => settings.retransmit_bit,
        Need::Sack | Need::Duplicates => true,
    }
}
