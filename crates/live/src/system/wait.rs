//! Waiting for descriptors and for an instant, whichever comes first.
//!
//! A loop here has a handful of descriptors, so `ppoll` does what an epoll set with a timerfd would, in one call. Its time-out
//! counts in nanoseconds; what the kernel adds to it by default, 50 µs of timer slack, is taken away by [`Precise`].

use super::Error;
use eifel_base::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

/// The longest wait: a signal that comes between the last look at it and the wait is seen after this.
const LONGEST: Duration = Duration::from_millis(100);

/// A descriptor, and what is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Waits<'a> {
    pub descriptor: BorrowedFd<'a>,
    /// Whether it can be read.
    pub to_read: bool,
    /// Whether it can be written.
    pub to_write: bool,
}

/// Waits until one of `descriptors` can be read, or for `limit`, or for a signal, whichever comes first.
///
/// # Errors
/// Those of `ppoll`.
pub fn until_readable(descriptors: &[BorrowedFd<'_>], limit: Duration) -> Result<(), Error> {
    let waits = |&descriptor: &_| Waits { descriptor, to_read: true, to_write: false };
    until_ready(&descriptors.iter().map(waits).collect::<Vec<_>>(), limit)
}

/// Waits until one of these can be read or written, or for `limit`, or for a signal, whichever comes first.
///
/// # Errors
/// Those of `ppoll`.
pub fn until_ready(all: &[Waits<'_>], limit: Duration) -> Result<(), Error> {
    ready(all, limit).map(drop)
}

/// Returns which of these can be read or written now, by their places.
///
/// # Errors
/// Those of `ppoll`.
pub fn which_ready(all: &[Waits<'_>]) -> Result<Vec<usize>, Error> {
    ready(all, Duration::ZERO)
}

fn ready(all: &[Waits<'_>], limit: Duration) -> Result<Vec<usize>, Error> {
    let nanos = limit.min(LONGEST).as_nanos();
    let timeout = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
    let mut polled: Vec<PollFd<'_>> = all
        .iter()
        .map(|waits| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, waits.to_read);
            flags.set(PollFlags::OUT, waits.to_write);
            PollFd::from_borrowed_fd(waits.descriptor, flags)
        })
        .collect();
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(0) | Err(Errno::INTR) => Ok(Vec::new()),
        Ok(_) => Ok((0..polled.len()).filter(|&place| !polled[place].revents().is_empty()).collect()),
        Err(error) => Err(Error::new("ppoll", &error, "")),
    }
}

/// Whether a descriptor can be read now.
///
/// # Errors
/// Those of `ppoll`.
pub fn is_readable(descriptor: BorrowedFd<'_>) -> Result<bool, Error> {
    which_ready(&[Waits { descriptor, to_read: true, to_write: false }]).map(|ready| !ready.is_empty())
}

/// How much a thread matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    /// As others.
    Ordinary,
    /// It goes before all ordinary threads of the machine, where the rights are there: what it has to do is little and has its
    /// time.
    First,
}

/// The calling thread's waits end on time as long as this lives: without timer slack, and with its urgency.
#[derive(Debug)]
pub struct Precise {
    slack: Option<NonZeroU64>,
    scheduled: bool,
}

impl Precise {
    /// Begins. What the system refuses makes the thread later than it could be, which is no reason to give up.
    pub fn begin(urgency: Urgency) -> Self {
        let slack = rustix::thread::current_timer_slack().ok().and_then(NonZeroU64::new);
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Commands that it starts are ordinary.
        let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        Self { slack, scheduled: urgency == Urgency::First && schedule(policy, 1) }
    }
}

impl Drop for Precise {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(self.slack);
        if self.scheduled {
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

/// Sets the policy of the calling thread; whether that was allowed.
fn schedule(policy: i32, sched_priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: 0 names the calling thread, and the kernel reads the parameters during the call only.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) == 0 }
}
