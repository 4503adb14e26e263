//! Orders to the box: on a condition, at the terminal, or over a control socket. All three use the
//! same words.

use super::Direction;
use super::label::ParsedPacket;
use eifel_base::time::Duration;

/// The action of an order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verb {
    /// Holds arriving packets: for a time, or until they are released.
    Hold(Option<Duration>),
    /// Releases held packets.
    Release,
    /// Holds packets, or releases held ones.
    Toggle,
    /// Drops the next packets.
    Drop(u64),
}

/// PacketId directions an order is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directions {
    Both,
    One(Direction),
}

impl Directions {
    /// Returns whether `direction` is among them.
    pub fn cover(self, direction: Direction) -> bool {
        self == Self::Both || self == Self::One(direction)
    }
}

/// A command to the box, and the directions that it is for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Order {
    pub verb: Verb,
    pub ways: Directions,
}

/// The packet that an order waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// The n-th packet of the first flow, from 1.
    Packet(u64),
    /// The first transmission of the n-th data segment of the first flow, from 1.
    Segment(u64),
    /// The first packet of the first flow with this position of the stream, where 1 is the first byte.
    Position(u64),
}

/// An order that waits for a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trigger {
    /// The packet that it waits for.
    pub when: When,
    /// The direction of that packet.
    pub direction: Direction,
    pub order: Order,
}

impl Trigger {
    /// Returns whether this packet triggers the order.
    pub fn fires(&self, direction: Direction, seen: &ParsedPacket) -> bool {
        if direction != self.direction || seen.label.flow != 0 {
            return false;
        }
        match self.when {
            When::Packet(number) => seen.number == number,
            When::Segment(number) => seen.label.segment == number && seen.label.copy == 0,
            When::Position(at) => {
                seen.label.copy == 0 && seen.data.is_some_and(|data| (data.start..data.end).contains(&at))
            }
        }
    }

    /// Parses a trigger, as `packet 120: hold 2.5` or `back segment 7: drop there`.
    ///
    /// # Errors
    /// A line that describes the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected [there|back] packet|segment|position N: ORDER";
        let (when, order) = text.split_once(':').ok_or_else(|| format!("{text:?}: {expected}"))?;
        let (direction, words) = match when.split_whitespace().collect::<Vec<_>>()[..] {
            ["there", what, number] | [what, number] => (Direction::There, (what, number)),
            ["back", what, number] => (Direction::Back, (what, number)),
            _ => return Err(format!("{when:?}: {expected}")),
        };
        let number = counted(words.1)?;
        let when = match words.0 {
            "packet" => When::Packet(number),
            "segment" => When::Segment(number),
            "position" => When::Position(number),
            other => return Err(format!("{other:?}: {expected}")),
        };
        Ok(Self { when, direction, order: Order::parse(order)? })
    }
}

impl Order {
    /// Parses an order, as `hold`, `hold 2.5 back`, `release`, `toggle`, `drop` or `drop 3 there`.
    /// Without a direction, a drop is for the way there, and all other orders are for both ways.
    ///
    /// # Errors
    /// A line that describes the problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected hold [SECONDS], release, toggle or drop [N], and there, back or both";
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let ways = match words.last().copied() {
            Some("there") => Some(Directions::One(Direction::There)),
            Some("back") => Some(Directions::One(Direction::Back)),
            Some("both") => Some(Directions::Both),
            _ => None,
        };
        if ways.is_some() {
            words.pop();
        }
        let verb = match words[..] {
            ["hold"] => Verb::Hold(None),
            ["hold", seconds] => match seconds.parse::<f64>() {
                Ok(length) if length > 0.0 && length.is_finite() => Verb::Hold(Some(Duration::from_secs_f64(length))),
                _ => return Err(format!("{seconds:?}: expected seconds, more than 0")),
            },
            ["release"] => Verb::Release,
            ["toggle"] => Verb::Toggle,
            ["drop"] => Verb::Drop(1),
            ["drop", count] => Verb::Drop(counted(count)?),
            _ => return Err(format!("{:?}: {expected}", text.trim())),
        };
        let default = if let Verb::Drop(_) = verb { Directions::One(Direction::There) } else { Directions::Both };
        Ok(Self { verb, ways: ways.unwrap_or(default) })
    }
}

/// Parses a whole number of at least 1.
fn counted(word: &str) -> Result<u64, String> {
    let number = word.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("{word:?}: expected a whole number, 1 or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_triggers_parse() {
        let order = |text: &str| Order::parse(text).unwrap();
        assert_eq!(order("hold"), Order { verb: Verb::Hold(None), ways: Directions::Both });
        let held = Verb::Hold(Some(Duration::from_millis(2500)));
        assert_eq!(order(" hold 2.5 back "), Order { verb: held, ways: Directions::One(Direction::Back) });
        assert_eq!(order("drop"), Order { verb: Verb::Drop(1), ways: Directions::One(Direction::There) });
        assert_eq!(order("drop 3 both"), Order { verb: Verb::Drop(3), ways: Directions::Both });
        assert_eq!(order("release").verb, Verb::Release);
        let trigger = Trigger::parse("back segment 7: drop there").unwrap();
        assert_eq!((trigger.when, trigger.direction), (When::Segment(7), Direction::Back));
    }

    #[test]
    fn an_invalid_order_is_refused_and_the_error_lists_the_valid_ones() {
        for text in ["", "holds", "hold -1", "hold inf", "hold 1 2", "drop x", "drop 0", "both"] {
            assert!(Order::parse(text).unwrap_err().contains("expected"), "{text}");
        }
        for text in [
            "packet 1",
            "packet x: hold",
            "packet 0: hold",
            "segment 1: drop 0",
            "byte 1: hold",
            "there back packet 1: hold",
            "packet 1: stay",
        ] {
            assert!(Trigger::parse(text).unwrap_err().contains("expected"), "{text}");
        }
    }
}
