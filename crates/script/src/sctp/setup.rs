//! The settings of a conversation over SCTP: `//: key = value`.

use std::net::{IpAddr, Ipv4Addr};

use crate::error::Fault;
use crate::parse::setting::Setting;
use eifel_base::time::Duration;
use eifel_recovery::association::{Config, RACK_TLP, RACK_TLP_PARAMETERS};
use eifel_recovery::registry::{Choice, Seam};
use eifel_sctp::{Settings, TimestampChunk, TimestampValues};

/// packetdrill's addresses.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1));
const REMOTE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The key of a script's tags and TSNs. It is public, so they can be guessed.
const SECRET: [u64; 2] = [0x6569_6665_6c00_0003, 0x6569_6665_6c00_0004];
/// Maximum number of addresses of an end.
const MOST_ADDRESSES: usize = 8;

const KEYS: &str = "detect, observe, respond, grant, rto, after-spurious, recover, congest, pace, retransmit, credit, addresses, \
                    peer_addresses, pmtu_bytes, receive_buffer_bytes, ack_every, ack_delay_ms, nagle, concurrent_paths, \
                    timestamp_chunk, retransmit_bit, forward_tsn, data_with_cookie, heartbeat_interval_ms, cookie_life_ms, tolerance_us";

/// How the association of a script is set up.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(super) settings: Settings,
    /// The addresses that `connect` connects to.
    pub(super) peers: Vec<IpAddr>,
}

/// FreeBSD's command that turns FORWARD TSN off. No other command of an operating system is
/// understood.
const NO_FORWARD_TSN: &str = "net.inet.sctp.pr_enable=0";

impl Default for Setup {
    fn default() -> Self {
        // Scripts write timestamps as numbers.
        let timestamp_values = TimestampValues::Clock;
        let settings = Settings { addresses: vec![LOCAL], secret: SECRET, timestamp_values, ..Settings::default() };
        Self { settings, peers: vec![REMOTE] }
    }
}

impl Setup {
    /// Returns the chosen algorithms.
    pub(crate) fn config(&self) -> &Config {
        &self.settings.engine
    }

    /// Applies a command of an operating system, if it is understood.
    pub(crate) fn command(&mut self, text: &str) {
        self.settings.forward_tsn &= !text.contains(NO_FORWARD_TSN);
    }

    /// Applies a setting. `tolerance` is the script's tolerance of times.
    pub(crate) fn apply(&mut self, setting: &Setting<'_>, tolerance: &mut Duration) -> Result<(), Fault> {
        let choice = |seam| setting.choice_of(seam, true);
        let Settings { engine, .. } = &mut self.settings;
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
            "addresses" => self.settings.addresses = addresses(setting)?,
            "peer_addresses" => self.peers = addresses(setting)?,
            "pmtu_bytes" => self.settings.pmtu = setting.number(512, 65_535)? as u32,
            "receive_buffer_bytes" => self.settings.receive_buffer = setting.number(1500, 1 << 30)? as u32,
            "ack_every" => self.settings.sack_every = setting.number(1, 1000)? as u32,
            "ack_delay_ms" => self.settings.sack_delay = Duration::from_millis(setting.number(0, 500)?),
            "concurrent_paths" => {
                self.settings.concurrent_paths = setting.word(&[("off", false), ("on", true)])?;
            }
            "nagle" => self.settings.nagle = setting.word(&[("off", false), ("on", true)])?,
            "timestamp_chunk" => {
                self.settings.timestamp_chunk = setting.word(&[
                    ("off", TimestampChunk::Off),
                    ("agreed", TimestampChunk::Agreed),
                    ("always", TimestampChunk::Always),
                ])?;
            }
            "data_with_cookie" => self.settings.data_with_cookie = setting.word(&[("off", false), ("on", true)])?,
            "forward_tsn" => self.settings.forward_tsn = setting.word(&[("off", false), ("on", true)])?,
            "retransmit_bit" => self.settings.retransmit_bit = setting.word(&[("off", false), ("on", true)])?,
            "heartbeat_interval_ms" => {
                self.settings.heartbeat_interval =
                    if setting.value == "off" { None } else { Some(setting.milliseconds()?) };
            }
            "cookie_life_ms" => self.settings.cookie_life = setting.milliseconds()?,
            "tolerance_us" => *tolerance = Duration::from_micros(setting.number(0, 60_000_000)?),
            _ => {
                let what = format!("unknown setting \"{}\"", crate::error::shown(setting.key));
                return Err(Fault::new(setting.place, what, format!("one of {KEYS}")));
            }
        }
        Ok(())
    }
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
