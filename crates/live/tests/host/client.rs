//! A call beside other connections of its host.

use super::{SECOND, opened, sender};
use crate::pair::{Pair, held};
use eifel_base::time::{Duration, Instant};
use eifel_live::apps::Amount;
use eifel_live::apps::client::{Client, End, Plan};
use eifel_live::apps::server::{self, Server};
use eifel_live::host::Handle;
use eifel_live::station::{Application, Next};

const MS: Duration = Duration::from_millis(1);

fn plan(preamble: &[u8], body: Amount, end: End) -> Plan {
    let peer = "10.0.0.2:80".parse().unwrap();
    Plan { peer, settings: held(), sender: sender(), preamble: preamble.to_vec(), body, end, every: SECOND }
}

/// Lets the call and both hosts run for `length`; returns whether the call is over.
fn run(pair: &mut Pair, call: &mut Client<'_>, length: Duration) -> bool {
    let end = pair.now + length;
    while pair.now < end {
        if matches!(call.turn(pair.now, &mut pair.a).unwrap(), Next::Done) {
            return true;
        }
        pair.run_for(MS);
    }
    false
}

/// Reads all data that has arrived at the second host, and returns its length.
fn drain(pair: &mut Pair, handle: Handle) -> usize {
    let mut room = [0; 1 << 16];
    let mut count = 0;
    while let Some(read) = pair.b.connection(handle).map(|end| end.read(&mut room)).filter(|read| *read > 0) {
        count += read;
    }
    count
}

#[test]
fn events_of_other_connections_end_no_transfer() {
    let mut pair = Pair::new();
    pair.b.listen(80, 4, &held(), &sender()).unwrap();
    let mut call =
        Client::begin(Instant::ZERO, &mut pair.a, plan(b"abc", Amount::Bytes(10_000), End::Close), Box::new(|_, _| {}))
            .unwrap();
    // A connection to a port without a listener is refused during the call. Another one opens and
    // ends.
    let refused = "10.0.0.2:81".parse().unwrap();
    pair.a.connect(pair.now, refused, &held(), &sender()).unwrap();
    let other = pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &held(), &sender()).unwrap();
    assert!(!run(&mut pair, &mut call, MS * 50));
    let [to, _] = opened(&mut pair.b)[..] else { panic!("two connections open") };
    pair.a.connection(other).unwrap().abort();
    assert!(!run(&mut pair, &mut call, MS * 50));
    assert_eq!(drain(&mut pair, to), 10_003);
    pair.b.connection(to).unwrap().shutdown_write();
    assert!(run(&mut pair, &mut call, SECOND));
    let (outcome, _) = call.finish().unwrap();
    assert_eq!((outcome.written, outcome.acknowledged, outcome.read), (10_000, 10_003, 0));
}

/// A peer that closes early has not acknowledged all that was written.
#[test]
fn acknowledged_bytes_include_the_preamble() {
    for (preamble, body) in [(&b""[..], 10_000), (b"abc", 10_000), (b"abc", 0)] {
        let mut pair = Pair::new();
        pair.b.listen(80, 4, &held(), &sender()).unwrap();
        let wanted = plan(preamble, Amount::Bytes(body), End::PeerCloses);
        let mut call = Client::begin(Instant::ZERO, &mut pair.a, wanted, Box::new(|_, _| {})).unwrap();
        assert!(!run(&mut pair, &mut call, SECOND));
        let [to] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
        drain(&mut pair, to);
        pair.b.connection(to).unwrap().shutdown_write();
        assert!(run(&mut pair, &mut call, SECOND));
        let (outcome, _) = call.finish().unwrap();
        assert_eq!((outcome.written, outcome.acknowledged), (body, body + preamble.len() as u64));
    }
}

/// An answering end that is stopped is done, whether or not somebody has called.
#[test]
fn a_stopped_server_accepts_no_further_connection() {
    for calls in [0, 1, 2] {
        let mut pair = Pair::new();
        let plan =
            server::Plan { port: 80, settings: held(), sender: sender(), calls: None, checked: false, every: SECOND };
        let mut answer = Server::begin(&mut pair.b, plan, Box::new(|_, _| {})).unwrap();
        for _ in 0..calls {
            pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &held(), &sender()).unwrap();
        }
        pair.run_for(MS * 50);
        assert!(matches!(answer.turn(pair.now, &mut pair.b).unwrap(), Next::Turn(_)));
        assert_eq!(pair.b.connections(), calls);
        answer.stop(pair.now, &mut pair.b);
        pair.run_for(MS * 50);
        assert!(matches!(answer.turn(pair.now, &mut pair.b).unwrap(), Next::Done), "{calls}");
        assert_eq!((pair.a.connections(), pair.b.connections()), (0, 0));
    }
}
