//! The command `script` of the program `eifel`.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Profile, parse_for, run};
use eifel_command::{BAD_INPUT, FAILED, OK, Options, Usage, unless_closed};
use serde_json::{Value, json};

const USAGE: &str = "\
Holds conversations with a connection, in packetdrill's grammar and virtual time.

usage: eifel script [OPTIONS] FILE|FOLDER ...

  FILE|FOLDER       scripts, or folders with *.pkt below them
  --profile NAME    the stack that the scripts were written for, where the RFCs leave it the choice: standard (the
                    default), linux or freebsd
  --json            print one JSON object

example: eifel script crates/script/scripts/rfc3522
";
/// The version of the output of `--json` (`docs/reference/schemas/script.json`).
const VERSION: u32 = 1;

/// Runs the command with its `words`, and returns the exit code: 1 if a script fails, and 2 if one is
/// refused. Outcomes go to `out`, and what is wrong to `err`.
pub fn main(words: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    // Standard error may be closed; then nobody can be told.
    let mut tell = |what: &dyn std::fmt::Display| _ = writeln!(err, "eifel: {what}");
    match scripts(words, out, &mut tell) {
        Ok(code) => code,
        Err(Usage(what)) => {
            tell(&what);
            BAD_INPUT
        }
    }
}

fn scripts(words: &[String], out: &mut dyn Write, tell: &mut dyn FnMut(&dyn std::fmt::Display)) -> Result<u8, Usage> {
    let Some(options) = Options::read(words, &["--profile"], &["--json"])? else {
        return Ok(written(out.write_all(USAGE.as_bytes()), tell));
    };
    let named = options.text("--profile").unwrap_or("standard");
    let Some(profile) = Profile::named(named) else {
        return Err(Usage(format!("--profile {named}: expected standard, linux or freebsd")));
    };
    if options.rest.is_empty() {
        return Err(Usage("script: no script; see --help".to_owned()));
    }
    let (mut outcomes, mut failed, mut refused) = (Vec::<Value>::new(), 0, 0);
    for file in found(&options.rest)? {
        let name = file.display().to_string();
        let read = std::fs::read(&file).map_err(|error| format!("{name}: {error}"));
        let text =
            read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| format!("{name}: not a text file in UTF-8")));
        let script = text.and_then(|text| parse_for(profile, &text, &name).map_err(|error| error.to_string()));
        let outcome = match script {
            Ok(script) => run(&script),
            Err(error) => {
                tell(&error);
                refused += 1;
                continue;
            }
        };
        failed += usize::from(!outcome.passed());
        if !options.has("--json") && !outcome.passed() && written(writeln!(out, "{outcome}"), tell) != OK {
            return Ok(FAILED);
        }
        outcomes.push(outcome.json());
    }
    let said = if options.has("--json") {
        // First the name and the version of the schema, as in every output of `--json`.
        let marks = format!("{{\n  \"schema\": \"script\",\n  \"version\": {VERSION},\n");
        format!("{:#}\n", json!({ "scripts": outcomes })).replacen("{\n", &marks, 1)
    } else {
        let part = |number: usize, what: &str| if number > 0 { format!(", {number} {what}") } else { String::new() };
        format!("{} passed{}{}\n", outcomes.len() - failed, part(failed, "failed"), part(refused, "refused"))
    };
    let told = written(out.write_all(said.as_bytes()), tell);
    Ok(match (told, refused, failed) {
        (OK, 0, 0) => OK,
        (OK, 0, _) => FAILED,
        (OK, ..) => BAD_INPUT,
        (told, ..) => told,
    })
}

/// Returns the exit code for an attempt to write to standard output.
fn written(result: std::io::Result<()>, tell: &mut dyn FnMut(&dyn std::fmt::Display)) -> u8 {
    match unless_closed(result) {
        Ok(()) => OK,
        Err(error) => {
            tell(&format!("standard output: {error}"));
            FAILED
        }
    }
}

/// Returns the scripts that files and folders name, each once, those of a folder in order.
fn found(paths: &[String]) -> Result<Vec<PathBuf>, Usage> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths.iter().map(Path::new) {
        let mut below = Vec::new();
        if path.is_dir() {
            collect(path, &mut below).map_err(|error| Usage(format!("{}: {error}", path.display())))?;
            below.sort();
            if below.is_empty() {
                return Err(Usage(format!("{}: no scripts there, their names end in .pkt", path.display())));
            }
        } else if path.exists() {
            below.push(path.to_owned());
        } else {
            return Err(Usage(format!("{}: No such file or folder", path.display())));
        }
        below.retain(|one| !found.contains(one));
        found.extend(below);
    }
    Ok(found)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|ending| ending == "pkt") {
            into.push(path);
        }
    }
    Ok(())
}
