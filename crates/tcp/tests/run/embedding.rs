//! Runs the example that embeds a connection with its own device, and checks that it stays short.

use std::path::Path;
use std::process::Command;

#[test]
fn the_example_carries_its_megabyte_and_is_short() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embed.rs");
    let lines = std::fs::read_to_string(source).expect("the example is there").lines().count();
    assert!(lines < 150, "{lines} lines");
    let own = std::env::current_exe().expect("this test has a place");
    let example = own.ancestors().nth(2).expect("it is below the target folder").join("examples/embed");
    if !example.exists() {
        return eprintln!("SKIPPED: {} is not built: cargo build -p eifel-tcp --example embed", example.display());
    }
    let run = Command::new(example).output().expect("it runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.ends_with("\n1000000 bytes\n"), "{said}");
}
