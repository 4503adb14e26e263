//! How large the needless share of retransmissions is, as counters show it: an estimate, and the interval that
//! held the truth in nine of ten recordings.
//!
//! *Looks at* duplicates that were reported as a share of all retransmissions, and which of six situations the
//! other counters show.
//! *Decides* a share, and an interval around it.
//! *Blind to* which retransmissions they were, and to receivers that report no duplicates.
//! *From* recordings of this project with the truth (`tests/counters.csv`): the constants are fitted.

use super::read::{Counters, SOCKETS, SOCKETS_WITHOUT_SACK};
use serde::Serialize;

/// The kernel whose recordings were fitted.
pub const KERNEL: &str = "6.18";
/// The fewest retransmissions that an estimate needs. Below, single ones decide.
pub const FEWEST: u64 = 5;

/// A share of the retransmissions that is small, so that errors are too.
const SMALL: f64 = 0.1;
/// Of fewer of the retransmissions, reordering and undone reactions are exceptions of a busy host.
const PATTERN: f64 = 0.01;
/// Of fewer of the duplicates, so are reports without a retransmission.
const PATTERN_OF_COPIES: f64 = 0.1;

/// What the counters show about connections and their path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Situation {
    /// More recoveries began without SACK than with it.
    WithoutSack,
    /// More duplicates are reported than were retransmitted: the network makes copies.
    Copies,
    /// Duplicates are reported, and reordering was seen.
    DuplicatesAndReordering,
    /// The same, for less than a tenth of the retransmissions.
    FewDuplicatesAndReordering,
    /// Duplicates are reported.
    Duplicates,
    /// The same, for less than a tenth of the retransmissions.
    FewDuplicates,
    /// No duplicate is reported, but reordering was seen, or a reaction undone.
    NoDuplicatesButSigns,
    /// Nothing shows a needless retransmission.
    NoSign,
}

impl Situation {
    /// All situations.
    pub const ALL: [Self; 8] = [
        Self::WithoutSack,
        Self::Copies,
        Self::DuplicatesAndReordering,
        Self::FewDuplicatesAndReordering,
        Self::Duplicates,
        Self::FewDuplicates,
        Self::NoDuplicatesButSigns,
        Self::NoSign,
    ];

    /// Returns the situation in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::WithoutSack => "most recoveries are on connections without SACK, whose peers report no duplicates",
            Self::Copies => "peers report more duplicates than were retransmitted, so the network copies packets",
            Self::DuplicatesAndReordering => "peers report duplicates, and segments were reordered",
            Self::FewDuplicatesAndReordering => "peers report few duplicates, and segments were reordered",
            Self::Duplicates => "peers report duplicates",
            Self::FewDuplicates => "peers report few duplicates",
            Self::NoDuplicatesButSigns => {
                "peers report no duplicates, but segments were reordered or the kernel undid a reaction"
            }
            Self::NoSign => "no counter shows a needless retransmission",
        }
    }
}

/// What a situation adds to the share of reported duplicates to get the needless share, as fitted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Error {
    /// In all retransmissions of the recordings together.
    pub bias: f64,
    /// The bounds between which nine of ten recordings were.
    pub low: f64,
    pub high: f64,
    /// Recordings in this situation.
    pub recordings: usize,
}

/// The fitted errors, in the order of [`Situation::ALL`].
pub const FITTED: [Error; 8] = [
    fitted(0.433, 0.000, 0.819, 162),
    fitted(-0.122, -0.708, 0.000, 42),
    fitted(0.040, 0.000, 0.143, 112),
    fitted(0.014, -0.018, 0.077, 50),
    fitted(-0.014, -0.419, 0.334, 105),
    fitted(0.001, -0.084, 0.055, 45),
    fitted(0.096, 0.000, 0.637, 72),
    fitted(0.011, 0.000, 0.012, 495),
];

const fn fitted(bias: f64, low: f64, high: f64, recordings: usize) -> Error {
    Error { bias, low, high, recordings }
}

/// What an estimate needs of the counters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signs {
    /// Segments with data that were sent again.
    pub retransmissions: u64,
    /// Those reported as received twice, by the share of the retransmissions; at most 1.
    pub duplicates: f64,
    pub situation: Situation,
}

impl Signs {
    /// Reads them from a host's counters, or else from those of sockets.
    ///
    /// # Errors
    /// Returns the first counter that is missing.
    pub fn of(counters: &Counters) -> Result<Self, &'static str> {
        let sum = |names: &[&'static str]| {
            names.iter().map(|name| counters.get(name).ok_or(*name)).sum::<Result<u64, &'static str>>()
        };
        if counters.get("RetransSegs").is_none() && counters.get(SOCKETS).is_some() {
            let signs = [sum(&["reord_seen"])?, 0, sum(&["dsack_dups_ignored"])?];
            let is_plain = 2 * sum(&[SOCKETS_WITHOUT_SACK])? > sum(&[SOCKETS])?;
            return Ok(Self::new(sum(&["total_retrans"])?, sum(&["dsack_dups"])?, signs, is_plain));
        }
        let retransmissions = sum(&["RetransSegs"])?.saturating_sub(sum(&["TCPSynRetrans"])?);
        let duplicates = sum(&["TCPDSACKRecvSegs"])?;
        let reordered = sum(&["TCPSACKReorder", "TCPTSReorder", "TCPRenoReorder"])?;
        let undone = sum(&["TCPLossUndo", "TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo"])?;
        let is_plain = sum(&["TCPRenoRecovery"])? > sum(&["TCPSackRecovery"])?;
        Ok(Self::new(retransmissions, duplicates, [reordered, undone, sum(&["TCPDSACKIgnoredDubious"])?], is_plain))
    }

    fn new(retransmissions: u64, duplicates: u64, [reordered, undone, beyond]: [u64; 3], is_plain: bool) -> Self {
        let share = (duplicates as f64 / retransmissions.max(1) as f64).min(1.0);
        let is_pattern = |count: u64, of: u64, least: f64| count > 0 && count as f64 >= of as f64 * least;
        let is_reordered = is_pattern(reordered, retransmissions, PATTERN);
        let situation = match (duplicates, share < SMALL, is_reordered) {
            _ if is_plain => Situation::WithoutSack,
            _ if is_pattern(beyond, duplicates, PATTERN_OF_COPIES) => Situation::Copies,
            (0, ..) if is_reordered || is_pattern(undone, retransmissions, PATTERN) => Situation::NoDuplicatesButSigns,
            (0, ..) => Situation::NoSign,
            (_, true, true) => Situation::FewDuplicatesAndReordering,
            (_, true, false) => Situation::FewDuplicates,
            (_, false, true) => Situation::DuplicatesAndReordering,
            (_, false, false) => Situation::Duplicates,
        };
        Self { retransmissions, duplicates: share, situation }
    }

    /// Returns the estimate, unless there are fewer retransmissions than it needs.
    pub fn estimate(&self) -> Option<Estimate> {
        let error = FITTED[self.situation as usize];
        let share = |added: f64| (self.duplicates + added).clamp(0.0, 1.0);
        (self.retransmissions >= FEWEST).then(|| Estimate {
            situation: self.situation,
            share: share(error.bias),
            low: share(error.low),
            high: share(error.high),
            recordings: error.recordings,
            kernel: KERNEL,
        })
    }
}

/// The estimated share of retransmissions that were needless.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    pub situation: Situation,
    pub share: f64,
    /// The bounds between which it is in nine of ten recordings.
    pub low: f64,
    pub high: f64,
    /// Recordings in this situation, and their kernel.
    pub recordings: usize,
    pub kernel: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that an estimate reads, all 0 but the given ones.
    fn signs(given: &[(&str, u64)]) -> Signs {
        let mut counters = Counters::default();
        let names = "RetransSegs TCPSynRetrans TCPDSACKRecvSegs TCPSACKReorder TCPTSReorder TCPRenoReorder TCPLossUndo \
                     TCPFullUndo TCPPartialUndo TCPDSACKUndo TCPRenoRecovery TCPSackRecovery TCPDSACKIgnoredDubious";
        names.split(' ').for_each(|name| counters.set(name, 0));
        given.iter().for_each(|(name, value)| counters.set(name, *value));
        Signs::of(&counters).unwrap()
    }

    #[test]
    fn repeated_syns_are_no_retransmissions_of_data() {
        let read = signs(&[("RetransSegs", 12), ("TCPSynRetrans", 2), ("TCPDSACKRecvSegs", 1)]);
        assert_eq!((read.retransmissions, read.duplicates), (10, 0.1));
        assert_eq!(read.situation, Situation::Duplicates);
        assert_eq!(signs(&[]).duplicates, 0.0, "without retransmissions");
    }

    #[test]
    fn counters_show_the_situation() {
        let of =
            |given: &[(&str, u64)]| signs(&[&[("RetransSegs", 100), ("TCPSackRecovery", 5)], given].concat()).situation;
        let (few, many) = (("TCPDSACKRecvSegs", 9), ("TCPDSACKRecvSegs", 10));
        assert_eq!(of(&[]), Situation::NoSign);
        assert_eq!(of(&[("TCPLossUndo", 1)]), Situation::NoDuplicatesButSigns);
        assert_eq!(of(&[("TCPTSReorder", 1)]), Situation::NoDuplicatesButSigns);
        assert_eq!(of(&[few]), Situation::FewDuplicates);
        assert_eq!(of(&[many, ("TCPDSACKUndo", 1)]), Situation::Duplicates);
        assert_eq!(of(&[few, ("TCPSACKReorder", 1)]), Situation::FewDuplicatesAndReordering);
        assert_eq!(of(&[many, ("TCPSACKReorder", 1)]), Situation::DuplicatesAndReordering);
        assert_eq!(of(&[many, ("TCPDSACKIgnoredDubious", 1)]), Situation::Copies);
        assert_eq!(of(&[("TCPRenoRecovery", 6), ("TCPDSACKIgnoredDubious", 1)]), Situation::WithoutSack);
        // A busy host has each of these at times.
        let busy = [
            ("RetransSegs", 10_000),
            ("TCPDSACKRecvSegs", 200),
            ("TCPSACKReorder", 99),
            ("TCPDSACKIgnoredDubious", 19),
        ];
        assert_eq!(of(&busy), Situation::FewDuplicates);
        assert_eq!(of(&[busy[0], ("TCPLossUndo", 99)]), Situation::NoSign);
    }

    #[test]
    fn sockets_alone_are_enough_and_a_missing_counter_is_named() {
        let text = "ESTAB 0 0 a:1 b:2\n ts sack cubic rto:204 retrans:0/20 dsack_dups:5 reord_seen:1\n";
        let read = Signs::of(&Counters::parse(text).unwrap()).unwrap();
        let expected = Signs { retransmissions: 20, duplicates: 0.25, situation: Situation::DuplicatesAndReordering };
        assert_eq!(read, expected);
        let copied = Counters::parse(&text.replace("dsack_dups:5", "dsack_dups:25")).unwrap();
        let read = Signs::of(&copied).unwrap();
        assert_eq!((read.duplicates, read.situation), (1.0, Situation::Copies));
        let node = "node_netstat_Tcp_RetransSegs 20\nnode_netstat_TcpExt_TCPSynRetrans 1\n";
        assert_eq!(Signs::of(&Counters::parse(node).unwrap()), Err("TCPDSACKRecvSegs"));
    }

    #[test]
    fn an_estimate_adds_the_fitted_error_and_stays_a_share() {
        assert_eq!(signs(&[("RetransSegs", FEWEST - 1)]).estimate(), None);
        let read = signs(&[("RetransSegs", 100), ("TCPDSACKRecvSegs", 100)]);
        let (estimate, error) = (read.estimate().unwrap(), FITTED[Situation::Duplicates as usize]);
        assert_eq!((estimate.share, estimate.high), ((1.0 + error.bias).min(1.0), 1.0));
        assert!(estimate.low < estimate.share && error.recordings > 19);
    }
}
