//! Analyses captures from the command line, without Python.

use std::path::Path;
use std::process::ExitCode;

use eifel_capture::{score, source};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("eifel-capture: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut truth = None;
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--score" => truth = Some(arguments.next().ok_or("--score: expected a truth file")?),
            _ => files.push(argument),
        }
    }
    for file in &files {
        let opened = source::open(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
        let (analysis, end) = source::analyse(opened, |_| {});
        if let Err(message) = end {
            eprintln!("{file}: {message}");
        }
        println!(
            "{file}: {} frames, {} segments, {} connections, {} retransmissions, {:?}",
            analysis.frames,
            analysis.segments,
            analysis.connections.len(),
            analysis.retransmissions.len(),
            analysis.others
        );
        if let Some(truth) = &truth {
            let text = std::fs::read_to_string(truth).map_err(|error| format!("{truth}: {error}"))?;
            let score = score::score(&score::read_truth(&text)?, &analysis.retransmissions);
            println!("{score:#?}");
        }
        for one in &analysis.connections {
            for direction in &one.directions {
                if direction.counts.retransmissions > 0 {
                    println!("  {} {}->{} {direction:?}", one.connection, one.client, one.server);
                }
            }
        }
    }
    Ok(())
}
