//! Which short segments wait (RFC 9293, sections 3.7.4 and 3.9.1.2). The model stores for every
//! octet whether the application, or a timeout, has pushed it.

use crate::acknowledge;
use crate::dice::Dice;
use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::SackUse;
use eifel_tcp::{Connection, Ports, Settings};

const CONNECTIONS: u64 = 5_000;
const STEPS: u64 = 60;
const MSS: u64 = 100;

/// The written octets, numbered from 1.
struct Naive {
    /// Whether each octet was pushed.
    pushed: Vec<bool>,
    una: u64,
    nxt: u64,
    nagle: bool,
    corked: bool,
    /// Whether `more_follows` was called after the last write.
    more: bool,
}

impl Naive {
    fn end(&self) -> u64 {
        1 + self.pushed.len() as u64
    }

    fn push(&mut self) {
        self.pushed.fill(true);
    }

    /// Returns the lengths of the segments sent now, with a window that always has room.
    fn leaves(&mut self) -> Vec<u64> {
        let mut lengths = Vec::new();
        loop {
            let waiting = &self.pushed[(self.nxt - 1) as usize..];
            let free = if self.corked || self.more {
                // Octets that were pushed, or that fill a segment.
                waiting.iter().take_while(|pushed| **pushed).count()
            } else if self.nagle && self.una < self.nxt {
                0
            } else {
                waiting.len()
            };
            let len = if waiting.len() as u64 >= MSS { MSS } else { free as u64 };
            if len == 0 {
                return lengths;
            }
            self.nxt += len;
            lengths.push(len);
        }
    }
}

#[test]
fn short_segments_wait_as_the_application_asks() {
    let mut dice = Dice::new(11);
    let mut held = 0_u64;
    for number in 0..CONNECTIONS {
        let nagle = dice.once_in(2);
        let settings = Settings { mss: MSS as u16, timestamps: None, sack: SackUse::Off, nagle, ..Settings::default() };
        let engine = Engine::new(&Config::default()).unwrap_or_else(|error| panic!("{error}"));
        let mut now = Instant::ZERO + Duration::from_secs(1);
        let (ports, isns) = (Ports { local: 1, remote: 2 }, (Seq(7), Seq(9)));
        let mut connection = Connection::established(&settings, &settings, engine, ports, isns, now);
        let mut naive = Naive { pushed: Vec::new(), una: 1, nxt: 1, nagle, corked: false, more: false };
        for step in 0..STEPS {
            now += Duration::from_millis(1);
            match dice.below(8) {
                0..=2 => {
                    let (count, more) = (dice.from(1, 150), dice.once_in(2));
                    connection.write_counted(count);
                    naive.pushed.extend(vec![false; count as usize]);
                    naive.more = more;
                    if more {
                        connection.more_follows();
                    }
                }
                3 => {
                    naive.corked = dice.once_in(2);
                    // Releasing the cork pushes all data.
                    naive.more &= naive.corked;
                    connection.cork(naive.corked);
                }
                4 => {
                    naive.nagle = dice.once_in(2);
                    connection.set_nagle(naive.nagle);
                    if !naive.nagle && (naive.corked || naive.more) {
                        naive.push();
                    }
                }
                5 if connection.poll_timeout() < now + Duration::from_secs(100) && naive.una == naive.nxt => {
                    now = connection.poll_timeout();
                    connection.handle_timeout(now);
                    naive.push();
                }
                _ => {
                    let news = naive.una < naive.nxt;
                    naive.una = naive.nxt;
                    acknowledge(&mut connection, now, naive.una, 60_000);
                    if news && naive.more && !naive.corked {
                        naive.push();
                    }
                }
            }
            let left: Vec<u64> = std::iter::from_fn(|| eifel_testkit::connections::next(&mut connection, now))
                .map(|sent| u64::from(sent.segment.payload_len))
                .collect();
            assert_eq!(left, naive.leaves(), "connection {number}, step {step}");
            held += u64::from(naive.nxt < naive.end());
            // Outstanding data is acknowledged from time to time, so that cwnd limits nothing.
            if naive.nxt - naive.una > 5 * MSS {
                naive.una = naive.nxt;
                acknowledge(&mut connection, now, naive.una, 60_000);
                if naive.more && !naive.corked {
                    naive.push();
                }
                let left: Vec<u64> = std::iter::from_fn(|| eifel_testkit::connections::next(&mut connection, now))
                    .map(|sent| u64::from(sent.segment.payload_len))
                    .collect();
                assert_eq!(left, naive.leaves(), "connection {number}, step {step}");
            }
        }
    }
    assert!(held > 10 * CONNECTIONS, "{held}");
}
