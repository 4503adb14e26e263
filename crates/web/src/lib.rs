//! The simulator and the capture analyser for a web page. A request comes in, an answer goes out;
//! this crate decides nothing.
//!
//! ```text
//! request   a line of JSON, whose `ask` says what is wanted, and the bytes behind it
//! answer    the length of a JSON object as four bytes, the object, and columns behind it
//! ```
//!
//! | `ask` | bytes | answer |
//! |---|---|---|
//! | `run`: `tables` | a scenario as TOML or JSON | summaries of flows, words of codes, columns |
//! | `toml` | a scenario as JSON | `toml` |
//! | `capture` | a scenario as TOML or JSON | `pcapng`, as captured at the sender of its first flow |
//! | `open`: `name` | | |
//! | `feed` | a piece of the open capture | frames so far; while it is annotated, bytes of the copy |
//! | `finish` | | the result of the pass over the capture |
//! | `again`: `for` is `graph`, `annotated` or `whatif` | | |
//! | `close` | | |
//!
//! The answer to a failed request holds `error`, one line. [`answer::Answer`] describes the layout
//! of the columns.
#![deny(unsafe_code)]

pub mod answer;
mod capture;
mod exports;
mod page;
mod run;

pub use page::Page;
