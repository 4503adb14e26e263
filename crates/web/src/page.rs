//! Answers the requests of a page, one after another.

use crate::answer::Answer;
use crate::capture::Opened;
use crate::run;
use serde_json::{Value, json};

/// The state between requests: the open capture.
#[derive(Debug, Default)]
pub struct Page {
    opened: Option<Opened>,
}

impl Page {
    /// Answers a request. An answer to an invalid request contains the error.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let end = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
        let (line, bytes) = (&request[..end], request.get(end + 1..).unwrap_or_default());
        let answer = match serde_json::from_slice::<Value>(line) {
            Ok(asked) => self.asked(&asked, bytes).unwrap_or_else(Answer::error),
            Err(error) => Answer::error(format!("request: {error}; expected a line of JSON")),
        };
        answer.into_bytes()
    }

    fn asked(&mut self, asked: &Value, bytes: &[u8]) -> Result<Answer, String> {
        match asked["ask"].as_str().unwrap_or_default() {
            "run" => run::run(asked, bytes),
            "toml" => run::toml(bytes),
            "capture" => run::capture(bytes),
            "open" => {
                self.opened = Some(Opened::new(asked["name"].as_str().unwrap_or("capture")));
                Ok(Answer::default())
            }
            "feed" => self.opened()?.feed(bytes),
            "finish" => self.opened()?.finish(),
            "again" => self.opened()?.begin_pass(asked),
            "close" => {
                self.opened = None;
                Ok(Answer::of(json!({})))
            }
            other => {
                let allowed = "run, toml, capture, open, feed, finish, again, close";
                Err(format!("request: unknown \"ask\" {other:?}; allowed: {allowed}"))
            }
        }
    }

    fn opened(&mut self) -> Result<&mut Opened, String> {
        self.opened.as_mut().ok_or_else(|| "no capture is open".to_owned())
    }
}
