//! A kernel that calls again from the same port while its last connection is in TIME-WAIT here.

use crate::rig::{allowed, rig, shared};
use eifel_base::time::{Duration, Instant};
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_live::station::{Application, Next};
use eifel_live::system::Error;
use eifel_live::system::tun::Tun;
use eifel_recovery::engine;
use eifel_tcp::settings::TimeWait;
use eifel_tcp::{Event, Settings};
use std::io::Read;
use std::net::TcpStream;

/// Closes each connection as soon as it opens, until the second one is closed by the peer too.
struct ClosesFirst {
    opened: Vec<Handle>,
    closed: usize,
    challenges: u64,
}

impl Application for ClosesFirst {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        while let Some((handle, happening)) = host.poll_event() {
            match happening {
                HostEvent::Opened { .. } => {
                    self.opened.push(handle);
                    host.connection(handle).unwrap().shutdown_write();
                }
                HostEvent::Event(Event::PeerClosed) => self.closed += 1,
                HostEvent::Ended(ended) => self.challenges += ended.connection.counts().challenges,
                HostEvent::Event(_) => {}
            }
        }
        Ok(if self.closed == 2 { Next::Done } else { Next::Turn(now + Duration::from_secs(1)) })
    }

    fn stop(&mut self, _: Instant, _: &mut Host) {}
}

/// Returns how often a kernel was challenged before its second call from the same port succeeded.
fn challenges(rule: TimeWait, address: &'static str) -> u64 {
    let mut rig = rig(Tun::create);
    let settings = Settings { time_wait_rule: rule, ..shared() };
    rig.station.host.listen(5001, 16, &settings, &engine::Config::default()).unwrap();
    let namespace = rig.namespace;
    let caller = std::thread::spawn(move || {
        namespace.enter().unwrap();
        // One port for all calls.
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40001 40001").unwrap();
        for call in 0..2 {
            let mut stream = TcpStream::connect(address).unwrap();
            assert_eq!(stream.local_addr().unwrap().port(), 40_001, "call {call}");
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
            drop(stream);
            // Waits until the kernel has forgotten its end.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    });
    let mut application = ClosesFirst { opened: Vec::new(), closed: 0, challenges: 0 };
    rig.station.run(&mut application).unwrap();
    assert!(application.opened.len() == 2 && application.opened[0] != application.opened[1]);
    caller.join().unwrap();
    application.challenges
}

/// A challenged kernel resets the last connection, and then repeats its SYN.
#[test]
fn a_kernel_reconnects_without_a_challenge_where_time_wait_reopens() {
    if !allowed() {
        return;
    }
    for address in ["10.9.0.2:5001", "[fd09::2]:5001"] {
        let counts = [TimeWait::Reopens, TimeWait::Rfc9293].map(|rule| challenges(rule, address));
        assert_eq!(counts, [0, 1], "{address}");
    }
}
