//! The application's calls on an association.

use std::net::IpAddr;

use super::call::Call;
use super::host::{AssociationEnd, PORTS};
use super::setup::Setup;
use super::variables::number;
use crate::run::end::Returned;
use crate::run::sockets::{Result, Socket};
use crate::script;
use crate::variables::constant;
use eifel_base::time::Instant;
use eifel_recovery::registry::{Choice, Value as Parameter};
use eifel_sctp::{Association, Delivery, Listener, Phase, SendError};

/// The longest message of a script.
const LONGEST_MESSAGE: u64 = 1 << 26;

impl AssociationEnd {
    fn connected(&mut self, socket: i64) -> Result<&mut Association> {
        self.sockets.is_joined(socket)?;
        self.association.as_mut().ok_or("ENOTCONN")
    }

    pub(super) fn perform(&mut self, now: Instant, call: &script::Call, number: i64) -> Result<Returned> {
        use script::Call as C;
        match *call {
            C::Socket => self.sockets.open(number, Socket::Fresh),
            C::Bind { socket } | C::Ignored { socket } => self.sockets.state(socket).map(|_| Returned::Value(0)),
            C::Listen { socket } => self.listen(socket),
            C::Connect { socket } => self.connect(now, socket),
            C::Accept { socket } => match self.sockets.state(socket)? {
                Socket::Listening if self.acceptable => {
                    self.acceptable = false;
                    self.sockets.open(number, Socket::Connected)
                }
                Socket::Listening => Ok(Returned::WouldBlock("EAGAIN")),
                _ => Err("EINVAL"),
            },
            C::Write { socket, count, .. } => self.send(socket, count, Delivery::default()),
            C::Read { socket, count, .. } => self.read(socket, count),
            C::Close { socket } => self.close(socket),
            C::Shutdown { socket, write, .. } => {
                let association = self.connected(socket)?;
                if write {
                    association.shutdown();
                }
                Ok(Returned::Value(0))
            }
            C::LingerZero { socket } => {
                let kind = self.sockets.state(socket)?;
                self.sockets.set(socket, if kind == Socket::Fresh { kind } else { Socket::Lingering });
                Ok(Returned::Value(0))
            }
            C::TakeError { socket, ref expected } => self.sockets.take_error(socket, expected),
            C::Sctp { socket, ref call } => self.option(now, socket, call),
            C::CountUnread { .. }
            | C::CountUnacknowledged { .. }
            | C::SegmentSize { .. }
            | C::SetOption { .. }
            | C::Peek { .. } => Err("EOPNOTSUPP"),
        }
    }

    fn listen(&mut self, socket: i64) -> Result<Returned> {
        if self.sockets.state(socket)? != Socket::Fresh || self.listener.is_some() {
            return Err("a script has one association");
        }
        let listener = Listener::new(self.setup.settings.clone(), PORTS.local);
        self.listener = Some(listener.map_err(|_| "no such algorithms")?);
        self.sockets.set(socket, Socket::Listening);
        Ok(Returned::Value(0))
    }

    fn connect(&mut self, now: Instant, socket: i64) -> Result<Returned> {
        match self.sockets.state(socket)? {
            Socket::Fresh if self.association.is_none() => {
                let Setup { settings, peers } = &self.setup;
                let reached = |peer: &IpAddr| settings.addresses.iter().any(|own| own.is_ipv4() == peer.is_ipv4());
                if !peers.iter().any(reached) {
                    return Err("ENETUNREACH");
                }
                let association = Association::connect(now, settings, PORTS, peers, 0);
                self.association = Some(association.map_err(|_| "no such algorithms")?);
                self.sockets.set(socket, Socket::Connecting);
                Ok(Returned::WouldBlock("EINPROGRESS"))
            }
            Socket::Connecting => self.sockets.connect_again(socket, self.acceptable),
            _ => Err("EISCONN"),
        }
    }

    fn send(&mut self, socket: i64, count: u64, delivery: Delivery) -> Result<Returned> {
        self.connected(socket)?;
        self.sockets.report()?;
        if count > LONGEST_MESSAGE {
            return Err("EMSGSIZE");
        }
        match self.connected(socket)?.send(delivery, vec![0; count as usize]) {
            Ok(()) => Ok(Returned::Value(count as i64)),
            Err(SendError::Full) => Ok(Returned::WouldBlock("EAGAIN")),
            Err(SendError::State) => Err("EPIPE"),
            Err(SendError::NoStream | SendError::Empty) => Err("EINVAL"),
        }
    }

    /// Takes bytes of one message. The rest of a long message stays.
    fn read(&mut self, socket: i64, count: u64) -> Result<Returned> {
        let unread = self.unread;
        let association = self.connected(socket)?;
        let there = if unread > 0 { Some(unread) } else { association.receive().map(|m| m.bytes.len() as u64) };
        let over = association.phase() == Phase::Closed;
        let Some(there) = there else {
            self.sockets.report()?;
            return Ok(if over { Returned::Value(0) } else { Returned::WouldBlock("EAGAIN") });
        };
        let read = there.min(count);
        self.unread = there - read;
        Ok(Returned::Value(read as i64))
    }

    fn close(&mut self, socket: i64) -> Result<Returned> {
        let kind = self.sockets.close(socket)?;
        match (&mut self.association, kind) {
            (_, Socket::Listening) => self.listener = None,
            (Some(association), Socket::Lingering) => association.abort(b""),
            (Some(association), Socket::Connecting | Socket::Connected) => association.shutdown(),
            _ => {}
        }
        Ok(Returned::Value(0))
    }

    fn option(&mut self, now: Instant, socket: i64, call: &Call) -> Result<Returned> {
        self.sockets.state(socket)?;
        let settings = &mut self.setup.settings;
        let association = self.association.as_mut();
        match call {
            Call::Send { count, stream, ppid, unordered, immediate, lifetime } => {
                let (unordered, immediate) = (*unordered, *immediate);
                let (ppid, expires) = (ppid.to_be_bytes(), lifetime.map(|lifetime| now + lifetime));
                let delivery = Delivery { stream: *stream, ppid, unordered, immediate, expires };
                return self.send(socket, *count, delivery);
            }
            Call::Status { state, inbound_streams, outbound_streams } => {
                let association = association.ok_or("ENOTCONN")?;
                let named = state.as_deref().map(|state| constant(state).ok_or("EINVAL")).transpose()?;
                let right = named.is_none_or(|named| named == number(association.phase()))
                    && inbound_streams.is_none_or(|streams| streams == association.inbound_streams())
                    && outbound_streams.is_none_or(|streams| streams == association.streams());
                return if right { Ok(Returned::Value(0)) } else { Err("another status") };
            }
            Call::RtoInfo { initial, minimum, maximum } => {
                let rto = &mut settings.engine.path.rto;
                for (name, value) in [("initial_ms", initial), ("minimum_ms", minimum), ("maximum_ms", maximum)] {
                    if let Some(value) = value {
                        set(rto, name, Parameter::Duration(*value));
                    }
                }
            }
            Call::InitMessage { outbound_streams, inbound_streams, attempts, longest_wait } => {
                settings.outbound_streams = outbound_streams.unwrap_or(settings.outbound_streams);
                settings.inbound_streams = inbound_streams.unwrap_or(settings.inbound_streams);
                settings.max_init_retransmits = attempts.unwrap_or(settings.max_init_retransmits);
                settings.longest_init_wait = longest_wait.or(settings.longest_init_wait);
            }
            Call::AssociationInfo { most_retransmits, cookie_life } => {
                let most = most_retransmits.unwrap_or(settings.association_max_retransmits);
                settings.association_max_retransmits = most;
                settings.cookie_life = cookie_life.unwrap_or(settings.cookie_life);
            }
            Call::PeerParameters { heartbeats, demand, most_retransmits } => {
                settings.heartbeat_interval = heartbeats.unwrap_or(settings.heartbeat_interval);
                settings.path_max_retransmits = most_retransmits.unwrap_or(settings.path_max_retransmits);
                if let Some(association) = association {
                    if let Some(interval) = heartbeats {
                        association.set_heartbeat_interval(now, *interval);
                    }
                    association.set_path_max_retransmits(settings.path_max_retransmits);
                    if *demand {
                        association.request_heartbeat(now, self.setup.peers[0]);
                    }
                }
            }
            Call::DelayedSack { delay, every } => {
                settings.sack_delay = delay.unwrap_or(settings.sack_delay);
                settings.sack_every = every.unwrap_or(settings.sack_every);
                if let Some(association) = association {
                    association.set_delayed_sacks(settings.sack_delay, settings.sack_every);
                }
            }
            Call::NoDelay(no_delay) => {
                settings.nagle = !no_delay;
                if let Some(association) = association {
                    association.set_nagle(!no_delay);
                }
            }
        }
        Ok(Returned::Value(0))
    }
}

/// Sets a parameter of an algorithm.
fn set(choice: &mut Choice, name: &str, value: Parameter) {
    choice.parameters.retain(|(known, _)| known != name);
    choice.parameters.push((name.into(), value));
}
