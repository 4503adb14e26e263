//! State that few segments touch, kept separately so that the rest of a connection stays in the
//! caches. Part of it is needed during the handshake only.

use eifel_base::time::Duration;
use eifel_packet::segment::Options;
use eifel_packet::seq::Seq;
use eifel_recovery::fact::Block;

use crate::challenge::Challenges;
use crate::counts::Counts;
use crate::quick_acks::QuickAcks;
use crate::receive::Arrival;
use crate::settings::{Settings, TimeWait, WindowProbe};
use crate::tail::SendOptions;

/// State of a handshake.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeState {
    pub(crate) settings: Settings,
    /// Options of this end's SYN or SYN-ACK, without the timestamps.
    pub(crate) offer: Options,
    /// Data on the peer's SYN in a simultaneous open. Reported to the application when the
    /// connection is established.
    pub(crate) early: Option<Arrival>,
}

/// The settings that an open connection needs.
#[derive(Clone, Debug)]
pub(crate) struct OpenSettings {
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
pub(crate) struct RareState {
    /// `None` once the connection is open, to save memory on idle connections.
    handshake: Option<Box<HandshakeState>>,
    pub(crate) open_settings: OpenSettings,
    pub(crate) challenges: Challenges,
    /// `None` until an event is counted.
    pub(crate) counts: Option<Box<Counts>>,
    pub(crate) send_options: SendOptions,
    pub(crate) quick: QuickAcks,
    /// The last duplicate that the peer reported by DSACK, and TSval of that ACK.
    pub(crate) reported: Option<Box<(Block, u32)>>,
}

impl RareState {
    pub(crate) fn new(settings: &Settings, isn: Seq) -> Box<Self> {
        Box::new(Self {
            handshake: Some(Box::new(HandshakeState { settings: *settings, offer: settings.offer(), early: None })),
            open_settings: OpenSettings {
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
            send_options: SendOptions::new(settings.nagle),
            quick: QuickAcks::new(&settings.acks),
        })
    }

    /// Returns the counts for an update.
    pub(crate) fn counted(&mut self) -> &mut Counts {
        self.counts.get_or_insert_default()
    }

    /// Returns the state of the handshake in progress.
    pub(crate) fn handshake(&self) -> &HandshakeState {
        self.handshake.as_ref().expect("the handshake is not over")
    }

    /// Returns the state of the handshake in progress, mutably.
    pub(crate) fn handshake_mut(&mut self) -> &mut HandshakeState {
        self.handshake.as_mut().expect("the handshake is not over")
    }

    /// Frees the state of the handshake.
    pub(crate) fn end_handshake(&mut self) {
        self.handshake = None;
    }
}
