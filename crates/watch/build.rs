//! Compiles the BPF programs where there is a clang. Without one the crate builds all the same, and
//! says what is missing when it is asked to watch.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const NAMES: [&str; 2] = ["watch", "undo"];

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=EIFEL_CLANG");
    println!("cargo:rustc-check-cfg=cfg(has_programs)");
    let clang = env::var("EIFEL_CLANG").unwrap_or_else(|_| "clang".to_owned());
    if NAMES.iter().all(|name| compile(&clang, name)) {
        println!("cargo:rustc-cfg=has_programs");
    }
}

/// Returns whether there is an object of this name now.
fn compile(clang: &str, name: &str) -> bool {
    let source = format!("bpf/{name}.bpf.c");
    let object = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}.o"));
    // `-g` writes the types by which the loader finds the fields of the running kernel.
    let compile = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c", &source, "-o"])
        .arg(&object)
        .output();
    match compile {
        Ok(output) if output.status.success() => {
            // The loader needs none of the debugger's sections, which are half of the object.
            let strip = env::var("EIFEL_LLVM_STRIP").unwrap_or_else(|_| "llvm-strip".to_owned());
            let _ = Command::new(strip).arg("-g").arg(&object).output();
            true
        }
        Ok(output) => {
            println!(
                "cargo:warning={clang} does not compile {source}: `eifel watch` and `eifel live undo` are not built"
            );
            for line in String::from_utf8_lossy(&output.stderr).lines() {
                println!("cargo:warning={line}");
            }
            false
        }
        Err(_) => false,
    }
}
