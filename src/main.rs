//! The `convfinqa` binary. All of its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Called first, because building a TLS client panics without it.
    finqa_agents::llm::install_crypto();
    convfinqa::cli::main()
}
