//! A server: accepts connections, reads their data, and compares it with the pattern if
//! asked to.

use super::meter::Meter;
use super::pattern::Pattern;
use super::{Notice, Watch};
use crate::host::{ConnectError, Handle, Host, HostEvent};
use crate::station::{Application, Next};
use crate::system::Error;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine;
use eifel_tcp::{Event, Settings};
use std::collections::BTreeMap;

/// The task of a server.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The port to listen at.
    pub port: u16,
    /// Settings of its connections.
    pub settings: Settings,
    /// Algorithms of their sending sides.
    pub sender: engine::Config,
    /// The number of connections after which it is done; `None` for no limit.
    pub calls: Option<u64>,
    /// Whether each byte is compared with the pattern.
    pub checked: bool,
    /// Length of an interval.
    pub every: Duration,
}

/// The most incomplete handshakes that the listener keeps.
const BACKLOG: usize = 1024;

struct Stream {
    read: u64,
    meter: Meter,
}

/// The data read from one connection.
#[derive(Clone, Debug)]
pub struct Read {
    pub bytes: u64,
    /// From the opening to the peer's close, or to the end of the connection.
    pub lasted: Duration,
    /// The bytes read, interval by interval.
    pub meter: Meter,
}

/// A running server.
pub struct Server<'a> {
    plan: Plan,
    streams: BTreeMap<Handle, Stream>,
    /// How many streams have begun.
    opened: u64,
    done: Vec<Read>,
    pattern: Pattern,
    watch: Watch<'a>,
    room: Vec<u8>,
    /// A lower bound of the ends of all current intervals.
    due: Instant,
}

impl<'a> Server<'a> {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the port is taken or an algorithm is unknown.
    pub fn begin(host: &mut Host, plan: Plan, watch: Watch<'a>) -> Result<Self, ConnectError> {
        host.listen(plan.port, BACKLOG, &plan.settings, &plan.sender)?;
        let (pattern, room) = (Pattern::new(), vec![0; 1 << 16]);
        Ok(Self {
            plan,
            streams: BTreeMap::new(),
            opened: 0,
            done: Vec::new(),
            pattern,
            watch,
            room,
            due: Instant::NEVER,
        })
    }

    /// Returns the data read from connections that are over.
    pub fn finish(self) -> Vec<Read> {
        self.done
    }

    fn read(&mut self, now: Instant, host: &mut Host, handle: Handle) -> Result<(), Error> {
        let (Some(stream), Some(connection)) = (self.streams.get_mut(&handle), host.connection(handle)) else {
            return Ok(());
        };
        loop {
            let count = connection.read(&mut self.room);
            if count == 0 {
                break;
            }
            if self.plan.checked {
                self.pattern.check(stream.read, &self.room[..count])?;
            }
            stream.read += count as u64;
        }
        if stream.meter.due() <= now {
            let interval = stream.meter.cut(now, stream.read, Default::default(), connection.engine().snapshot());
            (self.watch)(now, &Notice::Interval(interval));
        }
        Ok(())
    }

    fn close(&mut self, now: Instant, host: &mut Host, handle: Handle) {
        let Some(Stream { read, mut meter }) = self.streams.remove(&handle) else { return };
        if let Some(connection) = host.connection(handle) {
            let variables = connection.engine().snapshot();
            connection.close(now);
            if let Some(interval) = meter.finish(now, read, Default::default(), variables) {
                (self.watch)(now, &Notice::Interval(interval));
            }
        }
        self.done.push(Read { bytes: read, lasted: now.since(meter.begun()), meter });
    }
}

impl Application for Server<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        while let Some((handle, happening)) = host.poll_event() {
            match happening {
                HostEvent::Opened { .. } => {
                    self.opened += 1;
                    let meter = Meter::of_stream(self.opened, now, self.plan.every);
                    self.due = self.due.min(meter.due());
                    self.streams.insert(handle, Stream { read: 0, meter });
                    (self.watch)(now, &Notice::Connected);
                    self.read(now, host, handle)?;
                }
                HostEvent::Event(Event::Readable) => self.read(now, host, handle)?,
                HostEvent::Event(Event::PeerClosed) => {
                    self.read(now, host, handle)?;
                    self.close(now, host, handle);
                }
                HostEvent::Event(Event::Recovery(event)) => (self.watch)(now, &Notice::Recovery(&event)),
                HostEvent::Event(_) => {}
                HostEvent::Ended(_) => self.close(now, host, handle),
            }
        }
        if self.due <= now {
            let open: Vec<Handle> = self.streams.keys().copied().collect();
            open.into_iter().try_for_each(|handle| self.read(now, host, handle))?;
            self.due = self.streams.values().map(|stream| stream.meter.due()).min().unwrap_or(Instant::NEVER);
        }
        let over = self.plan.calls.is_some_and(|calls| self.done.len() as u64 >= calls);
        if over && host.connections() == 0 {
            return Ok(Next::Done);
        }
        Ok(Next::Turn(self.due))
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        self.plan.calls = Some(0);
        let open: Vec<Handle> = self.streams.keys().copied().collect();
        for handle in open {
            if let Some(connection) = host.connection(handle) {
                connection.abort();
            }
            self.close(now, host, handle);
        }
    }
}
