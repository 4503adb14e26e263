//! Laws of an association: acknowledged chunks have arrived, a path with bytes in flight has a
//! running timer, and no buffer overflows.

use super::checked::CheckedAssociation;
use super::positions::Positions;
use eifel_base::time::Instant;
use eifel_recovery::association::PathId;
use eifel_sctp::Association;

/// The most bytes by which one chunk, or the end of a message, may overrun the receive buffer.
const SLACK: usize = 1 << 16;

/// The positions of one end at the last check.
#[derive(Clone, Copy, Default)]
pub struct Ledger {
    positions: Positions,
    /// A fault that a test puts into each account, because no call of an association causes it.
    #[cfg(test)]
    plant: Option<tests::Plant>,
}

/// The state of one direction, from its sender and its receiver.
#[derive(Clone, Debug)]
struct Account {
    una: u64,
    nxt: u64,
    /// Whether the receiver has the last chunk below `una`, and the chunk at `nxt`, which was never
    /// sent.
    arrived: [bool; 2],
    /// For each path: flight size and cwnd in bytes, and the time at which the timer expires.
    paths: Vec<(u64, u64, Instant)>,
    /// Bytes of user data in flight.
    data: u64,
    /// Bytes in the receiver's buffer, and the size of this buffer.
    buffered: (usize, usize),
}

impl Ledger {
    /// Checks the sender at one end, and its receiver at the other.
    ///
    /// # Panics
    /// When a law is broken.
    pub fn check(&mut self, now: Instant, endpoint: CheckedAssociation<'_>, other: CheckedAssociation<'_>) {
        let (Some(sender), Some(receiver)) = (endpoint.association, other.association) else { return };
        let account = account(sender, receiver);
        #[cfg(test)]
        let account = self.planted(account);
        if let Err(broken) = self.accept(&account) {
            panic!("at {now:?}, flow {}, {:?}: {broken}: {account:?}", endpoint.flow, endpoint.end);
        }
    }

    /// Accepts an account, or returns the first law that it breaks.
    fn accept(&mut self, account: &Account) -> Result<(), &'static str> {
        let &Account { una, nxt, arrived, ref paths, data, buffered: (held, buffer) } = account;
        self.positions.accept(una, nxt)?;
        if una > 0 && !arrived[0] {
            return Err("more is acknowledged than has arrived");
        }
        if arrived[1] {
            return Err("more has arrived than was sent");
        }
        let flight: u64 = paths.iter().map(|(flight, ..)| flight).sum();
        if una == nxt && flight > 0 {
            return Err("something is under way although nothing is outstanding");
        }
        if data > flight {
            return Err("more user data is under way than chunks hold");
        }
        if paths.iter().any(|(flight, _, timer)| *flight > 0 && *timer == Instant::NEVER) {
            return Err("something is under way on a path whose timer is off");
        }
        if paths.iter().any(|(_, cwnd, _)| *cwnd == 0) {
            return Err("a congestion window is closed");
        }
        if held > buffer + SLACK {
            return Err("the receive buffer is overfull");
        }
        Ok(())
    }
}

fn account(sender: &Association, receiver: &Association) -> Account {
    let engine = sender.engine();
    let (una, nxt) = (engine.una(), engine.nxt());
    let path = |path| (engine.flight(path), engine.window(path).cwnd, engine.snapshot(path).deadline);
    Account {
        una,
        nxt,
        arrived: [una.saturating_sub(1), nxt].map(|position| receiver.has_received(position)),
        paths: (0..engine.paths()).map(PathId).map(path).collect(),
        data: engine.data_under_way(),
        buffered: (receiver.buffered(), receiver.settings().receive_buffer as usize),
    }
}

#[cfg(test)]
mod tests;
