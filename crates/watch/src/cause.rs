//! Why the kernel retransmitted, by its own state at that moment.

use crate::fact::{AFTER_TIMEOUT, BY_TIMER, LOSS, PROBE_TIMER, RECOVERY, REORDERING_TIMER, Step};
use serde::Serialize;

/// `TCP_SYN_SENT` and `TCP_SYN_RECV` of Linux.
const OPENING: [u8; 2] = [2, 3];

/// The cause of a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The retransmission timer expired.
    Rto,
    /// Go-back-N: an expiry of the timer had declared the segment lost.
    Loss,
    /// ACKs reported the loss.
    Fast,
    /// RACK's timer declared the loss.
    RackTimer,
    /// A tail-loss probe.
    Tlp,
    /// A repeated SYN or SYN-ACK.
    Syn,
    /// The segment was longer than the path's MTU.
    PathMtu,
    /// The kernel's state does not tell.
    Unknown,
}

impl Cause {
    /// All causes, in the order of metrics.
    pub const ALL: [Self; 8] =
        [Self::Rto, Self::Loss, Self::Fast, Self::RackTimer, Self::Tlp, Self::Syn, Self::PathMtu, Self::Unknown];

    /// Finds the cause of a retransmission. `by_mtu` tells whether the state Loss was entered
    /// because segments were too long, and is kept from one retransmission to the next.
    pub(crate) fn find(step: &Step, by_mtu: &mut bool) -> Self {
        let head = &step.head;
        let has = |flag: u8| head.flags & flag != 0;
        if OPENING.contains(&step.tcp_state) {
            return Self::Syn;
        }
        match head.ca_state {
            RECOVERY if has(BY_TIMER) && head.pending == REORDERING_TIMER => Self::RackTimer,
            RECOVERY => Self::Fast,
            LOSS if has(AFTER_TIMEOUT) || has(BY_TIMER) => {
                // The kernel declares segments lost that are too long, as if the timer had expired.
                *by_mtu = step.retransmits == 0;
                if *by_mtu { Self::PathMtu } else { Self::Rto }
            }
            LOSS if *by_mtu => Self::PathMtu,
            LOSS => Self::Loss,
            _ if head.pending == PROBE_TIMER => Self::Tlp,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{Fact, Head};

    fn step(ca_state: u8, pending: u8, flags: u8, retransmits: u8) -> Step {
        let mut bytes = [0; 144];
        bytes[20] = 3;
        let Some(Fact::Retransmitted(step)) = Fact::parse(&bytes) else { panic!("a retransmission") };
        Step { head: Head { ca_state, pending, flags, ..step.head }, retransmits, tcp_state: 1, ..step }
    }

    #[test]
    fn the_state_of_the_socket_names_the_cause() {
        let find = |step: Step| Cause::find(&step, &mut false);
        assert_eq!(find(step(3, 1, 0, 0)), Cause::Fast);
        assert_eq!(find(step(3, 6, BY_TIMER, 0)), Cause::RackTimer);
        // An ACK may report a loss while RACK's timer runs.
        assert_eq!(find(step(3, 6, 0, 0)), Cause::Fast);
        assert_eq!(find(step(4, 0, AFTER_TIMEOUT, 1)), Cause::Rto);
        assert_eq!(find(step(4, 1, 0, 0)), Cause::Loss);
        assert_eq!(find(step(0, 5, BY_TIMER, 0)), Cause::Tlp);
        assert_eq!(find(step(1, 1, 0, 0)), Cause::Unknown);
        assert_eq!(find(Step { tcp_state: 2, ..step(4, 0, AFTER_TIMEOUT, 1) }), Cause::Syn);
    }

    #[test]
    fn segments_that_are_too_long_are_no_timeout() {
        let mut by_mtu = false;
        assert_eq!(Cause::find(&step(4, 1, AFTER_TIMEOUT, 0), &mut by_mtu), Cause::PathMtu);
        assert_eq!(Cause::find(&step(4, 1, 0, 0), &mut by_mtu), Cause::PathMtu);
        assert_eq!(Cause::find(&step(4, 0, AFTER_TIMEOUT, 1), &mut by_mtu), Cause::Rto);
        assert_eq!(Cause::find(&step(4, 1, 0, 0), &mut by_mtu), Cause::Loss);
    }
}
