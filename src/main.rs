//! The `convfinqa` binary: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    convfinqa::cli::main()
}
