//! Random scenarios, drawn from a seed. They cover every application and transport, and all kinds
//! of paths and hosts.

/// A random number generator: SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Returns true in one of `of` draws.
    pub fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    pub fn one(&mut self, of: &[&str]) -> String {
        of[self.below(of.len() as u64) as usize].to_owned()
    }

    /// Draws some of these lines.
    fn some(&mut self, of: &[&str]) -> String {
        let chosen: Vec<&str> = of.iter().copied().filter(|_| self.once_in(4)).collect();
        chosen.join("\n") + "\n"
    }

    /// Draws some of these pairs, for an inline table.
    fn pairs(&mut self, of: &[&str]) -> String {
        of.iter().filter(|_| self.once_in(3)).map(|pair| format!("{pair}, ")).collect()
    }
}

/// The kinds of scenarios.
pub const KINDS: [&str; 10] =
    ["connections", "associations", "mixed", "endless", "lies", "proxies", "apart", "failing", "far", "copies"];

/// Kinds whose flows never stop.
const ENDLESS: [&str; 3] = ["endless", "apart", "far"];
/// Kinds whose flows share no link, so that their ends are evaluated ahead of the clock.
const APART: [&str; 2] = ["apart", "far"];

/// Draws a scenario of a kind.
pub fn scenario(kind: &str, seed: u64) -> String {
    let dice = &mut Dice(seed);
    let mut text = format!("seed = {}\nduration_s = {}\n", 1 + seed, 15 + dice.below(20));
    text += &dice.some(&["ip = \"ipv6\"", "header_bytes = 40"]);
    if !ENDLESS.contains(&kind) {
        text += &format!("stop = \"{}\"\n", dice.one(&["all-flows-done", "first-flow-done", "at-duration"]));
    }
    if kind == "proxies" {
        text += "proxy = { links = [\"wireless\"] }\n";
    }
    if kind == "copies" {
        let window = dice.one(&["1_500", "2_500", "6_000"]);
        text += &format!("[tcp]\nreceive_window_bytes = {window}\n[sctp]\nreceive_window_bytes = {window}\n");
    }
    for node in ["a", "c", "middle", "b", "a2", "b2"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    let access = |from: &str, dice: &mut Dice| {
        let rate = dice.one(&["20_000_000", "3_000_000", "\"unlimited\""]);
        format!(
            "[[link]]\nfrom = \"{from}\"\nto = \"middle\"\nboth = true\nrate_bps = {rate}\ndelay_ms = {}\n",
            dice.below(9)
        )
    };
    for host in ["a", "c"] {
        text += &access(host, dice);
    }
    for (name, from, to) in [("wireless", "middle", "b"), ("second", "a2", "b2")] {
        let way = match kind {
            "far" => far(dice),
            "copies" => copying(dice),
            _ => link(dice),
        };
        text += &format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nboth = true\n{way}");
    }
    text += &match kind {
        "failing" => cut(dice),
        "far" => String::new(),
        _ => held(dice),
    };
    let flows = if APART.contains(&kind) { 2 } else { 1 + dice.below(3) };
    for number in 0..flows {
        text += &flow(kind, number, dice);
    }
    if kind == "mixed" || kind == "apart" && dice.once_in(3) {
        text += &datagrams(dice);
    }
    text
}

const STARTS: [&str; 2] = ["start_s = { uniform = [0, 3] }", "end_s = 11"];

fn link(dice: &mut Dice) -> String {
    let rate = dice.one(&["300_000", "1_000_000", "1_500_000", "4_000_000"]);
    let queue = dice.one(&[
        "{ kind = \"drop-tail\", packets = 8 }",
        "{ kind = \"drop-tail\", packets = 30 }",
        "{ kind = \"drop-tail\", bytes = 20_000 }",
        "{ kind = \"red\", packets = 40, minimum_packets = 5, maximum_packets = 15, ecn = true }",
        "{ kind = \"codel\", ecn = true }",
        "{ kind = \"fq-codel\" }",
    ]);
    let disturbed = [
        "loss = { kind = \"random\", rate = 0.02 }",
        "duplicate = { rate = 0.02 }",
        "reorder = { rate = 0.02, length = 4 }",
        "ecn_faults = { clear = 0.1, forge = 0.05 }",
        "jitter = { delay_ms = { exponential = 5 }, keeps_order = true }",
        "disturbed_until_s = 12",
        "drops = { flow = \"f0\", segments = [3, 9, 10, 30] }",
        "delay_changes = [{ at_s = 4, delay_ms = 80 }, { at_s = 9, delay_ms = 10 }]",
    ];
    let mut text = format!("rate_bps = {rate}\ndelay_ms = {}\nqueue = {queue}\n", 5 + dice.below(80));
    text += &dice.some(&disturbed);
    if dice.once_in(2) {
        text += "[link.back]\n";
        text += &dice.some(&disturbed[..6]);
    }
    text
}

/// Draws a link without disturbances. Its delay may exceed the first retransmission timeouts.
fn far(dice: &mut Dice) -> String {
    let rate = dice.one(&["200_000", "1_000_000"]);
    let queue = dice.one(&["packets = 3", "packets = 30", "bytes = 20_000"]);
    format!(
        "rate_bps = {rate}\ndelay_ms = {}\nqueue = {{ kind = \"drop-tail\", {queue} }}\n",
        dice.one(&["20", "400", "900", "1_500", "2_500"])
    )
}

/// Draws a link that duplicates many packets and loses some of the duplicates.
fn copying(dice: &mut Dice) -> String {
    let rate = dice.one(&["100_000", "500_000"]);
    let disturbed = ["loss = { kind = \"random\", rate = 0.1 }", "reorder = { rate = 0.1, length = 3 }"];
    format!(
        "rate_bps = {rate}\ndelay_ms = {}\nqueue = {{ kind = \"drop-tail\", packets = {} }}\nduplicate = {{ rate = 0.4 }}\n{}",
        5 + dice.below(80),
        2 + dice.below(4),
        dice.some(&disturbed)
    )
}

/// Draws a spike or outage after which most ends give up. Packets are lost, or arrive at its end.
fn cut(dice: &mut Dice) -> String {
    let links = dice.one(&["\"wireless\"", "\"wireless-back\"", "\"wireless\", \"wireless-back\", \"second\""]);
    let at = format!("at = [{{ start_s = {}, length_s = {} }}]\n", 1 + dice.below(3), 4 + dice.below(12));
    let how = dice.one(&["[[spike]]\nholds = \"arriving\"", "[[spike]]\nholds = \"sending\"", "[[outage]]"]);
    format!("{how}\nlinks = [{links}]\n{at}")
}

/// Draws spikes and outages.
fn held(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.once_in(2) {
        let links = dice.one(&["\"wireless\"", "\"wireless-back\"", "\"wireless\", \"wireless-back\", \"second\""]);
        let holds = dice.one(&["sending", "arriving"]);
        text += &format!("[[spike]]\nlinks = [{links}]\nholds = \"{holds}\"\n");
        text += &dice.one(&[
            "at = [{ start_s = 2, end_s = 4.5 }, { start_s = 9, length_s = 2 }]\n",
            "first_s = 1\nlength_s = { uniform = [0.3, 3] }\ninterval_s = { uniform = [2, 5] }\ninterval = \"end-to-start\"\n",
        ]);
    }
    if dice.once_in(4) {
        text += "[[outage]]\nlinks = [\"wireless\", \"wireless-back\"]\nat = [{ start_s = 3, length_s = 1.5 }]\n";
    }
    text
}

fn flow(kind: &str, number: u64, dice: &mut Dice) -> String {
    let associations = match kind {
        "associations" => true,
        "proxies" | "connections" => false,
        _ => dice.once_in(2),
    };
    let from = if associations { "a".to_owned() } else { dice.one(&["a", "c", "middle"]) };
    let from = if kind == "proxies" { dice.one(&["a", "c"]) } else { from };
    let (from, to) = if dice.once_in(4) { ("b".to_owned(), from) } else { (from, "b".to_owned()) };
    let (from, to) = match number {
        _ if !APART.contains(&kind) => (from, to),
        1 => ("a2".to_owned(), "b2".to_owned()),
        _ => (dice.one(&["a", "middle"]), "b".to_owned()),
    };
    let mut text = format!("[[flow]]\nname = \"f{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let application = match kind {
        _ if ENDLESS.contains(&kind) => "{ kind = \"bulk\", endless = true }".to_owned(),
        _ => dice.one(&[
            "{ kind = \"bulk\", bytes = 150_000 }",
            "{ kind = \"bulk\", segments = 70 }",
            "{ kind = \"bulk\", endless = true }",
            "{ kind = \"request-response\", requests = 12, request_bytes = { uniform = [1, 4000] }, response_bytes = 9_000 }",
            "{ kind = \"request-response\", requests = 9, request_bytes = 300, response_bytes = { exponential = 9_000 }, \
             think_ms = 200 }",
            "{ kind = \"exchange\", bytes = 60_000, back_bytes = 90_000 }",
            "{ kind = \"exchange\", bytes = 1, back_bytes = 40_000 }",
        ]),
    };
    text += &format!("application = {application}\n");
    text += &dice.some(if APART.contains(&kind) { &STARTS[..1] } else { &STARTS });
    if kind == "failing" {
        let pauses =
            ["", "reading = { bytes = 800, every_ms = 300 }\n", "reading = { bytes = 2_000, every_ms = 900 }\n"];
        text += &dice.one(&pauses);
    } else if !ENDLESS.contains(&kind) {
        text += &dice.some(&["reading = { bytes = 3_000, every_ms = 40 }"]);
    }
    if kind == "lies" || dice.once_in(12) && !ENDLESS.contains(&kind) {
        text += &format!("liar = {}\n", liar(dice));
    }
    let impatient = ["failing", "far"].contains(&kind);
    if associations {
        text += &association(from == "a" || to == "a", from == "b", impatient, dice);
    } else {
        text += &connection(impatient, dice);
    }
    text
}

fn liar(dice: &mut Dice) -> String {
    if dice.once_in(2) {
        let lies = [
            "forged-echo",
            "guessed-echo",
            "forged-dsack",
            "forged-mark",
            "forged-sack",
            "withheld-ack",
            "random-echo",
        ];
        return format!("\"{}\"", dice.one(&lies));
    }
    let answer = |dice: &mut Dice| {
        let words = [
            ("number", &["all", "one-less", "same", "one-more"][..]),
            ("echo", &["due", "first-unacknowledged", "below-gap", "above-gap", "newest"]),
            ("duplicates", &["true", "hidden", "invented"]),
            ("gaps", &["true", "hidden", "invented"]),
        ];
        let words: String = words.iter().map(|(key, of)| format!("{key} = \"{}\", ", dice.one(of))).collect();
        words + &dice.pairs(&["denies_mark = true", "held_ms = 120", "every = 2", "turns = true"])
    };
    let keys = ["in_order", "above_gap", "again", "repair", "last_repair"];
    let table = |dice: &mut Dice| -> String {
        let chosen: Vec<&str> = keys.into_iter().filter(|_| dice.once_in(2)).collect();
        chosen.iter().map(|key| format!("{key} = {{ {} }}, ", answer(dice).trim_end_matches(", "))).collect()
    };
    let (mut own, other) = (table(dice), table(dice));
    if dice.once_in(2) {
        own += &format!("other = {{ {} }}", other.trim_end_matches(", "));
    }
    format!("{{ {} }}", own.trim_end_matches(", "))
}

fn connection(impatient: bool, dice: &mut Dice) -> String {
    let mut text = dice.one(&[
        "",
        "handshake = true\n",
        "handshake = false\n",
        "handshake = \"simultaneous\"\n",
        "isn = [4294960000, 7]\n",
    ]);
    text += "[flow.tcp]\n";
    text += &dice.some(&[
        "payload_bytes = 700",
        "receive_window_bytes = 12_000",
        "send_buffer_bytes = 9_000",
        "timestamp_values = \"clock\"",
        "delayed_ack_every = 1",
        "delayed_ack_ms = 40",
        "ecn = \"ask\"",
        "nagle = true",
        "retransmission_marks = \"bits\"",
        "window_probe = \"empty\"",
        "fin_beyond_cwnd = true",
        "time_wait_s = 2",
    ]);
    text += &if impatient {
        dice.one(&["give_up_timeouts = 1\n", "user_timeout_s = 2\n", ""])
    } else {
        dice.some(&["give_up_timeouts = 3", "user_timeout_s = 6"])
    };
    if dice.once_in(3) {
        text += "[flow.answering_tcp]\n";
        text += &dice.some(&[
            "ecn = \"answer\"",
            "payload_bytes = 400",
            "delayed_ack_ms = 0",
            "sack = false",
            "nagle = true",
        ]);
    }
    let sender = |dice: &mut Dice| {
        let detect = dice.one(&["none", "eifel-timestamps", "f-rto", "min-rtt", "eifel-or-f-rto", "dual-rtt"]);
        let respond = dice.one(&["none", "rfc4015", "option-2", "rfc3708"]);
        let recover = dice.one(&["reno", "newreno", "reno-sack", "rfc6675", "rack-tlp", "fack"]);
        let congest = dice.one(&["reno", "cubic"]);
        let pace = dice.one(&["none", "pacing", "burst-pacer"]);
        format!(
            "detect = \"{detect}\"\nrespond = \"{respond}\"\nrecover = \"{recover}\"\ncongest = \"{congest}\"\npace = \"{pace}\"\n"
        ) + &dice.some(&["rto = \"linux\"", "observers = [\"f-rto\", \"min-rtt\"]"])
    };
    text += "[flow.sender]\n";
    text += &sender(dice);
    if dice.once_in(3) {
        text += "[flow.answering_sender]\nrto = { name = \"rfc6298\", minimum_ms = 400 }\nrecover = \"reno\"\n";
    }
    text
}

fn association(second: bool, turned: bool, impatient: bool, dice: &mut Dice) -> String {
    let mut text = "transport = \"sctp\"\n".to_owned();
    if second && dice.once_in(2) {
        let (from, to) = if turned { ("b2", "a2") } else { ("a2", "b2") };
        text += &format!("alternates = [{{ from = \"{from}\", to = \"{to}\" }}]\n");
    }
    text += "[flow.sctp]\n";
    let detect = dice.one(&["none", "min-rtt", "f-rto-sctp", "dsack", "eifel-cover-timestamps", "eifel-cover-bit"]);
    if detect == "eifel-cover-timestamps" {
        text += &dice
            .one(&["timestamp_chunk = \"agreed\"\n", "timestamp_chunk = \"always\"\ntimestamp_values = \"clock\"\n"]);
    }
    if detect == "eifel-cover-bit" {
        text += "retransmit_bit = true\n";
    }
    text += &dice.some(&[
        "pmtu_bytes = 700",
        "message_bytes = 150",
        "streams = 5",
        "unordered = true",
        "receive_window_bytes = 9_000",
        "send_buffer_bytes = 12_000",
        "sack_delay_ms = 20",
        "sack_every = 1",
        "nagle = true",
        "heartbeat_interval_s = 2",
    ]);
    text += &if impatient {
        let errors = dice.one(&["1", "2", "10"]);
        format!("association_max_retransmits = {errors}\npath_max_retransmits = {}\n", dice.one(&["1", "5"]))
    } else {
        dice.some(&["path_max_retransmits = 1", "association_max_retransmits = 4"])
    };
    if dice.once_in(3) {
        text += "[flow.answering_sctp]\n";
        text += &dice.some(&["sack_every = 3", "receive_window_bytes = 30_000", "heartbeat_interval_s = 3"]);
    }
    let respond = dice.one(&["none", "rfc4015", "partial-credit"]);
    text + &format!("[flow.sender]\ndetect = \"{detect}\"\nrespond = \"{respond}\"\n")
}

/// Draws additional flows of datagrams, over one link or two.
fn datagrams(dice: &mut Dice) -> String {
    let steady = "{ kind = \"cbr\", rate_bps = 120_000, packet_bytes = 200, jitter = 0.5 }";
    let bursts = "{ kind = \"on-off\", rate_bps = 500_000, packet_bytes = 300, on_ms = 200, off_ms = 700 }";
    let mut text = String::new();
    for (name, from) in [("near", "middle"), ("far", "c")] {
        for (kind, application) in [("steady", steady), ("bursts", bursts)] {
            if dice.once_in(2) {
                text += &format!("[[flow]]\nname = \"{name}-{kind}\"\nfrom = \"{from}\"\nto = \"b\"\n");
                text += &format!("application = {application}\n{}", dice.some(&["start_s = 1.5", "end_s = 9"]));
            }
        }
    }
    text
}
