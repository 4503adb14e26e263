//! Whole runs of two associations: courses that can be read packet by packet, and storms with one
//! line per run.

#![expect(clippy::unwrap_used, reason = "what a helper cannot do fails the test")]

mod courses;
mod draw;
mod storm;
#[expect(dead_code, reason = "the other tests use the rest")]
#[path = "../run/talk.rs"]
mod talk;
mod told;

use eifel_testkit::golden;

#[test]
fn courses_packet_by_packet() {
    golden!("courses.txt", courses::all());
}

/// The lines are not meant for reading. A changed line shows which run a code change affects, and
/// roughly how.
#[test]
fn storms() {
    let lines: Vec<_> = (0..storm::COUNT).map(storm::line).collect();
    golden!("storms.txt", lines.concat());
}
