//! The command line: arguments become plain options, one call each; hints,
//! colours and exit codes live here and nowhere below.

use std::process::ExitCode;

/// Runs the program; the exit code is documented in the README.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
