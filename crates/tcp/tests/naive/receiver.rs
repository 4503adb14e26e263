//! A receiver that stores every octet: RFC 9293, sections 3.4 and 3.8.6.2.2; RFC 2018, section 4;
//! RFC 2883, section 4.

use std::collections::BTreeMap;

use eifel_tcp::settings::SackUse;

/// An acknowledgement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub ack: u64,
    pub window: u64,
    pub blocks: Vec<(u64, u64)>,
}

const REMEMBERED: usize = 4;

pub struct Receiver {
    /// RCV.NXT. `edge` is the first position beyond the advertised window, which never moves back.
    pub nxt: u64,
    pub edge: u64,
    buffer: u64,
    /// Maximum payload of a segment in bytes.
    full: u64,
    octets: BTreeMap<u64, u8>,
    /// The first unread octet.
    unread: u64,
    sack: SackUse,
    room: usize,
    /// First positions of the newest out-of-order segments, each in a block of its own, newest
    /// last. As in most stacks, there are at most as many as blocks in an option.
    triggers: Vec<u64>,
    duplicate: Option<(u64, u64)>,
}

impl Receiver {
    pub fn new(buffer: u64, full: u64, sack: SackUse, room: usize) -> Self {
        let (octets, triggers) = (BTreeMap::new(), Vec::new());
        Self { nxt: 1, edge: 1 + buffer, buffer, full, octets, unread: 1, sack, room, triggers, duplicate: None }
    }

    /// Returns whether a segment with data is acceptable: RFC 9293, section 3.4, the four cases.
    pub fn accepts(&self, start: u64, end: u64) -> bool {
        if self.edge == self.nxt {
            // A closed window accepts no data. A segment that reaches it from below, and a probe,
            // are still processed: their timestamps count.
            return start <= self.nxt && self.nxt < end;
        }
        let begins_inside = self.nxt <= start && start < self.edge;
        let last = end - 1;
        let ends_inside = self.nxt <= last && last < self.edge;
        let spans_it = start < self.nxt && self.edge < end;
        begins_inside || ends_inside || spans_it
    }

    fn has(&self, position: u64) -> bool {
        position < self.nxt || self.octets.contains_key(&position)
    }

    /// Processes an acceptable segment. New octets inside the window are stored. Octets that
    /// arrived earlier are not overwritten.
    pub fn take(&mut self, start: u64, bytes: &[u8]) {
        let end = start + bytes.len() as u64;
        let fits = end.min(self.edge);
        // RFC 2883: the first contiguous part that has already arrived.
        let looked_at = if fits > start.max(self.nxt) { fits } else { end.min(self.nxt) };
        if let Some(left) = (start..looked_at).find(|&position| self.has(position)) {
            let right = (left..looked_at).find(|&position| !self.has(position)).unwrap_or(looked_at);
            // Octets below RCV.NXT and stored octets above it do not form one block.
            let right = if left < self.nxt { right.min(self.nxt) } else { right };
            self.report_duplicate(left, right);
        }
        let before = self.nxt;
        for position in start.max(self.nxt)..fits {
            self.octets.entry(position).or_insert(bytes[(position - start) as usize]);
        }
        while self.octets.contains_key(&self.nxt) {
            self.nxt += 1;
        }
        if start > before && start < fits {
            let blocks = self.blocks();
            let block_of = |at: u64| blocks.iter().find(|&&(left, right)| left <= at && at < right);
            self.triggers.retain(|&at| block_of(at) != block_of(start));
            self.triggers.push(start);
            if self.triggers.len() > REMEMBERED {
                self.triggers.remove(0);
            }
        }
    }

    /// Processes an unacceptable segment: it is answered, and its duplicate part is reported.
    pub fn refuse(&mut self, start: u64, end: u64) {
        if start < self.nxt {
            self.report_duplicate(start, end.min(self.nxt));
        }
    }

    fn report_duplicate(&mut self, left: u64, right: u64) {
        if self.sack == SackUse::WithDuplicates {
            self.duplicate = Some((left, right));
        }
    }

    /// Returns all contiguous blocks above RCV.NXT.
    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &position in self.octets.range(self.nxt..).map(|(position, _)| position) {
            match blocks.last_mut() {
                Some((_, right)) if *right == position => *right += 1,
                _ => blocks.push((position, position + 1)),
            }
        }
        blocks
    }

    /// Returns the blocks of a SACK option (RFC 2018, section 4). The block of the newest segment
    /// comes first, then the blocks most recently reported first, then others from the lowest. A
    /// duplicate precedes all of them (RFC 2883).
    fn option(&mut self) -> Vec<(u64, u64)> {
        if self.sack == SackUse::Off {
            return Vec::new();
        }
        let blocks = self.blocks();
        let mut ordered: Vec<(u64, u64)> = Vec::new();
        let recent = self.triggers.iter().rev();
        let recent = recent.filter_map(|&at| blocks.iter().find(|&&(left, right)| left <= at && at < right));
        for &block in recent.chain(&blocks) {
            if !ordered.contains(&block) {
                ordered.push(block);
            }
        }
        let mut option: Vec<_> = self.duplicate.take().into_iter().collect();
        option.extend(ordered);
        option.truncate(self.room);
        option
    }

    /// RFC 9293, section 3.8.6.2.2: the window moves by at least a segment or half the buffer.
    fn move_edge(&mut self) {
        let target = self.nxt + self.buffer - (self.nxt - self.unread);
        if target >= self.edge + self.step() {
            self.edge = target;
        }
    }

    fn step(&self) -> u64 {
        (self.buffer / 2).min(self.full).max(1)
    }

    pub fn answer(&mut self) -> Answer {
        self.move_edge();
        Answer { ack: self.nxt, window: self.edge - self.nxt, blocks: self.option() }
    }

    /// Reads the octets that are in order.
    pub fn read(&mut self, most: usize) -> Vec<u8> {
        let until = self.nxt.min(self.unread + most as u64);
        let read = (self.unread..until).filter_map(|position| self.octets.remove(&position)).collect();
        self.unread = until;
        read
    }

    /// Returns a window update if the window has at least doubled, and can move at all.
    pub fn update_after_read(&mut self, count: u64) -> Option<Answer> {
        let target = self.nxt + self.buffer - (self.nxt - self.unread);
        let known = self.edge - self.nxt;
        let worth = count > 0 && target >= self.edge + self.step() && target - self.nxt >= 2 * known;
        worth.then(|| self.answer())
    }
}
