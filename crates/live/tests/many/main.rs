//! Very many connections. They have a process of their own, so that the test measures no other
//! memory.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../host/pair.rs"]
mod pair;
#[path = "../host/plain.rs"]
mod plain;

use eifel_base::time::Duration;
use eifel_live::host::Handle;
use eifel_recovery::engine::Config;
use pair::{Pair, held};
use plain::{connect, opened};

/// The most bytes of memory for an idle connection.
const MOST_BYTES: usize = 2048;

/// Returns the bytes of memory in use.
fn in_use() -> usize {
    // SAFETY: the call reads the C library's counters, and returns them by value.
    unsafe { libc::mallinfo2() }.uordblks
}

#[test]
fn ten_thousand_connections_are_held_and_each_is_small() {
    const COUNT: usize = 10_000;
    /// Connections opened at a time, so that the queues of a host stay short.
    const FEW: usize = 50;
    let mut pair = Pair::new();
    pair.b.listen(80, COUNT, &held(), &Config::default()).unwrap();
    let before = in_use();
    let (mut calls, mut accepted): (Vec<Handle>, Vec<Handle>) = Default::default();
    while calls.len() < COUNT {
        calls.extend((0..FEW).map(|_| connect(&mut pair)));
        pair.run_for(Duration::from_millis(100));
        accepted.extend(opened(&mut pair.b));
        opened(&mut pair.a);
    }
    assert_eq!((pair.a.connections(), accepted.len()), (COUNT, COUNT));
    // Timers of the handshake are only removed when they are due.
    pair.run_for(Duration::from_secs(5));
    let each = (in_use() - before) / (2 * COUNT);
    let inline = size_of::<eifel_tcp::Connection>();
    eprintln!("{each} bytes for each end of an idle connection, {inline} of them inline");
    assert!(each < MOST_BYTES, "{each}");
    // Any of the connections is still found.
    let (from, to) = (calls[COUNT / 2], accepted[0]);
    let peer = pair.b.connection(to).is_some();
    assert!(peer && pair.a.connection(from).is_some());
    // A thousand connections are aborted, and as many opened, in a second.
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
