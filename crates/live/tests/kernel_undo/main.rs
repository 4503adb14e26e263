//! The detector `linux` against a kernel: the packets at a Linux 6.18 sender, and the moments at
//! which its TCP entered Recovery or Loss, go to the detector. Its undos are compared with those
//! that the kernel's counters show for each of these episodes.
//!
//! `NAME.pcap.gz` is a recording of one sender between network namespaces, `episodes.csv` what its
//! tracepoints and counters said: when an episode began, its state, the timer's expiries in it, and
//! the counters of undos that rose in it. Counters were read every few milliseconds, so of two
//! episodes in a row either may have an undo that was seen between them. `counters.csv` has their
//! values at the end, which are exact. The recordings are all those of a larger set, drawn over
//! spikes, losses, reordering, lost ACKs and copies, whose capture has less than 32 kB.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod sender;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use eifel_testkit::golden;
use sender::{Episode, replay};

/// Returns the episodes of each recording, by its name.
fn recorded(folder: &Path) -> BTreeMap<String, Vec<Episode>> {
    let mut found: BTreeMap<String, Vec<Episode>> = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("episodes.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        found.entry(cells[0].to_owned()).or_default().push(Episode {
            ports: (cells[1].parse().unwrap(), cells[2].parse().unwrap()),
            begins_us: cells[3].parse().unwrap(),
            timeout: cells[4] == "Loss",
            timers: cells[5].parse().unwrap(),
            undos: cells[6].split_whitespace().map(str::to_owned).collect(),
        });
    }
    found
}

/// Returns the name of the counter in a verdict's reason.
fn counter(reason: &str) -> &str {
    reason.split_once('(').unwrap().1.trim_end_matches(')')
}

#[test]
fn the_detector_undoes_as_the_kernel_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel_undo");
    let mut kinds: BTreeMap<(String, String), u32> = BTreeMap::new();
    let (mut same, mut all, mut others) = (0, 0, String::new());
    let mut totals = std::fs::read_to_string(folder.join("counters.csv")).unwrap();
    for (name, episodes) in recorded(&folder) {
        let told = replay(&folder.join(format!("{name}.pcap.gz")), &episodes);
        let count = |name: &str| told.iter().flatten().filter(|reason| counter(reason) == name).count();
        let [full, partial, dsack] = ["TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo"].map(count);
        totals = totals.replace(&format!("\n{name},{full},{partial},{dsack}\n"), "\n");
        for (episode, reason) in episodes.iter().zip(&told) {
            let told = reason.map(counter);
            let agrees = match told {
                None => episode.undos.is_empty(),
                Some(told) => episode.undos.iter().any(|undo| undo == told),
            };
            let kernel = if episode.undos.is_empty() { "none".to_owned() } else { episode.undos.join(" ") };
            let shown = told.unwrap_or("none").to_owned();
            all += 1;
            same += u32::from(agrees);
            if !agrees {
                writeln!(others, "  {name} at {} us: {kernel} in the kernel, {shown} here", episode.begins_us).unwrap();
            }
            *kinds.entry((kernel, shown)).or_default() += 1;
        }
    }
    let mut text = format!("{same} of {all} episodes\n\nin the kernel / here: episodes\n");
    kinds.iter().for_each(|((kernel, told), count)| writeln!(text, "  {kernel} / {told}: {count}").unwrap());
    write!(text, "\ndifferent\n{others}").unwrap();
    write!(text, "\nother totals in the kernel\n{totals}").unwrap();
    golden!("kernel_undo.txt", text);
}
