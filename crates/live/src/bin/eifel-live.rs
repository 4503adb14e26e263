//! `eifel-live`: the commands of `eifel live`, without Python.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let program = std::env::current_exe().map_or_else(|_| "eifel-live".into(), OsString::from);
    ExitCode::from(eifel_live::command::main(&[program], &arguments, None))
}
