//! Prints clap's result for arguments that start no command: help, version, or an error.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Exit, stdout};

/// Prints help, version or an error. Returns the exit code.
pub(super) fn exit(error: clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Not `error.exit`, which ignores errors of writing to standard output.
        let printed = stdout::print(|_| error.print());
        return match printed {
            Ok(_) => Exit::Done.into(),
            Err(failure) => {
                super::note(format_args!("error: {failure}"));
                failure.exit.into()
            }
        };
    }
    // With a closed stderr, only the exit code can tell.
    let _ = error.print();
    Exit::Usage.into()
}

/// Rewords two kinds of errors for users: a number that Rust's parser refused, and an unknown word
/// that clap takes for a subcommand.
pub(super) fn in_words(error: clap::Error) -> clap::Error {
    let (text, kind) = (error.render().to_string(), error.kind());
    let conflict = error.get(ContextKind::InvalidSubcommand);
    if let (ErrorKind::ArgumentConflict, Some(ContextValue::String(name))) = (kind, conflict)
        && super::command().find_subcommand(name).is_none()
    {
        let hint = if name == "sample" || std::path::Path::new(name).exists() {
            format!("; did you mean `--data-path {name}`?")
        } else {
            "; `--help` lists the commands".to_owned()
        };
        let text = format!("unrecognized `{name}`{hint}\n");
        return clap::Error::raw(ErrorKind::InvalidSubcommand, text);
    }
    let faults = [
        (
            "invalid digit found in string", "give a whole number, such as 10",
        ),
        ("invalid float literal", "give a number, such as 0.5"),
    ];
    let mut faults = faults.into_iter();
    let Some((fault, words)) = faults.find(|(fault, _)| text.contains(fault)) else {
        return error;
    };
    let text = text.trim_start_matches("error: ").replace(fault, words);
    clap::Error::raw(kind, text)
}

/// The message of a usage error, without the usage text.
pub(super) fn reason(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let (message, _usage) = text.split_once("\n\n").unwrap_or((&text, ""));
    message.trim_start_matches("error: ").trim_end().to_owned()
}
