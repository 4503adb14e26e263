//! The application of a flow: its alarms, its reads, and its progress.

use super::reader::Reader;
use super::{Alarm, Step, StreamApp};
use crate::clock::queue::EventQueue;
use crate::end::End;
use eifel_base::time::Instant;

/// The progress of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// It has not started.
    Waiting,
    /// Its application runs.
    Running,
    /// The application has read everything. The connection is still busy.
    Read { at: Instant },
    Over {
        /// The time at which the application had read everything; `None` if it never did.
        read_at: Option<Instant>,
    },
}

/// The application of a flow.
pub struct Session {
    pub app: StreamApp,
    /// The applications' pauses before each read; `None` if they read at once.
    pub reader: Option<Box<Reader>>,
    /// The times at which the application wants to be woken.
    pub alarm: Alarm,
    /// The alarm's slot of the event queue.
    pub slot: u32,
    pub started: Instant,
    pub progress: Progress,
    /// Whether its bytes are carried, and verified by the reader.
    pub carries_bytes: bool,
    /// Whether the flow is over and the run has not yet counted that.
    pub end_uncounted: bool,
}

impl Session {
    /// Returns the time of the next alarm.
    pub fn next_alarm(&self) -> Instant {
        self.alarm.next().min(self.reader.as_ref().map_or(Instant::NEVER, |reader| reader.next()))
    }

    /// Returns whether the application is now to be started.
    pub fn is_starting(&self, now: Instant) -> bool {
        self.progress == Progress::Waiting && now >= self.alarm.wake_at
    }

    /// Notes the pause and the end that a step of the application asks for.
    #[cold]
    pub fn note(&mut self, now: Instant, queue: &mut EventQueue, step: &Step) {
        if let Some(pause) = step.wake_after {
            self.alarm.wake_at = now + pause;
            queue.set(self.slot, self.next_alarm());
        }
        if step.done && self.progress == Progress::Running {
            self.progress = Progress::Read { at: now };
        }
    }

    /// Lets a slow reader at `end` read with `read`, which takes a limit in bytes, if its pause is
    /// over. Starts the next pause if `is_readable` finds something left. Returns whether it read
    /// anything.
    #[inline(never)]
    pub fn read_slowly<C>(
        &mut self,
        (now, queue, end): (Instant, &mut EventQueue, End),
        connection: &mut C,
        read: impl FnOnce(&mut C, u64) -> bool,
        is_readable: impl FnOnce(&C) -> bool,
    ) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        let news = reader.take(now, end).is_some_and(|limit| read(connection, limit));
        if is_readable(connection) && reader.expect(now, end) {
            queue.set(self.slot, self.alarm.next().min(reader.next()));
        }
        news
    }

    /// Ends the flow, if it is not over.
    pub fn end(&mut self) {
        let read_at = match self.progress {
            Progress::Over { .. } => return,
            Progress::Read { at } => Some(at),
            Progress::Waiting | Progress::Running => None,
        };
        self.progress = Progress::Over { read_at };
        self.end_uncounted = true;
    }
}
