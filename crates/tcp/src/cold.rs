//! The parts of a connection that few segments touch, kept apart so that the rest stays in the caches; and which of them a
//! handshake needs, and which an open connection.

use eifel_base::time::Duration;
use eifel_packet::segment::Options;
use eifel_packet::seq::Seq;
use eifel_recovery::fact::Block;

use crate::challenge::Challenges;
use crate::connection::Counts;
use crate::handshake::offer;
use crate::quick_acks::QuickAcks;
use crate::receive::Arrival;
use crate::settings::{Settings, TimeWait, WindowProbe};
use crate::tail::Wishes;

/// What a handshake goes by.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) settings: Settings,
    /// Options of this end's SYN or SYN-ACK, without the timestamps.
    pub(crate) offer: Options,
    /// Data on the peer's SYN in a simultaneous open. The application is told when the connection is established.
    pub(crate) early: Option<Arrival>,
}

/// The settings that an open connection goes by.
#[derive(Clone, Debug)]
pub(crate) struct Habits {
    pub(crate) ack_delay: Duration,
    pub(crate) fin_wait_2: Duration,
    pub(crate) time_wait: Duration,
    pub(crate) time_wait_rule: TimeWait,
    pub(crate) window_probe: WindowProbe,
    pub(crate) fin_beyond_cwnd: bool,
    /// Consecutive timeouts; the next expiry ends the connection.
    pub(crate) most_timeouts: u32,
}

/// The parts that few segments touch.
#[derive(Clone, Debug)]
pub(crate) struct Cold {
    /// `None` once the connection is open: ten thousand idle connections need not hold them.
    terms: Option<Box<Terms>>,
    pub(crate) habits: Habits,
    pub(crate) challenges: Challenges,
    /// `None` until something is counted.
    pub(crate) counts: Option<Box<Counts>>,
    pub(crate) wishes: Wishes,
    pub(crate) quick: QuickAcks,
    /// The last duplicate that the peer has reported, and TSval of that ACK.
    pub(crate) reported: Option<Box<(Block, u32)>>,
}

impl Cold {
    pub(crate) fn new(settings: &Settings, isn: Seq) -> Box<Self> {
        Box::new(Self {
            terms: Some(Box::new(Terms { settings: *settings, offer: offer(settings), early: None })),
            habits: Habits {
                ack_delay: settings.acks.delay,
                fin_wait_2: settings.fin_wait_2,
                time_wait: settings.time_wait,
                time_wait_rule: settings.time_wait_rule,
                window_probe: settings.window_probe,
                fin_beyond_cwnd: settings.fin_beyond_cwnd,
                most_timeouts: settings.give_up.timeouts,
            },
            challenges: Challenges::new(settings.challenge, isn),
            counts: None,
            reported: None,
            wishes: Wishes::new(settings.nagle),
            quick: QuickAcks::new(&settings.acks),
        })
    }

    /// Returns the counts, to count something.
    pub(crate) fn counted(&mut self) -> &mut Counts {
        self.counts.get_or_insert_default()
    }

    /// Returns what the handshake that is under way goes by.
    pub(crate) fn terms(&self) -> &Terms {
        self.terms.as_ref().expect("the handshake is not over")
    }

    /// Returns the same, to be changed.
    pub(crate) fn terms_mut(&mut self) -> &mut Terms {
        self.terms.as_mut().expect("the handshake is not over")
    }

    /// Frees what only the handshake needs.
    pub(crate) fn end_handshake(&mut self) {
        self.terms = None;
    }
}
