//! Runs of an association. Each run shows one feature.

use eifel_base::time::Duration;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Chunk, ForwardTsn, Header, Parameters, Skipped, Unknown, Writer};
use eifel_packet::seq::Seq;
use eifel_recovery::registry::Choice;
use eifel_sctp::{Association, Delivery, IcmpError, Ports, Settings, ShutdownGuard, TimestampChunk};

use crate::talk::{Fate, PORTS, World, address, ms, settings};
use crate::told;

type Course = fn() -> World;

const COURSES: [(&str, Course); 16] = [
    ("open, one message each way, shutdown", plain),
    ("both ends call at once", collision),
    ("both ends shut down at once, and the last packets are lost", shutdowns),
    ("a message in fragments, larger than half of the receive buffer", fragments),
    ("streams, unordered and immediate messages, and a stream that there is not", streams),
    ("the third packet is lost", fast_retransmit),
    ("a spike, with timestamps and the retransmit bit", spike),
    ("the primary is silent for six seconds, and comes back", failover),
    ("the reader pauses", zero_window),
    ("small messages wait for company", nagle),
    ("data goes with the cookie, which is lost and comes too late", late_cookie),
    ("the caller begins anew", restart),
    ("chunks and parameters that are not known", unknown),
    ("data is given up", forward),
    ("a router wants shorter packets", too_big),
    ("nobody answers", silence),
];

/// Returns all runs as text.
pub fn all() -> String {
    let course = |(title, course): &(&str, Course)| {
        let world = course();
        format!("## {title}\n{}{}\n", told::packets(&world), told::applications(&world))
    };
    let settings = format!("## settings\n{:#?}\n\n", Settings::default());
    std::iter::once(settings).chain(COURSES.iter().map(course)).collect()
}

/// Packets take 10 ms. Those with the numbers in `lost` are dropped.
fn without(lost: &'static [usize]) -> Fate {
    let mut number = 0;
    Box::new(move |_| {
        number += 1;
        if lost.contains(&number) { Vec::new() } else { vec![ms(10)] }
    })
}

fn open(paths: usize, change: impl Fn(usize, &mut Settings), fate: Fate) -> World {
    let mut world = World::new(paths, change, fate);
    world.open();
    world
}

fn send(world: &mut World, end: usize, delivery: Delivery, len: usize) {
    world.end(end).unwrap().send(delivery, vec![7; len]).unwrap();
}

/// Injects a packet that the end has not sent itself.
fn forge(world: &mut World, end: usize, chunks: &[Chunk<'_>]) {
    let last = world.log.iter().rfind(|sent| sent.1 == end).expect("it has sent something");
    let header: Header = sctp::parse(&last.3).unwrap().0;
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&header, &mut bytes);
    chunks.iter().for_each(|chunk| writer.chunk(chunk).unwrap());
    writer.finish();
    world.inject(end, Addresses::new(address(end, 0), address(1 - end, 0)).unwrap(), bytes);
}

fn plain() -> World {
    let mut world = open(1, |_, _| {}, without(&[]));
    send(&mut world, 0, Delivery { ppid: [1, 2, 3, 4], ..Delivery::default() }, 10);
    send(&mut world, 1, Delivery { stream: 3, ..Delivery::default() }, 1452);
    world.run_for(ms(400));
    world.caller.shutdown();
    world.run_for(ms(400));
    world
}

fn collision() -> World {
    let mut world = World::new(2, |_, _| {}, without(&[]));
    let ports = Ports { local: PORTS.remote, remote: PORTS.local };
    let calls = |end| Association::connect(world.now, &settings(end, 2), ports, &[address(0, 0)], 9).unwrap();
    world.callee = Some(calls(1));
    send(&mut world, 0, Delivery::default(), 10);
    world.run_for(ms(2000));
    world
}

fn shutdowns() -> World {
    let guarded = |_, settings: &mut Settings| settings.shutdown_guard = ShutdownGuard::After(ms(9000));
    let mut world = open(1, guarded, without(&[9, 10, 11]));
    send(&mut world, 0, Delivery::default(), 10);
    world.caller.shutdown();
    world.run_for(ms(15));
    world.callee.as_mut().unwrap().shutdown();
    world.run_for(ms(20_000));
    world
}

fn fragments() -> World {
    let small = |end, settings: &mut Settings| {
        settings.pmtu = 600;
        settings.receive_buffer = if end == 1 { 3000 } else { 65_536 };
    };
    let mut world = open(1, small, without(&[7]));
    send(&mut world, 0, Delivery::default(), 5000);
    send(&mut world, 0, Delivery { unordered: true, ..Delivery::default() }, 700);
    world.run_for(ms(5000));
    world
}

fn streams() -> World {
    let few = |end, settings: &mut Settings| settings.inbound_streams = if end == 1 { 3 } else { 2048 };
    let mut world = World::new(1, few, without(&[6]));
    for stream in 0..6 {
        send(&mut world, 0, Delivery { stream, ..Delivery::default() }, 5);
    }
    world.open();
    for number in 0..6 {
        let (unordered, immediate) = (number % 3 == 1, number % 3 == 2);
        send(&mut world, 0, Delivery { stream: number % 3, unordered, immediate, ..Delivery::default() }, 1000);
        let refused = world.caller.send(Delivery { stream: 3, ..Delivery::default() }, vec![1]);
        assert!(refused.is_err(), "there are three streams");
    }
    world.run_for(ms(2000));
    world
}

fn fast_retransmit() -> World {
    let mut world = open(1, |_, _| {}, without(&[7]));
    for _ in 0..12 {
        send(&mut world, 0, Delivery::default(), 1452);
    }
    world.run_for(ms(500));
    world
}

fn spike() -> World {
    let told = |_, settings: &mut Settings| {
        (settings.timestamp_chunk, settings.retransmit_bit) = (TimestampChunk::Agreed, true);
        settings.engine.path.detect = Choice::named("eifel-cover-timestamps");
        settings.engine.retransmit = Choice::named("all-to-alternate");
    };
    let fate: Fate = Box::new(|sent| {
        let late = sent.from == 0 && sent.path == 0 && (1000..1200).contains(&(sent.now.as_nanos() / 1_000_000));
        vec![ms(if late { 1400 } else { 10 })]
    });
    let mut world = open(2, told, fate);
    world.run_for(ms(975));
    for _ in 0..14 {
        send(&mut world, 0, Delivery::default(), 1400);
    }
    world.run_for(ms(4000));
    world
}

fn failover() -> World {
    let fate: Fate = Box::new(|sent| {
        let silent = sent.path == 0 && (1..7).contains(&(sent.now.as_nanos() / 1_000_000_000));
        if silent { Vec::new() } else { vec![ms(10)] }
    });
    let quick = |_, settings: &mut Settings| {
        (settings.path_max_retransmits, settings.heartbeat_interval) = (1, Some(ms(2000)));
    };
    let mut world = open(2, quick, fate);
    for _ in 0..26 {
        send(&mut world, 0, Delivery::default(), 1000);
        world.run_for(ms(950));
    }
    world
}

fn zero_window() -> World {
    let mut world = open(1, |_, settings| settings.receive_buffer = 3000, without(&[]));
    world.reading = [false; 2];
    for _ in 0..6 {
        send(&mut world, 0, Delivery::default(), 1000);
    }
    world.run_for(ms(9000));
    world.reading = [true; 2];
    world.run_for(ms(3000));
    world
}

fn nagle() -> World {
    let mut world = open(1, |_, settings| settings.nagle = true, without(&[]));
    for _ in 0..40 {
        send(&mut world, 0, Delivery::default(), 100);
        world.run_for(ms(1));
    }
    world.run_for(ms(500));
    world
}

fn late_cookie() -> World {
    let short = |_, settings: &mut Settings| {
        (settings.data_with_cookie, settings.cookie_life) = (true, ms(900));
    };
    let mut world = World::new(1, short, without(&[3]));
    send(&mut world, 0, Delivery::default(), 10);
    world.run_for(ms(6000));
    world
}

fn restart() -> World {
    let mut world = open(2, |_, _| {}, without(&[]));
    send(&mut world, 0, Delivery::default(), 10);
    send(&mut world, 1, Delivery::default(), 20);
    world.run_for(ms(300));
    world.caller = Association::connect(world.now, &settings(0, 2), PORTS, &[address(1, 0)], 5).unwrap();
    send(&mut world, 0, Delivery::default(), 30);
    world.run_for(ms(600));
    world
}

fn unknown() -> World {
    let mut world = open(1, |_, _| {}, without(&[]));
    for kind in [0x3f_u8, 0x7f, 0xbf, 0xff] {
        let bytes = [kind, 0, 0, 6, 1, 2];
        let unknown = Chunk::Unknown(Unknown { kind, bytes: &bytes });
        forge(&mut world, 0, &[unknown, Chunk::Heartbeat(Parameters(&[0, 1, 0, 5, 9, 0, 0, 0]))]);
        world.run_for(ms(100));
    }
    forge(&mut world, 1, &[Chunk::Error(sctp::Causes(&[0, 6, 0, 8, 0x7f, 0, 0, 4]))]);
    forge(&mut world, 1, &[Chunk::ShutdownComplete { reflected: false }]);
    forge(&mut world, 1, &[Chunk::CookieAck, Chunk::Ecne { lowest: Seq(1) }, Chunk::ShutdownAck]);
    world.run_for(ms(100));
    world
}

fn forward() -> World {
    let mut world = open(1, |_, _| {}, without(&[5, 6]));
    for stream in [0, 1, 0, 1, 0] {
        send(&mut world, 0, Delivery { stream, ..Delivery::default() }, 1400);
    }
    world.run_for(ms(30));
    let skipped = [Skipped { stream: 0, ssn: 0 }.to_bytes(), Skipped { stream: 1, ssn: 0 }.to_bytes()];
    let cumulative = Seq(world.caller.initial_tsn().0.wrapping_add(1));
    forge(&mut world, 0, &[Chunk::ForwardTsn(ForwardTsn { cumulative, streams: &skipped })]);
    world.run_for(ms(2000));
    world
}

fn too_big() -> World {
    let mut world = open(1, |_, _| {}, without(&[]));
    send(&mut world, 0, Delivery::default(), 2800);
    world.run_for(ms(5));
    let tag = sctp::parse(&world.log.last().unwrap().3).unwrap().0.verification_tag;
    for (tag, mtu) in [(tag + 1, 600), (tag, 1000), (tag, 100)] {
        world.caller.handle_icmp(address(1, 0), tag, None, IcmpError::TooBig { mtu });
        send(&mut world, 0, Delivery::default(), 1400);
        world.run_for(ms(100));
    }
    world.caller.handle_icmp(address(1, 0), tag, None, IcmpError::NoSctp);
    world.run_for(ms(100));
    world
}

fn silence() -> World {
    let mut world = World::new(2, |_, settings| settings.max_init_retransmits = 3, Box::new(|_| Vec::new()));
    world.caller = Association::connect(
        world.now,
        &Settings { max_init_retransmits: 3, ..settings(0, 2) },
        PORTS,
        &[address(1, 0), address(1, 1)],
        1,
    )
    .unwrap();
    world.run_for(Duration::from_secs(60));
    world
}
