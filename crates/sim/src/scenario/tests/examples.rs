//! The example scenarios of the repository, and the scenarios in the documents.

use super::super::model::{Opening, StreamApplication, Traffic};
use super::super::tree;
use super::Scenario;
use crate::scenario::Amount;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the names of the example scenarios. The example of a sweep is not a scenario.
fn examples() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("examples")).expect("the folder of examples");
    let names = folder.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".toml") && name != "sweep.toml").collect()
}

fn example(name: &str) -> Scenario {
    let file = root().join("examples").join(name);
    let text = std::fs::read_to_string(&file).expect("an example");
    Scenario::parse(&text, &file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_example_is_understood() {
    assert!(examples().len() >= 5, "{:?}", examples());
    for name in examples() {
        assert!(!example(&name).title.is_empty(), "{name} has a title");
    }
}

#[test]
fn the_dumbbell_is_the_papers() {
    let scenario = example("dumbbell.toml");
    let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["entry", "exit", "left1", "right1"]);
    let way = |links: &[usize]| links.iter().map(|&link| scenario.links[link].name.as_str()).collect::<Vec<_>>();
    let main = &scenario.flows[0];
    assert_eq!(way(&main.there), ["left1-entry", "bottleneck", "exit-right1"]);
    assert_eq!(way(&main.back), ["right1-exit", "bottleneck-back", "entry-left1"]);
    let delay: u64 = main.there.iter().map(|&link| scenario.links[link].config.delay.as_nanos()).sum();
    assert_eq!(delay, 200_000_000);
    for link in &scenario.links {
        assert_eq!(link.config.spikes.len(), usize::from(link.name.starts_with("bottleneck")), "{}", link.name);
    }
    let Traffic::Stream { application: StreamApplication::Bulk { bytes }, connection } = &main.traffic else {
        panic!("a bulk transfer")
    };
    assert_eq!(*bytes, Some(Amount::fixed(5_000_000)));
    assert_eq!(connection.settings.mss, 1012);
    assert_eq!(connection.opening, Opening::Established);
    assert!(main.has_end() && !scenario.flows[1].has_end());
}

#[test]
fn the_recorded_link_has_a_recording_each_way() {
    use eifel_path::config::Capacity;
    let scenario = example("cellular.toml");
    let capacity = |name: &str| {
        let link = scenario.links.iter().find(|link| link.name == name).expect("a link");
        let Capacity::Trace(trace) = &link.config.capacity else { panic!("a recording") };
        (trace.len(), link.config.elements.len())
    };
    assert_eq!((capacity("radio"), capacity("radio-back")), ((1845, 1), (305, 0)));
}

#[test]
fn repeated_flows_are_one_each() {
    let scenario = example("request-response.toml");
    let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[9], names[10]), (11, "client1", "client10", "bursts"));
    let tenth = &scenario.flows[9];
    assert_eq!(
        (scenario.nodes[tenth.from].name.as_str(), scenario.nodes[tenth.to].name.as_str()),
        ("left10", "right10")
    );
}

#[test]
fn tables_that_repeat_flows_keep_their_own_settings() {
    let table = |name: &str, bytes: u64| {
        format!(
            "[[flow]]\nname = \"{name}#\"\nrepeat = 3\nfrom = \"sender\"\nto = \"receiver\"\n\
             application = {{ kind = \"bulk\", bytes = {bytes} }}\n"
        )
    };
    let path = "duration_s = 5\n[point_to_point]\nrate_bps = 8_000_000\ndelay_ms = 20\n";
    let text = format!("{path}{}{}", table("one", 1000), table("other", 2000));
    let scenario = Scenario::parse(&text, &root().join("x.toml")).expect("a scenario");
    let found: Vec<(&str, String)> =
        scenario.flows.iter().map(|flow| (flow.name.as_str(), format!("{:?}", flow.traffic))).collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["one1", "one2", "one3", "other1", "other2", "other3"]);
    for (number, (_, traffic)) in found.iter().enumerate() {
        assert_eq!([traffic.contains("1000"), traffic.contains("2000")], [number < 3, number >= 3], "{traffic}");
    }
}

#[test]
fn every_scenario_of_the_reference_is_understood() {
    let text = std::fs::read_to_string(root().join("docs/reference/scenario.md")).expect("the reference");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let whole: Vec<&&str> = blocks.iter().filter(|block| block.contains("duration_s")).collect();
    assert!(!whole.is_empty());
    for block in whole {
        Scenario::parse(block, &root().join("examples/scenario.md")).unwrap_or_else(|error| panic!("{error}\n{block}"));
    }
}

#[test]
fn every_example_means_the_same_as_json() {
    for name in examples() {
        let file = root().join("examples").join(&name);
        let text = std::fs::read_to_string(&file).expect("an example");
        let json = json(&tree::read(&text).expect("TOML").value).to_string();
        let same = Scenario::parse(&json, &file).unwrap_or_else(|error| panic!("{error}\n{json}"));
        assert_eq!(format!("{same:?}"), format!("{:?}", example(&name)), "{name}");
    }
}

fn json(value: &tree::Value) -> serde_json::Value {
    match value {
        tree::Value::Table(entries) => {
            serde_json::Value::Object(entries.iter().map(|e| (e.key.clone(), json(&e.node.value))).collect())
        }
        tree::Value::List(items) => items.iter().map(|item| json(&item.value)).collect(),
        tree::Value::Integer(number) => (*number).into(),
        tree::Value::Float(number) => (*number).into(),
        tree::Value::Text(text) => text.as_str().into(),
        tree::Value::Switch(switch) => (*switch).into(),
        tree::Value::Foreign(_) => serde_json::Value::Null,
    }
}

#[test]
fn scenarios_can_be_shared_among_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&example("cellular.toml"));
}
