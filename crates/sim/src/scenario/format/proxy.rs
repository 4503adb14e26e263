//! Performance-enhancing proxies.

use super::super::shape::{Kind, Table, required, table};

pub(super) static PROXY: Table = table(
    "proxy",
    "Performance-enhancing proxies where the wired network ends: data that the receiver has acknowledged through \
              them does not cross the link again, and the duplicate ACKs that needless retransmissions cause do not go back.",
    &[required(
        "links",
        Kind::List { of: &Kind::Name, at_least: 1 },
        "The links in front of which one stands, at the node where each begins; data comes to that node from another, and \
         the ACKs come back through it.",
    )],
);
