//! The sender's logic that TCP and SCTP share: it detects, undoes, times and repairs
//! retransmissions.
//!
//! Five main seams hold the algorithms, one per file: [`detect`], [`respond`], [`rto`],
//! [`recover`], [`congest`]. Three companions go with them: [`grant`] guards responses,
//! [`rto::after_spurious`] adapts timers, and [`pace`] spreads what congestion control allows. Two
//! more are an association's: [`retransmit`] chooses paths, and [`credit`] decides which chunks let
//! a window grow.
//!
//! A [`watch::Watch`] runs the detectors, for a sender or over a capture. A [`path::Path`] adds a
//! window and a timer. An [`engine::Engine`] drives one path over a byte stream, and an
//! [`association::Engine`] drives several over chunks. Only these two apply the algorithms'
//! decisions. There is no clock, no I/O and no protocol header: time and positions are arguments.
//!
//! A sender whose path falls silent, and whose first segment was not lost:
//!
//! ```
//! use eifel_recovery::eifel_base::time::{Duration, Instant};
//! use eifel_recovery::eifel_base::units::Timestamp;
//! use eifel_recovery::engine::{Ack, Config, Echo, Engine, Event, Negotiated};
//!
//! // The default sender: RFC 6675, RFC 6298, Eifel detection, the Eifel response. Any other algorithm is named, as in
//! // `Config { detect: Choice::named("f-rto-sack"), ..Config::default() }`.
//! let mut engine = Engine::new(&Config::default())?;
//! let mut now = Instant::ZERO;
//! engine.established(now, Negotiated { mss: 1000, sack: true, timestamps: true });
//!
//! // 1. 20 000 bytes wait, from position 1 on, and the peer takes as many. All that the window allows leaves at once.
//! //    Each packet carries a timestamp of its own.
//! let (mut stamp, end) = (Timestamp(0), 20_001);
//! let mut left = Vec::new();
//! while let Some(sent) = engine.poll_send(now, &engine.offer(end, end, Some(stamp))) {
//!     left.push((sent, stamp));
//!     stamp.0 += 1;
//! }
//! assert_eq!((left[0].0.start, left[0].0.len, left[0].0.copy), (1, 1000, 0));
//!
//! // 2. No acknowledgement comes, and the timer expires. The first segment leaves again.
//! now = engine.deadline();
//! engine.on_timeout(now);
//! let again = engine.poll_send(now, &engine.offer(end, end, Some(stamp))).expect("a retransmission");
//! assert_eq!((again.start, again.copy), (1, 1));
//!
//! // 3. The acknowledgement of the original was only late: it echoes the original's timestamp.
//! now += Duration::from_millis(50);
//! let echo = Some(Echo::Known { value: left[0].1, age: now.since(Instant::ZERO) });
//! engine.on_ack(now, &Ack { echo, ..Ack::new(1001) });
//!
//! // 4. The detector says so, and the response restores the window. Sending continues with new data.
//! let events: Vec<Event> = std::iter::from_fn(|| engine.poll_event()).collect();
//! assert!(events.iter().any(|event| matches!(event, Event::Adjusted { .. })));
//! let next = engine.poll_send(now, &engine.offer(end, end, Some(stamp))).expect("room for new data");
//! assert_eq!(next.copy, 0);
//! # Ok::<(), eifel_recovery::registry::Error>(())
//! ```
//!
//! `examples/sender.rs` is a whole sender. A detector of your own is a [`detect::Detector`] that
//! [`registry::provide`] makes known.
#![forbid(unsafe_code)]

pub mod association;
mod config;
pub mod congest;
pub mod credit;
pub mod detect;
mod duplicate;
pub mod engine;
pub mod episode;
pub mod event;
pub mod fact;
pub mod grant;
pub mod learnt;
pub mod pace;
pub mod path;
pub mod recover;
pub mod registry;
pub mod respond;
pub mod retransmit;
pub mod rto;
pub mod rtt;
pub mod scoreboard;
pub mod view;
pub mod watch;

// Times, rates, timestamps and ranges are in this crate's signatures.
pub use eifel_base;
