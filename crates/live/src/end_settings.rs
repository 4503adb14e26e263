//! Settings and algorithms of one end of a scenario's flow, with buffers that hold the data.

use eifel_recovery::engine;
use eifel_sim::scenario::{Connection, Scenario, Traffic};
use eifel_tcp::Settings;
use eifel_tcp::settings::{ReceiveKind, SendKind, Stamping, TimestampSettings};

/// The end of a flow that a host is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It opens the connection.
    Calls,
    /// It listens.
    Answers,
}

/// The settings of one end.
#[derive(Clone, Debug)]
pub struct EndSettings {
    /// Settings of the connection.
    pub settings: Settings,
    /// Algorithms of its sending side.
    pub sender: engine::Config,
}

/// Default size of the buffers in bytes.
const DEFAULT_BUFFER: u64 = 4_000_000;

impl EndSettings {
    /// Returns the settings of a present-day stack, with send and receive buffers of `buffer` bytes.
    pub fn today(secret: [u64; 2], buffer: Option<u64>) -> Self {
        let buffer = buffer.unwrap_or(DEFAULT_BUFFER);
        let settings = Settings {
            timestamps: Some(TimestampSettings::distinct(secret)),
            receive_window: window(buffer),
            ..Settings::default()
        };
        Self { settings: held(settings, buffer as usize), sender: engine::Config::default() }
    }

    /// Returns the settings with timestamps from a clock, which segments that leave together share.
    pub fn with_shared_timestamps(self) -> Self {
        let timestamps = self.settings.timestamps.map(|_| TimestampSettings::default());
        Self { settings: Settings { timestamps, ..self.settings }, ..self }
    }

    /// Returns the settings of the scenario's first flow over TCP; `None` if there is none. `buffer`
    /// replaces the scenario's send buffer and receive window.
    pub fn like(scenario: &Scenario, role: Role, secret: [u64; 2], buffer: Option<u64>) -> Option<Self> {
        let stream = |traffic: &Traffic| match traffic {
            Traffic::Stream { connection, .. } => Some((**connection).clone()),
            Traffic::Messages { .. } | Traffic::Datagrams(_) => None,
        };
        let Connection { settings, sender, answering_settings, answering_sender, .. } =
            scenario.flows.iter().find_map(|flow| stream(&flow.traffic))?;
        let (settings, sender) = match role {
            Role::Calls => (settings, sender),
            Role::Answers => (answering_settings, answering_sender),
        };
        let room = match (buffer, settings.send) {
            (Some(buffer), _) => buffer as usize,
            (None, SendKind::CountedUpTo { buffer }) => buffer as usize,
            (None, SendKind::Held { buffer }) => buffer,
            (None, SendKind::Counted) => DEFAULT_BUFFER as usize,
        };
        let receive_window = buffer.map_or(settings.receive_window, window);
        Some(Self::of(Settings { receive_window, ..settings }, sender, secret, room))
    }

    /// Returns an end with these settings, with `secret` for its timestamps and a send buffer of
    /// `buffer` bytes.
    pub fn of(settings: Settings, sender: engine::Config, secret: [u64; 2], buffer: usize) -> Self {
        let timestamps = settings.timestamps.map(|timestamps| match timestamps.stamping {
            Stamping::Distinct { .. } => {
                TimestampSettings { stamping: TimestampSettings::distinct(secret).stamping, ..timestamps }
            }
            Stamping::Clock => timestamps,
        });
        Self { settings: held(Settings { timestamps, ..settings }, buffer), sender }
    }
}

/// Returns the receive window of a buffer: its size, as far as that fits.
fn window(buffer: u64) -> u32 {
    u32::try_from(buffer).unwrap_or(u32::MAX)
}

fn held(settings: Settings, buffer: usize) -> Settings {
    Settings { send: SendKind::Held { buffer }, receive: ReceiveKind::Held, ..settings }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "duration_s = 1\npoint_to_point = { rate_bps = 1_000_000, delay_ms = 1 }\n[[flow]]\nname = \"main\"\n\
                        from = \"sender\"\nto = \"receiver\"\napplication = { kind = \"bulk\", endless = true }\n\
                        tcp = { receive_window_bytes = 70_000, send_buffer_bytes = 80_000 }\n";

    #[test]
    fn a_buffer_replaces_both_buffers_of_a_scenario() {
        let scenario = Scenario::parse(FLOW, "flow.toml".as_ref()).unwrap();
        let room = |buffer| {
            let settings = EndSettings::like(&scenario, Role::Answers, [1, 2], buffer).unwrap().settings;
            let SendKind::Held { buffer } = settings.send else { panic!("{:?}", settings.send) };
            (buffer, settings.receive_window)
        };
        assert_eq!(room(None), (80_000, 70_000));
        assert_eq!(room(Some(5000)), (5000, 5000));
        assert_eq!(room(Some(1 << 33)), (1 << 33, u32::MAX));
    }
}
