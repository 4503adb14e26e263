//! The settings of a conversation over SCTP: `//: key = value`.

use std::net::IpAddr;

use crate::error::Fault;
use crate::parse::setting::Setting;
use crate::sctp::setup::Setup;
use eifel_base::time::Duration;
use eifel_recovery::association::{RACK_TLP, RACK_TLP_PARAMETERS};
use eifel_recovery::registry::{Choice, Seam};
use eifel_sctp::{Settings, TimestampChunk};

/// Maximum number of addresses of an end.
const MOST_ADDRESSES: usize = 8;

const KEYS: &str = "detect, observe, respond, grant, rto, after-spurious, recover, congest, pace, retransmit, credit, addresses, \
                    peer_addresses, pmtu_bytes, receive_buffer_bytes, ack_every, ack_delay_ms, nagle, concurrent_paths, \
                    timestamp_chunk, retransmit_bit, forward_tsn, data_with_cookie, heartbeat_interval_ms, cookie_life_ms, tolerance_us";

/// Applies a setting. `tolerance` is the script's tolerance of times.
pub(crate) fn apply(setup: &mut Setup, setting: &Setting<'_>, tolerance: &mut Duration) -> Result<(), Fault> {
    let choice = |seam| setting.choice_of(seam, true);
    let Settings { engine, .. } = &mut setup.settings;
    match setting.key {
        "detect" => engine.path.detect = choice(Seam::Detect)?,
        "observe" => engine.path.observers.push(choice(Seam::Detect)?),
        "respond" => engine.path.respond = choice(Seam::Respond)?,
        "grant" => engine.path.grant = choice(Seam::Grant)?,
        "rto" => engine.path.rto = choice(Seam::Rto)?,
        "after-spurious" => engine.path.after_spurious = choice(Seam::AfterSpurious)?,
        "recover" => engine.path.recover = recovery(setting)?,
        "congest" => engine.path.congest = choice(Seam::Congest)?,
        "pace" => engine.path.pace = choice(Seam::Pace)?,
        "retransmit" => engine.retransmit = choice(Seam::Retransmit)?,
        "credit" => engine.credit = choice(Seam::Credit)?,
        "addresses" => setup.settings.addresses = addresses(setting)?,
        "peer_addresses" => setup.peers = addresses(setting)?,
        "pmtu_bytes" => setup.settings.pmtu = setting.number(512, 65_535)? as u32,
        "receive_buffer_bytes" => setup.settings.receive_buffer = setting.number(1500, 1 << 30)? as u32,
        "ack_every" => setup.settings.sack_every = setting.number(1, 1000)? as u32,
        "ack_delay_ms" => setup.settings.sack_delay = Duration::from_millis(setting.number(0, 500)?),
        "concurrent_paths" => {
            setup.settings.concurrent_paths = setting.word(&[("off", false), ("on", true)])?;
        }
        "nagle" => setup.settings.nagle = setting.word(&[("off", false), ("on", true)])?,
        "timestamp_chunk" => {
            setup.settings.timestamp_chunk = setting.word(&[
                ("off", TimestampChunk::Off),
                ("agreed", TimestampChunk::Agreed),
                ("always", TimestampChunk::Always),
            ])?;
        }
        "data_with_cookie" => setup.settings.data_with_cookie = setting.word(&[("off", false), ("on", true)])?,
        "forward_tsn" => setup.settings.forward_tsn = setting.word(&[("off", false), ("on", true)])?,
        "retransmit_bit" => setup.settings.retransmit_bit = setting.word(&[("off", false), ("on", true)])?,
        "heartbeat_interval_ms" => {
            setup.settings.heartbeat_interval =
                if setting.value == "off" { None } else { Some(setting.milliseconds()?) };
        }
        "cookie_life_ms" => setup.settings.cookie_life = setting.milliseconds()?,
        "tolerance_us" => *tolerance = Duration::from_micros(setting.number(0, 60_000_000)?),
        _ => {
            let what = format!("unknown setting \"{}\"", crate::error::shown(setting.key));
            return Err(Fault::new(setting.place, what, format!("one of {KEYS}")));
        }
    }
    Ok(())
}

/// Reads a recovery that an association can use.
fn recovery(setting: &Setting<'_>) -> Result<Choice, Fault> {
    let choice = setting.choice_of(Seam::Recover, true)?;
    let known = choice.parameters.iter().all(|(name, _)| RACK_TLP_PARAMETERS.contains(&name.as_str()));
    if choice.name == RACK_TLP && known {
        return Ok(choice);
    }
    Err(setting.bad(format!("{RACK_TLP}, with {} alone", RACK_TLP_PARAMETERS.join(" and "))))
}

fn addresses(setting: &Setting<'_>) -> Result<Vec<IpAddr>, Fault> {
    let found: Option<Vec<IpAddr>> = setting.value.split_whitespace().map(|word| word.parse().ok()).collect();
    let fits = |found: &Vec<IpAddr>| (1..=MOST_ADDRESSES).contains(&found.len());
    found.filter(fits).ok_or_else(|| setting.bad(format!("one to {MOST_ADDRESSES} addresses with blanks between them")))
}
