//! No segment in any state causes a panic, endless answers, or the acceptance of more than was
//! offered.

use crate::talk::{IRS, ISS, Talk, plain};
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Marks, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_tcp::settings::{ReceiveKind, SackUse, TimestampSettings, WindowScale};
use eifel_tcp::{Event, Settings, State};
use proptest::prelude::*;

/// Numbers near the expected ones, at the edges of the number space, and anywhere.
fn near(initial: u32) -> impl Strategy<Value = Seq> {
    let offset = prop_oneof![
        6 => 0u32..12_000,
        2 => (0u32..12_000).prop_map(|below| below.wrapping_neg()),
        1 => (1u32 << 31) - 5..(1u32 << 31) + 5,
        1 => any::<u32>(),
    ];
    offset.prop_map(move |offset| Seq(initial.wrapping_add(offset)))
}

fn segments() -> impl Strategy<Value = Segment> {
    let len = prop_oneof![4 => Just(0u32), 4 => 1u32..3000, 1 => any::<u32>()];
    let flags = prop_oneof![6 => Just(Flags::ACK), 2 => any::<u16>().prop_map(Flags)];
    let sack = prop::collection::vec((near(ISS), near(ISS)), 0..5);
    let stamps = prop::option::of((prop_oneof![Just(100u32), 100u32..300, any::<u32>()], any::<u32>()));
    let marks = prop::option::of(prop_oneof![Just(Marks::Bits), Just(Marks::Timestamps)]);
    let syn = (prop::option::of(any::<u16>()), prop::option::of(any::<u8>()), any::<bool>(), marks);
    (near(IRS), near(ISS), flags, any::<u16>(), len, sack, stamps, syn).prop_map(
        |(seq, ack, flags, window, payload_len, blocks, stamps, (mss, window_scale, sack_permitted, marks))| {
            let mut sack = SackBlocks::EMPTY;
            for (left, right) in blocks {
                sack.push(left, right);
            }
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            Segment {
                source_port: 2000,
                destination_port: 1000,
                seq,
                ack,
                flags,
                window,
                options: Options { mss, window_scale, sack_permitted, timestamps, sack, marks },
                payload_len,
                ecn: Ecn::NotEct,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_segments_cause_no_panic(
        segments in prop::collection::vec((0u64..500, segments()), 1..60),
        begins in 0u8..4,
        (stamps, sack, held) in any::<(bool, bool, bool)>(),
        marks in prop_oneof![Just(None), Just(Some(Marks::Bits)), Just(Some(Marks::Timestamps))],
    ) {
        let settings = Settings {
            timestamps: stamps.then(TimestampSettings::default),
            sack: if sack { SackUse::WithDuplicates } else { SackUse::Off },
            receive: if held { ReceiveKind::Held } else { ReceiveKind::Counted },
            window_scale: WindowScale::Fit,
            // With timestamps on every segment, timestamp marks are not offered.
            marks: marks.filter(|marks| !stamps || *marks == Marks::Bits),
            ..plain()
        };
        let mut talk = match begins {
            0 => Talk::listen(&settings),
            1 => Talk::connect(&settings),
            _ => Talk::open(&settings),
        };
        talk.connection.write_counted(50_000);
        if begins == 3 {
            talk.connection.shutdown_write();
        }
        let mut at = 0;
        for (wait, segment) in segments {
            at += wait;
            talk.now = crate::talk::ms(at);
            if talk.connection.poll_timeout() <= talk.now {
                talk.connection.handle_timeout(talk.now);
            }
            let bytes = vec![7; if held { segment.payload_len.min(3000) as usize } else { 0 }];
            let before = talk.connection.received();
            talk.connection.handle_segment(talk.now, &segment, &bytes);
            let engine = talk.connection.engine();
            prop_assert!(engine.una() <= engine.nxt() && engine.nxt() <= talk.connection.end());
            prop_assert!(talk.connection.received() >= before);
            prop_assert!(talk.connection.received() <= 10_000 && talk.connection.readable() <= 10_000);
            prop_assert!(talk.sent().len() <= 60);
            talk.events();
            if talk.connection.state() == State::Closed {
                prop_assert_eq!(talk.connection.poll_timeout(), eifel_base::time::Instant::NEVER);
            }
        }
    }
}

/// If a peer closes at two positions, the first FIN counts. The other FIN takes no position,
/// because there would be no byte to read at it.
#[test]
fn a_second_fin_at_another_position_is_ignored() {
    let mut talk = Talk::open(&Settings { receive: ReceiveKind::Held, ..plain() });
    talk.gets_bytes(1, "FA 5 ack 1 win 10000", &[]);
    talk.says(&["A 1 ack 1 win 10000"]);
    talk.gets_bytes(2, "FA 1 ack 1 win 10000", &[]);
    talk.says(&["A 1 ack 1 win 10000"]);
    let mut bytes = [0; 10];
    assert_eq!((talk.connection.received(), talk.connection.read(&mut bytes)), (0, 0));
    talk.gets_bytes(3, "FA 1..3 ack 1 win 10000", b"ab");
    talk.says(&["A 1 ack 3 win 9998"]);
    talk.gets_bytes(4, "A 3..5 ack 1 win 10000", b"cd");
    talk.says(&["A 1 ack 6 win 9995"]);
    assert_eq!(talk.events(), [Event::Readable, Event::PeerClosed]);
    assert_eq!(talk.connection.read(&mut bytes), 4);
    assert_eq!(&bytes[..4], b"abcd");
}
