//! Ctrl-C and SIGTERM end a run in good order, so that its results are kept.

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records signals as long as it exists.
#[derive(Debug)]
pub struct Signals {
    asked: Arc<AtomicBool>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Starts to record signals.
    ///
    /// # Errors
    /// Those of the system.
    pub fn note() -> io::Result<Self> {
        let mut signals = Self { asked: Arc::new(AtomicBool::new(false)), ids: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            signals.ids.push(signal_hook::flag::register(signal, Arc::clone(&signals.asked))?);
        }
        Ok(signals)
    }

    /// Returns whether a signal has asked to stop.
    pub fn ask_to_stop(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_hook::low_level::raise;

    #[test]
    fn a_signal_is_seen_by_existing_observers_only() {
        let (gone, living) = (Signals::note().unwrap(), Signals::note().unwrap());
        let heard = Arc::clone(&gone.asked);
        drop(gone);
        assert_eq!(Arc::strong_count(&heard), 1, "no handler has it any more");
        for signal in [SIGINT, SIGTERM] {
            assert!(!living.ask_to_stop());
            raise(signal).unwrap();
            assert!(living.ask_to_stop() && !heard.load(Ordering::Relaxed));
            living.asked.store(false, Ordering::Relaxed);
        }
    }
}
