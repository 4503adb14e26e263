//! Changes of a path's scenario, as a user writes them.

use std::path::Path;

use crate::path::Refusal;
use crate::scenario::FLOW;
use crate::whatif::RequestedSender;
use eifel_sim::scenario::{Scenario, change};
use serde_json::{Map, Value};

impl RequestedSender {
    /// Makes a sender of changes as `sender.rto=linux`. Its name is all of them.
    ///
    /// # Errors
    /// A text is no change.
    pub fn parse(texts: &[&str]) -> Result<Self, Refusal> {
        let changes =
            texts.iter().map(|text| change::setting(text)).collect::<Result<Map<_, _>, _>>().map_err(Refusal)?;
        Ok(Self::new(texts.join(" "), changes))
    }

    /// Makes a sender of changes, and of those that follow from them: without SACK there is no DSACK
    /// (RFC 2883).
    pub fn new(name: String, mut changes: Map<String, Value>) -> Self {
        if changes.get("tcp.sack") == Some(&Value::Bool(false)) {
            changes.entry("tcp.dsack").or_insert(Value::Bool(false));
        }
        Self { name, changes: changes.into_iter().collect() }
    }

    /// Checks the changes of the sender and its connection against `scenario`, the extracted path. Keys of
    /// the path are not checked here.
    ///
    /// # Errors
    /// A key or a value that no sender has.
    pub fn check(&self, scenario: &Value) -> Result<(), Refusal> {
        let mut changed = scenario.clone();
        for (key, value) in self.changes.iter().filter(|(key, _)| is_of_flow(key)) {
            put(&mut changed, key, value.clone())?;
            change::expect_algorithm(&changed["flow"][0], key).map_err(Refusal)?;
        }
        let checked = Scenario::parse(&changed.to_string(), Path::new("scenario"));
        checked.map(drop).map_err(|error| Refusal(change::said_of_changed(&error, "scenario, as changed")))
    }
}

/// Sets the value of a key: a path through tables by name, and through lists by index or by an
/// entry's `name`. `sender.` and `tcp.` stand for the flow's tables.
///
/// # Errors
/// There is no such key.
pub fn put(scenario: &mut Value, key: &str, value: Value) -> Result<(), Refusal> {
    let whole = if is_of_flow(key) { format!("flow.{FLOW}.{key}") } else { key.to_owned() };
    change::put(scenario, &whole, value).map_err(|error| nowhere(key, &error.part))
}

fn is_of_flow(key: &str) -> bool {
    ["sender.", "tcp."].iter().any(|table| key.starts_with(table))
}

fn nowhere(key: &str, part: &str) -> Refusal {
    Refusal(format!("--set {key}: {part:?} is no key; expected sender.KEY, tcp.KEY, or a key of the path's scenario"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scenario() -> Value {
        json!({
            "duration_s": 5,
            "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 10, "queue": {"kind": "drop-tail", "packets": 9}},
            "flow": [{"name": FLOW, "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": 9},
                "sender": {"detect": "none", "rto": {"name": "rfc6298"}}}],
        })
    }

    fn refused(texts: &[&str]) -> String {
        let checked = RequestedSender::parse(texts).and_then(|sender| sender.check(&scenario()));
        checked.unwrap_err().0
    }

    #[test]
    fn a_sender_without_sack_has_no_dsack_unless_it_is_asked_for() {
        let changes = |texts: &[&str]| RequestedSender::parse(texts).unwrap().changes;
        let [dsack, sack] = ["tcp.dsack", "tcp.sack"].map(str::to_owned);
        let off = Value::Bool(false);
        assert_eq!(changes(&["tcp.sack=false"]), [(dsack.clone(), off.clone()), (sack.clone(), off.clone())]);
        assert_eq!(changes(&["tcp.sack=false", "tcp.dsack=true"]), [(dsack, Value::Bool(true)), (sack, off)]);
        assert_eq!(changes(&["seed=1", "seed=2"]), [("seed".to_owned(), json!(2))], "the last value counts");
    }

    #[test]
    fn a_parameter_makes_a_table_of_an_algorithms_name() {
        let mut changed = scenario();
        put(&mut changed, "sender.detect.rejected_ms", json!(3)).unwrap();
        put(&mut changed, "point_to_point.queue.packets", json!(20)).unwrap();
        put(&mut changed, "flow.0.start_s", json!(1)).unwrap();
        assert_eq!(changed["flow"][0]["sender"]["detect"], json!({"name": "none", "rejected_ms": 3}));
        assert_eq!(changed["point_to_point"]["queue"]["packets"], json!(20));
        assert_eq!(changed["flow"][0]["start_s"], json!(1));
        for wrong in ["duration_s.x", "flow.1.start_s", "flow.other.start_s"] {
            assert!(put(&mut changed, wrong, json!(1)).unwrap_err().0.contains("is no key; expected sender.KEY"));
        }
    }

    #[test]
    fn what_no_sender_has_is_refused_with_the_nearest() {
        assert!(RequestedSender::parse(&["sender.rto.minimum_ms=300"]).unwrap().check(&scenario()).is_ok());
        let said = refused(&["sender.detekt=none"]);
        assert!(said.starts_with("scenario, as changed: ") && said.contains("nearest: detect"), "{said}");
        assert!(refused(&["sender.rto=linus"]).contains("linux"));
        let said = refused(&["sender.pace.burst_segments=3"]);
        assert!(
            said.starts_with("sender.pace.burst_segments: the scenario does not say there whose parameter"),
            "{said}"
        );
        assert!(said.contains("set sender.pace.name too; allowed: none"), "{said}");
    }
}
