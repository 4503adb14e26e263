//! INITs from addresses that never answer.

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::Chunk;
use eifel_sctp::{Listener, ListenerAction};

use crate::Attack;
use crate::associated::{LOCAL, PORTS, init, packet, parsed, settings};
use crate::clock::cpu_nanos;
use crate::draw::Draw;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s3-init-flood",
    summary: "a million INITs from addresses that never answer",
    source: "RFC 9260, section 5.1.3; RFC 4987 for TCP's like",
    defence: "a listener keeps nothing of a caller: the signed cookie does",
    run,
};

fn run(trial: &mut Trial) {
    let inits = trial.times(1_000_000, 20_000);
    let mut listener = listener();
    let mut draw = Draw::new(1, ATTACK.name);
    let call = packet(0, &[Chunk::Init(init(&[]))]);
    let mut heard = Counted::default();
    let (nanos, ()) = cpu_nanos(|| {
        for number in 0..inits {
            let now = Instant::ZERO + Duration::from_micros(number);
            let Some(from) = from(draw.any()) else { continue };
            heard.count(&listener.handle(now, &from, &parsed(&call)));
        }
    });
    trial.at_most("answers", "packets", heard.answers, inits);
    trial.at_most("longest answer to 32 bytes", "bytes", heard.longest, 256);
    trial.exactly("associations opened", "associations", heard.opened, 0);
    trial.at_most("size of a listener, which has no table of callers", "bytes", size_of::<Listener>() as u64, 4096);
    trial.timed("an INIT, on average", "µs", nanos as f64 / 1e3 / inits as f64, 5.0);
}

/// Counts the listener's reactions to packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counted {
    answers: u64,
    /// Bytes of the longest answer.
    longest: u64,
    opened: u64,
}

impl Counted {
    fn count(&mut self, heard: &ListenerAction) {
        match heard {
            ListenerAction::Reply(_, answer) => {
                self.answers += 1;
                self.longest = self.longest.max(answer.len() as u64);
            }
            ListenerAction::Accepted(_) => self.opened += 1,
            ListenerAction::Nothing => {}
        }
    }
}

#[expect(clippy::expect_used, reason = "the names are this crate's own")]
fn listener() -> Listener {
    Listener::new(settings(), PORTS.local).expect("algorithms of the registry")
}

/// Builds the addresses of a packet from `source`. `None` if no host can have that address.
fn from(source: u32) -> Option<Addresses> {
    Addresses::new(core::net::Ipv4Addr::from(source).into(), LOCAL[0])
}

#[cfg(test)]
mod tests {
    use eifel_packet::sctp;

    use super::*;

    #[test]
    fn a_client_that_returns_its_cookie_counts_as_opened() {
        let mut listener = listener();
        let from = from(0x0102_0304).unwrap();
        let mut counted = Counted::default();
        let answer = listener.handle(Instant::ZERO, &from, &parsed(&packet(0, &[Chunk::Init(init(&[]))])));
        counted.count(&answer);
        let ListenerAction::Reply(_, answer) = answer else { panic!("an INIT is answered") };
        let bytes = answer.to_bytes();
        let longest = bytes.len() as u64;
        assert_eq!(counted, Counted { answers: 1, longest, opened: 0 });
        let (_, mut chunks) = sctp::parse(&bytes).unwrap();
        let Some(Ok(Chunk::InitAck(answered))) = chunks.next() else { panic!("an INIT ACK") };
        let cookie = answered.parameters.iter().find_map(|parameter| match parameter {
            Ok(sctp::Parameter::Cookie(cookie)) => Some(cookie),
            _ => None,
        });
        let echo = packet(answered.initiate_tag, &[Chunk::CookieEcho(cookie.unwrap())]);
        counted.count(&listener.handle(Instant::ZERO, &from, &parsed(&echo)));
        assert_eq!(counted, Counted { answers: 1, longest, opened: 1 });
        counted.count(&ListenerAction::Nothing);
        counted.count(&ListenerAction::Reply(from, eifel_sctp::Packet::default()));
        assert_eq!(counted, Counted { answers: 2, longest, opened: 1 });
    }
}
