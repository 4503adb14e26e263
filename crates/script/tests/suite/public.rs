//! The statements of docs/reference/scripts.md about public suites. The suites are not shipped:
//! `EIFEL_PACKETDRILL` names a folder with `google` and `freebsd`, and without it only the page
//! itself is checked.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use eifel_script::{Profile, parse_for, run};

use crate::folder::scripts;

/// Numbers of scripts that pass, fail and are refused.
type Counts = [usize; 3];

fn page() -> String {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scripts.md")).unwrap();
    page.split("## Public suites").nth(1).unwrap().split("\n## ").next().unwrap().to_owned()
}

/// Returns the cells of each table row.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with("| "));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

fn table(page: &str) -> BTreeMap<String, (usize, Counts)> {
    let numbers = rows(page).filter(|cells| cells.len() == 5 && cells[0].starts_with('`'));
    numbers
        .map(|cells| {
            let number = |index: usize| cells[index].parse().unwrap();
            (cells[0].trim_matches('`').to_owned(), (number(1), [number(2), number(3), number(4)]))
        })
        .collect()
}

/// Returns patterns of scripts, each with its reason.
fn reasons(page: &str) -> Vec<(String, String)> {
    let listed = rows(page).filter(|cells| cells.len() == 2 && cells[1].starts_with('`'));
    listed
        .flat_map(|cells| {
            let patterns = cells[1].split(", ").map(|pattern| pattern.trim_matches('`').to_owned());
            patterns.map(|pattern| (pattern, cells[0].to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns whether a pattern matches a name: `*` stands for any text, `[…]` for one of these
/// letters.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        ([b'[', rest @ ..], [letter, others @ ..]) => {
            let end = rest.iter().position(|byte| *byte == b']').unwrap();
            rest[..end].contains(letter) && fits(&rest[end + 1..], others)
        }
        ([own, rest @ ..], [letter, others @ ..]) => own == letter && fits(rest, others),
        _ => false,
    }
}

#[test]
fn the_table_adds_up_and_no_pattern_stands_twice() {
    let page = page();
    let table = table(&page);
    assert_eq!(table.len(), 9);
    for (suite, (scripts, counts)) in &table {
        assert_eq!(*scripts, counts.iter().sum::<usize>(), "{suite}");
    }
    let reasons = reasons(&page);
    assert!(reasons.len() >= 40);
    for (index, (pattern, _)) in reasons.iter().enumerate() {
        assert!(reasons[..index].iter().all(|(known, _)| known != pattern), "{pattern}");
        assert!(table.keys().any(|suite| pattern.starts_with(suite.as_str())), "{pattern}");
    }
    assert!(fits(b"a/[bc]*d", b"a/bxd") && !fits(b"a/[bc]*d", b"a/xd") && !fits(b"a", b"ab"));
}

#[test]
fn every_public_script_does_as_the_page_says() {
    let Some(folder) = env::var_os("EIFEL_PACKETDRILL") else { return };
    let (page, folder) = (page(), Path::new(&folder));
    let (table, reasons) = (table(&page), reasons(&page));
    let mut found: BTreeMap<String, Counts> = BTreeMap::new();
    let mut used = vec![false; reasons.len()];
    let mut wrong = Vec::new();
    for path in [scripts(&folder.join("google")), scripts(&folder.join("freebsd"))].concat() {
        let name = path.strip_prefix(folder).unwrap().with_extension("").display().to_string();
        let name = name.replace("gtests/net/tcp/", "");
        let profile = if name.starts_with("google") { Profile::Linux } else { Profile::FreeBsd };
        let outcome = match parse_for(profile, &fs::read_to_string(&path).unwrap(), &name) {
            Err(_) => 2,
            Ok(script) => usize::from(!run(&script).passed()),
        };
        let suite = table.keys().find(|suite| name.starts_with(suite.as_str()));
        found.entry(suite.cloned().unwrap_or_default()).or_default()[outcome] += 1;
        let given: Vec<_> =
            (0..reasons.len()).filter(|&index| fits(reasons[index].0.as_bytes(), name.as_bytes())).collect();
        match (outcome, given.as_slice()) {
            (0, _) | (_, [_]) => {}
            _ => wrong.push(format!("{name} does not pass, and has {} reasons", given.len())),
        }
        if outcome > 0 {
            given.into_iter().for_each(|index| used[index] = true);
        }
    }
    let listed = table.into_iter().map(|(suite, (_, counts))| (suite, counts)).collect();
    wrong.extend(
        reasons.iter().zip(used).filter(|(_, used)| !used).map(|((pattern, _), _)| format!("{pattern}: all pass")),
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found, listed);
}
