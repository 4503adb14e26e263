//! Transitions of a connection's state as its two directions close (RFC 9293, figure 5).

use eifel_base::time::Instant;

use crate::state::State;

impl State {
    /// Returns the state after the application has closed. During the handshake the state does not
    /// change, and the FIN waits.
    pub(crate) fn after_close(self) -> Self {
        match self {
            Self::Established => Self::FinWait1,
            Self::CloseWait => Self::LastAck,
            Self::Listen | Self::SynSent => Self::Closed,
            other => other,
        }
    }

    /// Returns the state after this end's FIN is acknowledged. `time_wait_end` is when TIME-WAIT
    /// would end.
    pub(crate) fn after_fin_acknowledged(self, time_wait_end: Instant) -> Self {
        match self {
            Self::FinWait1 => Self::FinWait2,
            Self::Closing => Self::TimeWait { until: time_wait_end },
            Self::LastAck => Self::Closed,
            other => other,
        }
    }

    /// Returns the state after the peer's FIN and all data before it have arrived. `time_wait_end`
    /// is when TIME-WAIT would end.
    pub(crate) fn after_fin_received(self, time_wait_end: Instant) -> Self {
        match self {
            Self::Established => Self::CloseWait,
            Self::FinWait1 => Self::Closing,
            Self::FinWait2 => Self::TimeWait { until: time_wait_end },
            other => other,
        }
    }

    /// Returns whether the application may still write.
    pub(crate) fn takes_writes(self) -> bool {
        matches!(self, Self::Listen | Self::SynSent | Self::SynReceived(_) | Self::Established | Self::CloseWait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Instant = Instant::from_nanos(7);

    #[test]
    fn every_transition_of_rfc_9293_figure_5() {
        let open = State::Established;
        // This end closes first.
        let normal = open.after_close().after_fin_acknowledged(END);
        assert_eq!(normal, State::FinWait2);
        assert_eq!(normal.after_fin_received(END), State::TimeWait { until: END });
        // Both ends close at the same time.
        let both = open.after_close().after_fin_received(END);
        assert_eq!(both, State::Closing);
        assert_eq!(both.after_fin_acknowledged(END), State::TimeWait { until: END });
        // The peer closes first.
        let passive = open.after_fin_received(END);
        assert_eq!(passive, State::CloseWait);
        assert_eq!(passive.after_close(), State::LastAck);
        assert_eq!(passive.after_close().after_fin_acknowledged(END), State::Closed);
        // Before the peer has answered.
        assert_eq!(State::SynSent.after_close(), State::Closed);
        assert_eq!(State::Listen.after_close(), State::Closed);
    }
}
