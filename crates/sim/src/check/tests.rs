//! Faults in a running world. The run calls its checkers, which must find each fault.

use super::Checkers;
use super::links::{Links, UnderWay};
use super::reading::Reading;
use super::sending::SendingSettings;
use crate::end::End;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::network::{Network, Observers};
use crate::packet::{Contents, NO_PACKET, Packet};
use crate::scenario::Scenario;
use crate::slab::Address;
use crate::world::{Running, World};
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, Segment};
use eifel_packet::seq::wrap;
use eifel_path::parcel::Parcel;
use eifel_path::queue::QueueConfig;
use eifel_path::queue::drop_tail::DropTail;
use eifel_tcp::Settings;
use eifel_tcp::settings::WindowProbe;

const FLOWS: &str = r#"
    [[flow]]
    name = "early"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 2_000_000 }
    [[flow]]
    name = "late"
    start_s = 0.5
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 2_000_000 }
"#;

const ONE_LINK: &str = r#"
    duration_s = 60
    [point_to_point]
    rate_bps = 2_000_000
    delay_ms = 50
    queue = { kind = "drop-tail", packets = 30 }
"#;

/// A proxy at the entrance of the second link, which loses packets.
const PROXY: &str = r#"
    duration_s = 60
    proxy = { links = ["wireless"] }
    node = [{ name = "sender" }, { name = "edge" }, { name = "receiver" }]
    [[link]]
    name = "wired"
    from = "sender"
    to = "edge"
    both = true
    rate_bps = 2_000_000
    delay_ms = 10
    [[link]]
    name = "wireless"
    from = "edge"
    to = "receiver"
    both = true
    rate_bps = 1_000_000
    delay_ms = 50
    loss = { kind = "random", rate = 0.05 }
"#;

/// Number of the link from the proxy's node to the sender.
const WIRED_BACK: usize = 1;

/// Events after which both flows are under way.
const EVENTS: u64 = 1500;

fn scenario(path: &str) -> Scenario {
    Scenario::parse(&format!("{path}{FLOWS}"), "test.toml".as_ref()).unwrap()
}

/// Runs until both flows are under way, calls `plant`, and runs on.
fn run_with_fault(path: &str, carries_bytes: bool, plant: impl FnOnce(&mut World<'_, true>)) {
    let scenario = scenario(path);
    let checkers = Some(Checkers::new(&scenario));
    let observers = Observers { checkers, wire: carries_bytes.then(Vec::new), recorder: None };
    let mut world = World::<true>::new(&scenario, 1, observers).unwrap();
    assert!(matches!(world.run(EVENTS), Err(Error::TooManyEvents { .. })));
    plant(&mut world);
    world.run(u64::MAX).unwrap();
}

fn ends<'a>(world: &'a mut World<'_, true>, flow: usize) -> &'a mut [Endpoint; 2] {
    let Running::Stream(stream) = &mut world.flows[flow] else { panic!("a flow of datagrams") };
    stream.ends.as_mut().unwrap()
}

fn checkers<'a>(world: &'a mut World<'_, true>) -> &'a mut Checkers {
    world.net.observers.checkers.as_mut().unwrap()
}

/// Sets the bytes that the first flow's application has read to `read(bytes read, bytes sent)`.
/// Then checks the flow.
fn read_to(world: &mut World<'_, true>, read: impl Fn(u64, u64) -> u64) {
    let Running::Stream(stream) = &mut world.flows[0] else { panic!("a flow of datagrams") };
    let [sender, receiver] = &mut **stream.ends.as_mut().unwrap();
    receiver.read = read(receiver.read, sender.connection.engine().nxt() - 1);
    let Observers { checkers: Some(checkers), .. } = &mut world.net.observers else { panic!("no checkers") };
    checkers.after_input(world.net.now, receiver.checked(), sender.checked());
}

#[test]
fn the_checkers_accept_a_run_without_fault() {
    run_with_fault(ONE_LINK, true, |_| {});
    run_with_fault(PROXY, false, |_| {});
}

#[test]
#[should_panic(expected = "a position went back")]
fn a_sender_that_forgets_what_was_acknowledged() {
    run_with_fault(ONE_LINK, false, |world| {
        let [Running::Stream(early), Running::Stream(late)] = &mut world.flows[..] else { panic!("two flows") };
        let (early, late) = (early.ends.as_mut().unwrap(), late.ends.as_mut().unwrap());
        for (one, other) in early.iter_mut().zip(late.iter_mut()) {
            std::mem::swap(&mut one.connection, &mut other.connection);
            std::mem::swap(&mut one.read, &mut other.read);
        }
        // Keeps the readers' checker from finding the fault first.
        checkers(world).readings.fill(Reading::default());
    });
}

#[test]
#[should_panic(expected = "more is read than was received")]
fn a_connection_that_forgets_what_it_received() {
    run_with_fault(ONE_LINK, false, |world| read_to(world, |_, sent| sent));
}

#[test]
#[should_panic(expected = "less is read than before")]
fn a_reader_that_reads_a_byte_twice() {
    run_with_fault(ONE_LINK, false, |world| read_to(world, |read, _| read - 1));
}

#[test]
#[should_panic(expected = "is not the one sent")]
fn a_reader_that_skips_a_byte() {
    run_with_fault(ONE_LINK, true, |world| ends(world, 0)[1].read += 1);
}

#[test]
#[should_panic(expected = "a segment's bytes are not the segment")]
fn packets_whose_bytes_are_swapped() {
    run_with_fault(ONE_LINK, true, |world| {
        let Network { observers: Observers { wire: Some(wire), .. }, .. } = &mut world.net else { panic!("no bytes") };
        wire.rotate_left(1);
    });
}

#[test]
#[should_panic(expected = "the queue is beyond its limit")]
fn a_queue_that_takes_more_than_its_limit() {
    run_with_fault(ONE_LINK, false, |world| {
        let limit = QueueConfig::DropTail(DropTail::Packets(15));
        checkers(world).links = Links::new([&limit, &limit].into_iter());
    });
}

#[test]
#[should_panic(expected = "does not agree with")]
fn a_link_that_loses_a_packet() {
    run_with_fault(ONE_LINK, false, |world| {
        let handle = world.net.slab.send(Address { destination: 1, ..Address::NONE });
        let Network { spans, outcomes, now, .. } = &mut world.net;
        let entered = spans[0].link.offer_through(*now, Parcel { handle, bytes: 1500 }, outcomes);
        assert!(entered.is_some(), "the packet is taken in, and gone");
    });
}

#[test]
#[should_panic(expected = "packets under way, and those that links hold")]
fn a_packet_that_no_link_holds() {
    run_with_fault(ONE_LINK, false, |world| {
        world.net.slab.vacant().packet = NO_PACKET;
        world.net.slab.send(Address { destination: 1, ..Address::NONE });
    });
}

#[test]
#[should_panic(expected = "packets under way, and those that links hold")]
fn a_packet_that_no_link_holds_when_the_run_is_over() {
    run_with_fault(ONE_LINK, false, |world| {
        world.net.slab.vacant().packet = NO_PACKET;
        world.net.slab.send(Address { destination: 1, ..Address::NONE });
        let now = world.net.now;
        let Network { spans, slab, observers, .. } = &mut world.net;
        // The rest of the run goes without checkers, so that they do not find the fault either.
        let mut checkers = observers.checkers.take().unwrap();
        checkers.finish(now, &UnderWay { spans, slab });
    });
}

#[test]
#[should_panic(expected = "time went back")]
fn an_event_before_the_last_one() {
    run_with_fault(ONE_LINK, false, |world| checkers(world).now = world.net.now + Duration::from_secs(3600));
}

#[test]
#[should_panic(expected = "in the past")]
fn an_event_that_was_forgotten() {
    run_with_fault(ONE_LINK, false, |world| {
        world.net.queue.set(0, Instant::ZERO);
        let now = world.net.now;
        let Network { queue, spans, slab, observers, .. } = &mut world.net;
        let Observers { checkers: Some(checkers), .. } = observers else { panic!("no checkers") };
        checkers.after_event(now, queue, None, &UnderWay { spans, slab });
    });
}

#[test]
#[should_panic(expected = "a proxy withholds data that has not arrived")]
fn a_proxy_that_believes_a_forged_acknowledgement() {
    // Repeated, so that one forged ACK arrives while a lost segment is not yet retransmitted.
    run_with_fault(PROXY, false, |world| {
        for round in 0..100 {
            acknowledge_all(world);
            assert!(matches!(world.run(EVENTS + 10 * round), Err(Error::TooManyEvents { .. })));
        }
    });
}

/// Shows the proxy an acknowledgement of everything that the first flow has written.
fn acknowledge_all(world: &mut World<'_, true>) {
    let sender = &ends(world, 0)[0];
    let (isn, end) = (sender.isn, sender.connection.end());
    let Network { slab, proxies: Some(proxies), .. } = &mut world.net else { panic!("no proxy") };
    let cell = slab.vacant();
    cell.packet = Packet { sender: End::To, ..NO_PACKET };
    cell.contents = Contents::Segment(Segment {
        source_port: 0,
        destination_port: 0,
        seq: wrap(1, isn),
        ack: wrap(end, isn),
        flags: Flags::ACK,
        window: 1000,
        options: Options::default(),
        payload_len: 0,
        ecn: Ecn::NotEct,
    });
    proxies.filter(1, WIRED_BACK, slab.cell(slab.next_handle()));
}

/// Runs a flow whose application stops in its second round trip. Its 15 segments then fill cwnd, so
/// a FIN leaves alone. The checkers believe that the ends have the settings `believed`.
fn run_stopped(believed: &Settings, beyond: bool) {
    let text = format!(
        "{ONE_LINK}
        [tcp]
        fin_beyond_cwnd = {beyond}
        payload_bytes = 1000
        send_buffer_bytes = 15_000
        [[flow]]
        name = \"stopped\"
        from = \"sender\"
        to = \"receiver\"
        end_s = 0.29
        application = {{ kind = \"bulk\", endless = true }}"
    );
    run_believing(&text, believed);
}

/// Runs a flow whose reader pauses, so that its window closes. The checkers believe that the ends
/// have the settings `believed`.
fn run_paused(believed: &Settings, probe: &str) {
    let text = format!(
        "{ONE_LINK}
        [tcp]
        window_probe = \"{probe}\"
        receive_window_bytes = 20_000
        [[flow]]
        name = \"paused\"
        from = \"sender\"
        to = \"receiver\"
        reading = {{ bytes = 20_000, every_ms = 5000 }}
        application = {{ kind = \"bulk\", bytes = 100_000 }}"
    );
    run_believing(&text, believed);
}

fn run_believing(text: &str, believed: &Settings) {
    let scenario = Scenario::parse(text, "test.toml".as_ref()).unwrap();
    let mut checkers = Checkers::new(&scenario);
    checkers.settings.fill(SendingSettings::from(believed));
    let observers = Observers { checkers: Some(checkers), wire: None, recorder: None };
    World::<true>::new(&scenario, 1, observers).unwrap().run(u64::MAX).unwrap();
}

#[test]
fn ends_that_do_as_they_are_set_break_no_law() {
    run_stopped(&Settings::default(), false);
    run_stopped(&Settings { fin_beyond_cwnd: true, ..Settings::default() }, true);
    run_paused(&Settings::default(), "data");
    run_paused(&Settings { window_probe: WindowProbe::Empty, ..Settings::default() }, "empty");
}

#[test]
#[should_panic(expected = "a FIN leaves though cwnd is full")]
fn a_fin_that_does_not_wait() {
    run_stopped(&Settings::default(), true);
}

#[test]
#[should_panic(expected = "a FIN waits that may leave")]
fn a_fin_that_waits() {
    run_stopped(&Settings { fin_beyond_cwnd: true, ..Settings::default() }, false);
}

#[test]
#[should_panic(expected = "a closed window is probed with data")]
fn a_probe_with_data() {
    run_paused(&Settings { window_probe: WindowProbe::Empty, ..Settings::default() }, "data");
}

#[test]
#[should_panic(expected = "an old sequence number leaves that probes no window")]
fn a_probe_without_data() {
    run_paused(&Settings::default(), "empty");
}
