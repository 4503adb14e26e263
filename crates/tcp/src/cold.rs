//! State that few segments touch, kept separately so that the rest of a connection stays in the
//! caches. Part of it is needed during the handshake only.

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

/// State of a handshake.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) settings: Settings,
    /// Options of this end's SYN or SYN-ACK, without the timestamps.
    pub(crate) offer: Options,
    /// Data on the peer's SYN in a simultaneous open. Reported to the application when the
    /// connection is established.
    pub(crate) early: Option<Arrival>,
}

/// The settings that an open connection needs.
#[derive(Clone, Debug)]
pub(crate) struct Habits {
    pub(crate) ack_delay: Duration,
    pub(crate) fin_wait_2: Duration,
    pub(crate) time_wait: Duration,
    pub(crate) time_wait_rule: TimeWait,
    pub(crate) window_probe: WindowProbe,
    pub(crate) fin_beyond_cwnd: bool,
    /// Maximum number of consecutive timeouts. The next expiry ends the connection.
    pub(crate) most_timeouts: u32,
}

/// State that few segments touch.
#[derive(Clone, Debug)]
pub(crate) struct Cold {
    /// `None` once the connection is open, to save memory on idle connections.
    terms: Option<Box<Terms>>,
    pub(crate) habits: Habits,
    pub(crate) challenges: Challenges,
    /// `None` until an event is counted.
    pub(crate) counts: Option<Box<Counts>>,
    pub(crate) wishes: Wishes,
    pub(crate) quick: QuickAcks,
    /// The last duplicate that the peer reported by DSACK, and TSval of that ACK.
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

    /// Returns the counts for an update.
    pub(crate) fn counted(&mut self) -> &mut Counts {
        self.counts.get_or_insert_default()
    }

    /// Returns the state of the handshake in progress.
    pub(crate) fn terms(&self) -> &Terms {
        self.terms.as_ref().expect("the handshake is not over")
    }

    /// Returns the state of the handshake in progress, mutably.
    pub(crate) fn terms_mut(&mut self) -> &mut Terms {
        self.terms.as_mut().expect("the handshake is not over")
    }

    /// Frees the state of the handshake.
    pub(crate) fn end_handshake(&mut self) {
        self.terms = None;
    }
}
