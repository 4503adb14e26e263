//! The memory of all connections' buffers. Together they stay below a bound, whatever clients and
//! servers leave unread.
//!
//! A connection gets its buffers when it is opened, because an announced window cannot be taken
//! back. The first get much, later ones less: each takes a part of what is left, and none gets less
//! than a floor.

use super::MOST_CLIENTS;
use eifel_tcp::Settings;
use eifel_tcp::settings::SendKind;

/// The least bytes of a buffer: some segments.
const FLOOR: usize = 8 << 10;
/// Bytes to be distributed beyond the floors.
const SPARE: usize = 14 << 20;
/// The part of the bytes left that a connection's two buffers take.
const PART: usize = 8;

/// The bytes that are left.
#[derive(Debug)]
pub(super) struct Budget {
    spare: usize,
}

/// The size of each of a connection's two buffers, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share(usize);

impl Default for Budget {
    fn default() -> Self {
        Self { spare: SPARE }
    }
}

impl Budget {
    /// The number of connections for which there is a floor.
    pub(super) const CONNECTIONS: usize = MOST_CLIENTS;

    pub(super) fn take(&mut self) -> Share {
        let more = self.spare / PART / 2;
        self.spare -= 2 * more;
        Share(FLOOR + more)
    }

    pub(super) fn put_back(&mut self, share: Share) {
        self.spare += 2 * (share.0 - FLOOR);
    }
}

impl Share {
    /// Returns `settings` with buffers that fit the share.
    pub(super) fn fitted(self, settings: &Settings) -> Settings {
        let receive_window = settings.receive_window.min(u32::try_from(self.0).unwrap_or(u32::MAX));
        let send = match settings.send {
            SendKind::Held { .. } => SendKind::Held { buffer: self.send_buffer(settings) },
            counted => counted,
        };
        Settings { receive_window, send, ..*settings }
    }

    /// Returns the bytes that the send buffer holds.
    pub(super) fn send_buffer(self, settings: &Settings) -> usize {
        if let SendKind::Held { buffer } = settings.send { buffer.min(self.0) } else { self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::random::Random;

    fn sizes(share: Share, buffer: usize) -> (usize, u32) {
        let settings =
            Settings { send: SendKind::Held { buffer }, receive_window: buffer as u32, ..Settings::default() };
        let fitted = share.fitted(&settings);
        let SendKind::Held { buffer } = fitted.send else { panic!("{:?}", fitted.send) };
        (buffer, fitted.receive_window)
    }

    #[test]
    fn a_connection_gets_no_more_than_its_settings_ask_for() {
        let first = Budget::default().take();
        assert_eq!(sizes(first, 4_000_000), (925_696, 925_696));
        assert_eq!(sizes(first, 5000), (5000, 5000));
    }

    #[test]
    fn the_buffers_of_all_connections_stay_below_the_bound() {
        let (mut random, mut budget, mut open) = (Random(2), Budget::default(), Vec::new());
        for _ in 0..20_000 {
            if open.is_empty() || (open.len() < Budget::CONNECTIONS && random.below(5) > 1) {
                open.push(budget.take());
            } else {
                let place = random.below(open.len() as u64) as usize;
                budget.put_back(open.swap_remove(place));
            }
            assert!(open.iter().all(|share| share.0 >= FLOOR));
            let bytes: usize = open.iter().map(|share| 2 * share.0).sum();
            assert_eq!(bytes + budget.spare, SPARE + 2 * FLOOR * open.len());
        }
        open.drain(..).for_each(|share| budget.put_back(share));
        assert_eq!(budget.spare, SPARE);
    }
}
