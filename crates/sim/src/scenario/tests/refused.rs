//! Mistakes in scenarios, each with its exact error line.

use super::{GRAPH, PLAIN, refusal, with};
use eifel_recovery::registry::{Entry, Seam};
use eifel_testkit::Folder;

/// Mistakes in [`PLAIN`] and [`GRAPH`]: lines to replace (`-`), their replacements (`+`), and the
/// error line (`=`) from its line number on. `{detectors}` stands for the names of all detectors.
const PLAIN_MISTAKES: &str = include_str!("refused_plain.txt");
const GRAPH_MISTAKES: &str = include_str!("refused_graph.txt");

/// Returns all detectors. Detectors only for associations come last.
fn detectors() -> impl Iterator<Item = &'static Entry> {
    Seam::Detect.entries().iter().chain(Seam::Detect.association_entries())
}

/// Checks the error line of each mistake. Returns the number of mistakes.
fn verify(base: &str, mistakes: &str) -> usize {
    let mut wrong = String::new();
    let detectors: Vec<_> = detectors().map(|entry| entry.name).collect();
    let mistakes = mistakes.replace("{detectors}", &detectors.join(", "));
    let all = mistakes.split("\n\n");
    let count = all.clone().count();
    for mistake in all {
        let marked = |mark: char| {
            let lines = mistake.lines().filter_map(|line| line.strip_prefix(mark));
            lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        };
        let said = refusal(&with(base, &marked('-'), &marked('+')));
        if said != format!("run.toml:{}", marked('=')) {
            wrong += &format!("{mistake}\n! {said}\n\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    count
}

#[test]
fn mistakes_in_a_short_form_are_refused_with_exact_lines() {
    assert_eq!(verify(PLAIN, PLAIN_MISTAKES), 121);
}

#[test]
fn mistakes_in_a_graph_are_refused_with_exact_lines() {
    assert_eq!(verify(GRAPH, GRAPH_MISTAKES), 19);
}

#[test]
fn a_message_has_to_fit_into_the_send_buffer() {
    let messages = "application = { kind = \"messages\", bytes = 6000, interval_ms = 5, endless = true }";
    let over = with(PLAIN, "application = { kind = \"bulk\", bytes = 100_000 }", messages);
    let over =
        with(&over, "[flow.tcp]\npayload_bytes = 1000", "transport = \"sctp\"\n[flow.sctp]\nsend_buffer_bytes = 5000");
    assert_eq!(
        refusal(&with(&over, "recover = \"reno-sack\"", "")),
        "run.toml:17: flow[0].application.bytes: a message has no room in a send buffer of 5000 bytes; allowed: a larger \
         send_buffer_bytes, or fewer bytes"
    );
}

#[test]
fn a_recording_that_cannot_be_read_is_refused_with_its_line() {
    let folder = Folder::new();
    let mut said = Vec::new();
    for (name, text) in [("empty.down", ""), ("words.down", "1\nnext\n"), ("back.down", "5\n4\n")] {
        std::fs::write(folder.join(name), text).expect("a file for the test");
        let scenario = with(PLAIN, "rate_bps = 2_000_000", &format!("trace = {name:?}"));
        let error = super::Scenario::parse(&scenario, &folder.join("run.toml")).expect_err("a bad recording");
        said.push((error.line, error.key, error.what.replace(&folder.display().to_string(), "FOLDER")));
    }
    let key = "point_to_point.trace".to_owned();
    let expected = [
        "FOLDER/empty.down: line 1: an empty file; expected at least one time",
        "FOLDER/words.down: line 2: \"next\"; expected a time in whole milliseconds",
        "FOLDER/back.down: line 2: 4 after 5; expected times that never decrease",
    ];
    assert_eq!(said, expected.map(|what| (4, key.clone(), what.to_owned())));
}

#[test]
fn a_recording_may_stand_in_the_scenario_itself() {
    let recorded = |list: &str| {
        let scenario = with(PLAIN, "rate_bps = 2_000_000", &format!("trace = {list}"));
        super::Scenario::parse(&scenario, "run.toml".as_ref()).map_err(|error| error.to_string())
    };
    let scenario = recorded("[0, 4, 4, 20]").expect("a recording");
    assert!(format!("{:?}", scenario.links[0].config.capacity).contains("4 opportunities in 20 ms"));
    let refusal = |list: &str| recorded(list).expect_err("no recording");
    assert_eq!(
        refusal("[5, 4]"),
        "run.toml:4: point_to_point.trace: no recording of a link; allowed: times that never decrease"
    );
    assert_eq!(
        refusal("[0, 0]"),
        "run.toml:4: point_to_point.trace: no recording of a link; allowed: a last time above 0, the length of the recording"
    );
    assert!(refusal("[]").starts_with("run.toml:4: point_to_point.trace: "));
    assert!(refusal("[1, -2]").starts_with("run.toml:4: point_to_point.trace"));
}

#[test]
fn json_is_refused_with_its_lines_too() {
    let text = "{\n \"duration_s\": 5,\n \"point_to_point\": {\n  \"rate_bps\": 1000,\n  \"delay\": 5\n }\n}";
    assert_eq!(
        refusal(text),
        "run.toml:5: point_to_point.delay: unknown key; its unit here: delay_ms; allowed: back, rate_bps, rate_changes, \
         trace, delay_ms, delay_changes, queue, drops, loss, duplicate, reorder, jitter, ecn_faults, disturbed_until_s"
    );
    assert_eq!(
        refusal("{\"duration_s\": null}"),
        "run.toml:1: duration_s: null is not a number; allowed: a number of \
         seconds, more than 0, at most 315360000"
    );
    assert_eq!(refusal("{\"duration_s\": 5,"), "run.toml:1: not JSON: EOF while parsing an object");
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}", cut in 0..PLAIN.len(), inserted in "[a-z0-9_\\[\\]{}=\",. \n-]{0,12}") {
        let _ = super::Scenario::parse(&text, std::path::Path::new("run.toml"));
        let changed = format!("{}{inserted}{}", &PLAIN[..cut], &PLAIN[cut..]);
        if let Err(error) = super::Scenario::parse(&changed, std::path::Path::new("run.toml")) {
            proptest::prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
