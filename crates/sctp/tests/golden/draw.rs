//! Draws the settings of both ends, and the network between them, from a seed.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::registry::{Choice, Value};
use eifel_sctp::{Settings, ShutdownGuard, TimestampChunk, TimestampValues};

use crate::talk::{Dice, Fate, ms};

pub fn one<T: Clone>(dice: &mut Dice, of: &[T]) -> T {
    of[dice.below(of.len() as u64) as usize].clone()
}

/// Both ends draw their own settings, but use the same algorithms.
pub fn settings(seed: u64) -> impl Fn(usize, &mut Settings) {
    move |end, settings| {
        let mut dice = Dice(seed * 4 + end as u64);
        settings.pmtu = one(&mut dice, &[1500, 1500, 600, 576, 300]);
        settings.udp = dice.once_in(4);
        settings.outbound_streams = one(&mut dice, &[16, 4, 1]);
        settings.inbound_streams = one(&mut dice, &[2048, 16, 3]);
        settings.receive_buffer = one(&mut dice, &[65_536, 20_000, 6000, 1500]);
        settings.send_buffer = one(&mut dice, &[1 << 20, 20_000, 3000]);
        settings.sack_delay = ms(one(&mut dice, &[200, 200, 50, 0, 700]));
        settings.sack_every = one(&mut dice, &[2, 2, 1, 5]);
        settings.nagle = dice.once_in(4);
        settings.forward_tsn = !dice.once_in(4);
        settings.data_with_cookie = dice.once_in(3);
        settings.cookie_life = ms(one(&mut dice, &[60_000, 60_000, 1500, 30]));
        settings.longest_init_wait = one(&mut dice, &[None, None, Some(ms(700))]);
        settings.shutdown_guard =
            one(&mut dice, &[ShutdownGuard::FiveTimesRtoMax, ShutdownGuard::After(ms(4000)), ShutdownGuard::Off]);
        settings.max_init_retransmits = one(&mut dice, &[8, 2]);
        settings.association_max_retransmits = one(&mut dice, &[10, 10, 3]);
        settings.path_max_retransmits = one(&mut dice, &[5, 1, 0]);
        settings.heartbeat_interval = one(&mut dice, &[Some(Duration::from_secs(30)), Some(ms(800)), None]);
        let mut dice = Dice(seed ^ 0x5eed);
        settings.retransmit_bit = dice.once_in(2) && !(end == 1 && dice.once_in(6));
        settings.timestamp_chunk =
            one(&mut dice, &[TimestampChunk::Agreed, TimestampChunk::Off, TimestampChunk::Always]);
        settings.timestamp_values = one(&mut dice, &[TimestampValues::Distinct, TimestampValues::Clock]);
        let stamped = settings.timestamp_chunk != TimestampChunk::Off;
        let mut detectors = vec!["none", "dsack", "f-rto-sctp", "f-rto", "f-rto-sack"];
        let by_timestamps = ["eifel-cover-timestamps", "eifel-cover-or-dsack", "eifel-timestamps", "eifel-or-f-rto"];
        detectors.extend(if stamped { &by_timestamps[..] } else { &[] });
        detectors.extend(if settings.retransmit_bit { &["eifel-cover-bit"][..] } else { &[] });
        let detector = one(&mut dice, &detectors);
        let path = &mut settings.engine.path;
        path.detect = Choice::named(detector);
        if detector == "eifel-cover-timestamps" && settings.timestamp_values == TimestampValues::Clock {
            path.detect = Choice::named(detector).with("proof", Value::Word("older".into()));
        }
        path.respond = Choice::named(one(&mut dice, &["rfc4015", "none", "rfc3708", "option-1"]));
        path.rto = Choice::named(one(&mut dice, &["rfc9260", "rfc9260", "rfc6298", "linux"]));
        path.pace = Choice::named(one(&mut dice, &["burst-limit", "burst-limit", "none", "pacing"]));
        let retransmit = ["rfc9260", "all-to-alternate", "same-path", "largest-window"];
        settings.engine.retransmit = Choice::named(one(&mut dice, &retransmit));
        settings.engine.credit = Choice::named(one(&mut dice, &["last-path", "unambiguous", "evidence"]));
    }
}

/// Links of 100 kbit/s to 10 Mbit/s. On some, packets are lost, reordered, duplicated or damaged.
/// Some links drop or hold all packets for a while.
pub fn fate(seed: u64, paths: usize) -> Fate {
    struct Link {
        /// Nanoseconds per byte.
        byte: u64,
        delay: Duration,
        free: Instant,
        closed: Option<(Instant, Instant, bool)>,
    }
    let mut dice = Dice(seed ^ 0xfa7e);
    let (loss, late, twice, bad) =
        (one(&mut dice, &[0, 100, 30, 8]), one(&mut dice, &[0, 0, 20, 6]), one(&mut dice, &[0, 0, 30]), {
            one(&mut dice, &[0, 0, 0, 60])
        });
    let mut links: Vec<Link> = (0..paths * 2)
        .map(|_| {
            let start = Instant::ZERO + ms(300 + dice.below(8000));
            let end = start + ms(one(&mut dice, &[300, 1500, 4000, 20_000]));
            let closed = (!dice.once_in(2)).then(|| (start, end, dice.once_in(2)));
            let byte = one(&mut dice, &[800, 8000, 80_000]);
            Link { byte, delay: ms(one(&mut dice, &[1, 20, 60, 150])), free: Instant::ZERO, closed }
        })
        .collect();
    Box::new(move |sent| {
        let link = &mut links[sent.path * 2 + sent.from];
        let mut entry = sent.now;
        if let Some((start, end, held)) = link.closed
            && (start..end).contains(&sent.now)
        {
            if !held {
                return Vec::new();
            }
            entry = end;
        }
        if dice.once_in(loss) || dice.once_in(bad) {
            return Vec::new();
        }
        link.free = link.free.max(entry) + Duration::from_nanos(sent.bytes.len() as u64 * link.byte);
        let mut delays = vec![link.free.since(sent.now) + link.delay];
        if dice.once_in(late) {
            delays[0] = delays[0] + ms(dice.below(300));
        }
        if dice.once_in(twice) {
            delays.push(delays[0] + ms(dice.below(50)));
        }
        delays
    })
}
