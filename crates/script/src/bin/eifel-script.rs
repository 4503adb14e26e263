//! Runs scripts without Python: `eifel-script [--profile NAME] FILE…`. The command `eifel script` does more.

use std::io::Write;
use std::process::ExitCode;

use eifel_script::Profile;

fn main() -> ExitCode {
    let mut worst = 0;
    let mut profile = Profile::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(file) = arguments.next() {
        if file == "--profile" {
            match arguments.next().as_deref().and_then(Profile::named) {
                Some(named) => profile = named,
                None => return ExitCode::from(refused("--profile: expected standard, linux or freebsd")),
            }
            continue;
        }
        let code = match std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}")) {
            Err(message) => refused(&message),
            Ok(text) => match eifel_script::parse_for(profile, &text, &file) {
                Err(error) => refused(&error.to_string()),
                Ok(script) => {
                    let outcome = eifel_script::run(&script);
                    // The reader of the output may have closed it.
                    _ = writeln!(std::io::stdout(), "{outcome}");
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
