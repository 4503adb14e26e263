//! Added to each crate with changed code: returns whether a change is on, from the environment.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ON: LazyLock<u32> =
    LazyLock::new(|| std::env::var("EIFEL_CHANGE").ok().and_then(|id| id.parse().ok()).unwrap_or(0));
/// The folder in which each reached change leaves an empty file.
static REACHED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("EIFEL_REACHED").ok());
static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

/// Returns whether the change `id` is on.
#[allow(dead_code)]
pub fn on(id: u32) -> bool {
    if let Some(folder) = &*REACHED
        && !SEEN[id as usize % SEEN.len()].swap(true, Ordering::Relaxed)
    {
        let _ = std::fs::write(format!("{folder}/{id}"), b"");
    }
    *ON == id
}
