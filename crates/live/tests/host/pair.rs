//! Two hosts, 5 ms apart.

use eifel_base::time::{Duration, Instant};
use eifel_live::host::{Config, Host};
use eifel_tcp::Settings;
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};
use std::collections::VecDeque;

/// Settings of connections that hold bytes.
pub fn held() -> Settings {
    Settings {
        send: SendKind::Held { buffer: 1 << 16 },
        receive: ReceiveKind::Held,
        receive_window: 1 << 16,
        timestamps: Some(TimestampSettings::distinct([3, 4])),
        ..Settings::default()
    }
}

const DELAY: Duration = Duration::from_millis(5);

/// Two hosts: 10.0.0.1 and fd00::1, 10.0.0.2 and fd00::2.
pub struct Pair {
    pub a: Host,
    pub b: Host,
    pub now: Instant,
    /// Packets under way: when each arrives, whether at the second host, and its bytes. No packet
    /// overtakes another.
    pub under_way: VecDeque<(Instant, bool, Vec<u8>)>,
}

impl Pair {
    pub fn new() -> Self {
        Self::made(1500, usize::MAX)
    }

    /// Makes hosts whose devices take packets of `mtu` bytes, and that hold at most `most_connections`.
    pub fn made(mtu: u32, most_connections: usize) -> Self {
        let host = |number: u8| {
            let (v4, v6) = ([10, 0, 0, number].into(), format!("fd00::{number}").parse().unwrap());
            let secret = [u64::from(number), 7];
            Host::new(Config { v4: Some(v4), v6: Some(v6), mtu, secret, most_connections })
        };
        Self { a: host(1), b: host(2), now: Instant::ZERO, under_way: VecDeque::new() }
    }

    /// Runs both hosts, and delivers packets, for `length`.
    pub fn run_for(&mut self, length: Duration) {
        let end = self.now + length;
        loop {
            let mut packet = Vec::new();
            for (to_b, host) in [(true, &mut self.a), (false, &mut self.b)] {
                host.handle_timeout(self.now);
                while host.poll_packet(self.now, &mut packet) {
                    self.under_way.push_back((self.now + DELAY, to_b, packet.clone()));
                }
            }
            let arrival = self.under_way.front().map_or(Instant::NEVER, |first| first.0);
            let next = arrival.min(self.a.poll_timeout()).min(self.b.poll_timeout());
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            // Packets arrive one by one: the answers to each leave before the next arrives.
            if self.under_way.front().is_some_and(|first| first.0 <= self.now)
                && let Some((_, to_b, bytes)) = self.under_way.pop_front()
            {
                let host = if to_b { &mut self.b } else { &mut self.a };
                host.handle_packet(self.now, &bytes);
            }
        }
    }
}
