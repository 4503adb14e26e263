//! What is true in a world: the options of a connection, and the fates of its packets.

use core::fmt;
use eifel_path::stream::Stream;
use eifel_tcp::Settings;
use eifel_tcp::settings::{AckSettings, ReceiveKind, SackUse, TimestampSettings};
use eifel_worlds::{Fate, Fates, HeldUntil, MOST, Size, Subject};

/// Payload bytes of a full segment.
pub const SEGMENT: u32 = 1000;
/// Bytes of the timestamps option, with padding.
const TIMESTAMPS: u16 = 12;
/// The highest MSS that a world asks for.
pub const HIGHEST_MSS: u32 = SEGMENT + TIMESTAMPS as u32;
/// Segments in front of a paced world: Linux does not pace the first ten.
const BEFORE_PACED: u32 = 10;

/// A connection, and the fates of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct World {
    pub sack: bool,
    pub timestamps: bool,
    /// Whether the sender paces at [`PACE`](super::stack::PACE).
    pub paced: bool,
    pub size: Size,
    pub fates: Fates,
}

impl World {
    /// Draws the world of this number.
    pub fn draw(seed: u64, number: u64) -> Self {
        let mut stream = Stream::new(seed, &["world", &number.to_string()]);
        let paced = stream.chance(0.125);
        let segments = 1 + stream.below(6) as u32;
        let late = [1, 10, 30, 60, 150];
        let after = [0, 0, 0, 1, 3, 6];
        let size = Size {
            segments,
            before: if paced { BEFORE_PACED } else { 2 },
            after: after[stream.below(after.len() as u64) as usize],
            held_until: if stream.chance(0.5) { HeldUntil::Timeout } else { HeldUntil::LossSignal },
            late_ms: late[stream.below(late.len() as u64) as usize],
        };
        let disturbed = if stream.chance(0.5) { 0.2 } else { 0.5 };
        let mut fates = Vec::new();
        for subject in subjects(segments) {
            if stream.chance(disturbed) {
                fates.push((subject, Fate::ALL[1 + stream.below(3) as usize]));
            }
        }
        let (sack, timestamps) = (stream.chance(0.75), stream.chance(0.5));
        Self { sack, timestamps, paced, size, fates: Fates::of(&fates) }
    }

    /// Returns the settings of the player's end, which acknowledges each segment at once.
    pub fn settings(&self) -> Settings {
        let offset = TIMESTAMPS_BEGIN;
        Settings {
            mss: SEGMENT as u16 + if self.timestamps { TIMESTAMPS } else { 0 },
            timestamps: self.timestamps.then(|| TimestampSettings { offset, ..TimestampSettings::default() }),
            sack: if self.sack { SackUse::WithDuplicates } else { SackUse::Off },
            acks: AckSettings { every: 1, ..AckSettings::default() },
            receive: ReceiveKind::Drained,
            ..Settings::default()
        }
    }

    /// Returns the bytes that are acknowledged first, and those that follow.
    pub fn bytes(&self) -> [u32; 2] {
        let Size { segments, before, after, .. } = self.size;
        [before * SEGMENT, (segments + after) * SEGMENT]
    }

    /// Returns the worlds that are simpler by one step, the simplest first.
    pub fn simpler(&self) -> Vec<Self> {
        let mut found = Vec::new();
        let (size, fates) = (self.size, self.fates);
        let last = Subject::Segment(size.segments as usize - 1);
        let answer = Subject::Ack(size.segments as usize - 1);
        let is_plain = |subject| fates.get(subject).is_none_or(|fate| fate == Fate::Delivered);
        if size.segments > 1 && is_plain(last) && is_plain(answer) {
            found.push(Self { size: Size { segments: size.segments - 1, ..size }, ..*self });
        }
        for after in [0, size.after / 2].into_iter().filter(|&after| after < size.after) {
            found.push(Self { size: Size { after, ..size }, ..*self });
        }
        for (subject, _) in fates.all_disturbed() {
            let rest: Vec<_> = fates.all_disturbed().filter(|&(other, _)| other != subject).collect();
            found.push(Self { fates: Fates::of(&rest), ..*self });
        }
        if self.paced {
            found.push(Self { paced: false, ..*self });
            found.push(Self { paced: false, size: Size { before: 2, ..size }, ..*self });
        }
        if self.timestamps {
            found.push(Self { timestamps: false, ..*self });
        }
        if !self.sack {
            found.push(Self { sack: true, ..*self });
        }
        let usual = Size::default();
        if size.late_ms != usual.late_ms {
            found.push(Self { size: Size { late_ms: usual.late_ms, ..size }, ..*self });
        }
        found
    }
}

/// The timestamp with which the player's clock begins: zero means none to some stacks.
const TIMESTAMPS_BEGIN: u32 = 1000;

fn subjects(segments: u32) -> impl Iterator<Item = Subject> {
    (0..segments as usize).flat_map(|number| [Subject::Segment(number), Subject::Ack(number)])
}

/// For example "sack timestamps 2+4+0 timeout+10ms: segment 1 lost, ACK of 3 delayed". The numbers are
/// those of the segments before, with and after fates; then what ends a delay, and how late the packet
/// is then.
impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { segments, before, after, held_until, late_ms } = self.size;
        for (is_on, word) in [(self.sack, "sack "), (self.timestamps, "timestamps "), (self.paced, "paced ")] {
            f.write_str(if is_on { word } else { "" })?;
        }
        let until = match held_until {
            HeldUntil::Timeout => "timeout",
            HeldUntil::LossSignal => "loss-signal",
        };
        write!(f, "{before}+{segments}+{after} {until}+{late_ms}ms: {}", self.fates)
    }
}

impl std::str::FromStr for World {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "{what:?}: expected a world as \"sack timestamps 2+4+0 timeout+10ms: segment 1 lost, ACK of 3 delayed\""
            )
        };
        let (head, tail) = text.split_once(':').ok_or_else(|| wrong(text))?;
        let mut world =
            Self { sack: false, timestamps: false, paced: false, size: Size::default(), fates: Fates::default() };
        for word in head.split_whitespace() {
            let parts: Vec<&str> = word.split('+').collect();
            let number = |text: &str| text.trim_end_matches("ms").parse::<u32>().map_err(|_| wrong(word));
            match parts[..] {
                ["sack"] => world.sack = true,
                ["timestamps"] => world.timestamps = true,
                ["paced"] => world.paced = true,
                ["timeout", late] => {
                    world.size = Size { late_ms: number(late)?, held_until: HeldUntil::Timeout, ..world.size }
                }
                ["loss-signal", late] => {
                    world.size = Size { late_ms: number(late)?, held_until: HeldUntil::LossSignal, ..world.size };
                }
                [before, segments, after] => {
                    world.size = Size {
                        before: number(before)?,
                        segments: number(segments)?,
                        after: number(after)?,
                        ..world.size
                    };
                }
                _ => return Err(wrong(word)),
            }
        }
        world.size.check().map_err(|error| error.to_string())?;
        let mut fates = Vec::new();
        for part in tail.split(',').map(str::trim).filter(|part| *part != "all delivered") {
            let (of, fate) = part.rsplit_once(' ').ok_or_else(|| wrong(part))?;
            let fate = Fate::ALL.into_iter().find(|one| one.name() == fate).ok_or_else(|| wrong(part))?;
            let number = |text: &str| match text.parse::<usize>() {
                Ok(number @ 1..=MOST) if number <= world.size.segments as usize => Ok(number - 1),
                _ => Err(wrong(part)),
            };
            let subject = match (of.strip_prefix("segment "), of.strip_prefix("ACK of ")) {
                (Some(segment), _) => Subject::Segment(number(segment)?),
                (_, Some(segment)) => Subject::Ack(number(segment)?),
                _ => return Err(wrong(part)),
            };
            fates.push((subject, fate));
        }
        world.fates = Fates::of(&fates);
        Ok(world)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_written_and_read_back() {
        for number in 0..500 {
            let world = World::draw(7, number);
            assert_eq!(world.to_string().parse(), Ok(world));
            world.size.check().unwrap();
        }
        let text = "sack paced 10+4+1 loss-signal+60ms: segment 1 lost, ACK of 3 delayed";
        assert_eq!(text.parse::<World>().unwrap().to_string(), text);
        assert_eq!("2+1+0 timeout+1ms: all delivered".parse::<World>().unwrap().fates, Fates::default());
    }

    #[test]
    fn a_wrong_world_is_refused_with_what_is_expected() {
        for text in ["", "sack", "sock 2+1+0 timeout+1ms: all delivered", "2+1+0 timeout+1ms: segment 2 lost"] {
            let said = text.parse::<World>().unwrap_err();
            assert!(said.contains("expected a world as"), "{text}: {said}");
        }
        assert!("2+9+0 timeout+1ms: all delivered".parse::<World>().unwrap_err().contains("1 to 8"));
        assert!("2+1+0 timeout+1ms: segment 1 eaten".parse::<World>().is_err());
    }

    /// A world with nothing left to simplify has no simpler one, and every step ends there.
    #[test]
    fn each_step_of_simplification_leads_to_the_simplest_world() {
        for number in 0..50 {
            let mut world = World::draw(3, number);
            for _ in 0..200 {
                match world.simpler().first() {
                    Some(next) => world = *next,
                    None => break,
                }
            }
            let Size { segments, after, late_ms, .. } = world.size;
            assert_eq!((segments, after, late_ms), (1, 0, 10));
            assert!(world.sack && !world.timestamps && !world.paced && world.fates.disturbed() == 0);
        }
    }
}
