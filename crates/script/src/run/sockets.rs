//! The sockets of a script, over either protocol, and the error that their next call reports.

use std::collections::BTreeMap;

use super::end::Returned;

/// The state of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Socket {
    Fresh,
    Listening,
    Connecting,
    /// The socket of the connection or association.
    Connected,
    /// As `Connected`, but its close sends a reset or an ABORT.
    Lingering,
}

/// The answer to a call, or the name of its error.
pub(crate) type Result<T> = core::result::Result<T, &'static str>;

/// Sockets by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: BTreeMap<i64, Socket>,
    /// The error that the next call reports.
    pub(crate) error: Option<&'static str>,
}

impl Sockets {
    /// Returns the state of a socket.
    pub(crate) fn state(&self, socket: i64) -> Result<Socket> {
        self.open.get(&socket).copied().ok_or("EBADF")
    }

    /// Returns whether a socket listens.
    pub(crate) fn listens(&self) -> bool {
        self.open.values().any(|state| *state == Socket::Listening)
    }

    /// Replaces the state of an open socket.
    pub(crate) fn set(&mut self, socket: i64, state: Socket) {
        self.open.insert(socket, state);
    }

    /// Opens a socket of this number, and returns the number.
    pub(crate) fn open(&mut self, number: i64, state: Socket) -> Result<Returned> {
        if number < 0 || self.open.contains_key(&number) {
            return Err("a socket of that number is open");
        }
        self.open.insert(number, state);
        Ok(Returned::Value(number))
    }

    /// Closes a socket, and returns the state that it had.
    pub(crate) fn close(&mut self, socket: i64) -> Result<Socket> {
        self.open.remove(&socket).ok_or("EBADF")
    }

    /// Returns an error if the socket has neither connected nor been accepted.
    pub(crate) fn is_joined(&self, socket: i64) -> Result<()> {
        match self.state(socket)? {
            Socket::Connecting | Socket::Connected | Socket::Lingering => Ok(()),
            Socket::Fresh | Socket::Listening => Err("ENOTCONN"),
        }
    }

    /// Answers a repeated `connect` of a socket that is `Connecting`.
    pub(crate) fn connect_again(&mut self, socket: i64, established: bool) -> Result<Returned> {
        if established {
            self.set(socket, Socket::Connected);
            return Ok(Returned::Value(0));
        }
        self.report()?;
        Ok(Returned::WouldBlock("EALREADY"))
    }

    /// Reports the pending error once.
    pub(crate) fn report(&mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Takes the pending error for `SO_ERROR`, which must be `expected`. `"0"` stands for none.
    pub(crate) fn take_error(&mut self, socket: i64, expected: &str) -> Result<Returned> {
        self.state(socket)?;
        match self.error.take() {
            None if expected == "0" => Ok(Returned::Value(0)),
            Some(error) if error == expected => Ok(Returned::Value(0)),
            Some(error) => Err(error),
            None => Err("no error"),
        }
    }
}
