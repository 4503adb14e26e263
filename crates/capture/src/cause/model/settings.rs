//! The settings of the stacks that the models distinguish.

/// The settings in which the retransmissions of stacks differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The stack's name in the output.
    pub(crate) name: &'static str,
    /// The least that the timeout adds to the smoothed round trip, in nanoseconds.
    pub(crate) variance_at_least: u64,
    /// The smallest timeout, in nanoseconds.
    pub(crate) rto_at_least: u64,
    /// Whether it uses RACK (RFC 8985, section 6).
    pub(crate) rack: bool,
    /// Whether it uses tail-loss probes (RFC 8985, section 7).
    pub(crate) probes_tail: bool,
    /// Whether it uses F-RTO (RFC 5682).
    pub(crate) forward_rto: bool,
    /// Whether it undoes a timeout if the echoed timestamp is older than the timeout, or if DSACKs
    /// report all retransmissions.
    pub(crate) undoes: bool,
    /// Whether a timeout makes it forget what SACK has reported (RFC 2018, section 5). Linux keeps it.
    pub(crate) forgets_sack: bool,
    /// Whether only the first partial ACK of a recovery sets the timer (RFC 6582, section 4: the
    /// impatient variant).
    pub(crate) impatient: bool,
    /// The cost of the assumption that a sender is this stack. Most senders of captured data run
    /// Linux.
    pub(crate) rarity: f64,
}

const MS: u64 = 1_000_000;

const LINUX: Settings = Settings {
    name: "linux",
    variance_at_least: 200 * MS,
    rto_at_least: 200 * MS,
    rack: true,
    probes_tail: true,
    forward_rto: true,
    undoes: true,
    forgets_sack: false,
    impatient: false,
    rarity: 0.0,
};
const RFC: Settings = Settings {
    name: "rfc",
    variance_at_least: 0,
    rto_at_least: 1000 * MS,
    rack: false,
    probes_tail: false,
    forward_rto: false,
    undoes: false,
    forgets_sack: true,
    impatient: true,
    rarity: 1.0,
};

/// In order of preference among models that explain a trace equally well.
pub(crate) const MODELS: [Settings; 8] = [
    LINUX,
    Settings { name: "linux-without-f-rto", probes_tail: false, forward_rto: false, ..LINUX },
    Settings { name: "linux-without-tlp", probes_tail: false, ..LINUX },
    Settings { name: "linux-without-undo", forward_rto: false, undoes: false, ..LINUX },
    Settings { name: "bsd", variance_at_least: 200 * MS, rto_at_least: 230 * MS, impatient: false, ..RFC },
    RFC,
    Settings { name: "rfc-with-f-rto", forward_rto: true, ..RFC },
    Settings { name: "rfc-with-undo", rack: true, probes_tail: true, undoes: true, ..RFC },
];
