//! Requests and responses: `from` sends a request, `to` responds once it has read the whole
//! request, `from` pauses, and sends the next one.

use super::Step;
use crate::slab::End;
use eifel_base::time::Duration;
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

pub struct RequestResponse {
    requests: u32,
    request_bytes: u64,
    response_bytes: u64,
    think: Draw,
    stream: Stream,
    /// Requests that `to` has read, and responses that `from` has read.
    answered: u32,
    heard: u32,
    closes: bool,
}

impl RequestResponse {
    /// Creates a dialogue of `requests` requests. `bytes` are those of (request, response), and
    /// `pause` draws the pauses.
    pub fn new(requests: u32, bytes: (u64, u64), pause: (Draw, Stream), closes: bool) -> Self {
        let (think, stream) = pause;
        let (request_bytes, response_bytes) = bytes;
        Self { requests, request_bytes, response_bytes, think, stream, answered: 0, heard: 0, closes }
    }

    pub(super) fn start(&mut self) -> Step {
        Step { write: self.request_bytes, ..Step::NOTHING }
    }

    pub(super) fn read(&mut self, end: End, total: u64) -> Option<Step> {
        match end {
            End::To => {
                let mut step = Step::NOTHING;
                while self.answered < self.requests && total >= u64::from(self.answered + 1) * self.request_bytes {
                    self.answered += 1;
                    step.write += self.response_bytes;
                }
                Some(step)
            }
            End::From if self.heard < self.requests && total >= u64::from(self.heard + 1) * self.response_bytes => {
                self.heard += 1;
                if self.heard == self.requests {
                    return Some(Step { close: self.closes, done: true, ..Step::NOTHING });
                }
                match self.think.draw(&mut self.stream) {
                    Duration::ZERO => Some(self.start()),
                    pause => Some(Step { wake_after: Some(pause), ..Step::NOTHING }),
                }
            }
            End::From => None,
        }
    }

    pub(super) fn wake(&mut self) -> Step {
        if self.heard < self.requests { self.start() } else { Step::NOTHING }
    }

    pub(super) fn stop(&mut self) {
        self.requests = self.requests.min(self.heard + 1);
    }
}
