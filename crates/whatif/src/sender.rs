//! Senders of the simulator that may match the captured sender.

use serde_json::{Map, Value, json};

use crate::path::Ends;

/// One choice, an index, on each axis that the search varies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sender {
    recover: usize,
    congest: usize,
    rto: usize,
    undo: usize,
}

const WITH_SACK: &[&str] = &["rack-tlp", "rfc6675", "newreno-sack", "fack"];
const WITHOUT_SACK: &[&str] = &["newreno", "reno"];
/// Congestion controls as in the RFCs, then as in Linux.
const CONGEST: &[&[(&str, &str)]] = &[
    &[("name", "reno")],
    &[("name", "cubic")],
    &[("name", "reno"), ("counting", "linux"), ("grow", "when-limiting-window"), ("ssthresh_from", "window")],
    &[
        ("name", "cubic"),
        ("counting", "linux"),
        ("grow", "when-limiting-window"),
        ("ssthresh_from", "window"),
        ("curve", "linux"),
        ("slow_start", "hystart"),
    ],
];
const RTO: &[(&str, Option<u32>)] = &[("linux", None), ("rfc6298", None), ("rfc6298", Some(200))];
/// Detector, response, and the options that the detector needs.
const UNDO: &[(&str, &str, Needs)] = &[
    ("none", "none", Needs::Nothing),
    ("eifel-timestamps", "rfc4015", Needs::Timestamps),
    ("f-rto", "rfc4015", Needs::Nothing),
    ("dsack", "rfc4015", Needs::Dsack),
    ("eifel-timestamps", "option-1", Needs::Timestamps),
    ("f-rto", "option-1", Needs::Nothing),
    ("dsack", "option-1", Needs::Dsack),
    ("eifel-timestamps", "none", Needs::Timestamps),
    ("f-rto", "none", Needs::Nothing),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    Nothing,
    Timestamps,
    Dsack,
}

impl Needs {
    fn are_met(self, ends: &Ends) -> bool {
        match self {
            Self::Nothing => true,
            Self::Timestamps => ends.timestamps,
            Self::Dsack => ends.sack && ends.dsack,
        }
    }
}

impl Sender {
    /// Returns the senders with which the search begins: every loss recovery and congestion
    /// control, with an undo and without. `model` names the model that explains the capture best;
    /// it determines the timer and the growth of the window.
    pub fn starts(model: Option<&str>, ends: &Ends) -> Vec<Self> {
        let linux = model.is_some_and(|model| model.starts_with("linux"));
        let recoveries = if ends.sack { WITH_SACK } else { WITHOUT_SACK };
        let mut starts = Vec::new();
        for recover in 0..recoveries.len() {
            for congest in if linux { [2, 3] } else { [0, 1] } {
                for undo in [0, if ends.timestamps { 1 } else { 2 }] {
                    starts.push(Self { recover, congest, rto: usize::from(!linux), undo });
                }
            }
        }
        starts
    }

    /// Returns all senders that differ in one axis.
    pub fn neighbours(self, ends: &Ends) -> Vec<Self> {
        let recoveries = if ends.sack { WITH_SACK } else { WITHOUT_SACK };
        let mut all: Vec<Self> = Vec::new();
        all.extend((0..recoveries.len()).map(|recover| Self { recover, ..self }));
        all.extend((0..CONGEST.len()).map(|congest| Self { congest, ..self }));
        all.extend((0..RTO.len()).map(|rto| Self { rto, ..self }));
        all.extend((0..UNDO.len()).filter(|undo| UNDO[*undo].2.are_met(ends)).map(|undo| Self { undo, ..self }));
        all.retain(|one| *one != self);
        all
    }

    /// Returns the sender's table in a scenario.
    pub fn table(self, ends: &Ends) -> Value {
        let recoveries = if ends.sack { WITH_SACK } else { WITHOUT_SACK };
        let (name, minimum) = RTO[self.rto];
        let rto = match minimum {
            Some(minimum) => json!({"name": name, "minimum_ms": minimum}),
            None => json!({"name": name}),
        };
        let (detect, respond, _) = UNDO[self.undo];
        let mut congest =
            Map::from_iter(CONGEST[self.congest].iter().map(|(key, word)| ((*key).into(), (*word).into())));
        congest.insert("initial_window_segments".into(), ends.initial_window.max(1).into());
        json!({
            "detect": detect,
            "respond": respond,
            "rto": rto,
            "recover": recoveries[self.recover],
            "congest": congest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each recovery and congestion control occurs once without an undo, and once with the undo
    /// that the options allow.
    #[test]
    fn the_search_starts_with_senders_with_and_without_undo() {
        let ends = |timestamps, sack| Ends {
            payload_bytes: 1448,
            bytes: 1_000_000,
            window_bytes: 65_535,
            initial_window: 10,
            opens: true,
            timestamps,
            sack,
            dsack: sack,
            ipv6: false,
            took_s: 10.0,
        };
        for (ends, recoveries, undo) in [
            (ends(true, true), 4, "eifel-timestamps"),
            (ends(false, true), 4, "f-rto"),
            (ends(false, false), 2, "f-rto"),
        ] {
            let starts = Sender::starts(Some("linux"), &ends);
            let with = |name: &str| starts.iter().filter(|start| UNDO[start.undo].0 == name).count();
            assert_eq!((starts.len(), with("none"), with(undo)), (4 * recoveries, 2 * recoveries, 2 * recoveries));
            assert!(starts.iter().all(|start| start.rto == 0));
            let counts_as_linux = |start: &Sender| start.table(&ends)["congest"]["counting"] == "linux";
            assert!(starts.iter().all(counts_as_linux));
            assert!(!Sender::starts(Some("rfc"), &ends).iter().any(counts_as_linux));
            // The other congestion controls are neighbours.
            assert!(starts[0].neighbours(&ends).iter().any(|one| !counts_as_linux(one)));
        }
    }

    /// DSACK is an extension of SACK, and means nothing without it.
    #[test]
    fn an_undo_needs_options_that_both_ends_offered() {
        let ends = |timestamps, sack, dsack| Ends {
            payload_bytes: 1448,
            bytes: 1,
            window_bytes: 1,
            initial_window: 1,
            opens: true,
            timestamps,
            sack,
            dsack,
            ipv6: false,
            took_s: 1.0,
        };
        for place in 0..8 {
            let [timestamps, sack, dsack] = [1, 2, 4].map(|bit| place & bit != 0);
            let ends = ends(timestamps, sack, dsack);
            let met = [Needs::Nothing, Needs::Timestamps, Needs::Dsack].map(|needs| needs.are_met(&ends));
            assert_eq!(met, [true, timestamps, sack && dsack], "{ends:?}");
        }
    }
}
