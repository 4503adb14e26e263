//! Requests and responses: `from` sends a request. `to` responds once it has read the whole
//! request. `from` reads the response, pauses, and sends the next request.

use super::Step;
use crate::end::End;
use crate::scenario::Amount;
use eifel_base::time::{Duration, Instant};
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

pub struct RequestResponse {
    requests: u32,
    request: Drawn<Amount>,
    response: Drawn<Amount>,
    think: Drawn<Draw>,
    /// Requests that `from` has sent.
    asked: u32,
    /// Requests that `to` has read and answered.
    answered: u32,
    /// Responses that `from` has read.
    heard: u32,
    /// Bytes of all requests and of all responses so far.
    request_bytes: u64,
    response_bytes: u64,
    asked_at: Instant,
    /// The time from each request to the last byte of its response.
    latencies: Vec<Duration>,
    closes: bool,
}

/// A distribution, and the random stream for its draws.
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

#[cfg(test)]
mod tests {
    use super::*;
    use Duration as D;

    /// Two requests of 100 bytes, responses of 300, and a pause of `think_s`.
    fn dialogue(think_s: f64, closes: bool) -> RequestResponse {
        let drawn = |bytes| Drawn { of: Amount::fixed(bytes), stream: Stream::new(1, &["x"]) };
        let think = Drawn { of: Draw::Constant { value_s: think_s }, stream: Stream::new(1, &["think"]) };
        RequestResponse::new(2, (drawn(100), drawn(300)), think, closes)
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn writes(write: u64) -> Option<Step> {
        Some(Step { write, ..Step::NOTHING })
    }

    #[test]
    fn each_request_has_one_response_however_often_an_end_reads() {
        let mut dialogue = dialogue(0.0, true);
        assert_eq!(Some(dialogue.start(at(10))), writes(100));
        // Nothing read yet, too few bytes, the whole request, and two more reads without new bytes.
        for (total, expected) in [(0, 0), (99, 0), (100, 300), (100, 0), (100, 0)] {
            assert_eq!(dialogue.read(at(20), End::To, total), writes(expected), "{total}");
        }
        assert_eq!(dialogue.read(at(29), End::From, 299), None);
        // Without a pause, the next request leaves when the last byte of the response is read.
        assert_eq!(dialogue.read(at(30), End::From, 300), writes(100));
        assert_eq!(dialogue.read(at(31), End::From, 300), None);
        assert_eq!(dialogue.read(at(40), End::To, 199), writes(0));
        assert_eq!(dialogue.read(at(40), End::To, 200), writes(300));
        assert_eq!(dialogue.read(at(40), End::To, 200), writes(0));
        let over = Step { close: true, done: true, ..Step::NOTHING };
        assert_eq!(dialogue.read(at(55), End::From, 600), Some(over));
        assert_eq!(dialogue.latencies(), [D::from_millis(20), D::from_millis(25)]);
        assert_eq!(dialogue.wake(at(60)), Step::NOTHING);
    }

    #[test]
    fn a_pause_ends_with_the_next_request_and_a_stop_ends_the_dialogue() {
        let mut paused = dialogue(1.5, false);
        paused.start(at(0));
        paused.read(at(1), End::To, 100);
        let pause = Step { wake_after: Some(D::from_millis(1500)), ..Step::NOTHING };
        assert_eq!(paused.read(at(2), End::From, 300), Some(pause));
        assert_eq!(Some(paused.wake(at(1502))), writes(100));
        paused.read(at(1503), End::To, 200);
        let done = Step { done: true, ..Step::NOTHING };
        assert_eq!(paused.read(at(1504), End::From, 600), Some(done));
        assert_eq!(paused.latencies(), [D::from_millis(2); 2]);

        let mut stopped = dialogue(1.5, true);
        stopped.start(at(0));
        stopped.stop();
        stopped.read(at(1), End::To, 100);
        let over = Step { close: true, done: true, ..Step::NOTHING };
        assert_eq!(stopped.read(at(2), End::From, 300), Some(over));
    }
}
