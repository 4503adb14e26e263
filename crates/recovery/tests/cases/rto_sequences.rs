//! Timers called by themselves: a dozen samples each, worked out by hand from the equations, to the
//! nanosecond.

use eifel_base::time::{Duration, Instant};
use eifel_recovery::congest::Window;
use eifel_recovery::episode::Estimate;
use eifel_recovery::registry::{Choice, Value, part};
use eifel_recovery::rto::{Rto, Sample};
use eifel_recovery::rtt::RoundTrips;
use eifel_recovery::view::View;

use crate::script::of;
use crate::talk::{at, ms};

pub fn word(word: &str) -> Value {
    Value::Word(word.into())
}

pub fn build(choice: &Choice) -> Box<dyn Rto> {
    part::rto(choice).expect("a known timer")
}

/// Gives the timer a sample at `now`, from an ACK of `acked` segments of 1000 bytes.
pub fn sample(timer: &mut dyn Rto, now: Instant, rtt: Duration, acked: u64, window: Window) {
    take(timer, now, (1, 11_001), &Sample { rtt, acked: acked * 1000, window });
}

fn take(timer: &mut dyn Rto, now: Instant, (una, nxt): (u64, u64), sample: &Sample) {
    let round_trips = RoundTrips::new(true);
    timer.sample(sample, &View { now, una, nxt, mss: 1000, sack: true, round_trips });
}

fn state(timer: &dyn Rto) -> [u64; 3] {
    let Estimate { srtt, rttvar } = timer.estimate().expect("a sample");
    [srtt, rttvar, timer.rto()].map(Duration::as_nanos)
}

/// Round trips that rise, stay level, fall and jump, in milliseconds: the shapes that the Eifel
/// timer distinguishes.
const ROUND_TRIPS: [u64; 12] = [100, 120, 200, 200, 160, 100, 60, 60, 100, 400, 400, 380];

/// Checks SRTT, RTTVAR and RTO after each of [`ROUND_TRIPS`], to a nanosecond, because floating
/// point rounds.
fn check(timer: &mut dyn Rto, acked: u64, window: Window, expected: [[u64; 3]; 12]) {
    for (index, (rtt, expected)) in ROUND_TRIPS.into_iter().zip(expected).enumerate() {
        sample(timer, Instant::ZERO, ms(rtt), acked, window);
        let found = state(timer);
        let near = found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1);
        assert!(near, "sample {index}: {found:?} is not {expected:?}");
    }
}

/// RTTVAR (3 RTTVAR + |DELTA|) / 4, SRTT (7 SRTT + RTT) / 8, RTO SRTT + 4 RTTVAR, rounded down.
/// From the seventh sample on the round trip is a fifth of its old value, and the RTO rises
/// (thesis, section 5.3.1).
#[test]
fn lite_follows_the_thesis_definition() {
    let exact = Choice::named("lite").with("clock", word("exact")).with("granularity_ms", Value::Duration(ms(1)));
    let mut timer = build(&exact);
    let sequence = [
        (100, [100_000_000, 50_000_000, 300_000_000]),
        (100, [100_000_000, 37_500_000, 250_000_000]),  // |DELTA| 0
        (100, [100_000_000, 28_125_000, 212_500_000]),  // 0
        (180, [110_000_000, 41_093_750, 274_375_000]),  // 80
        (100, [108_750_000, 33_320_312, 242_031_248]),  // 10
        (100, [107_656_250, 27_177_734, 216_367_186]),  // 8.75
        (20, [96_699_218, 42_297_363, 265_888_670]),    // 87.65625
        (20, [87_111_815, 50_897_826, 290_703_119]),    // 76.699218
        (20, [78_722_838, 54_951_323, 298_528_130]),    // 67.111815
        (300, [106_382_483, 96_532_782, 492_513_611]),  // 221.277162
        (300, [130_584_672, 120_803_965, 613_800_532]), // 193.617517
        (300, [151_761_588, 132_956_805, 683_588_808]), // 169.415328
    ];
    for (rtt, expected) in sequence {
        timer.sample(&of(ms(rtt)), &crate::script::view(&RoundTrips::new(true)));
        assert_eq!(state(&*timer), expected, "{rtt}");
    }
}

/// Each row has instant and round trip in milliseconds, SRTT and RTTVAR, and the RTO in ticks of
/// 500 ms. Its comment counts the ticks within the round trip. A round trip of 250 ms contains none
/// or one.
#[test]
fn lite_follows_the_bsd_implementation() {
    let mut timer = build(&Choice::named("lite"));
    let sequence = [
        (1400, 1300, [1_000_000_000, 500_000_000, 6]),    // 2 ticks: 1 + 4 x 0.5 s
        (2600, 1300, [1_062_500_000, 500_000_000, 6]),    // 3
        (3400, 900, [992_187_500, 515_625_000, 6]),       // 1
        (4100, 700, [993_164_062, 388_671_875, 5]),       // 2: 2.548 s
        (4300, 250, [869_018_554, 539_794_921, 6]),       // 0
        (4400, 250, [760_391_234, 622_100_829, 6]),       // 0
        (4600, 250, [727_842_329, 531_673_430, 5]),       // 1
        (9100, 4600, [1_199_362_037, 1_341_794_490, 13]), // 9
        (9200, 4600, [1_611_941_782, 1_831_505_358, 17]), // 9
        (9700, 1200, [1_535_449_059, 1_526_614_464, 15]), // 2
        (9900, 1200, [1_468_517_926, 1_278_823_112, 13]), // 2
        (10_100, 1200, [1_472_453_185, 966_987_852, 10]), // 3
    ];
    for (now, rtt, [srtt, rttvar, ticks]) in sequence {
        sample(&mut *timer, at(now), ms(rtt), 1, Window { cwnd: 4000, ssthresh: 3000 });
        assert_eq!(state(&*timer), [srtt, rttvar, ticks * 500_000_000], "{now}");
    }
    assert_eq!(timer.expires(at(10_100), at(9400)), at(15_000), "the tenth tick from now, whatever is outstanding");
    let precise = build(&Choice::named("lite").with("restart", word("age")));
    assert_eq!(precise.expires(at(10_100), at(9400)), at(12_000), "the sixth tick after the oldest segment was sent");
}

/// A handshake of 28 ticks, then round trips of 29: SRTT in eighths, RTTVAR in quarters of a tick
/// of 100 ms, the RTO in ticks. Until SRTT has grown by eight eighths, each sample deviates by one
/// whole tick. DualRTT's table II and section II.B print 4.6, 4.0 and 3.8 s for an ns-2 sender
/// after its sixth, ninth and tenth sample.
#[test]
fn lite_computes_in_scaled_integers() {
    let mut timer =
        build(&Choice::named("lite").with("clock", word("scaled")).with("granularity_ms", Value::Duration(ms(100))));
    let sequence = [
        (2800, [224, 56, 84]),
        (2900, [225, 43, 71]), // 56 + 1 - 14
        (2900, [226, 34, 62]), // 43 + 1 - 10
        (2900, [227, 27, 55]),
        (2900, [228, 22, 50]),
        (2900, [229, 18, 46]),
        (2900, [230, 15, 43]),
        (2900, [231, 13, 41]),
        (2900, [232, 11, 40]),
        (2900, [232, 9, 38]), // 11 + 0 - 2
        (2900, [232, 7, 36]),
        (2900, [232, 6, 35]),
        (2900, [232, 5, 34]),
        (2900, [232, 4, 33]),
        (2900, [232, 3, 32]),
        (2900, [232, 3, 32]), // three quarters of a tick stay
        (2800, [231, 4, 32]), // 28 + 4, one tick below
    ];
    let mut now = 10_000;
    for (rtt, [eighths, quarters, ticks]) in sequence {
        now += 3000;
        sample(&mut *timer, at(now), ms(rtt), 1, Window { cwnd: 4000, ssthresh: 3000 });
        assert_eq!(state(&*timer), [eighths * 12_500_000, quarters * 25_000_000, ticks * 100_000_000], "{now}");
    }
    assert_eq!(timer.expires(at(70_042), at(70_000)), at(73_242), "ticks from now, not upon a tick");
}

/// FLIGHT_E = max(3, 4 / 2) + 1 = 4: GAIN_E 1/4, and 1/16 where RTTVAR_E falls. RTO_E = SRTT_E + 4 RTTVAR_E.
const QUARTER: [[u64; 3]; 12] = [
    [100_000_000, 50_000_000, 300_000_000],  // three times the first sample
    [105_000_000, 48_125_000, 297_500_000],  // DELTA 20, 1/16 x -30
    [128_750_000, 59_843_750, 368_125_000],  // DELTA 95, 1/4 x 46.875
    [146_562_500, 62_695_312, 397_343_750],  // DELTA 71.25, 1/4 x 11.40625
    [149_921_875, 59_616_699, 388_388_671],  // DELTA 13.4375, 1/16 x -49.2578125
    [137_441_406, 59_616_699, 375_908_203],  // DELTA -49.921875: RTTVAR stays
    [118_081_054, 59_616_699, 356_547_851],  // DELTA -77.44140625
    [103_560_791, 59_616_699, 342_027_587],  // DELTA -58.0810546875
    [102_670_593, 59_616_699, 341_137_390],  // DELTA -3.560791015625
    [177_002_944, 119_044_876, 653_182_449], // DELTA 297.329406738, 1/4 x 237.712707
    [232_752_208, 145_032_920, 812_883_892], // DELTA 222.997055054, 1/4 x 103.952178
    [269_564_156, 145_586_638, 851_910_710], // DELTA 147.247791290, 1/4 x 2.214870
];

#[test]
fn eifel_timing_every_segment() {
    check(&mut *build(&Choice::named("eifel")), 1, Window { cwnd: 4000, ssthresh: 3000 }, QUARTER);
}

#[test]
fn eifel_timing_every_second_segment_has_twice_the_gain() {
    // FLIGHT_E = 7 + 1 = 8 and 2 / 8.
    check(&mut *build(&Choice::named("eifel")), 2, Window { cwnd: 9000, ssthresh: 7000 }, QUARTER);
    let every_second = Choice::named("eifel").with("timing", word("every-second"));
    let window = Window { cwnd: 14_000, ssthresh: u64::MAX };
    let mut timer = build(&every_second);
    for (rtt, expected) in ROUND_TRIPS.into_iter().zip(QUARTER) {
        sample(&mut *timer, Instant::ZERO, ms(rtt), 1, window);
        assert!(state(&*timer)[2].abs_diff(expected[2]) <= 1);
        let before = timer.rto();
        sample(&mut *timer, Instant::ZERO, ms(7 * rtt), 1, window);
        assert_eq!(timer.rto(), before, "the other ones are not taken");
    }
}

#[test]
fn eifel_timing_one_segment_a_round_trip_has_a_gain_of_a_third() {
    let expected = [
        [100_000_000, 66_666_666, 300_000_000],
        [106_666_666, 61_481_481, 291_111_111],  // DELTA 20, 1/9 x -46 2/3
        [137_777_777, 72_098_765, 354_074_074],  // DELTA 93 1/3, 1/3 x 31.852
        [158_518_518, 71_001_371, 371_522_633],  // DELTA 62 2/9, 1/9 x -9.877
        [159_012_345, 63_276_939, 348_843_164],  // DELTA 1.481, 1/9 x -69.520
        [139_341_563, 63_276_939, 329_172_382],  // DELTA -59.012: RTTVAR stays
        [112_894_375, 63_276_939, 302_725_194],  // DELTA -79.342
        [95_262_917, 63_276_939, 285_093_735],   // DELTA -52.894
        [96_841_944, 56_772_510, 267_159_477],   // DELTA 4.737, 1/9 x -58.540
        [197_894_629, 138_901_025, 614_597_706], // DELTA 303.158, 1/3 x 246.386
        [265_263_086, 159_969_140, 745_170_508], // DELTA 202.105, 1/3 x 63.204
        [303_508_724, 154_943_337, 768_338_736], // DELTA 114.737, 1/9 x -45.232
    ];
    let window = Window { cwnd: 40_000, ssthresh: 20_000 };
    let mut timer = build(&Choice::named("eifel"));
    for (rtt, expected) in ROUND_TRIPS.into_iter().zip(expected) {
        let round_trips = RoundTrips::new(false);
        let view = View { now: Instant::ZERO, una: 1, nxt: 2, mss: 1000, sack: true, round_trips };
        timer.sample(&Sample { rtt: ms(rtt), acked: 1000, window }, &view);
        let found = state(&*timer);
        assert!(found.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1), "{found:?}");
    }
    let mut chosen = build(&Choice::named("eifel").with("timing", word("one-a-round-trip")));
    for (round, (rtt, expected)) in ROUND_TRIPS.into_iter().zip(expected).enumerate() {
        let now = at(1000 * (round as u64 + 1));
        sample(&mut *chosen, now, ms(rtt), 1, window);
        assert!(state(&*chosen)[2].abs_diff(expected[2]) <= 1);
        sample(&mut *chosen, now + ms(rtt - 1), ms(rtt), 1, window);
        assert!(state(&*chosen)[2].abs_diff(expected[2]) <= 1, "was sent before the last sample was taken");
    }
}

/// The footnote's m = 3: GAIN_E 1/4, RTO_E = SRTT_E + 12 RTTVAR_E.
#[test]
fn eifel_with_a_larger_m_decays_more_slowly() {
    let expected = [
        [100_000_000, 16_666_666, 300_000_000],
        [105_000_000, 17_500_000, 315_000_000],
        [128_750_000, 36_875_000, 571_250_000],
        [146_562_500, 45_468_750, 692_187_500],
        [149_921_875, 43_466_796, 671_523_437],
        [137_441_406, 43_466_796, 659_042_968],
        [118_081_054, 43_466_796, 639_682_617],
        [103_560_791, 43_466_796, 625_162_353],
        [102_670_593, 43_466_796, 624_272_155],
        [177_002_944, 106_932_449, 1_460_192_337],
        [232_752_208, 135_948_600, 1_864_135_417],
        [269_564_156, 138_773_398, 1_934_844_937],
    ];
    let mut timer = build(&Choice::named("eifel").with("m", Value::Integer(3)));
    check(&mut *timer, 1, Window { cwnd: 4000, ssthresh: 3000 }, expected);
}

/// Section 5.4.2 of the thesis: RTTVAR is 0 and SRTT is the round trip, which suddenly rises. The
/// RTO is the sum of SRTT and DELTA, so the minimum, two ticks above the sample, takes effect.
#[test]
fn eifel_after_a_long_idle_time_uses_its_minimum() {
    let mut timer = build(&Choice::named("eifel"));
    for _ in 0..600 {
        sample(&mut *timer, Instant::ZERO, ms(50), 1, Window { cwnd: 4000, ssthresh: 3000 });
    }
    assert_eq!(timer.rto(), ms(70));
    sample(&mut *timer, Instant::ZERO, ms(90), 1, Window { cwnd: 4000, ssthresh: 3000 });
    assert_eq!(timer.rto(), ms(110));
    // SRTT is 60 and RTTVAR 10. DELTA 40 is 30 above RTTVAR, and 70 + 4 x 17.5 is above 100 + 20.
    sample(&mut *timer, Instant::ZERO, ms(100), 1, Window { cwnd: 4000, ssthresh: 3000 });
    assert_eq!(timer.rto(), ms(140));
}

/// A cwnd of 4 segments makes a cycle of 3/8 x 16 = 6: with k = 0.5 each sample takes 11/12 of AGG.
/// RTO_AGG is this share of [`QUARTER`]. After the fifth, sixth and tenth sample AGG rises half-way
/// to 1.
#[test]
fn self_trained() {
    use eifel_recovery::detect::Outcome::{Genuine, Spurious};
    let sequence = [
        (275_000_000, None),              // 11/12
        (249_982_638, None),              // 0.840278
        (283_549_985, None),              // 0.770255
        (280_551_207, None),              // 0.706067
        (251_375_964, Some(319_882_318)), // 0.647228, then 0.823614
        (283_802_961, Some(329_855_582)), // 0.754979, then 0.877490
        (286_794_816, None),              // 0.804366
        (252_188_948, None),              // 0.737335
        (230_571_526, None),              // 0.675891
        (404_689_837, Some(528_936_143)), // 0.619566, then 0.809783
        (603_404_707, None),              // 0.742301
        (579_676_499, None),              // 0.680443
    ];
    let mut timer = build(&Choice::named("self-trained").with("k_per_mille", Value::Integer(500)));
    for (rtt, (expected, spurious)) in ROUND_TRIPS.into_iter().zip(sequence) {
        sample(&mut *timer, Instant::ZERO, ms(rtt), 1, Window { cwnd: 4000, ssthresh: 3000 });
        assert!(timer.rto().as_nanos().abs_diff(expected) <= 1, "{rtt}: {:?} is not {expected}", timer.rto());
        timer.on_verdict(Genuine);
        assert!(timer.rto().as_nanos().abs_diff(expected) <= 1, "a genuine timeout teaches nothing");
        if let Some(expected) = spurious {
            timer.on_verdict(Spurious);
            assert!(timer.rto().as_nanos().abs_diff(expected) <= 1, "{rtt}: {:?} is not {expected}", timer.rto());
        }
    }
}

/// A cycle ends when the window shrinks. The next cycle goes by its largest window.
#[test]
fn self_trained_uses_the_last_cycles_measure() {
    let mut timer = build(&Choice::named("self-trained").with("k_per_mille", Value::Integer(500)));
    let mut untrained = build(&Choice::named("eifel"));
    let mut agg = 1.0;
    // 3/8 x 16, 3/8 x 36, then 3/8 x 36 while the window is smaller, and larger again; 3/8 x 64.
    for (cwnd, cycle) in [(4, 6.0), (6, 13.5), (3, 13.5), (4, 13.5), (8, 13.5), (4, 24.0)] {
        let window = Window { cwnd: cwnd * 1000, ssthresh: 3000 };
        sample(&mut *timer, Instant::ZERO, ms(100), 1, window);
        sample(&mut *untrained, Instant::ZERO, ms(100), 1, window);
        agg *= 1.0 - 0.5 / cycle;
        let share = timer.rto().as_nanos() as f64 / untrained.rto().as_nanos() as f64;
        assert!((share - agg).abs() < 1e-6, "{share} is not {agg} at {cwnd}");
    }
}

/// Each row has round trip in milliseconds, una and nxt; SRTT, a quarter of RTO - SRTT, and RTO.
/// Four times the mean deviation is 200, 150, 132.5, 396.875, 347.34, 333.98, 314.78, 292.34,
/// 268.48, 244.43, 221.01, 572.78, 473.44 ms.
#[test]
fn linux() {
    let mut timer = build(&Choice::named("linux"));
    let sequence = [
        ((100, 1, 11), [100_000_000, 50_000_000, 300_000_000]),
        ((100, 5, 14), [100_000_000, 50_000_000, 300_000_000]), // 0 - 50: the largest was 200
        ((120, 9, 18), [102_500_000, 50_000_000, 302_500_000]), // 20 - 37.5
        ((400, 12, 22), [139_687_500, 99_218_750, 536_562_500]), // 297.5 - 33.125, at once; the round is over
        ((90, 15, 25), [133_476_562, 99_218_750, 530_351_562]), // falls by 49.6875, less than 99.21875
        ((60, 19, 28), [124_291_992, 99_218_750, 521_166_992]), // falls by 73.476562, less than 86.835937
        ((60, 24, 34), [116_255_493, 96_123_047, 500_747_681]), // over: 396.875 - (396.875 - 347.34375) / 4
        ((60, 30, 40), [109_223_556, 96_123_047, 493_715_744]),
        ((60, 36, 46), [103_070_612, 90_363_579, 464_524_928]), // over: 384.492 - (384.492 - 314.780) / 4 - what the minimum of 200 leaves
        ((60, 42, 52), [97_686_785, 90_363_579, 459_141_101]),
        ((60, 48, 58), [92_975_937, 83_049_554, 425_174_155]), // over
        ((500, 54, 64), [143_853_945, 143_195_246, 716_634_929]), // at once
        ((100, 66, 76), [138_372_202, 143_195_246, 711_153_186]), // over, with the largest itself
    ];
    for ((rtt, una, nxt), expected) in sequence {
        let window = Window { cwnd: 10_000, ssthresh: 10_000 };
        take(&mut *timer, Instant::ZERO, (una, nxt), &Sample { rtt: ms(rtt), acked: 1000, window });
        assert_eq!(state(&*timer), expected, "{rtt} {una}");
    }
}

/// If the round trip falls far below SRTT, the deviation counts an eighth.
#[test]
fn linux_raises_rttvar_little_on_a_falling_round_trip() {
    let mut timer = build(&Choice::named("linux"));
    let window = Window { cwnd: 10_000, ssthresh: 10_000 };
    let mut after = |rtt, una| {
        take(&mut *timer, Instant::ZERO, (una, una + 10), &Sample { rtt: ms(rtt), acked: 1000, window });
        state(&*timer)
    };
    after(1000, 1);
    // The mean deviation is 500, or 2000 fourfold. A fall by 900 is 400 above 500, and 50 of these
    // count.
    assert_eq!(after(100, 5), [887_500_000, 512_500_000, 2_937_500_000]);
}

#[test]
fn fixed_does_not_measure() {
    let mut timer = build(&Choice::named("fixed").with("rto_ms", Value::Duration(ms(700))));
    for (expiries, millis) in [(0, 700), (1, 1400), (2, 2800), (7, 60_000)] {
        sample(&mut *timer, Instant::ZERO, ms(1), 1, Window { cwnd: 1000, ssthresh: 2000 });
        for _ in 0..expiries {
            timer.back_off();
        }
        assert_eq!((timer.rto(), timer.estimate()), (ms(millis), None));
    }
}
