//! Parses the text between `%{` and `}%` into assertions.

use super::{Assertion, Expression, Operator};
use crate::error::{Fault, Place, shown};
use crate::variables::{self, Variable};

/// Deepest nesting of parentheses and signs.
const DEEPEST: u32 = 32;

/// The most words in a block.
const MOST_WORDS: usize = 2000;

const OPERAND: &str = "a number, a variable, \"not\", \"-\" or \"(\"";

/// Splits text into words, numbers and signs with their places. A line ends with `\n` or `;`,
/// except within parentheses.
fn words(text: &str, mut place: Place) -> Result<Vec<(String, Place)>, Fault> {
    const SIGNS: [&str; 18] =
        ["==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "%", "(", ")", ",", ";", "\n", "[", "]"];
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push(((*sign).to_owned(), place));
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
            return Err(Fault::new(place, what, "assert EXPRESSION"));
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

/// Returns the length of the text between quotation marks with which `rest` begins.
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

/// Reads a block that begins at `place`, over these variables.
pub(crate) fn assertions(text: &str, place: Place, variables: &'static [Variable]) -> Result<Vec<Assertion>, Fault> {
    let mut parser = Parser { words: words(text, place)?, at: 0, depth: 0, open: 0, variables };
    let (mut found, mut printed) = (Vec::new(), false);
    loop {
        while parser.take(&["\n", ";"]).is_some() {}
        if parser.word().is_empty() {
            break;
        }
        let place = parser.place();
        if parser.take(&["print"]).is_some() {
            parser.skip_message();
            printed = true;
            continue;
        }
        if parser.take(&["assert"]).is_none() {
            return Err(parser.unfit("\"assert\""));
        }
        let begun = parser.at;
        let expression = parser.or()?;
        let text = parser.words[begun..parser.at].iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ");
        found.push(Assertion { place, text, expression });
        if parser.take(&[","]).is_some() {
            parser.skip_message();
        }
        if !matches!(parser.word(), "" | "\n" | ";") {
            return Err(parser.unfit("an operator or the end of the line"));
        }
    }
    if found.is_empty() && !printed {
        return Err(Fault::new(place, "nothing is asserted", "assert EXPRESSION"));
    }
    Ok(found)
}

struct Parser {
    words: Vec<(String, Place)>,
    at: usize,
    depth: u32,
    /// Number of open parentheses, within which lines do not end.
    open: u32,
    variables: &'static [Variable],
}

impl Parser {
    fn word(&self) -> &str {
        self.words.get(self.at).map_or("", |(word, _)| word)
    }

    /// Skips what Python would print, to the end of its line.
    fn skip_message(&mut self) {
        let mut open = 0_u32;
        while !self.word().is_empty() && (open > 0 || !matches!(self.word(), "\n" | ";")) {
            match self.word() {
                "(" => open += 1,
                ")" => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn place(&self) -> Place {
        self.words[self.at.min(self.words.len() - 1)].1
    }

    fn unfit(&self, expected: &str) -> Fault {
        let what = match self.word() {
            "" | "\n" => "the assertion ends here".to_owned(),
            word => format!("\"{}\" does not fit here", shown(word)),
        };
        Fault::new(self.place(), what, expected)
    }

    /// Skips one of these words, if it is next. Returns which.
    fn take(&mut self, wanted: &[&str]) -> Option<usize> {
        let found = wanted.iter().position(|wanted| *wanted == self.word())?;
        self.at += 1;
        self.over_line_ends();
        Some(found)
    }

    /// Reads operands with operators of equal rank between them.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        let signs: Vec<&str> = operators.iter().map(|(sign, _)| *sign).collect();
        let mut left = operand(self)?;
        while let Some(index) = self.take(&signs) {
            let right = operand(self)?;
            left = Expression::Binary(Box::new(left), operators[index].1, Box::new(right));
        }
        Ok(left)
    }

    fn or(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("or", Operator::Or)], Self::and)
    }

    fn and(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("and", Operator::And)], Self::not)
    }

    fn not(&mut self) -> Result<Expression, Fault> {
        if self.take(&["not"]).is_none() {
            return self.comparison();
        }
        let inner = self.deeper(Self::not)?;
        Ok(Expression::Not(Box::new(inner)))
    }

    /// Reads a comparison. `a < b < c` means `a < b and b < c`, as in Python.
    fn comparison(&mut self) -> Result<Expression, Fault> {
        const SIGNS: [(&str, Operator); 6] = [
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let mut left = self.sum()?;
        let mut all: Option<Expression> = None;
        while let Some(index) = self.take(&SIGNS.map(|(sign, _)| sign)) {
            let right = self.sum()?;
            let one = Expression::Binary(Box::new(left), SIGNS[index].1, Box::new(right.clone()));
            all = Some(match all {
                None => one,
                Some(before) => Expression::Binary(Box::new(before), Operator::And, Box::new(one)),
            });
            left = right;
        }
        Ok(all.unwrap_or(left))
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("+", Operator::Plus), ("-", Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("*", Operator::Times), ("//", Operator::Over), ("%", Operator::Modulo)], Self::operand)
    }

    fn operand(&mut self) -> Result<Expression, Fault> {
        if self.take(&["-"]).is_some() {
            return Ok(Expression::Negative(Box::new(self.deeper(Self::operand)?)));
        }
        if self.word() == "(" {
            self.open += 1;
            self.take(&["("]);
            let inner = self.deeper(Self::or)?;
            self.open -= 1;
            if self.take(&[")"]).is_none() {
                return Err(self.unfit("\")\""));
            }
            return Ok(inner);
        }
        let place = self.place();
        let word = self.word().to_owned();
        let Some(first) = word.chars().next().filter(char::is_ascii_alphanumeric) else {
            return Err(self.unfit(OPERAND));
        };
        if matches!(word.as_str(), "and" | "or" | "not" | "assert") {
            return Err(self.unfit(OPERAND));
        }
        self.at += 1;
        self.over_line_ends();
        if first.is_ascii_digit() {
            let number = word.parse::<u64>();
            return number.map(|number| Expression::Number(number.into())).map_err(|_| {
                Fault::new(place, format!("\"{}\" is no number", shown(&word)), "a whole number below 2^64")
            });
        }
        let known = self.variables.iter().find(|variable| variable.name == word);
        known.map(Expression::Variable).or_else(|| variables::constant(&word).map(Expression::Number)).ok_or_else(
            || Fault::new(place, format!("unknown variable \"{}\"", shown(&word)), variables::names(self.variables)),
        )
    }

    fn over_line_ends(&mut self) {
        while self.open > 0 && self.word() == "\n" {
            self.at += 1;
        }
    }

    /// Reads an expression within parentheses or behind a sign.
    fn deeper(&mut self, inner: fn(&mut Self) -> Result<Expression, Fault>) -> Result<Expression, Fault> {
        if self.depth == DEEPEST {
            return Err(Fault::new(self.place(), "nested too deep", format!("at most {DEEPEST} levels")));
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }
}
