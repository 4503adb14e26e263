//! A script that fails reports the line, and shows the conversation that took place.

use eifel_script::{Outcome, parse, run};

const OPEN: &str = "//: tolerance_us = 0
//: timestamps = off
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 10000 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.1 < . 1:1(0) ack 1 win 10000
+0 accept(3, ..., ...) = 4
";

fn outcome(rest: &str) -> Outcome {
    run(&parse(&format!("{OPEN}{rest}"), "x.pkt").unwrap())
}

/// Returns the failing line and its message.
fn failure(rest: &str) -> (u32, String) {
    let failure = outcome(rest).failure.unwrap();
    (failure.line, failure.what)
}

fn at(line: u32, what: &str) -> (u32, String) {
    (line, what.to_owned())
}

#[test]
fn each_kind_of_failure_is_named() {
    assert_eq!(failure("+1 > . 1:1(0) ack 1"), at(10, "nothing leaves"));
    assert_eq!(failure("+0 write(4, ..., 5) = 6"), at(10, "the call returns 5"));
    assert_eq!(failure("+0 read(4, ..., 5) = 6"), at(10, "the call returns -1 EAGAIN"));
    assert_eq!(failure("+0 read(5, ..., 5) = 6"), at(10, "the call returns -1 EBADF"));
    assert_eq!(failure("+0...1 read(4, ..., 5) = 5"), at(10, "the call has not returned"));
    assert_eq!(
        failure("+0...1 read(4, ..., 5) = 5\n+.5 < P. 1:6(5) ack 1 win 10000"),
        at(10, "the call returns at 0.6 s, not at 1.1 s")
    );
    assert_eq!(
        failure("+0 write(4, ..., 5) = 5\n+0 > P. 1:7(6) ack 1"),
        at(11, "a different packet leaves: its length is 5, not 6")
    );
    assert_eq!(
        failure("+0 write(4, ..., 5) = 5\n+0 > F. 2:7(5) ack 2 win 7 <nop>"),
        at(
            11,
            "a different packet leaves: its flags is P., not F.; its first sequence number is 1, not 2; ack is 1, not 2; \
             win is 65535, not 7; the list of options is <>, not <nop>"
        )
    );
    assert_eq!(failure("+0 write(4, ..., 5) = 5\n+.1 > P. 1:6(5) ack 1"), at(11, "the packet leaves at 0.1 s"));
    assert_eq!(
        failure("+0 write(4, ..., 5) = 5\n+0 %{ assert flight == 5\nassert cwnd > flight * 9999 }%"),
        at(12, "cwnd > flight * 9999 does not hold: flight = 5, cwnd = 10000")
    );
    assert_eq!(
        failure("+0 write(4, ..., 5) = 5\n+0 %{ assert 4 == flight }%"),
        at(11, "4 == flight does not hold: flight = 5")
    );
    assert_eq!(
        failure("+0 write(4, ..., 5) = 5"),
        at(10, "the script ends without this packet: P. 1:6(5) ack 1 win 65535")
    );
    assert_eq!(failure("* > . 1:1(0) ack 1"), at(10, "nothing leaves"));
}

#[test]
fn an_error_says_that_a_time_has_passed() {
    let text = "+0 write(4, ..., 5) = 5\n+0 > P. 1:6(5) ack 1\n* > P. 1:6(5) ack 1\n0.5 close(4) = 0";
    assert_eq!(failure(text), at(13, "this time has already passed"));
}

#[test]
fn an_endless_script_is_aborted() {
    let text = format!("//: congest = reno(initial_window_segments = 1000000)\n{OPEN}");
    let text = text.replace("<mss 1000>", "<mss 1000,nop,wscale 14>").replace("<mss 1460>", "<...>");
    let text = text.replace("win 10000", "win 65535") + "+0 write(4, ..., 1000000000) = 1000000000";
    let failure = run(&parse(&text, "x.pkt").unwrap()).failure.unwrap();
    assert_eq!(failure.what, "the script exceeds the limit of segments and timers; it may never end");
}

#[test]
fn tolerances_ranges_and_wildcards_follow_packetdrill() {
    let sent = "+0 write(4, ..., 5) = 5\n+0 > P. 1:6(5) ack 1\n";
    // Retransmissions leave 1 s after the first transmission, and then 2 s later. After a range,
    // relative times count from the packet's departure.
    assert!(outcome(&format!("{sent}+.9~+1.1 > P. 1:6(5) ack 1\n+2 > P. 1:6(5) ack 1")).passed());
    assert!(outcome(&format!("{sent}1~1.2 > P. 1:6(5) ack 1")).passed());
    assert!(outcome(&format!("{sent}* > P. 1:6(5) ack 1\n+2 > P. 1:6(5) ack 1")).passed());
    assert!(!outcome(&format!("{sent}+.9 > P. 1:6(5) ack 1")).passed());
    let passes = |tolerance: &str, at: &str| {
        let text = format!("{OPEN}{sent}+{at} > P. 1:6(5) ack 1").replace("//: tolerance_us = 0", tolerance);
        run(&parse(&text, "x.pkt").unwrap()).passed()
    };
    assert!(passes("--tolerance_usecs=100000", ".9") && !passes("--tolerance_usecs=99999", ".9"));
    // packetdrill's default is 4 ms.
    assert!(passes("", "1.004") && !passes("", "1.004001"));
}

/// The retransmission leaves at 1.1 s, and the script expects it 50 ms earlier.
#[test]
fn relative_times_after_a_late_packet_count_from_the_scripted_time() {
    let late = format!("{OPEN}+0 write(4, ..., 5) = 5\n+0 > P. 1:6(5) ack 1\n+.95 > P. 1:6(5) ack 1\n");
    let rest = "1.06 write(4, ..., 5) = 5\n+.1 write(4, ..., 5) = 5";
    let text = format!("{late}{rest}").replace("//: tolerance_us = 0", "//: tolerance_us = 100000");
    let rows = run(&parse(&text, "x.pkt").unwrap()).rows;
    let last: Vec<_> = rows[rows.len() - 2..].iter().map(|row| (row.due.unwrap().0, row.seen[0].at)).collect();
    let millis = |at: u64| eifel_base::time::Instant::from_nanos(at * 1_000_000);
    assert_eq!(last, [(millis(1060), millis(1100)), (millis(1160), millis(1160))]);
    let text = format!("{late}+.1 write(4, ..., 5) = 5").replace("//: tolerance_us = 0", "//: tolerance_us = 100000");
    let rows = run(&parse(&text, "x.pkt").unwrap()).rows;
    assert_eq!(rows[rows.len() - 1].due.unwrap().0, millis(1150), "0.1 s, 0.95 s and 0.1 s");
}

#[test]
fn a_packet_line_matches_several_segments_unless_strict() {
    let sent = "+0 write(4, ..., 3000) = 3000\n+0 > P. 1:3001(3000) ack 1";
    assert!(outcome(sent).passed());
    let strict = format!("--strict_segments\n{OPEN}{sent}");
    assert!(!run(&parse(&strict, "x.pkt").unwrap()).passed());
}

#[test]
fn the_ladder_marks_the_line_and_shows_both_sides() {
    let shown =
        outcome("+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n+2 > P. 1:1001(1000) ack 1").to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "FAILED x.pkt:12: the packet leaves at 1.1 s");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["line", "time", "s", "expected", "time", "s", "seen"]);
    assert_eq!(
        lines.last().unwrap().split_whitespace().collect::<Vec<_>>().join(" "),
        ">> 12 2.100 > P. 1:1001(1000) ack 1 1.100 > P. 1:1001(1000) ack 1 win 65535"
    );
}

#[test]
fn the_json_report_holds_line_failure_and_due_times() {
    let json = outcome("+1 > . 1:1(0) ack 1").json();
    assert_eq!(json["passed"], false);
    assert_eq!(json["failure"]["line"], 10);
    assert_eq!(json["rows"][7]["failed"], true);
    assert_eq!(json["rows"][7]["due_s"], serde_json::json!([1.1, 1.1]));
    assert_eq!(outcome("* > . 1:1(0) ack 1").json()["rows"][7]["due_s"], serde_json::json!([0.0, null]));
}

/// Runs a conversation whose timestamps count milliseconds from 0. They are compared if `ticks`
/// says so.
fn stamped(ticks: &str, tolerance_us: u32, value: u32, echo: u32) -> Option<String> {
    let text = format!(
        "{ticks}//: tolerance_us = {tolerance_us}
//: sack = off
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 10000 <mss 1012,nop,nop,TS val 1000 ecr 0>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,TS val 0 ecr 1000>
+.1 < . 1:1(0) ack 1 win 10000 <nop,nop,TS val 1100 ecr 0>
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 5) = 5
+0 > P. 1:6(5) ack 1 <nop,nop,TS val {value} ecr {echo}>
"
    );
    run(&parse(&text, "x.pkt").unwrap()).failure.map(|failure| failure.what)
}

#[test]
fn timestamps_are_compared_only_if_their_tick_is_given() {
    let ticks = "--tcp_ts_tick_usecs=1000\n";
    let differs = |value, echo| {
        let (seen, wanted) = ("<nop,nop,TS val 100 ecr 1100>", format!("<nop,nop,TS val {value} ecr {echo}>"));
        Some(format!("a different packet leaves: the list of options is {seen}, not {wanted}"))
    };
    assert_eq!(stamped(ticks, 0, 100, 1100), None);
    for value in [99, 101] {
        assert_eq!(stamped(ticks, 0, value, 1100), differs(value, 1100));
    }
    assert_eq!(stamped(ticks, 0, 100, 1101), differs(100, 1101), "the echo is compared too");
    // A tolerance of 2 ms is one of two ticks.
    assert_eq!([98, 102].map(|value| stamped(ticks, 2000, value, 1100)), [None, None]);
    assert_eq!(stamped(ticks, 2000, 103, 1100), differs(103, 1100));
    // Without a tick a value only identifies its segment, but the echo is still compared.
    assert_eq!(stamped("", 0, 777, 1100), None);
    assert!(stamped("", 0, 100, 1101).is_some());
}

#[test]
fn a_missing_psh_is_tolerated_and_an_extra_one_is_not() {
    // The second of two segments is pushed, the first is not.
    let sent = "--strict_segments\n".to_owned() + OPEN + "+0 write(4, ..., 2000) = 2000\n";
    let judged = |first: &str, second: &str| {
        let text = format!("{sent}+0 > {first} 1:1001(1000) ack 1\n+0 > {second} 1001:2001(1000) ack 1");
        run(&parse(&text, "x.pkt").unwrap()).failure.map(|failure| failure.what)
    };
    assert_eq!([judged(".", "P."), judged("P.", "P.")], [None, None]);
    let wrong = "a different packet leaves: its flags is P., not .";
    assert_eq!(judged(".", "."), Some(wrong.to_owned()));
}

#[test]
fn a_packet_line_for_several_segments_ends_at_its_stated_byte() {
    let sent = "+0 write(4, ..., 3000) = 3000\n";
    assert!(outcome(&format!("{sent}+0 > . 1:2001(2000) ack 1\n+0 > P. 2001:3001(1000) ack 1")).passed());
    assert_eq!(
        failure(&format!("{sent}+0 > P. 1:2501(2500) ack 1")),
        at(11, "a different packet leaves: its length is 3000, not 2500")
    );
    // Segments that leave at another time are another packet.
    let window = OPEN.replace("1:1(0) ack 1 win 10000", "1:1(0) ack 1 win 2000");
    let more = "+.1 < . 1:1(0) ack 1 win 10000\n";
    let late = format!("{window}{sent}+0 > . 1:2001(2000) ack 1\n{more}+0 > P. 2001:3001(1000) ack 1");
    assert!(run(&parse(&late, "x.pkt").unwrap()).passed());
    let together = format!("{window}{sent}{more}+0 > P. 1:3001(3000) ack 1");
    assert!(!run(&parse(&together, "x.pkt").unwrap()).passed());
}

const OPEN_SCTP: &str = "//: tolerance_us = 0
0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3
+0 bind(3, ..., ...) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS
+0 > sctp: INIT[flgs=0, tag=1, a_rwnd=65536, os=16, is=2048, tsn=1, ...]
+.1 < sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=100000, os=2, is=2, tsn=1, STATE_COOKIE[len=8, val=...]]
+0 > sctp: COOKIE_ECHO[flgs=0, len=8, val=...]
+.1 < sctp: COOKIE_ACK[flgs=0]
+0 write(3, ..., 100) = 100
";

#[test]
fn chunks_that_differ_are_named_with_their_fields_and_flags() {
    let failure = |line: &str| run(&parse(&format!("{OPEN_SCTP}{line}"), "x.pkt").unwrap()).failure.unwrap().what;
    let data = "DATA[flgs=BE, len=116, tsn=1, sid=0, ssn=0, ppid=0]";
    for (line, what) in [
        (
            "+0 > sctp: DATA[flgs=B, len=116, tsn=1, sid=0, ssn=0, ppid=0]",
            "a different packet leaves: flgs of DATA is BE, not B",
        ),
        (
            "+0 > sctp: DATA[flgs=0x83, len=116, tsn=1, sid=0, ssn=0, ppid=0]",
            "a different packet leaves: flgs of DATA is BE, not 131",
        ),
        ("+0 > sctp: COOKIE_ACK[flgs=0]", "a different packet leaves: DATA instead of COOKIE_ACK"),
        (&format!("+0 > sctp: {data}; {data}"), "a different packet leaves: it has 1 chunks, not 2"),
    ] {
        assert_eq!(failure(line), what);
    }
}
