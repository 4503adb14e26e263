//! The peer that a stream goes to or comes from.

use super::Failure;
use std::net::{IpAddr, SocketAddr};

/// The service at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Service {
    /// Any program that takes bytes.
    Plain,
    /// An iperf3 server.
    Iperf,
    /// An HTTP server.
    Http,
}

/// A peer and its service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub(super) service: Service,
    pub(super) address: SocketAddr,
    /// The path of the HTTP request; `/` if none is given.
    pub(super) path: String,
}

/// The forms of a target, for help and errors.
pub(super) const FORMS: &str =
    "ADDRESS:PORT, iperf3://ADDRESS[:PORT] or http://ADDRESS[:PORT]/PATH, with a numeric address";

impl Target {
    /// Parses a target.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let (service, rest, port) = match text.split_once("://") {
            None => (Service::Plain, text, None),
            Some(("iperf3", rest)) => (Service::Iperf, rest, Some(5201)),
            Some(("http", rest)) => (Service::Http, rest, Some(80)),
            Some(_) => return Err(refused(text)),
        };
        let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if !path.is_empty() && service != Service::Http {
            return Err(refused(text));
        }
        let whole = address.parse::<SocketAddr>().ok();
        let bare = address.trim_matches(['[', ']']).parse::<IpAddr>().ok().zip(port);
        let address = whole.or(bare.map(|(ip, port)| SocketAddr::new(ip, port))).ok_or_else(|| refused(text))?;
        let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        Ok(Self { service, address, path })
    }
}

fn refused(text: &str) -> Failure {
    Failure::Usage(format!("{text}: expected {FORMS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_parse() {
        let target = |text: &str| Target::parse(text).ok().map(|target| (target.service, target.address.to_string()));
        assert_eq!(target("10.0.0.1:80"), Some((Service::Plain, "10.0.0.1:80".to_owned())));
        assert_eq!(target("iperf3://10.0.0.1"), Some((Service::Iperf, "10.0.0.1:5201".to_owned())));
        assert_eq!(target("iperf3://[fd00::1]:9"), Some((Service::Iperf, "[fd00::1]:9".to_owned())));
        assert_eq!(target("http://[fd00::1]/a/b"), Some((Service::Http, "[fd00::1]:80".to_owned())));
        for text in ["", "10.0.0.1", "example.org:80", "ftp://10.0.0.1", "iperf3://10.0.0.1/x", "10.0.0.1:99999"] {
            assert_eq!(target(text), None, "{text}");
        }
    }
}
