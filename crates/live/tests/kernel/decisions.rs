//! This kernel's undos beside the model's.

use crate::live;
use crate::rig::allowed;
use eifel_testkit::Folder;

/// One recording of each class with a box.
#[test]
fn the_model_undoes_as_this_kernel() {
    if !allowed() {
        return;
    }
    let folder = Folder::new();
    let compare =
        |seed: &str| live().args(["decisions", "--count", "9", "--seed", seed]).arg(&*folder).output().unwrap();
    let output = compare("5");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let files = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let of =
        |kind: &str| files().filter(|path| path.extension().is_some_and(|found| found == kind)).collect::<Vec<_>>();
    let refused: Vec<String> = of("refused").iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    if refused.iter().any(|why| why.contains("tracefs") || why.contains("tracepoint") || why.contains("mount")) {
        return eprintln!("SKIPPED: tracepoints cannot be read here: {refused:?}");
    }
    let tables: Vec<String> = of("csv").iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let rows: Vec<Vec<&str>> =
        tables.iter().flat_map(|text| text.lines().skip(1)).map(|line| line.split(',').collect()).collect();
    let alike = rows.iter().filter(|row| row[5] == row[6] && row[7] == "same").count();
    let undone = rows.iter().filter(|row| row[5] != "none").count();
    assert!(tables.len() >= 7 && rows.len() >= 10 && undone > 0, "{} rows, {undone} undone; {refused:?}", rows.len());
    // A busy machine may misplace the time of one.
    assert!(alike * 10 >= rows.len() * 9, "{alike} of {}", rows.len());
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(summary.contains(&format!("in {alike} of {} episodes", rows.len())), "{summary}");
    // The same call has nothing left to do, and another seed does not fit.
    let again = compare("5");
    assert!(again.stderr.is_empty() && String::from_utf8_lossy(&again.stdout) == summary);
    let other = compare("6");
    assert!(!other.status.success() && String::from_utf8_lossy(&other.stderr).contains("of the seed 5"));
}
