//! Runs test programs: with no change, to see which changes they reach, and with one.

#![expect(clippy::disallowed_methods, reason = "test programs take real time")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::cargo::Program;

/// Virtual memory of a test program, in KiB.
const MEMORY_KIB: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_millis(20);
/// Its tests make devices and namespaces, which two runs at a time would take from each other.
const ONE_AT_A_TIME: &str = "live";
static ALONE: Mutex<()> = Mutex::new(());

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Passed,
    Failed,
    /// It took longer than it may.
    Late,
}

/// Runs a program, for no longer than `limit`.
pub fn run(program: &Program, environment: (&str, &str), limit: Duration) -> io::Result<(Ended, Duration)> {
    let _alone = (program.krate == ONE_AT_A_TIME).then(|| ALONE.lock());
    let began = Instant::now();
    let limited = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" --test-threads 1");
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(limited)
        .arg(&program.path)
        .current_dir(&program.folder)
        .env(environment.0, environment.1)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .stdin(Stdio::null())
        .stdout(File::create("/dev/null")?)
        .stderr(File::create("/dev/null")?)
        .process_group(0)
        .spawn()?;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break if status.success() { Ended::Passed } else { Ended::Failed };
        }
        if began.elapsed() > limit {
            break Ended::Late;
        }
        thread::sleep(PATIENCE);
    };
    let took = began.elapsed();
    // What a test has started may run for ever, and would take its core from all programs that follow.
    let group = format!("kill -s KILL -- -{} 2>/dev/null", child.id());
    Command::new("sh").arg("-c").arg(group).status()?;
    child.wait()?;
    Ok((ended, took))
}

/// A program that passes without any change.
#[derive(Clone, Debug)]
pub struct Usable {
    pub program: Program,
    pub took: Duration,
    /// The changes that it reaches.
    pub reaches: BTreeSet<u32>,
}

/// Runs a program without a change; `None` if it does not pass in time.
pub fn reach(program: &Program, scratch: &Path, limit: Duration) -> io::Result<Option<Usable>> {
    let folder = scratch.join(format!("{}-{}", program.krate, program.name));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let (ended, took) = run(program, ("EIFEL_REACHED", &folder.to_string_lossy()), limit)?;
    if ended != Ended::Passed {
        return Ok(None);
    }
    let names = fs::read_dir(&folder)?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(Some(Usable { program: program.clone(), took, reaches: names.collect() }))
}

/// Runs the programs that reach a change, the quickest of its own crate first. Returns the one that notices it, if any does.
pub fn noticed<'u>(id: u32, krate: &str, usable: &'u [Usable], limit: Duration) -> io::Result<Option<&'u Program>> {
    let mut reaching: Vec<_> = usable.iter().filter(|one| one.reaches.contains(&id)).collect();
    reaching.sort_by_key(|one| (one.program.krate != krate, one.took));
    let began = Instant::now();
    for one in reaching {
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        // A run that never ends is noticed, as far as it had time for another.
        let patience = one.took * 5 + Duration::from_secs(10);
        let (ended, _) = run(&one.program, ("EIFEL_CHANGE", &id.to_string()), patience.min(left))?;
        if ended == Ended::Failed || ended == Ended::Late && patience <= left {
            return Ok(Some(&one.program));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Whether a process runs that is more than an entry for its parent to read.
    fn runs(process: &str) -> bool {
        fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn nothing_that_a_program_has_started_outlives_it() {
        let folder = std::env::temp_dir().join(format!("eifel-mutants-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, started) = (folder.join("program"), folder.join("started"));
        for (end, expected) in [("wait", Ended::Late), ("exit 1", Ended::Failed), ("exit 0", Ended::Passed)] {
            let text = format!("#!/bin/sh\nsleep 600 & echo $! > started.new; mv started.new started; {end}\n");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let program =
                Program { krate: "any".into(), name: "program".into(), path: path.clone(), folder: folder.clone() };
            let (ended, _) = run(&program, ("EIFEL_CHANGE", "0"), Duration::from_millis(600)).unwrap();
            assert_eq!(ended, expected, "{end}");
            let process = fs::read_to_string(&started).unwrap().trim().to_owned();
            let gone = (0..100).any(|_| {
                thread::sleep(PATIENCE);
                !runs(&process)
            });
            assert!(gone, "{end}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
