//! The settings that a profile changes, and the lines of a script that it chooses.

use eifel_script::{Profile, parse, parse_for, run};

fn passes(profile: Profile, text: &str) -> bool {
    run(&parse_for(profile, text, "x.pkt").unwrap()).passed()
}

/// The SYNs of FreeBSD: 1440 bytes over IPv6, a shift of 6, and 200 ms more for every RTO but the first.
#[test]
fn the_freebsd_profile_sets_mss_window_scale_and_rexmit_slop() {
    let text = "
--ip_version=ipv6
--tolerance_usecs=0
0.00 `sysctl -w net.inet.tcp.rexmit_slop=200`
+0.00 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0.00 connect(3, ..., ...) = -1 EINPROGRESS
+0.00 > S 0:0(0) win 65535 <mss 1440,nop,wscale 6,sackOK,TS val 100 ecr 0>
+1.00 > S 0:0(0) win 65535 <mss 1440,nop,wscale 6,sackOK,TS val 1100 ecr 0>
+2.20 > S 0:0(0) win 65535 <mss 1440,nop,wscale 6,sackOK,TS val 3300 ecr 0>
+0.00 close(3) = 0
";
    assert!(passes(Profile::FreeBsd, text));
    assert!(!passes(Profile::Standard, text));
    let plain = text.replace("rexmit_slop=200", "rexmit_slop=0").replace("+2.20", "+2.00");
    assert!(passes(Profile::FreeBsd, &plain));
    let small = text.replace("rexmit_slop=200`", "rexmit_slop=200`\n+0 `sysctl -w kern.ipc.maxsockbuf=65535`");
    assert!(passes(Profile::FreeBsd, &small.replace("wscale 6", "wscale 0")));
}

/// Stacks differ where RFC 9260 leaves a choice. The standard profile accepts the behaviour of any
/// stack for which a script has lines.
#[test]
fn sctp_lines_for_one_stack_may_pass_for_another() {
    let with = |lines: &str| format!("0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n{lines}+0 close(3) = 0\n");
    // No socket has this number, so a reading with this line fails.
    let only_freebsd = with("#ifdef Linux\n+0 close(9) = 0\n#endif\n");
    let only_linux = with("#ifndef Linux\n+0 close(9) = 0\n#endif\n");
    assert!(passes(Profile::Standard, &only_freebsd) && passes(Profile::Standard, &only_linux));
    assert!(!passes(Profile::Standard, &with("+0 close(9) = 0\n")));
    assert!(passes(Profile::FreeBsd, &only_freebsd) && !passes(Profile::FreeBsd, &only_linux));
    assert!(passes(Profile::Linux, &only_linux) && !passes(Profile::Linux, &only_freebsd));
}

/// RFC 6458, section 8.2.1: the fields that a script names have to match, and no others matter.
#[test]
fn sctp_status_returns_the_requested_fields() {
    let script = |asked: &str| {
        format!(
            "//: tolerance_us = 0\n0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n+0 bind(3, ..., ...) = 0\n\
             +0 connect(3, ..., ...) = -1 EINPROGRESS\n\
             +0 > sctp: INIT[flgs=0, tag=1, a_rwnd=65536, os=..., is=..., tsn=1, ...]\n\
             +.1 < sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=100000, os=5, is=3, tsn=1, STATE_COOKIE[len=8, val=...]]\n\
             +0 > sctp: COOKIE_ECHO[flgs=0, len=8, val=...]\n+.1 < sctp: COOKIE_ACK[flgs=0]\n\
             +0 getsockopt(3, IPPROTO_SCTP, SCTP_STATUS, {{{asked}}}, 8) = 0\n"
        )
    };
    let outcome = |asked: &str| run(&parse(&script(asked), "x.pkt").unwrap());
    let (state, inbound, outbound) = ("sstat_state=SCTP_ESTABLISHED", "sstat_instrms=5", "sstat_outstrms=3");
    for right in [state, inbound, outbound, &format!("{state}, {inbound}, {outbound}")] {
        assert!(outcome(right).passed(), "{right}: {}", outcome(right));
    }
    for wrong in ["sstat_state=SCTP_CLOSED", "sstat_instrms=4", "sstat_outstrms=4"] {
        assert!(!outcome(wrong).passed(), "{wrong}");
    }
}

#[test]
fn an_empty_write_returns_zero() {
    let text = "
--tolerance_usecs=0
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 65535 <mss 1460,sackOK>
+0   > S. 0:0(0) ack 1 <...>
+.01 < . 1:1(0) ack 1 win 65535
+0   accept(3, ..., ...) = 4
+0   write(4, ..., 0) = 0
+0   write(4, ..., 1) = 1
+0   > P. 1:2(1) ack 1
";
    let outcome = run(&parse(text, "x.pkt").unwrap());
    assert!(outcome.passed(), "{outcome}");
    let refused = run(&parse(&text.replace(", 0) = 0\n+0   write", ", 0) = -1 EPIPE\n+0   write"), "x.pkt").unwrap());
    assert!(!refused.passed(), "{refused}");
}

/// The buffer of 65 536 bytes is 65 700 in whole segments. The window with 299 unread bytes is
/// announced to the byte, and every second segment of any size is acknowledged.
#[test]
fn the_freebsd_profile_rounds_the_buffer_and_acknowledges_every_second_segment() {
    let text = "
--tolerance_usecs=0
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 65535 <mss 1460,sackOK,eol,eol>
+0   > S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,eol,eol>
+.01 < . 1:1(0) ack 1 win 65535
+0   accept(3, ..., ...) = 4
+0   < . 1:100(99) ack 1 win 65535
+0   recv(4, ..., 1024, MSG_PEEK) = 99
+0   < . 100:300(200) ack 1 win 65535
+0   > . 1:1(0) ack 300 win 65401
+0   recv(4, ..., 1024, MSG_PEEK) = 299
+0   recv(4, ..., 100, MSG_PEEK) = 100
";
    assert!(passes(Profile::FreeBsd, text));
}

/// FreeBSD's ACKs repeat an unacknowledged FIN. This stack's ACKs begin after the FIN and are
/// accepted in their place; no other ACKs are.
#[test]
fn the_freebsd_profile_accepts_acks_without_a_repeated_fin() {
    let text = "
--tolerance_usecs=0
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 65535 <mss 1460,sackOK,eol,eol>
+0   > S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,eol,eol>
+.01 < . 1:1(0) ack 1 win 65535
+0   accept(3, ..., ...) = 4
+0   shutdown(4, SHUT_WR) = 0
+0   > F. 1:1(0) ack 1
+0   < . 1:100(99) ack 1 win 65535
+0   < . 100:300(200) ack 1 win 65535
+0   > F. 1:1(0) ack 300 win 65401
";
    assert!(passes(Profile::FreeBsd, text));
    for other in [". 1:1(0)", ". 1:2(1)", "F. 1:2(1)", "F. 0:0(0)"] {
        assert!(!passes(Profile::FreeBsd, &text.replace("F. 1:1(0) ack 300", &format!("{other} ack 300"))), "{other}");
    }
    let behind = text.replace("F. 1:1(0) ack 300", ". 2:2(0) ack 300");
    assert!(passes(Profile::FreeBsd, &behind));
}

#[test]
fn conditions_choose_lines() {
    let text = |lines: &str| format!("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n{lines}");
    let wrong = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
    for (profile, name) in [(Profile::Standard, "STANDARD"), (Profile::Linux, "Linux"), (Profile::FreeBsd, "FreeBSD")] {
        assert!(!passes(profile, &text(&format!("#ifdef {name}\n{wrong}#endif\n"))), "{name}");
        assert!(passes(profile, &text(&format!("#ifndef {name}\n{wrong}#endif\n"))), "{name}");
        assert!(passes(profile, &text(&format!("#ifdef {name}\n#else\n{wrong}#endif\n"))), "{name}");
        assert!(passes(profile, &text(&format!("#ifdef Plan9\n#ifdef {name}\n{wrong}#endif\n#endif\n"))), "{name}");
    }
    let after = parse(&text("#ifdef X\n#endif\n+0 jump(3) = 0"), "x.pkt").unwrap_err();
    assert_eq!(after.place.line, 4, "what is left out keeps its lines");
}

/// Shell lines: a comment, several values, `/proc` paths; and an unknown setting.
#[test]
fn shell_lines_set_sysctls_and_late_or_unknown_ones_are_noted() {
    let open = "
--tolerance_usecs=0
`../../common/defaults.sh
#A comment of the shell
../common/set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\
    net.ipv4.tcp_frobnicate=1  # net.ipv4.tcp_sack=0
ip route change 192.0.2.1 via 192.168.0.2 dev tun0 initcwnd 3`
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   connect(3, ..., ...) = -1 EINPROGRESS
+0   `sysctl -w net.ipv4.tcp_sack=0`
+0   > S 0:0(0) <mss 1460,sackOK,wscale 8>
+.1  < S. 0:0(0) ack 1 win 65535 <mss 1000,sackOK>
+0   > . 1:1(0) ack 1
+0   write(3, ..., 9000) = 9000
+0   > . 1:3001(3000) ack 1
+.1  < . 1:1(0) ack 2001 win 65535
+0   > . 3001:7001(4000) ack 1
+0   %{ print(\"cwnd\", tcpi_snd_cwnd); assert tcpi_snd_cwnd == 5, 'cwnd=%d (of %s)' % (tcpi_snd_cwnd, 5) }%
";
    let outcome = run(&parse_for(Profile::Linux, open, "x.pkt").unwrap());
    assert!(outcome.passed(), "{outcome}");
    let notes =
        [(3, "net.ipv4.tcp_frobnicate=1 has no effect here"), (10, "sysctl comes after the connection has begun")];
    assert_eq!(outcome.notes, notes.map(|(line, note)| (line, note.to_owned())));
}

/// A host that paces by `fq`: after the first ten segments, one segment leaves on an ACK, and the
/// next later.
#[test]
fn an_fq_qdisc_enables_pacing() {
    let text = "
`tc qdisc replace dev tun0 root fq
echo 0 > /sys/module/tcp_cubic/parameters/hystart_detect`
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 65535 <mss 1000>
+0   > S. 0:0(0) ack 1 <mss 1460>
+.1  < . 1:1(0) ack 1 win 65535
+0   accept(3, ..., ...) = 4
+0   write(4, ..., 12000) = 12000
+.1  < . 1:1(0) ack 5001 win 65535
+0   %{ assert nxt == 11001 }%
+.02 %{ assert nxt == 12001 }%
";
    assert!(passes(Profile::Linux, text));
    assert!(!passes(Profile::Linux, &text.replace(" fq", " pfifo")));
}
