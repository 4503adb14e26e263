//! The states of an association (RFC 9260, section 4), each with what belongs to it.

use eifel_base::time::Instant;
use eifel_recovery::association::PathId;

/// A chunk that is sent until it is answered: T1-init, T1-cookie and T2-shutdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Repeated {
    /// When it leaves again.
    pub(crate) due: Instant,
    /// When it left last.
    pub(crate) sent_at: Instant,
    /// How often the timer has expired.
    pub(crate) expiries: u32,
    /// The path that it goes to.
    pub(crate) path: PathId,
    /// Whether it is to leave now.
    pub(crate) pending: bool,
}

impl Repeated {
    /// It is to leave on `path`.
    pub(crate) const fn on(path: PathId) -> Self {
        Self { due: Instant::NEVER, sent_at: Instant::ZERO, expiries: 0, path, pending: true }
    }
}

/// See the module's documentation.
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
        /// An ERROR chunk's causes, for the first packet.
        error: Vec<u8>,
    },
    /// Data flows.
    Established,
    /// The application wants to end; data is outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent(Repeated),
    /// The peer wants to end; data is outstanding.
    ShutdownReceived,
    /// SHUTDOWN ACK was sent.
    ShutdownAckSent(Repeated),
}

impl State {
    /// The chunk that is repeated in this state.
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

    /// Returns whether DATA is taken in (section 6).
    pub(crate) const fn takes_data(&self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownSent(_))
    }

    /// Returns whether HEARTBEATs are sent (section 8.3).
    pub(crate) const fn heartbeats(&self) -> bool {
        matches!(self, Self::Established | Self::ShutdownPending | Self::ShutdownReceived)
    }
}

/// The state by its name alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// There is no association.
    Closed,
    /// INIT was sent.
    CookieWait,
    /// COOKIE ECHO was sent.
    CookieEchoed,
    /// Data flows.
    Established,
    /// The application wants to end; data is outstanding.
    ShutdownPending,
    /// SHUTDOWN was sent.
    ShutdownSent,
    /// The peer wants to end; data is outstanding.
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
