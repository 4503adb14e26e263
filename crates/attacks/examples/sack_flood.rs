//! Runs the flood of `t11-sack-cost` once, for a tool that counts instructions:
//! `sack_flood ORDER SEGMENTS flood|build`. With `build` it makes the victim and does not flood it.

use std::process::ExitCode;

use eifel_attacks::{Order, flood};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [order, segments, part] = &arguments[..] else { return usage() };
    let order = Order::ALL.iter().find(|(name, _)| name == order);
    match (order, segments.parse(), part.as_str()) {
        (Some((_, order)), Ok(segments), "flood" | "build") => flood(*order, segments, part == "flood"),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let orders = Order::ALL.map(|(name, _)| name).join("|");
    eprintln!("usage: sack_flood {orders} SEGMENTS flood|build");
    ExitCode::FAILURE
}
