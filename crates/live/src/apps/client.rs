//! A client: opens a connection, sends its data, and reads the answer.

use super::body::Body;
use super::meter::Meter;
use super::{Amount, Notice, Watch, trouble};
use crate::host::{ConnectError, Handle, Host, HostEvent, Tally};
use crate::station::{Application, Next};
use crate::system::Error;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::{self, Snapshot};
use eifel_tcp::{Connection, Counts, Event, Settings, State};
use std::net::SocketAddr;

/// The task of a client.
#[derive(Clone, Debug)]
pub struct Plan {
    pub peer: SocketAddr,
    /// Settings of the connection.
    pub settings: Settings,
    /// Algorithms of its sending side.
    pub sender: engine::Config,
    /// Bytes sent before the body.
    pub preamble: Vec<u8>,
    /// The data sent after the preamble.
    pub body: Amount,
    /// The event that ends the call.
    pub end: End,
    /// Length of an interval.
    pub every: Duration,
}

/// The event that ends a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// This end closes after the body.
    Close,
    /// The peer closes, as a server does after its answer.
    PeerCloses,
}

/// The result of a transfer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Bytes of the body that were written.
    pub written: u64,
    /// Bytes that the peer has acknowledged, preamble included.
    pub acknowledged: u64,
    /// Bytes read.
    pub read: u64,
    /// The first bytes read.
    pub head: Vec<u8>,
    /// Time from the opening of the connection until it ended or entered TIME-WAIT.
    pub lasted: Duration,
    pub tally: Tally,
    /// Counts of the input that the connection refused.
    pub counts: Counts,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The sender's variables at the end.
    pub variables: Snapshot,
}

/// A running client.
pub struct Client<'a> {
    plan: Plan,
    handle: Handle,
    body: Body,
    watch: Watch<'a>,
    meter: Option<Meter>,
    /// Bytes of the preamble that were written.
    said: usize,
    read: u64,
    head: Vec<u8>,
    room: Vec<u8>,
    outcome: Option<Result<Outcome, Error>>,
}

/// Bytes of the answer kept in `head`.
const HEAD: usize = 4096;

impl<'a> Client<'a> {
    /// Opens the connection.
    ///
    /// # Errors
    /// As for [`Host::connect`].
    pub fn begin(now: Instant, host: &mut Host, plan: Plan, watch: Watch<'a>) -> Result<Self, ConnectError> {
        let handle = host.connect(now, plan.peer, &plan.settings, &plan.sender)?;
        let body = Body::new(plan.body);
        Ok(Self {
            plan,
            handle,
            body,
            watch,
            meter: None,
            said: 0,
            read: 0,
            head: Vec::new(),
            room: vec![0; 1 << 16],
            outcome: None,
        })
    }

    /// Returns the result of a transfer that is over, and its intervals.
    ///
    /// # Errors
    /// The reason why the transfer failed.
    pub fn finish(self) -> Result<(Outcome, Meter), Error> {
        match (self.outcome, self.meter) {
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(outcome)), Some(meter)) => Ok((outcome, meter)),
            _ => Err(Error::new(self.plan.peer.to_string(), &"stopped before the peer had answered", "")),
        }
    }

    /// Returns the first bytes read, if the transfer is over without an outcome.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    fn take_events(&mut self, now: Instant, host: &mut Host) {
        while let Some((handle, happening)) = host.poll_event() {
            if handle != self.handle || self.outcome.is_some() {
                continue;
            }
            match happening {
                HostEvent::Event(Event::Connected) => {
                    self.meter = Some(Meter::new(now, self.plan.every));
                    self.body.begin(now);
                    (self.watch)(now, &Notice::Connected);
                }
                HostEvent::Event(Event::Recovery(event)) => (self.watch)(now, &Notice::Recovery(&event)),
                HostEvent::Event(event) => {
                    self.outcome = trouble(&self.plan.peer.to_string(), &event).map(Err);
                }
                HostEvent::Ended(ended) => self.end(now, &ended.connection, ended.tally),
                HostEvent::Opened { .. } => {}
            }
        }
    }

    fn write(&mut self, now: Instant, connection: &mut Connection) {
        while let Some(rest) = self.plan.preamble.get(self.said..).filter(|rest| !rest.is_empty()) {
            match connection.write(rest) {
                0 => return,
                count => self.said += count,
            }
        }
        let all = self.body.write(now, connection);
        if all && self.plan.end == End::Close {
            connection.shutdown_write();
        }
    }

    fn read(&mut self, connection: &mut Connection) {
        loop {
            let count = connection.read(&mut self.room);
            if count == 0 {
                return;
            }
            let kept = count.min(HEAD.saturating_sub(self.head.len()));
            self.head.extend_from_slice(&self.room[..kept]);
            self.read += count as u64;
        }
    }

    fn end(&mut self, now: Instant, connection: &Connection, tally: Tally) {
        let variables = connection.engine().snapshot();
        let moved = self.body.written() + self.read;
        if let Some(meter) = &mut self.meter
            && let Some(interval) = meter.finish(now, moved, tally, variables)
        {
            (self.watch)(now, &Notice::Interval(interval));
        }
        let lasted = self.meter.as_ref().map_or(Duration::ZERO, |meter| now.since(meter.begun()));
        self.outcome = Some(Ok(Outcome {
            written: self.body.written(),
            acknowledged: variables.una.saturating_sub(1).min(self.said as u64 + self.body.written()),
            read: self.read,
            head: std::mem::take(&mut self.head),
            lasted,
            tally,
            counts: connection.counts(),
            mss: connection.mss(),
            variables,
        }));
    }
}

impl Application for Client<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        self.take_events(now, host);
        let tally = host.tally(self.handle);
        let (Some(connection), None) = (host.connection(self.handle), &self.outcome) else { return Ok(Next::Done) };
        self.read(connection);
        if connection.state() == State::Established || connection.state() == State::CloseWait {
            self.write(now, connection);
        }
        let peer_closed = matches!(connection.state(), State::CloseWait | State::TimeWait { .. });
        if peer_closed && self.plan.end == End::PeerCloses && connection.readable() == 0 {
            connection.shutdown_write();
        }
        if let State::TimeWait { .. } = connection.state() {
            self.end(now, connection, tally);
            return Ok(Next::Turn(now));
        }
        let Some(meter) = &mut self.meter else { return Ok(Next::Turn(Instant::NEVER)) };
        if meter.due() <= now {
            let interval = meter.cut(now, self.body.written() + self.read, tally, connection.engine().snapshot());
            (self.watch)(now, &Notice::Interval(interval));
        }
        Ok(Next::Turn(meter.due().min(self.body.due(now))))
    }

    fn stop(&mut self, _now: Instant, host: &mut Host) {
        self.body.stop();
        if let Some(connection) = host.connection(self.handle) {
            connection.abort();
        }
    }
}
