//! Digests of whole runs of random links with random traffic.

use std::fmt::Write;

use eifel_testkit::{digest, golden};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::common::run_seeded;
use crate::properties::{any_link, any_traffic};

/// Number of runs for one digest, and number of digests.
const BLOCK: u64 = 20;
const BLOCKS: u64 = 100;

#[test]
fn links_act_as_recorded() {
    let mut runner = TestRunner::deterministic();
    let (mut text, mut marked, mut dropped) = (String::new(), 0, 0);
    for block in 0..BLOCKS {
        let mut runs = String::new();
        for seed in block * BLOCK..(block + 1) * BLOCK {
            let config = any_link().new_tree(&mut runner).unwrap().current();
            let traffic = any_traffic().new_tree(&mut runner).unwrap().current();
            let run = run_seeded(&config, &traffic, seed);
            marked += run.marked.len();
            dropped += run.dropped.len();
            writeln!(runs, "{run:?}").unwrap();
        }
        writeln!(text, "{block}: {}", digest(runs)).unwrap();
    }
    golden!("links.txt", format!("{text}{marked} parcels are marked, {dropped} dropped\n"));
}
