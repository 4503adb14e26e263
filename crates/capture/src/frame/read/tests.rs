use super::*;

/// Number, time, link type, interface, length on the wire and bytes.
type Read = (u64, u64, u32, u32, u32, Vec<u8>);

fn frames(file: &[u8], piece: usize) -> Result<Vec<Read>, Error> {
    let mut reader = Reader::new();
    let mut found = Vec::new();
    for bytes in file.chunks(piece) {
        reader.feed(bytes);
        while let Some(Frame { number, nanos, link, interface, wire_len, bytes }) = reader.frame()? {
            found.push((number, nanos, link, interface, wire_len, bytes.to_vec()));
        }
    }
    reader.finish().map(|()| found)
}

fn numbers(order: bytes::Order, fields: &[u32]) -> Vec<u8> {
    let write = |field: &u32| match order {
        bytes::Order::Little => field.to_le_bytes(),
        bytes::Order::Big => field.to_be_bytes(),
    };
    fields.iter().flat_map(write).collect()
}

fn pcap(order: bytes::Order, magic: u32, header: &[u32]) -> Vec<u8> {
    let version = if order == bytes::Order::Big { 0x0002_0004 } else { 0x0004_0002 };
    let mut file = numbers(order, &[magic, version, 0, 0, 65_535, 113]);
    file.extend(numbers(order, header));
    file.extend([1, 2, 3]);
    file
}

#[test]
fn pcap_in_both_byte_orders_and_resolutions_is_read() {
    for order in [bytes::Order::Little, bytes::Order::Big] {
        for (magic, nanos, rest) in [
            (0xa1b2_c3d4, 5_000_007_000, &[][..]),
            (0xa1b2_3c4d, 5_000_000_007, &[]),
            (0xa1b2_cd34, 5_000_007_000, &[0, 0]),
        ] {
            let file = pcap(order, magic, &[&[5, 7, 3, 60], rest].concat());
            for piece in [1, 7, 1000] {
                assert_eq!(frames(&file, piece), Ok(vec![(1, nanos, 113, 0, 60, vec![1, 2, 3])]));
            }
        }
    }
}

fn block(order: bytes::Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32 + 12;
    [numbers(order, &[kind, length]), body.to_vec(), numbers(order, &[length])].concat()
}

fn section(order: bytes::Order) -> Vec<u8> {
    let version = if order == bytes::Order::Big { 0x0001_0000 } else { 1 };
    block(order, 0x0a0d_0d0a, &numbers(order, &[0x1a2b_3c4d, version, u32::MAX, u32::MAX]))
}

/// Returns an interface description with this link type and resolution, and an offset of 100 s.
fn interface(order: bytes::Order, link: u16, resolution: u8) -> Vec<u8> {
    let two = |number: u16| if order == bytes::Order::Big { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut body = [two(link), two(0)].concat();
    body.extend(numbers(order, &[4]));
    body.extend([two(9), two(1)].concat());
    body.extend([resolution, 0, 0, 0]);
    body.extend([two(14), two(8)].concat());
    body.extend(if order == bytes::Order::Big { 100_u64.to_be_bytes() } else { 100_u64.to_le_bytes() });
    block(order, 1, &body)
}

#[test]
fn pcapng_with_several_sections_and_kinds_of_block_is_read() {
    let (little, big) = (bytes::Order::Little, bytes::Order::Big);
    let mut file = section(little);
    file.extend(interface(little, 1, 9));
    file.extend(interface(little, 276, 0x80 | 10));
    // Decryption secrets, which are skipped.
    file.extend(block(little, 10, &[7; 400]));
    file.extend(block(little, 6, &[numbers(little, &[1, 0, 1024, 2, 90]), vec![8, 9, 0, 0]].concat()));
    file.extend(block(little, 3, &[numbers(little, &[5]), vec![1, 2, 3, 4, 5, 0, 0, 0]].concat()));
    file.extend(section(big));
    file.extend(interface(big, 101, 3));
    file.extend(block(big, 2, &[vec![0, 0, 0, 9], numbers(big, &[0, 250, 4, 4]), vec![6; 4]].concat()));
    let expected = vec![
        (1, 101_000_000_000, 276, 1, 90, vec![8, 9]),
        // A simple packet is cut at the first interface's snapshot length. It takes the time of the
        // packet before it.
        (2, 101_000_000_000, 1, 0, 5, vec![1, 2, 3, 4]),
        (3, 100_250_000_000, 101, 0, 4, vec![6; 4]),
    ];
    for piece in [1, 13, 4096] {
        assert_eq!(frames(&file, piece), Ok(expected.clone()));
    }
}

#[test]
fn an_offset_of_time_may_be_negative() {
    for order in [bytes::Order::Little, bytes::Order::Big] {
        let (ten, offset) = (10_u64, -7_i64);
        let two = |number: u16| if order == bytes::Order::Big { number.to_be_bytes() } else { number.to_le_bytes() };
        let mut body = [two(101), two(0)].concat();
        body.extend(numbers(order, &[0]));
        body.extend([two(14), two(8)].concat());
        body.extend(if order == bytes::Order::Big { offset.to_be_bytes() } else { offset.to_le_bytes() });
        let mut file = [section(order), block(order, 1, &body)].concat();
        file.extend(block(order, 6, &[numbers(order, &[0, 0, ten as u32 * 1_000_000, 0, 0])].concat()));
        assert_eq!(frames(&file, 9), Ok(vec![(1, 3_000_000_000, 101, 0, 0, vec![])]));
    }
}

#[test]
fn the_longest_packets_are_read_in_every_kind_of_record() {
    let (little, most) = (bytes::Order::Little, MOST_CAPTURED as usize);
    let longest = vec![7; most];
    let named = |kind: u32, more: usize| {
        let body = [numbers(little, &[0, 0, 1, (most + more) as u32, 9]), vec![7; most + more]].concat();
        [section(little), interface(little, 1, 6), block(little, kind, &body)].concat()
    };
    let classic = |more: usize| {
        let head = numbers(little, &[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1, 0, 1, (most + more) as u32, 9]);
        [head, vec![7; most + more]].concat()
    };
    for (name, file, over) in [
        ("enhanced", named(6, 0), named(6, 4)),
        ("obsolete", named(2, 0), named(2, 4)),
        ("classic", classic(0), classic(4)),
    ] {
        for piece in [100_000, usize::MAX] {
            let read = frames(&file, piece).unwrap();
            assert!(read.len() == 1 && read[0].5 == longest && read[0].4 as usize == most, "{name}");
            assert!(frames(&over, piece).unwrap_err().to_string().contains("at most"), "{name}");
        }
    }
}

#[test]
fn snoop() {
    let mut file = b"snoop\0\0\0".to_vec();
    file.extend(numbers(bytes::Order::Big, &[2, 4, 1514, 3, 28, 0, 9, 8]));
    file.extend([1, 2, 3, 0]);
    for piece in [1, 5, 100] {
        assert_eq!(frames(&file, piece), Ok(vec![(1, 9_000_008_000, 1, 0, 1514, vec![1, 2, 3])]));
    }
}

#[test]
fn an_error_names_the_offset_and_the_value() {
    let line = |file: &[u8]| frames(file, 10).unwrap_err().to_string();
    assert_eq!(frames(&[], 1), Ok(vec![]));
    assert_eq!(
        line(b"GET / HTTP"),
        "not a capture file: expected pcap, pcapng or snoop, perhaps compressed by gzip or zstd; found 47 45 54 20 at \
         byte 0"
    );
    let found = line(b"snoop\0\0\x01\0\0\0\x02\0\0\0\x04");
    assert!(found.ends_with("found 73 6e 6f 6f at byte 0"), "{found}");
    let whole = pcap(bytes::Order::Little, 0xa1b2_c3d4, &[5, 7, 3, 60]);
    assert_eq!(line(&whole[..41]), "the record at byte 24 is cut off: expected 19 bytes, found 17");
    let huge = pcap(bytes::Order::Little, 0xa1b2_c3d4, &[5, 7, 300_000, 60]);
    assert_eq!(line(&huge), "captured length of the record at byte 24: expected at most 262144 bytes, found 300000");
    let mut odd = section(bytes::Order::Little);
    odd.extend(numbers(bytes::Order::Little, &[99, 14, 0]));
    assert_eq!(
        line(&odd),
        "block length of the record at byte 28: expected a multiple of 4, and at least 12, found 14"
    );
    // A packet that would fit, but the length of its block is not a multiple of 4.
    let mut odd = section(bytes::Order::Little);
    odd.extend(interface(bytes::Order::Little, 1, 6));
    odd.extend(block(bytes::Order::Little, 6, &[numbers(bytes::Order::Little, &[0, 0, 9, 1, 90]), vec![8]].concat()));
    assert_eq!(
        line(&odd),
        "block length of the record at byte 68: expected a multiple of 4, and at least 12, found 33"
    );
    let mut undescribed = section(bytes::Order::Little);
    undescribed.extend(block(bytes::Order::Little, 6, &[0; 20]));
    assert_eq!(
        line(&undescribed),
        "interface of the record at byte 28: expected an interface that the section has described, found 0"
    );
}

#[test]
fn a_file_cut_anywhere_is_read_without_a_panic() {
    let mut file = section(bytes::Order::Little);
    file.extend(interface(bytes::Order::Little, 1, 6));
    file.extend(block(
        bytes::Order::Little,
        6,
        &[numbers(bytes::Order::Little, &[0, 0, 9, 2, 90]), vec![8; 4]].concat(),
    ));
    for end in 0..file.len() {
        let read = frames(&file[..end], 16);
        assert!(read.is_ok() == [0, 28, 68].contains(&end), "{end}: {read:?}");
    }
}

/// Records announcements, and checks that frames follow them.
#[derive(Default)]
struct Announced {
    soon: Vec<Vec<u8>>,
    begun: usize,
    taken: Vec<(u64, Vec<u8>)>,
    most: usize,
}

impl Sink for Announced {
    fn wants_announcements(&self) -> bool {
        true
    }

    fn on_announced(&mut self, link: u32, bytes: &[u8]) {
        assert_eq!(link, 1);
        self.soon.push(bytes.to_vec());
        self.most = self.most.max(self.soon.len() - self.taken.len());
    }

    fn on_announcements_end(&mut self) {
        self.begun = self.soon.len();
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        // The first frame is read together with the file's header, without an announcement.
        if frame.number == 1 {
            return;
        }
        assert!(self.begun > self.taken.len(), "frame {} was not announced", frame.number);
        self.taken.push((frame.nanos, frame.bytes.to_vec()));
    }
}

#[test]
fn frames_are_announced_once_and_in_order_before_they_come() {
    const FRAMES: u32 = 3 * AHEAD as u32 + 5;
    let little = bytes::Order::Little;
    let (mut pcapng, mut pcap) = ([section(little), interface(little, 1, 6)].concat(), Vec::new());
    pcap.extend(numbers(little, &[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]));
    for number in 0..FRAMES {
        let body = [&number.to_le_bytes()[..], &vec![9; 4 * (number as usize % 7)]].concat();
        let len = body.len() as u32;
        pcap.extend([numbers(little, &[0, number, len, len]), body.clone()].concat());
        pcapng.extend(block(little, 6, &[numbers(little, &[0, 0, number, len, len]), body].concat()));
    }
    for file in [pcap, pcapng] {
        for piece in [1000, file.len()] {
            let (mut reader, mut sink) = (Reader::new(), Announced::default());
            for bytes in file.chunks(piece) {
                reader.feed(bytes);
                reader.each(&mut sink).unwrap();
            }
            let taken: Vec<_> = sink.taken.iter().map(|(_, bytes)| bytes.clone()).collect();
            assert!(sink.soon == taken && sink.most <= AHEAD, "{piece}");
            let alone: Vec<_> = frames(&file, piece).unwrap().into_iter().map(|one| (one.1, one.5)).collect();
            assert!(sink.taken == alone[1..] && alone.len() == FRAMES as usize, "{piece}");
        }
    }
}

/// RFC 1761: a record is a header of 24 bytes, the packet, and only as much padding as alignment
/// needs.
#[test]
fn a_record_of_snoop_has_its_header_its_packet_and_little_padding() {
    let file = |record: u32| {
        let fields = [100, 4, record, 0, 7, 9];
        let end = vec![5; (record as usize).saturating_sub(24).clamp(4, 600)];
        let header = [b"snoop\0\0\0".to_vec(), numbers(bytes::Order::Big, &[2, 4])].concat();
        [header, numbers(bytes::Order::Big, &fields), end].concat()
    };
    for record in [28, 29, 32, 28 + 256] {
        let expected = (1, 7_000_009_000, 1, 0, 100, vec![5; 4]);
        assert_eq!(frames(&file(record), 7).unwrap(), [expected], "{record}");
    }
    for record in [0, 24, 27, 28 + 100_000, u32::MAX] {
        let wrong = frames(&file(record), 64).unwrap_err();
        assert!(
            matches!(wrong, Error::Invalid { what: "record length", offset: 16, found, .. } if found == u64::from(record)),
            "{wrong}"
        );
    }
}

/// Returns small files of every format and kind of record.
fn small() -> Vec<Vec<u8>> {
    use bytes::Order::{Big, Little};
    let mut files = Vec::new();
    for order in [Little, Big] {
        files.push(pcap(order, 0xa1b2_c3d4, &[5, 7, 3, 60]));
        files.push(pcap(order, 0xa1b2_3c4d, &[5, 7, 3, 60]));
        files.push(pcap(order, 0xa1b2_cd34, &[5, 7, 3, 60, 1, 2]));
        let enhanced = block(order, 6, &[numbers(order, &[1, 0, 1024, 2, 90]), vec![8, 9, 0, 0]].concat());
        let simple = block(order, 3, &[numbers(order, &[5]), vec![1, 2, 3, 4, 5, 0, 0, 0]].concat());
        let place = if order == Big { vec![0, 0, 0, 9] } else { vec![0, 0, 9, 0] };
        let obsolete = block(order, 2, &[place, numbers(order, &[0, 250, 4, 4]), vec![6; 4]].concat());
        let interfaces = [interface(order, 1, 9), interface(order, 276, 0x80 | 10)].concat();
        let skipped = block(order, 10, &[7; 8]);
        files.push([section(order), interfaces, skipped, enhanced, simple, obsolete].concat());
    }
    let mut snoop = [b"snoop\0\0\0".to_vec(), numbers(Big, &[2, 4])].concat();
    for padding in [0_u32, 3] {
        snoop.extend(numbers(Big, &[60, 5, 29 + padding, 0, 9, 8]));
        snoop.extend(vec![1; 5 + padding as usize]);
    }
    files.push(snoop);
    files
}

#[test]
fn small_files_with_changed_bytes_match_the_golden() {
    use eifel_testkit::{digest, golden};
    let mut text = String::new();
    for (number, file) in small().into_iter().enumerate() {
        let mut said = format!("{:?}\n", frames(&file, 1000));
        text += &said;
        for at in 0..file.len() {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut changed = file.clone();
                changed[at] ^= change;
                let mut reader = Reader::new();
                reader.feed(&changed);
                // The frames before the damage are read.
                let mut found = Vec::new();
                let read = reader.each(&mut |frame: &Frame<'_>| found.push(format!("{frame:?}")));
                said += &format!("{found:?} {read:?} {:?} {}\n", reader.finish(), reader.frames());
            }
        }
        text += &format!("{number}: {}\n", digest(said));
    }
    golden!("files.txt", text);
}

/// The link types of RFC 1761 are converted to those of pcap.
#[test]
fn snoop_link_types_map_to_those_of_pcap() {
    let link = |number: u32| {
        let mut file = [b"snoop\0\0\0".to_vec(), numbers(bytes::Order::Big, &[2, number])].concat();
        file.extend(numbers(bytes::Order::Big, &[0, 0, 24, 0, 1, 2]));
        frames(&file, 100).map(|frames| frames[0].2).map_err(|error| error.to_string())
    };
    let refused = |number: u32| Err(format!("snoop datalink type {number} is not supported"));
    assert_eq!([0, 4, 8, 26].map(link), [Ok(1), Ok(1), Ok(10), Ok(105)]);
    [1, 2, 3, 5, 7, 9, 25, 27].iter().for_each(|number| assert_eq!(link(*number), refused(*number)));
}

/// The padding of a record and the options of a block are limited.
#[test]
fn records_of_the_largest_length_are_read() {
    const OPTIONS: usize = 1 << 20;
    let little = bytes::Order::Little;
    for (more, whole) in [(0, true), (4, false)] {
        let length = MOST_CAPTURED as usize + OPTIONS + more - 12;
        let mut body = numbers(little, &[0, 0, 1, 4, 4]);
        body.resize(length, 7);
        let file = [section(little), interface(little, 1, 6), block(little, 6, &body)].concat();
        assert_eq!(frames(&file, 1 << 18).is_ok_and(|frames| frames.len() == 1), whole, "{more} more");
        let mut described = numbers(little, &[1, 0]);
        described.resize(OPTIONS + more - 12, 0);
        let file = [section(little), block(little, 1, &described)].concat();
        assert_eq!(frames(&file, 1 << 18).is_ok(), whole, "{more} more");
    }
    for (padding, whole) in [(4096, true), (4097, false)] {
        let mut file =
            [b"snoop\0\0\0".to_vec(), numbers(bytes::Order::Big, &[2, 4, 4, 4, 28 + padding, 0, 1, 2])].concat();
        file.resize(file.len() + 4 + padding as usize, 0);
        assert_eq!(frames(&file, 1000).is_ok(), whole, "{padding}");
    }
}

/// A section describes at most 65536 interfaces.
#[test]
fn interfaces_up_to_the_limit_are_read() {
    let little = bytes::Order::Little;
    let described = block(little, 1, &numbers(little, &[1, 0]));
    let mut file = [section(little), described.repeat(65_536)].concat();
    file.extend(block(little, 6, &numbers(little, &[65_535, 0, 1, 0, 0])));
    assert_eq!(frames(&file, 1 << 18).map(|frames| frames[0].3), Ok(65_535));
    file.extend(described);
    let refused = frames(&file, 1 << 18).unwrap_err().to_string();
    assert!(refused.ends_with("expected at most 65536, found 65537"), "{refused}");
}
