//! Reads captures with tshark.

use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The labels that Wireshark's sequence analysis gives to frames.
pub const ANALYSIS: [&str; 11] = [
    "retransmission",
    "fast_retransmission",
    "spurious_retransmission",
    "out_of_order",
    "lost_segment",
    "ack_lost_segment",
    "duplicate_ack",
    "zero_window",
    "zero_window_probe",
    "keep_alive",
    "window_full",
];

/// A frame as Wireshark understands it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub number: usize,
    pub t_ns: i64,
    /// Whether the end that opened the connection sent the frame.
    pub ours: bool,
    /// Sequence number, relative to the initial sequence number.
    pub seq: i64,
    /// Acknowledgement number, relative to the other end's initial sequence number.
    pub ack: i64,
    /// Bytes of payload, and one for a SYN or FIN.
    pub len: i64,
    pub has_ack: bool,
    pub window: i64,
    /// The frame's labels from [`ANALYSIS`].
    pub is: Vec<&'static str>,
}

impl Frame {
    pub fn is(&self, what: &str) -> bool {
        debug_assert!(ANALYSIS.contains(&what));
        self.is.contains(&what)
    }

    /// Returns whether Wireshark labels the frame as a segment that goes back in the sequence, for
    /// any reason.
    pub fn goes_back(&self) -> bool {
        ["retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order"]
            .iter()
            .any(|is| self.is(is))
    }
}

const FIELDS: [&str; 13] = [
    "frame.time_epoch",
    "tcp.srcport",
    "tcp.seq",
    "tcp.ack",
    "tcp.len",
    "tcp.flags",
    "tcp.window_size_value",
    "ip.checksum.status",
    "tcp.checksum.status",
    "_ws.malformed",
    "_ws.expert.severity",
    "_ws.expert.message",
    "frame.cap_len",
];

/// The port of the end that opens a connection.
pub const OPENER: &str = "49152";
const WARNING: u32 = 0x0060_0000;
/// Complaints that are allowed, because they concern the path and not our packets. The tests
/// compare them with the record. Wireshark also complains about a DSACK.
const RIGHT: [&str; 6] = [
    "D-SACK Sequence",
    "Previous segment(s) not captured (common at capture start)",
    "ACKed segment that wasn't captured (common at capture start)",
    "This frame is a (suspected) out-of-order segment",
    "TCP Zero Window segment",
    "TCP window specified by the receiver is now completely full",
];

/// Returns the frames of a capture. Panics if a frame is malformed or has a wrong checksum. Returns
/// `None`, and prints a loud line, if tshark is not installed.
pub fn dissect(name: &str, pcapng: &[u8]) -> Option<Vec<Frame>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
    std::fs::write(&path, pcapng).unwrap();
    let mut command = Command::new("tshark");
    // The user's own plugins and preferences may add complaints.
    command.env("HOME", env!("CARGO_TARGET_TMPDIR"));
    command.arg("-r").arg(&path).args(["-n", "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"]);
    for set in
        ["tcp.check_checksum", "ip.check_checksum", "tcp.analyze_sequence_numbers", "tcp.relative_sequence_numbers"]
    {
        command.args(["-o", &format!("{set}:TRUE")]);
    }
    for field in FIELDS {
        command.args(["-e", field]);
    }
    for analysis in ANALYSIS {
        command.args(["-e", &format!("tcp.analysis.{analysis}")]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // The test harness hides the output of print macros in a test that passes.
            let line =
                "\n*** SKIPPED: connections were not read by Wireshark's dissectors: tshark is not installed ***\n";
            let _ = std::io::stderr().write_all(line.as_bytes());
            return None;
        }
        Err(error) => panic!("tshark does not run: {error}"),
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !complaint.contains("appears"), "tshark: {complaint}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().enumerate().map(|(index, line)| frame(name, index + 1, line)).collect())
}

fn frame(name: &str, number: usize, line: &str) -> Frame {
    let fields: Vec<&str> = line.split('\t').collect();
    let [time, port, seq, ack, len, flags, window, ip_sum, tcp_sum, malformed, severities, messages, _] =
        fields[..FIELDS.len()].try_into().unwrap();
    // 1 is "good". The IPv6 header has no checksum.
    assert!(matches!(ip_sum, "1" | "") && tcp_sum == "1", "{name}: checksums of frame {number}: {line}");
    assert_eq!(malformed, "", "{name}: frame {number} is malformed");
    for (severity, message) in
        severities.split('|').zip(messages.split('|')).filter(|(severity, _)| !severity.is_empty())
    {
        let severe = severity.parse::<u32>().unwrap() >= WARNING;
        let right = RIGHT.contains(&message) || message.starts_with("Connection reset");
        assert!(!severe || right, "{name}: frame {number}: {message}");
    }
    let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap();
    let (fin, syn, has_ack) = (flags & 1, flags >> 1 & 1, flags & 0x10 != 0);
    let (secs, nanos) = time.split_once('.').unwrap();
    let integer = |text: &str| text.parse::<i64>().unwrap();
    let is = ANALYSIS.into_iter().zip(&fields[FIELDS.len()..]).filter(|(_, set)| !set.is_empty());
    Frame {
        number,
        t_ns: integer(secs) * 1_000_000_000 + integer(nanos),
        ours: port == OPENER,
        seq: integer(seq),
        ack: integer(ack),
        len: integer(len) + i64::from(fin + syn),
        has_ack,
        window: integer(window),
        is: is.map(|(analysis, _)| analysis).collect(),
    }
}
