//! The driver for an association: several paths over one ledger of chunks, as in SCTP (RFC 9260, sections 6 and 7).
//!
//! Each path has its own window, timer and detectors. The association has the ledger, fast recovery
//! and the choice of a retransmission's path. An episode belongs to the path that declared the
//! loss, wherever its retransmissions go, and an undo restores that path alone.
//!
//! A position is an unwrapped TSN: 0 is the first chunk. Bytes count the chunk's header and padding (section 7.2).

mod abandon;
mod ledger;
mod probe;
mod quiet;
mod rack_tlp;
mod rules;
mod sack;
mod send;
mod snapshot;
mod timeout;

pub use ledger::Size;
pub use rack_tlp::{PARAMETERS as RACK_TLP_PARAMETERS, RACK_TLP};
pub use rules::Rules;
pub use sack::Sack;
pub use send::{Offer, PacketContents, PacketToSend};
pub use timeout::Expired;

use crate::congest::Window;
use crate::credit::Credit;
use crate::event::Event;
use crate::fact::TxId;
use crate::path::{Flight, Path};
use crate::recover::Alarm;
use crate::registry::{Choice, Error, Value, part};
use crate::retransmit::{Candidate, Retransmit};
use crate::rto::Sample;
use crate::view::Negotiated;
use eifel_base::time::{Duration, Instant};
use ledger::{Ledger, PathNews};
use probe::Probe;
use rack_tlp::RackTlp;
use rules::Permission;

/// The initial window over IPv6, in bytes, unless two packets are more.
const INITIAL_WINDOW_OVER_IPV6: u64 = 4344;

/// Identifies a path of an association. Paths count from 0 in the order in which they were added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PathId(pub usize);

/// The algorithms of an association.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The algorithms of each path. Of the recovery choices, [`RACK_TLP`] finds losses by time, with
    /// [`RACK_TLP_PARAMETERS`]. With any other, losses are found by counting, as in RFC 9260.
    pub path: crate::config::Config,
    /// The policy that chooses the path of a retransmission.
    pub retransmit: Choice,
    /// The rule that decides which acknowledged chunks let a path's window grow.
    pub credit: Choice,
    pub rules: Rules,
}

impl Default for Config {
    /// Returns plain RFC 9260, without detection.
    fn default() -> Self {
        let path = crate::config::Config {
            detect: Choice::named("none"),
            rto: Choice::named("rfc9260"),
            congest: Choice::named("sctp"),
            pace: Choice::named("burst-limit"),
            ..crate::config::Config::default()
        };
        Self { path, retransmit: Choice::named("rfc9260"), credit: Choice::named("last-path"), rules: Rules::Rfc9260 }
    }
}

impl Config {
    /// Returns a plain association by these rules, without detection.
    pub fn by(rules: Rules) -> Self {
        let usual = Self { rules, ..Self::default() };
        if rules == Rules::Rfc9260 {
            return usual;
        }
        let path = crate::config::Config {
            rto: Choice::named("rfc9260").with("initial_ms", Value::Duration(Duration::from_secs(3))),
            congest: Choice::named("sctp").with("rules", Value::Word("rfc2960".into())),
            // RFC 2960 has no Max.Burst.
            pace: Choice::named("none"),
            ..usual.path
        };
        Self { path, retransmit: Choice::named("all-to-alternate"), ..usual }
    }

    /// Checks that an association can be made of these choices.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn check(&self) -> Result<(), Error> {
        Engine::new(self.clone()).map(|_| ())
    }
}

/// A path, whether it may be used, and its packet size.
#[derive(Clone, Debug)]
struct Destination {
    path: Path,
    /// Bytes of chunks that a packet can hold (PMDCS, section 7.2).
    pmdcs: u32,
    /// Whether data may be sent on the path: it is confirmed and has not failed. Set by
    /// [`Engine::set_usable`].
    usable: bool,
    /// Whether the timer has expired and nothing has been acknowledged since. Only one packet may
    /// then be in flight (section 7.2.3) [rfc8540:3.18].
    one_packet: bool,
    /// Finds losses by time; `None` if they are found by counting.
    by_time: Option<Box<RackTlp>>,
    /// The timer that runs in place of the retransmission timer.
    alarm: Alarm,
}

/// The sender's algorithms for several paths. See the module's documentation.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
    retransmit: Box<dyn Retransmit>,
    credit: Box<dyn Credit>,
    destinations: Vec<Destination>,
    ledger: Ledger,
    /// The first position beyond fast recovery's exit point (section 7.2.4); `None` outside of fast
    /// recovery.
    exit: Option<u64>,
    permission: Permission,
    /// The probe that a path's detector has asked for, if one is under way.
    probe: Option<Probe>,
    /// When a closed window may be probed; [`Instant::NEVER`] while it is open (section 6.1, rule A).
    persist: Instant,
    /// Probes since the peer's window was last open.
    probes: u32,
    /// The newest SACK's news, indexed by path.
    news: Vec<PathNews>,
    /// The paths on which data may be sent, as [`find_usable`](Self::find_usable) last found them.
    usable: Vec<Candidate>,
    /// From this position on, no chunk has been sent twice.
    again_below: u64,
    /// The last result of [`find_quiet`](Self::find_quiet), while it holds.
    quiet: Option<PathId>,
    next_id: u64,
}

impl Engine {
    /// Creates an engine without paths.
    ///
    /// # Errors
    /// An algorithm or parameter that the registry does not know.
    pub fn new(config: Config) -> Result<Self, Error> {
        config.path.check()?;
        Ok(Self {
            retransmit: part::retransmit(&config.retransmit)?,
            credit: part::credit(&config.credit)?,
            ledger: Ledger::new(config.rules.miss_indications(), RackTlp::chosen(&config.path.recover)?.is_some()),
            config,
            destinations: Vec::new(),
            exit: None,
            permission: Permission::default(),
            probe: None,
            persist: Instant::NEVER,
            probes: 0,
            news: Vec::new(),
            usable: Vec::new(),
            again_below: 0,
            quiet: None,
            next_id: 0,
        })
    }

    /// Adds a path whose packets hold `pmdcs` bytes of chunks, over IPv4 or IPv6. Data may be sent
    /// on it once it is [usable](Self::set_usable).
    pub fn add_path(&mut self, now: Instant, pmdcs: u32, ipv6: bool) -> PathId {
        let (parts, _) = self.config.path.build().expect("the names were checked");
        let mut path = Path::new(parts);
        path.open(now, Negotiated { mss: pmdcs, sack: true, timestamps: false }, 0);
        if ipv6 {
            // Section 7.2.1: with IPv6's longer headers, three packets of 1500 bytes hold less.
            path.window.cwnd = path.window.cwnd.min(INITIAL_WINDOW_OVER_IPV6.max(2 * u64::from(pmdcs)));
        }
        let by_time = RackTlp::chosen(&self.config.path.recover).expect("the parameters were checked");
        let (usable, one_packet, alarm) = (false, false, Alarm::None);
        self.destinations.push(Destination { path, pmdcs, usable, one_packet, by_time, alarm });
        self.ledger.add_path();
        self.news.push(PathNews::default());
        PathId(self.destinations.len() - 1)
    }

    /// Records that both ends use timestamps. From now on their echoes measure round trips.
    pub fn agree_on_timestamps(&mut self) {
        self.quiet = None;
        for destination in &mut self.destinations {
            let mss = destination.pmdcs;
            destination.path.watch.agree(Negotiated { mss, sack: true, timestamps: true });
        }
    }

    /// Sets whether data may be sent on a path.
    pub fn set_usable(&mut self, path: PathId, usable: bool) {
        self.destinations[path.0].usable = usable;
    }

    /// Learns that the application has written although nothing waited to be sent. Max.Burst limits what
    /// the output routine emits at a time (RFC 9260, section 6.1, D).
    pub fn on_write(&mut self, now: Instant) {
        self.destinations.iter_mut().for_each(|destination| destination.path.on_write(now));
    }

    /// Lowers a path's PMDCS to at most `pmdcs` bytes.
    pub fn reduce_pmdcs(&mut self, path: PathId, pmdcs: u32) {
        let destination = &mut self.destinations[path.0];
        destination.pmdcs = destination.pmdcs.min(pmdcs);
        destination.path.watch.reduce_mss(pmdcs);
    }

    /// Returns a path's PMDCS: the bytes of chunks that a packet can hold.
    pub fn pmdcs(&self, path: PathId) -> u32 {
        self.destinations[path.0].pmdcs
    }

    /// Returns the smallest PMDCS of all paths: AMDCS, by which messages are fragmented (section 7.3).
    pub fn amdcs(&self) -> u32 {
        self.destinations.iter().map(|destination| destination.pmdcs).min().unwrap_or(0)
    }

    /// Processes a round trip that a handshake or HEARTBEAT has measured, not data.
    pub fn sample(&mut self, now: Instant, path: PathId, rtt: Duration) {
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        let destination = &mut self.destinations[path.0];
        let target = &mut destination.path;
        target.watch.update_view(now, una, nxt);
        let sample = Sample { rtt, acked: 0, window: target.window };
        target.watch.on_sample(rtt);
        target.rto.sample(&sample, target.watch.view());
        target.watch.on_smoothed(target.rto.srtt());
        destination.on_round_trip(rtt);
        self.set_alarm(path);
    }

    /// Returns a path's RTO, back-off included.
    pub fn rto(&self, path: PathId) -> Duration {
        self.destinations[path.0].path.rto.rto()
    }

    /// Backs off a path's timer, because a packet without data was not answered in time.
    pub fn back_off(&mut self, path: PathId) {
        self.destinations[path.0].path.rto.back_off();
    }

    /// Returns the number of paths.
    pub fn paths(&self) -> usize {
        self.destinations.len()
    }

    /// Returns the first position that is not acknowledged in order.
    pub fn una(&self) -> u64 {
        self.ledger.una()
    }

    /// Returns the first position that was never sent.
    pub fn nxt(&self) -> u64 {
        self.ledger.nxt()
    }

    /// Returns the bytes of user data under way, on all paths.
    pub fn data_under_way(&self) -> u64 {
        self.ledger.data_under_way()
    }

    /// Returns the bytes under way on a path.
    pub fn flight(&self, path: PathId) -> u64 {
        self.ledger.flight(path)
    }

    /// Returns the path on which the newest chunk was first sent.
    pub fn newest_path(&self) -> Option<PathId> {
        self.ledger.newest_path()
    }

    /// Returns a path's window.
    pub fn window(&self, path: PathId) -> Window {
        self.destinations[path.0].path.window
    }

    /// Returns whether the newest SACK acknowledged or reported a chunk that was last sent on
    /// `path`.
    pub fn delivered_on(&self, path: PathId) -> bool {
        let news = self.news[path.0];
        news.acked + news.sacked > 0
    }

    /// Returns whether [`poll_event`](Self::poll_event) would return an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.destinations.iter().any(|destination| destination.path.watch.has_events())
    }

    /// Returns the next event and its path. The events of one path are in order.
    pub fn poll_event(&mut self) -> Option<(PathId, Event)> {
        let destinations = self.destinations.iter_mut().enumerate();
        destinations
            .into_iter()
            .find_map(|(index, destination)| destination.path.watch.poll_event().map(|event| (PathId(index), event)))
    }

    /// Refreshes the view that a path's algorithms get.
    fn update_view(&mut self, now: Instant, path: PathId) {
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        self.destinations[path.0].path.watch.update_view(now, una, nxt);
    }

    /// Returns the flight of a path. The peer's window is left out, because it does not limit lost
    /// chunks.
    fn flight_of(&self, path: PathId) -> Flight {
        Flight { outstanding: self.ledger.flight(path), peer_window: u64::MAX }
    }

    /// Finds the paths on which data may be sent. If no path is usable, all count as usable,
    /// because some path has to be tried.
    fn find_usable(&mut self) {
        let none = self.destinations.iter().all(|destination| !destination.usable);
        let all = self.destinations.iter().enumerate();
        let candidates = all
            .filter(|(_, destination)| destination.usable || none)
            .map(|(index, destination)| Candidate { path: PathId(index), window: destination.path.window });
        self.usable.clear();
        self.usable.extend(candidates);
    }

    fn next_id(&mut self) -> TxId {
        let id = TxId(self.next_id);
        self.next_id += 1;
        id
    }
}
