//! The two ends of a flow.

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum End {
    /// The end in the scenario's `from`, which opens the flow.
    From = 0,
    /// The end in the scenario's `to`.
    To = 1,
}

impl End {
    /// Returns the end across the network.
    pub const fn other(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }

    /// Returns 0 or 1, to index arrays by end.
    pub const fn index(self) -> usize {
        self as usize
    }
}
