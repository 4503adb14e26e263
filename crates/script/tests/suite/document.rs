//! The page on the language, docs/reference/scripts.md, is complete, and its example runs.

use std::fs;
use std::path::Path;

use eifel_script::variables::{CONSTANTS, of_associations, variables};
use eifel_script::{parse, run};

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scripts.md")).unwrap()
}

#[test]
fn the_pages_example_script_passes() {
    let page = page();
    let text = page.split("```packetdrill\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let outcome = run(&parse(text, "scripts.md").unwrap());
    assert!(outcome.passed(), "{outcome}");
}

#[test]
fn the_page_names_every_variable_constant_setting_and_option() {
    let page = page();
    let mut missing = Vec::new();
    let mut need = |name: &str| {
        if !page.contains(&format!("`{name}`")) {
            missing.push(name.to_owned());
        }
    };
    variables().iter().chain(of_associations()).for_each(|variable| need(variable.name));
    CONSTANTS.iter().for_each(|(name, _)| need(name));
    for text in ["//: x = 1", "//: x = 1\n0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3"] {
        let settings = parse(text, "x").unwrap_err().expected;
        settings.trim_start_matches("one of ").split(", ").for_each(&mut need);
    }
    assert!(missing.is_empty(), "{missing:?}");
    let options = parse("--x", "x").unwrap_err().expected;
    let options = options.split([' ', ',', ':']).filter(|word| word.starts_with("--"));
    assert_eq!(options.clone().filter(|option| !page.contains(*option)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(options.count() > 10);
    let calls = parse("0 x(3) = 0", "x").unwrap_err().expected;
    for call in calls.trim_start_matches("one of ").split(", ") {
        assert!(page.contains(&format!("`{call}")), "{call}");
    }
}

#[test]
fn the_page_quotes_the_registrys_summaries() {
    let page = page();
    for variable in variables().iter().chain(of_associations()) {
        assert!(page.contains(&format!("| `{}` | {} |", variable.name, variable.summary)), "{}", variable.name);
    }
}
