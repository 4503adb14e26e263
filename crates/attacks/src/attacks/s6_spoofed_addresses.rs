//! A caller lists other hosts' addresses as its own, to have them flooded.

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{self, Chunk, Parameter};
use eifel_sctp::{Association, Delivery, Listener, ListenerAction};

use crate::Attack;
use crate::associated::{PEER, PORTS, from_peer, init, packet, parsed, settings};
use crate::trial::Trial;

pub(super) const ATTACK: Attack = Attack {
    name: "s6-spoofed-addresses",
    summary: "an INIT that lists a hundred addresses of strangers, by an end that acknowledges nothing from them",
    source: "RFC 5062, sections 2 and 3; RFC 9260, section 5.4",
    defence: "an address that was not confirmed gets HEARTBEATs only, and ever fewer; at most 16 are kept",
    run,
};

const LISTED: u8 = 100;

#[expect(clippy::expect_used, reason = "the names are this crate's own, and the handshake is as it should be")]
fn run(trial: &mut Trial) {
    let mut listener = Listener::new(settings(), PORTS.local).expect("algorithms of the registry");
    let mut now = Instant::ZERO;
    let mut parameters = Vec::new();
    (1..=LISTED).for_each(|host| Parameter::Ipv4([198, 51, 100, host].into()).emit(&mut parameters));
    let call = packet(0, &[Chunk::Init(init(&parameters))]);
    let ListenerAction::Reply(_, answer) = listener.handle(now, &from_peer(0), &parsed(&call)) else { return };
    let answer = answer.to_bytes();
    let (_, mut chunks) = sctp::parse(&answer).expect("its own packet");
    let Some(Ok(Chunk::InitAck(ack))) = chunks.next() else { return };
    let cookie = ack.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::Cookie(cookie)) => Some(cookie.to_vec()),
        _ => None,
    });
    let echo = packet(ack.initiate_tag, &[Chunk::CookieEcho(&cookie.expect("it has a cookie"))]);
    let ListenerAction::Accepted(association) = listener.handle(now, &from_peer(0), &parsed(&echo)) else { return };
    let mut association: Association = *association;
    for _ in 0..100 {
        association.send(Delivery::default(), vec![0; 1000]).expect("there is room");
    }
    let (mut strangers, mut data, mut bytes_out, mut reached) = (0u64, 0u64, 0u64, std::collections::BTreeSet::new());
    let minute = Instant::ZERO + Duration::from_secs(60);
    while now < minute {
        let mut sent = eifel_sctp::Packet::default();
        while let Some(outgoing) = association.poll_transmit(now, &mut sent) {
            let to = association.addresses(&outgoing).destination();
            if to != PEER[0] {
                strangers += 1;
                bytes_out += sent.len() as u64;
                reached.insert(to);
                data += sent.chunks().filter(|chunk| matches!(chunk, Ok(Chunk::Data(_)))).count() as u64;
            }
        }
        now = now.max(association.poll_timeout());
        association.handle_timeout(now);
    }
    trial.exactly("DATA chunks to strangers", "chunks", data, 0);
    trial.at_most("strangers that are asked", "addresses", reached.len() as u64, 15);
    trial.at_most("packets to a stranger in a minute", "packets", strangers / reached.len().max(1) as u64, 8);
    trial.at_most("bytes to strangers, for one packet of 832 bytes", "bytes", bytes_out, 8 * 15 * 40);
}
