//! Reads the requests of a proxy's clients: SOCKS 5 (RFC 1928) without authentication, and HTTP's CONNECT (RFC 9110).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The most bytes of an incomplete HTTP request.
const LONGEST: usize = 8192;

/// The protocol that a client speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// SOCKS 5.
    Socks,
    Http,
}

/// The server that a client asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    Address(SocketAddr),
    /// A name and a port.
    Name(String, u16),
}

/// The result of reading the first bytes of a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The bytes are incomplete.
    More,
    /// A greeting, which gets `answer`.
    Answer {
        /// Bytes of the greeting.
        taken: usize,
        /// The client's protocol.
        dialect: Dialect,
        answer: Vec<u8>,
    },
    /// A request to connect.
    Asked {
        /// Bytes of the request.
        taken: usize,
        /// The client's protocol.
        dialect: Dialect,
        /// The server that the client asks for.
        target: Target,
    },
}

/// The result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// The connection is open.
    Connected,
    /// The target refused the connection.
    Refused,
    /// The target cannot be reached, or its name is unknown.
    Unreachable,
    /// The request failed for another reason.
    Failed,
}

/// Returns the bytes that report the result of a request to a client.
pub fn reply(dialect: Dialect, reply: Reply) -> Vec<u8> {
    let (code, line) = match reply {
        Reply::Connected => (0, "200 OK"),
        Reply::Failed => (1, "502 Bad Gateway"),
        Reply::Unreachable => (4, "504 Gateway Timeout"),
        Reply::Refused => (5, "502 Bad Gateway"),
    };
    match dialect {
        Dialect::Socks => vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0],
        Dialect::Http => format!("HTTP/1.1 {line}\r\n\r\n").into_bytes(),
    }
}

/// Reads the greeting or request at the beginning of `bytes`. `dialect` is `None` before a
/// greeting.
///
/// # Errors
/// The answer to an invalid or unsupported request. The conversation ends after it.
pub fn read(bytes: &[u8], dialect: Option<Dialect>) -> Result<Step, Vec<u8>> {
    match (dialect, bytes) {
        (_, []) => Ok(Step::More),
        (Some(Dialect::Socks), _) => asked(bytes),
        (None, [5, ..]) => greeting(bytes),
        _ => http(bytes),
    }
}

fn greeting(bytes: &[u8]) -> Result<Step, Vec<u8>> {
    let Some(&count) = bytes.get(1) else { return Ok(Step::More) };
    let taken = 2 + usize::from(count);
    match bytes.get(2..taken) {
        None => Ok(Step::More),
        Some(methods) if methods.contains(&0) => {
            Ok(Step::Answer { taken, dialect: Dialect::Socks, answer: vec![5, 0] })
        }
        // No acceptable method.
        Some(_) => Err(vec![5, 0xff]),
    }
}

fn asked(bytes: &[u8]) -> Result<Step, Vec<u8>> {
    let refused = |code: u8| Err(vec![5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    let [version, command, _, kind, rest @ ..] = bytes else { return Ok(Step::More) };
    if *version != 5 {
        return refused(1);
    }
    if *command != 1 {
        return refused(7);
    }
    let (target, length): (Option<(Target, u16)>, usize) = match (kind, rest) {
        (1, [a, b, c, d, high, low, ..]) => (address(Ipv4Addr::new(*a, *b, *c, *d).into(), [*high, *low]), 6),
        (4, rest) if rest.len() >= 18 => {
            let octets: [u8; 16] = rest[..16].try_into().unwrap_or_default();
            (address(Ipv6Addr::from(octets).into(), [rest[16], rest[17]]), 18)
        }
        (3, [length, rest @ ..]) if rest.len() >= usize::from(*length) + 2 => {
            let (name, rest) = rest.split_at(usize::from(*length));
            let port = u16::from_be_bytes([rest[0], rest[1]]);
            let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty());
            (name.map(|name| (named(name, port), port)), 3 + usize::from(*length))
        }
        (1 | 3 | 4, _) => return Ok(Step::More),
        _ => return refused(8),
    };
    match target {
        Some((target, port)) if port > 0 => Ok(Step::Asked { taken: 4 + length, dialect: Dialect::Socks, target }),
        _ => refused(1),
    }
}

fn address(ip: IpAddr, port: [u8; 2]) -> Option<(Target, u16)> {
    let port = u16::from_be_bytes(port);
    Some((Target::Address(SocketAddr::new(ip, port)), port))
}

/// Reads a target's name, which may be a numeric address.
fn named(name: &str, port: u16) -> Target {
    match name.trim_matches(['[', ']']).parse() {
        Ok(ip) => Target::Address(SocketAddr::new(ip, port)),
        Err(_) => Target::Name(name.to_owned(), port),
    }
}

fn http(bytes: &[u8]) -> Result<Step, Vec<u8>> {
    let refused = |line: &str| Err(format!("HTTP/1.1 {line}\r\nConnection: close\r\n\r\n").into_bytes());
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if bytes.len() > LONGEST { refused("431 Request Header Fields Too Large") } else { Ok(Step::More) };
    };
    let line = bytes[..end].split(|&byte| byte == b'\r').next().unwrap_or_default();
    let words: Vec<&str> = std::str::from_utf8(line).unwrap_or_default().split(' ').collect();
    let [method, authority, version] = words[..] else { return refused("400 Bad Request") };
    if !version.starts_with("HTTP/1.") {
        return refused("400 Bad Request");
    }
    if method != "CONNECT" {
        return refused("405 Method Not Allowed\r\nAllow: CONNECT");
    }
    let target = authority.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse::<u16>().ok()?)));
    match target {
        Some((name, port)) if port > 0 && !name.is_empty() => {
            Ok(Step::Asked { taken: end + 4, dialect: Dialect::Http, target: named(name, port) })
        }
        _ => refused("400 Bad Request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(step: Result<Step, Vec<u8>>) -> (usize, Target) {
        match step {
            Ok(Step::Asked { taken, target, .. }) => (taken, target),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn socks_requests_are_read_piece_by_piece() {
        let words = [5, 1, 0, 1, 10, 0, 0, 1, 0, 80, 9];
        for end in 0..10 {
            assert_eq!(read(&words[..end], Some(Dialect::Socks)), Ok(Step::More), "{end}");
        }
        let (taken, found) = target(read(&words, Some(Dialect::Socks)));
        assert_eq!((taken, found), (10, Target::Address("10.0.0.1:80".parse().unwrap())));
        let name = b"\x05\x01\x00\x03\x0bexample.org\x01\xbb";
        let expected = Target::Name("example.org".to_owned(), 443);
        assert_eq!(target(read(name, Some(Dialect::Socks))), (name.len(), expected));
        assert_eq!(
            read(&[5, 2, 0, 1], None),
            Ok(Step::Answer { taken: 4, dialect: Dialect::Socks, answer: vec![5, 0] })
        );
    }

    #[test]
    fn an_http_connect_requests_a_tunnel() {
        let (taken, found) = target(read(b"CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: x\r\n\r\nmore", None));
        assert_eq!((taken, found), (43, Target::Address("[fd00::1]:443".parse().unwrap())));
        assert_eq!(read(b"CONNECT a:1 HTTP/1.1\r\n", None), Ok(Step::More));
    }

    #[test]
    fn an_unsupported_proxy_request_gets_an_error_reply() {
        let said = |bytes: &[u8]| String::from_utf8_lossy(&read(bytes, None).unwrap_err()).into_owned();
        assert!(said(b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(said(b"CONNECT a HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
        assert!(said(&[b'x'; LONGEST + 1]).starts_with("HTTP/1.1 431 "));
        assert_eq!(read(&[5, 1, 2], None), Err(vec![5, 0xff]));
        // BIND, and an address of an unknown kind.
        assert_eq!(read(&[5, 2, 0, 1, 0, 0, 0, 0, 0, 0], Some(Dialect::Socks)).unwrap_err()[1], 7);
        assert_eq!(read(&[5, 1, 0, 9, 0], Some(Dialect::Socks)).unwrap_err()[1], 8);
    }
}
