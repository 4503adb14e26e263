//! Reads connection settings. A flow's settings override the scenario's, key by key.

use super::error::Fault;
use super::format;
use super::layers::Layers;
use super::reader::Reader;
use eifel_base::time::Duration;
use eifel_packet::ip::Version;
use eifel_tcp::settings::{
    AckSettings, EchoRule, EcnUse, GiveUp, Gro, Marks, OutOfOrderAck, ReceiveKind, SackUse, SendKind, Settings,
    TimeWait, TimestampSettings, WindowProbe, WindowScale,
};

/// Bytes of the timestamps option in each segment, with its padding (RFC 7323, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;

/// Returns the version of IP below all connections.
pub(super) fn ip(top: &Reader<'_>) -> Version {
    match top.text("ip") {
        "ipv6" => Version::V6,
        _ => Version::V4,
    }
}

/// Bytes of Ethernet's largest packet, which every modern link carries. Without its headers, it
/// gives the default MSS (RFC 9293, section 3.7.1).
const USUAL_PACKET: u32 = 1500;

/// Returns the settings for this version of IP, and the payload bytes of a full-sized segment.
pub(super) fn settings(layers: &Layers<'_>, ip: Version) -> Result<(Settings, u32), Fault> {
    let timestamps = timestamps(layers)?;
    let marks = marks(layers, timestamps.is_some())?;
    let stamped = timestamps.is_some() || marks == Some(Marks::Timestamps);
    let options = if stamped { TIMESTAMPS_BYTES } else { 0 };
    let (mss, payload) = sizes(layers, options, ip)?;
    let window = layers.of(&["receive_window_bytes", "receive_window_segments"]);
    let in_segments = window.maybe_count("receive_window_segments").map(|segments| segments.saturating_mul(payload));
    let receive_window = window.maybe_count("receive_window_bytes").or(in_segments).unwrap_or(1 << 20);
    if receive_window > 1 << 30 {
        let what = format!("{receive_window} bytes are more than a window can be");
        return Err(window.fault("receive_window_segments", what).allowed("at most 1073741824 bytes in all"));
    }
    let scale = layers.of(&["window_scale"]);
    if let WindowScale::Shift(shift) = window_scale(scale)
        && receive_window >> shift == 0
    {
        let what = format!("a window of {receive_window} bytes in units of 2^{shift} is announced as none");
        return Err(scale.fault("window_scale", what).allowed("a smaller shift, or fit"));
    }
    let settings = Settings {
        mss: u16::try_from(mss).unwrap_or(u16::MAX),
        receive_window,
        window_scale: window_scale(scale),
        timestamps,
        sack: sack(layers)?,
        marks,
        ecn: match layers.of(&["ecn"]).text("ecn") {
            "ask" => EcnUse::Ask,
            "answer" => EcnUse::Answer,
            _ => EcnUse::Off,
        },
        acks: acks(layers),
        nagle: layers.of(&["nagle"]).switch("nagle"),
        window_probe: match layers.of(&["window_probe"]).text("window_probe") {
            "empty" => WindowProbe::Empty,
            _ => WindowProbe::Data,
        },
        fin_beyond_cwnd: layers.of(&["fin_beyond_cwnd"]).switch("fin_beyond_cwnd"),
        time_wait: layers.of(&["time_wait_s"]).duration("time_wait_s"),
        time_wait_rule: match layers.of(&["time_wait"]).text("time_wait") {
            "reopens" => TimeWait::Reopens,
            _ => TimeWait::Rfc9293,
        },
        give_up: GiveUp {
            handshake_timeouts: layers.of(&["give_up_handshake_timeouts"]).count("give_up_handshake_timeouts"),
            timeouts: layers.of(&["give_up_timeouts"]).count("give_up_timeouts"),
            user_timeout: layers.of(&["user_timeout_s"]).maybe_duration("user_timeout_s"),
            ..GiveUp::default()
        },
        send: match layers.of(&["send_buffer_bytes"]).maybe_integer("send_buffer_bytes") {
            Some(buffer) => SendKind::CountedUpTo { buffer },
            None => SendKind::Counted,
        },
        receive: ReceiveKind::Drained,
        ..Settings::default()
    };
    Ok((settings, payload))
}

/// Returns when and how data is acknowledged.
fn acks(layers: &Layers<'_>) -> AckSettings {
    AckSettings {
        every: layers.of(&["delayed_ack_every"]).count("delayed_ack_every"),
        delay: layers.of(&["delayed_ack_ms"]).duration("delayed_ack_ms"),
        quick: layers.of(&["quick_acks"]).count("quick_acks"),
        gro: layers
            .of(&["gro_wait_ms"])
            .maybe_duration("gro_wait_ms")
            .filter(|wait| *wait > Duration::ZERO)
            .map(|wait| Gro { segments: layers.of(&["gro_segments"]).count("gro_segments"), wait }),
        out_of_order: match layers.of(&["out_of_order_ack"]).text("out_of_order_ack") {
            "with-data" => OutOfOrderAck::WithData,
            _ => OutOfOrderAck::Alone,
        },
        ..AckSettings::default()
    }
}

/// Returns the MSS and the payload of a full-sized segment, in bytes. `options` is the length of
/// the options in each segment.
fn sizes(layers: &Layers<'_>, options: u32, ip: Version) -> Result<(u32, u32), Fault> {
    let size = layers.of(&["mss_bytes", "payload_bytes"]);
    if let Some(payload) = size.maybe_count("payload_bytes") {
        let mss = payload + options;
        if mss > format::LARGEST_MSS {
            return Err(size
                .fault("payload_bytes", format!("{payload} bytes leave no room beside the timestamps option"))
                .allowed(format!("at most {} with timestamps", format::LARGEST_MSS - options)));
        }
        return Ok((mss, payload));
    }
    let mss = size.maybe_count("mss_bytes").unwrap_or(USUAL_PACKET - ip.header_len() - TCP_HEADER);
    match mss.checked_sub(options) {
        Some(payload) if payload > 0 => Ok((mss, payload)),
        _ => Err(size
            .fault("mss_bytes", format!("{mss} bytes leave no room beside the timestamps option"))
            .allowed(format!("more than {options} with timestamps"))),
    }
}

fn timestamps(layers: &Layers<'_>) -> Result<Option<TimestampSettings>, Fault> {
    let keys = ["timestamp_values", "timestamp_granularity_ms", "timestamp_offset", "timestamp_echo"];
    if !layers.of(&["timestamps"]).switch("timestamps") {
        return match keys.into_iter().find(|key| layers.says(key)) {
            Some(key) => Err(layers.of(&[key]).fault(key, "contradicts timestamps = false")),
            None => Ok(None),
        };
    }
    let [values, granularity, offset, echo] = keys.map(|key| layers.of(&[key]));
    let usual = match values.maybe_text("timestamp_values") {
        Some("clock") => TimestampSettings::default(),
        // The run draws the secret.
        _ => TimestampSettings::distinct([0; 2]),
    };
    Ok(Some(TimestampSettings {
        granularity: granularity.maybe_duration("timestamp_granularity_ms").unwrap_or(usual.granularity),
        offset: offset.maybe_count("timestamp_offset").unwrap_or(usual.offset),
        echo: match echo.maybe_text("timestamp_echo") {
            Some("on-duplicates") => EchoRule::OnDuplicates,
            _ => EchoRule::Standard,
        },
        ..usual
    }))
}

fn marks(layers: &Layers<'_>, timestamps: bool) -> Result<Option<Marks>, Fault> {
    let key = "retransmission_marks";
    let layer = layers.of(&[key]);
    match layer.maybe_text(key) {
        None => Ok(None),
        Some("bits") => Ok(Some(Marks::Bits)),
        Some(_) if timestamps => Err(layer
            .fault(key, "timestamps on every segment mark none of them")
            .allowed("\"bits\", or timestamps = false beside it")),
        Some(_) => Ok(Some(Marks::Timestamps)),
    }
}

fn sack(layers: &Layers<'_>) -> Result<SackUse, Fault> {
    let duplicates = layers.of(&["dsack"]);
    match (layers.of(&["sack"]).switch("sack"), duplicates.maybe_switch("dsack")) {
        (false, Some(true)) => {
            Err(duplicates.fault("dsack", "contradicts sack = false").allowed("false, without sack"))
        }
        (false, _) => Ok(SackUse::Off),
        (true, Some(false)) => Ok(SackUse::Plain),
        (true, _) => Ok(SackUse::WithDuplicates),
    }
}

fn window_scale(table: &Reader<'_>) -> WindowScale {
    match (table.maybe_integer("window_scale"), table.maybe_text("window_scale")) {
        (Some(shift), _) => WindowScale::Shift(u8::try_from(shift).unwrap_or(14)),
        (None, Some("off")) => WindowScale::Off,
        (None, _) => WindowScale::Fit,
    }
}
