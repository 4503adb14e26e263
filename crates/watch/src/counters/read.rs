//! Counters from the texts that show them: `/proc/net`, `nstat`, node_exporter and `ss`.

use std::collections::BTreeMap;
use std::fmt;

/// The files of this host's counters: of its network namespace.
pub const OF_THIS_HOST: [&str; 2] = ["/proc/net/snmp", "/proc/net/netstat"];

/// The sockets of `ss -ti`, and those of them that do without SACK. The other names of sockets are those of
/// `struct tcp_info`.
pub const SOCKETS: &str = "sockets";
pub const SOCKETS_WITHOUT_SACK: &str = "sockets_without_sack";
const OF_SOCKETS: [&str; 8] = [
    SOCKETS,
    SOCKETS_WITHOUT_SACK,
    "total_retrans",
    "dsack_dups",
    "dsack_dups_ignored",
    "reord_seen",
    "bytes_retrans",
    "data_segs_out",
];

/// Values by name: a host's as the kernel calls them (`RetransSegs`, `TCPLossUndo`), and sums over sockets as
/// TCP_INFO calls them (`total_retrans`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters(BTreeMap<String, u64>);

/// Why a text shows no counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Malformed {}

const FORMS: &str = "expected the text of /proc/net/netstat or snmp, of nstat, node_exporter or ss -ti";
const NODE: &str = "node_netstat_";

impl Counters {
    /// Reads a text in any of the forms.
    ///
    /// # Errors
    /// Returns the first line that has none of them.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
        let Some(&(line, first)) = lines.first() else {
            return Err(Malformed { line: 1, what: format!("it is empty; {FORMS}") });
        };
        let is_list = first
            .split_once(':')
            .is_some_and(|(group, names)| names.starts_with(' ') && group.chars().all(char::is_alphanumeric));
        // A comment of node_exporter has a space behind its mark.
        let is_nstat =
            first.starts_with("Ip") || first.starts_with("Tcp") || first.starts_with('#') && !first.starts_with("# ");
        let is_ss =
            first.starts_with("State") || first.starts_with("Netid") || lines.iter().any(|&(_, line)| is_socket(line));
        match () {
            () if first.trim_start().starts_with('{') => from_json(text),
            () if lines.iter().any(|(_, line)| line.starts_with(NODE)) => from_node_exporter(&lines),
            () if is_list => from_proc(&lines),
            () if is_nstat => from_nstat(&lines),
            () if is_ss => Ok(from_sockets(&lines)),
            () => Err(Malformed { line, what: FORMS.to_owned() }),
        }
    }

    /// Adds the counters of another text of the same host.
    ///
    /// # Errors
    /// Returns the name that both have.
    pub fn join(&mut self, other: Self) -> Result<(), String> {
        match other.0.keys().find(|name| self.0.contains_key(*name)) {
            Some(name) => Err(name.clone()),
            None => {
                self.0.extend(other.0);
                Ok(())
            }
        }
    }

    /// Returns by how much each counter grew since `before`. One that was not shown there was 0: `nstat` leaves
    /// those out.
    ///
    /// # Errors
    /// Returns the name of one that went down.
    pub fn since(&self, before: &Self) -> Result<Self, String> {
        let grown = self.0.iter().map(|(name, value)| {
            let before = before.get(name).unwrap_or_default();
            value.checked_sub(before).map(|grown| (name.clone(), grown)).ok_or_else(|| name.clone())
        });
        grown.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the value of a counter, or `None` if the text does not show it.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    /// Sets the value of a counter.
    pub fn set(&mut self, name: &str, value: u64) {
        self.0.insert(name.to_owned(), value);
    }

    fn add(&mut self, name: &str, value: u64) {
        let sum = self.0.entry(name.to_owned()).or_default();
        *sum = sum.saturating_add(value);
    }
}

fn at(line: usize, what: impl Into<String>) -> Malformed {
    Malformed { line, what: what.into() }
}

/// Returns the kernel's name of a counter of TCP, from one with its group before it.
fn own_name(name: &str) -> Option<&str> {
    name.strip_prefix("TcpExt").or_else(|| name.strip_prefix("Tcp")).filter(|name| !name.is_empty())
}

fn once(counters: &mut Counters, line: usize, name: &str, value: u64) -> Result<(), Malformed> {
    match counters.0.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(at(line, format!("a second value of {name}; expected the counters of one host, once"))),
    }
}

/// Pairs of lines: a group with names, and the same group with values.
fn from_proc(lines: &[(usize, &str)]) -> Result<Counters, Malformed> {
    let mut counters = Counters::default();
    for pair in lines.chunks(2) {
        let (line, names) = pair[0];
        let group = names.split_once(':').map(|(group, names)| (group, names.split_whitespace()));
        let values = pair.get(1).and_then(|(_, values)| values.split_once(':'));
        let (Some((group, names)), Some((same, values))) = (group, values) else {
            return Err(at(line, "expected a line of names, and one of values"));
        };
        let values: Vec<&str> = values.split_whitespace().collect();
        let names: Vec<&str> = names.collect();
        if group != same || names.len() != values.len() {
            return Err(at(line + 1, format!("expected {} values of {group}", names.len())));
        }
        if group != "Tcp" && group != "TcpExt" {
            continue;
        }
        for (name, value) in names.iter().zip(values) {
            // A limit that does not exist is -1.
            let value: i128 = value.parse().map_err(|_| at(line + 1, format!("{name} {value}: expected a number")))?;
            if let Ok(value) = u64::try_from(value) {
                once(&mut counters, line, name, value)?;
            }
        }
    }
    Ok(counters)
}

/// Lines of a name with its group, a value, and a rate.
fn from_nstat(lines: &[(usize, &str)]) -> Result<Counters, Malformed> {
    let mut counters = Counters::default();
    for &(line, text) in lines.iter().filter(|(_, text)| !text.starts_with('#')) {
        let mut words = text.split_whitespace();
        let (name, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let value = value.parse().map_err(|_| at(line, format!("{name} {value}: expected a number")))?;
        if let Some(name) = own_name(name) {
            once(&mut counters, line, name, value)?;
        }
    }
    Ok(counters)
}

/// `nstat -j`: an object whose only entry holds the counters.
fn from_json(text: &str) -> Result<Counters, Malformed> {
    type Groups = BTreeMap<String, BTreeMap<String, serde_json::Number>>;
    let groups: Groups = serde_json::from_str(text).map_err(|error| {
        at(error.line().max(1), "expected the JSON of nstat -j: an object of counters in an object")
    })?;
    let mut counters = Counters::default();
    for (name, value) in groups.into_values().flatten() {
        if let (Some(name), Some(value)) = (own_name(&name), value.as_u64()) {
            once(&mut counters, 1, name, value)?;
        }
    }
    Ok(counters)
}

/// Metrics in Prometheus' text format.
fn from_node_exporter(lines: &[(usize, &str)]) -> Result<Counters, Malformed> {
    let mut counters = Counters::default();
    for &(line, text) in lines {
        let Some(metric) = text.strip_prefix(NODE) else { continue };
        let end = metric.find(['{', ' ']).unwrap_or(metric.len());
        let (name, rest) = metric.split_at(end);
        // A time may follow the value.
        let value = rest.rsplit_once('}').map_or(rest, |(_, behind)| behind).split_whitespace().next();
        let Some((group, name)) = name.split_once('_').filter(|(group, _)| ["Tcp", "TcpExt"].contains(group)) else {
            continue;
        };
        let number = value.and_then(|value| value.parse::<f64>().ok()).filter(|value| *value < 2f64.powi(63));
        let number = number.ok_or_else(|| at(line, format!("{group}_{name}: expected a number behind it")))?;
        // The largest uptime's counters have fewer digits than a float holds. MaxConn is -1.
        if number >= 0.0 {
            once(&mut counters, line, name, number as u64)?;
        }
    }
    Ok(counters)
}

fn is_socket(line: &str) -> bool {
    line.split_whitespace().any(|word| word.starts_with("rto:"))
}

/// The sums over the sockets of `ss -ti`. A value that is 0 is not shown there.
fn from_sockets(lines: &[(usize, &str)]) -> Counters {
    let mut counters = Counters::default();
    OF_SOCKETS.into_iter().for_each(|name| counters.set(name, 0));
    for &(_, line) in lines.iter().filter(|(_, line)| is_socket(line)) {
        let words = || line.split_whitespace();
        let value = |name: &str| {
            let shown = words().filter_map(|word| word.split_once(':')).find(|(shown, _)| *shown == name);
            // Of retransmissions, those under way and all.
            let value = shown.and_then(|(_, value)| value.rsplit('/').next()?.parse::<u64>().ok());
            value.unwrap_or_default()
        };
        let (retransmissions, duplicates) = (value("retrans"), value("dsack_dups"));
        counters.add(SOCKETS, 1);
        counters.add(SOCKETS_WITHOUT_SACK, u64::from(!words().any(|word| word == "sack")));
        counters.add("total_retrans", retransmissions);
        // The kernel ignores reports that go beyond the retransmissions of their connection.
        counters.add("dsack_dups", duplicates.min(retransmissions));
        counters.add("dsack_dups_ignored", duplicates.saturating_sub(retransmissions));
        ["reord_seen", "bytes_retrans", "data_segs_out"].iter().for_each(|name| counters.add(name, value(name)));
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROC: &str = "Tcp: RtoMin MaxConn OutSegs RetransSegs\nTcp: 200 -1 90 12\nUdp: InDatagrams\nUdp: 4\n\
                        TcpExt: TCPLossUndo TCPDSACKRecvSegs TcpTimeoutRehash\nTcpExt: 3 5 1\n";

    fn shown(counters: &Counters) -> Vec<(&str, u64)> {
        counters.0.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }

    #[test]
    fn the_four_texts_of_a_host_show_the_same() {
        let expected = [("OutSegs", 90), ("RetransSegs", 12), ("TCPDSACKRecvSegs", 5), ("TCPLossUndo", 3)];
        let of = |text: &str| {
            let mut counters = Counters::parse(text).unwrap();
            counters.0.retain(|name, _| expected.iter().any(|(known, _)| known == name));
            assert_eq!(shown(&counters), expected, "{text}");
        };
        of(PROC);
        of("#kernel\nIpInReceives   7   0.0\nTcpOutSegs  90  0.0\nTcpRetransSegs  12  0.1\nTcpExtTCPLossUndo 3 0.0\n\
            TcpExtTCPDSACKRecvSegs 5 0.0\n");
        of(r#"{"kernel":{"IpInReceives":7,"TcpOutSegs":90,"TcpRetransSegs":12,"TcpExtTCPLossUndo":3,
            "TcpExtTCPDSACKRecvSegs":5,"TcpMaxConn":-1}}"#);
        of("# HELP node_netstat_Tcp_OutSegs Statistic TcpOutSegs.\n# TYPE node_netstat_Tcp_OutSegs untyped\n\
            node_netstat_Tcp_OutSegs 90\nnode_netstat_Tcp_RetransSegs{instance=\"a b\"} 1.2e+01 1700000000000\n\
            node_netstat_TcpExt_TCPLossUndo 3\nnode_netstat_TcpExt_TCPDSACKRecvSegs 5\nnode_netstat_Tcp_MaxConn -1\n\
            node_netstat_Udp_InDatagrams 4\n");
        assert_eq!(Counters::parse(PROC).unwrap().get("TcpTimeoutRehash"), Some(1));
    }

    #[test]
    fn sockets_are_summed_and_a_value_that_is_not_shown_is_0() {
        let text = "State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
                    ESTAB 0 0 10.0.0.1:80 10.0.0.2:4000\n\
                    \t ts sack cubic wscale:7,7 rto:204 rtt:0.1/0.05 cwnd:10 data_segs_out:40 retrans:1/5 dsack_dups:2 reord_seen:1\n\
                    ESTAB 0 0 10.0.0.1:80 10.0.0.2:4001\n\t cubic rto:204 cwnd:10 data_segs_out:7 retrans:0/3\n";
        assert_eq!(
            shown(&Counters::parse(text).unwrap()),
            [
                ("bytes_retrans", 0),
                ("data_segs_out", 47),
                ("dsack_dups", 2),
                ("dsack_dups_ignored", 0),
                ("reord_seen", 1),
                ("sockets", 2),
                ("sockets_without_sack", 1),
                ("total_retrans", 8)
            ]
        );
        let header = text.lines().next().unwrap();
        assert_eq!(Counters::parse(header).unwrap().get(SOCKETS), Some(0));
        let without_header = text.lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(Counters::parse(&without_header), Counters::parse(text));
    }

    #[test]
    fn a_text_that_shows_no_counters_is_refused_with_its_line() {
        let refused = |text: &str| Counters::parse(text).unwrap_err().to_string();
        assert_eq!(refused(""), format!("line 1: it is empty; {FORMS}"));
        assert_eq!(refused("\nhello\n"), format!("line 2: {FORMS}"));
        assert_eq!(refused("Tcp: A B\nTcp: 1\n"), "line 2: expected 2 values of Tcp");
        assert_eq!(refused("Tcp: A\n"), "line 1: expected a line of names, and one of values");
        assert_eq!(refused("Tcp: A\nTcp: x\n"), "line 2: A x: expected a number");
        assert_eq!(
            refused("Tcp: A\nTcp: 1\nTcp: A\nTcp: 2\n"),
            "line 3: a second value of A; expected the counters of one host, once"
        );
        assert_eq!(refused("#kernel\nTcpOutSegs\n"), "line 2: TcpOutSegs : expected a number");
        assert_eq!(
            refused("{\"kernel\":3}"),
            "line 1: expected the JSON of nstat -j: an object of counters in an object"
        );
        assert_eq!(refused("node_netstat_Tcp_OutSegs NaN\n"), "line 1: Tcp_OutSegs: expected a number behind it");
    }

    #[test]
    fn growth_is_since_another_text_and_none_goes_down() {
        let (before, after) = (Counters::parse(PROC).unwrap(), PROC.replace(" 12", " 20"));
        let after = Counters::parse(&after).unwrap();
        let grown = after.since(&before).unwrap();
        assert_eq!((grown.get("RetransSegs"), grown.get("TCPLossUndo")), (Some(8), Some(0)));
        assert_eq!(before.since(&after), Err("RetransSegs".to_owned()));
        assert_eq!(after.clone().join(before), Err("OutSegs".to_owned()));
    }
}
