//! Lengths and numbers at the limits of what is taken, sent or answered.

use eifel_packet::sctp::{Causes, Chunk, Data, DataFlags, Parameters, Sack, Unknown};
use eifel_packet::seq::Seq;
use eifel_sctp::{Phase, TimestampChunk};

use crate::opening::{between, chunks, packet, secs, tag};
use crate::talk::{World, ms};

/// Bytes of chunks in a packet of 300 bytes: 20 of IP and 12 of SCTP are not.
const PMDCS: usize = 268;

fn small(stamped: bool) -> World {
    let change = move |_: usize, settings: &mut eifel_sctp::Settings| {
        settings.pmtu = 300;
        settings.timestamp_chunk = if stamped { TimestampChunk::Agreed } else { TimestampChunk::Off };
    };
    let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
    world.open();
    world.run_for(secs(1));
    world
}

/// Section 8.5.1, rule B: while the peer's tag is unknown, an ABORT cannot have it.
#[test]
fn an_abort_that_reflects_tag_0_does_not_end_a_call() {
    let mut world = World::still(1);
    world.settle();
    let abort = Chunk::Abort { reflected: true, causes: Causes(&[]) };
    world.caller.handle_packet(world.now, &between(1), &packet(1, 0, &[abort]));
    assert_eq!(world.caller.phase(), Phase::CookieWait);
    world.open();
}

/// Of 90 gaps, those that fit are listed, the lowest first.
#[test]
fn a_sack_with_more_gaps_than_fit_fills_its_packet() {
    for (stamped, before) in [(false, 0), (true, Chunk::TIMESTAMP_LEN)] {
        let mut world = small(stamped);
        let own = tag(&world.log[1].3);
        let initial = world.callee.as_ref().unwrap().initial_tsn().0;
        let flags = DataFlags::WHOLE.with(DataFlags::UNORDERED);
        let data = |number: u32| Data {
            flags,
            tsn: Seq(initial.wrapping_add(2 * number + 1)),
            stream: 0,
            ssn: 0,
            ppid: [0; 4],
            payload: &[1],
        };
        let all: Vec<_> = (0..90).map(|number| Chunk::Data(data(number))).collect();
        world.caller.handle_packet(world.now, &between(1), &packet(1, own, &all));
        world.settle();
        let sent = &world.log.last().unwrap().3;
        let Some(Chunk::Sack(sack)) = chunks(sent).pop() else { panic!("a gap is reported at once") };
        let gaps: Vec<_> = sack.gaps.iter().map(|gap| (gap.start, gap.end)).collect();
        let fit = (PMDCS - before - Sack::MIN_LEN) / 4;
        assert_eq!(gaps, (1..=fit as u16).map(|gap| (2 * gap, 2 * gap)).collect::<Vec<_>>());
        assert_eq!(sent.len(), 12 + PMDCS);
    }
}

/// A report that fits the packet to the byte leaves, and one that is longer by four does not.
#[test]
fn an_unknown_chunk_is_reported_if_the_report_fits_a_packet() {
    for (len, answers) in [(PMDCS - 8, 1), (PMDCS - 4, 0)] {
        let mut world = small(false);
        let own = tag(&world.log[1].3);
        let mut bytes = vec![0; len];
        bytes[..4].copy_from_slice(&[0xff, 0, (len >> 8) as u8, len as u8]);
        let unknown = Chunk::Unknown(Unknown { kind: 0xff, bytes: &bytes });
        let before = world.log.len();
        world.caller.handle_packet(world.now, &between(1), &packet(1, own, &[unknown]));
        world.settle();
        assert_eq!(world.log.len() - before, answers, "{len}");
        assert!(world.log[before..].iter().all(|sent| sent.3.len() == 12 + PMDCS));
    }
}

/// Section 6.10: what is answered shares a packet as long as it fits, padding included; one that fits no packet goes alone.
#[test]
fn answers_share_packets_up_to_the_last_byte() {
    let cases: [(&[usize], &[usize]); 4] =
        [(&[100, 168], &[280]), (&[100, 165], &[280]), (&[100, 169], &[112, 184]), (&[400, 4, 264], &[412, 280])];
    for (lens, packets) in cases {
        let mut world = small(false);
        let own = tag(&world.log[1].3);
        let before = world.log.len();
        for len in lens {
            let info = vec![0; len - 4];
            let heartbeat = Chunk::Heartbeat(Parameters(&info));
            world.caller.handle_packet(world.now, &between(1), &packet(1, own, &[heartbeat]));
        }
        world.settle();
        let sent: Vec<_> = world.log[before..].iter().map(|sent| sent.3.len()).collect();
        assert_eq!(sent, packets, "{lens:?}");
    }
}
