//! The `convfinqa` binary: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything builds a TLS client, or building one panics.
    finqa_agents::llm::install_crypto();
    convfinqa::cli::main()
}
