//! Runs test programs, without a change to see which changes they reach, and with one change.

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

/// The limit on the virtual memory of a test program, in KiB.
const MEMORY_KIB: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_millis(20);
/// The tests of this crate make devices and namespaces, which two simultaneous runs would take from
/// each other.
const ONE_AT_A_TIME: &str = "live";
static ALONE: Mutex<()> = Mutex::new(());

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Passed,
    Failed,
    /// It exceeded its time limit.
    Late,
}

/// Runs a program for at most `limit`. Returns its end and its duration.
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
    // A process started by a test may run for ever, and would occupy a core during all later
    // programs.
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
    /// The changes that the program reaches.
    pub reaches: BTreeSet<u32>,
}

/// Runs a program without a change. `None` if it does not pass within `limit`.
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

/// Runs the programs that reach a change: those of its own crate first, quickest first. Returns the
/// first program that notices the change; `None` if none does.
pub fn noticed<'u>(id: u32, krate: &str, usable: &'u [Usable], limit: Duration) -> io::Result<Option<&'u Program>> {
    let mut reaching: Vec<_> = usable.iter().filter(|one| one.reaches.contains(&id)).collect();
    reaching.sort_by_key(|one| (one.program.krate != krate, one.took));
    let began = Instant::now();
    for one in reaching {
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        // A run that never ends counts as noticed, if enough time was left for a normal run.
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

    /// Returns whether a process runs, and is not a zombie.
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
