//! Each algorithm of the registry has five conversations, in a folder named after its seam and
//! itself: with a connection, or with an association if only that can use it.

use eifel_recovery::registry::{Choice, Entry, Seam, association_entries, entries};
use eifel_script::{Script, parse};
use std::fs;

use crate::folder::root;

const SITUATIONS: [&str; 5] = ["spike", "genuine-loss", "reordering", "lost-acks", "duplicated-packet"];

/// Returns the script's choice for a seam; `None` if its conversation has no such seam.
fn chosen(script: &Script, seam: Seam) -> Option<&Choice> {
    let association = script.association_config();
    let config = association.map_or(script.config(), |association| &association.path);
    match seam {
        Seam::Detect => Some(&config.detect),
        Seam::Respond => Some(&config.respond),
        Seam::Grant => Some(&config.grant),
        Seam::Rto => Some(&config.rto),
        Seam::AfterSpurious => Some(&config.after_spurious),
        Seam::Recover => Some(&config.recover),
        Seam::Congest => Some(&config.congest),
        Seam::Pace => Some(&config.pace),
        Seam::Retransmit => association.map(|association| &association.retransmit),
        Seam::Credit => association.map(|association| &association.credit),
    }
}

fn wrong(entry: &Entry, situation: &str) -> Option<String> {
    let name = format!("{}/{}/{situation}.pkt", entry.seam.name(), entry.name);
    let Ok(text) = fs::read_to_string(root().join(&name)) else { return Some(format!("{name} is missing")) };
    match parse(&text, &name) {
        Err(error) => Some(error.to_string()),
        Ok(script) if chosen(&script, entry.seam).is_none_or(|choice| choice.name != entry.name) => {
            Some(format!("{name} is about another algorithm"))
        }
        Ok(_) => None,
    }
}

#[test]
fn every_algorithm_has_its_five_conversations() {
    let all = entries().chain(association_entries());
    let wrong: Vec<_> =
        all.flat_map(|entry| SITUATIONS.iter().filter_map(|situation| wrong(entry, situation))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_script_folder_names_an_unknown_algorithm() {
    for seam in Seam::ALL.into_iter().chain(Seam::OF_ASSOCIATIONS) {
        let known = || seam.entries().iter().chain(seam.association_entries());
        for folder in fs::read_dir(root().join(seam.name())).unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap();
            assert!(known().any(|entry| entry.name == name), "{} {name}", seam.name());
        }
    }
}
