//! Text outside the language is refused in one line, with its place.

use eifel_script::parse;

const OPEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";

fn refusal(text: &str) -> String {
    parse(text, "x.pkt").unwrap_err().to_string()
}

#[test]
fn each_refusal_says_where_what_and_what_is_expected() {
    let cases = [
        ("", "x.pkt:1:1: the script ends too early; expected an event: a time, and what happens then"),
        ("--tolerance=5\n", "x.pkt:1:1: unknown option --tolerance; expected --tolerance_usecs, --mtu"),
        ("--mtu=0\n", "x.pkt:1:1: --mtu: this value is not allowed; expected --mtu= and a whole number, 1 to 131072"),
        (
            "--mtu=40\n0 close(3) = 0",
            "x.pkt:1:1: --mtu: this value is not allowed; expected more than the 40 bytes of headers",
        ),
        (
            "--ip_version=ipv6\n--mtu=60\n0 close(3) = 0",
            "x.pkt:2:1: --mtu: this value is not allowed; expected more than the 60",
        ),
        ("--ip_version=ipv5\n", "x.pkt:1:1: --ip_version: this value is not allowed; expected --ip_version=ipv4"),
        (
            "`sysctl -w net.ipv4.tcp_sack=2`",
            "x.pkt:1:1: net.ipv4.tcp_sack=2 is not allowed; expected a whole number up to 1",
        ),
        ("`ip route add x initcwnd many`", "x.pkt:1:1: a metric of many; expected a whole number, 1 to 1000000"),
        ("#ifdef\n", "x.pkt:1:1: a condition without a name; expected #ifdef NAME"),
        ("#ifdef X\n", "x.pkt:1:1: the condition has no end; expected #endif"),
        ("#endif\n", "x.pkt:1:1: \"#endif\" does not fit here; expected #ifdef NAME, #ifndef NAME"),
        ("//: mss = 0\n", "x.pkt:1:11: mss = 0 is not allowed; expected a whole number, 1 to 65535"),
        ("//:  speed = 3", "x.pkt:1:6: unknown setting \"speed\"; expected one of detect, observe, respond"),
        ("//: rto", "x.pkt:1:5: a setting without a value; expected //: KEY = VALUE"),
        ("//: recover = reno-sak", "x.pkt:1:15: recover = reno-sak is not allowed; expected one of reno, newreno"),
        (
            "//: rto = rfc6298(minimum = 5)",
            "x.pkt:1:11: rfc6298 has no parameter \"minimum\"; expected one of initial_ms, minimum_ms",
        ),
        (
            "//: rto = rfc6298(minimum_ms = -5)",
            "x.pkt:1:11: minimum_ms = -5 is not allowed; expected a time from 0 to 3600000 ms",
        ),
        ("//: timestamps = off\n//: timestamp_offset = 4", "x.pkt:2:5: timestamps are off; expected timestamps = on"),
        ("soon close(3) = 0", "x.pkt:1:1: \"soon\" does not fit here; expected a time in seconds"),
        ("-1 close(3) = 0", "x.pkt:1:1: \"-1\" does not fit here; expected a time in seconds"),
        ("0.1234567891 close(3) = 0", "x.pkt:1:1: \"0.1234567891\" does not fit here; expected a time"),
        ("99999999 close(3) = 0", "x.pkt:1:1: the script is too long; expected at most 400 days"),
        ("* close(3) = 0", "x.pkt:1:1: only packets that leave may have a range of times; expected a time"),
        ("0~1 < . 1:1(0) ack 1 win 5", "x.pkt:1:1: only packets that leave may have a range of times"),
        ("+2~+1 > . 1:1(0) ack 1", "x.pkt:1:2: the range of times is backwards; expected the earlier time first"),
        (
            "2 close(3) = 0\n1 close(3) = 0",
            "x.pkt:2:1: the times are not in order; expected a time not before the last event's",
        ),
        ("0 jump(3) = 0", "x.pkt:1:3: unknown call \"jump\"; expected one of socket, bind"),
        ("0 close(3)", "x.pkt:1:11: the script ends too early; expected \"=\""),
        ("0 close(...) = 0", "x.pkt:1:3: wrong arguments of close; expected the number of a socket"),
        ("0 write(3, ...) = 0", "x.pkt:1:3: wrong arguments of write; expected the number of bytes"),
        ("0 read(3, ..., 5) = -1", "x.pkt:1:21: -1 lacks the name of an error; expected -1 and the name of an error"),
        ("0...1 close(3) = 0", "x.pkt:1:7: close does not block; expected an end time on accept, connect"),
        (
            "0 setsockopt(3, SOL_TCP, TCP_QUICKACK, [1], 4) = 0",
            "x.pkt:1:3: unknown socket option \"TCP_QUICKACK\"; expected",
        ),
        ("0 < Q 0:0(0) win 5", "x.pkt:1:5: \"Q\" does not fit here; expected flags out of S, F, R, P, U, E, W, X, Y"),
        ("0 < S 0:5(4) win 5", "x.pkt:1:7: 0:5(4) does not add up; expected FIRST:END(END - FIRST)"),
        ("0 < S 0:0(0)", "x.pkt:1:13: the script ends too early; expected win and a number"),
        ("0 < S 0:0(0) win 65536", "x.pkt:1:18: \"65536\" does not fit here; expected the window field"),
        (
            "0 < . 1:1(0) ack 1 win 5 <...>",
            "x.pkt:1:31: the script ends too early; expected options: only packets that",
        ),
        ("0 > S 0:0(0) <md5>", "x.pkt:1:15: \"md5\" does not fit here; expected an option out of mss, wscale"),
        ("0 > S 0:0(0) <mss 5 nop>", "x.pkt:1:21: \"nop\" does not fit here; expected \",\" or \">\""),
        ("0 > . 1:1(0) ack 1 <TS 5>", "x.pkt:1:24: \"5\" does not fit here; expected val and a number"),
        (
            "0 > . 1:1(0) ack 1 <sack 1:2 3:4 5:6 7:8,TS val 1 ecr 2>",
            "x.pkt:1:21: the options take 44 bytes; expected at most 40",
        ),
        ("0 %{ cwnd == 5 }%", "x.pkt:1:6: \"cwnd\" does not fit here; expected assert EXPRESSION, print(…) or NAME ="),
        ("0 %{ assert cwnd = 5 }%", "x.pkt:1:18: \"=\" does not fit here; expected an operator or the end of the line"),
        ("0 %{ tcpi_rtt = 5 }%", "x.pkt:1:6: \"tcpi_rtt\" is a reserved name; expected another name"),
        ("0 %{ a += 5 }%", "x.pkt:1:6: \"a\" has no value yet; expected NAME = VALUE"),
        ("0 %{ a = b }%", "x.pkt:1:10: unknown variable \"b\"; expected one of tcpi_state"),
        ("0 %{ assert cwnd ? 5 }%", "x.pkt:1:18: \"?\" is not part of an assertion; expected assert EXPRESSION"),
        (
            "0 send(4, ..., 5, MSG_OOB) = 5",
            "x.pkt:1:3: unknown flag \"MSG_OOB\"; expected MSG_MORE, MSG_EOR, MSG_DONTWAIT",
        ),
        ("0 sendmsg(4, {}, 0) = 5", "x.pkt:1:3: wrong arguments of sendmsg; expected msg_iov(N)=[{..., bytes}"),
        ("0 writev(4, [{..., 5}, 6], 2) = 5", "x.pkt:1:3: wrong arguments of writev; expected [{..., bytes}"),
        (
            "0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [0], 4) = 0",
            "x.pkt:1:3: wrong arguments of setsockopt; expected [1 to",
        ),
        (
            "0 setsockopt(3, SOL_TCP, TCP_CORK, [2], 4) = 0",
            "x.pkt:1:3: wrong arguments of setsockopt; expected [a whole",
        ),
        (
            "0 < icmp echo [0:0(0)]",
            "x.pkt:1:10: \"echo\" does not fit here; expected one of unreachable, source_quench",
        ),
        (
            "0 < icmp unreachable port [0:0(0)]",
            "x.pkt:1:22: \"port\" does not fit here; expected one of net_unreachable",
        ),
        (
            "`tc qdisc add dev tun0 root netem`",
            "x.pkt:1:1: a queue of the operating system; expected pfifo without a limit",
        ),
        ("`echo 1 > /sys/module/tcp_cubic/parameters/hystart_detect`", "x.pkt:1:1: half of HyStart; expected 0, or 3"),
        (
            "`sysctl net.ipv4.tcp_mtu_probing=2`",
            "x.pkt:1:1: net.ipv4.tcp_mtu_probing=2 asks for probes of larger segments",
        ),
        ("0 %{ assert window == 5 }%", "x.pkt:1:13: unknown variable \"window\"; expected one of tcpi_state"),
        ("0 %{\nassert (cwnd\n== 5 }%", "x.pkt:3:6: the assertion ends here; expected \")\""),
        ("0 %{ }%", "x.pkt:1:5: the block is empty; expected assert EXPRESSION"),
        ("0 < \u{1b}[2J", "x.pkt:1:5: \"\\u{1b}\" is not part of the language"),
        ("/* open", "x.pkt:1:1: the comment has no end; expected \"*/\""),
    ];
    for (text, expected) in cases {
        let found = refusal(text);
        assert!(found.starts_with(expected), "{text:?}\n{found}\n{expected}");
        assert_eq!(found.lines().count(), 1, "{found:?}");
    }
    assert!(parse(OPEN, "x.pkt").is_ok());
}

#[test]
fn each_refusal_of_a_packet_over_sctp_says_where_what_and_what_is_expected() {
    let cases = [
        ("< sctp: DTA[flgs=0]", "x.pkt:2:11: \"DTA\" does not fit here; expected one of DATA, INIT, INIT_ACK"),
        ("< sctp: COOKIE_ACK[tag=0]", "x.pkt:2:22: \"tag\" does not fit here; expected flgs= of COOKIE_ACK"),
        ("< sctp: COOKIE_ACK[flgs=0", "x.pkt:2:28: the script ends too early; expected \"]\""),
        ("< sctp: COOKIE_ACK[flgs=256]", "x.pkt:2:27: \"256\" does not fit here; expected the flags"),
        ("< sctp: ABORT[flgs=Q]", "x.pkt:2:22: \"Q\" does not fit here; expected a number, or flags out of \"T\""),
        (
            "< sctp: SHUTDOWN[flgs=0, cum_tsn=...]",
            "x.pkt:2:5: a packet that arrives has an unspecified field; expected a",
        ),
        ("< sctp: INIT[flgs=0, tag=1, a_rwnd=1, os=1, is=1, tsn=1, ...]", "x.pkt:2:5: a packet that arrives has an"),
        (
            "< sctp: INIT[flgs=0, tag=1, a_rwnd=1, os=1, is=1, tsn=1, HOSTNAME_ADDRESS[addr=5]]",
            "x.pkt:2:82: \"5\" does not fit here; expected a text in quotation marks",
        ),
        ("> sctp(tag): COOKIE_ACK[flgs=0]", "x.pkt:2:13: \")\" does not fit here; expected \"=\""),
        ("> sctp(seed=5): COOKIE_ACK[flgs=0]", "x.pkt:2:10: \"seed\" does not fit here; expected tag=N or bad_crc32c"),
        (
            "> 10.0.0 > 10.0.0.1 sctp: COOKIE_ACK[flgs=0]",
            "x.pkt:2:5: \"10.0.0\" is not an address; expected an address",
        ),
        ("> S 0:0(0)", "x.pkt:2:5: \"S 0:0\" is not an address; expected an address and its packet"),
        ("< icmp unreachable whatever [sctp(1)]", "x.pkt:2:22: \"whatever\" does not fit here; expected unreachable"),
        ("< sctp: [0x100]", "x.pkt:2:12: \"0x100\" does not fit here; expected a byte"),
        ("setsockopt(3, IPPROTO_SCTP, SCTP_AUTH_KEY, {}, 4) = 0", "x.pkt:2:3: unknown socket option \"SCTP_AUTH_KEY\""),
        ("setsockopt(3, IPPROTO_SCTP, SCTP_RTOINFO, {srto_min=-5}, 4) = 0", "x.pkt:2:3: wrong arguments of setsockopt"),
        ("sctp_sendmsg(3, ..., 5) = 5", "x.pkt:2:3: wrong arguments of sctp_sendmsg; expected sctp_sendmsg("),
        ("%{ assert tcpi_rto == 1 }%", "x.pkt:2:13: unknown variable \"tcpi_rto\"; expected one of state, paths"),
        (
            "sctp_sendmsg(3, ..., 500, ..., ..., 0, SCTP_PR_SCTP_TTL, 0, SOON, 0) = 500",
            "x.pkt:2:3: wrong arguments of sctp_sendmsg; expected with SCTP_PR_SCTP_TTL a lifetime in milliseconds",
        ),
        (
            "sctp_sendmsg(3, ..., 500, ..., ..., 0, SCTP_UNORDERED|SCTP_PR_SCTP_RTX, 0, 3, 0) = 500",
            "x.pkt:2:3: SCTP_PR_SCTP_RTX asks for partial reliability by another rule than a lifetime; expected SCTP_",
        ),
    ];
    for (text, expected) in cases {
        let found = refusal(&format!("0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n0 {text}"));
        assert!(found.starts_with(expected), "{text:?}\n{found}\n{expected}");
        assert_eq!(found.lines().count(), 1, "{found:?}");
    }
    let nested = "UNRECOGNIZED_CHUNK_TYPE[chk=ERROR[flgs=0, ".repeat(100_000);
    let deep = format!("0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n0 > sctp: ERROR[flgs=0, {nested}");
    assert!(parse(&deep, "x").is_err());
}

#[test]
fn calls_that_concern_only_an_operating_system_are_skipped() {
    let text = "--ip_version=ipv4 --tolerance_percent=5\n`sysctl -q x=1`\n//: mss = 500\n0 `ls`\n+0 socket(..., SOCK_STREAM, \
                IPPROTO_TCP) = 3\n+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n+0 fcntl(3, F_GETFL) = 0x2 \
                (flags O_RDWR)\n`cleanup`\n";
    let script = parse(text, "x.pkt").unwrap();
    assert_eq!(script.settings().mss, 500);
}
