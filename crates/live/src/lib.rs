//! The engine on a real network: TUN devices, a real clock and threads.
//!
//! A [`Host`](host::Host) holds any number of connections and does no I/O: packets and time go in,
//! packets and events come out. A [`Station`](station::Station) connects a host to a TUN device and
//! the real clock, and runs an [application](apps) on it. [`system`] wraps the services of the
//! operating system. All of its devices and namespaces disappear with the process, however the
//! process ends.
//!
//! The [box](hiccup) needs no device either: real packets go in with the time, and come out after
//! the delays, losses and reordering of a scenario's links.
//!
//! ```
//! use eifel_base::time::{Duration, Instant};
//! use eifel_live::hiccup::{Direction, Hiccup};
//! use eifel_sim::scenario::Scenario;
//!
//! let text = r#"
//!     duration_s = 60
//!     point_to_point = { rate_bps = 8_000_000, delay_ms = 10 }
//!     [[flow]]
//!     name = "main"
//!     from = "sender"
//!     to = "receiver"
//!     application = { kind = "bulk", bytes = 1000 }
//! "#;
//! let scenario = Scenario::parse(text, "example.toml".as_ref()).unwrap();
//! let mut hiccup = Hiccup::new(&scenario, Vec::new()).unwrap();
//! hiccup.take(Instant::ZERO, Direction::There, vec![0; 1000]);
//! // 1 ms of transmission and 10 ms of propagation.
//! assert_eq!(hiccup.next_event(), Instant::ZERO + Duration::from_millis(11));
//! hiccup.run(hiccup.next_event());
//! assert_eq!(hiccup.delivered().len(), 1);
//! ```
#![deny(unsafe_op_in_unsafe_fn)]

pub mod advised;
pub mod apps;
pub mod capture;
pub mod command;
pub mod decisions;
pub mod end_settings;
pub mod hiccup;
pub mod host;
pub mod judge;
pub mod messenger;
pub mod mirror;
pub mod recording;
pub mod side;
pub mod station;
pub mod system;
pub mod truth;
pub mod worlds;
