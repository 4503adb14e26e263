//! Blocks between `%{` and `}%`, in a small part of Python: `assert`, `print` and names for
//! numbers, over expressions with comparisons, `and`, `or`, `not`, and whole-number arithmetic.

mod message;
mod parser;
mod words;

pub(crate) use message::Message;
pub(crate) use parser::statements;

use crate::error::Place;
use crate::variables::Variable;

/// A line of a block.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) place: Place,
    pub(crate) meaning: Meaning,
}

impl Statement {
    /// Returns the statement's expressions, including those of its message.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let (expression, printed) = match &self.meaning {
            Meaning::Assert { expression, message, .. } => (Some(expression), message.as_ref()),
            Meaning::Assign(_, expression) => (Some(expression), None),
            Meaning::Print(message) => (None, Some(message)),
        };
        expression.into_iter().chain(printed.into_iter().flat_map(Message::expressions))
    }
}

/// The effect of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Assert {
        /// The expression as written.
        text: String,
        expression: Expression,
        message: Option<Message>,
    },
    Print(Message),
    /// Assigns a number to the name with this index.
    Assign(usize, Expression),
}

/// The sources of an expression's values.
pub(crate) struct Values<'a> {
    pub(crate) read: &'a dyn Fn(&'static Variable) -> i128,
    /// The script's own names, by their indices.
    pub(crate) names: &'a [i128],
}

/// An expression over whole numbers. Every number but 0 is true.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Number(i128),
    Variable(&'static Variable),
    /// One of the script's own names, by its index.
    Name(usize),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
}

/// An operator between two expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    /// Bit by bit.
    Union,
    Intersection,
    Plus,
    Minus,
    Times,
    /// Rounded down.
    Over,
    Modulo,
}

impl Expression {
    /// Computes the value. `None` for a division by zero, or if the value does not fit.
    pub(crate) fn value(&self, values: &Values<'_>) -> Option<i128> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Variable(variable) => Some((values.read)(variable)),
            Self::Name(index) => values.names.get(*index).copied(),
            Self::Not(inner) => Some(i128::from(inner.value(values)? == 0)),
            Self::Negative(inner) => inner.value(values)?.checked_neg(),
            Self::Binary(left, operator, right) => {
                let left = left.value(values)?;
                // As in Python, `and` and `or` skip a right side that cannot matter.
                match (operator, left) {
                    (Operator::Or, 1..) | (Operator::Or, ..=-1) => return Some(1),
                    (Operator::And, 0) => return Some(0),
                    _ => {}
                }
                operator.apply(left, right.value(values)?)
            }
        }
    }

    /// Collects the variables of the expression.
    pub(crate) fn variables(&self, found: &mut Vec<&'static Variable>) {
        match self {
            Self::Number(_) | Self::Name(_) => {}
            Self::Variable(variable) => {
                if !found.iter().any(|known| known.name == variable.name) {
                    found.push(variable);
                }
            }
            Self::Not(inner) | Self::Negative(inner) => inner.variables(found),
            Self::Binary(left, _, right) => {
                left.variables(found);
                right.variables(found);
            }
        }
    }
}

impl Operator {
    fn apply(self, left: i128, right: i128) -> Option<i128> {
        let truth = |holds: bool| Some(i128::from(holds));
        match self {
            Self::Or => truth(left != 0 || right != 0),
            Self::And => truth(left != 0 && right != 0),
            Self::Equal => truth(left == right),
            Self::Unequal => truth(left != right),
            Self::Less => truth(left < right),
            Self::AtMost => truth(left <= right),
            Self::Greater => truth(left > right),
            Self::AtLeast => truth(left >= right),
            Self::Union => Some(left | right),
            Self::Intersection => Some(left & right),
            Self::Plus => left.checked_add(right),
            Self::Minus => left.checked_sub(right),
            Self::Times => left.checked_mul(right),
            Self::Over => floor(left, right),
            Self::Modulo => left.checked_sub(floor(left, right)?.checked_mul(right)?),
        }
    }
}

/// Divides and rounds down, like Python's `//`.
fn floor(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let inexact = quotient.checked_mul(right)? != left;
    Some(if inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
}
