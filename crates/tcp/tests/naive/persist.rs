//! When a zero window is probed, and how (RFC 9293, section 3.8.6.1), compared with a list of
//! times. The peer accepts or refuses a probe's byte, and receives the probe or not.

use crate::acknowledge;
use crate::dice::Dice;
use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::engine::{Config, Engine};
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::settings::{GiveUp, SackUse, WindowProbe, WindowScale};
use eifel_tcp::{Connection, Ports, Settings, State};

const CONNECTIONS: u64 = 3_000;
const MSS: u64 = 100;
const RTO: Duration = Duration::from_millis(500);
/// The longest interval, and the upper limit of the retransmission timer.
const LONGEST: Duration = Duration::from_secs(60);
/// Number of expiries in silence after which the next one ends the connection.
const PATIENCE: u64 = 5;
const ISNS: (Seq, Seq) = (Seq(7), Seq(9));

/// First position and length of a segment.
type Sent = (u64, u64);

/// A sender with data to send, whose peer's window is closed.
struct Naive {
    probe: WindowProbe,
    una: u64,
    nxt: u64,
    /// Probes since the window closed.
    probes: u32,
    /// Number of doublings of the retransmission timer.
    back_offs: u32,
    /// Transmissions of the outstanding byte.
    sendings: u32,
    /// Expiries since the peer was last heard that count towards giving up.
    silent: u64,
    next: Instant,
}

impl Naive {
    fn new(probe: WindowProbe, una: u64, now: Instant) -> Self {
        Self { probe, una, nxt: una, probes: 0, back_offs: 0, sendings: 0, silent: 0, next: now + RTO }
    }

    /// Handles expiry of the timer. Returns the probe, or `None` if the connection is given up.
    fn expires(&mut self) -> Option<Sent> {
        let outstanding = self.una < self.nxt;
        self.silent += u64::from(self.probe == WindowProbe::Empty || outstanding);
        if self.silent > PATIENCE {
            return None;
        }
        self.probes += 1;
        match self.probe {
            WindowProbe::Empty => {
                self.next += doubled(RTO, self.probes);
                Some((self.una - 1, 0))
            }
            WindowProbe::Data => {
                self.back_offs += 1;
                self.sendings += 1;
                self.nxt = self.una + 1;
                self.next += doubled(RTO, self.back_offs);
                Some((self.una, 1))
            }
        }
    }

    /// Handles an answer of the peer, whose window stays closed. The peer accepts the outstanding
    /// byte or refuses it.
    fn answered(&mut self, takes: bool, now: Instant) {
        self.silent = 0;
        if takes && self.una < self.nxt {
            // A byte that was sent once gives a sample, which ends the back-off (Karn's algorithm).
            if self.sendings == 1 {
                self.back_offs = 0;
            }
            self.sendings = 0;
            self.una = self.nxt;
            let rto = doubled(RTO, self.back_offs);
            self.next = now + doubled(rto, self.probes).max(rto);
        }
    }
}

fn doubled(time: Duration, times: u32) -> Duration {
    (time * (1 << times.min(30))).min(LONGEST)
}

fn connection(probe: WindowProbe, now: Instant) -> Connection {
    let give_up = GiveUp { timeouts: PATIENCE as u32, ..GiveUp::default() };
    let settings = Settings {
        mss: MSS as u16,
        receive_window: 50_000,
        window_scale: WindowScale::Off,
        timestamps: None,
        sack: SackUse::Off,
        window_probe: probe,
        give_up,
        ..Settings::default()
    };
    let rto = Choice::named("fixed").with("rto_ms", Value::Duration(RTO)).with("maximum_ms", Value::Duration(LONGEST));
    let engine = Engine::new(&Config { rto, ..Config::default() }).unwrap_or_else(|error| panic!("{error}"));
    Connection::established(&settings, &settings, engine, Ports { local: 1, remote: 2 }, ISNS, now)
}

/// Returns all segments sent now.
fn leaves(connection: &mut Connection, now: Instant) -> Vec<Sent> {
    let near = connection.engine().una();
    std::iter::from_fn(|| eifel_testkit::connections::next(connection, now))
        .map(|sent| (unwrap(near, ISNS.0, sent.segment.seq), u64::from(sent.segment.payload_len)))
        .collect()
}

/// Counts of a conversation's events.
#[derive(Debug, Default)]
struct Seen {
    probes: u64,
    taken: u64,
    opened: u64,
    given_up: u64,
}

/// Runs a conversation with a connection that probes as `built`, and expects probes as `believed`.
/// Returns the first difference as an error.
fn conversation(dice: &mut Dice, (built, believed): (WindowProbe, WindowProbe), seen: &mut Seen) -> Result<(), String> {
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let mut connection = connection(built, now);
    connection.write_counted(3 * MSS);
    leaves(&mut connection, now);
    for _ in 0..dice.from(1, 3) {
        // The window closes, with everything acknowledged.
        now += Duration::from_millis(dice.from(1, 50));
        let una = connection.engine().nxt();
        acknowledge(&mut connection, now, una, 0);
        now += Duration::from_millis(dice.from(1, 50));
        connection.write_counted(5 * MSS);
        if !leaves(&mut connection, now).is_empty() {
            return Err("data leaves into a closed window".into());
        }
        let mut naive = Naive::new(believed, una, now);
        for _ in 0..dice.from(1, 12) {
            if connection.poll_timeout() != naive.next {
                return Err(format!("{:?} is due, not {:?}", connection.poll_timeout(), naive.next));
            }
            now = naive.next;
            connection.handle_timeout(now);
            let (left, due) = (leaves(&mut connection, now), naive.expires());
            if left != Vec::from_iter(due) {
                return Err(format!("{left:?} leaves, not {due:?}"));
            }
            if due.is_none() {
                seen.given_up += 1;
                return if connection.state() == State::Closed { Ok(()) } else { Err("it goes on".into()) };
            }
            seen.probes += 1;
            let takes = dice.once_in(3);
            if dice.once_in(2) {
                now += Duration::from_millis(dice.from(1, 50));
                naive.answered(takes, now);
                seen.taken += u64::from(takes && built == WindowProbe::Data);
                acknowledge(&mut connection, now, naive.una, 0);
                if !leaves(&mut connection, now).is_empty() {
                    return Err("an answer is answered".into());
                }
            }
        }
        // The window opens for two segments, with everything acknowledged.
        now += Duration::from_millis(dice.from(1, 50));
        let una = naive.nxt;
        acknowledge(&mut connection, now, una, 2 * MSS as u16);
        let left = leaves(&mut connection, now);
        if left != [(una, MSS), (una + MSS, MSS)] {
            return Err(format!("{left:?} leaves into the window from {una} on"));
        }
        seen.opened += 1;
    }
    Ok(())
}

#[test]
fn a_closed_window_is_probed_at_intervals_that_double() {
    for probe in [WindowProbe::Data, WindowProbe::Empty] {
        let (mut dice, mut seen) = (Dice::new(23), Seen::default());
        for number in 0..CONNECTIONS {
            let outcome = conversation(&mut dice, (probe, probe), &mut seen);
            assert_eq!(outcome, Ok(()), "{probe:?}, connection {number}");
        }
        let Seen { probes, taken, opened, given_up } = seen;
        assert!(probes > 5 * CONNECTIONS && opened > CONNECTIONS && given_up > CONNECTIONS / 50, "{seen:?}");
        assert_eq!(taken > CONNECTIONS, probe == WindowProbe::Data, "{seen:?}");
    }
}

/// A planted fault: the connection probes by the other rule.
#[test]
fn the_model_notices_the_other_kind_of_window_probe() {
    for rules in [(WindowProbe::Data, WindowProbe::Empty), (WindowProbe::Empty, WindowProbe::Data)] {
        let mut dice = Dice::new(29);
        let differs = (0..100).all(|_| conversation(&mut dice, rules, &mut Seen::default()).is_err());
        assert!(differs, "{rules:?}");
    }
}
