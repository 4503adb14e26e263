//! What a command answers to its words.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

/// Gives `main` the words of a command line. Returns its exit code, and what it wrote to standard
/// output and to standard error.
pub fn answer(words: &[&str], main: impl FnOnce(&[String], &mut Vec<u8>, &mut Vec<u8>) -> u8) -> (u8, String, String) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = main(&words, &mut out, &mut err);
    let [out, err] = [out, err].map(|text| String::from_utf8(text).expect("commands write UTF-8"));
    (code, out, err)
}

/// A file of a text, named by a command line. It is removed when this is dropped.
pub struct TextFile(String);

impl TextFile {
    /// Writes `text` to a file whose name ends with `suffix`.
    pub fn new(text: &str, suffix: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("eifel-{}-{}{suffix}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file for the test");
        Self(path.into_os_string().into_string().expect("a name in UTF-8"))
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Its name.
impl Deref for TextFile {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for TextFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
