//! Reads the performance-enhancing proxies, and the links behind them.

use super::error::Fault;
use super::model::{Flow, Traffic};
use super::reader::Reader;
use super::topology::Topology;
use crate::end::End;
use crate::proxies;

/// Puts the proxies of the scenario in front of their links.
pub(super) fn attach(top: &Reader<'_>, topology: &mut Topology, flows: &[Flow]) -> Result<(), Fault> {
    let Some(table) = top.table("proxy") else { return Ok(()) };
    for item in table.items("links") {
        let link = topology.link_names.item(&item)?;
        if topology.links[link].proxied {
            return Err(item.fault(format!("the link {} is listed twice", item.text())));
        }
        let crosses = |flow: &&Flow| {
            matches!(flow.traffic, Traffic::Messages { .. }) && flow.ways().any(|(links, _)| links.contains(&link))
        };
        if let Some(flow) = flows.iter().find(crosses) {
            let what =
                format!("a proxy reads TCP, and the flow {:?} over SCTP takes the link {}", flow.name, item.text());
            return Err(item.fault(what).allowed("links that flows over SCTP do not take"));
        }
        let sees =
            |flow: &Flow| [End::From, End::To].iter().any(|&end| proxies::sees(flow, end, &topology.links, link));
        if !flows.iter().any(sees) {
            let node = &topology.nodes[topology.links[link].from].name;
            let what = format!("no connection's data is forwarded to {:?} at {node:?}", item.text());
            return Err(item.fault(what).allowed("links behind a node between two hosts, which passes the ACKs too"));
        }
        topology.links[link].proxied = true;
    }
    Ok(())
}
