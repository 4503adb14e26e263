//! Folders and files of one test. They are removed when the value is dropped, also by a test that fails.

use std::fmt::{self, Display, Formatter};
use std::io::Write;
use std::ops::Deref;
use std::path::Path;
use tempfile::{Builder, TempDir, TempPath};

/// An empty folder.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    #[expect(clippy::new_without_default, reason = "a default is no place to make a folder")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// A file of a text, named by a command line.
#[derive(Debug)]
pub struct TextFile(TempPath);

impl TextFile {
    /// Writes `text` to a file whose name ends with `suffix`.
    pub fn new(text: &str, suffix: &str) -> Self {
        let mut file = Builder::new().suffix(suffix).tempfile().expect("a file for the test");
        file.write_all(text.as_bytes()).expect("room for the test's file");
        Self(file.into_temp_path())
    }
}

/// Its name.
impl Deref for TextFile {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.to_str().expect("a name in UTF-8")
    }
}

impl Display for TextFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
