//! Bulk to a kernel's receiver and from a kernel's sender, every byte compared.

use crate::rig::{allowed, rig, shared};
use eifel_base::time::Duration;
use eifel_live::apps::Amount;
use eifel_live::apps::client::{self, Client, End};
use eifel_live::apps::pattern::Pattern;
use eifel_live::apps::server::{self, Server};
use eifel_live::system::tun::Tun;
use eifel_recovery::engine;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

const BYTES: u64 = 20_000_000;

#[test]
fn a_kernel_receives_every_byte() {
    if !allowed() {
        return;
    }
    let ways =
        [Tun::create, Tun::create_offloading].map(|make| ["10.9.0.1:5001", "[fd09::1]:5001"].map(|to| (to, make)));
    for (address, make) in ways.into_iter().flatten() {
        let mut rig = rig(make);
        let listener = rig.namespace.within(|| Ok(TcpListener::bind(address).unwrap())).unwrap();
        let receiver = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (pattern, mut room, mut read) = (Pattern::new(), vec![0; 1 << 16], 0);
            loop {
                let count = stream.read(&mut room).unwrap();
                if count == 0 {
                    return read;
                }
                pattern.check(read, &room[..count]).unwrap();
                read += count as u64;
            }
        });
        let plan = client::Plan {
            peer: address.parse().unwrap(),
            settings: shared(),
            sender: engine::Config::default(),
            preamble: Vec::new(),
            body: Amount::Bytes(BYTES),
            end: End::Close,
            every: Duration::from_secs(1),
        };
        let now = eifel_base::time::Instant::ZERO;
        let mut call = Client::begin(now, &mut rig.station.host, plan, Box::new(|_, _| {})).unwrap();
        rig.station.run(&mut call).unwrap();
        let (outcome, meter) = call.finish().unwrap();
        assert_eq!((outcome.written, outcome.acknowledged, outcome.read), (BYTES, BYTES, 0));
        assert_eq!(meter.intervals().iter().map(|interval| interval.bytes).sum::<u64>(), BYTES);
        assert_eq!(receiver.join().unwrap(), BYTES);
    }
}

#[test]
fn a_kernels_bytes_arrive() {
    if !allowed() {
        return;
    }
    let ways =
        [Tun::create, Tun::create_offloading].map(|make| ["10.9.0.2:5001", "[fd09::2]:5001"].map(|to| (to, make)));
    for (address, make) in ways.into_iter().flatten() {
        let mut rig = rig(make);
        let plan = server::Plan {
            port: 5001,
            settings: shared(),
            sender: engine::Config::default(),
            calls: Some(1),
            checked: true,
            every: Duration::from_secs(1),
        };
        let mut answer = Server::begin(&mut rig.station.host, plan, Box::new(|_, _| {})).unwrap();
        let namespace = rig.namespace;
        let sender = std::thread::spawn(move || {
            namespace.enter().unwrap();
            let mut stream = TcpStream::connect(address).unwrap();
            let (pattern, mut written) = (Pattern::new(), 0);
            while written < BYTES {
                written += stream.write(pattern.from(written, BYTES - written)).unwrap() as u64;
            }
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        });
        rig.station.run(&mut answer).unwrap();
        sender.join().unwrap();
        let reads = answer.finish();
        assert_eq!((reads.len(), reads[0].bytes), (1, BYTES));
    }
}
