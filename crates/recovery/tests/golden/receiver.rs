//! A receiver that acknowledges each packet, and sometimes lies.

use eifel_base::ranges::Ranges;
use eifel_base::units::Timestamp;
use eifel_recovery::engine::Block;
use eifel_recovery::fact::Mark;

use crate::dice::Dice;

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub block: Block,
    pub stamp: Option<Timestamp>,
    pub again: bool,
}

/// An ACK.
#[derive(Clone, Debug)]
pub struct Answer {
    pub cumulative: u64,
    pub sacks: Vec<Block>,
    pub dsack: Option<Block>,
    pub echo: Option<Timestamp>,
    pub mark: Mark,
    pub plain: bool,
    pub ece: bool,
}

#[derive(Default)]
pub struct Receiver {
    pub next: u64,
    beyond: Ranges,
    /// The starts of the segments whose blocks are reported first.
    recent: Vec<u64>,
    echo: Option<Timestamp>,
    /// Number of further ACKs that carry an ECN echo.
    congested: u64,
    /// Whether the receiver lies at times: it reneges, reports data that never came, or reports a
    /// false duplicate.
    pub lies: bool,
}

impl Receiver {
    pub fn new(lies: bool) -> Self {
        Self { next: 1, lies, ..Self::default() }
    }

    pub fn take(&mut self, packet: &Packet, dice: &mut Dice) -> Answer {
        let Block { start, end } = packet.block;
        let duplicate = end <= self.next || self.beyond.covers(packet.block);
        if start <= self.next {
            // RFC 7323, section 4.3: a segment that is next in order.
            self.echo = packet.stamp.or(self.echo);
            self.next = self.beyond.absorb(self.next.max(end));
        } else {
            self.beyond.add(packet.block);
        }
        self.recent.retain(|at| *at != start);
        self.recent.insert(0, start);
        self.recent.truncate(8);
        if dice.once_in(90) {
            self.congested = dice.below(5);
        }
        self.congested = self.congested.saturating_sub(1);
        if self.lies && dice.once_in(60) {
            self.beyond.clear();
        }
        let mut sacks: Vec<Block> = Vec::new();
        for block in self.recent.iter().filter_map(|at| self.beyond.containing(*at)) {
            if sacks.len() < 3 && !sacks.contains(&block) {
                sacks.push(block);
            }
        }
        let mut dsack = duplicate.then_some(packet.block);
        if self.lies && dice.once_in(40) {
            let from = self.next + 1000 * dice.from(1, 9);
            sacks.insert(0, Block { start: from, end: from + 1000 });
        }
        if self.lies && dice.once_in(40) {
            dsack = Some(packet.block);
        }
        Answer {
            cumulative: self.next,
            sacks,
            dsack,
            echo: self.echo,
            mark: if packet.again { Mark::Retransmission } else { Mark::Original },
            plain: !dice.once_in(25),
            ece: self.congested > 0,
        }
    }
}
