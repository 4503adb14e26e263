//! Reads nodes and links: the general graph, and the short forms that expand to it.

use super::error::Fault;
use super::link::{self, Surroundings};
use super::model::{Link, Node};
use super::names::Names;
use super::reader::Reader;
use eifel_path::config::LinkConfig;

pub(super) struct Topology {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    pub(super) node_names: Names,
    pub(super) link_names: Names,
}

pub(super) fn build(top: &Reader<'_>, around: &Surroundings<'_>) -> Result<Topology, Fault> {
    let mut topology = Topology {
        nodes: Vec::new(),
        links: Vec::new(),
        node_names: Names::new("node"),
        link_names: Names::new("link"),
    };
    if let Some(table) = top.table("point_to_point") {
        let (sender, receiver) = (topology.host("sender"), topology.host("receiver"));
        let ways = link::both_ways(&table, around)?;
        topology.pair([BOTTLENECK, BOTTLENECK_BACK], [sender, receiver], ways);
    } else if let Some(table) = top.table("dumbbell") {
        topology.dumbbell(&table, around)?;
    } else {
        topology.listed(top, around)?;
    }
    Ok(topology)
}

impl Topology {
    /// Reads nodes and links one by one.
    fn listed(&mut self, top: &Reader<'_>, around: &Surroundings<'_>) -> Result<(), Fault> {
        let nodes = top.tables("node");
        if nodes.len() > MOST_NODES {
            return Err(top.fault("node", format!("{} nodes", nodes.len())).allowed(format!("at most {MOST_NODES}")));
        }
        for table in &nodes {
            let name = table.text("name");
            self.node_names.add(name).map_err(|what| table.fault("name", what))?;
            self.nodes.push(Node { name: name.to_owned() });
        }
        for table in top.tables("link") {
            self.listed_link(&table, around)?;
        }
        let lonely = |node: usize| !self.links.iter().any(|link| link.from == node || link.to == node);
        match nodes.iter().enumerate().find(|&(index, _)| lonely(index)) {
            Some((_, table)) => Err(table
                .fault("name", format!("no link begins or ends at the node {:?}", table.text("name")))
                .allowed("nodes with a link")),
            None => Ok(()),
        }
    }

    fn listed_link(&mut self, table: &Reader<'_>, around: &Surroundings<'_>) -> Result<(), Fault> {
        let from = self.node_names.key(table, "from")?;
        let to = self.node_names.key(table, "to")?;
        if from == to {
            return Err(table.fault("to", format!("the link ends at the node where it begins, {:?}", table.text("to"))));
        }
        let (from_name, to_name) = (table.text("from"), table.text("to"));
        let own = table.maybe_text("name");
        let name = own.map_or_else(|| format!("{from_name}-{to_name}"), str::to_owned);
        let taken = |what: String| table.fault("name", what).allowed("names that no other link has");
        if !table.switch("both") {
            if table.has("back") {
                return Err(table.fault("back", "makes no sense without both = true"));
            }
            let config = link::one_way(table, None, around)?;
            return self.link(name, [from, to], config).map_err(taken);
        }
        let back_name = own.map_or_else(|| format!("{to_name}-{from_name}"), |name| format!("{name}-back"));
        let (there, back) = link::both_ways(table, around)?;
        self.link(name, [from, to], there).map_err(taken)?;
        self.link(back_name, [to, from], back).map_err(taken)
    }

    fn dumbbell(&mut self, table: &Reader<'_>, around: &Surroundings<'_>) -> Result<(), Fault> {
        let part = |key: &str| table.table(key).map(|part| link::both_ways(&part, around)).transpose();
        let bottleneck = part("bottleneck")?;
        let access = part("access")?;
        let left_access = part("left_access")?.or_else(|| access.clone());
        let right_access = part("right_access")?.or(access);
        let (entry, exit) = (self.host("entry"), self.host("exit"));
        if let Some(ways) = bottleneck {
            self.pair([BOTTLENECK, BOTTLENECK_BACK], [entry, exit], ways);
        }
        for (count, side, access) in [("left", "left", left_access), ("right", "right", right_access)] {
            let Some((out, back)) = access else { continue };
            for number in 1..=table.count(count) {
                let name = format!("{side}{number}");
                let host = self.host(&name);
                // On both sides, "there" means from left to right.
                match side {
                    "left" => self.pair(
                        [&format!("{name}-entry"), &format!("entry-{name}")],
                        [host, entry],
                        (out.clone(), back.clone()),
                    ),
                    _ => self.pair(
                        [&format!("exit-{name}"), &format!("{name}-exit")],
                        [exit, host],
                        (out.clone(), back.clone()),
                    ),
                }
            }
        }
        Ok(())
    }

    /// Adds a node of a short form. Returns its index. Names in short forms are unique.
    fn host(&mut self, name: &str) -> usize {
        self.nodes.push(Node { name: name.to_owned() });
        self.node_names.add(name).expect("short forms give each node its own name")
    }

    /// Adds a link of a short form, and its reverse link. Names in short forms are unique.
    fn pair(&mut self, names: [&str; 2], [from, to]: [usize; 2], (there, back): (LinkConfig, LinkConfig)) {
        for (name, ends, config) in [(names[0], [from, to], there), (names[1], [to, from], back)] {
            self.link(name.to_owned(), ends, config).expect("short forms give each link its own name");
        }
    }

    fn link(&mut self, name: String, [from, to]: [usize; 2], config: LinkConfig) -> Result<(), String> {
        self.link_names.add(&name)?;
        self.links.push(Link { name, from, to, config, proxied: false });
        Ok(())
    }
}

/// The most nodes. Packets hold the index of a node in 16 bits.
const MOST_NODES: usize = 65_535;
const BOTTLENECK: &str = "bottleneck";
const BOTTLENECK_BACK: &str = "bottleneck-back";
