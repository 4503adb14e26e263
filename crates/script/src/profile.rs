//! Settings that public test suites expect where the RFCs leave a choice to the implementation.

use eifel_base::time::Duration;
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::Settings;
use eifel_tcp::settings::{
    AckCount, Announce, EcnUse, OutOfOrderAck, TimeWait, TimestampSettings, WindowProbe, WindowScale,
};

/// A stack whose public scripts run unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Profile {
    /// This stack, with the window scale that packetdrill's scripts expect on a SYN.
    #[default]
    Standard,
    Linux,
    FreeBsd,
}

impl Profile {
    /// All profiles by their names.
    pub const ALL: [(&str, Self); 3] =
        [("standard", Self::Standard), ("linux", Self::Linux), ("freebsd", Self::FreeBsd)];

    /// Returns the profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, profile)| profile)
    }

    /// Returns the name with which scripts select lines: `#ifdef NAME`.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Standard => "STANDARD",
            Self::Linux => "Linux",
            Self::FreeBsd => "FreeBSD",
        }
    }

    /// Returns the connection's settings.
    pub(crate) fn settings(self) -> Settings {
        let standard = Settings { window_scale: WindowScale::Shift(8), ..Settings::default() };
        match self {
            Self::Standard => standard,
            Self::Linux => {
                let mut settings = Settings { receive_window: 65_535, nagle: true, ..standard };
                // TCP_DELACK_MIN; the first segments of a connection are acknowledged one by one.
                settings.acks.delay = Duration::from_millis(40);
                // TCP_MAX_QUICKACKS
                settings.acks.quick = 16;
                settings.ecn = EcnUse::Answer;
                settings.fin_beyond_cwnd = true;
                settings.window_probe = WindowProbe::Empty;
                settings.acks.out_of_order = OutOfOrderAck::WithData;
                settings.timestamps = Some(TimestampSettings { required: false, ..TimestampSettings::default() });
                settings
            }
            Self::FreeBsd => {
                let mut settings = Settings {
                    receive_window: 65_536,
                    announce: Announce::AllRoom,
                    window_scale: WindowScale::Shift(6),
                    nagle: true,
                    ..standard
                };
                // net.inet.tcp.delacktime
                settings.acks.delay = Duration::from_millis(40);
                settings.acks.counted = AckCount::Segments;
                settings.give_up.handshake_timeouts = 12;
                // net.inet.tcp.keepinit
                settings.give_up.handshake = Some(Duration::from_secs(75));
                settings.ecn = EcnUse::Answer;
                settings.ecn_syns = 2;
                settings.time_wait_rule = TimeWait::Reopens;
                settings
            }
        }
    }

    /// Returns the engine's algorithms.
    pub(crate) fn config(self) -> Config {
        let word = |word: &str| Value::Word(word.into());
        let time = |ms| Value::Duration(Duration::from_millis(ms));
        match self {
            Self::Standard => Config::default(),
            Self::Linux => Config {
                detect: Choice::named("linux"),
                respond: Choice::named("linux"),
                grant: Choice::named("always"),
                rto: Choice::named("linux"),
                recover: Choice::named("rack-tlp").with("reduction", word("prr")).with("after_echo", word("prr")),
                congest: Choice::named("cubic")
                    .with("counting", word("linux"))
                    .with("slow_start", word("hystart"))
                    .with("ssthresh_from", word("window"))
                    .with("curve", word("linux"))
                    .with("grow", word("when-limiting-window")),
                ..Config::default()
            },
            Self::FreeBsd => Config {
                rto: Choice::named("rfc6298").with("minimum_ms", time(30)).with("slop_ms", time(200)),
                congest: Choice::named("cubic").with("counting", word("abc-2")),
                ..Config::default()
            },
        }
    }
}
