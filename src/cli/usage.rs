//! What clap has to say about the arguments: help, version, or an error.

use std::process::ExitCode;

use super::{Exit, stdout};

/// Prints help or an error of usage, and says how the program ends.
pub(super) fn exit(error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // clap ignores a standard output that cannot be written.
        let printed = stdout::print(|_| error.print());
        return match printed {
            Ok(_) => Exit::Done.into(),
            Err(failure) => {
                super::note(format_args!("error: {failure}"));
                failure.exit.into()
            }
        };
    }
    let _ = error.print();
    Exit::Usage.into()
}

/// What is wrong with a command line, without its usage.
pub(super) fn reason(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let (message, _usage) = text.split_once("\n\n").unwrap_or((&text, ""));
    message.trim_start_matches("error: ").to_owned()
}
