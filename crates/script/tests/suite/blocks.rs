//! Blocks between `%{` and `}%`: names, prints and messages.

use eifel_script::{Outcome, parse, run};

fn outcome(block: &str) -> Outcome {
    let open =
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n";
    run(&parse(&format!("--tolerance_usecs=0\n{open}+0 {block}"), "x.pkt").unwrap())
}

fn fails(block: &str) -> String {
    outcome(block).failure.unwrap().what
}

#[test]
fn a_variable_keeps_its_value_across_code_blocks() {
    assert!(outcome("%{ a = 0x10; b = a * 2\nb -= 1 }%\n+.1 %{ a += b\nassert a == 47 and b == 31 }%").passed());
    assert_eq!(fails("%{ a = 5 }%\n+0 %{ assert a == 6 }%"), "a == 6 does not hold: ");
    assert_eq!(fails("%{ a = 5 // 0 }%"), "this number cannot be computed");
    assert_eq!(fails("%{ assert 5 // 0 }%"), "5 // 0 does not hold: ");
    assert!(outcome("%{ assert 1 | 6 == 7 and 6 & 3 == 2 and 1 | 6 & 8 == 1 }%").passed());
    assert!(outcome("%{ assert 1 == 1 and \\\n2 == 2, 'a' ; \\\nassert 3 == 3 }%").passed());
}

#[test]
fn printed_output_is_shown_beside_its_block() {
    let outcome = outcome("%{ n = 7; print(n, 'of', tcpi_state)\nprint(\"%d%% of %s, %.2f\" % (n, state, 1)) }%");
    assert!(outcome.passed());
    let seen: Vec<_> = outcome.rows.last().unwrap().seen.iter().map(|seen| seen.text.as_str()).collect();
    assert_eq!(seen, ["tcpi_state = 2, state = 2", "7 of 2", "7% of 2, 1"]);
}

#[test]
fn a_failed_assertion_prints_its_message() {
    assert_eq!(
        fails("%{ assert tcpi_state == 9, 'state %d' % tcpi_state }%"),
        "tcpi_state == 9 does not hold: tcpi_state = 2 (state 2)"
    );
    assert_eq!(fails("%{ assert 0, (1, 'a') }%"), "0 does not hold:  (1 a)");
    // Python that cannot be read is no error.
    assert_eq!(
        fails("%{ assert 0, str(tcpi_state) + x.y[1:] }%"),
        "0 does not hold:  (str ( tcpi_state ) + x . y [ 1 : ])"
    );
    // A message ends with its line, unless a bracket is open.
    assert_eq!(
        fails("%{ assert 0, str((1) +\n 2) + x; print('more')\nassert 1 }%"),
        "0 does not hold:  (str ( ( 1 ) +  2 ) + x)"
    );
    assert_eq!(fails("%{ assert 1, str(2\n) ; assert 0, x) + y\nassert 0, 'b' }%"), "0 does not hold:  (x ) + y)");
}
