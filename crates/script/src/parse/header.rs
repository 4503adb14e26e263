//! The part before the first event: packetdrill's options, and settings.

use super::command;
use super::cursor::Cursor;
use super::lexer::Kind;
use super::sctp;
use super::setting::{MOST_USECS, Setting};
use crate::error::{Fault, Place};
use crate::profile::Profile;
use crate::script::Header;
use crate::sctp::setup::Setup;
use eifel_base::time::Duration;
use eifel_packet::ip::Version;
use eifel_tcp::settings::TimestampSettings;

/// Ignored options of packetdrill. They matter only to an operating system or a network.
const IGNORED: [&str; 9] = [
    "bind_port",
    "connect_port",
    "gateway_ip",
    "init_scripts",
    "local_ip",
    "netmask_ip",
    "remote_ip",
    "speed",
    "tolerance_percent",
];

/// Packetdrill's default tolerance for a kernel's timers.
const TOLERANCE: Duration = Duration::from_millis(4);

/// Bytes of the TCP header without options.
const HEADER: u64 = 20;

/// Packetdrill's MTU.
const MTU: u64 = 1500;

/// Reads the header. The settings of a conversation over SCTP go into `association`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    profile: Profile,
    mut association: Option<&mut Setup>,
) -> Result<Header, Fault> {
    let mut header = Header {
        profile,
        settings: profile.settings(),
        config: profile.config(),
        version: Version::V4,
        iss: 0,
        irs: 0,
        tolerance: TOLERANCE,
        compares_stamps: false,
        strict_segments: false,
        arriving_mss: None,
        drops_syn_fin: false,
        ignores_hard_errors: false,
        notes: Vec::new(),
    };
    let mut flags = Flags { mtu: MTU, mtu_place: None, mss_by_hand: false };
    loop {
        let place = cursor.place();
        match cursor.kind().clone() {
            Kind::Flag { name, value } => flags.flag(&mut header, place, &name, value.as_deref())?,
            Kind::Setting(text) => {
                let setting = Setting::read(&text, place)?;
                flags.mss_by_hand |= setting.is("mss");
                match &mut association {
                    None => setting.apply(&mut header)?,
                    Some(setup) => sctp::apply(setup, &setting, &mut header.tolerance)?,
                }
            }
            Kind::Command(text) => match &mut association {
                None => command::apply(&text, place, &mut header)?,
                Some(setup) => setup.command(&text),
            },
            _ => {
                flags.set_mss(&mut header)?;
                return Ok(header);
            }
        }
        cursor.next();
    }
}

/// Options that together determine the MSS.
struct Flags {
    mtu: u64,
    mtu_place: Option<Place>,
    mss_by_hand: bool,
}

impl Flags {
    /// Sets the MSS to the MTU without the IP and TCP headers. Without `--mtu`, a setting `mss`
    /// wins, and the MTU is packetdrill's 1500 bytes.
    fn set_mss(&self, header: &mut Header) -> Result<(), Fault> {
        let headers = u64::from(header.version.header_len()) + HEADER;
        match (self.mtu.checked_sub(headers).filter(|mss| *mss > 0), self.mtu_place) {
            (Some(mss), None) if self.mss_by_hand || mss == u64::from(header.settings.mss) => Ok(()),
            (Some(mss), _) => {
                header.settings.mss = mss.min(u16::MAX.into()) as u16;
                Ok(())
            }
            (None, place) => Err(Fault::new(
                place.unwrap_or(Place { line: 1, column: 1 }),
                "--mtu: this value is not allowed",
                format!("more than the {headers} bytes of headers"),
            )),
        }
    }

    fn flag(&mut self, header: &mut Header, place: Place, name: &str, value: Option<&str>) -> Result<(), Fault> {
        let number = |least: u64, most: u64| {
            let number = value.and_then(|value| value.parse().ok()).filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| {
                let what = format!("--{name}: this value is not allowed");
                Fault::new(place, what, format!("--{name}= and a whole number, {least} to {most}"))
            })
        };
        match name {
            "tolerance_usecs" => header.tolerance = Duration::from_micros(number(0, MOST_USECS)?),
            "mtu" => {
                self.mtu = number(1, 1 << 17)?;
                self.mtu_place = Some(place);
            }
            "ip_version" => {
                header.version = match value {
                    Some("ipv4" | "ipv4-mapped-ipv6") => Version::V4,
                    Some("ipv6") => Version::V6,
                    _ => {
                        let known = "--ip_version=ipv4, ipv4-mapped-ipv6 or ipv6";
                        return Err(Fault::new(place, "--ip_version: this value is not allowed", known));
                    }
                };
            }
            "strict_segments" => header.strict_segments = true,
            "mss" => header.arriving_mss = Some(number(1, 1 << 16)? as u32),
            "tcp_ts_tick_usecs" => match number(0, MOST_USECS)? {
                0 => header.compares_stamps = false,
                tick => {
                    header.compares_stamps = true;
                    let timestamps = header.settings.timestamps.get_or_insert_with(TimestampSettings::default);
                    timestamps.granularity = Duration::from_micros(tick);
                }
            },
            _ if IGNORED.contains(&name) => {}
            _ => {
                let known = format!(
                    "--tolerance_usecs, --mtu, --ip_version, --mss, --strict_segments, --tcp_ts_tick_usecs, or one that is ignored: --{}",
                    IGNORED.join(", --")
                );
                return Err(Fault::new(place, format!("unknown option --{name}"), known));
            }
        }
        Ok(())
    }
}
