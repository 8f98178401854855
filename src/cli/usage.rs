//! What clap has to say about the arguments: help, version, or an error.

use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory};

use super::{Cli, Exit, stdout};

/// Prints help or an error of usage, and says how the program ends.
pub(super) fn exit(mut error: clap::Error) -> ExitCode {
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
    if let Some(variable) = variable_at_fault(&error) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    let _ = in_plain_words(error).print();
    Exit::Usage.into()
}

/// What is wrong with a command line, without its usage.
pub(super) fn reason(error: clap::Error) -> String {
    let text = in_plain_words(error).render().to_string();
    let (message, _usage) = text.split_once("\n\n").unwrap_or((&text, ""));
    message.trim_start_matches("error: ").to_owned()
}

/// The error without the words of Rust's number parsers.
fn in_plain_words(error: clap::Error) -> clap::Error {
    let source = error.source();
    let integer = source.and_then(|source| source.downcast_ref::<ParseIntError>());
    let reason = match integer.map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow) => "the number is too large",
        Some(IntErrorKind::Zero) => "it must be at least 1",
        Some(_) => "it must be a number without sign and decimals, such as 10",
        None if source.is_some_and(|source| source.is::<ParseFloatError>()) => {
            "it must be a number, such as 0.5"
        }
        None => return error,
    };
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let [value, option] = [ContextKind::InvalidValue, ContextKind::InvalidArg].map(context);
    let message = format!(
        "invalid value '{value}' for '{option}': {reason}\n\nFor more information, try '--help'.\n"
    );
    clap::Error::raw(error.kind(), message).with_cmd(&Cli::command())
}

/// The variable that a wrong value comes from, where the error names an option
/// that was not given.
fn variable_at_fault(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let flag = named.split(' ').next()?;
    let is_flag = |argument: OsString| {
        let argument = argument.to_string_lossy();
        argument.split('=').next() == Some(flag)
    };
    if std::env::args_os().any(is_flag) {
        return None;
    }
    variable_of(&Cli::command(), flag.strip_prefix("--")?)
}

/// The variable of an option, in this command or one below it.
fn variable_of(command: &Command, long: &str) -> Option<String> {
    let mut options = command.get_arguments();
    let own = options.find(|option| option.get_long() == Some(long) && option.get_env().is_some());
    let own = own.and_then(|option| Some(option.get_env()?.to_string_lossy().into_owned()));
    own.or_else(|| {
        let mut below = command.get_subcommands();
        below.find_map(|command| variable_of(command, long))
    })
}
