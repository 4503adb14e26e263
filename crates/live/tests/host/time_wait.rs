//! A peer that calls again from the same port while its last connection is in TIME-WAIT (RFC 1122, section 4.2.2.13).

use super::{SECOND, connect, events, opened, sender};
use crate::pair::{Pair, held};
use eifel_base::time::Instant;
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_tcp::settings::TimeWait;
use eifel_tcp::{Settings, State};

/// A host in TIME-WAIT, and the peer's last segment, which has its numbers and ports.
struct Waiting {
    pair: Pair,
    last: Segment,
    addresses: Addresses,
    old: Handle,
}

impl Waiting {
    fn new(settings: &Settings) -> Self {
        let mut pair = Pair::new();
        pair.b.listen(80, 1, settings, &sender()).unwrap();
        let from = connect(&mut pair, "10.0.0.2:80");
        pair.run_for(SECOND);
        let [old] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
        pair.b.connection(old).unwrap().shutdown_write();
        pair.run_for(SECOND);
        pair.a.connection(from).unwrap().shutdown_write();
        let packets = all_packets(&mut pair.a, pair.now);
        let (header, last, _) = datagram::parse(packets.last().unwrap()).unwrap();
        assert!(last.flags.has(Flags::FIN));
        let addresses = header.addresses;
        pair.b.handle_packet(pair.now, packets.last().unwrap());
        all_packets(&mut pair.b, pair.now);
        events(&mut pair.b);
        let mut waiting = Self { pair, last, addresses, old };
        assert!(waiting.waits());
        waiting
    }

    /// Returns whether the old connection is in TIME-WAIT.
    fn waits(&mut self) -> bool {
        self.pair.b.connection(self.old).is_some_and(|old| matches!(old.state(), State::TimeWait { .. }))
    }

    /// Returns a segment of the peer without options, `beyond` positions after its FIN.
    fn segment(&self, flags: Flags, beyond: u32) -> Segment {
        let seq = Seq(self.last.seq.0.wrapping_add(beyond));
        Segment { seq, flags, options: Default::default(), payload_len: 0, ..self.last }
    }

    /// Gives the host a segment, and returns all answers.
    fn gets(&mut self, segment: &Segment) -> Vec<Segment> {
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(self.addresses), segment, &[], &mut bytes).unwrap();
        self.pair.b.handle_packet(self.pair.now, &bytes);
        let packets = all_packets(&mut self.pair.b, self.pair.now);
        packets.iter().map(|packet| datagram::parse(packet).unwrap().1).collect()
    }

    /// Lets the peer call, and returns the SYN and its answer.
    fn calls(&mut self) -> (Segment, Segment) {
        let syn = self.segment(Flags::SYN, 5000);
        let [answer] = self.gets(&syn)[..] else { panic!("one answer") };
        assert_eq!((answer.flags, answer.ack.0), (Flags::SYN.with(Flags::ACK), syn.seq.0.wrapping_add(1)));
        (syn, answer)
    }
}

fn all_packets(host: &mut Host, now: Instant) -> Vec<Vec<u8>> {
    let mut packet = Vec::new();
    std::iter::from_fn(|| host.poll_packet(now, &mut packet).then(|| packet.clone())).collect()
}

fn reopening() -> Settings {
    Settings { time_wait_rule: TimeWait::Reopens, ..held() }
}

#[test]
fn a_peer_that_reconnects_gets_a_new_connection() {
    let mut waiting = Waiting::new(&reopening());
    let (syn, answer) = waiting.calls();
    // Beyond everything that the last connection has sent.
    let beyond = answer.seq.0.wrapping_sub(waiting.last.ack.0);
    assert!(0 < beyond && beyond < 1 << 31, "{beyond}");
    assert!(waiting.waits(), "until the handshake is complete");
    assert_eq!(waiting.calls(), (syn, answer), "a SYN once more has the same answer");
    let ack = Segment { ack: Seq(answer.seq.0.wrapping_add(1)), ..waiting.segment(Flags::ACK, 5001) };
    waiting.gets(&ack);
    let happened = events(&mut waiting.pair.b);
    assert!(happened.iter().any(|(handle, of)| *handle == waiting.old && matches!(of, HostEvent::Ended(_))));
    let opens = |(handle, of): &(Handle, HostEvent)| matches!(of, HostEvent::Opened { port: 80 }).then_some(*handle);
    let [next] = happened.iter().filter_map(opens).collect::<Vec<_>>()[..] else { panic!("one connection opens") };
    assert_eq!(waiting.pair.b.connection(next).unwrap().state(), State::Established);
    assert_eq!((waiting.waits(), waiting.pair.b.connections()), (false, 1));
}

#[test]
fn an_old_duplicate_syn_leaves_the_connection_established() {
    let mut waiting = Waiting::new(&reopening());
    let (_, answer) = waiting.calls();
    // The peer never called: it resets the answer.
    assert_eq!(waiting.gets(&waiting.segment(Flags::RST, 5001)), []);
    assert!(waiting.waits());
    let late = Segment { ack: Seq(answer.seq.0.wrapping_add(1)), ..waiting.segment(Flags::ACK, 5001) };
    let [told] = waiting.gets(&late)[..] else { panic!("one answer") };
    assert_eq!((told.flags, told.seq), (Flags::ACK, waiting.last.ack), "the old connection answers");
    assert!(waiting.waits() && waiting.pair.b.connections() == 1);
}

#[test]
fn an_older_syn_or_a_full_backlog_opens_no_connection() {
    let mut waiting = Waiting::new(&reopening());
    assert_eq!(waiting.gets(&waiting.segment(Flags::SYN, 0)), []);
    let other = Segment { source_port: waiting.last.source_port ^ 1, ..waiting.segment(Flags::SYN, 5000) };
    assert_eq!(waiting.gets(&other).len(), 1);
    assert_eq!(waiting.gets(&waiting.segment(Flags::SYN, 5000)), [], "no cookie has a number beyond the last ones");
    assert!(waiting.waits());
}

#[test]
fn a_syn_in_time_wait_is_challenged_by_default() {
    let mut waiting = Waiting::new(&held());
    let [told] = waiting.gets(&waiting.segment(Flags::SYN, 5000))[..] else { panic!("one answer") };
    assert_eq!((told.flags, told.seq), (Flags::ACK, waiting.last.ack));
    assert!(waiting.waits());
}

/// The peer's data may arrive before the host sends anything.
#[test]
fn the_last_connection_has_ended_before_the_next_one_opens() {
    let mut waiting = Waiting::new(&reopening());
    let (_, answer) = waiting.calls();
    let first = Segment { ack: Seq(answer.seq.0.wrapping_add(1)), ..waiting.segment(Flags::ACK, 5001) };
    let data = Segment { payload_len: 5, ..first };
    for (segment, payload) in [(first, &b""[..]), (data, b"hello")] {
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(waiting.addresses), &segment, payload, &mut bytes).unwrap();
        waiting.pair.b.handle_packet(waiting.pair.now, &bytes);
    }
    assert_eq!(waiting.pair.b.connections(), 1);
    let happened = events(&mut waiting.pair.b);
    let ended = happened.iter().position(|(at, of)| *at == waiting.old && matches!(of, HostEvent::Ended(_)));
    let opened = happened.iter().position(|(_, of)| matches!(of, HostEvent::Opened { .. }));
    assert!(ended.is_some() && ended < opened, "{happened:?}");
    let next = happened[opened.unwrap()].0;
    let mut room = [0; 9];
    assert_eq!(waiting.pair.b.connection(next).unwrap().read(&mut room), 5);
    assert_eq!(room[..5], *b"hello");
}
