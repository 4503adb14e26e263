//! Two hosts on the devices of one cable, with and without offload.

use crate::cable::{bare, cable};
use eifel_base::time::{Duration, Instant};
use eifel_live::apps::client::{self, Client, End};
use eifel_live::apps::server::{self, Server};
use eifel_live::apps::{Amount, Notice};
use eifel_live::host::{Config, Host};
use eifel_live::station::{Application, Next, Station};
use eifel_live::system::Error;
use eifel_live::system::clock::Clock;
use eifel_live::system::tun::{Offload, Tun};
use eifel_recovery::engine;
use eifel_tcp::Settings;
use eifel_tcp::settings::{ReceiveKind, SendKind, TimestampSettings};

const BYTES: u64 = 2_000_000;
const EVERY: Duration = Duration::from_millis(1);

fn station(number: u8, tun: Tun) -> Station {
    let (v4, v6) = ([10, 0, 0, number].into(), format!("fd00::{number}").parse().unwrap());
    let secret = [number.into(), 7];
    Station::new(Config { v4: Some(v4), v6: Some(v6), mtu: 1500, secret, most_connections: 9 }, tun, Clock::start())
}

fn settings() -> Settings {
    Settings {
        send: SendKind::Held { buffer: 1 << 16 },
        receive: ReceiveKind::Held,
        receive_window: 1 << 16,
        timestamps: Some(TimestampSettings::default()),
        ..Settings::default()
    }
}

#[test]
fn every_byte_arrives_over_either_version_with_and_without_offload() {
    let ways = [false, true].map(|offloads| ["10.0.0.2:80", "[fd00::2]:80"].map(|peer| (peer, offloads)));
    for (peer, offloads) in ways.into_iter().flatten() {
        let ([one, other], _kept) = cable(offloads);
        let receiver = std::thread::spawn(move || {
            let mut station = station(2, other);
            let plan = server::Plan {
                port: 80,
                settings: settings(),
                sender: engine::Config::default(),
                calls: Some(1),
                checked: true,
                every: EVERY,
            };
            let mut answer = Server::begin(&mut station.host, plan, Box::new(|_, _| {})).unwrap();
            station.run(&mut answer).unwrap();
            answer.finish()
        });
        let mut station = station(1, one);
        let plan = client::Plan {
            peer: peer.parse().unwrap(),
            settings: settings(),
            sender: engine::Config::default(),
            preamble: Vec::new(),
            body: Amount::Bytes(BYTES),
            end: End::Close,
            every: EVERY,
        };
        let connected = std::rc::Rc::new(std::cell::Cell::new(0));
        let count = connected.clone();
        let watch = move |_: Instant, news: &Notice<'_>| {
            count.set(count.get() + u32::from(matches!(news, Notice::Connected)));
        };
        let mut call = Client::begin(Instant::ZERO, &mut station.host, plan, Box::new(watch)).unwrap();
        station.run(&mut call).unwrap();
        let (outcome, meter) = call.finish().unwrap();
        let reads = receiver.join().unwrap();
        assert_eq!((outcome.written, outcome.acknowledged, outcome.read), (BYTES, BYTES, 0), "{peer} {offloads}");
        assert_eq!(meter.intervals().iter().map(|interval| interval.bytes).sum::<u64>(), BYTES);
        assert_eq!((reads.len(), reads[0].bytes, connected.get()), (1, BYTES, 1));
        assert!(reads[0].meter.intervals().len() > 1);
    }
}

/// `struct virtio_net_hdr` of linux/virtio_net.h: flags, the kind of large segment, the length of
/// all headers, the payload per segment, the start of the checksummed bytes, and the offset of the
/// checksum from there.
#[test]
fn segments_with_partial_checksums_carry_a_virtio_header() {
    let how = |unit, is_v6| Offload { ip_len: if is_v6 { 40 } else { 20 }, headers_len: 52, unit, is_v6 };
    for (how, front) in [
        (how(1000, false), [1_u16 | 1 << 8, 52, 1000, 20, 16]),
        (how(1000, true), [1 | 4 << 8, 52, 1000, 40, 16]),
        (how(0, false), [1, 0, 0, 20, 16]),
    ] {
        let [one, other] = bare();
        let tun = Tun::over(one, "one", true);
        assert!(tun.write_offloaded([&[1, 2, 3], &[4], &[5, 6]], how).unwrap());
        let mut room = [0; 64];
        let length = rustix::io::read(&other, &mut room).unwrap();
        let expected = [front.map(u16::to_le_bytes).concat(), vec![1, 2, 3, 4, 5, 6]].concat();
        assert_eq!(room[..length], expected);
        assert!(tun.write(&[7, 8]).unwrap());
        let length = rustix::io::read(&other, &mut room).unwrap();
        assert_eq!(room[..length], [&[0; 10][..], &[7, 8]].concat());
    }
    // A packet that is read gets its checksum: of all bytes from byte 2 on, at byte 18.
    let ([one, other], _kept) = cable(true);
    let long: Vec<u8> = (100..140).collect();
    let how = Offload { ip_len: 2, headers_len: 2, unit: 0, is_v6: false };
    assert!(one.write_offloaded([&long, &[], &[]], how).unwrap());
    let read = crate::cable::read(&other);
    let sum = eifel_packet::checksum::Sum::default().bytes(&long[2..]).finish().to_be_bytes();
    assert_eq!(read[0][18..20], sum, "{read:?}");
    assert_eq!((&read[0][..18], &read[0][20..]), (&long[..18], &long[20..]));
}

/// Opens this many connections, and is done at once.
struct Calls(u32);

impl Application for Calls {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        for _ in 0..std::mem::take(&mut self.0) {
            host.connect(now, "10.0.0.2:7".parse().unwrap(), &settings(), &engine::Config::default()).unwrap();
        }
        Ok(Next::Done)
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}
}

#[test]
fn packets_dropped_by_a_full_device_queue_are_counted() {
    let ([one, other], _kept) = cable(false);
    let mut station = station(1, one);
    station.run(&mut Calls(3000)).unwrap();
    let came = crate::cable::read(&other).len() as u64;
    assert!(came > 0 && station.lost() > 0 && came + station.lost() == 3000, "{came} and {}", station.lost());
}
