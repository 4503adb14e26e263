//! Recordings of this kernel with their truth.

use crate::live;
use crate::rig::allowed;
use eifel_testkit::Folder;
use std::path::PathBuf;

/// One recording of each class. The truth counts retransmissions of data; the kernel counts
/// repeated SYNs and FINs too.
#[test]
fn the_truth_of_recordings_equals_the_kernels_own_counters() {
    if !allowed() {
        return;
    }
    let folder = Folder::new();
    let record = |seed: &str| live().args(["truth", "--count", "10", "--seed", seed]).arg(&*folder).output().unwrap();
    let output = record("5");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("tracefs") || said.contains("tracepoint") || said.contains("mount") {
        return eprintln!("SKIPPED: tracepoints cannot be read here: {said}");
    }
    assert!(output.status.success(), "{said}");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let recordings = manifest["recordings"].as_array().unwrap();
    let mut all = 0;
    for one in recordings {
        let (name, counters) = (one["name"].as_str().unwrap(), &one["counters"]);
        let own = one["retransmissions"].as_u64().unwrap();
        let kernels = counters["RetransSegs"].as_u64().unwrap() - counters["TCPSynRetrans"].as_u64().unwrap();
        assert!(own <= kernels && kernels <= own + 8, "{name}: {own} of {kernels}");
        assert_eq!(one["not_at_sender"], 0, "{name}");
        assert_eq!(one["without_cause"], 0, "{name}");
        let truth = std::fs::read_to_string(folder.join(format!("{name}.sender.truth.csv"))).unwrap();
        let rows: Vec<Vec<&str>> = truth.lines().skip(1).map(|line| line.split(',').collect()).collect();
        // A frame may hold several segments, and the kernel counts segments.
        let segments = |of: &dyn Fn(&[&str]) -> bool| {
            let segments = rows.iter().filter(|row| of(row)).map(|row| row[13].parse::<u64>().unwrap());
            segments.sum::<u64>()
        };
        let named = |cause: &str| segments(&|row| row[8] == cause);
        let back = one["back"].as_u64().unwrap();
        assert_eq!(segments(&|_| true), own + back, "{name}");
        let counted = |counter: &str| counters[counter].as_u64().unwrap();
        // The counters are those of one end. On a busy machine a device drops some that the kernel counted.
        if back == 0 {
            let dropped = kernels - own;
            let agree = |cause, counter: u64| (named(cause)..=named(cause) + dropped).contains(&counter);
            assert!(agree("fast", counted("TCPFastRetrans")), "{name}: {one}");
            assert!(agree("loss", counted("TCPSlowStartRetrans")), "{name}: {one}");
            assert!(agree("rto", counted("TCPTimeouts") - counted("TCPSynRetrans")), "{name}: {one}");
        }
        for place in ["sender", "between", "receiver"] {
            let truth = std::fs::read_to_string(folder.join(format!("{name}.{place}.truth.csv"))).unwrap();
            let rows = truth.lines().count() as u64 - 1;
            assert!(rows <= own + back, "{name} {place}: {rows} of {own}");
            let capture: PathBuf = folder.join(format!("{name}.{place}.pcapng"));
            assert!(capture.exists(), "{name} {place}");
        }
        all += own;
    }
    assert!(recordings.len() == 10 && all > 20, "{all} retransmissions");
    // The same call has nothing left to do, and another seed does not fit.
    let again = record("5");
    assert!(again.status.success() && again.stderr.is_empty(), "{again:?}");
    let other = record("6");
    assert!(String::from_utf8_lossy(&other.stderr).contains("recordings of the seed 5; expected 6"), "{other:?}");
}
