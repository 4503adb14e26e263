//! Shows the path extracted from a hidden path: `cargo run --release -p eifel-whatif --example
//! shown -- SEED [none|transfer|bursts]`.

use eifel_sim::record::Record;
use eifel_whatif::trial::{CrossTraffic, hidden};
use eifel_whatif::{events, replay, scenario};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seed = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(1);
    let cross = match arguments.get(1).map(String::as_str) {
        Some("transfer") => CrossTraffic::Transfer,
        Some("bursts") => CrossTraffic::Bursts,
        _ => CrossTraffic::None,
    };
    let (hidden, _) = hidden(seed, cross);
    println!("{hidden}");
    let outcome = replay::simulated(&hidden, Record::none().capturing(2)).expect("it runs");
    println!("{:?}", outcome.summary.flows[0]);
    let captured = events::of_pcapng(&outcome.captures[0].pcapng).expect("it is a capture");
    match captured.path() {
        Err(error) => println!("refused: {}", error.0),
        Ok(path) => {
            println!("{}", serde_json::to_string(&path).expect("it is plain"));
            println!("{:?} {:?}", path.losses.segments, path.reordering.segments);
            let real = replay::run(&scenario::as_seen(&path, &hidden["flow"][0]["sender"], 1));
            println!(
                "with the real sender: {real:?}",
                real = real.map(|events| events::Events { places: Vec::new(), ..events })
            );
            match replay::replay(&captured, &path) {
                Err(error) => println!("refused: {}", error.0),
                Ok(replay) => {
                    println!("{}", replay.sender);
                    replay.others.iter().for_each(|other| println!("  or {other}"));
                    for one in replay.compared {
                        println!("{:45} {:10.3} {:10.3} {}", one.what, one.captured, one.replayed, one.agrees);
                    }
                }
            }
        }
    }
}
