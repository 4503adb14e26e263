//! A watch beside a recording: what `eifel watch` says of the sender's connections meanwhile.

use crate::system::Error;
use crate::system::namespace::Namespace;
use eifel_watch::command::write_json;
use eifel_watch::{Filter, Judged, Watch};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The longest wait for the kernel's facts, in milliseconds, so that the end is soon seen.
const POLL_MS: u32 = 100;

/// A thread that watches a namespace.
pub(super) struct Watched {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Judged>, Error>>,
}

impl Watched {
    /// Watches the connections of a namespace from now on.
    ///
    /// # Errors
    /// If the rights are missing, or the kernel refuses the programs.
    pub(super) fn begin(namespace: &Namespace) -> Result<Self, Error> {
        let path = namespace.path();
        let inode = fs::metadata(&path).map_err(|error| Error::new(path, &error, ""))?.ino();
        let filter = Filter { namespace: u32::try_from(inode).ok(), ..Filter::default() };
        let mut watch = Watch::begin(&filter, &[])?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut judged = Vec::new();
            while !asked.load(Ordering::Relaxed) {
                judged.extend(watch.poll(POLL_MS)?);
            }
            judged.extend(watch.finish());
            Ok(judged)
        });
        Ok(Self { stop, thread })
    }

    /// Ends, and writes the lines of `eifel watch --json` into a file.
    ///
    /// # Errors
    /// Those of the watch and of the file.
    pub(super) fn finish(self, path: &Path) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        let judged = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let write = || {
            let mut file = BufWriter::new(File::create(path)?);
            judged.iter().try_for_each(|one| write_json(&mut file, one))?;
            file.flush()
        };
        write().map_err(|error| Error::new(path.display().to_string(), &error, ""))
    }
}
