//! A test that sends to an unmodified iperf3 server.
//!
//! iperf3's protocol uses two connections. On the control connection the server names states, one
//! byte each, and both sides exchange JSON documents with their length in front. The stream of data
//! begins with the cookie of the control connection.

use super::body::Body;
use super::meter::Meter;
use super::{Amount, Notice, Watch, trouble};
use crate::host::{ConnectError, Handle, Host, HostEvent};
use crate::station::{Application, Next};
use crate::system::Error;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine;
use eifel_tcp::{Event, Settings};
use serde_json::{Value, json};
use std::net::SocketAddr;

use super::client::Outcome;

/// The task of a test.
#[derive(Clone, Debug)]
pub struct Plan {
    pub server: SocketAddr,
    /// Settings of both connections.
    pub settings: Settings,
    /// Algorithms of their sending sides.
    pub sender: engine::Config,
    /// How much is sent.
    pub body: Amount,
    /// Length of an interval.
    pub every: Duration,
    /// Seed of the cookie, from the system's random numbers.
    pub secret: u64,
}

/// The numbers of iperf3's states.
const TEST_START: u8 = 1;
const TEST_RUNNING: u8 = 2;
const TEST_END: u8 = 4;
const PARAM_EXCHANGE: u8 = 9;
const CREATE_STREAMS: u8 = 10;
const SERVER_TERMINATE: u8 = 11;
const EXCHANGE_RESULTS: u8 = 13;
const DISPLAY_RESULTS: u8 = 14;
const IPERF_DONE: u8 = 16;
const ACCESS_DENIED: u8 = 0xff;
const SERVER_ERROR: u8 = 0xfe;

const COOKIE: usize = 37;
const BLOCK: u64 = 128 * 1024;
/// The most bytes accepted for a document. A server's longest document has some kilobytes.
const LONGEST_DOCUMENT: usize = 1 << 20;

/// The message that the control connection waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaits {
    State,
    Results,
}

/// A running test.
pub struct Test<'a> {
    plan: Plan,
    watch: Watch<'a>,
    cookie: [u8; COOKIE],
    control: Handle,
    stream: Option<Handle>,
    awaits: Awaits,
    /// Bytes received on the control connection and not yet interpreted.
    heard: Vec<u8>,
    /// Bytes to send on the control connection.
    to_say: Vec<u8>,
    /// Bytes of the cookie written on the stream, before the body.
    cookie_said: usize,
    body: Body,
    running: bool,
    meter: Option<Meter>,
    results: Value,
    outcome: Option<Outcome>,
    failure: Option<Error>,
    over: bool,
}

impl<'a> Test<'a> {
    /// Connects to the server.
    ///
    /// # Errors
    /// As for [`Host::connect`].
    pub fn begin(now: Instant, host: &mut Host, plan: Plan, watch: Watch<'a>) -> Result<Self, ConnectError> {
        let control = host.connect(now, plan.server, &plan.settings, &plan.sender)?;
        let (cookie, body) = (cookie(plan.secret), Body::new(plan.body));
        Ok(Self {
            plan,
            watch,
            cookie,
            control,
            stream: None,
            awaits: Awaits::State,
            heard: Vec::new(),
            to_say: cookie.to_vec(),
            cookie_said: 0,
            body,
            running: false,
            meter: None,
            results: Value::Null,
            outcome: None,
            failure: None,
            over: false,
        })
    }

    /// Returns the stream's result, its intervals, and the server's own results.
    ///
    /// # Errors
    /// The reason why the test failed.
    pub fn finish(self) -> Result<(Outcome, Meter, Value), Error> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match (self.outcome, self.meter) {
            (Some(outcome), Some(meter)) => Ok((outcome, meter, self.results)),
            _ => Err(Error::new(self.plan.server.to_string(), &"the test is not over", "")),
        }
    }

    fn fail(&mut self, cause: &str) {
        self.failure.get_or_insert_with(|| Error::new(self.plan.server.to_string(), &cause, ""));
    }

    fn take_events(&mut self, now: Instant, host: &mut Host) {
        while let Some((handle, happening)) = host.poll_event() {
            let HostEvent::Event(event) = happening else {
                self.over |= handle == self.control;
                continue;
            };
            match event {
                Event::Connected if Some(handle) == self.stream => {
                    self.meter = Some(Meter::new(now, self.plan.every));
                    (self.watch)(now, &Notice::Connected);
                }
                Event::Recovery(event) if Some(handle) == self.stream => (self.watch)(now, &Notice::Recovery(&event)),
                // At the end the server resets the stream, because it leaves data unread.
                event if self.results.is_null() && (handle == self.control || self.outcome.is_none()) => {
                    if let Some(error) = trouble(&self.plan.server.to_string(), &event) {
                        self.failure.get_or_insert(error);
                    }
                }
                _ => {}
            }
        }
    }

    fn take_control(&mut self, now: Instant, host: &mut Host) {
        let Some(connection) = host.connection(self.control) else { return };
        let mut room = [0; 4096];
        loop {
            match connection.read(&mut room) {
                0 => break,
                count => self.heard.extend_from_slice(&room[..count]),
            }
        }
        while self.failure.is_none() && self.step(now, host) {}
        let Some(connection) = host.connection(self.control) else { return };
        let count = connection.write(&self.to_say);
        self.to_say.drain(..count);
        if self.to_say.is_empty() && self.over {
            connection.shutdown_write();
        }
    }

    /// Reads the next state or document if it is complete. Returns whether there was one.
    fn step(&mut self, now: Instant, host: &mut Host) -> bool {
        if self.awaits == Awaits::Results {
            let Some((length, rest)) = self.heard.split_first_chunk::<4>() else { return false };
            let length = u32::from_be_bytes(*length) as usize;
            if length > LONGEST_DOCUMENT {
                self.fail("not iperf3: a document that is too long");
                return false;
            }
            let Some(document) = rest.get(..length) else { return false };
            self.results = serde_json::from_slice(document).unwrap_or(Value::Bool(false));
            self.heard.drain(..4 + length);
            self.awaits = Awaits::State;
            return true;
        }
        if self.heard.is_empty() {
            return false;
        }
        match self.heard.remove(0) {
            PARAM_EXCHANGE => self.say_document(&self.parameters()),
            CREATE_STREAMS => match host.connect(now, self.plan.server, &self.plan.settings, &self.plan.sender) {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => self.fail(&error.to_string()),
            },
            TEST_START => {}
            TEST_RUNNING => {
                self.running = true;
                self.body.begin(now);
            }
            EXCHANGE_RESULTS => {
                self.say_document(&self.own_results());
                self.awaits = Awaits::Results;
            }
            DISPLAY_RESULTS => {
                self.to_say.push(IPERF_DONE);
                self.over = true;
            }
            // Ctrl-C goes to both ends.
            SERVER_TERMINATE => self.fail("the server has ended the test"),
            ACCESS_DENIED => self.fail("the server is busy with another test"),
            SERVER_ERROR => self.fail("the server reports an error"),
            other => self.fail(&format!("not iperf3: state {other}")),
        }
        true
    }

    fn say_document(&mut self, document: &Value) {
        let text = document.to_string();
        self.to_say.extend((text.len() as u32).to_be_bytes());
        self.to_say.extend(text.into_bytes());
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({
            "tcp": true, "omit": 0, "parallel": 1, "len": BLOCK, "pacing_timer": 1000, "client_version": "3.12",
        });
        match self.plan.body {
            Amount::Bytes(bytes) => {
                parameters["num"] = json!(bytes);
                parameters["time"] = json!(0);
            }
            Amount::Time(length) => parameters["time"] = json!(length.as_secs_f64().ceil() as u64),
        }
        parameters
    }

    fn own_results(&self) -> Value {
        let retransmissions = self.outcome.as_ref().map_or(0, |outcome| outcome.tally.retransmissions);
        let seconds = self.outcome.as_ref().map_or(0.0, |outcome| outcome.lasted.as_secs_f64());
        json!({
            "cpu_util_total": 0.0, "cpu_util_user": 0.0, "cpu_util_system": 0.0, "sender_has_retransmits": 1,
            "congestion_used": self.plan.sender.congest.name,
            "streams": [{
                "id": 1, "bytes": self.body.written(), "retransmits": retransmissions, "jitter": 0, "errors": 0,
                "packets": 0, "start_time": 0, "end_time": seconds,
            }],
        })
    }

    /// Writes the body. Takes the stream's outcome once the body is written and, for a number of
    /// bytes, acknowledged. Returns when the next turn is due.
    fn take_stream(&mut self, now: Instant, host: &mut Host) -> Instant {
        let Some(stream) = self.stream else { return Instant::NEVER };
        let tally = host.tally(stream);
        let (Some(connection), Some(meter)) = (host.connection(stream), &mut self.meter) else { return Instant::NEVER };
        if self.over {
            connection.close(now);
            return Instant::NEVER;
        }
        if self.cookie_said < COOKIE {
            self.cookie_said += connection.write(&self.cookie[self.cookie_said..]);
        }
        let variables = connection.engine().snapshot();
        if self.running && self.outcome.is_none() {
            let all = self.body.write(now, connection);
            let written = self.body.written();
            // The server counts the bytes read when it learns of the end, so a number of bytes has
            // to arrive before.
            let timed = matches!(self.plan.body, Amount::Time(_));
            if all && (timed || connection.engine().una() == connection.end()) {
                if let Some(interval) = meter.finish(now, written, tally, variables) {
                    (self.watch)(now, &Notice::Interval(interval));
                }
                self.outcome = Some(Outcome {
                    written,
                    acknowledged: variables.una.saturating_sub(1 + COOKIE as u64).min(written),
                    read: 0,
                    head: Vec::new(),
                    lasted: now.since(meter.begun()),
                    tally,
                    counts: connection.counts(),
                    mss: connection.mss(),
                    variables,
                });
                self.to_say.push(TEST_END);
            } else if meter.due() <= now {
                let interval = meter.cut(now, written, tally, variables);
                (self.watch)(now, &Notice::Interval(interval));
            }
        }
        meter.due().min(self.body.due(now))
    }
}

impl Application for Test<'_> {
    fn turn(&mut self, now: Instant, host: &mut Host) -> Result<Next, Error> {
        self.take_events(now, host);
        let due = self.take_stream(now, host);
        self.take_control(now, host);
        if self.failure.is_some() || (self.over && self.to_say.is_empty() && !self.results.is_null()) {
            return Ok(Next::Done);
        }
        Ok(Next::Turn(due))
    }

    fn stop(&mut self, _now: Instant, _host: &mut Host) {
        self.body.stop();
        if !self.running {
            self.fail("interrupted");
        }
    }
}

/// Makes a cookie like iperf3's: 36 characters and a zero.
fn cookie(mut secret: u64) -> [u8; COOKIE] {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut cookie = [0; COOKIE];
    for byte in &mut cookie[..COOKIE - 1] {
        // Knuth's generator; the cookie only has to differ from others.
        secret = secret.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = LETTERS[(secret >> 59) as usize];
    }
    cookie
}
