//! The readiness of many sockets: one epoll set, which reports every change once.

use super::Error;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most changes that one system call reports.
const BATCH: usize = 256;

/// A set of sockets. It can be read while it has a change to report. A socket that is closed leaves
/// it.
#[derive(Debug)]
pub struct ReadySet {
    set: OwnedFd,
}

/// What has become possible on a socket. It stays possible until a read or write would block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The number with which the socket was added.
    pub number: u64,
    /// It can be read: there are bytes, or the end.
    pub to_read: bool,
    pub to_write: bool,
    /// It has failed, for example by a reset.
    pub failed: bool,
}

impl ReadySet {
    /// Makes an empty set.
    ///
    /// # Errors
    /// Those of `epoll_create`.
    pub fn new() -> Result<Self, Error> {
        let set = epoll::create(CreateFlags::CLOEXEC).map_err(Error::of("epoll_create"))?;
        Ok(Self { set })
    }

    /// Adds a socket. Its state now counts as a change.
    ///
    /// # Errors
    /// Those of `epoll_ctl`.
    pub fn add(&self, socket: impl AsFd, number: u64) -> Result<(), Error> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.set, socket, EventData::new_u64(number), flags).map_err(Error::of("epoll_ctl"))
    }

    /// Returns all changes since the last call.
    ///
    /// # Errors
    /// Those of `epoll_wait`.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        let (mut events, mut found): (Vec<Event>, _) = (Vec::with_capacity(BATCH), Vec::new());
        loop {
            events.clear();
            match epoll::wait(&self.set, spare_capacity(&mut events), Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(Error::new("epoll_wait", &error, "")),
            }
            found.extend(events.iter().map(change));
            if events.len() < BATCH {
                return Ok(found);
            }
        }
    }
}

fn change(event: &Event) -> Change {
    // The kernel's structure is packed, so its fields are copied.
    let (flags, data) = (event.flags, event.data);
    Change {
        number: data.u64(),
        to_read: flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP),
        to_write: flags.contains(EventFlags::OUT),
        failed: flags.contains(EventFlags::ERR),
    }
}

impl AsFd for ReadySet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::wait::is_readable;
    use std::io::Write;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::time::Duration;

    fn pair() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        [one, listener.accept().unwrap().0]
    }

    /// Returns the first changes, which a busy loopback device may delay.
    fn next(set: &ReadySet) -> Vec<Change> {
        let wait = || std::thread::sleep(Duration::from_millis(1));
        (0..1000)
            .map(|_| set.changes().unwrap())
            .find(|found| {
                !found.is_empty() || {
                    wait();
                    false
                }
            })
            .unwrap_or_default()
    }

    #[test]
    fn every_change_of_a_socket_is_reported_once() {
        let (set, [mut one, other]) = (ReadySet::new().unwrap(), pair());
        assert!(!is_readable(set.as_fd()).unwrap());
        other.set_nonblocking(true).unwrap();
        set.add(&other, 7).unwrap();
        assert!(is_readable(set.as_fd()).unwrap());
        let found = |to_read, failed| vec![Change { number: 7, to_read, to_write: true, failed }];
        assert_eq!(set.changes().unwrap(), found(false, false));
        assert!(set.changes().unwrap().is_empty() && !is_readable(set.as_fd()).unwrap());
        for _ in 0..2 {
            one.write_all(b"x").unwrap();
            assert_eq!(next(&set), found(true, false), "new bytes are a change even if others are unread");
            assert!(set.changes().unwrap().is_empty());
        }
        one.shutdown(Shutdown::Write).unwrap();
        assert_eq!(next(&set), found(true, false));
        // Unread bytes make the close a reset.
        (&other).write_all(b"x").unwrap();
        std::thread::sleep(Duration::from_millis(10));
        drop(one);
        let failed = (0..100).flat_map(|_| next(&set)).find(|change| change.failed);
        assert_eq!(failed, found(true, true).pop());
        drop(other);
        assert!(set.changes().unwrap().is_empty());
    }

    #[test]
    fn more_changes_than_one_call_reports_are_all_reported() {
        let (set, pairs) = (ReadySet::new().unwrap(), (0..150).map(|_| pair()).collect::<Vec<_>>());
        pairs.iter().flatten().zip(0..).for_each(|(socket, number)| set.add(socket, number).unwrap());
        let mut numbers: Vec<u64> = set.changes().unwrap().iter().map(|change| change.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..300).collect::<Vec<_>>());
    }
}
