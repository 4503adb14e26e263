//! Analyses, annotates, draws and anonymises the captures in files and pipes.

mod parallel;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::analysis::{Analyzer, Totals};
use crate::frame::decode::{self, Content, Fragments};
use crate::frame::read::Frame;
use crate::frame::source::{STANDARD_INPUT, Stopped, damage, frames_of, length, open, pieces_of, plain};
use crate::places::{self, Place};
use crate::quic::{self, Losses};
use crate::report::annotate::Annotator;
use crate::report::anonymise::Anonymiser;
use crate::report::xpl::Plot;
use crate::report::{Capture, Report};
use crate::result::{End, Retransmission, Summary, When};

pub use parallel::analyze;

/// The largest log read, in bytes.
const MOST_LOG: u64 = 1 << 30;
/// A log is refused as a decompression bomb if it expands to more than this many times its stored
/// bytes plus [`LEAST_LOG`]. Logs of real transfers compress to a tenth, and their parsed values
/// need much more memory than the text.
const MOST_EXPANSION: u64 = 100;
const LEAST_LOG: u64 = 1 << 20;
/// The most directions that are plotted.
pub const MOST_PLOTS: usize = 50;

/// Receives the bytes read so far and the total bytes, both as stored; the total is 0 if unknown.
/// An error stops the analysis.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> Result<(), String>;

/// Analyses one file, or standard input. Passes connections and their retransmissions to `take` as
/// soon as they have ended. Returns the report of the whole capture without them.
///
/// # Errors
/// As [`analyze`].
pub fn stream(
    path: &Path,
    progress: Progress<'_>,
    take: &mut dyn FnMut(Vec<Summary>, Vec<Retransmission>),
) -> Result<Report, String> {
    let (mut analyzer, total) = (Analyzer::default(), length(path));
    let mut frames = 0;
    let read = pieces_of(path, |reader, read| {
        let whole = reader.each(&mut analyzer);
        frames = reader.frames();
        whole?;
        let (ended, retransmissions) = analyzer.take_ended();
        if !ended.is_empty() || !retransmissions.is_empty() {
            take(ended, retransmissions);
        }
        Ok(progress(read, total))
    });
    let capture = Capture { file: path.display().to_string(), frames, error: damage(read, frames)? };
    Ok(Report::of_one(capture, analyzer.finish_each(take)))
}

/// Analyses one file, or standard input, and calls `on_totals` with the totals after each piece of
/// it. Suits a capture that is still running. An error of `on_totals` stops the analysis.
///
/// # Errors
/// As [`analyze`].
pub fn follow(path: &Path, on_totals: &mut dyn FnMut(Totals) -> Result<(), String>) -> Result<Report, String> {
    let mut analyzer = Analyzer::default();
    let read = pieces_of(path, |reader, _| {
        reader.each(&mut analyzer)?;
        Ok(on_totals(analyzer.totals()))
    });
    let frames = analyzer.totals().frames;
    let capture = Capture { file: path.display().to_string(), frames, error: damage(read, frames)? };
    Ok(Report::of_one(capture, analyzer.finish()))
}

/// Joins the captures of a path's places, given with their names in the order of the path.
///
/// # Errors
/// Returns one line that names the file of which no frame could be read.
pub fn join(captures: &[(String, PathBuf)], progress: Progress<'_>) -> Result<places::Report, String> {
    let all = captures.iter().map(|(_, path)| length(path)).sum();
    let (mut joined, mut before) = (Vec::new(), 0);
    for (name, path) in captures {
        let mut place = Place::new(name, &path.display().to_string());
        let read = frames_of(path, |frame| place.frame(frame), |read| progress(before + read, all));
        place.note_error(damage(read, place.frames())?);
        before += length(path);
        joined.push(place);
    }
    Ok(places::join(joined))
}

/// Returns whether a file is a log and not a capture, by its name or its first bytes.
fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain_name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    if [".qlog", ".sqlog"].iter().any(|end| plain_name.ends_with(end)) {
        return true;
    }
    path.as_os_str() != STANDARD_INPUT && quic::is_log(&first(path, 256))
}

/// Returns the first bytes of a file, at most `most`; none if it cannot be read.
pub(crate) fn first(path: &Path, most: u64) -> Vec<u8> {
    let mut first = Vec::new();
    let read = open(path, &Rc::default()).and_then(|file| file.take(most).read_to_end(&mut first));
    if read.is_ok() { first } else { Vec::new() }
}

/// Judges logs.
fn losses(logs: &[PathBuf]) -> Result<Losses, String> {
    let texts = texts(logs)?;
    quic::analyse(&named(&texts))
}

fn named(texts: &[(String, String)]) -> Vec<(&str, &str)> {
    texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// Reads logs. Returns their names and texts.
pub(crate) fn texts(logs: &[PathBuf]) -> Result<Vec<(String, String)>, String> {
    let mut texts = Vec::new();
    for path in logs {
        let said = |what: &str| format!("{}: {what}", path.display());
        let mut bytes = Vec::new();
        let file = open(path, &Rc::default()).map_err(|error| said(&plain(&error)))?;
        let most = (length(path) * MOST_EXPANSION + LEAST_LOG).min(MOST_LOG);
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| said(&plain(&error)))?;
        if bytes.len() as u64 > most {
            return Err(said("expected a log of at most 1 GiB, and of at most 100 times its stored bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| said("no log: not UTF-8"))?;
        texts.push((path.display().to_string(), text));
    }
    Ok(texts)
}

/// Returns the files with the times of their first frames, in order of time. A file without frames
/// comes first.
fn in_order_of_time(files: &[PathBuf]) -> Result<Vec<(u64, PathBuf)>, String> {
    if let [one] = files {
        return Ok(vec![(0, one.clone())]);
    }
    if files.iter().any(|path| path.as_os_str() == STANDARD_INPUT) {
        return Err("-: standard input is analysed by itself; expected no other file beside it".into());
    }
    let mut timed = Vec::new();
    for path in files {
        let mut first = 0;
        let mut take = |frame: &Frame<'_>| {
            if first == 0 {
                first = frame.nanos;
            }
        };
        // The first piece is enough, unless the first block is longer.
        match frames_of(path, &mut take, &mut |_| Err(String::new())) {
            Err(Stopped::ByFile(message)) if first == 0 => return Err(message),
            _ => timed.push((first, path.clone())),
        }
    }
    timed.sort();
    Ok(timed)
}

/// Copies the only file of a report to a pcapng file, with the results as comments.
///
/// # Errors
/// Returns one line that names the file which could not be read or written.
pub fn annotate(report: &Report, output: &Path) -> Result<(), String> {
    let input = only_file(report)?;
    written(output, |out| annotated(&input, Annotator::new(BufWriter::new(out), report.of_capture(0))?))
}

/// Adds comments to the capture of a simulated run at a node, by frame number, from 1.
///
/// # Errors
/// Returns one line that names the file which could not be read or written.
pub fn comment(file: &Path, node: &str, comments: BTreeMap<u64, String>) -> Result<(), String> {
    // Data written into a pipe cannot be read again.
    if comments.is_empty() || !file.is_file() {
        return Ok(());
    }
    written(file, |out| annotated(file, Annotator::of_run(BufWriter::new(out), node, comments)?))
}

fn annotated<W: Write>(input: &Path, mut annotator: Annotator<W>) -> io::Result<()> {
    let mut failed = None;
    let mut take = |frame: &Frame<'_>| {
        if let Err(error) = annotator.frame(frame) {
            failed.get_or_insert(error);
        }
    };
    // The analysis used the same frames: those before the damage in the file.
    let _ = frames_of(input, &mut take, |_| Ok(()));
    match failed {
        Some(error) => Err(error),
        None => annotator.finish().map(drop),
    }
}

/// Copies a file with only the data that verdicts depend on.
///
/// # Errors
/// Returns one line that names the file which could not be read or written.
pub fn anonymise(input: &Path, output: &Path) -> Result<(), String> {
    written(output, |out| {
        let mut anonymiser = Anonymiser::new(BufWriter::new(out))?;
        let (mut failed, mut frames) = (None, 0);
        let mut take = |frame: &Frame<'_>| {
            frames += 1;
            if let Err(error) = anonymiser.frame(frame) {
                failed.get_or_insert(error);
            }
        };
        let read = frames_of(input, &mut take, |_| Ok(()));
        match (failed, read) {
            (Some(error), _) => Err(error),
            // Keep the frames before the damage in the file: these are the ones that an analysis
            // uses.
            (None, Err(Stopped::ByFile(message))) if frames == 0 => Err(io::Error::other(message)),
            _ => anonymiser.finish().map(drop),
        }
    })
}

/// Writes an xplot file into a folder for each direction with retransmissions, up to
/// [`MOST_PLOTS`]. If only QUIC logs were analysed, writes one for each trace with losses.
///
/// # Errors
/// Returns one line that names the file which could not be read or written.
pub fn plot(report: &Report, folder: &Path) -> Result<(), String> {
    if let Some(losses) = report.quic.as_ref().filter(|_| report.captures.is_empty()) {
        return plot_logs(losses, folder);
    }
    let input = only_file(report)?;
    let mut plots: BTreeMap<(u64, bool), Plot> = BTreeMap::new();
    for one in &report.retransmissions {
        let from_server = one.sender == End::Server;
        let Some(connection) = report.connections.iter().find(|found| found.connection == one.connection) else {
            continue;
        };
        if plots.len() < MOST_PLOTS && !plots.contains_key(&(one.connection, from_server)) {
            let same = report
                .retransmissions
                .iter()
                .filter(|other| other.connection == one.connection && other.sender == one.sender);
            let mut others = connection.other_addresses.clone();
            others.rotate_left(usize::from(from_server));
            let plot = Plot::new(connection.flow(from_server), same).with_addresses(others);
            plots.insert((one.connection, from_server), plot);
        }
    }
    let mut fragments = Fragments::default();
    let mut take = |frame: &Frame<'_>| {
        let when = When { nanos: frame.nanos, frame: frame.number };
        decode::each(frame.link, frame.bytes, frame.wire_len, &mut fragments, |content| match content {
            Ok(Content::Tcp(packet)) => plots.values_mut().for_each(|plot| plot.packet(&packet, when)),
            Ok(Content::Sctp(packet)) => plots.values_mut().for_each(|plot| plot.sctp(&packet, when)),
            Ok(Content::TooBig(_)) | Err(_) => {}
        });
    };
    let _ = frames_of(&input, &mut take, |_| Ok(()));
    create(folder)?;
    for ((connection, from_server), plot) in plots {
        let name = format!("{connection}.{}.xpl", if from_server { "server" } else { "client" });
        written(&folder.join(name), |out| out.write_all(plot.finish().as_bytes()))?;
    }
    Ok(())
}

fn plot_logs(losses: &Losses, folder: &Path) -> Result<(), String> {
    let mut logs: Vec<PathBuf> = losses.traces.iter().map(|trace| PathBuf::from(&trace.file)).collect();
    logs.dedup();
    let graphs = quic::xpl::graphs(losses, &named(&texts(&logs)?))?;
    create(folder)?;
    for (name, graph) in graphs.into_iter().take(MOST_PLOTS) {
        written(&folder.join(name), |out| out.write_all(graph.as_bytes()))?;
    }
    Ok(())
}

fn create(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {}", folder.display(), plain(&error)))
}

/// Returns the only file of a report, for functions that need its frames again.
///
/// # Errors
/// Fails if there are several files, or if the file is standard input.
pub fn only_file(report: &Report) -> Result<PathBuf, String> {
    match report.captures.as_slice() {
        [one] if one.file != STANDARD_INPUT => Ok(PathBuf::from(&one.file)),
        [_] => Err("-: standard input cannot be read twice; expected a file".into()),
        [] if report.quic.is_some() => Err("expected a capture: a log of QUIC has no frames".into()),
        _ => Err("expected one file, because its frames are read once more".into()),
    }
}

/// Writes a temporary file and renames it to `output`, so that `output` is never half written.
fn written(output: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), String> {
    let said = |error: io::Error| format!("{}: {}", output.display(), plain(&error));
    let mut beside = output.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside).map_err(said)?;
    let done = write(&mut file).and_then(|()| std::fs::rename(&beside, output));
    if done.is_err() {
        // Report the first error, not an error of the removal.
        let _ = std::fs::remove_file(&beside);
    }
    done.map_err(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::Folder;

    #[test]
    fn a_failed_write_leaves_the_earlier_file() {
        let folder = Folder::new();
        let output = folder.join("copy.pcapng");
        written(&output, |out| out.write_all(b"whole")).unwrap();
        let refused = written(&output, |out| {
            out.write_all(b"ha")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(refused, Err(format!("{}: the disk is full", output.display())));
        assert_eq!(std::fs::read(&output).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
    #[test]
    fn a_file_that_is_no_capture_is_not_anonymised() {
        let folder = Folder::new();
        let (input, output) = (folder.join("in"), folder.join("out"));
        std::fs::write(&input, "no capture at all").unwrap();
        let said = anonymise(&input, &output).unwrap_err();
        assert!(said.contains(&input.display().to_string()), "{said}");
        assert!(!output.exists());
        // An empty file is a capture without frames.
        std::fs::write(&input, "").unwrap();
        assert_eq!(anonymise(&input, &output), Ok(()));
    }
}
