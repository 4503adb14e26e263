//! Flow control: the peer's window and this end's window (RFC 9293, sections 3.8.6 and 3.10.7.4).

use crate::settings::{Announce, Settings};

/// The peer's window for this end's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow {
    /// First position beyond the window. It may move back, because a peer may shrink its window
    /// (RFC 9293, section 3.8.6).
    pub(crate) limit: u64,
    /// Size of the last advertised window in bytes, below 2^30.
    size: u32,
    /// Size of the largest window ever advertised in bytes: MAX.SND.WND of RFC 5961, section 5.2.
    largest: u32,
    /// SND.WL2 and SND.WL1: acknowledgement number and first position of the segment of the last
    /// update. A peer's acknowledgements never decrease, so they order two segments first. The
    /// first position orders segments with equal acknowledgements.
    update: (u64, u64),
    /// Window scale shift of the peer's window field, 0 to 14.
    shift: u8,
}

impl SendWindow {
    /// No data may be sent before the peer has advertised a window.
    pub(crate) const CLOSED: Self = Self { limit: 0, size: 0, largest: 0, update: (0, 0), shift: 0 };

    /// Opens the peer's first window. Its field is not shifted. The fields of later windows are
    /// shifted by `shift`.
    pub(crate) fn open(&mut self, limit_from: u64, field: u16, shift: u8, seq: u64) {
        let size = u32::from(field);
        *self = Self { limit: limit_from + u64::from(size), size, largest: size, update: (limit_from, seq), shift };
    }

    /// Processes the window field of an acceptable segment that begins at `seq` and acknowledges
    /// `ack`, which is not below SND.UNA. Returns whether the window's size has changed.
    #[inline]
    pub(crate) fn update(&mut self, seq: u64, ack: u64, field: u16) -> bool {
        debug_assert!(ack >= self.update.0, "una is not behind what the last update acknowledged");
        if ack == self.update.0 && seq < self.update.1 {
            return true;
        }
        let size = u32::from(field) << self.shift;
        let changed = size != self.size;
        self.update = (ack, seq);
        self.size = size;
        self.largest = self.largest.max(size);
        self.limit = ack + u64::from(size);
        changed
    }

    /// Returns whether a segment leaves the window unchanged. If so, it becomes the segment of the
    /// last update. An end that only receives data gets mostly these.
    #[inline(always)]
    pub(crate) fn is_unchanged(&mut self, seq: u64, ack: u64, field: u16) -> bool {
        let unchanged = ack == self.update.0 && u32::from(field) << self.shift == self.size && seq >= self.update.1;
        if unchanged {
            self.update.1 = seq;
        }
        unchanged
    }

    /// Returns the size of the largest window ever advertised, in bytes.
    #[inline]
    pub(crate) fn largest(&self) -> u64 {
        u64::from(self.largest)
    }

    /// Returns whether the peer's window is closed.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.size == 0
    }
}

/// This end's window for the peer's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveWindow {
    /// First position beyond all advertised windows: data below it is accepted.
    pub(crate) edge: u64,
    /// Size of the receive buffer in bytes.
    buffer: u32,
    /// The largest window that can be advertised, in bytes.
    most: u32,
    /// Minimum step of the edge in bytes (RFC 9293, section 3.8.6.2.2).
    step: u32,
    /// Minimum free space that is advertised, in bytes.
    least: u32,
    shift: u8,
}

impl ReceiveWindow {
    /// Returns a window of `buffer` bytes from position 1 on.
    pub(crate) fn new(buffer: u32, full_size: u32, shift: u8) -> Self {
        let most = 0xffff << shift;
        let buffer = buffer.min(most);
        let step = (buffer / 2).min(full_size).max(1);
        Self { edge: 1 + u64::from(buffer), buffer, most, step, least: 0, shift }
    }

    /// Returns the window for the settings.
    pub(crate) fn of(settings: &Settings, full_size: u32, shift: u8) -> Self {
        if settings.announce == Announce::InSteps {
            return Self::new(settings.receive_window, full_size, shift);
        }
        let window = settings.receive_window;
        let buffer = window.checked_next_multiple_of(full_size.max(1)).unwrap_or(window);
        let least = full_size.min(buffer / 4);
        // Once the window is open, data that fits the buffer is accepted even if the window field
        // is too small to advertise it.
        Self { buffer, most: u32::MAX, step: 1, least, ..Self::new(settings.receive_window, full_size, shift) }
    }

    /// Returns the size of the buffer in bytes.
    #[inline]
    pub(crate) fn buffer(&self) -> u64 {
        u64::from(self.buffer)
    }

    /// Moves the edge, if it can move by at least a step. `unread` bytes below `nxt` still occupy
    /// the buffer.
    #[inline]
    pub(crate) fn advance(&mut self, nxt: u64, unread: u64) {
        debug_assert!(unread <= self.buffer(), "nothing is taken that there was no room for");
        let room = (self.buffer() - unread).min(u64::from(self.most));
        let target = nxt + room;
        if target >= self.edge + u64::from(self.step) && room >= u64::from(self.least) {
            self.edge = target;
        }
    }

    /// Returns the window field of a segment that acknowledges `nxt`.
    #[inline]
    pub(crate) fn field(&self, nxt: u64) -> u16 {
        let size = self.edge.saturating_sub(nxt) >> self.shift;
        u16::try_from(size).unwrap_or(u16::MAX)
    }

    /// Returns the window field of a SYN, which is never shifted (RFC 7323, section 2.2).
    pub(crate) fn field_on_syn(&self) -> u16 {
        u16::try_from(self.buffer).unwrap_or(u16::MAX)
    }

    /// Returns whether a window update should be sent at once: the window is at least twice as
    /// large as the peer knows. Smaller changes wait for the next acknowledgement.
    pub(crate) fn is_worth_telling(&self, nxt: u64, unread: u64) -> bool {
        let target = nxt + self.buffer().saturating_sub(unread).min(u64::from(self.most));
        target >= self.edge + u64::from(self.step) && target - nxt >= 2 * self.edge.saturating_sub(nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_segment_updates_the_window_and_an_older_one_does_not() {
        let mut window = SendWindow::CLOSED;
        window.open(1, 1000, 2, 0);
        assert_eq!((window.limit, window.largest), (1001, 1000));
        assert!(window.update(1, 1, 500));
        assert_eq!((window.limit, window.largest), (2001, 2000));
        assert!(!window.update(1, 501, 500));
        assert_eq!(window.limit, 2501);
        // Reordered: it begins earlier.
        window.update(0, 501, 9);
        assert_eq!(window.limit, 2501);
        // The window shrinks.
        assert!(window.update(1, 501, 10));
        assert_eq!((window.limit, window.largest), (541, 2000));
        // A retransmission begins earlier and acknowledges more.
        assert!(window.update(0, 541, 500));
        assert_eq!(window.limit, 2541);
    }

    #[test]
    fn the_edge_never_moves_back_and_never_by_a_silly_step() {
        let mut window = ReceiveWindow::new(10_000, 1000, 2);
        assert_eq!((window.edge, window.field(1)), (10_001, 2500));
        window.advance(1001, 1000);
        assert_eq!((window.edge, window.field(1001)), (10_001, 2250));
        window.advance(1001, 1);
        assert_eq!(window.edge, 10_001);
        window.advance(1001, 0);
        assert_eq!((window.edge, window.field(1001)), (11_001, 2500));
        assert!(!window.is_worth_telling(11_001, 9_001));
        assert!(window.is_worth_telling(11_001, 9_000));
        assert!(!window.is_worth_telling(6001, 1000));
        assert!(window.is_worth_telling(6001, 0));
    }

    #[test]
    fn a_window_too_large_for_its_field_is_not_used() {
        let window = ReceiveWindow::new(1 << 20, 1000, 0);
        assert_eq!((window.edge, window.field(1), window.field_on_syn()), (65_536, 65_535, 65_535));
    }
}
