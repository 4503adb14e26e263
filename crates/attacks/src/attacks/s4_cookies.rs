//! Cookies that were never issued, were changed, arrive late, or are replayed.

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{Chunk, Parameter};
use eifel_sctp::{Association, Listener, ListenerAction, Phase};

use crate::Attack;
use crate::associated::{PORTS, from_peer, init, packet, parsed, settings};
use crate::draw::Draw;
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s4-cookies",
    summary: "forged, changed, stale and replayed state cookies",
    source: "RFC 9260, sections 5.1.3 to 5.1.5 and 5.2.4",
    defence: "a signature of 128 bits over all of the cookie, the tag of the packet, and a life of a minute",
    run,
};

fn run(trial: &mut Trial) {
    let mut draw = Draw::new(1, ATTACK.name);
    let mut listener = listener();
    let now = Instant::ZERO + Duration::from_secs(1);
    let (tag, cookie) = call(&mut listener, now);
    let forged = trial.times(1 << 20, 1 << 14);
    let mut opened = 0;
    for _ in 0..forged {
        let bytes: Vec<u8> = (0..cookie.len()).map(|_| draw.any() as u8).collect();
        opened += u64::from(echo(&mut listener, now, tag, &bytes).is_some());
    }
    trial.exactly("associations opened by random cookies", "associations", opened, 0);
    let changed = (0..cookie.len() * 8).filter(|bit| {
        let mut bytes = cookie.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        echo(&mut listener, now, tag, &bytes).is_some()
    });
    trial.exactly("associations opened by cookies with one bit changed", "associations", changed.count() as u64, 0);
    let other = echo(&mut listener, now, tag ^ 1, &cookie).is_some();
    trial.exactly("associations opened under another tag", "associations", other.into(), 0);
    let late = echo(&mut listener, now + Duration::from_secs(61), tag, &cookie).is_some();
    trial.exactly("associations opened after a cookie's life", "associations", late.into(), 0);
    let good = echo(&mut listener, now, tag, &cookie);
    trial.exactly("associations opened by the cookie itself", "associations", good.is_some().into(), 1);
    if let Some(mut association) = good {
        let before = (association.engine().una(), association.streams());
        for second in 0..100 {
            let replayed = packet(tag, &[Chunk::CookieEcho(&cookie)]);
            association.handle(now + Duration::from_secs(second), &from_peer(0), &parsed(&replayed));
        }
        let same =
            association.phase() == Phase::Established && before == (association.engine().una(), association.streams());
        trial.exactly("associations that a replay leaves as they were", "associations", same.into(), 1);
    }
}

#[expect(clippy::expect_used, reason = "the names are this crate's own")]
fn listener() -> Listener {
    Listener::new(settings(), PORTS.local).expect("algorithms of the registry")
}

/// Sends the peer's INIT. Returns the listener's tag and cookie.
fn call(listener: &mut Listener, now: Instant) -> (u32, Vec<u8>) {
    let ListenerAction::Reply(_, answer) =
        listener.handle(now, &from_peer(0), &parsed(&packet(0, &[Chunk::Init(init(&[]))])))
    else {
        return (0, Vec::new());
    };
    let mut chunks = answer.chunks();
    let Some(Ok(Chunk::InitAck(answer))) = chunks.next() else { return (0, Vec::new()) };
    let cookie = answer.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::Cookie(cookie)) => Some(cookie.to_vec()),
        _ => None,
    });
    (answer.initiate_tag, cookie.unwrap_or_default())
}

fn echo(listener: &mut Listener, now: Instant, tag: u32, cookie: &[u8]) -> Option<Box<Association>> {
    match listener.handle(now, &from_peer(0), &parsed(&packet(tag, &[Chunk::CookieEcho(cookie)]))) {
        ListenerAction::Accepted(association) => Some(association),
        _ => None,
    }
}
