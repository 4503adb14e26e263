//! Analyses files, on as many cores as there are.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Progress, Stopped, in_order_of_time, is_log, length, losses, pieces_of};
use crate::analysis::Analyzer;
use crate::report::{Capture, Report};
use crate::share::{self, Part, Share};

/// From this number of bytes on, files are worth several threads.
const LARGE: u64 = 1 << 24;
/// More cores than these would wait for the disk.
const MOST_SHARES: u32 = 8;

/// Files that are one capture, and the findings in it, by share; several of these.
type Groups = Vec<(Vec<Capture>, Vec<Part>)>;

/// Analyses files. Those that follow each other in time, as those of a capture that went on from file to file, are taken for
/// one capture; others, as those from two places, stand for themselves.
///
/// # Errors
/// One line for a file that cannot be opened or holds no capture, and for standard input, `-`, beside other files. A file that
/// is damaged further on counts up to there, and the report says so.
pub fn analyze(files: &[PathBuf], progress: Progress<'_>) -> Result<Report, String> {
    let (logs, files): (Vec<PathBuf>, Vec<PathBuf>) = files.iter().cloned().partition(|path| is_log(path));
    let mut report = Report::default();
    if !logs.is_empty() {
        report.quic = Some(losses(&logs)?);
        if files.is_empty() {
            return Ok(report);
        }
    }
    let files = in_order_of_time(&files)?;
    let mut parts = in_shares(&files, progress)?.into_iter();
    let mut groups = parts.next().unwrap_or_default();
    for part in parts {
        for (group, other) in groups.iter_mut().zip(part) {
            group.1.extend(other.1);
        }
    }
    for (captures, parts) in groups {
        report.add(captures, share::join(parts));
    }
    Ok(report)
}

/// Analyses files with a thread for each share of their connections.
fn in_shares(files: &[(u64, PathBuf)], progress: Progress<'_>) -> Result<Vec<Groups>, String> {
    let total = files.iter().map(|(_, path)| length(path)).sum();
    let stop = AtomicBool::new(false);
    let heed = || if stop.load(Ordering::Relaxed) { Err(String::new()) } else { Ok(()) };
    std::thread::scope(|scope| {
        let mut shares = Share::all(shares_of(files, total));
        let first = shares.next().unwrap_or(Share::WHOLE);
        let spawn = |share| scope.spawn(move || in_groups(files, share, &mut |_| heed()));
        let others: Vec<_> = shares.map(spawn).collect();
        let mine = in_groups(files, first, &mut |read| progress(read, total));
        stop.store(mine.is_err(), Ordering::Relaxed);
        let mut parts = vec![mine?];
        for other in others {
            match other.join() {
                Ok(part) => parts.push(part?),
                Err(panicked) => std::panic::resume_unwind(panicked),
            }
        }
        Ok(parts)
    })
}

/// How many shares files are divided into: as many as there are cores, where the files are large and can be read more than once.
fn shares_of(files: &[(u64, PathBuf)], total: u64) -> u32 {
    let again = files.iter().all(|(_, path)| path.is_file());
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    if again && total >= LARGE { cores.min(MOST_SHARES) } else { 1 }
}

/// Analyses one share of the connections of all files.
fn in_groups(
    files: &[(u64, PathBuf)],
    share: Share,
    progress: &mut dyn FnMut(u64) -> Result<(), String>,
) -> Result<Groups, String> {
    let (mut groups, mut analyzer, mut captures) = (Vec::new(), Analyzer::of(share), Vec::new());
    let mut before = 0;
    for (begins, path) in files {
        if !captures.is_empty() && *begins < analyzer.last() {
            let over = std::mem::replace(&mut analyzer, Analyzer::of(share));
            groups.push((std::mem::take(&mut captures), vec![over.finish_part()]));
        }
        let mut frames = 0;
        let read = pieces_of(path, |reader, read| {
            let whole = reader.each(&mut analyzer);
            frames = reader.frames();
            whole.map(|()| progress(before + read))
        });
        let error = match read {
            Ok(()) => None,
            Err(Stopped::ByCaller(message)) => return Err(message),
            Err(Stopped::ByFile(message)) if frames == 0 => return Err(message),
            Err(Stopped::ByFile(message)) => Some(message),
        };
        before += length(path);
        captures.push(Capture { file: path.display().to_string(), frames, error });
    }
    groups.push((captures, vec![analyzer.finish_part()]));
    Ok(groups)
}
