//! The plugin's flags: `--so_flags=local=192.168.0.1,script=conversation.pkt`.

use eifel_live::end_settings::{EndSettings, Role};
use eifel_live::host::Config;
use eifel_script::Profile;
use eifel_sim::scenario::Scenario;
use std::net::IpAddr;

/// Bytes of the longest packet, unless a script's segments are longer: packetdrill's MTU.
const MTU: u32 = 1500;

/// The longest headers of IP and TCP, without options.
const HEADERS: u32 = 60;

/// Bytes of the send buffer under a script's settings: more than any script writes.
const BUFFER: usize = 16 << 20;

/// A host, and the settings of connections that it opens, as a caller and as a listener.
pub struct Flags {
    pub host: Config,
    pub ends: [EndSettings; 2],
}

impl Flags {
    /// Reads flags. `random` holds random numbers of the system.
    pub fn read(flags: &str, random: [u64; 2]) -> Result<Self, String> {
        let mut host = Config { v4: None, v6: None, mtu: MTU, secret: random, most_connections: 1000 };
        let mut ends = [EndSettings::today(random, None), EndSettings::today(random, None)];
        let mut profile = Profile::default();
        let mut script = None;
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            match flag.split_once('=') {
                Some(("local", address)) => match address.parse() {
                    Ok(IpAddr::V4(address)) => host.v4 = Some(address),
                    Ok(IpAddr::V6(address)) => host.v6 = Some(address),
                    Err(error) => return Err(format!("{flag}: {error}")),
                },
                Some(("like", path)) => {
                    let scenario = Scenario::parse(&text(path)?, path.as_ref()).map_err(|error| error.to_string())?;
                    for (role, end) in [Role::Calls, Role::Answers].into_iter().zip(&mut ends) {
                        *end = EndSettings::like(&scenario, role, random, None).ok_or("no flow over TCP in it")?;
                    }
                }
                Some(("script", path)) => script = Some(path),
                Some(("profile", name)) => {
                    profile = Profile::named(name).ok_or("profile: expected standard, linux or freebsd")?;
                }
                _ => {
                    let known = "local=ADDRESS, like=SCENARIO.toml, script=FILE.pkt or profile=NAME";
                    return Err(format!("{flag}: expected {known}"));
                }
            }
        }
        if let Some(path) = script {
            let script = eifel_script::parse_for(profile, &text(path)?, path).map_err(|error| error.to_string())?;
            host.mtu = host.mtu.max(u32::from(script.settings().mss) + HEADERS);
            let end = EndSettings::of(*script.settings(), script.config().clone(), random, BUFFER);
            ends = [end.clone(), end];
        }
        if host.v4.is_none() && host.v6.is_none() {
            host.v4 = Some([192, 168, 0, 1].into());
        }
        Ok(Self { host, ends })
    }
}

fn text(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}
