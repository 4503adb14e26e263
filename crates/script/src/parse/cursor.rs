//! The position of the parser in a script.

use super::lexer::{Kind, Token};
use crate::error::{Fault, Place};

/// A script's tokens, and the position of the next one.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first token. `tokens` end with [`Kind::End`].
    pub(crate) fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Self { text, tokens, at: 0 }
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// Returns the next token.
    pub(crate) fn kind(&self) -> &Kind {
        &self.token().kind
    }

    /// Returns the place of the next token.
    pub(crate) fn place(&self) -> Place {
        self.token().place
    }

    /// Returns the offset of the next token's first byte in the text.
    pub(crate) fn start(&self) -> usize {
        self.token().start
    }

    /// Returns whether a token of this kind comes after the next token.
    pub(crate) fn follows(&self, kind: &Kind) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| token.kind == *kind)
    }

    /// Skips the next token.
    pub(crate) fn next(&mut self) {
        self.at += 1;
    }

    /// Returns the text skipped since the byte `begin`.
    pub(crate) fn text_since(&self, begin: usize) -> &'a str {
        let end = self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(begin, |token| token.end);
        &self.text[begin..end.max(begin)]
    }

    /// Makes the error that the next token is not the expected one.
    pub(crate) fn unfit(&self, expected: &str) -> Fault {
        Fault::new(self.place(), self.token().describe(self.text), expected)
    }

    /// Skips this mark, if it is next.
    pub(crate) fn take(&mut self, mark: char) -> bool {
        let found = self.kind() == &Kind::Mark(mark);
        self.at += usize::from(found);
        found
    }

    /// Skips this mark, which must be next.
    pub(crate) fn need(&mut self, mark: char) -> Result<(), Fault> {
        if self.take(mark) { Ok(()) } else { Err(self.unfit(&format!("\"{mark}\""))) }
    }

    /// Skips this word, if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.kind(), Kind::Word(found) if found == word);
        self.at += usize::from(found);
        found
    }

    /// Reads a whole number from 0 to `most`.
    pub(crate) fn number<T: TryFrom<i64>>(&mut self, what: &str, most: u64) -> Result<T, Fault> {
        let found = match self.kind() {
            Kind::Integer(number) => u64::try_from(*number).ok().filter(|number| *number <= most).map(|_| *number),
            _ => None,
        };
        let number = found.and_then(|number| T::try_from(number).ok());
        let number = number.ok_or_else(|| self.unfit(&format!("{what}: a whole number, 0 to {most}")))?;
        self.next();
        Ok(number)
    }
}
