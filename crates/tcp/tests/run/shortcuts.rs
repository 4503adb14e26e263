//! An end that stores received bytes does not use the fast paths of [`Connection`]. An end that
//! counts them does. Both must send the same segments at the same times.

use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::{Config, Engine};
use eifel_tcp::settings::{AckSettings, ReceiveKind, SendKind};
use eifel_tcp::{Connection, Ports, Settings};
use eifel_testkit::connections::{Flying, Pair, Sent};
use proptest::prelude::*;

const BUFFER: u32 = 30_000;

/// An action of the application at an end.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, usize),
    Read(usize, usize),
    /// Calls `more_follows`, corks and uncorks, or switches Nagle's algorithm.
    Hold(usize, u8),
    Close(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2usize, 1..40_000usize).prop_map(|(end, bytes)| Step::Write(end, bytes)),
        4 => (0..2usize, 1..40_000usize).prop_map(|(end, bytes)| Step::Read(end, bytes)),
        2 => (0..2usize, 0..5u8).prop_map(|(end, what)| Step::Hold(end, what)),
        1 => (0..2usize).prop_map(Step::Close),
        12 => (1..200u64).prop_map(Step::Wait),
    ]
}

/// Returns two ends. The first one connects to the second.
fn pair(settings: &Settings) -> Pair {
    let engine = || Engine::new(&Config::default()).expect("the usual algorithms");
    let ports = Ports { local: 1, remote: 2 };
    let back = Ports { local: 2, remote: 1 };
    Pair::new([
        Connection::connect(settings, engine(), ports, Seq(7)),
        Connection::listen(settings, engine(), back, Seq(u32::MAX - 9000)),
    ])
}

/// Performs all steps, and returns all segments with their times. `fates` are the delays of
/// successive segments in ms; 0 loses one.
fn converse(mut pair: Pair, holds: bool, steps: &[Step], fates: &[u64]) -> Vec<(Instant, usize, Sent)> {
    let mut sent = Vec::new();
    let mut pass = |pair: &mut Pair| {
        let now = pair.now;
        pair.send(|flying: &Flying| {
            let fate = fates[sent.len() % fates.len()];
            sent.push((now, flying.from, flying.sent));
            (fate > 0).then(|| Duration::from_millis(fate))
        });
    };
    for &step in steps {
        match step {
            Step::Write(end, bytes) if holds => _ = pair.ends[end].write(&vec![0; bytes]),
            Step::Write(end, bytes) => _ = pair.ends[end].write_counted(bytes as u64),
            Step::Read(end, bytes) if holds => _ = pair.ends[end].read(&mut vec![0; bytes]),
            Step::Read(end, bytes) => _ = pair.ends[end].skip(bytes as u64),
            Step::Hold(end, 0) => pair.ends[end].more_follows(),
            Step::Hold(end, what @ 1..=2) => pair.ends[end].cork(what == 1),
            Step::Hold(end, what) => pair.ends[end].set_nagle(what == 3),
            Step::Close(end) => pair.ends[end].shutdown_write(),
            Step::Wait(millis) => {
                let until = pair.now + Duration::from_millis(millis);
                while pair.due() <= until {
                    pair.step(pair.due());
                    pass(&mut pair);
                }
                pair.step(until);
            }
        }
        pass(&mut pair);
    }
    sent
}

proptest! {
    #[test]
    fn shortcuts_change_no_segment(
        steps in prop::collection::vec(step(), 1..60),
        mut fates in prop::collection::vec(prop_oneof![1 => Just(0), 20 => Just(20u64), 1 => 1..60u64], 1..40),
        timestamps in any::<bool>(),
        nagle in any::<bool>(),
        quick in prop_oneof![Just(0), 1..20u32],
    ) {
        fates.push(20);
        let acks = AckSettings { quick, ..AckSettings::default() };
        let usual = Settings { nagle, acks, receive_window: BUFFER, mss: 1000, ..Settings::default() };
        let usual = Settings { timestamps: usual.timestamps.filter(|_| timestamps), ..usual };
        let counted =
            Settings { send: SendKind::CountedUpTo { buffer: u64::from(BUFFER) }, receive: ReceiveKind::Counted, ..usual };
        let held = Settings { send: SendKind::Held { buffer: BUFFER as usize }, receive: ReceiveKind::Held, ..usual };
        let quick = converse(pair(&counted), false, &steps, &fates);
        let slow = converse(pair(&held), true, &steps, &fates);
        prop_assert_eq!(quick, slow);
    }
}
