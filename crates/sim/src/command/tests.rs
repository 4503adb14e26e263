use super::*;
use eifel_testkit::{TextFile, command::answer};

const TEXT: &str = r##"
duration_s = 20
repetitions = 3
[point_to_point]
rate_bps = 2_000_000
delay_ms = 50
queue = { kind = "drop-tail", packets = 20 }
[[spike]]
links = ["bottleneck"]
holds = "sending"
first_s = { uniform = [0.1, 0.6] }
length_s = { uniform = [0.5, 1] }
interval_s = 10
interval = "end-to-start"
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 200_000 }
sender = { detect = "none" }
[[flow]]
name = "more#"
repeat = 2
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 100_000 }
"##;

fn toml(text: &str) -> TextFile {
    TextFile::new(text, ".toml")
}

fn said(words: &[&str], columns: usize) -> (u8, String, String) {
    let screen = Screen { columns, styled: false };
    answer(words, |words, out, err| main(words, None, screen, (out, err), &mut |_, _| Ok(())))
}

#[test]
fn flows_stand_side_by_side_and_groups_are_folded() {
    let file = toml(TEXT);
    let (code, out, err) = said(&[&file, "--repetitions", "1"], 140);
    assert_eq!((code, err.as_str()), (OK, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("{file}  seed 1"));
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["main", "more#", "(2", "flows)"]);
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["completed", "1", "1"]);
    assert!(out.contains("are zero for every flow; -v shows them; --flows shows each flow of a group\n"), "{out}");
    assert!(lines.last().unwrap().starts_with("fairness 0."), "{out}");
    let (_, out, _) = said(&[&file, "--repetitions=1", "--flows", "-v"], 140);
    assert!(out.lines().nth(1).unwrap().ends_with("more2") && !out.contains("are zero"), "{out}");
    assert!(out.ends_with("the detectors' verdicts and queueing delays are shown by the Python package's eifel\n"));
}

#[test]
fn a_narrow_screen_has_a_row_per_flow_and_says_what_has_no_room() {
    let file = toml(TEXT);
    let (_, out, _) = said(&[&file, "--repetitions", "2", "--flows"], 36);
    assert!(out.lines().all(|line| line.chars().count() <= 36), "{out}");
    assert!(out.lines().any(|line| line.starts_with("main  ")), "{out}");
    assert!(out.contains(" numbers have no room"), "{out}");
}

#[test]
fn the_number_of_threads_changes_nothing_and_repetitions_have_intervals() {
    let file = toml(TEXT);
    let one = said(&[&file, "--json", "--jobs", "1"], 140);
    assert_eq!(one, said(&[&file, "--json", "--jobs", "3"], 140));
    let found: Value = serde_json::from_str(&one.1).unwrap();
    assert_eq!((&found["schema"], &found["repetitions"], &found["seed"]), (&json!("run"), &json!(3), &json!(1)));
    let flow = &found["flows"][0];
    let [mean, low, high] =
        [&flow["mean"]["time_s"], &flow["interval95"]["time_s"][0], &flow["interval95"]["time_s"][1]];
    let [mean, low, high] = [mean, low, high].map(|number| number.as_f64().unwrap());
    assert!(low < mean && mean < high && found["fairness"].as_f64().unwrap() <= 1.0);
    assert!(found["detectors"].is_null() && found["queueing_ms"].is_null());
    let (_, single, _) = said(&[&file, "--json", "--repetitions", "1", "--repetition", "2"], 140);
    let single: Value = serde_json::from_str(&single).unwrap();
    assert_eq!((&single["repetition"], &single["flows"][0]["interval95"]["time_s"]), (&json!(2), &Value::Null));
}

#[test]
fn a_change_counts_and_a_wrong_one_is_one_line() {
    let file = toml(TEXT);
    let (code, out, _) = said(&[&file, "--set", "flow.main.application.bytes=1000", "--seed", "5", "--json"], 140);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &found["seed"], &found["flows"][0]["mean"]["bytes"]), (OK, &json!(5), &json!(1000.0)));
    let sweep = toml("scenario = \"x.toml\"\n");
    for (words, code, expected) in [
        (&[][..], 2, "run: no scenario; see --help".to_owned()),
        (&[&*file, &*file], 2, "run: expected one scenario; see --help".to_owned()),
        (&[&*file, "--set", "seed"], 2, "--set seed: expected key.path=value".to_owned()),
        (&[&*file, "--set", "sed=1"], 2, format!("{file}, as changed: sed: unknown key")),
        (&[&*file, "--set", "flow.other.start_s=1"], 2, "flow.other: no such entry in the list; there is: ".to_owned()),
        (&[&*file, "--repetitions", "0"], 2, "--repetitions 0: expected a whole number from 1".to_owned()),
        (&[&*file, "--repetition", "1"], 2, "--repetition 1: there are 3 repetitions; expected".to_owned()),
        (&[&*file, "--plot", "x.svg"], 2, "--plot: only the Python package's eifel has it; see --help".to_owned()),
        (&[&*file, "--sett", "x"], 2, "unknown option --sett; nearest: --set; see --help".to_owned()),
        (&["/nowhere.toml"], 2, "/nowhere.toml: No such file".to_owned()),
        (&["/"], 2, "/: Is a directory".to_owned()),
        (&[&*sweep], 2, format!("{sweep}: this is a sweep (it has scenario), and no scenario")),
    ] {
        let (found, out, err) = said(words, 140);
        assert!(found == code && out.is_empty() && err.lines().count() == 1, "{words:?}: {out}{err}");
        assert!(err.starts_with(&format!("eifel: {expected}")), "{words:?}: {err}");
    }
    assert_eq!(said(&["--help"], 140), (OK, RUN.usage(), String::new()));
}

#[test]
fn a_run_that_is_given_up_ends_with_the_reason() {
    let file = toml(TEXT);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code =
        main(&[file.to_string()], None, Screen::default(), (&mut out, &mut err), &mut |_, _| Err("enough".to_owned()));
    assert!(code == FAILED && out.is_empty() && String::from_utf8(err).unwrap().ends_with("enough\n"));
}

#[test]
fn repetitions_that_a_caller_has_run_are_not_run_again() {
    let words = |more: &[&str]| -> Vec<String> {
        ["ran.toml", "--json"].iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    let told = |words: &[String], ran: Ran| {
        let source = Source { text: TEXT.to_owned(), origin: PathBuf::from("ran.toml"), ran };
        let (mut out, mut err, mut heard) = (Vec::new(), Vec::new(), Vec::new());
        let code = main(words, Some(source), Screen::default(), (&mut out, &mut err), &mut |done, all| {
            heard.push((done, all));
            Ok(())
        });
        assert_eq!((code, err.as_slice()), (OK, &b""[..]));
        (String::from_utf8(out).unwrap(), heard)
    };
    let scenario = Scenario::parse(TEXT, Path::new("ran.toml")).unwrap();
    let ran = |repetition| {
        let summary = crate::run(&scenario, repetition, crate::record::Record::none()).unwrap().summary;
        let of_flow = |flow: &crate::summary::FlowSummary| {
            let value = |number: crate::summary::Number| match number.to_string().as_str() {
                "true" => 1.0,
                "false" => 0.0,
                text => text.parse().unwrap(),
            };
            numbers_of(flow.all_numbers().map(|(name, number)| (name, value(number))))
        };
        (repetition, summary.flows.iter().map(of_flow).collect::<Vec<Numbers>>())
    };
    let (alone, _) = told(&words(&[]), Ran::new());
    // The last one is none of the repetitions.
    let (again, heard) = told(&words(&["--jobs", "1"]), [ran(0), ran(2), ran(7)].into());
    assert_eq!((&again, heard), (&alone, vec![(3, 3)]));
    let (again, heard) = told(&words(&[]), (0..3).map(ran).collect());
    assert_eq!((&again, heard), (&alone, vec![]));
    // What the caller says counts, and what it does not say is left out.
    let (said, _) =
        told(&words(&["--repetitions", "1"]), [(0, vec![numbers_of([("drops", 41.0), ("x", 1.0)]); 3])].into());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["flows"][1]["mean"], json!({ "drops": 41.0 }));
}
