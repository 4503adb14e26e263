//! A namespace with a TUN device. On one side is the kernel, 10.9.0.1 and fd09::1. On the other is
//! an eifel host, 10.9.0.2 and fd09::2.

use eifel_live::host::Config;
use eifel_live::station::Station;
use eifel_live::system::Error;
use eifel_live::system::clock::Clock;
use eifel_live::system::namespace::Namespace;
use eifel_live::system::tun::Tun;
use eifel_tcp::Settings;
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};

pub struct Rig {
    pub namespace: Namespace,
    pub station: Station,
}

/// Returns whether this machine lets the tests make namespaces and devices. Prints a line if not.
pub fn allowed() -> bool {
    let tried = Namespace::new().and_then(|namespace| namespace.within(|| Tun::create("tun0").map(drop)));
    if let Err(error) = &tried {
        eprintln!("SKIPPED: {error}");
    }
    tried.is_ok()
}

/// Returns whether a program is installed. Prints a line if not.
pub fn has(program: &str) -> bool {
    let asked = std::process::Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = asked.is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: {program} is not here");
    }
    found
}

pub fn rig(make: fn(&str) -> Result<Tun, Error>) -> Rig {
    let made = || -> Result<Rig, Error> {
        let namespace = Namespace::new()?;
        let tun = namespace.within(|| make("tun0"))?;
        namespace.configure(
            "link set tun0 txqueuelen 5000 addrgenmode none up\n\
             addr add 10.9.0.1 peer 10.9.0.2 dev tun0\n\
             addr add fd09::1 peer fd09::2 dev tun0 nodad\n",
        )?;
        namespace.wait_for_route("fd09::2".parse().expect("an address"))?;
        let config = Config {
            v4: Some([10, 9, 0, 2].into()),
            v6: Some("fd09::2".parse().expect("an address")),
            mtu: 1500,
            secret: [1, 2],
            most_connections: 1000,
        };
        Ok(Rig { namespace, station: Station::new(config, tun, Clock::start()) })
    };
    made().expect("what is allowed is made")
}

/// Settings with clock timestamps, so that segments can be joined.
pub fn shared() -> Settings {
    Settings {
        send: SendKind::Held { buffer: 1 << 20 },
        receive: ReceiveKind::Held,
        timestamps: Some(TimestampSettings::default()),
        ..Settings::default()
    }
}
