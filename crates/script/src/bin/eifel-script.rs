//! Runs scripts without Python: `eifel-script FILE…`. The command `eifel script` does more.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut worst = 0;
    for file in std::env::args().skip(1) {
        let code = match std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}")) {
            Err(message) => refused(&message),
            Ok(text) => match eifel_script::parse(&text, &file) {
                Err(error) => refused(&error.to_string()),
                Ok(script) => {
                    let outcome = eifel_script::run(&script);
                    println!("{outcome}");
                    u8::from(!outcome.passed())
                }
            },
        };
        worst = worst.max(code);
    }
    ExitCode::from(worst)
}

fn refused(message: &str) -> u8 {
    eprintln!("{message}");
    2
}
