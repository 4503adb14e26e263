//! `decisions`: compares this kernel's undos with those of the detector and the response `linux`.

use super::setup::namespace;
use super::truth::{Drawn, each, port};
use super::{Failure, OK, print};
use crate::decisions::{self, COLUMNS, draw, rows};
use crate::system::Error;
use crate::truth::draw::Draw;
use eifel_watch::Tap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const USAGE: &str = "\
Records single TCP connections of this kernel through the box, as drawn scenarios disturb them (as in `eifel live truth`), and
compares, from each loss signal to the next, what this kernel undid with what detect = \"linux\" and respond = \"linux\" decide
about the same packets. Needs root. An interrupted call goes on where it was.

usage: eifel live decisions [OPTIONS] FOLDER

  --count N          draws (default: 30); a tenth of them are of a LAN, and are left out
  --first N          the number of the first one (default: 0)
  --seed S           the seed of all draws (default: 1)
  --at-once N        recordings at the same time (default: 3)

FOLDER gets NAME.csv with a row for each loss signal: which undos the kernel and the model did, and cwnd in segments after them.
If they differ, the recording's files stay in NAME.box. NAME.refused says why a recording does not count.

example: eifel live decisions --count 30 --seed 7 out/decisions
";

/// The time after which the kernel stamps packets.
const STAMPED: Duration = Duration::from_millis(300);

pub(super) fn command(words: &[String]) -> Result<u8, Failure> {
    let Some((Drawn { folder, first, count, seed, at_once }, _)) = Drawn::read(words, (&[], &[]))? else {
        return print(USAGE).map(|()| OK);
    };
    // Missing rights are one line, before anything is written.
    let idle = namespace()?;
    // The kernel stamps packets from some time after the first socket wants it until the last is closed.
    // Without a stamp, a packet has the time at which it is read.
    let stamping = idle.within(|| Ok(Tap::open()?))?;
    thread::sleep(STAMPED);
    let folder = Path::new(&folder);
    let failed = |path: &Path, cause: &dyn Display| Error::new(path.display().to_string(), cause, "");
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    claim(&folder.join("seed.txt"), seed)?;
    let draws: Vec<Draw> = (first..first + count).filter_map(|number| draw(seed, number)).collect();
    let of = |draw: &Draw, kind: &str| folder.join(format!("{}.{kind}", draw.name));
    let is_made = |draw: &Draw| of(draw, "csv").exists() || of(draw, "refused").exists();
    let missing: Vec<Draw> = draws.iter().filter(|draw| !is_made(draw)).cloned().collect();
    each(&missing, at_once, |draw| {
        let (path, text) = match decisions::record(draw, folder, port(draw)) {
            Ok(decisions) => (of(draw, "csv"), format!("{COLUMNS}\n{}", rows(draw, &decisions))),
            Err(error) => (of(draw, "refused"), format!("{error}\n")),
        };
        eprintln!("{}", path.display());
        // A call that is killed leaves the whole file or none.
        let new = of(draw, "new");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(|error| failed(&path, &error))
    })?;
    drop(stamping);
    print(&format!("{}\n", summary(&draws.iter().map(|draw| of(draw, "csv")).collect::<Vec<_>>())?)).map(|()| OK)
}

/// Notes the seed of a folder's draws, and refuses another.
pub(super) fn claim(path: &Path, seed: u64) -> Result<(), Error> {
    let failed = |cause: &dyn Display| Error::new(path.display().to_string(), cause, "");
    match fs::read_to_string(path) {
        Ok(text) if text.trim() == seed.to_string() => Ok(()),
        Ok(text) => Err(failed(&format!("recordings of the seed {}; expected {seed}, or another folder", text.trim()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::write(path, format!("{seed}\n")).map_err(|error| failed(&error))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Counts the rows of recordings.
fn summary(files: &[PathBuf]) -> Result<String, Error> {
    let (mut made, mut all, mut same) = (0, 0, 0);
    for path in files.iter().filter(|path| path.exists()) {
        let text = fs::read_to_string(path).map_err(|error| Error::new(path.display().to_string(), &error, ""))?;
        made += 1;
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            all += 1;
            same += u32::from(matches!(fields[..], [_, _, _, _, _, kernel, model, "same", ..] if kernel == model));
        }
    }
    let refused = files.len() - made;
    Ok(format!("{made} recordings, and {refused} that do not count: in {same} of {all} episodes both decided alike"))
}
