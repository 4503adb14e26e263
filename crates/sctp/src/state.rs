//! The states of an association (RFC 9260, section 4), each with its own data.

use eifel_base::time::Instant;
use eifel_recovery::association::PathId;

/// A chunk that is repeated until it is answered, with its timer: T1-init, T1-cookie or
/// T2-shutdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Repeated {
    /// When the timer expires; [`Instant::NEVER`] if it does not run.
    pub(crate) due: Instant,
    /// When the chunk was last sent.
    pub(crate) sent_at: Instant,
    /// Number of expiries of the timer.
    pub(crate) expiries: u32,
    /// The path of the chunk.
    pub(crate) path: PathId,
    /// Whether the chunk has to be sent now.
    pub(crate) pending: bool,
}

impl Repeated {
    /// Returns a chunk to be sent now on `path`.
    pub(crate) const fn on(path: PathId) -> Self {
        Self { due: Instant::NEVER, sent_at: Instant::ZERO, expiries: 0, path, pending: true }
    }
}

/// A state, with its data. Each packet asks for the state, so it is one byte.
#[repr(u8)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// There is no association any more.
    Closed,
    /// INIT was sent.
    CookieWait(Repeated),
    /// COOKIE ECHO was sent.
    CookieEchoed {
        repeated: Repeated,
        cookie: Vec<u8>,
        /// Causes of an ERROR chunk to be bundled with COOKIE ECHO; empty if there is none.
        error: Vec<u8>,
    },
    /// Data may be transferred.
    Established,
    /// The application has shut the association down; data is outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent(Repeated),
    /// The peer has shut the association down; data is outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent(Repeated),
}

impl State {
    /// Returns the repeated chunk of this state, if it has one.
    pub(crate) fn repeated(&self) -> Option<&Repeated> {
        match self {
            Self::CookieWait(repeated)
            | Self::CookieEchoed { repeated, .. }
            | Self::ShutdownSent(repeated)
            | Self::ShutdownAckSent(repeated) => Some(repeated),
            _ => None,
        }
    }

    pub(crate) fn repeated_mut(&mut self) -> Option<&mut Repeated> {
        match self {
            Self::CookieWait(repeated)
            | Self::CookieEchoed { repeated, .. }
            | Self::ShutdownSent(repeated)
            | Self::ShutdownAckSent(repeated) => Some(repeated),
            _ => None,
        }
    }

    /// Returns whether DATA may leave (section 6).
    pub(crate) const fn sends_data(&self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived)
    }

    /// Returns whether DATA is accepted (section 6).
    pub(crate) const fn takes_data(&self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownSent(_))
    }

    /// Returns whether HEARTBEATs are sent (section 8.3).
    pub(crate) const fn heartbeats(&self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived)
    }
}

/// A state without its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There is no association.
    Closed,
    /// INIT was sent.
    CookieWait,
    /// COOKIE ECHO was sent.
    CookieEchoed,
    /// Data may be transferred.
    Established,
    /// The application has shut the association down; data is outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent,
    /// The peer has shut the association down; data is outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent,
}

impl From<&State> for Phase {
    fn from(state: &State) -> Self {
        match state {
            State::Closed => Self::Closed,
            State::CookieWait(_) => Self::CookieWait,
            State::CookieEchoed { .. } => Self::CookieEchoed,
            State::Established => Self::Established,
            State::ShutdownPending => Self::ShutdownPending,
            State::ShutdownSent(_) => Self::ShutdownSent,
            State::ShutdownReceived => Self::ShutdownReceived,
            State::ShutdownAckSent(_) => Self::ShutdownAckSent,
        }
    }
}
