//! When a FIN is sent: with the last data, or alone as soon as the peer's window and cwnd have room
//! for its position. A setting lifts the limit of cwnd (RFC 9293, section 3.4; RFC 5681, section
//! 3.1).

use crate::acknowledge;
use crate::dice::Dice;
use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Flags;
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::settings::{SackUse, WindowScale};
use eifel_tcp::{Connection, Ports, Settings};

const CONNECTIONS: u64 = 5_000;
const MSS: u64 = 100;

/// Positions: data from 1 on, then the FIN.
struct Naive {
    /// The end of the data.
    written: u64,
    finished: bool,
    una: u64,
    nxt: u64,
    /// The first position beyond the peer's window.
    limit: u64,
    beyond_cwnd: bool,
}

impl Naive {
    /// Returns the lengths in positions of the segments sent now, with this cwnd.
    fn leaves(&mut self, cwnd: u64) -> Vec<u64> {
        let mut lengths = Vec::new();
        loop {
            let data = (self.written - self.nxt.min(self.written)).min(MSS);
            let last = self.finished && self.nxt <= self.written && self.nxt + data == self.written;
            // The window is a whole number of segments, so it never cuts data. It may cut off a
            // FIN.
            let with_fin = data + u64::from(last);
            let len = if self.nxt + with_fin <= self.limit { with_fin } else { data };
            let outstanding = self.nxt - self.una;
            let bare = len > 0 && data == 0;
            let room = outstanding == 0 || outstanding + len <= cwnd || bare && self.beyond_cwnd;
            if len == 0 || self.nxt + len > self.limit || !room {
                return lengths;
            }
            self.nxt += len;
            lengths.push(len);
        }
    }
}

/// Numbers of FINs sent alone with a full cwnd, alone otherwise, and with data, and of FINs that
/// waited.
#[derive(Debug, Default)]
struct Seen {
    beyond: u64,
    alone: u64,
    with_data: u64,
    waited: u64,
}

/// Runs a conversation with a connection built with one setting, and compares it with a model of
/// the other. Returns whether they agree.
fn conversation(dice: &mut Dice, (built, believed): (bool, bool), seen: &mut Seen) -> bool {
    let settings = Settings {
        mss: MSS as u16,
        receive_window: 50_000,
        window_scale: WindowScale::Off,
        timestamps: None,
        sack: SackUse::Off,
        fin_beyond_cwnd: built,
        ..Settings::default()
    };
    let window = Value::Integer(dice.from(1, 8) as i64);
    let congest = Choice::named("reno").with("initial_window_segments", window);
    let engine = Engine::new(&Config { congest, ..Config::default() }).unwrap_or_else(|error| panic!("{error}"));
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let (ports, isns) = (Ports { local: 1, remote: 2 }, (Seq(7), Seq(9)));
    let mut connection = Connection::established(&settings, &settings, engine, ports, isns, now);
    let limit = 1 + u64::from(settings.receive_window);
    let mut naive = Naive { written: 1, finished: false, una: 1, nxt: 1, limit, beyond_cwnd: believed };
    let closes_apart = dice.once_in(2);
    let count = dice.from(1, 20) * MSS;
    connection.write_counted(count);
    naive.written += count;
    if !closes_apart {
        connection.shutdown_write();
        naive.finished = true;
    }
    for _ in 0..60 {
        let cwnd = connection.engine().snapshot().cwnd;
        let left: Vec<u64> = std::iter::from_fn(|| eifel_testkit::connections::next(&mut connection, now))
            .map(|sent| u64::from(sent.segment.payload_len) + u64::from(sent.segment.flags.has(Flags::FIN)))
            .collect();
        let flight = naive.nxt - naive.una;
        let due = naive.leaves(cwnd);
        if left != due {
            return false;
        }
        if naive.nxt == naive.written + 1 {
            match due.last() {
                Some(1) if flight + due.iter().sum::<u64>() > cwnd => seen.beyond += 1,
                Some(1) => seen.alone += 1,
                _ => seen.with_data += 1,
            }
            return true;
        }
        seen.waited += u64::from(naive.finished && naive.nxt == naive.written);
        now += Duration::from_millis(10);
        if !naive.finished && naive.nxt == naive.written {
            connection.shutdown_write();
            naive.finished = true;
            continue;
        }
        naive.una = (naive.una + dice.from(1, 2) * MSS).min(naive.nxt);
        // The peer's window is sometimes closed, for a segment or only for the position of a FIN.
        let room = (naive.nxt - naive.una) + dice.from(0, 20) * MSS;
        naive.limit = naive.una + room;
        acknowledge(&mut connection, now, naive.una, room as u16);
    }
    true
}

#[test]
fn a_fin_waits_for_cwnd_unless_a_setting_says_otherwise() {
    for beyond in [false, true] {
        let (mut dice, mut seen) = (Dice::new(31), Seen::default());
        for number in 0..CONNECTIONS {
            assert!(conversation(&mut dice, (beyond, beyond), &mut seen), "{beyond}, connection {number}");
        }
        assert_eq!(seen.beyond > CONNECTIONS / 10, beyond, "{seen:?}");
        assert_eq!(seen.waited > CONNECTIONS / 10, !beyond, "{seen:?}");
        assert!(seen.alone > CONNECTIONS / 20 && seen.with_data > CONNECTIONS / 10, "{seen:?}");
    }
}

/// A planted fault: the connection has the other setting.
#[test]
fn the_model_notices_the_other_rule_for_a_fin() {
    for beyond in [false, true] {
        let mut dice = Dice::new(37);
        let differs = (0..1000).filter(|_| !conversation(&mut dice, (beyond, !beyond), &mut Seen::default())).count();
        assert!(differs > 50, "{differs}");
    }
}
