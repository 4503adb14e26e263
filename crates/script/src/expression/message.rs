//! Messages that a block prints, or that explain a failed assertion: texts and numbers, with commas
//! between them, and Python's `'…%d…' % (…)`.

use super::parser::Parser;
use super::{Expression, Values};

/// A text in parts. Expressions are replaced by their values.
#[derive(Clone, Debug)]
pub(crate) struct Message(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Number(Expression),
    /// A text in which the expressions replace `%d`, `%s` and similar.
    Formatted(String, Vec<Expression>),
    /// Python that cannot be read, as written.
    Unread(String),
}

impl Message {
    /// Returns the expressions whose values the message shows.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.0.iter().flat_map(|part| match part {
            Part::Text(_) | Part::Unread(_) => [].as_slice(),
            Part::Number(expression) => std::slice::from_ref(expression),
            Part::Formatted(_, expressions) => expressions,
        })
    }

    /// Returns the message as Python would print it.
    pub(crate) fn text(&self, values: &Values<'_>) -> String {
        let number = |expression: &Expression| expression.value(values).map_or("?".into(), |value| value.to_string());
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) | Part::Unread(text) => text.clone(),
            Part::Number(expression) => number(expression),
            Part::Formatted(text, expressions) => formatted(text, expressions.iter().map(number)),
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// Replaces `%d` and similar, one after the other. `%%` is a percent sign.
fn formatted(text: &str, mut numbers: impl Iterator<Item = String>) -> String {
    let mut parts = text.split('%');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            whole.push('%');
            whole.push_str(parts.next().unwrap_or_default());
            continue;
        }
        let flags = part.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(part.len());
        whole.push_str(&numbers.next().unwrap_or_else(|| "?".into()));
        whole.push_str(part.get(flags + 1..).unwrap_or_default());
    }
    whole
}

impl Parser<'_> {
    /// Reads a message up to the end of its line. Text outside this language is kept as written,
    /// and is no error.
    pub(super) fn message(&mut self) -> Message {
        let begun = self.here();
        let parenthesised = self.word() == "(" && self.take(&["("]).is_some();
        let mut parts = Vec::new();
        while let Some(part) = self.part() {
            parts.push(part);
            if self.take(&[","]).is_none() {
                break;
            }
        }
        let closed = !parenthesised || self.take(&[")"]).is_some();
        if closed && matches!(self.word(), "" | "\n" | ";") {
            return Message(parts);
        }
        self.back_to(begun);
        Message(vec![Part::Unread(self.unread())])
    }

    fn part(&mut self) -> Option<Part> {
        if !self.word().starts_with(['\'', '"']) {
            return self.or().ok().map(Part::Number);
        }
        let word = self.word().to_owned();
        let text = word.get(1..word.len() - 1).unwrap_or_default().to_owned();
        self.skip();
        if self.take(&["%"]).is_none() {
            return Some(Part::Text(text));
        }
        if self.word() != "(" {
            return self.sum().ok().map(|number| Part::Formatted(text, vec![number]));
        }
        self.take(&["("]);
        let mut numbers = vec![self.or().ok()?];
        while self.take(&[","]).is_some() {
            numbers.push(self.or().ok()?);
        }
        self.take(&[")"])?;
        Some(Part::Formatted(text, numbers))
    }

    /// Skips to the end of the line, and returns what was skipped.
    fn unread(&mut self) -> String {
        let (mut open, mut words) = (0_u32, Vec::new());
        while !self.word().is_empty() && (open > 0 || !matches!(self.word(), "\n" | ";")) {
            match self.word() {
                "(" => open += 1,
                ")" => open = open.saturating_sub(1),
                _ => {}
            }
            words.push(self.word().trim().to_owned());
            self.skip();
        }
        words.join(" ")
    }
}
