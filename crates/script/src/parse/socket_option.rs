//! `setsockopt` and `getsockopt`: the options that affect a connection, and those that are ignored.

use super::call::{Argument, Written};
use crate::error::{Fault, shown};
use crate::script::{Call, SocketOption};
use eifel_base::time::Duration;

/// Ignored socket options. They matter only to an operating system, or change no segment here.
const IGNORED: [&str; 9] = [
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_SNDBUF",
    "SO_KEEPALIVE",
    "IP_TOS",
    "IP_MTU_DISCOVER",
    "SO_MARK",
    "SO_PRIORITY",
    "TCP_INQ",
];

const KNOWN: &str =
    "SO_LINGER, TCP_NODELAY, TCP_CORK, TCP_MAXSEG, TCP_USER_TIMEOUT, TCP_KEEPINIT, or one that changes nothing here";

impl Written<'_> {
    /// Returns the name of the socket option.
    pub(crate) fn option(&self) -> &str {
        match self.arguments.get(2) {
            Some(Argument::Word(name)) => name,
            _ => "",
        }
    }

    /// Returns the option's value, `[N]`.
    fn value(&self) -> Option<u64> {
        match self.arguments.get(3) {
            Some(Argument::List(list)) => match list.as_slice() {
                [Argument::Integer(value)] => u64::try_from(*value).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn set_option(&self) -> Result<Call, Fault> {
        let socket = self.socket()?;
        let number = |most: u64| {
            let value = self.value().filter(|value| *value <= most);
            value.ok_or_else(|| self.fault(&format!("[a whole number up to {most}] for {}", self.option())))
        };
        let option = match self.option() {
            "SO_LINGER" => {
                let named = |name: &str, value| Argument::Named(name.into(), Box::new(Argument::Integer(value)));
                let reset = Argument::List(vec![named("onoff", 1), named("linger", 0)]);
                return match self.arguments.get(3) {
                    Some(Argument::List(list)) if list.contains(&reset) => Ok(Call::LingerZero { socket }),
                    Some(argument) if *argument == reset => Ok(Call::LingerZero { socket }),
                    _ => Err(self.fault("{onoff=1, linger=0} for SO_LINGER")),
                };
            }
            "TCP_NODELAY" => SocketOption::NoDelay(number(1)? == 1),
            "TCP_CORK" | "TCP_NOPUSH" => SocketOption::Cork(number(1)? == 1),
            "TCP_MAXSEG" => match number(u16::MAX.into())? {
                0 => return Err(self.fault("[1 to 65535] for TCP_MAXSEG")),
                bytes => SocketOption::MaxSegment(bytes as u16),
            },
            "TCP_USER_TIMEOUT" => match number(1 << 31)? {
                0 => SocketOption::UserTimeout(None),
                millis => SocketOption::UserTimeout(Some(Duration::from_millis(millis))),
            },
            "TCP_KEEPINIT" => SocketOption::HandshakeTimeout(Duration::from_secs(number(1 << 20)?)),
            name if IGNORED.contains(&name) => return Ok(Call::Ignored { socket }),
            name => {
                return Err(Fault::new(
                    self.place,
                    format!("unknown socket option \"{}\"", shown(name)),
                    format!("{KNOWN}: {}", IGNORED.join(", ")),
                ));
            }
        };
        Ok(Call::SetOption { socket, option })
    }

    pub(super) fn get_option(&self) -> Result<Call, Fault> {
        let socket = self.socket()?;
        let expected = match (self.option(), self.arguments.get(3)) {
            // An operating system chooses the sizes of its buffers, so they are not compared.
            ("SO_RCVBUF" | "SO_SNDBUF", Some(Argument::List(_))) => return Ok(Call::Ignored { socket }),
            ("TCP_MAXSEG", _) => {
                if let Some(bytes) = self.value() {
                    return Ok(Call::SegmentSize { socket, expected: bytes as i64 });
                }
                None
            }
            ("SO_ERROR", Some(Argument::List(list))) => match list.as_slice() {
                [Argument::Integer(0)] => Some("0".to_owned()),
                [Argument::Word(name)] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        let expected = expected.ok_or_else(|| {
            self.fault("SO_ERROR with [0] or [the name of an error], TCP_MAXSEG with [bytes], SO_RCVBUF or SO_SNDBUF")
        })?;
        Ok(Call::TakeError { socket, expected })
    }
}
