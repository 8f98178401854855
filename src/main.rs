//! The `convfinqa` binary: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First, because building a TLS client panics without it.
    finqa_agents::llm::install_crypto();
    convfinqa::cli::main()
}
