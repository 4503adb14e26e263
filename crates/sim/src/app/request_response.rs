//! Requests and responses: `from` sends a request, `to` responds once it has read the whole
//! request, `from` pauses, and sends the next one.

use super::Step;
use crate::scenario::Amount;
use crate::slab::End;
use eifel_base::time::{Duration, Instant};
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

pub struct RequestResponse {
    requests: u32,
    request: Drawn<Amount>,
    response: Drawn<Amount>,
    think: Drawn<Draw>,
    /// Requests that `from` has sent, `to` has read, and whose response `from` has read.
    asked: u32,
    answered: u32,
    heard: u32,
    /// Bytes of all requests and of all responses so far.
    request_bytes: u64,
    response_bytes: u64,
    asked_at: Instant,
    /// The time from each request to the last byte of its response.
    latencies: Vec<Duration>,
    closes: bool,
}

/// A distribution, and the stream that its draws come from.
pub struct Drawn<T> {
    pub of: T,
    pub stream: Stream,
}

impl Drawn<Amount> {
    fn draw(&mut self) -> u64 {
        self.of.draw(&mut self.stream)
    }
}

impl RequestResponse {
    /// Creates a dialogue of `requests` requests. `amounts` draws the bytes of (request, response),
    /// and `think` the pauses.
    pub fn new(requests: u32, amounts: (Drawn<Amount>, Drawn<Amount>), think: Drawn<Draw>, closes: bool) -> Self {
        let (request, response) = amounts;
        Self {
            requests,
            request,
            response,
            think,
            asked: 0,
            answered: 0,
            heard: 0,
            request_bytes: 0,
            response_bytes: 0,
            asked_at: Instant::ZERO,
            latencies: Vec::new(),
            closes,
        }
    }

    /// Sends a request.
    pub(super) fn start(&mut self, now: Instant) -> Step {
        let write = self.request.draw();
        self.asked += 1;
        self.request_bytes += write;
        self.asked_at = now;
        Step { write, ..Step::NOTHING }
    }

    pub(super) fn read(&mut self, now: Instant, end: End, total: u64) -> Option<Step> {
        match end {
            End::To if self.answered < self.asked && total >= self.request_bytes => {
                let write = self.response.draw();
                self.answered += 1;
                self.response_bytes += write;
                Some(Step { write, ..Step::NOTHING })
            }
            End::To => Some(Step::NOTHING),
            End::From if self.heard < self.answered && total >= self.response_bytes => {
                self.heard += 1;
                self.latencies.push(now.since(self.asked_at));
                if self.heard == self.requests {
                    return Some(Step { close: self.closes, done: true, ..Step::NOTHING });
                }
                match self.think.of.draw(&mut self.think.stream) {
                    Duration::ZERO => Some(self.start(now)),
                    pause => Some(Step { wake_after: Some(pause), ..Step::NOTHING }),
                }
            }
            End::From => None,
        }
    }

    pub(super) fn wake(&mut self, now: Instant) -> Step {
        if self.heard < self.requests { self.start(now) } else { Step::NOTHING }
    }

    pub(super) fn stop(&mut self) {
        self.requests = self.requests.min(self.heard + 1);
    }

    /// Returns the time from each request to the last byte of its response, in their order.
    pub fn latencies(&self) -> &[Duration] {
        &self.latencies
    }
}
