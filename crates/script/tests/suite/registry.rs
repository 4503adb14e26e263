//! Each algorithm of the registry has five conversations, in a folder named after its seam and
//! itself.

use eifel_recovery::registry::{Choice, Entry, Seam, entries};
use eifel_script::{Script, parse};
use std::fs;

use crate::folder::root;

const SITUATIONS: [&str; 5] = ["spike", "genuine-loss", "reordering", "lost-acks", "duplicated-packet"];

fn chosen(script: &Script, seam: Seam) -> &Choice {
    let config = script.config();
    match seam {
        Seam::Detect => &config.detect,
        Seam::Respond => &config.respond,
        Seam::Grant => &config.grant,
        Seam::Rto => &config.rto,
        Seam::AfterSpurious => &config.after_spurious,
        Seam::Recover => &config.recover,
        Seam::Congest => &config.congest,
        Seam::Pace => &config.pace,
        Seam::Retransmit | Seam::Credit => unreachable!("a connection has one path"),
    }
}

fn wrong(entry: &Entry, situation: &str) -> Option<String> {
    let name = format!("{}/{}/{situation}.pkt", entry.seam.name(), entry.name);
    let Ok(text) = fs::read_to_string(root().join(&name)) else { return Some(format!("{name} is missing")) };
    match parse(&text, &name) {
        Err(error) => Some(error.to_string()),
        Ok(script) if chosen(&script, entry.seam).name != entry.name => {
            Some(format!("{name} is about another algorithm"))
        }
        Ok(_) => None,
    }
}

#[test]
fn every_algorithm_has_its_five_conversations() {
    let wrong: Vec<_> =
        entries().flat_map(|entry| SITUATIONS.iter().filter_map(|situation| wrong(entry, situation))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_script_folder_names_an_unknown_algorithm() {
    for seam in Seam::ALL {
        for folder in fs::read_dir(root().join(seam.name())).unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap();
            assert!(seam.entry(&name).is_some(), "{} {name}", seam.name());
        }
    }
}
