//! Calls that write and read: bytes in one piece, `(N, ..., count)`, or in several, `(N, [{..., count}, …], …)` and
//! `(N, {msg_iov(1)=[{..., count}], …}, flags)`.

use super::call::{Argument, Written};
use crate::error::{Fault, shown};
use crate::script::{Call, Then};

/// Maximum number of bytes of a call.
const MOST: u64 = 1 << 40;

/// Flags that change nothing if a call does not wait.
const IGNORED_FLAGS: [&str; 3] = ["MSG_DONTWAIT", "MSG_NOSIGNAL", "MSG_WAITALL"];

/// Returns the words of an argument, including those of nested lists.
fn words(argument: &Argument) -> Vec<&str> {
    match argument {
        Argument::Word(word) => vec![word],
        Argument::List(list) => list.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// Returns the value of `name=value` in a list.
fn field<'a>(argument: Option<&'a Argument>, name: &str) -> Option<&'a Argument> {
    let Some(Argument::List(list)) = argument else { return None };
    list.iter().find_map(|argument| match argument {
        Argument::Named(known, value) if known == name => Some(&**value),
        _ => None,
    })
}

/// Returns the sum of the counts in `[{..., count}, …]`.
fn pieces(argument: Option<&Argument>) -> Option<u64> {
    let Some(Argument::List(list)) = argument else { return None };
    let count = |piece: &Argument| match piece {
        Argument::List(piece) => match piece.as_slice() {
            [_, Argument::Integer(count)] => u64::try_from(*count).ok(),
            _ => None,
        },
        _ => None,
    };
    list.iter().try_fold(0_u64, |sum, piece| sum.checked_add(count(piece)?))
}

impl Written<'_> {
    /// Returns the number of bytes that the call reads or writes.
    pub(crate) fn count(&self) -> Result<u64, Fault> {
        let count = match self.name {
            "writev" | "readv" => pieces(self.arguments.get(1)),
            "sendmsg" | "recvmsg" => pieces(field(self.arguments.get(1), "msg_iov")),
            _ => match self.arguments.get(2) {
                Some(Argument::Integer(count)) => u64::try_from(*count).ok(),
                _ => None,
            },
        };
        count.filter(|count| *count <= MOST).ok_or_else(|| match self.name {
            "writev" | "readv" => self.fault("[{..., bytes}, …], at most 2^40 of them, as the second argument"),
            "sendmsg" | "recvmsg" => self.fault("msg_iov(N)=[{..., bytes}, …], at most 2^40 of them"),
            _ => self.fault("the number of bytes, at most 2^40, as the third argument"),
        })
    }

    /// Returns whether each of the known flags is set.
    fn flags<const N: usize>(&self, known: [&str; N]) -> Result<[bool; N], Fault> {
        let place = if self.name.ends_with("msg") { 2 } else { 3 };
        let flags = self.arguments.get(place).map(words).unwrap_or_default();
        let unknown =
            |flag: &&&str| flag.starts_with("MSG_") && !known.contains(*flag) && !IGNORED_FLAGS.contains(*flag);
        match flags.iter().find(unknown) {
            Some(flag) => {
                let what = format!("unknown flag \"{}\"", shown(flag));
                Err(Fault::new(self.place, what, [&known[..], &IGNORED_FLAGS].concat().join(", ")))
            }
            None => Ok(known.map(|known| flags.contains(&known))),
        }
    }

    pub(super) fn write(&self) -> Result<Call, Fault> {
        let then = match self.flags(["MSG_MORE", "MSG_EOR"])? {
            [_, true] => Then::EndOfRecord,
            [true, _] => Then::More,
            _ => Then::Nothing,
        };
        Ok(Call::Write { socket: self.socket()?, count: self.count()?, then })
    }

    pub(super) fn read(&self) -> Result<Call, Fault> {
        let (socket, count) = (self.socket()?, self.count()?);
        if self.flags(["MSG_PEEK"])? == [true] {
            return Ok(Call::Peek { socket, count });
        }
        Ok(Call::Read { socket, count, unread: self.unread()? })
    }

    /// Returns the expected number of unread bytes, from `TCP_CM_INQ` of a control message.
    fn unread(&self) -> Result<Option<u64>, Fault> {
        let message = self.arguments.get(1);
        let Some(Argument::List(control)) = field(message, "msg_control").filter(|_| self.name == "recvmsg") else {
            return Ok(None);
        };
        match control.as_slice() {
            [] => Ok(None),
            [one] if matches!(field(Some(one), "cmsg_type"), Some(Argument::Word(kind)) if kind == "TCP_CM_INQ") => {
                match field(Some(one), "cmsg_data") {
                    Some(Argument::Integer(unread)) if *unread >= 0 => Ok(Some(*unread as u64)),
                    _ => Err(self.fault("cmsg_data= and a number of bytes")),
                }
            }
            _ => Err(self.fault("no control message but TCP_CM_INQ")),
        }
    }
}
