//! The connection that a search examines.

use core::fmt;

use eifel_recovery::engine::{self, Config};
use eifel_recovery::registry::{self, Choice, Value};
use eifel_tcp::Settings;
use eifel_tcp::settings::{AckSettings, ReceiveKind, SendKind, TimestampSettings};

use crate::fate::MOST;

/// A connection, and the number of its segments that have fates.
#[derive(Clone, Debug)]
pub struct Question {
    /// Settings of both ends. The search overrides two of them: every segment is acknowledged at
    /// once, and streams are counted.
    pub settings: Settings,
    pub sender: Config,
    pub size: Size,
}

/// The size of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Number of segments that have a fate, as their ACKs do: 1 to 8.
    pub segments: u32,
    /// Full segments before these, 1 to 64. All are delivered and acknowledged first, so that
    /// detectors know the round trip.
    pub before: u32,
    /// Full segments after these, 0 to 64. All are delivered.
    pub after: u32,
    pub held_until: HeldUntil,
    /// Milliseconds from the end of the delay to the packet's arrival: 1 to 10 000. A packet sent
    /// at that moment takes [50](crate::DELAY).
    pub late_ms: u32,
}

/// The event that ends a delay. If it never happens, the packet arrives three RTOs late, by the RTO
/// at its departure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldUntil {
    /// The retransmission timer expires.
    Timeout,
    /// The sender deems a segment lost, because of the timer or of duplicate ACKs.
    LossSignal,
}

impl HeldUntil {
    pub(crate) fn releases(self, event: &engine::Event) -> bool {
        match event {
            engine::Event::TimerExpired { .. } => true,
            engine::Event::EpisodeOpened { .. } => self == Self::LossSignal,
            _ => false,
        }
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { segments: 6, before: 2, after: 6, held_until: HeldUntil::Timeout, late_ms: 10 }
    }
}

#[derive(Debug)]
pub enum Error {
    /// A number is out of its bounds.
    Size {
        /// Name of the number.
        what: &'static str,
        value: u32,
        /// Smallest and largest allowed value.
        allowed: (u32, u32),
    },
    /// An algorithm cannot be made.
    Engine(registry::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { what, value, allowed } => {
                write!(f, "{what}: {value} is out of bounds; allowed: {} to {}", allowed.0, allowed.1)
            }
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl Size {
    /// Checks that every number is within its bounds.
    ///
    /// # Errors
    /// A number is out of its bounds.
    pub fn check(&self) -> Result<(), Error> {
        let bounds = [
            ("segments", self.segments, (1, MOST as u32)),
            ("before", self.before, (1, 64)),
            ("after", self.after, (0, 64)),
            ("late_ms", self.late_ms, (1, 10_000)),
        ];
        match bounds.into_iter().find(|(_, value, (least, most))| value < least || value > most) {
            Some((what, value, allowed)) => Err(Error::Size { what, value, allowed }),
            None => Ok(()),
        }
    }

    /// Returns the number of worlds: four fates of each segment times four of its ACK.
    pub fn worlds(&self) -> u64 {
        1 << (4 * self.segments)
    }
}

impl Question {
    /// Makes the question of the published searches for lies: `segments` full segments in the
    /// initial window, which equals ssthresh, and two more segments. With `distinct`, each segment
    /// has its own timestamp, as the default detector needs.
    pub fn of_lies(detect: Choice, segments: u32, distinct: bool) -> Self {
        const MSS: u16 = 1000;
        const TIMESTAMPS: u16 = 12;
        let congest = Choice::named("reno")
            .with("initial_window_segments", Value::Integer(segments.into()))
            .with("initial_ssthresh_bytes", Value::Integer(i64::from(segments) * i64::from(MSS)));
        let timestamps = if distinct { TimestampSettings::distinct([1, 2]) } else { TimestampSettings::default() };
        let settings = Settings { mss: MSS + TIMESTAMPS, timestamps: Some(timestamps), ..Settings::default() };
        let sender = Config { detect, congest, ..Config::default() };
        Self { settings, sender, size: Size { segments, after: 2, ..Size::default() } }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            acks: AckSettings { every: 1, ..AckSettings::default() },
            send: SendKind::Counted,
            receive: ReceiveKind::Drained,
            ..self.settings
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_bounds() {
        let sound = Size::default();
        let refused = |size: Size| match size.check() {
            Err(Error::Size { what, value, allowed }) => Some((what, value, allowed)),
            _ => None,
        };
        let sizes = |what, values: [u32; 4], allowed, set: fn(Size, u32) -> Size| {
            let [below, least, most, above] = values;
            assert_eq!([refused(set(sound, least)), refused(set(sound, most))], [None; 2], "{what}");
            for value in [below, above] {
                assert_eq!(refused(set(sound, value)), Some((what, value, allowed)));
            }
        };
        sizes("segments", [0, 1, 8, 9], (1, 8), |size, segments| Size { segments, ..size });
        sizes("before", [0, 1, 64, 65], (1, 64), |size, before| Size { before, ..size });
        sizes("late_ms", [0, 1, 10_000, 10_001], (1, 10_000), |size, late_ms| Size { late_ms, ..size });
        let after = |after| refused(Size { after, ..sound });
        assert_eq!([after(0), after(64), after(65)], [None, None, Some(("after", 65, (0, 64)))]);
    }

    #[test]
    fn each_segment_multiplies_the_worlds_by_sixteen() {
        let worlds = |segments| Size { segments, ..Size::default() }.worlds();
        assert_eq!([worlds(1), worlds(2), worlds(6)], [16, 256, 16_777_216]);
    }

    #[test]
    fn every_segment_is_acknowledged_at_once_and_streams_are_counted() {
        let settings = Settings {
            mss: 777,
            acks: AckSettings { every: 4, ..AckSettings::default() },
            send: SendKind::Held { buffer: 10 },
            receive: ReceiveKind::Held,
            ..Settings::default()
        };
        let question = Question { settings, sender: Config::default(), size: Size::default() };
        let asked = question.settings();
        assert_eq!((asked.mss, asked.acks.every), (777, 1));
        assert_eq!((asked.send, asked.receive), (SendKind::Counted, ReceiveKind::Drained));
    }
}
