//! Parses the text between `%{` and `}%`.

use super::words::{STATEMENTS, words};
use super::{Expression, Meaning, Operator, Statement};
use crate::error::{Fault, Place, shown};
use crate::variables::{self, Variable};

/// Deepest nesting of parentheses and signs.
const DEEPEST: u32 = 32;

/// Words that cannot be names.
const KEYWORDS: [&str; 5] = ["and", "or", "not", "assert", "print"];

const OPERAND: &str = "a number, a variable, \"not\", \"-\" or \"(\"";

/// Reads a block that begins at `place`, over these variables. `names` are the script's own names
/// so far; the block may add to them.
pub(crate) fn statements(
    text: &str,
    place: Place,
    variables: &'static [Variable],
    names: &mut Vec<String>,
) -> Result<Vec<Statement>, Fault> {
    let mut parser = Parser { words: words(text, place)?, at: 0, depth: 0, open: 0, variables, names };
    let mut found = Vec::new();
    loop {
        while parser.take(&["\n", ";"]).is_some() {}
        if parser.word().is_empty() {
            break;
        }
        let place = parser.place();
        let meaning = parser.statement()?;
        if !matches!(parser.word(), "" | "\n" | ";") {
            return Err(parser.unfit("an operator or the end of the line"));
        }
        found.push(Statement { place, meaning });
    }
    if found.is_empty() {
        return Err(Fault::new(place, "the block is empty", STATEMENTS));
    }
    Ok(found)
}

pub(super) struct Parser<'n> {
    words: Vec<(String, Place)>,
    at: usize,
    depth: u32,
    /// Number of open parentheses, within which lines do not end.
    open: u32,
    variables: &'static [Variable],
    names: &'n mut Vec<String>,
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Meaning, Fault> {
        if self.take(&["print"]).is_some() {
            return Ok(Meaning::Print(self.message()));
        }
        if self.take(&["assert"]).is_some() {
            let begun = self.at;
            let expression = self.or()?;
            let words = self.words[begun..self.at].iter().map(|(word, _)| word.as_str());
            let text = words.collect::<Vec<_>>().join(" ");
            let message = self.take(&[","]).map(|_| self.message());
            return Ok(Meaning::Assert { text, expression, message });
        }
        let next = self.words.get(self.at + 1).map_or("", |(word, _)| word.as_str());
        if !matches!(next, "=" | "+=" | "-=") || !self.word().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        {
            return Err(self.unfit(STATEMENTS));
        }
        self.assignment()
    }

    /// Reads `NAME = EXPRESSION`, or with `+=` or `-=`.
    fn assignment(&mut self) -> Result<Meaning, Fault> {
        let (place, name) = (self.place(), self.word().to_owned());
        // A script may assign to names of this engine's variables, because scripts of other suites
        // do not know them.
        let taken = name.starts_with("tcpi_") && self.known(&name).is_some() || variables::constant(&name).is_some();
        if taken || KEYWORDS.contains(&name.as_str()) {
            return Err(Fault::new(place, format!("\"{}\" is a reserved name", shown(&name)), "another name"));
        }
        self.at += 1;
        let sign = self.take(&["=", "+=", "-="]);
        let expression = self.or()?;
        let index = self.names.iter().position(|known| *known == name);
        let expression = match (sign, index) {
            (Some(0), _) => expression,
            (sign, Some(index)) => {
                let operator = if sign == Some(1) { Operator::Plus } else { Operator::Minus };
                Expression::Binary(Box::new(Expression::Name(index)), operator, Box::new(expression))
            }
            (_, None) => {
                return Err(Fault::new(place, format!("\"{}\" has no value yet", shown(&name)), "NAME = VALUE"));
            }
        };
        let index = index.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        Ok(Meaning::Assign(index, expression))
    }

    /// Returns a variable or constant.
    fn known(&self, word: &str) -> Option<Expression> {
        let variable = self.variables.iter().find(|variable| variable.name == word);
        variable.map(Expression::Variable).or_else(|| variables::constant(word).map(Expression::Number))
    }

    pub(super) fn word(&self) -> &str {
        self.words.get(self.at).map_or("", |(word, _)| word)
    }

    /// Returns the parser's position, for [`back_to`](Self::back_to).
    pub(super) fn here(&self) -> (usize, u32) {
        (self.at, self.open)
    }

    pub(super) fn back_to(&mut self, (at, open): (usize, u32)) {
        (self.at, self.open) = (at, open);
    }

    /// Skips one word.
    pub(super) fn skip(&mut self) {
        self.at += 1;
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

    /// Skips one of these words, if it is next. Returns its index.
    pub(super) fn take(&mut self, wanted: &[&str]) -> Option<usize> {
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

    pub(super) fn or(&mut self) -> Result<Expression, Fault> {
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
        let mut left = self.union()?;
        let mut all: Option<Expression> = None;
        while let Some(index) = self.take(&SIGNS.map(|(sign, _)| sign)) {
            let right = self.union()?;
            let one = Expression::Binary(Box::new(left), SIGNS[index].1, Box::new(right.clone()));
            all = Some(match all {
                None => one,
                Some(before) => Expression::Binary(Box::new(before), Operator::And, Box::new(one)),
            });
            left = right;
        }
        Ok(all.unwrap_or(left))
    }

    fn union(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("|", Operator::Union)], Self::intersection)
    }

    fn intersection(&mut self) -> Result<Expression, Fault> {
        self.chain(&[("&", Operator::Intersection)], Self::sum)
    }

    pub(super) fn sum(&mut self) -> Result<Expression, Fault> {
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
        if KEYWORDS.contains(&word.as_str()) {
            return Err(self.unfit(OPERAND));
        }
        self.at += 1;
        self.over_line_ends();
        if first.is_ascii_digit() {
            let number = match word.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => word.parse::<u64>(),
            };
            return number.map(|number| Expression::Number(number.into())).map_err(|_| {
                Fault::new(place, format!("\"{}\" is not a number", shown(&word)), "a whole number below 2^64")
            });
        }
        let own = || self.names.iter().position(|name| *name == word).map(Expression::Name);
        own().or_else(|| self.known(&word)).ok_or_else(|| {
            Fault::new(place, format!("unknown variable \"{}\"", shown(&word)), variables::names(self.variables))
        })
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
