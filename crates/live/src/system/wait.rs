//! Waiting for descriptors and for an instant, whichever comes first.
//!
//! A loop here has a handful of descriptors, so one `ppoll` does the work of an epoll set with a
//! timerfd. Its time-out counts in nanoseconds. By default the kernel adds 50 µs of timer slack,
//! which [`PreciseTimers`] removes.

use super::Error;
use eifel_base::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

/// The longest wait. A signal that comes between the last check for signals and the wait is seen
/// after this time.
const LONGEST: Duration = Duration::from_millis(100);

/// A descriptor, and the events to wait for.
#[derive(Clone, Copy, Debug)]
pub struct Waits<'a> {
    pub descriptor: BorrowedFd<'a>,
    /// Whether to wait until it can be read.
    pub to_read: bool,
    /// Whether to wait until it can be written.
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
    // At most `LONGEST`, which is less than a second.
    let timeout = Timespec { tv_sec: 0, tv_nsec: limit.min(LONGEST).as_nanos() as i64 };
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

/// Returns whether a descriptor can be read now.
///
/// # Errors
/// Those of `ppoll`.
pub fn is_readable(descriptor: BorrowedFd<'_>) -> Result<bool, Error> {
    which_ready(&[Waits { descriptor, to_read: true, to_write: false }]).map(|ready| !ready.is_empty())
}

/// The scheduling priority of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// The policy of other threads.
    Ordinary,
    /// Runs before all ordinary threads of the machine, if the rights allow that. It suits a thread
    /// whose work is short and has to happen on time.
    First,
}

/// As long as it exists, the waits of the calling thread end on time: without timer slack, and with
/// its urgency.
#[derive(Debug)]
pub struct PreciseTimers {
    slack: Option<NonZeroU64>,
    /// The policy to return to, if it was changed.
    before: Option<i32>,
}

impl PreciseTimers {
    /// Sets slack and policy of the calling thread. If the system refuses, the thread is later than
    /// it could be, and goes on.
    pub fn begin(urgency: Priority) -> Self {
        let slack = rustix::thread::current_timer_slack().ok().and_then(NonZeroU64::new);
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Commands that the thread starts are ordinary.
        let (before, first) = (policy(), libc::SCHED_RR | libc::SCHED_RESET_ON_FORK);
        let scheduled = urgency == Priority::First && schedule(first, 1);
        Self { slack, before: scheduled.then_some(before) }
    }
}

impl Drop for PreciseTimers {
    fn drop(&mut self) {
        // A thread with real-time policy has no slack, and none can be set.
        if let Some(before) = self.before {
            schedule(before, 0);
        }
        let _ = rustix::thread::set_current_timer_slack(self.slack);
    }
}

/// Returns the scheduling policy of the calling thread. A call of the system, because musl's function
/// refuses.
fn policy() -> i32 {
    // SAFETY: 0 names the calling thread.
    unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) as i32 }
}

/// Sets the policy of the calling thread. Returns whether that was allowed.
fn schedule(policy: i32, priority: i32) -> bool {
    // SAFETY: 0 names the calling thread, and the kernel reads its `struct sched_param`, an int, during
    // the call only.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use std::os::fd::{AsFd, OwnedFd};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap()
    }

    /// Runs `what`, and returns how long it took.
    #[expect(clippy::disallowed_methods, reason = "it waits for real time")]
    fn lasted(what: impl FnOnce()) -> std::time::Duration {
        let begun = std::time::Instant::now();
        what();
        begun.elapsed()
    }

    /// A socket with something to read, one with nothing, and one that is full: each asked for reading, for writing, and for
    /// both.
    #[test]
    fn poll_returns_the_descriptors_that_are_ready() {
        let ((full, other), (quiet, _kept)) = (pair(), pair());
        while rustix::io::write(&full, &[7; 4096]).is_ok() {}
        let sockets = [(&other, true, true), (&quiet, false, true), (&full, false, false)];
        let mut all = Vec::new();
        for (socket, can_read, can_write) in sockets {
            for (to_read, to_write) in [(true, false), (false, true), (true, true), (false, false)] {
                let waits = Waits { descriptor: socket.as_fd(), to_read, to_write };
                let ready = (to_read && can_read) || (to_write && can_write);
                assert_eq!(which_ready(&[waits]).unwrap().len(), usize::from(ready), "{waits:?}");
                all.push((waits, ready));
            }
            assert_eq!(is_readable(socket.as_fd()).unwrap(), can_read);
        }
        let expected: Vec<usize> = (0..all.len()).filter(|&place| all[place].1).collect();
        let waits: Vec<Waits<'_>> = all.iter().map(|(waits, _)| *waits).collect();
        assert_eq!(which_ready(&waits).unwrap(), expected);
    }

    /// If nothing is ready, a wait lasts for its limit, but no longer than `LONGEST`.
    #[test]
    fn a_wait_ends_at_its_limit_or_at_a_ready_descriptor() {
        let ((quiet, other), long) = (pair(), std::time::Duration::from_secs(5));
        for (limit, at_least) in [(0, 0), (30_000, 30_000), (1_200_000, 100_000)] {
            let limit = Duration::from_micros(limit);
            let took = lasted(|| until_readable(&[quiet.as_fd()], limit).unwrap());
            assert!(took >= std::time::Duration::from_micros(at_least) && took < long, "{limit:?}: {took:?}");
        }
        assert!(lasted(|| until_ready(&[], Duration::MAX).unwrap()) < long);
        rustix::io::write(&other, b"x").unwrap();
        let waits = Waits { descriptor: quiet.as_fd(), to_read: true, to_write: false };
        // A busy machine may take this long once, but not each time.
        let quick = || {
            let took = lasted(|| until_ready(&[waits], Duration::MAX).unwrap());
            took < std::time::Duration::from_millis(90)
        };
        assert!((0..10).any(|_| quick()));
    }

    /// Returns the policy of the calling thread, and its timer slack.
    fn manner() -> (i32, Option<NonZeroU64>) {
        let slack = rustix::thread::current_timer_slack().ok().and_then(NonZeroU64::new);
        (policy(), slack)
    }

    #[test]
    fn scheduling_policy_and_timer_slack_are_restored_after_precise_waiting() {
        let (own, first) = (policy(), libc::SCHED_RR | libc::SCHED_RESET_ON_FORK);
        let allowed = schedule(first, 1) && schedule(own, 0);
        rustix::thread::set_current_timer_slack(NonZeroU64::new(77_000)).unwrap();
        let before = manner();
        assert_eq!(before, (own, NonZeroU64::new(77_000)));
        for (urgency, policy) in [(Priority::Ordinary, own), (Priority::First, if allowed { first } else { own })] {
            rustix::thread::set_current_timer_slack(NonZeroU64::new(77_000)).unwrap();
            let precise = PreciseTimers::begin(urgency);
            let (found, slack) = manner();
            assert_eq!(found, policy, "{urgency:?}");
            // Newer kernels give a real-time thread no slack at all.
            assert!(slack.is_none_or(|slack| slack.get() == 1), "{urgency:?}: {slack:?}");
            drop(precise);
            assert_eq!(manner(), before, "{urgency:?}");
        }
    }
}
