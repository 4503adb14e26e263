//! Reading and running any text ends without a panic.

use eifel_script::{parse, run};
use proptest::prelude::*;

const PARTS: [&str; 56] = [
    "0 ",
    "+0 ",
    "+.1 ",
    "+5 ",
    "* ",
    "+0~+9 ",
    "< S 0:0(0) win 9999 <mss 1000,sackOK,TS val 5 ecr 0>\n",
    "> S. 0:0(0) ack 1 <...>\n",
    "< . 1:1(0) ack 1 win 9999\n",
    "< . 1:1(0) ack 1001 win 0\n",
    "< F. 1:1(0) ack 1 win 9\n",
    "< R. 1:1(0) ack 1 win 9\n",
    "< P. 1:1001(1000) ack 1 win 9999\n",
    "< P. 4294967290:704(710) ack 7 win 1 <nop,eol,mss 1>\n",
    "< . 1:1(0) ack 1 win 9999 <sack 1001:2001,nop,nop,TS val 9 ecr 7>\n",
    "> . 1:1001(1000) ack 1\n",
    "> P. 1:1001(1000) ack 1 <...>\n",
    "socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n",
    "bind(3, ..., ...) = 0\n",
    "listen(3, 1) = 0\n",
    "accept(3, ..., ...) = 4\n",
    "connect(3, ..., ...) = -1 EINPROGRESS (now)\n",
    "...9 connect(3, ..., ...) = 0\n",
    "write(4, ..., 9000) = 9000\n",
    "read(4, ..., 1000) = 1000\n",
    "...7 read(4, ..., 10) = 10\n",
    "close(4) = 0\n",
    "close(3) = 0\n",
    "shutdown(4, SHUT_WR) = 0\n",
    "setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 4) = 0\n",
    "getsockopt(4, SOL_SOCKET, SO_ERROR, [0], 4) = 0\n",
    "< icmp unreachable frag_needed mtu 0 [1:1(0)]\n",
    "< icmp unreachable port_unreachable [0:0(0)]\n",
    "setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n",
    "setsockopt(4, SOL_TCP, TCP_NODELAY, [0], 4) = 0\n",
    "setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [1], 4) = 0\n",
    "setsockopt(3, SOL_TCP, TCP_MAXSEG, [1], 4) = 0\n",
    "send(4, ..., 7, MSG_MORE) = 7\n",
    "recvmsg(4, {msg_iov(1)=[{..., 9}], msg_control=[{cmsg_type=TCP_CM_INQ, cmsg_data=0}]}, 0) = 9\n",
    "shutdown(4, SHUT_RD) = 0\n",
    "%{ a = cwnd; a += 1; a -= tcpi_lost; print('%d%%' % a, \"b\", x[1]) }%\n",
    "%{ assert tcpi_busy_time >= tcpi_rwnd_limited | 0, '%s of %d' % (a, 0x7f & -1) }%\n",
    "--mss=1\n",
    "%{ assert cwnd > 0 }%\n",
    "%{ assert not (flight + 1) // 0 == -cwnd % 3 or 1 < 2 < 3 }%\n",
    "//: recover = reno\n",
    "--tolerance_usecs=9\n",
    "\"",
    "}%",
    "%{",
    "((",
    "[[",
    "...",
    "\n",
    "é",
    "99999999999999999999 ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text: String) {
        if let Ok(script) = parse(&text, "any") {
            run(&script).json();
        }
    }

    #[test]
    fn random_script_fragments_never_panic(parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..40)) {
        if let Ok(script) = parse(&parts.concat(), "parts") {
            run(&script).to_string();
        }
    }

    #[test]
    fn conversations(
        settings in prop::collection::vec(prop::sample::select(&SETTINGS[..]), 0..4),
        parts in prop::collection::vec(
            (prop::sample::select(&PARTS[..6]), prop::sample::select(&PARTS[6..45])),
            0..30,
        ),
    ) {
        let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n";
        let begin = "+0 < S 0:0(0) win 9999 <mss 1000,sackOK,TS val 5 ecr 0>\n+0 > S. 0:0(0) ack 1 <...>\n";
        let talk: String = parts
            .iter()
            .map(|(time, what)| format!("{}{what}", if what.starts_with('>') { time } else { &"+.1 " }))
            .collect();
        if let Ok(script) = parse(&format!("{}{open}{begin}{talk}", settings.concat()), "talk") {
            run(&script).to_string();
        }
    }
}

const CHUNKS: [&str; 30] = [
    "< sctp: INIT[flgs=0, tag=1, a_rwnd=1500, os=1, is=1, tsn=4294967295]\n",
    "< sctp: INIT[flgs=0, tag=7, a_rwnd=1500, os=1, is=1, tsn=1, IPV4_ADDRESS[addr=10.0.0.1]]\n",
    "> sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=..., os=..., is=..., tsn=1, ...]\n",
    "> sctp: INIT[flgs=0, tag=2, a_rwnd=..., os=..., is=..., tsn=1, ...]\n",
    "< sctp: INIT_ACK[flgs=0, tag=2, a_rwnd=1500, os=1, is=1, tsn=1, STATE_COOKIE[len=4, val=...]]\n",
    "< sctp: COOKIE_ECHO[flgs=0, len=..., val=...]\n",
    "< sctp: COOKIE_ECHO[flgs=0, len=2, val=[]]\n",
    "< sctp: COOKIE_ACK[flgs=0]\n",
    "< sctp: DATA[flgs=BE, len=116, tsn=1, sid=0, ssn=0, ppid=0]\n",
    "< sctp: DATA[flgs=U, len=65535, tsn=4294967295, sid=0, ssn=0, ppid=0]\n",
    "< sctp: DATA[flgs=0, len=4, tsn=3, sid=9, ssn=0, ppid=0]; COOKIE_ACK[flgs=0]\n",
    "< sctp: SACK[flgs=0, cum_tsn=1, a_rwnd=0, gaps=[0:0, 5:2, 1:65535], dups=[7]]\n",
    "< sctp: SACK[flgs=0, cum_tsn=0, a_rwnd=1500, gaps=[2:3], dups=[]]\n",
    "< sctp: HEARTBEAT[flgs=0, HEARTBEAT_INFORMATION[len=9, val=...]]\n",
    "< sctp: HEARTBEAT_ACK[flgs=0, HEARTBEAT_INFORMATION[len=4, val=...]]\n",
    "< sctp: SHUTDOWN[flgs=0, cum_tsn=0]\n",
    "< sctp: SHUTDOWN_ACK[flgs=0]\n",
    "< sctp: SHUTDOWN_COMPLETE[flgs=T]\n",
    "< sctp: ABORT[flgs=T]\n",
    "< sctp: ERROR[flgs=0, STALE_COOKIE_ERROR[staleness=1]]\n",
    "< sctp: CHUNK[type=0x01, flgs=0, len=0, val=[0x01]]\n",
    "< sctp: FORWARD_TSN[cum_tsn=9, ids=[{0,65535}]]\n",
    "< sctp(bad_crc32c, tag=3): ;\n",
    "< sctp(tag=0): [0x01, 0x00, 0x00, 0x60]\n",
    "< icmp unreachable frag_needed mtu 0 [sctp(2)]\n",
    "connect(3, ..., ...) = -1 EINPROGRESS\n",
    "sctp_sendmsg(3, ..., 900000, ..., ..., 5, SCTP_UNORDERED, 0, 0, 0) = 900000\n",
    "write(3, ..., 1) = 1\n",
    "close(3) = 0\n",
    "* > sctp: ...\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn conversations_over_sctp(parts in prop::collection::vec(prop::sample::select(&CHUNKS[..]), 0..25), called: bool) {
        let begin = if called { "+0 listen(3, 1) = 0\n" } else { "" };
        let time = |part: &str| if part.starts_with(['>', '*']) { "+0 " } else { "+.3 " };
        let talk: String = parts
            .iter()
            .map(|part| if part.starts_with('*') { (*part).to_owned() } else { format!("{}{part}", time(part)) })
            .collect();
        if let Ok(script) = parse(&format!("0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n{begin}{talk}"), "talk") {
            run(&script).to_string();
        }
    }
}

/// Settings with extreme values.
const SETTINGS: [&str; 25] = [
    "//: mss = 1\n",
    "//: mss = 65535\n",
    "//: receive_window_bytes = 0\n",
    "//: receive_window_bytes = 4294967295\n",
    "//: window_scale = 14\n",
    "//: window_scale = off\n",
    "//: timestamps = off\n",
    "//: timestamp_offset = 4294967295\n",
    "--tcp_ts_tick_usecs=60000000\n",
    "//: sack = off\n",
    "//: ack_every = 0\n",
    "//: ack_delay_ms = 0\n",
    "//: nagle = on\n",
    "//: quick_acks = 1000000\n",
    "//: timestamps_required = off\n",
    "--mss=1\n",
    "//: time_wait_ms = 0\n",
    "//: timeouts = 0\n",
    "//: user_timeout_ms = 0\n",
    "//: challenge_acks = 0\n",
    "//: iss = 4294967295\n",
    "//: irs = 4294967295\n",
    "//: pace = pacing(slow_start_percent = 1)\n",
    "//: rto = rfc6298(initial_ms = 0.001, minimum_ms = 0, maximum_ms = 0.001)\n",
    "//: recover = reno(duplicate_threshold = 1)\n",
];

#[test]
fn nesting_beyond_the_limit_is_refused() {
    for (open, close) in [("(", ")"), ("-", ""), ("not ", "")] {
        let text = format!("0 %{{ assert {}1{} }}%", open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&text, "deep").is_err());
        let text = format!("0 %{{ assert {}1{} }}%", open.repeat(500), close.repeat(500));
        assert!(parse(&text, "deep").is_err());
    }
    assert!(parse(&format!("0 close({}3{}) = 0", "[".repeat(100_000), "]".repeat(100_000)), "deep").is_err());
    assert!(parse(&format!("0 close({}3) = 0", "a=".repeat(100_000)), "deep").is_err());
    let long = format!("0 %{{ assert {}1 }}%", "1 + ".repeat(900));
    assert!(parse(&long, "long").is_ok());
}

#[test]
fn a_peer_without_an_address_of_the_own_family_is_unreachable() {
    let call = "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n+0 connect(3, ..., ...) = -1 ENETUNREACH\n";
    let script = |peer: &str| format!("//: addresses = 10.0.0.1\n//: peer_addresses = {peer}\n{call}");
    assert_eq!(run(&parse(&script("fd00::1"), "x.pkt").unwrap()).failure, None);
    let reached = run(&parse(&script("10.0.0.2"), "x.pkt").unwrap());
    assert_eq!(reached.failure.unwrap().what, "the call returns -1 EINPROGRESS");
}
