//! The part before the first event: packetdrill's options, and settings.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::setting::Setting;
use crate::error::{Fault, Place};
use crate::script::Header;
use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_tcp::Settings;
use eifel_tcp::settings::{TimestampSettings, WindowScale};

/// Ignored options of packetdrill. They matter only to an operating system or a network.
const IGNORED: [&str; 11] = [
    "bind_port",
    "connect_port",
    "gateway_ip",
    "init_scripts",
    "ip_version",
    "local_ip",
    "mss",
    "netmask_ip",
    "remote_ip",
    "speed",
    "tolerance_percent",
];

/// The longest tolerance, and the longest tick of a timestamp clock, in microseconds.
pub(super) const MOST_USECS: u64 = 60_000_000;

/// Packetdrill's default tolerance for a kernel's timers.
const TOLERANCE: Duration = Duration::from_millis(4);

/// Bytes of the IP and TCP headers without options.
const HEADERS: u64 = 40;

/// Returns the answers of Linux where packetdrill's suite runs: 1460 bytes, a window scale of 8,
/// timestamps of a millisecond.
fn default() -> Header {
    Header {
        settings: Settings { window_scale: WindowScale::Shift(8), ..Settings::default() },
        config: Config::default(),
        iss: 0,
        irs: 0,
        tolerance: TOLERANCE,
        compares_stamps: false,
        strict_segments: false,
    }
}

/// Reads the header.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Header, Fault> {
    let mut header = default();
    loop {
        let place = cursor.place();
        match cursor.kind().clone() {
            Kind::Flag { name, value } => flag(&mut header, place, &name, value.as_deref())?,
            Kind::Setting(text) => Setting::read(&text, place)?.apply(&mut header)?,
            // An initial command, which sets up an operating system.
            Kind::Command => {}
            _ => return Ok(header),
        }
        cursor.next();
    }
}

fn flag(header: &mut Header, place: Place, name: &str, value: Option<&str>) -> Result<(), Fault> {
    let number = |least: u64, most: u64| {
        let number = value.and_then(|value| value.parse().ok()).filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let what = format!("--{name} has no such value");
            Fault::new(place, what, format!("--{name}= and a whole number, {least} to {most}"))
        })
    };
    match name {
        "tolerance_usecs" => header.tolerance = Duration::from_micros(number(0, MOST_USECS)?),
        "mtu" => header.settings.mss = (number(HEADERS + 1, u64::from(u16::MAX) + HEADERS)? - HEADERS) as u16,
        "strict_segments" => header.strict_segments = true,
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
                "--tolerance_usecs, --mtu, --strict_segments, --tcp_ts_tick_usecs, or one that is passed over: --{}",
                IGNORED.join(", --")
            );
            return Err(Fault::new(place, format!("unknown option --{name}"), known));
        }
    }
    Ok(())
}
