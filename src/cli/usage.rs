//! What clap has to say about the arguments: help, version, or an error.

use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::ContextKind;

use super::telemetry::print_error;
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
    match wrong_number(&error) {
        Some(line) => print_error(&line, Exit::Usage),
        None => drop(error.print()),
    }
    Exit::Usage.into()
}

/// The line of a number that cannot be read, as that of one that is out of range.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let source = error.source()?;
    let text = |kind| error.get(kind).map(ToString::to_string);
    let option = text(ContextKind::InvalidArg)?;
    let option = option.split(' ').next()?;
    let kind = match source {
        _ if source.downcast_ref().map(ParseIntError::kind) == Some(&IntErrorKind::PosOverflow) => {
            "smaller"
        }
        _ if source.is::<ParseIntError>() => "a whole number, and not negative",
        _ if source.is::<ParseFloatError>() => "a number",
        _ => return None,
    };
    let value = text(ContextKind::InvalidValue)?;
    Some(format!("{option} is {value}; it must be {kind}"))
}

/// What is wrong with a command line, without its usage.
pub(super) fn reason(error: &clap::Error) -> String {
    if let Some(line) = wrong_number(error) {
        return line;
    }
    let text = error.render().to_string();
    let (message, _usage) = text.split_once("\n\n").unwrap_or((&text, ""));
    message.trim_start_matches("error: ").to_owned()
}
