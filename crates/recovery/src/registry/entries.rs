//! The list. Adding an algorithm is its file, its line here, its constructor in `build.rs`, its tests and its page.

use super::build;
use super::{Entry, Error, Kind, Need, Parameter, Parameters, Seam};
use crate::congest::Congest;
use crate::detect::Detector;
use crate::grant::Grant;
use crate::pace::Pace;
use crate::recover::Recovery;
use crate::respond::Response;
use crate::rto::Rto;
use crate::rto::after_spurious::AfterSpurious;
use eifel_base::time::Duration;

/// What makes an algorithm from its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Build {
    Detect(fn(&Parameters) -> Box<dyn Detector>),
    Respond(fn(&Parameters) -> Box<dyn Response>),
    Grant(fn(&Parameters) -> Box<dyn Grant>),
    Rto(fn(&Parameters) -> Box<dyn Rto>),
    AfterSpurious(fn(&Parameters) -> Box<dyn AfterSpurious>),
    Recover(fn(&Parameters) -> Box<dyn Recovery>),
    Congest(fn(&Parameters) -> Box<dyn Congest>),
    Pace(fn(&Parameters) -> Box<dyn Pace>),
}

/// Every algorithm there is.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// The algorithm of that name.
///
/// # Errors
/// There is none.
pub(super) fn find(seam: Seam, name: &str) -> Result<&'static Entry, Error> {
    let found = ENTRIES.iter().find(|entry| entry.seam == seam && entry.name == name);
    found.ok_or_else(|| Error::UnknownAlgorithm { seam, name: name.into() })
}

const fn entry(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    parameters: &'static [Parameter],
    build: Build,
) -> Entry {
    let seam = match build {
        Build::Detect(_) => Seam::Detect,
        Build::Respond(_) => Seam::Respond,
        Build::Grant(_) => Seam::Grant,
        Build::Rto(_) => Seam::Rto,
        Build::AfterSpurious(_) => Seam::AfterSpurious,
        Build::Recover(_) => Seam::Recover,
        Build::Congest(_) => Seam::Congest,
        Build::Pace(_) => Seam::Pace,
    };
    Entry { seam, name, summary, source, parameters, needs: None, build }
}

impl Entry {
    const fn needing(self, need: Need) -> Self {
        Self { needs: Some(need), ..self }
    }
}

const RESPONDING: &str = "Responding to Spurious Timeouts in TCP";

static ENTRIES: &[Entry] = &[
    entry("none", "detects nothing", "RFC 5681", &[], Build::Detect(build::detect_none)),
    entry(
        "eifel-timestamps",
        "the first ACK echoes the original's timestamp, or any older than the first retransmission's",
        "RFC 3522",
        EIFEL_TIMESTAMPS,
        Build::Detect(build::eifel_timestamps),
    )
    .needing(Need::Timestamps),
    entry(
        "eifel-bit",
        "the first ACK says that it answers an original, where both ends mark retransmissions",
        "Ludwig, chapter 5, section 5.2.1",
        &[],
        Build::Detect(build::eifel_bit),
    )
    .needing(Need::Marks),
    entry(
        "f-rto",
        "new data after the first ACK, and the second ACK advances",
        "RFC 5682, section 2",
        &[],
        Build::Detect(build::f_rto),
    ),
    entry(
        "f-rto-sack",
        "new data after the first new ACK, and what was outstanding is reported before them",
        "RFC 5682, section 3",
        &[],
        Build::Detect(build::f_rto_sack),
    )
    .needing(Need::Sack),
    entry("dsack", "every retransmission is reported as a duplicate", "RFC 3708", &[], Build::Detect(build::dsack))
        .needing(Need::Duplicates),
    entry(
        "dual-rtt",
        "an ACK follows the last sending of its segment sooner than tau of the smallest round trip",
        "DualRTT, sections IV and V",
        DUAL_RTT,
        Build::Detect(build::dual_rtt),
    ),
    entry(
        "min-rtt",
        "the ACK follows the retransmission sooner than a round trip",
        RESPONDING,
        MIN_RTT,
        Build::Detect(build::min_rtt),
    ),
    entry("none", "restores nothing", "RFC 5681", &[], Build::Respond(build::respond_none)),
    entry("option-1", "restores ssthresh and cwnd", RESPONDING, &[], Build::Respond(build::option_1)),
    entry("option-2", "ssthresh stays halved, cwnd is set to it", RESPONDING, &[], Build::Respond(build::option_2)),
    entry("option-3", "one segment and slow start: nothing restored", RESPONDING, &[], Build::Respond(build::option_3)),
    entry("option-4", "cwnd and ssthresh are set to the old cwnd", RESPONDING, &[], Build::Respond(build::option_4)),
    entry(
        "option-4-ssthresh",
        "option 4, but ssthresh is restored too while no loss has been seen",
        RESPONDING,
        &[],
        Build::Respond(build::option_4_ssthresh),
    ),
    entry(
        "by-retransmissions",
        "option 1, 2 or 3 after one, two or more retransmissions",
        "Ludwig and Katz, The Eifel Algorithm, section 3.3",
        &[],
        Build::Respond(build::by_retransmissions),
    ),
    entry(
        "rfc4015",
        "cwnd = FlightSize + min(acked, IW), ssthresh = pipe_prev, timer re-seeded",
        "RFC 4015",
        &[],
        Build::Respond(build::rfc4015),
    ),
    entry("rfc3708", "slow start back up to the old window", "RFC 3708", &[], Build::Respond(build::rfc3708)),
    entry(
        "partial-credit",
        "undoes in proportion where a part was really lost, up to 0.7 of the old window",
        "docs/partial_credit.md",
        &[],
        Build::Respond(build::partial_credit),
    ),
    entry("always", "every spurious verdict is answered", "RFC 4015", &[], Build::Grant(build::always)),
    entry(
        "once-a-round-trip",
        "nothing is undone that began within a round trip after an undo",
        "this project",
        &[],
        Build::Grant(build::once_a_round_trip),
    ),
    entry("rfc6298", "SRTT + 4 RTTVAR, doubled by each expiry", "RFC 6298", RFC6298, Build::Rto(build::rfc6298)),
    entry(
        "lite",
        "SRTT + 4 RTTVAR in ticks of a heartbeat, restarted in full by each ACK",
        "Ludwig 2000, section 5.3; 4.4BSD",
        LITE,
        Build::Rto(build::lite),
    ),
    entry(
        "eifel",
        "scales with the load, ignores falling round trips, restarted with the age of the oldest segment",
        "Ludwig 2000, section 5.4",
        EIFEL,
        Build::Rto(build::eifel),
    ),
    entry(
        "self-trained",
        "a share of the Eifel timer that shrinks until a timeout is spurious",
        "Ludwig 2000, section 5.4.6",
        SELF_TRAINED,
        Build::Rto(build::self_trained),
    ),
    entry(
        "linux",
        "SRTT and the largest deviation of a round trip, fourfold, at least 200 ms",
        "Linux, net/ipv4/tcp_input.c",
        LINUX,
        Build::Rto(build::linux),
    ),
    entry("fixed", "the same time always, doubled by each expiry", "a yardstick", FIXED, Build::Rto(build::fixed)),
    entry("none", "learns nothing", "table 4, std", &[], Build::AfterSpurious(build::after_none)),
    entry("reseed", "SRTT and RTTVAR begin anew", RESPONDING, &[], Build::AfterSpurious(build::reseed)),
    entry(
        "back-off",
        "the back-off stays until a genuine timeout",
        RESPONDING,
        &[],
        Build::AfterSpurious(build::back_off),
    ),
    entry(
        "min-plus-plus",
        "the minimum rises with each spurious timeout and falls back on a genuine one",
        RESPONDING,
        MIN_PLUS_PLUS,
        Build::AfterSpurious(build::min_plus_plus),
    ),
    entry("reno", "fast retransmit and fast recovery", "RFC 5681", RENO_RULES, Build::Recover(build::reno)),
    entry("newreno", "a retransmission for each partial ACK", "RFC 6582", RENO_RULES, Build::Recover(build::newreno)),
    entry(
        "reno-sack",
        "fills holes as a pipe counted by ACKs allows",
        "Fall and Floyd 1996",
        RULES,
        Build::Recover(build::reno_sack),
    ),
    entry(
        "newreno-sack",
        "Reno-SACK with at least one retransmission on each partial ACK",
        RESPONDING,
        NEWRENO_SACK,
        Build::Recover(build::newreno_sack),
    ),
    entry(
        "fack",
        "everything below the forward-most block has left",
        "Mathis and Mahdavi 1996",
        RULES,
        Build::Recover(build::fack),
    ),
    entry("rfc6675", "conservative recovery with SACK", "RFC 6675", RFC6675, Build::Recover(build::rfc6675)),
    entry(
        "rack-tlp",
        "what was sent before something delivered is lost; a probe breaks the silence",
        "RFC 8985",
        RACK_TLP,
        Build::Recover(build::rack_tlp),
    ),
    entry("reno", "slow start, congestion avoidance, halving", "RFC 5681", RENO, Build::Congest(build::congest_reno)),
    entry(
        "cubic",
        "a cubic curve through the window at the last loss; its epoch is undone with it",
        "RFC 9438",
        CUBIC,
        Build::Congest(build::cubic),
    ),
    entry("none", "all that the window allows, at once", "RFC 5681", &[], Build::Pace(build::pace_none)),
    entry("burst-limit", "so many segments for one ACK", "Fall and Floyd 1996", BURST, Build::Pace(build::burst_limit)),
    entry(
        "pacing",
        "the window spread over the round trip",
        "Aggarwal, Savage and Anderson 2000",
        PACING,
        Build::Pace(build::pacing),
    ),
    entry(
        "burst-pacer",
        "so many segments back to back, and what goes beyond them spread over the round trip",
        "Ludwig, chapter 5, section 5.2.2",
        BURST_PACER,
        Build::Pace(build::burst_pacer),
    ),
];

const fn milliseconds(name: &'static str, summary: &'static str, default: u64, bounds: (Duration, u64)) -> Parameter {
    let (minimum, maximum) = bounds;
    let kind = Kind::Milliseconds {
        default: Duration::from_millis(default),
        minimum,
        maximum: Duration::from_millis(maximum),
    };
    Parameter { name, summary, kind }
}

const fn integer(name: &'static str, summary: &'static str, default: i64, bounds: (i64, i64)) -> Parameter {
    Parameter { name, summary, kind: Kind::Integer { default, minimum: bounds.0, maximum: bounds.1 } }
}

const fn switch(name: &'static str, summary: &'static str, default: bool) -> Parameter {
    Parameter { name, summary, kind: Kind::Switch { default } }
}

const fn word(
    name: &'static str,
    summary: &'static str,
    default: &'static str,
    allowed: &'static [&'static str],
) -> Parameter {
    Parameter { name, summary, kind: Kind::Word { default, allowed } }
}

const HOUR_MS: u64 = 3_600_000;
const MICROSECOND: Duration = Duration::from_micros(1);

static EIFEL_TIMESTAMPS: &[Parameter] = &[word(
    "proof",
    "which echo proves the original: any older than the retransmission's (section 3.2), which a receiver can forge, or \
     the original's own (section 3.4), which takes timestamps that are distinct",
    "original",
    &["older", "original"],
)];

static DUAL_RTT: &[Parameter] = &[
    word(
        "tau",
        "the threshold: fixed, or of the log-linear model (equations 3 and 6) for the path as the sender knows it, and \
         0.1 until it does",
        "model",
        &["model", "fixed"],
    ),
    integer("tau_thousandths", "the fixed threshold, in thousandths of MinRTT", 100, (1, 1000)),
];

static MIN_RTT: &[Parameter] = &[word(
    "limit",
    "what the ACK has to be sooner than: the smallest round trip, or half of SRTT as the BSDs have it",
    "minimum",
    &["minimum", "half-srtt"],
)];

static RFC6298: &[Parameter] = &[
    milliseconds("initial_ms", "before the first sample (section 2.1)", 1000, (MICROSECOND, HOUR_MS)),
    milliseconds("minimum_ms", "never less (section 2.4)", 1000, (Duration::ZERO, HOUR_MS)),
    milliseconds("maximum_ms", "never more (section 2.5)", 60_000, (MICROSECOND, HOUR_MS)),
    milliseconds("granularity_ms", "G, the clock's granularity", 1, (MICROSECOND, 10_000)),
    word(
        "back_off_ends",
        "with which ACK that gives a sample: any, or the first for data that was unsent when the timer expired (section 5)",
        "sample",
        &["sample", "new-data"],
    ),
];

const INITIAL: Parameter = milliseconds("initial_ms", "before the first sample", 1000, (MICROSECOND, HOUR_MS));
const MAXIMUM: Parameter = milliseconds("maximum_ms", "never more", 60_000, (MICROSECOND, HOUR_MS));
const BACK_OFF_MAXIMUM: Parameter =
    milliseconds("maximum_ms", "never more, but for the latest sample and two ticks", 60_000, (MICROSECOND, HOUR_MS));
const TIMING: Parameter = word(
    "timing",
    "which samples it takes of those that the connection gives",
    "every",
    &["every", "every-second", "one-a-round-trip"],
);
const RESTART_FULL: Parameter = word(
    "restart",
    "what an ACK grants to what is still outstanding: a full RTO, or the RTO less the age of the oldest segment",
    "full",
    &["full", "age"],
);
const RESTART_AGE: Parameter =
    Parameter { kind: Kind::Word { default: "age", allowed: &["full", "age"] }, ..RESTART_FULL };
const GRANULARITY: Parameter =
    milliseconds("granularity_ms", "a tick; the RTO is two ticks above the latest sample", 10, (MICROSECOND, 10_000));
const M: Parameter = integer("m", "the variation weight is m / GAIN (section 5.4.2, footnote)", 1, (1, 1000));

static LITE: &[Parameter] = &[
    milliseconds("initial_ms", "before the first sample", 3000, (MICROSECOND, HOUR_MS)),
    milliseconds("maximum_ms", "never more", 64_000, (MICROSECOND, HOUR_MS)),
    milliseconds("granularity_ms", "a tick; two are the minimum", 500, (MICROSECOND, 10_000)),
    word(
        "clock",
        "the implementation, by ticks of a heartbeat; the definition, with a minimum of two; or ns-2's whole numbers",
        "heartbeat",
        &["heartbeat", "exact", "scaled"],
    ),
    TIMING,
    RESTART_FULL,
];

static EIFEL: &[Parameter] = &[INITIAL, BACK_OFF_MAXIMUM, GRANULARITY, M, TIMING, RESTART_AGE];

static SELF_TRAINED: &[Parameter] = &[
    integer("k_per_mille", "by how much AGG falls in a congestion avoidance cycle, about", 50, (1, 999)),
    INITIAL,
    BACK_OFF_MAXIMUM,
    GRANULARITY,
    M,
    TIMING,
    RESTART_AGE,
];

static LINUX: &[Parameter] = &[
    INITIAL,
    milliseconds("minimum_ms", "TCP_RTO_MIN: the least that the RTO is above SRTT", 200, (MICROSECOND, HOUR_MS)),
    milliseconds("maximum_ms", "TCP_RTO_MAX", 120_000, (MICROSECOND, HOUR_MS)),
];

static FIXED: &[Parameter] =
    &[milliseconds("rto_ms", "the time before any back-off", 1000, (MICROSECOND, HOUR_MS)), MAXIMUM];

static MIN_PLUS_PLUS: &[Parameter] = &[
    milliseconds("step_ms", "by how much the minimum rises", 1000, (MICROSECOND, HOUR_MS)),
    word(
        "per",
        "what counts as one spurious timeout: a verdict, or each expiry before it",
        "verdict",
        &["verdict", "expiry"],
    ),
];

const DUPLICATE_THRESHOLD: Parameter =
    integer("duplicate_threshold", "DupThresh: duplicate ACKs that begin a fast retransmit", 3, (1, 1000));
const LIMITED_TRANSMIT: Parameter = switch(
    "limited_transmit",
    "the first two duplicate ACKs let a new segment go each (RFC 3042); rfc6675: as pipe falls",
    true,
);
const BUGFIX: Parameter =
    switch("bugfix", "no second fast retransmit below the recovery point (RFC 2582, RFC 6582)", true);
const BELOW_POINT: Parameter = word(
    "fast_retransmit_below_recovery_point",
    "after a spurious timeout, whether duplicate ACKs below its recovery point count",
    "allowed",
    &["allowed", "blocked"],
);
const AFTER_SPURIOUS_TIMEOUT: Parameter = word(
    "after_spurious_timeout",
    "how sending goes on when the detector says that the timeout was spurious",
    "next-unsent",
    &["next-unsent", "go-back-n"],
);

static RULES: &[Parameter] = &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_POINT, AFTER_SPURIOUS_TIMEOUT];

static RENO_RULES: &[Parameter] = &[
    DUPLICATE_THRESHOLD,
    LIMITED_TRANSMIT,
    BUGFIX,
    BELOW_POINT,
    AFTER_SPURIOUS_TIMEOUT,
    switch(
        "suppress_late_fast_retransmit",
        "the duplicate ACK that would begin a fast retransmit restores the window if the timer came first (Ludwig, 5.4.6)",
        false,
    ),
];

static NEWRENO_SACK: &[Parameter] = &[
    DUPLICATE_THRESHOLD,
    LIMITED_TRANSMIT,
    BUGFIX,
    BELOW_POINT,
    AFTER_SPURIOUS_TIMEOUT,
    word("when", "when a partial ACK is worth a retransmission", "always", &["always", "after-spurious"]),
    word("timer_restarts_on_partial", "which partial ACKs restart the timer", "every", &["every", "first"]),
];

const REDUCTION: Parameter = word(
    "reduction",
    "how the flight comes down to ssthresh in fast recovery: nothing goes until it has, or in proportion to what is \
     delivered (PRR, RFC 6937 and RFC 9937)",
    "at-once",
    &["at-once", "prr"],
);

static RFC6675: &[Parameter] =
    &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_POINT, AFTER_SPURIOUS_TIMEOUT, REDUCTION];

static RACK_TLP: &[Parameter] = &[
    DUPLICATE_THRESHOLD,
    LIMITED_TRANSMIT,
    BUGFIX,
    BELOW_POINT,
    AFTER_SPURIOUS_TIMEOUT,
    REDUCTION,
    milliseconds(
        "max_ack_delay_ms",
        "how long the peer may delay an ACK: what a probe for a single segment waits longer (section 7.2)",
        200,
        (Duration::ZERO, 10_000),
    ),
];

const INITIAL_WINDOW: Parameter =
    integer("initial_window_segments", "the initial window (RFC 6928; RFC 5681 has 2 to 4)", 10, (1, 1_000_000));
const INITIAL_SSTHRESH: Parameter =
    integer("initial_ssthresh_bytes", "the initial ssthresh; 0 is arbitrarily high", 0, (0, i64::MAX));
const GROW: Parameter = word(
    "grow",
    "when cwnd grows: while it is what limits sending, or always",
    "when-limiting",
    &["when-limiting", "always"],
);
const RESTART: Parameter =
    switch("restart_after_idle", "the restart window after an idle RTO (RFC 5681, section 4.1)", true);

static RENO: &[Parameter] = &[
    INITIAL_WINDOW,
    INITIAL_SSTHRESH,
    word(
        "ssthresh_from",
        "what ssthresh becomes half of: FlightSize (RFC 5681) or the smaller of cwnd and the peer's window (4.4BSD, ns-2)",
        "flight",
        &["flight", "window"],
    ),
    word(
        "repeated_timeout",
        "what a further timeout of the same segment does to ssthresh: nothing (RFC 5681), or halve it again",
        "hold",
        &["hold", "reduce"],
    ),
    GROW,
    RESTART,
];

static CUBIC: &[Parameter] = &[
    INITIAL_WINDOW,
    INITIAL_SSTHRESH,
    switch("fast_convergence", "W_max is lowered when the window had not yet come back to it (section 4.7)", true),
    GROW,
    RESTART,
];

static BURST: &[Parameter] = &[integer("segments", "segments that may leave for one ACK", 4, (1, 1_000_000))];

const SLOW_START_PERCENT: Parameter =
    integer("slow_start_percent", "rate in slow start, in percent of cwnd / SRTT", 200, (1, 10_000));
const AVOIDANCE_PERCENT: Parameter =
    integer("avoidance_percent", "rate in congestion avoidance, in percent of cwnd / SRTT", 120, (1, 10_000));

static PACING: &[Parameter] = &[SLOW_START_PERCENT, AVOIDANCE_PERCENT];

static BURST_PACER: &[Parameter] = &[
    integer("segments", "segments that may leave back to back", 4, (1, 1_000_000)),
    SLOW_START_PERCENT,
    AVOIDANCE_PERCENT,
];
