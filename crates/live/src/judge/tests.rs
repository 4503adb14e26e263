//! Files of small runs, joined.

use super::*;
use crate::hiccup::Fate;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::pcapng::{self, Writer};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_testkit::Folder;

/// A data segment of 100 bytes that passes the box.
#[derive(Clone, Copy)]
struct Passing {
    flow: u32,
    number: u64,
    seq: u32,
    identification: u16,
    /// Milliseconds.
    entered: u64,
    left: u64,
    /// Whether the receiver's capture has it.
    arrives: bool,
}

impl Passing {
    fn packet(&self) -> Vec<u8> {
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let header = Header { identification: self.identification, ..Header::new(addresses) };
        let segment = Segment {
            source_port: 1000 + self.flow as u16,
            destination_port: 80,
            seq: Seq(self.seq),
            ack: Seq(1),
            flags: Flags::ACK,
            window: 1000,
            payload_len: 100,
            ..Segment::EMPTY
        };
        let mut packet = Vec::new();
        datagram::emit(&header, &segment, &[0; 100], &mut packet).unwrap();
        packet
    }
}

/// Joins the files of a run. The box's lines are in the order in which packets left.
fn joined(passing: &[Passing]) -> Judgement {
    let folder = Folder::new();
    let mut lines =
        vec!["dir,t_in,t_out,fate,seq,ack,len,flags,ipid,tsval,tsecr,t_due,flow,n,protocol,bytes".to_owned()];
    let mut leaving = passing.to_vec();
    leaving.sort_by_key(|one| one.left);
    for Passing { flow, number, seq, identification, entered, left, .. } in &leaving {
        lines.push(format!(
            "A,1.{entered:03},1.{left:03},ok,{seq},1,100,16,{identification},,,1.{left:03},{flow},{number},6,140"
        ));
    }
    fs::write(folder.join("path.csv"), lines.join("\n")).unwrap();
    let came: Vec<Passing> = leaving.into_iter().filter(|one| one.arrives).collect();
    for (name, packets) in [("sender", passing), ("receiver", &came)] {
        let mut writer = Writer::new(Vec::new(), "test").unwrap();
        let interface = writer.interface(name).unwrap();
        for bytes in packets.iter().map(Passing::packet) {
            writer.packet(interface, 0, pcapng::Packet { bytes: &bytes, wire_len: 140, comment: None }).unwrap();
        }
        fs::write(folder.join(format!("{name}.pcapng")), writer.finish().unwrap()).unwrap();
    }
    let sources = Sources { folder: &folder, sender: None, receiver: None, direction: Direction::There };
    join(sources).unwrap()
}

/// A kernel that sends all packets with the identification 0 repeats one, so the two are alike. The
/// repetition overtakes the original, and only the repetition reaches the receiver.
#[test]
fn the_first_of_two_identical_packets_counts_as_arrived() {
    let original = Passing { flow: 0, number: 1, seq: 1, identification: 0, entered: 1, left: 10, arrives: false };
    let repetition = Passing { number: 2, entered: 2, left: 5, arrives: true, ..original };
    let found = joined(&[original, repetition]);
    assert_eq!((found.not_at_sender, found.not_at_receiver), (0, 1));
    let [Retransmission { judged, .. }] = &found.retransmissions[..] else { panic!("one: {found:?}") };
    assert_eq!((judged.frame, judged.number, judged.fate, judged.spurious), (2, 2, Fate::Delivered, false));
    // If both arrive, the repetition was not needed.
    let found = joined(&[Passing { arrives: true, ..original }, repetition]);
    assert_eq!((found.not_at_receiver, found.retransmissions[0].judged.spurious), (0, true));
}

/// The second flow's repetition comes in first and leaves last.
#[test]
fn retransmissions_of_all_flows_are_listed_in_sending_order() {
    let first = Passing { flow: 0, number: 1, seq: 1, identification: 1, entered: 1, left: 3, arrives: true };
    let other = Passing { flow: 1, seq: 5001, identification: 2, entered: 2, left: 4, ..first };
    let passing = [
        first,
        other,
        Passing { number: 2, identification: 3, entered: 5, left: 9, ..other },
        Passing { number: 2, identification: 4, entered: 6, left: 7, ..first },
    ];
    let found = joined(&passing);
    let order: Vec<_> = found.retransmissions.iter().map(|one| (one.judged.flow, one.judged.frame)).collect();
    assert_eq!(order, [(1, 3), (0, 4)]);
}
