//! Calls of the application: `name(arguments) = result`.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::sctp;
use super::time::seconds;
use crate::error::{Fault, Place, shown};
use crate::script::{Action, Call, Expected};

/// Deepest nesting of arguments.
const DEEPEST: u32 = 16;

const CALLS: &str = "one of socket, bind, listen, accept, connect, write, writev, send, sendmsg, read, readv, recv, recvmsg, \
                     close, shutdown, setsockopt, getsockopt, fcntl, ioctl";

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    Open,
    Integer(i64),
    Word(String),
    Text,
    List(Vec<Argument>),
    /// `name = value`
    Named(String, Box<Argument>),
}

/// Reads a call, from its end time or its name on.
pub(super) fn read(cursor: &mut Cursor<'_>, over_sctp: bool) -> Result<Action, Fault> {
    let mut until = None;
    if cursor.kind() == &Kind::Ellipsis {
        cursor.next();
        until = Some(seconds(cursor)?);
    }
    let place = cursor.place();
    let Kind::Word(name) = cursor.kind().clone() else { return Err(cursor.unfit("a call")) };
    cursor.next();
    cursor.need('(')?;
    let arguments = list(cursor, ')', DEEPEST)?;
    cursor.need('=')?;
    let expected = result(cursor, over_sctp)?;
    let written = Written { place, name: &name, arguments: &arguments };
    let call = match over_sctp {
        true => sctp::call(&written).transpose().unwrap_or_else(|| written.meaning())?,
        false => written.meaning()?,
    };
    // Flags of a file matter only to an operating system.
    let expected = if name == "fcntl" { Expected::Any } else { expected };
    let blocks = matches!(
        call,
        Call::Accept { .. } | Call::Connect { .. } | Call::Read { .. } | Call::Peek { .. } | Call::Write { .. }
    );
    if until.is_some() && !blocks {
        return Err(Fault::new(
            place,
            format!("{name} does not block"),
            "an end time on accept, connect, read or write",
        ));
    }
    Ok(Action::Calls { call, expected, until })
}

/// Reads arguments up to `close`, and skips it.
fn list(cursor: &mut Cursor<'_>, close: char, depth: u32) -> Result<Vec<Argument>, Fault> {
    let mut found = Vec::new();
    if cursor.take(close) {
        return Ok(found);
    }
    loop {
        found.push(argument(cursor, depth)?);
        if cursor.take(close) {
            return Ok(found);
        }
        cursor.need(',')?;
    }
}

fn argument(cursor: &mut Cursor<'_>, depth: u32) -> Result<Argument, Fault> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Fault::new(cursor.place(), "nested too deep", format!("at most {DEEPEST} levels")));
    };
    let kind = cursor.kind().clone();
    if !matches!(kind, Kind::Ellipsis | Kind::Integer(_) | Kind::Word(_) | Kind::Text | Kind::Mark('[' | '{')) {
        return Err(cursor.unfit("an argument"));
    }
    cursor.next();
    let first = match kind {
        Kind::Ellipsis => Argument::Open,
        Kind::Integer(number) => Argument::Integer(number),
        Kind::Text => {
            while cursor.kind() == &Kind::Text || cursor.kind() == &Kind::Ellipsis {
                cursor.next();
            }
            Argument::Text
        }
        Kind::Mark('[') => Argument::List(list(cursor, ']', depth)?),
        Kind::Mark(_) => Argument::List(list(cursor, '}', depth)?),
        Kind::Word(name) if cursor.take('=') => Argument::Named(name, Box::new(argument(cursor, depth)?)),
        Kind::Word(name) if cursor.take('(') => {
            let inner = list(cursor, ')', depth)?;
            // `msg_iov(1)=[…]`: the count does not matter.
            match cursor.take('=') {
                true => Argument::Named(name, Box::new(argument(cursor, depth)?)),
                false => Argument::List(inner),
            }
        }
        Kind::Word(name) => Argument::Word(name),
        _ => Argument::Open,
    };
    // Flags that are combined with `|` form a list.
    if !cursor.take('|') {
        return Ok(first);
    }
    let mut all = vec![first];
    loop {
        all.push(argument(cursor, depth)?);
        if !cursor.take('|') {
            return Ok(Argument::List(all));
        }
    }
}

/// Reads a number, a word or `...`, then possibly the name of an error and a remark in parentheses.
fn result(cursor: &mut Cursor<'_>, over_sctp: bool) -> Result<Expected, Fault> {
    const RESULT: &str = "a result: a number, or -1 and the name of an error";
    let place = cursor.place();
    let value = match cursor.kind() {
        Kind::Integer(number) => Some(*number),
        Kind::Ellipsis | Kind::Word(_) => None,
        _ => return Err(cursor.unfit(RESULT)),
    };
    cursor.next();
    let error = match cursor.kind().clone() {
        Kind::Word(name) => {
            cursor.next();
            Some(name)
        }
        _ => None,
    };
    if cursor.take('(') {
        while !cursor.take(')') {
            if cursor.kind() == &Kind::End {
                return Err(cursor.unfit("\")\""));
            }
            cursor.next();
        }
    }
    match (value, error) {
        (Some(-1), Some(name)) => Ok(Expected::Error(name)),
        (Some(-1), None) if over_sctp => Ok(Expected::AnyError),
        (Some(-1), None) => Err(Fault::new(place, "-1 lacks the name of an error", "-1 and the name of an error")),
        (_, Some(_)) => Err(Fault::new(place, "an error without -1", RESULT)),
        (Some(value), None) => Ok(Expected::Value(value)),
        (None, None) => Ok(Expected::Any),
    }
}

/// A call as written.
pub(crate) struct Written<'a> {
    pub(crate) place: Place,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [Argument],
}

impl Written<'_> {
    fn meaning(&self) -> Result<Call, Fault> {
        let unknown = || Fault::new(self.place, format!("unknown call \"{}\"", shown(self.name)), CALLS);
        Ok(match self.name {
            "socket" => Call::Socket,
            "bind" => Call::Bind { socket: self.socket()? },
            "listen" => Call::Listen { socket: self.socket()? },
            "accept" => Call::Accept { socket: self.socket()? },
            "connect" => Call::Connect { socket: self.socket()? },
            "write" | "writev" | "send" | "sendmsg" => self.write()?,
            "read" | "readv" | "recv" | "recvmsg" => self.read()?,
            "close" => Call::Close { socket: self.socket()? },
            "shutdown" => self.shutdown()?,
            "setsockopt" => self.set_option()?,
            "getsockopt" => self.get_option()?,
            "fcntl" => Call::Ignored { socket: self.socket()? },
            "ioctl" => self.count_bytes()?,
            _ => return Err(unknown()),
        })
    }

    pub(crate) fn fault(&self, expected: &str) -> Fault {
        Fault::new(self.place, format!("wrong arguments of {}", self.name), expected)
    }

    pub(crate) fn socket(&self) -> Result<i64, Fault> {
        match self.arguments.first() {
            Some(Argument::Integer(socket)) => Ok(*socket),
            _ => Err(self.fault("the number of a socket as the first argument")),
        }
    }

    fn shutdown(&self) -> Result<Call, Fault> {
        let socket = self.socket()?;
        match self.arguments.get(1) {
            Some(Argument::Word(how)) if how == "SHUT_WR" => Ok(Call::Shutdown { socket, read: false, write: true }),
            Some(Argument::Word(how)) if how == "SHUT_RDWR" => Ok(Call::Shutdown { socket, read: true, write: true }),
            Some(Argument::Word(how)) if how == "SHUT_RD" => Ok(Call::Shutdown { socket, read: true, write: false }),
            _ => Err(self.fault("SHUT_WR, SHUT_RDWR or SHUT_RD as the second argument")),
        }
    }

    fn count_bytes(&self) -> Result<Call, Fault> {
        let socket = self.socket()?;
        let expected = match self.arguments.get(2) {
            Some(Argument::List(list)) => match list.as_slice() {
                [Argument::Integer(count)] => u64::try_from(*count).ok(),
                _ => None,
            },
            _ => None,
        };
        match (self.arguments.get(1), expected) {
            (Some(Argument::Word(name)), Some(expected)) if name == "SIOCINQ" || name == "FIONREAD" => {
                Ok(Call::CountUnread { socket, expected })
            }
            (Some(Argument::Word(name)), Some(expected)) if name == "SIOCOUTQ" || name == "TIOCOUTQ" => {
                Ok(Call::CountUnacknowledged { socket, expected })
            }
            _ => Err(self.fault("SIOCINQ or SIOCOUTQ with [a number of bytes]")),
        }
    }
}
