//! Settings, `//: key = value`: settings of the connection, and the engine's algorithms by their
//! names in the registry. To packetdrill these lines are comments.

use crate::error::{Fault, Place, shown};
use crate::script::Header;
use eifel_base::time::Duration;
use eifel_packet::segment::Marks;
use eifel_recovery::registry::{Choice, Entry, Kind, Parameter, Seam, Value};
use eifel_tcp::settings::{
    EchoRule, EcnUse, OutOfOrderAck, SackUse, TimeWait, TimestampSettings, WindowProbe, WindowScale,
};

/// The longest tolerance, and the longest tick of a timestamp clock, in microseconds.
pub(super) const MOST_USECS: u64 = 60_000_000;

/// The longest time in a setting, in milliseconds: as long as the longest script.
const MOST_MS: u64 = 400 * 24 * 3_600_000;

/// The key of a script's timestamps. It is public, so they can be guessed.
const SECRET: [u64; 2] = [0x6569_6665_6c00_0001, 0x6569_6665_6c00_0002];

const KEYS: &str = "detect, observe, respond, grant, rto, after-spurious, recover, congest, pace, mss, \
                    receive_window_bytes, window_scale, sack, timestamps, timestamp_values, timestamp_offset, timestamp_echo, \
                    timestamps_required, ack_every, ack_delay_ms, quick_acks, out_of_order_ack, nagle, fin_beyond_cwnd, window_probe, \
                    time_wait, time_wait_ms, handshake_timeouts, timeouts, user_timeout_ms, challenge_acks, challenge_interval_ms, \
                    iss, irs, marks, ecn, ecn_syns, tolerance_us";

const OUT_OF_ORDER: [(&str, OutOfOrderAck); 2] =
    [("alone", OutOfOrderAck::Alone), ("with-data", OutOfOrderAck::WithData)];
const WINDOW_PROBES: [(&str, WindowProbe); 2] = [("data", WindowProbe::Data), ("empty", WindowProbe::Empty)];

pub(crate) struct Setting<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
    pub(crate) place: Place,
    value_place: Place,
}

impl<'a> Setting<'a> {
    /// Reads the text behind `//:`, which begins at `place`.
    pub(super) fn read(text: &'a str, place: Place) -> Result<Self, Fault> {
        let at = |offset: usize| Place { column: place.column + 3 + text[..offset].chars().count() as u32, ..place };
        let begin = |offset: usize| offset + (text[offset..].len() - text[offset..].trim_start().len());
        let Some(equals) = text.find('=') else {
            return Err(Fault::new(at(begin(0)), "a setting without a value", "//: KEY = VALUE"));
        };
        let (key, value) = (text[..equals].trim(), text[equals + 1..].trim());
        Ok(Self { key, value, place: at(begin(0)), value_place: at(begin(equals + 1)) })
    }

    /// Returns whether this sets `key`.
    pub(super) fn is(&self, key: &str) -> bool {
        self.key == key
    }

    pub(crate) fn bad(&self, expected: impl Into<String>) -> Fault {
        Fault::new(self.value_place, format!("{} = {} is not allowed", self.key, shown(self.value)), expected)
    }

    pub(crate) fn number(&self, least: u64, most: u64) -> Result<u64, Fault> {
        let found = self.value.parse().ok().filter(|number| (least..=most).contains(number));
        found.ok_or_else(|| self.bad(format!("a whole number, {least} to {most}")))
    }

    pub(crate) fn milliseconds(&self) -> Result<Duration, Fault> {
        self.number(0, MOST_MS).map(Duration::from_millis)
    }

    pub(crate) fn word<T: Copy>(&self, meanings: &[(&str, T)]) -> Result<T, Fault> {
        let found = meanings.iter().find(|(word, _)| *word == self.value);
        let words = || meanings.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map(|(_, meaning)| *meaning).ok_or_else(|| self.bad(format!("one of {}", words())))
    }

    /// Applies the setting to the header.
    pub(super) fn apply(&self, header: &mut Header) -> Result<(), Fault> {
        let Header { settings, config, iss, irs, tolerance, .. } = header;
        match self.key {
            "detect" => config.detect = self.choice(Seam::Detect)?,
            "observe" => config.observers.push(self.choice(Seam::Detect)?),
            "respond" => config.respond = self.choice(Seam::Respond)?,
            "grant" => config.grant = self.choice(Seam::Grant)?,
            "rto" => config.rto = self.choice(Seam::Rto)?,
            "after-spurious" => config.after_spurious = self.choice(Seam::AfterSpurious)?,
            "recover" => config.recover = self.choice(Seam::Recover)?,
            "congest" => config.congest = self.choice(Seam::Congest)?,
            "pace" => config.pace = self.choice(Seam::Pace)?,
            "mss" => settings.mss = self.number(1, u16::MAX.into())? as u16,
            "receive_window_bytes" => settings.receive_window = self.number(0, u32::MAX.into())? as u32,
            "window_scale" => {
                settings.window_scale = match self.value {
                    "off" => WindowScale::Off,
                    "fit" => WindowScale::Fit,
                    _ => WindowScale::Shift(
                        self.number(0, 14).map_err(|_| self.bad("off, fit, or a whole number, 0 to 14"))? as u8,
                    ),
                }
            }
            "sack" => {
                settings.sack = self.word(&[
                    ("off", SackUse::Off),
                    ("plain", SackUse::Plain),
                    ("with-duplicates", SackUse::WithDuplicates),
                ])?;
            }
            "timestamps" => {
                let clock = settings.timestamps.unwrap_or_default();
                settings.timestamps = self.word(&[("off", None), ("on", Some(clock))])?;
            }
            "timestamp_values" => {
                let clock = self.clock(header)?;
                let distinct =
                    TimestampSettings { offset: clock.offset, echo: clock.echo, ..TimestampSettings::distinct(SECRET) };
                *clock = self.word(&[("clock", *clock), ("distinct", distinct)])?;
            }
            "timestamps_required" => self.clock(header)?.required = self.word(&[("on", true), ("off", false)])?,
            "timestamp_offset" => self.clock(header)?.offset = self.number(0, u32::MAX.into())? as u32,
            "timestamp_echo" => {
                self.clock(header)?.echo =
                    self.word(&[("standard", EchoRule::Standard), ("on-duplicates", EchoRule::OnDuplicates)])?;
            }
            "ack_every" => settings.acks.every = self.number(0, 1000)? as u32,
            "ack_delay_ms" => settings.acks.delay = self.milliseconds()?,
            "quick_acks" => settings.acks.quick = self.number(0, 1_000_000)? as u32,
            "out_of_order_ack" => settings.acks.out_of_order = self.word(&OUT_OF_ORDER)?,
            "nagle" => settings.nagle = self.word(&[("off", false), ("on", true)])?,
            "fin_beyond_cwnd" => settings.fin_beyond_cwnd = self.word(&[("off", false), ("on", true)])?,
            "window_probe" => settings.window_probe = self.word(&WINDOW_PROBES)?,
            "time_wait" => {
                settings.time_wait_rule =
                    self.word(&[("rfc9293", TimeWait::Rfc9293), ("reopens", TimeWait::Reopens)])?;
            }
            "time_wait_ms" => settings.time_wait = self.milliseconds()?,
            "handshake_timeouts" => settings.give_up.handshake_timeouts = self.number(0, 100)? as u32,
            "timeouts" => settings.give_up.timeouts = self.number(0, 100)? as u32,
            "user_timeout_ms" => settings.give_up.user_timeout = Some(self.milliseconds()?),
            "challenge_acks" => settings.challenge.acks = self.number(0, 1_000_000)? as u32,
            "challenge_interval_ms" => settings.challenge.interval = self.milliseconds()?,
            "iss" => *iss = self.number(0, u32::MAX.into())? as u32,
            "irs" => *irs = self.number(0, u32::MAX.into())? as u32,
            "marks" => {
                settings.marks =
                    self.word(&[("off", None), ("bits", Some(Marks::Bits)), ("timestamps", Some(Marks::Timestamps))])?;
            }
            "ecn" => {
                settings.ecn = self.word(&[("off", EcnUse::Off), ("answer", EcnUse::Answer), ("ask", EcnUse::Ask)])?;
            }
            "ecn_syns" => settings.ecn_syns = self.number(0, 100)? as u32,
            "tolerance_us" => *tolerance = Duration::from_micros(self.number(0, MOST_USECS)?),
            _ => {
                let what = format!("unknown setting \"{}\"", shown(self.key));
                return Err(Fault::new(self.place, what, format!("one of {KEYS}")));
            }
        }
        Ok(())
    }

    fn clock<'h>(&self, header: &'h mut Header) -> Result<&'h mut TimestampSettings, Fault> {
        let clock = header.settings.timestamps.as_mut();
        clock.ok_or_else(|| Fault::new(self.place, "timestamps are off", "timestamps = on before this"))
    }

    /// Reads `name` or `name(parameter = value, …)` of an algorithm for a connection.
    fn choice(&self, seam: Seam) -> Result<Choice, Fault> {
        self.choice_of(seam, false)
    }

    /// Reads an algorithm; for an `association`, also one that only an association can use.
    pub(crate) fn choice_of(&self, seam: Seam, association: bool) -> Result<Choice, Fault> {
        let (name, parameters) = match self.value.split_once('(') {
            None => (self.value, ""),
            Some((name, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| self.bad("NAME(PARAMETER = VALUE, …)"))?;
                (name.trim(), inner)
            }
        };
        let known = || seam.entries().iter().chain(if association { seam.association_entries() } else { &[] });
        let Some(entry) = known().find(|entry| entry.name == name) else {
            let names: Vec<_> = known().map(|entry| entry.name).collect();
            return Err(self.bad(format!("one of {}", names.join(", "))));
        };
        let mut choice = Choice::named(entry.name);
        for pair in parameters.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            choice.parameters.push(self.parameter(entry, pair)?);
        }
        Ok(choice)
    }

    fn parameter(&self, entry: &Entry, pair: &str) -> Result<(String, Value), Fault> {
        let names = || entry.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ");
        let (name, value) = pair.split_once('=').ok_or_else(|| self.bad("NAME(PARAMETER = VALUE, …)"))?;
        let (name, value) = (name.trim(), value.trim());
        let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == name) else {
            let what = format!("{} has no parameter \"{}\"", entry.name, shown(name));
            return Err(Fault::new(self.value_place, what, format!("one of {}", names())));
        };
        match read(parameter, value) {
            Some(value) => Ok((parameter.name.into(), value)),
            None => {
                let what = format!("{name} = {} is not allowed", shown(value));
                Err(Fault::new(self.value_place, what, parameter.kind.to_string()))
            }
        }
    }
}

/// Reads a parameter's value; `None` if the parameter cannot have it.
fn read(parameter: &Parameter, text: &str) -> Option<Value> {
    match parameter.kind {
        Kind::Integer { minimum, maximum, .. } => {
            text.parse().ok().filter(|number| (minimum..=maximum).contains(number)).map(Value::Integer)
        }
        Kind::Milliseconds { minimum, maximum, .. } => {
            let millis: f64 = text.parse().ok().filter(|millis: &f64| *millis >= 0.0)?;
            let length = Duration::from_secs_f64(millis / 1e3);
            (minimum..=maximum).contains(&length).then_some(Value::Duration(length))
        }
        Kind::Switch { .. } => text.parse().ok().map(Value::Switch),
        Kind::Word { allowed, .. } => allowed.contains(&text).then(|| Value::Word(text.into())),
    }
}
