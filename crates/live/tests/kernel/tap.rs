//! A tap on the devices of a namespace.

use crate::rig::allowed;
use eifel_live::system::clock::Clock;
use eifel_live::system::namespace::Namespace;
use eifel_watch::Tap;
use std::net::UdpSocket;
use std::time::Duration;

/// Nanoseconds by which two readings of the machine's time may differ.
const TOLERANCE: u64 = 1_000_000;

#[test]
fn a_packet_carries_the_kernels_receive_timestamp() {
    if !allowed() {
        return;
    }
    let sent_and_seen = Namespace::new().unwrap().within(|| {
        let (tap, clock) = (Tap::open()?, Clock::start());
        let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let mut room = [0; 2000];
        // Returns the lengths and times of a datagram's packets, between the times before and after it was sent.
        let mut pass = |number: usize| {
            let before = clock.unix_nanos(clock.now());
            one.send_to(&vec![7; 100 * number], other.local_addr().unwrap()).unwrap();
            let after = clock.unix_nanos(clock.now());
            // It is read some time after it was seen.
            std::thread::sleep(Duration::from_millis(30));
            let mut seen = Vec::new();
            while let Some((length, at)) = tap.read(&mut room)? {
                assert!(room[28..length].iter().all(|&byte| byte == 7));
                seen.push((length, at));
            }
            Ok::<_, eifel_live::system::Error>((number, before, seen, after))
        };
        // The kernel starts to record times some time after the request. Until then it gives the
        // time of the read.
        for _ in 0..100 {
            let (_, _, seen, after) = pass(1)?;
            if seen.iter().all(|&(_, at)| at <= after + TOLERANCE) {
                break;
            }
        }
        let found = (1..6).map(pass).collect::<Result<Vec<_>, _>>()?;
        assert_eq!(tap.missed()?, 0);
        Ok(found)
    });
    for (number, before, seen, after) in sent_and_seen.unwrap() {
        // Once as it leaves, and once as it arrives.
        assert_eq!(seen.iter().map(|&(length, _)| length).collect::<Vec<_>>(), [28 + 100 * number; 2]);
        for (_, at) in seen {
            assert!((before - TOLERANCE..=after + TOLERANCE).contains(&at), "{before} {at} {after}");
        }
    }
}

#[test]
fn a_packet_longer_than_the_buffer_is_truncated() {
    if !allowed() {
        return;
    }
    let (first, next) = Namespace::new()
        .unwrap()
        .within(|| {
            let tap = Tap::open()?;
            let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
            one.send_to(&[7; 400], other.local_addr().unwrap()).unwrap();
            std::thread::sleep(Duration::from_millis(30));
            let mut room = [0; 40];
            Ok((tap.read(&mut room)?, tap.read(&mut room)?))
        })
        .unwrap();
    assert_eq!([first, next].map(|read| read.map(|(length, _)| length)), [Some(40); 2]);
}
