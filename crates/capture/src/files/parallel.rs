//! Analyses files on several cores.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Progress, in_order_of_time, is_log, losses};
use crate::analysis::Analyzer;
use crate::analysis::shard::{self, Shard, ShardResults};
use crate::frame::source::{damage, length, pieces_of};
use crate::report::{Capture, Report};

/// The total size in bytes from which several threads are used.
const LARGE: u64 = 1 << 24;
/// The most threads used: more would only wait for the disk.
const MOST_SHARDS: u32 = 8;

/// Groups of files that form one capture, with the results of each shard.
type Groups = Vec<(Vec<Capture>, Vec<ShardResults>)>;

/// Analyses files. Files that follow each other in time, like the parts of a long capture, count as
/// one capture. Others, for example from two places, count as captures of their own.
///
/// # Errors
/// Returns one line for a file that cannot be opened or is no capture, and for standard input, `-`,
/// beside other files. A file that is damaged further on counts up to the damage, and the report
/// has the error.
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
    let total = files.iter().map(|(_, path)| length(path)).sum();
    let mut parts = in_shards(&files, (shards_of(&files, total), total), progress)?.into_iter();
    let mut groups = parts.next().unwrap_or_default();
    for part in parts {
        for (group, other) in groups.iter_mut().zip(part) {
            group.1.extend(other.1);
        }
    }
    for (captures, parts) in groups {
        report.add(captures, shard::join(parts));
    }
    Ok(report)
}

/// Analyses files of `total` bytes with one thread for each of `count` shards of their connections.
fn in_shards(
    files: &[(u64, PathBuf)],
    (count, total): (u32, u64),
    progress: Progress<'_>,
) -> Result<Vec<Groups>, String> {
    let stop = AtomicBool::new(false);
    let heed = || if stop.load(Ordering::Relaxed) { Err(String::new()) } else { Ok(()) };
    std::thread::scope(|scope| {
        let mut shards = Shard::all(count);
        let first = shards.next().unwrap_or(Shard::WHOLE);
        let spawn = |shard| scope.spawn(move || in_groups(files, shard, &mut |_| heed()));
        let others: Vec<_> = shards.map(spawn).collect();
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

/// Returns the number of shards: one per core, up to [`MOST_SHARDS`], if the files are large and
/// can be read more than once; otherwise 1.
fn shards_of(files: &[(u64, PathBuf)], total: u64) -> u32 {
    let again = files.iter().all(|(_, path)| path.is_file());
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    if again && total >= LARGE { cores.min(MOST_SHARDS) } else { 1 }
}

/// Analyses one shard of the connections of all files.
fn in_groups(
    files: &[(u64, PathBuf)],
    shard: Shard,
    progress: &mut dyn FnMut(u64) -> Result<(), String>,
) -> Result<Groups, String> {
    let (mut groups, mut analyzer, mut captures) = (Vec::new(), Analyzer::of(shard), Vec::new());
    let mut before = 0;
    for (begins, path) in files {
        if !captures.is_empty() && *begins < analyzer.last() {
            let over = std::mem::replace(&mut analyzer, Analyzer::of(shard));
            groups.push((std::mem::take(&mut captures), vec![over.finish_shard()]));
        }
        let mut frames = 0;
        let read = pieces_of(path, |reader, read| {
            let whole = reader.each(&mut analyzer);
            frames = reader.frames();
            whole.map(|()| progress(before + read))
        });
        let error = damage(read, frames)?;
        before += length(path);
        captures.push(Capture { file: path.display().to_string(), frames, error });
    }
    groups.push((captures, vec![analyzer.finish_shard()]));
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_hostile::captured::{Weather, captured};
    use eifel_testkit::Folder;
    use std::sync::atomic::AtomicU64;

    /// Writes two captures, one after the other in time, into a folder of their own. Returns the
    /// folder, the files, and their total bytes.
    fn files() -> (Folder, Vec<(u64, PathBuf)>, u64) {
        let folder = Folder::new();
        let runs = (0..9).filter_map(|seed| captured(seed, Weather::Plain).ok()).take(2);
        let written = runs.enumerate().map(|(place, run)| {
            let path = folder.join(format!("{place}.pcapng"));
            std::fs::write(&path, &run.places[0].pcapng).unwrap();
            (place as u64, path)
        });
        let written: Vec<_> = written.collect();
        let total = written.iter().map(|(_, path)| length(path)).sum();
        (folder, written, total)
    }

    /// Returns the report of all groups of captures, analysed in `count` shards.
    fn reported(files: &[(u64, PathBuf)], count: u32, total: u64) -> String {
        let mut parts = in_shards(files, (count, total), &mut |_, _| Ok(())).unwrap().into_iter();
        let mut groups = parts.next().unwrap();
        for part in parts {
            for (group, (captures, other)) in groups.iter_mut().zip(part) {
                assert_eq!(format!("{:?}", group.0), format!("{captures:?}"), "each shard reads every frame");
                group.1.extend(other);
            }
        }
        let mut report = Report::default();
        groups.into_iter().for_each(|(captures, parts)| report.add(captures, shard::join(parts)));
        format!("{report:?}")
    }

    #[test]
    fn the_joined_shards_equal_one_reader() {
        let (_folder, files, total) = files();
        let alone = reported(&files, 1, total);
        assert!(alone.len() > 1000, "{alone}");
        for count in [2, 3, MOST_SHARDS] {
            assert_eq!(reported(&files, count, total), alone, "{count} shards");
        }
    }

    #[test]
    fn stopping_one_thread_stops_the_others() {
        let (folder, files, total) = files();
        let heard = AtomicU64::new(0);
        let stopped = in_shards(&files, (3, total), &mut |read, all| {
            heard.fetch_max(read, Ordering::Relaxed);
            assert_eq!(all, total);
            Err("enough".to_owned())
        });
        assert_eq!(stopped.err().as_deref(), Some("enough"));
        assert!(heard.into_inner() <= total);
        let missing = [(0, folder.join("missing.pcapng"))];
        assert!(in_shards(&missing, (3, 1), &mut |_, _| Ok(())).is_err());
    }

    #[test]
    fn only_large_regular_files_are_divided_into_shards() {
        let (folder, files, total) = files();
        assert_eq!(shards_of(&files, LARGE - 1), 1);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        assert_eq!(shards_of(&files, LARGE), cores.min(MOST_SHARDS));
        assert_eq!(shards_of(&[(0, folder.to_path_buf())], LARGE + total), 1, "a folder stands for what is no file");
    }
}
