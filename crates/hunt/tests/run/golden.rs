//! Whole scenarios, searches and answers from fixed seeds, and the program's output.

use eifel_testkit::Folder;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use eifel_hunt::claim::{Claim, effort};
use eifel_hunt::climb::{Candidate, Effort, Subject, search, simplest};
use eifel_hunt::field::{Field, Gene, Place};
use eifel_hunt::harm::Harm;
use eifel_hunt::liars::{Liars, best_liar, to_toml};
use eifel_hunt::survey::survey;
use eifel_hunt::wrong::{Wrong, count};
use eifel_path::stream::Stream;
use eifel_recovery::registry::Seam;
use eifel_sim::liar::schedule::Schedule;
use eifel_sim::scenario::Scenario;
use eifel_testkit::{digest, golden};

const FIELDS: [Field; 2] = [
    Field { without_timestamps: true, neighbours: true, pace: Some("pacing"), linux: false },
    Field { without_timestamps: false, neighbours: false, pace: None, linux: false },
];

/// A path of 10 Mbit/s and a round trip of 100 ms, which loses one segment in fifty.
const LOSSY: &str = r#"
duration_s = 15
[point_to_point]
rate_bps = 10_000_000
delay_ms = 50
queue = { kind = "drop-tail", packets = 80 }
loss = { kind = "random", rate = 0.02 }
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }
sender = { detect = "dsack", grant = "always" }
"#;

#[test]
fn drawn_and_mutated_places_match_their_golden() {
    let mut stream = Stream::new(11, &["golden"]);
    let (mut digests, mut whole) = (String::new(), String::new());
    for number in 0..240_u64 {
        let place = Place::draw(&mut stream);
        let changed = place.changed(&mut stream);
        let simpler: String = place.simpler().iter().map(|one| format!("{one:?}")).collect();
        let [one, other] = FIELDS.map(|field| field.scenario(&place, number).to_string());
        let moved = FIELDS[0].scenario(&changed, number).to_string();
        let all = [one.as_str(), &other, &moved, &simpler].map(digest);
        writeln!(digests, "{number}: {}", all.join(" ")).unwrap();
        if number % 80 == 0 {
            writeln!(whole, "# {number}\n{one}").unwrap();
        }
    }
    // Each property alone, weak, middling and strong.
    let genes = [Gene::Queue, Gene::Loss, Gene::Reorder, Gene::Spike, Gene::RateBack, Gene::SlowReader, Gene::Window];
    for gene in genes {
        for strength in [0.25, 0.5, 0.75, 1.0] {
            let place = Place::PLAIN.with(gene, strength);
            writeln!(digests, "{gene:?} {strength}: {}", digest(FIELDS[0].scenario(&place, 1).to_string())).unwrap();
        }
    }
    golden!("places.txt", digests);
    golden!("places.toml", whole);
}

#[test]
fn drawn_and_mutated_liars_match_their_golden() {
    let mut stream = Stream::new(12, &["golden"]);
    let mut text = String::new();
    for number in 0..120 {
        let one = Schedule::draw(&mut stream);
        let other = one.changed(&mut stream);
        let simpler: String = one.simpler().iter().map(to_toml).collect();
        if number < 6 {
            writeln!(text, "# {number}\n{}", to_toml(&one)).unwrap();
        }
        let all = [to_toml(&one), to_toml(&other), simpler].map(digest);
        writeln!(text, "# {number}: {}", all.join(" ")).unwrap();
    }
    golden!("liars.toml", text);
}

fn small(seed: u64) -> Effort {
    Effort { runs: 40, glance: 2, judging: 3, survivors: 2, seed, threads: Some(2) }
}

#[test]
fn results_of_searches_match_their_golden() {
    let sender = |text: &str| text.parse().unwrap();
    let harm =
        Harm { field: FIELDS[0], claimed: sender("detect = \"dsack\""), other: sender("detect = \"none\""), seed: 3 };
    let wrong = Wrong { field: FIELDS[1], detector: "min-rtt".into(), seed: 4 };
    let mut text = String::new();
    let mut heard = Vec::new();
    let surveyed = survey(&harm, &small(1), 0.0, |runs| heard.push(runs));
    for one in &surveyed {
        let place = digest(format!("{:?}", one.candidate));
        writeln!(text, "{place} {:?} {:?}", one.glanced, one.judged).unwrap();
    }
    let found = search(&wrong, &small(2), Vec::new(), |runs| heard.push(runs));
    for one in &found {
        writeln!(text, "{} {:?} {:?}", digest(format!("{:?}", one.candidate)), one.glanced, one.judged).unwrap();
    }
    let plain = simplest(&wrong, found[0].clone(), &small(2), |worth| worth.value >= found[0].judged.value);
    writeln!(text, "{plain:?}\n{heard:?}").unwrap();
    for first in [0, 5] {
        writeln!(text, "{:?}", harm.measure(&surveyed[0].candidate, first, 3)).unwrap();
        writeln!(text, "{:?}", wrong.measure(&found[0].candidate, first, 3)).unwrap();
        let scenario = wrong.scenario(&found[0].candidate).to_string();
        let scenario = Scenario::parse(&scenario, Path::new("place")).unwrap();
        writeln!(text, "{:?}", count(&scenario, first)).unwrap();
    }
    let liars = Liars::new(&Scenario::parse(LOSSY, Path::new("lossy")).unwrap(), 5).unwrap();
    let best = best_liar(&liars, &small(5), |runs| heard.push(runs));
    writeln!(text, "{heard:?} {:?}\n{}", best.judged, to_toml(&best.candidate)).unwrap();
    golden!("searches.txt", eifel_testkit::rounded(&text));
}

#[test]
fn answers_to_claims_match_their_golden() {
    let claims = [
        "kind = \"wrong\"\ndetector = \"min-rtt\"",
        "kind = \"wrong\"\ndetector = { name = \"f-rto\" }",
        "kind = \"harm\"\nsender = { detect = \"dsack\", pace = \"pacing\" }\nother = { detect = \"none\" }",
        "kind = \"harm\"\nsender = { detect = \"none\", recover = \"reno\" }\nother = { detect = \"none\" }",
    ];
    let mut text = String::new();
    for claim in claims {
        let mut heard = Vec::new();
        let effort = Effort { judging: 3, survivors: 2, ..effort(7, Some(2)) };
        let answer = Claim::parse(claim, 7).unwrap().hunt(12, 0.01, &effort, |done| heard.push(done));
        writeln!(text, "{claim}\n{heard:?} {} {:?}", answer.drawn, answer.mean).unwrap();
        for one in answer.against.iter().chain(&answer.worst) {
            writeln!(text, "{:?} {:?}\n{}", one.value, one.error, one.scenario).unwrap();
        }
    }
    let refused =
        ["kind = 1", "kind = \"harm\"\nother = 1", "kind = \"wrong\"\ndetector = \"nine\"", "kind = \"liars\"", "="];
    for claim in refused {
        writeln!(text, "{}", Claim::parse(claim, 1).unwrap_err()).unwrap();
    }
    // The list of all detectors changes with the registry.
    let detectors = Seam::Detect.entries().iter().chain(Seam::Detect.association_entries()).map(|entry| entry.name);
    let text = text.replace(&detectors.collect::<Vec<_>>().join(", "), "(all)");
    golden!("claims.txt", eifel_testkit::rounded(&text));
}

#[test]
fn the_commands_output_matches_its_golden() {
    let folder = Folder::new();
    std::fs::write(folder.join("lossy.toml"), LOSSY).unwrap();
    std::fs::write(folder.join("wrong.toml"), "duration_s = 1").unwrap();
    let calls = [
        "",
        "--help",
        "liars --help",
        "others",
        "liars",
        "liars --runs",
        "liars --runs 0",
        "liars --seed x",
        "liars --other",
        "liars lossy.toml other.toml",
        "liars none.toml",
        "liars wrong.toml",
        "liars lossy.toml --runs 30 --seed 2",
    ];
    let mut text = String::new();
    for call in calls {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eifel-hunt"));
        let output = command.args(call.split_whitespace()).current_dir(&folder).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        writeln!(text, "$ eifel-hunt {call}\n{out}{err}{:?}\n", output.status.code()).unwrap();
    }
    golden!("program.txt", eifel_testkit::rounded(&text));
}
