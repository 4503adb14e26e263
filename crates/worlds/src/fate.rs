//! Fates of packets, and the packets that have one.

use core::fmt;

/// Maximum number of segments with a fate. Each multiplies the number of worlds by 16.
pub const MOST: usize = 8;

/// The fate of a packet. Worlds are compared in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// It arrives in order.
    Delivered,
    /// It is held until the sender's timer has expired: see [`HeldUntil`](crate::HeldUntil).
    Delayed,
    /// It arrives twice, the second copy right behind the first.
    Duplicated,
    /// It never arrives.
    Lost,
}

impl Fate {
    pub const ALL: [Self; 4] = [Self::Delivered, Self::Delayed, Self::Duplicated, Self::Lost];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Delayed => "delayed",
            Self::Duplicated => "duplicated",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A packet with a fate. Numbers count from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// The first transmission of a segment.
    Segment(usize),
    /// The acknowledgement that the first arrival of this transmission causes.
    Ack(usize),
}

impl Subject {
    const fn index(self) -> usize {
        match self {
            Self::Segment(number) => number,
            Self::Ack(number) => MOST + number,
        }
    }
}

/// The fates chosen so far. Packets that a world never sent have none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Fates([Option<Fate>; 2 * MOST]);

impl Fates {
    /// Makes a set of just these fates.
    pub fn of(chosen: &[(Subject, Fate)]) -> Self {
        let mut fates = Self::default();
        for &(subject, fate) in chosen {
            fates.choose(subject, fate);
        }
        fates
    }

    /// Returns the packet's fate, if it was chosen.
    pub fn get(&self, subject: Subject) -> Option<Fate> {
        self.0[subject.index()]
    }

    pub(crate) fn choose(&mut self, subject: Subject, fate: Fate) {
        self.0[subject.index()] = Some(fate);
    }

    /// Returns the number of fates chosen.
    pub fn chosen(&self) -> u32 {
        self.0.iter().flatten().count() as u32
    }

    /// Returns the number of packets with another fate than delivery.
    pub fn disturbed(&self) -> u32 {
        self.0.iter().flatten().filter(|fate| **fate != Fate::Delivered).count() as u32
    }

    /// Iterates over the packets with another fate than delivery.
    pub fn all_disturbed(&self) -> impl Iterator<Item = (Subject, Fate)> {
        self.0.iter().enumerate().filter_map(|(index, fate)| {
            let subject = if index < MOST { Subject::Segment(index) } else { Subject::Ack(index - MOST) };
            fate.filter(|fate| *fate != Fate::Delivered).map(|fate| (subject, fate))
        })
    }
}

/// "segment 2 lost, ACK of 3 delayed", or "all delivered". Segments count from 1.
impl fmt::Display for Fates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.disturbed() == 0 {
            return f.write_str("all delivered");
        }
        for (place, (subject, fate)) in self.all_disturbed().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            match subject {
                Subject::Segment(number) => write!(f, "{comma}segment {} {fate}", number + 1)?,
                Subject::Ack(number) => write!(f, "{comma}ACK of {} {fate}", number + 1)?,
            }
        }
        Ok(())
    }
}
