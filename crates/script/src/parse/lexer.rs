//! Splits a script's text into tokens.

use crate::error::{Fault, Place, shown};

/// The kind of a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Integer(i64),
    /// A number with a fraction, as written.
    Decimal(String),
    Word(String),
    /// Text between quotation marks.
    Text,
    /// Text between back quotes: a command of an operating system.
    Command(String),
    /// Between `%{` and `}%`.
    Code(String),
    /// `--name` or `--name=value`.
    Flag {
        name: String,
        value: Option<String>,
    },
    /// The rest of a line after `//:`.
    Setting(String),
    Mark(char),
    Ellipsis,
    End,
}

/// A token, its place, and its range of bytes in the text.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// Describes the token for messages.
    pub(super) fn describe(&self, text: &str) -> String {
        match self.kind {
            Kind::End => "the script ends too early".into(),
            _ => format!("\"{}\" does not fit here", shown(&text[self.start..self.end])),
        }
    }
}

/// Splits a script into tokens. The last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { text, at: 0, place: Place { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let over = token.kind == Kind::End;
        tokens.push(token);
        if over {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    place: Place,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        for character in self.text[self.at..self.at + bytes].chars() {
            match character {
                '\n' => self.place = Place { line: self.place.line + 1, column: 1 },
                _ => self.place.column += 1,
            }
        }
        self.at += bytes;
    }

    fn next(&mut self) -> Result<Token, Fault> {
        self.skip()?;
        let (place, start) = (self.place, self.at);
        let (kind, length) = self.token()?;
        self.advance(length);
        Ok(Token { kind, place, start, end: self.at })
    }

    /// Skips white space and comments, but not settings.
    fn skip(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.advance(blank);
            } else if rest.starts_with("//") && !rest.starts_with("//:") {
                self.advance(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                let length =
                    rest.find("*/").ok_or_else(|| Fault::new(self.place, "the comment has no end", "\"*/\""))?;
                self.advance(length + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the token that begins here, and its length in bytes.
    fn token(&self) -> Result<(Kind, usize), Fault> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok((Kind::End, 0)) };
        if let Some(setting) = rest.strip_prefix("//:") {
            let line = setting.lines().next().unwrap_or("");
            return Ok((Kind::Setting(line.into()), 3 + line.len()));
        }
        if let Some(code) = rest.strip_prefix("%{") {
            let length = code.find("}%").ok_or_else(|| Fault::new(self.place, "the assertion has no end", "\"}%\""))?;
            return Ok((Kind::Code(code[..length].into()), length + 4));
        }
        if rest.starts_with("--") && rest[2..].starts_with(is_word) {
            return Ok(flag(rest));
        }
        if rest.starts_with("...") {
            return Ok((Kind::Ellipsis, 3));
        }
        match first {
            '"' => self.quoted(first, Kind::Text),
            '`' => {
                let (_, length) = self.quoted(first, Kind::Text)?;
                Ok((Kind::Command(rest[1..length - 1].into()), length))
            }
            '0'..='9' | '.' | '-' => self.number(first),
            _ if is_word(first) => {
                let length = word_length(rest);
                Ok((Kind::Word(rest[..length].into()), length))
            }
            _ if first.is_ascii_punctuation() => Ok((Kind::Mark(first), 1)),
            _ => Err(Fault::new(
                self.place,
                format!("\"{}\" is not part of the language", shown(&first.to_string())),
                "a time, a packet, a call or an assertion",
            )),
        }
    }

    fn quoted(&self, mark: char, kind: Kind) -> Result<(Kind, usize), Fault> {
        let mut escaped = false;
        for (offset, character) in self.rest().char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if character == mark => return Ok((kind, offset + 1)),
                _ => {}
            }
        }
        Err(Fault::new(self.place, "the quotation has no end", mark))
    }

    /// Reads a number, a word that begins with digits, or the mark `first`.
    fn number(&self, first: char) -> Result<(Kind, usize), Fault> {
        let rest = self.rest();
        let sign = usize::from(first == '-');
        let digits = count(&rest[sign..], |c| c.is_ascii_digit());
        let fraction = match rest[sign + digits..].strip_prefix('.') {
            Some(after) => count(after, |c| c.is_ascii_digit()),
            None => 0,
        };
        if fraction > 0 {
            let length = sign + digits + 1 + fraction;
            return Ok((Kind::Decimal(rest[..length].into()), length));
        }
        if digits == 0 {
            return Ok((Kind::Mark(first), 1));
        }
        let length = sign + word_length(&rest[sign..]);
        let number = match rest[sign..length].strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None if length > sign + digits && sign == 0 => return Ok((Kind::Word(rest[..length].into()), length)),
            None => rest[..sign + digits].parse(),
        };
        match number {
            Ok(number) if length == sign + digits || sign == 0 => Ok((Kind::Integer(number), length)),
            _ => Err(Fault::new(
                self.place,
                format!("{} is not a number", shown(&rest[..length])),
                "a whole number below 2^63",
            )),
        }
    }
}

/// Reads `--name`, and after `=` a value up to white space.
fn flag(rest: &str) -> (Kind, usize) {
    let name = 2 + word_length(&rest[2..]);
    let value = rest[name..].strip_prefix('=').map(|after| &after[..count(after, |c| !c.is_whitespace())]);
    let length = name + value.map_or(0, |value| 1 + value.len());
    (Kind::Flag { name: rest[2..name].into(), value: value.map(Into::into) }, length)
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn word_length(text: &str) -> usize {
    count(text, is_word)
}

/// Counts the bytes at the beginning for which this holds.
fn count(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|character| !holds(character)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers_ellipses_and_dots_are_separate_tokens() {
        let decimal = |text: &str| Kind::Decimal(text.into());
        assert_eq!(
            kinds("+0...0.100 .5"),
            [Kind::Mark('+'), Kind::Integer(0), Kind::Ellipsis, decimal("0.100"), decimal(".5"), Kind::End]
        );
        assert_eq!(
            kinds("P. 1:1001(1000)-1 -"),
            [
                Kind::Word("P".into()),
                Kind::Mark('.'),
                Kind::Integer(1),
                Kind::Mark(':'),
                Kind::Integer(1001),
                Kind::Mark('('),
                Kind::Integer(1000),
                Kind::Mark(')'),
                Kind::Integer(-1),
                Kind::Mark('-'),
                Kind::End
            ]
        );
    }

    #[test]
    fn comments_are_skipped_and_places_counted_in_characters() {
        let found = tokens("// ä\n/* a\n b */ ä").unwrap_err();
        assert_eq!(found.place, Place { line: 3, column: 7 });
        let found = tokens("//: mss = 1\n \"é\" x").unwrap();
        assert_eq!(found[0].kind, Kind::Setting(" mss = 1".into()));
        assert_eq!(found[2].place, Place { line: 2, column: 6 });
    }

    #[test]
    fn a_flags_value_ends_at_white_space() {
        let flag = Kind::Flag { name: "remote_ip".into(), value: Some("1.2.3.4".into()) };
        assert_eq!(kinds("--remote_ip=1.2.3.4 "), [flag, Kind::End]);
    }

    #[test]
    fn an_unterminated_element_is_refused() {
        for text in ["/* x", "\"x", "`x", "%{ x", "99999999999999999999", "0x", "-5x"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
