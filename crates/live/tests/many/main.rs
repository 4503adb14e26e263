//! Very many connections. A process of its own, so that what it measures of its memory is its own.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../host/pair.rs"]
mod pair;

use eifel_base::time::Duration;
use eifel_live::host::{Handle, Happening, Host};
use eifel_recovery::engine::Config;
use pair::{Pair, held};

fn connect(pair: &mut Pair) -> Handle {
    pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &held(), &Config::default()).unwrap()
}

fn opened(host: &mut Host) -> Vec<Handle> {
    let events = std::iter::from_fn(|| host.poll_event());
    events.filter(|(_, happening)| matches!(happening, Happening::Opened { .. })).map(|(handle, _)| handle).collect()
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let table = std::fs::read_to_string("/proc/self/statm").unwrap();
    table.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn ten_thousand_connections_are_held_and_each_is_small() {
    const COUNT: usize = 10_000;
    let mut pair = Pair::new();
    pair.b.listen(80, COUNT, &held(), &Config::default()).unwrap();
    let before = resident();
    let calls: Vec<Handle> = (0..COUNT).map(|_| connect(&mut pair)).collect();
    pair.run_for(Duration::from_secs(1));
    let accepted = opened(&mut pair.b);
    assert_eq!((pair.a.connections(), accepted.len()), (COUNT, COUNT));
    let each = (resident() - before) / (2 * COUNT as u64);
    eprintln!("{each} bytes for each end of an idle connection");
    assert!(each < 4096, "{each}");
    // Among all of them one is as good as alone.
    let (from, to) = (calls[COUNT / 2], accepted[0]);
    let peer = pair.b.connection(to).is_some();
    assert!(peer && pair.a.connection(from).is_some());
    // A thousand are closed and opened again in a second.
    for call in &calls[..1000] {
        pair.a.connection(*call).unwrap().abort();
    }
    pair.run_for(Duration::from_millis(500));
    (0..1000).for_each(|_| {
        connect(&mut pair);
    });
    pair.run_for(Duration::from_millis(500));
    assert_eq!((pair.a.connections(), pair.b.connections()), (COUNT, COUNT));
}
