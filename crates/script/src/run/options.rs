//! Socket options that change the connection, or the settings with which it will begin.

use super::end::Returned;
use super::host::{Acceptance, Host};
use super::sockets::{Result, Socket};
use crate::script::SocketOption;
use eifel_base::time::Instant;
use eifel_tcp::State;

impl Host<'_> {
    pub(super) fn set_option(&mut self, now: Instant, socket: i64, option: SocketOption) -> Result<Returned> {
        let kind = self.sockets.state(socket)?;
        let waits = kind == Socket::Listening && self.acceptance == Acceptance::Nothing;
        let fresh = kind == Socket::Fresh || waits;
        let settings = &mut self.settings;
        match (option, &mut self.connection) {
            (SocketOption::NoDelay(on), _) if fresh => settings.nagle = !on,
            (SocketOption::MaxSegment(bytes), _) if fresh => settings.mss = bytes,
            (SocketOption::UserTimeout(limit), _) if fresh => settings.give_up.user_timeout = limit,
            (SocketOption::HandshakeTimeout(limit), _) if fresh => settings.give_up.handshake = Some(limit),
            (SocketOption::NoDelay(on), Some(connection)) => connection.set_nagle(!on),
            (SocketOption::Cork(on), Some(connection)) => connection.cork(on),
            (SocketOption::UserTimeout(limit), Some(connection)) => connection.set_user_timeout(now, limit),
            (SocketOption::Cork(_), None) => return Err("ENOTCONN"),
            _ => return Err("EINVAL"),
        }
        if waits {
            self.listen_anew()?;
        }
        Ok(Returned::Value(0))
    }

    /// Replaces a listening connection by one with the current settings.
    fn listen_anew(&mut self) -> Result<()> {
        if self.connection.as_ref().is_some_and(|connection| connection.state() == State::Listen) {
            self.connection = Some(self.new_connection(Socket::Listening)?);
        }
        Ok(())
    }

    /// Returns the bytes of a full segment; before the handshake, the MSS of this end's settings.
    pub(super) fn segment_size(&mut self, socket: i64) -> Result<u32> {
        match self.sockets.state(socket)? {
            Socket::Fresh | Socket::Listening => Ok(self.settings.mss.into()),
            _ => self.connected(socket).map(|connection| connection.mss()),
        }
    }
}
