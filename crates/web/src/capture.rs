//! A capture that is fed in pieces: once for its report, and again for each requested graph, copy
//! or prediction.

use crate::answer::Answer;
use eifel_capture::analysis::Analyzer;
use eifel_capture::frame::decode::{self, Content, Fragments};
use eifel_capture::frame::read::{Frame, Reader};
use eifel_capture::quic;
use eifel_capture::report::annotate::Annotator;
use eifel_capture::report::text;
use eifel_capture::report::{Capture, Report};
use eifel_capture::result::{End, Retransmission};
use eifel_command::page::Screen;
use eifel_whatif::events::Captured;
use eifel_whatif::found::Found;
use eifel_whatif::path::Refusal;
use eifel_whatif::replay;
use eifel_whatif::scenario;
use eifel_whatif::trace::Trace;
use eifel_whatif::whatif::RequestedSender;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{self, Write};
use std::mem;
use std::rc::Rc;

/// The most bytes of a QUIC log, which has to fit into memory as a whole.
const MOST_LOG: usize = 1 << 28;
/// The number of paths drawn for a prediction.
const DRAWS: u32 = 40;
/// The characters of a line about a prediction.
const COLUMNS: usize = 100;

#[derive(Debug)]
pub(crate) struct Opened {
    name: String,
    report: Report,
    reader: Reader,
    pass: Stage,
    damage: Option<String>,
}

/// The purpose of the present pass over the bytes.
#[derive(Debug)]
enum Stage {
    /// No byte has arrived yet.
    First,
    Report(Box<Analyzer>),
    Log(Vec<u8>),
    Graph(Box<(Trace, Fragments)>),
    WhatIf(Box<(Trace, Fragments, PredictionRequest)>),
    Annotated(Box<Annotator<Copied>>, Copied),
    Done,
}

/// The part of a copy that the page has not fetched yet.
#[derive(Clone, Debug, Default)]
struct Copied(Rc<RefCell<Vec<u8>>>);

impl Copied {
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for Copied {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The direction of a prediction, and the senders to try.
#[derive(Debug)]
struct PredictionRequest {
    connection: u64,
    from_server: bool,
    senders: Vec<RequestedSender>,
}

impl Opened {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            report: Report::default(),
            reader: Reader::new(),
            pass: Stage::First,
            damage: None,
        }
    }

    /// Consumes the next piece.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Answer, String> {
        if matches!(self.pass, Stage::First) && !bytes.is_empty() {
            self.pass = if quic::is_log(bytes) { Stage::Log(Vec::new()) } else { Stage::Report(Box::default()) };
        }
        if let Stage::Log(log) = &mut self.pass {
            if log.len() + bytes.len() > MOST_LOG {
                return Err(self.message(format!("expected a log of at most {} MiB", MOST_LOG >> 20)));
            }
            log.extend(bytes);
            return Ok(Answer::of(json!({ "frames": 0 })));
        }
        self.frames(bytes)?;
        let mut answer = Answer::of(json!({ "frames": self.reader.frames() }));
        if let Stage::Annotated(_, copied) = &self.pass {
            let bytes = answer.bytes("bytes", copied.take());
            answer = answer.with("bytes", bytes);
        }
        Ok(answer)
    }

    fn frames(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.damage.is_some() {
            // Only the frames before the file's damage count.
            return Ok(());
        }
        self.reader.feed(bytes);
        loop {
            match self.reader.frame() {
                Ok(Some(frame)) => self.pass.frame(&frame).map_err(|error| format!("{}: {error}", self.name))?,
                Ok(None) => break,
                Err(error) => {
                    self.damage = Some(error.to_string());
                    break;
                }
            }
        }
        match &self.damage {
            Some(damage) if self.reader.frames() == 0 => Err(self.message(damage.clone())),
            _ => Ok(()),
        }
    }

    /// Ends the pass after the last piece. Returns its result.
    pub(crate) fn finish(&mut self) -> Result<Answer, String> {
        let reader = mem::take(&mut self.reader);
        let frames = reader.frames();
        let damage = self.damage.take().or_else(|| reader.finish().err().map(|error| error.to_string()));
        match mem::replace(&mut self.pass, Stage::Done) {
            // A file without bytes is a capture without packets, as it is for `eifel analyze`.
            Stage::First => self.captured(Analyzer::default(), frames, damage),
            Stage::Report(analyzer) => self.captured(*analyzer, frames, damage),
            Stage::Log(log) => {
                let log = String::from_utf8(log).map_err(|_| self.message("no log: not UTF-8".to_owned()))?;
                self.report.quic = Some(quic::analyse(&[(&self.name, &log)])?);
                Ok(self.report_answer())
            }
            Stage::Graph(pass) => {
                let mut answer = Answer::default();
                let columns = pass.0.columns().into_iter();
                let columns: Vec<_> = columns.map(|(name, values)| answer.reals(name, values.into_iter())).collect();
                Ok(answer.with("graph", columns.into()))
            }
            Stage::Annotated(annotator, copied) => {
                let mut answer = Answer::default();
                annotator.finish().map_err(|error| self.message(error.to_string()))?;
                let bytes = answer.bytes("bytes", copied.take());
                Ok(answer.with("bytes", bytes))
            }
            Stage::WhatIf(pass) => {
                let (trace, _, wanted) = *pass;
                self.predicted(trace, &wanted).map_err(|Refusal(why)| self.message(why))
            }
            Stage::Done => Err("no capture is being read".to_owned()),
        }
    }

    fn captured(&mut self, analyzer: Analyzer, frames: u64, damage: Option<String>) -> Result<Answer, String> {
        if let Some(damage) = damage.clone().filter(|_| frames == 0) {
            return Err(self.message(damage));
        }
        let capture = Capture { file: self.name.clone(), frames, error: damage };
        self.report.add(vec![capture], analyzer.finish());
        Ok(self.report_answer())
    }

    fn report_answer(&self) -> Answer {
        let again = self.report.retransmissions.iter().enumerate();
        let counted: Vec<usize> = again.filter(|(_, one)| !one.repairs_nothing()).map(|(place, _)| place).collect();
        Answer::of(json!({
            "report": self.report.json(),
            "text": text::summary(&self.report),
            "words": text::words(&self.report),
            // The places of the retransmissions that totals count.
            "counted": counted,
        }))
    }

    /// Begins another pass over the same bytes.
    pub(crate) fn begin_pass(&mut self, asked: &Value) -> Result<Answer, String> {
        self.pass = match asked["for"].as_str().unwrap_or_default() {
            "annotated" => {
                let copied = Copied::default();
                let annotator = Annotator::new(copied.clone(), self.report.of_capture(0));
                Stage::Annotated(Box::new(annotator.map_err(|error| self.message(error.to_string()))?), copied)
            }
            "graph" => Stage::Graph(Box::new((self.trace(asked)?.0, Fragments::default()))),
            "whatif" => {
                let (trace, wanted) = self.trace(asked)?;
                Stage::WhatIf(Box::new((trace, Fragments::default(), wanted)))
            }
            other => return Err(format!("request: for {other:?}; allowed: graph, annotated, whatif")),
        };
        self.reader = Reader::new();
        self.damage = None;
        Ok(Answer::default())
    }

    fn trace(&self, asked: &Value) -> Result<(Trace, PredictionRequest), String> {
        let connection = asked["connection"].as_u64().unwrap_or(0);
        let from_server = asked["from_server"].as_bool().unwrap_or(false);
        let found = self.report.connections.iter().find(|one| one.connection == connection);
        let found = found.ok_or_else(|| self.message(format!("no connection {connection} with data")))?;
        let senders = asked["senders"].as_array().into_iter().flatten().map(|one| RequestedSender {
            name: one["name"].as_str().unwrap_or_default().to_owned(),
            changes: one["changes"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect(),
        });
        Ok((
            Trace::new(found.flow(from_server)),
            PredictionRequest { connection, from_server, senders: senders.collect() },
        ))
    }

    fn predicted(&self, trace: Trace, wanted: &PredictionRequest) -> Result<Answer, Refusal> {
        let end = if wanted.from_server { End::Server } else { End::Client };
        let ours = |one: &&Retransmission| one.connection == wanted.connection && one.sender == end;
        let again = self.report.retransmissions.iter().filter(ours).cloned().collect();
        let found = self.report.connections.iter().find(|one| one.connection == wanted.connection);
        let model = found.and_then(|one| one.directions[usize::from(wanted.from_server)].model);
        let captured = Captured { trace, again, model };
        let path = captured.path()?;
        let replay = replay::replay(&captured, &path)?;
        let found = Found { captured, path, replay };
        // If replay and capture differ, a prediction would be worthless.
        let refused = found.refused();
        let predicted = match refused {
            Some(_) => None,
            None => Some(found.whatif(&wanted.senders, (DRAWS, 1), &mut |_| Ok(()))?),
        };
        let mut text = found.text(predicted.as_ref(), Screen { columns: COLUMNS, styled: false });
        if let Some(why) = refused {
            text += &format!("no prediction: {why}\n");
        }
        let mut answer = json!({
            "path": found.path,
            "replay": found.replay,
            "events": found.captured.events(),
            "scenario": scenario::as_seen(&found.path, &found.replay.sender, 1),
            "text": text,
        });
        if let Some(predicted) = predicted {
            answer["whatif"] = json!(predicted);
        }
        Ok(Answer::of(answer))
    }

    fn message(&self, what: String) -> String {
        format!("{}: {what}", self.name)
    }
}

impl Stage {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        match self {
            Self::Report(analyzer) => analyzer.frame(frame),
            Self::Annotated(annotator, _) => annotator.frame(frame)?,
            Self::Graph(pass) => seen(&mut pass.0, &mut pass.1, frame),
            Self::WhatIf(pass) => seen(&mut pass.0, &mut pass.1, frame),
            Self::First | Self::Log(_) | Self::Done => {}
        }
        Ok(())
    }
}

fn seen(trace: &mut Trace, fragments: &mut Fragments, frame: &Frame<'_>) {
    decode::each(frame.link, frame.bytes, frame.wire_len, fragments, |content| {
        if let Ok(Content::Tcp(packet)) = content {
            trace.packet(&packet, frame.nanos, frame.number);
        }
    });
}
