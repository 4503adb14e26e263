//! Splits a block into words, numbers and signs.

use crate::error::{Fault, Place, shown};

/// The most words in a block.
const MOST_WORDS: usize = 2000;

pub(super) const STATEMENTS: &str = "assert EXPRESSION, print(…) or NAME = EXPRESSION";

/// Splits text into words, numbers and signs with their places. A line ends with `\n` or `;`,
/// except within parentheses.
pub(super) fn words(text: &str, mut place: Place) -> Result<Vec<(String, Place)>, Fault> {
    const SIGNS: [&str; 26] = [
        "==", "!=", "<=", ">=", "//", "+=", "-=", "<", ">", "=", "+", "-", "*", "%", "(", ")", ",", ";", "\n", "[",
        "]", "|", "&", ".", ":", "\\\n",
    ];
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            // A backslash at the end of a line continues the line.
            if *sign != "\\\n" {
                found.push(((*sign).to_owned(), place));
            }
            sign.len()
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push((rest[..length].to_owned(), place));
            length
        } else if let '\'' | '"' = first {
            let length = quoted(rest).ok_or_else(|| Fault::new(place, "the text has no end", first))?;
            found.push((rest[..length].to_owned(), place));
            length
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let what = format!("\"{}\" is not part of an assertion", shown(&first.to_string()));
            return Err(Fault::new(place, what, STATEMENTS));
        };
        for character in rest[..length].chars() {
            match character {
                '\n' => place = Place { line: place.line + 1, column: 1 },
                _ => place.column += 1,
            }
        }
        rest = &rest[length..];
    }
    if found.len() > MOST_WORDS {
        return Err(Fault::new(place, "the block is too long", format!("at most {MOST_WORDS} words")));
    }
    found.push((String::new(), place));
    Ok(found)
}

/// Returns the length of the quoted text at the start of `rest`; `None` if it has no end.
fn quoted(rest: &str) -> Option<usize> {
    let mark = rest.chars().next()?;
    let mut escaped = false;
    for (offset, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == mark => return Some(offset + character.len_utf8()),
            _ => {}
        }
    }
    None
}
