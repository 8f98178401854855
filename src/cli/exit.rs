//! Exit codes, and the conversion of every error to one line and an exit code.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use finqa_core::error::{Kind, causes};
use finqa_core::text::single_spaced;
use finqa_report::output::OutputError;

use super::hints::Hinted;

/// The exit codes. They are public, so the README documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// A bug in this program.
    Bug,
    /// Wrong usage or configuration, or an output that cannot be written.
    Usage,
    /// Data that cannot be read, or that lack the requested records.
    Data,
    /// Some questions have no answer.
    Unanswered,
    /// The provider cannot be reached or refuses.
    Provider,
    /// A score is below a threshold of `--fail-under`, or a gate of `compare` has failed.
    BelowThreshold,
    /// A limit on cost or time was reached; can be resumed.
    BudgetReached,
    /// Stopped by the user; can be resumed.
    Interrupted,
}

impl Exit {
    /// The number that the process exits with.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Bug => 1,
            Self::Usage => 2,
            Self::Data => 3,
            Self::Unanswered => 4,
            Self::Provider => 5,
            Self::BelowThreshold => 6,
            Self::BudgetReached => 7,
            // Shells report a process that SIGINT ended as 128 + 2.
            Self::Interrupted => 130,
        }
    }
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Bug => Self::Bug,
            Kind::Usage => Self::Usage,
            Kind::Data => Self::Data,
            Kind::Provider => Self::Provider,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The reason why the program ends: the line to print, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: Exit,
    /// The line to print on stderr, without `error:`.
    pub message: String,
}

/// The one place where an error of a package becomes a line and an exit code.
impl<E: Hinted + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.kind().into(), error.line(one_line(&error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Failure {
    /// A failure with this exit code and this line.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
        }
    }

    /// A failure with [`Exit::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Turns an error that should not occur into a failure with [`Exit::Bug`]. `what` names the
    /// step that failed.
    pub fn bug<E: Error + 'static>(what: impl fmt::Display) -> impl FnOnce(E) -> Self {
        move |error| Self::new(Exit::Bug, one_line(&error)).within(what)
    }

    /// Puts `what` and a colon before the message.
    pub fn within(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

/// Turns the error of writing a file into a failure with a hint to `option`, which names the file.
/// The error's own hint is about `--output`, the folder with the runs.
pub(super) fn with_output_hint(option: &'static str) -> impl Fn(OutputError) -> Failure {
    move |error| match error {
        OutputError::Write { path, source } => {
            let path = path.display();
            let line = format!("cannot write {path}: {source}; choose another path with {option}");
            Failure::usage(line)
        }
        error => error.into(),
    }
}

/// An error and its causes, on one line. A cause is left out if its text is already in the line.
fn one_line(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    for cause in std::iter::once(error).chain(causes(error)) {
        let text = single_spaced(&cause.to_string());
        if !line.contains(&text) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
    }
    line
}
