//! Law: the positions of a sender never go back, and no more is acknowledged than was sent.

/// The positions of a sender at the last check.
#[derive(Clone, Copy, Default)]
pub struct Positions {
    una: u64,
    nxt: u64,
}

impl Positions {
    /// Accepts new positions, or returns the law that they break.
    pub fn accept(&mut self, una: u64, nxt: u64) -> Result<(), &'static str> {
        if una < self.una || nxt < self.nxt {
            return Err("a position went back");
        }
        if una > nxt {
            return Err("more is acknowledged than was sent");
        }
        (self.una, self.nxt) = (una, nxt);
        Ok(())
    }
}
