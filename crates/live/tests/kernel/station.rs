//! The loop of a host on a device: it sleeps while nothing happens, and it sends everything before it ends.

use crate::rig::{allowed, rig, shared};
use eifel_base::time::{Duration, Instant};
use eifel_live::host::Host;
use eifel_live::station::{Application, Next};
use eifel_live::system::Error;
use eifel_live::system::tun::Tun;
use eifel_recovery::engine;

/// Does nothing until a second has passed, and counts its turns.
struct Idle {
    end: Option<Instant>,
    turns: u64,
}

impl Application for Idle {
    fn turn(&mut self, now: Instant, _: &mut Host) -> Result<Next, Error> {
        self.turns += 1;
        let end = *self.end.get_or_insert(now + Duration::from_secs(1));
        Ok(if now >= end { Next::Done } else { Next::Turn(end) })
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}
}

/// Opens this many connections to the kernel, and is done at once.
struct CallsAndLeaves(u32);

impl Application for CallsAndLeaves {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        for _ in 0..std::mem::take(&mut self.0) {
            host.connect(now, "10.9.0.1:7".parse().unwrap(), &shared(), &engine::Config::default()).unwrap();
        }
        Ok(Next::Done)
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}
}

#[test]
fn a_station_sleeps_while_nothing_happens() {
    if !allowed() {
        return;
    }
    let mut idle = Idle { end: None, turns: 0 };
    rig(Tun::create).station.run(&mut idle).unwrap();
    // The kernel may send a few packets of its own. A loop that does not sleep takes thousands of turns.
    assert!((2..200).contains(&idle.turns), "{}", idle.turns);
}

/// A station sends at most 256 packets in one go.
#[test]
fn a_station_ends_when_all_packets_have_left() {
    if !allowed() {
        return;
    }
    let mut rig = rig(Tun::create);
    rig.station.run(&mut CallsAndLeaves(600)).unwrap();
    let mut packet = Vec::new();
    assert!(!rig.station.host.poll_packet(Instant::ZERO + Duration::from_millis(1), &mut packet), "{packet:?}");
    assert_eq!(rig.station.lost(), 0);
}
