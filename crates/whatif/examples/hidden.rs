//! Judges predictions on hidden paths: `cargo run --release -p eifel-whatif --example hidden -- COUNT [FIRST [none|transfer|bursts]]`.

use eifel_whatif::trial::{CrossTraffic, trial};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, other: u64| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(other);
    let (count, first) = (number(0, 20), number(1, 1));
    let cross = match arguments.get(2).map(String::as_str) {
        Some("transfer") => CrossTraffic::Transfer,
        Some("bursts") => CrossTraffic::Bursts,
        _ => CrossTraffic::None,
    };
    let (mut held, mut stated) = (0, 0);
    for seed in first..first + count {
        match trial(seed, cross, 60) {
            Err(error) => println!("{seed}: {}", error.0),
            Ok(one) => match &one.refused {
                Some(why) => println!("{seed}: refused: {why}"),
                None => {
                    let holds = one.low_bps <= one.truth_bps && one.truth_bps <= one.high_bps;
                    held += i32::from(holds);
                    stated += 1;
                    let part = |bps: f64| bps / one.truth_bps;
                    println!(
                        "{seed}: {} {:.3} to {:.3} of the truth, middle {:.3}; captured {:.3}, faster {:.2}",
                        if holds { "holds" } else { "MISSES" },
                        part(one.low_bps),
                        part(one.high_bps),
                        part(one.middle_bps),
                        part(one.captured_bps),
                        one.faster
                    );
                }
            },
        }
    }
    println!("{held} of {stated} ranges hold the truth; {} refused", count as i32 - stated);
}
