//! Packets out of the blue, and packets with a verification tag that is wrong for their chunks (RFC
//! 9260, sections 8.4 and 8.5).

use eifel_packet::sctp::{Cause, Causes, Chunk, Parameters};
use eifel_packet::seq::Seq;
use eifel_sctp::Phase;

use crate::opening::{between, chunks, heard, listener, packet, secs, tag};
use crate::talk::{World, parsed};

#[test]
fn packets_out_of_the_blue_are_answered_as_section_8_4_says() {
    let mut listener = listener();
    let mut stale = Vec::new();
    Cause::StaleCookie(1).emit(&mut stale);
    let silent = [
        Chunk::Abort { reflected: false, causes: Causes(&[]) },
        Chunk::ShutdownComplete { reflected: false },
        Chunk::CookieAck,
        Chunk::Error(Causes(&stale)),
    ];
    for chunk in silent {
        assert_eq!(heard(&mut listener, &packet(0, 5, &[chunk])), None, "{chunk:?}");
    }
    let answer = heard(&mut listener, &packet(0, 5, &[Chunk::ShutdownAck])).unwrap();
    assert_eq!((tag(&answer), chunks(&answer)), (5, vec![Chunk::ShutdownComplete { reflected: true }]));
    let answer = heard(&mut listener, &packet(0, 5, &[Chunk::Shutdown { cumulative: Seq(1) }])).unwrap();
    assert_eq!((tag(&answer), chunks(&answer)), (5, vec![Chunk::Abort { reflected: true, causes: Causes(&[]) }]));
    assert_eq!(heard(&mut listener, &packet(0, 0, &[Chunk::ShutdownAck])), None);
    // Rule 2 comes first, wherever the ABORT is. Rule 5 precedes rule 7, and rule 7 precedes rule
    // 8.
    let abort = Chunk::Abort { reflected: false, causes: Causes(&[]) };
    assert_eq!(heard(&mut listener, &packet(0, 5, &[Chunk::ShutdownAck, abort])), None);
    let answer = heard(&mut listener, &packet(0, 5, &[Chunk::CookieAck, Chunk::ShutdownAck])).unwrap();
    assert_eq!(chunks(&answer), [Chunk::ShutdownComplete { reflected: true }]);
    assert_eq!(heard(&mut listener, &packet(0, 5, &[Chunk::Shutdown { cumulative: Seq(1) }, Chunk::CookieAck])), None);
    // Rule 3, if the INIT cannot be accepted: the ABORT has the Initiate Tag, and its T bit is not
    // set.
    let mut world = World::still(1);
    world.settle();
    let (init, initiate) = (world.log[0].3.clone(), u32::from_be_bytes(world.log[0].3[16..20].try_into().unwrap()));
    let (_, answer) = eifel_sctp::out_of_the_blue(&between(0), &parsed(&init)).unwrap();
    let answer = answer.to_bytes();
    assert_eq!((tag(&answer), chunks(&answer)), (initiate, vec![abort]));
}

/// Section 8.5.1, rule E: during the handshake, a packet with a SHUTDOWN ACK is out of the blue,
/// whatever its tag. Its other chunks are ignored.
#[test]
fn chunks_beside_a_shutdown_ack_do_not_end_the_handshake() {
    let abort = Chunk::Abort { reflected: false, causes: Causes(&[]) };
    for own_tag in [false, true] {
        let mut world = World::still(1);
        world.settle();
        let own = u32::from_be_bytes(world.log[0].3[16..20].try_into().unwrap());
        let of = if own_tag { own } else { own ^ 0x5555 };
        let sent = |world: &World| world.log.iter().filter(|(_, from, ..)| *from == 0).count();
        let before = sent(&world);
        for company in [
            &[Chunk::ShutdownAck, abort][..],
            &[Chunk::Heartbeat(Parameters(&[0, 1, 0, 4])), Chunk::ShutdownAck, abort],
        ] {
            world.caller.handle(world.now, &between(1), &parsed(packet(1, of, company)));
            world.settle();
            assert_eq!((sent(&world), world.caller.phase()), (before, Phase::CookieWait));
        }
        world.caller.handle(world.now, &between(1), &parsed(packet(1, of, &[Chunk::ShutdownAck])));
        world.settle();
        let answer = &world.log.last().unwrap().3;
        assert_eq!((tag(answer), chunks(answer)), (of, vec![Chunk::ShutdownComplete { reflected: true }]));
        world.open();
    }
}

/// Section 8.5.1, rules B and C: the T bit says whose tag it is, and a reflected tag covers no
/// other chunks.
#[test]
fn the_t_bit_rule_holds_for_bundled_chunks_too() {
    let mut world = World::still(1);
    world.open();
    world.run_for(secs(1));
    let (own, peers) = (tag(&world.log[1].3), tag(&world.log[2].3));
    let before = world.log.len();
    let unanswered = Chunk::CookieAck;
    let reflected = Chunk::Abort { reflected: true, causes: Causes(&[]) };
    world.caller.handle(world.now, &between(1), &parsed(packet(1, own, &[unanswered, reflected])));
    let info = [0, 1, 0, 8, 1, 2, 3, 4];
    let company = [Chunk::ShutdownComplete { reflected: true }, Chunk::Heartbeat(Parameters(&info))];
    world.caller.handle(world.now, &between(1), &parsed(packet(1, peers, &company)));
    world.settle();
    assert_eq!((world.log.len(), world.caller.phase()), (before, Phase::Established));
    world.caller.handle(world.now, &between(1), &parsed(packet(1, peers, &[reflected])));
    assert_eq!(world.caller.phase(), Phase::Closed, "rule B: the peer's tag, and the T bit");
}

#[test]
fn packets_with_a_wrong_tag_are_ignored() {
    let mut world = World::still(1);
    world.open();
    world.run_for(secs(1));
    let before = world.log.len();
    let local = tag(&world.log[1].3) ^ 0x5555;
    for chunk in [
        Chunk::Abort { reflected: false, causes: Causes(&[]) },
        Chunk::Abort { reflected: true, causes: Causes(&[]) },
        Chunk::Shutdown { cumulative: Seq(0) },
        Chunk::ShutdownAck,
        Chunk::ShutdownComplete { reflected: true },
        Chunk::CookieAck,
        Chunk::Heartbeat(Parameters(&[0, 1, 0, 4])),
    ] {
        world.caller.handle(world.now, &between(1), &parsed(packet(1, local, &[chunk])));
    }
    world.settle();
    assert_eq!((world.log.len(), world.caller.phase()), (before, Phase::Established));
}
