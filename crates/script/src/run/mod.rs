//! Runs a script in virtual time.
//!
//! Events happen in the script's order. Before a packet arrives or the application calls, every
//! timer that is due by then expires, also one due at the same instant. Departed packets are kept
//! in order. Each packet that the script expects is compared with the first departed packet that is
//! not yet accounted for. If there is none, time goes on until a packet leaves or the expected
//! packet's time is over.

pub(crate) mod clocks;
mod compare;
mod connection;
pub(crate) mod end;
mod host;
mod options;
pub(crate) mod sockets;
mod stamps;
mod wire;

use connection::ConnectionEnd;
use end::{End, Returned};

use crate::expression::{Expression, Meaning, Statement, Values};
use crate::outcome::{Failure, Outcome, Row, Seen, Side};
use crate::script::{Action, Call, Event, Expected, Script, Traffic, When};
use crate::sctp::host::AssociationEnd;
use crate::variables::Variable;
use eifel_base::time::{Duration, Instant};

/// Runs a script to its end or to the first event that is not as expected. If a script has several
/// readings, one has to pass. If none does, returns the outcome of the first.
pub fn run(script: &Script) -> Outcome {
    let outcome = one(script);
    if outcome.passed() {
        return outcome;
    }
    script.others.iter().map(one).find(Outcome::passed).unwrap_or(outcome)
}

fn one(script: &Script) -> Outcome {
    let mut run = Run {
        script,
        end: match &script.association {
            None => Box::new(ConnectionEnd::new(&script.header)),
            Some(setup) => Box::new(AssociationEnd::new(setup, script)),
        },
        now: Instant::ZERO,
        last: Instant::ZERO,
        rows: Vec::new(),
        waiting: Vec::new(),
        names: Vec::new(),
    };
    let failure = run.all().err();
    if failure.is_some() {
        run.show_the_rest();
    }
    Outcome {
        origin: script.origin.clone(),
        rows: run.rows,
        failure,
        lasted: run.now.since(Instant::ZERO),
        notes: script.header.notes.clone(),
    }
}

/// A call that has not returned.
struct Waiting<'s> {
    event: &'s Event,
    call: &'s Call,
    expected: &'s Expected,
    due: Instant,
    row: usize,
}

struct Run<'s> {
    script: &'s Script,
    end: Box<dyn End + 's>,
    now: Instant,
    /// Time of the last event, from which relative times count.
    last: Instant,
    rows: Vec<Row>,
    waiting: Vec<Waiting<'s>>,
    /// The values of the script's own names.
    names: Vec<i128>,
}

type Step = Result<(), Failure>;

impl<'s> Run<'s> {
    fn all(&mut self) -> Step {
        let script = self.script;
        for event in &script.events {
            self.event(event)?;
        }
        let line = script.events.last().map_or(0, |event| event.place.line);
        if let Some(waiting) = self.waiting.first() {
            self.rows[waiting.row].failed = true;
            return Err(Failure { line: waiting.event.place.line, what: "the call has not returned".into() });
        }
        // As in packetdrill, packets that leave after the last line are no failure. A script
        // without tolerance must mention all packets.
        if self.tolerance() > Duration::ZERO {
            return Ok(());
        }
        match self.end.rest().as_slice() {
            [] => Ok(()),
            [first, ..] => {
                let what = first.text.strip_prefix("> ").unwrap_or(&first.text);
                Err(Failure { line, what: format!("the script ends without this packet: {what}") })
            }
        }
    }

    fn event(&mut self, event: &'s Event) -> Step {
        let due = self.due(event.when);
        if let Action::Leaves(packet) = &event.action {
            return self.expect(event, packet, due);
        }
        self.rows.push(Row {
            line: Some(event.place.line),
            side: if matches!(event.action, Action::Arrives(_)) { Side::Arrives } else { Side::Application },
            due: Some(due),
            expected: event.text.clone(),
            seen: Vec::new(),
            failed: false,
        });
        self.reach(event, due.0)?;
        self.last = due.0;
        match &event.action {
            Action::Arrives(packet) => self.arrive(event, packet),
            Action::Calls { call, expected, until } => self.call(event, call, expected, *until),
            Action::Runs(statements) => self.run_block(event, statements),
            Action::Leaves(_) | Action::Command(_) => Ok(()),
        }
    }

    /// Returns the earliest and the latest time of an event.
    fn due(&self, when: When) -> (Instant, Instant) {
        match when {
            When::At(at) => (at, at),
            When::After(after) => (self.last + after, self.last + after),
            When::Between(from, to) => (from, to),
            When::AfterBetween(from, to) => (self.last + from, self.last + to),
            When::Any => (Instant::ZERO, Instant::NEVER),
        }
    }

    fn tolerance(&self) -> Duration {
        self.script.header.tolerance
    }

    /// Fails at this event, which is the last row.
    fn fail(&mut self, event: &Event, what: impl Into<String>) -> Step {
        if let Some(row) = self.rows.last_mut() {
            row.failed = true;
        }
        Err(Failure { line: event.place.line, what: what.into() })
    }

    /// Lets time pass to `at`.
    fn reach(&mut self, event: &Event, at: Instant) -> Step {
        if at + self.tolerance() < self.now {
            return self.fail(event, "this time has already passed");
        }
        while self.end.due() <= at && self.end.due() != Instant::NEVER {
            self.wake(event)?;
        }
        self.now = self.now.max(at);
        Ok(())
    }

    /// Lets time pass to the next timer.
    fn wake(&mut self, event: &Event) -> Step {
        let before = self.now;
        self.now = self.now.max(self.end.due());
        self.end.wake(self.now);
        if self.end.due() <= self.now && self.now == before {
            // If a timer stays due after it was handled, time must pass all the same.
            self.now += Duration::from_nanos(1);
        }
        self.after_input(event)
    }

    /// Completes calls that waited for this input.
    fn after_input(&mut self, event: &Event) -> Step {
        if self.end.is_exhausted() {
            return self.fail(event, "the script exceeds the limit of segments and timers; it may never end");
        }
        let mut index = 0;
        while index < self.waiting.len() {
            let Waiting { event, call, expected, due, row } = self.waiting[index];
            let returned = self.end.call(self.now, call, number(expected));
            if matches!(returned, Returned::WouldBlock(_)) {
                index += 1;
                continue;
            }
            self.waiting.remove(index);
            self.rows[row].seen.push(Seen { at: self.now, text: format!("= {}", shown(returned)) });
            let wrong = if !agrees(expected, returned) {
                Some(format!("the call returns {}", shown(returned)))
            } else if self.now.since(due).max(due.since(self.now)) > self.tolerance() {
                Some(format!("the call returns at {} s, not at {} s", self.now.as_secs_f64(), due.as_secs_f64()))
            } else {
                None
            };
            if let Some(what) = wrong {
                self.rows[row].failed = true;
                return Err(Failure { line: event.place.line, what });
            }
        }
        Ok(())
    }

    fn arrive(&mut self, event: &Event, packet: &Traffic) -> Step {
        match self.end.arrive(self.now, packet) {
            Ok(()) => self.after_input(event),
            Err(what) => self.fail(event, what),
        }
    }

    fn call(&mut self, event: &'s Event, call: &'s Call, expected: &'s Expected, until: Option<Duration>) -> Step {
        let returned = self.end.call(self.now, call, number(expected));
        if let (Some(until), Returned::WouldBlock(_)) = (until, returned) {
            let due = match event.when {
                When::After(after) => Instant::ZERO + self.last.since(Instant::ZERO + after) + until,
                _ => Instant::ZERO + until,
            };
            self.waiting.push(Waiting { event, call, expected, due, row: self.rows.len() - 1 });
            return self.after_input(event);
        }
        if let Some(row) = self.rows.last_mut() {
            row.seen.push(Seen { at: self.now, text: format!("= {}", shown(returned)) });
        }
        if !agrees(expected, returned) {
            return self.fail(event, format!("the call returns {}", shown(returned)));
        }
        self.after_input(event)
    }

    /// Runs a block of statements. Each variable that it reads is shown once, before what it prints.
    fn run_block(&mut self, event: &Event, statements: &[Statement]) -> Step {
        let mut variables = Vec::new();
        statements.iter().flat_map(Statement::expressions).for_each(|found| found.variables(&mut variables));
        if variables.iter().any(|variable| self.end.read(self.now, variable).is_none()) {
            return self.fail(event, "there is no connection yet");
        }
        let (end, now) = (&self.end, self.now);
        let read = |variable: &'static Variable| end.read(now, variable).unwrap_or(0);
        let values = variables.iter().map(|v| format!("{} = {}", v.name, read(v))).collect::<Vec<_>>().join(", ");
        let mut lines = if variables.is_empty() { Vec::new() } else { vec![values.clone()] };
        let mut broken = None;
        for Statement { place, meaning } in statements {
            let known = Values { read: &read, names: &self.names };
            let value = |expression: &Expression| expression.value(&known);
            match meaning {
                Meaning::Print(message) => lines.push(message.text(&known)),
                Meaning::Assign(index, expression) => {
                    let Some(value) = value(expression) else {
                        broken = Some((place.line, "this number cannot be computed".to_owned()));
                        break;
                    };
                    self.names.resize(self.names.len().max(index + 1), 0);
                    self.names[*index] = value;
                }
                Meaning::Assert { text, expression, message } if matches!(value(expression), None | Some(0)) => {
                    let said = message.as_ref().map(|message| format!(" ({})", message.text(&known)));
                    let what = format!("{text} does not hold: {values}{}", said.unwrap_or_default());
                    broken = Some((place.line, what));
                    break;
                }
                Meaning::Assert { .. } => {}
            }
        }
        if let Some(row) = self.rows.last_mut() {
            row.seen.extend(lines.into_iter().map(|text| Seen { at: now, text }));
        }
        match broken {
            None => Ok(()),
            Some((line, what)) => self.fail(event, what).map_err(|failure| Failure { line, ..failure }),
        }
    }

    /// Expects a packet to leave.
    fn expect(&mut self, event: &Event, packet: &Traffic, (from, to): (Instant, Instant)) -> Step {
        let latest = to + self.tolerance();
        self.rows.push(Row {
            line: Some(event.place.line),
            side: Side::Leaves,
            due: Some((from, to)),
            expected: event.text.clone(),
            seen: Vec::new(),
            failed: false,
        });
        while !self.end.has_departed() {
            if self.end.due() > latest || self.end.due() == Instant::NEVER {
                return self.fail(event, "nothing leaves");
            }
            self.wake(event)?;
        }
        let end::Taken { at, seen, differences } = self.end.take(packet);
        if let Some(row) = self.rows.last_mut() {
            row.seen = seen;
        }
        if !differences.is_empty() {
            return self.fail(event, format!("a different packet leaves: {}", differences.join("; ")));
        }
        if at + self.tolerance() < from || at > latest {
            return self.fail(event, format!("the packet leaves at {} s", at.as_secs_f64()));
        }
        self.last = match event.when {
            When::At(_) | When::After(_) => from,
            When::Between(..) | When::AfterBetween(..) | When::Any => at,
        };
        Ok(())
    }

    /// Adds the remaining departed packets to the rows, after a failure.
    fn show_the_rest(&mut self) {
        for seen in self.end.rest() {
            let (side, expected) = (Side::Leaves, String::new());
            self.rows.push(Row { line: None, side, due: None, expected, seen: vec![seen], failed: false });
        }
    }
}

/// Returns the number of the socket that a call must return.
fn number(expected: &Expected) -> i64 {
    match expected {
        Expected::Value(number) => *number,
        Expected::Error(_) | Expected::AnyError | Expected::Any => i64::MAX,
    }
}

fn agrees(expected: &Expected, returned: Returned) -> bool {
    match (expected, returned) {
        (Expected::Any, Returned::Value(_)) => true,
        (Expected::Value(wanted), Returned::Value(value)) => *wanted == value,
        (Expected::Error(wanted), Returned::Error(name) | Returned::WouldBlock(name)) => {
            wanted == name || wanted == "EWOULDBLOCK" && name == "EAGAIN"
        }
        (Expected::AnyError, Returned::Error(_) | Returned::WouldBlock(_)) => true,
        _ => false,
    }
}

fn shown(returned: Returned) -> String {
    match returned {
        Returned::Value(value) => value.to_string(),
        Returned::Error(name) | Returned::WouldBlock(name) => format!("-1 {name}"),
    }
}

#[cfg(test)]
mod tests;
