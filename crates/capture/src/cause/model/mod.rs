//! Models of senders: each says why its stack would have sent a retransmission.
//!
//! All models are one state machine with different settings. Each keeps its own state, names a
//! cause for each retransmission, and adds up the cost of what the causes leave unexplained. Far
//! from the sender, a model keeps several hypotheses of the trace until later packets decide between
//! them. The causes in the report come from the model that explains a connection best.

mod events;
mod fit;
mod hypotheses;
mod settings;
mod stack;
#[cfg(test)]
mod tests;

pub(crate) use events::{AckReceived, Retransmitted};
pub(crate) use hypotheses::UNDECIDED;
pub(crate) use hypotheses::{Explained, Hypotheses};
pub(crate) use settings::{MODELS, Settings};
pub(crate) use stack::StackModel;

pub(crate) use crate::result::Cause;
