//! Prints lines on stderr without disturbing a progress bar.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::style::{for_stderr, harmless, spaced};

/// Target that log filters name. It differs from the module path, so that a filter still works
/// after code moves to another package.
const TARGET: &str = "convfinqa::output::terminal::writer";

/// Which lines are shown on stderr during a run, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgressOptions {
    /// True to show every question with its answers and rounds.
    pub verbose: bool,
    /// True to show only warnings.
    pub quiet: bool,
    /// True if stderr is a terminal.
    pub terminal: bool,
    /// True if stderr must hold only log lines (`--log json`). There is no bar then, and other
    /// lines are logged.
    pub logged: bool,
}

/// Prints lines on stderr without disturbing a progress bar.
#[derive(Clone, Debug)]
pub struct TerminalWriter {
    options: ProgressOptions,
    /// The bar above which the lines are printed.
    pub(super) bar: ProgressBar,
}

impl TerminalWriter {
    /// A writer with a bar. The bar is visible only on a terminal, and not with `--quiet` or `--log
    /// json`.
    pub fn new(options: ProgressOptions) -> Self {
        let target = if options.terminal && !options.quiet && !options.logged {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { options, bar }
    }

    /// Prints a line, but not with `--quiet`.
    pub fn say(&self, line: &str) {
        match self.options {
            ProgressOptions { quiet: true, .. } => {}
            ProgressOptions { logged: true, .. } => {
                tracing::info!(target: TARGET, "{}", spaced(line))
            }
            _ => self.line(&for_stderr(line)),
        }
    }

    /// Prints a warning, even with `--quiet`.
    pub fn warn(&self, line: &str) {
        if self.options.logged {
            tracing::warn!(target: TARGET, "{}", spaced(line));
        } else {
            self.line(&for_stderr(line));
        }
    }

    /// Writes a line without wrapping it. Control characters are escaped. A closed stderr does not
    /// stop the program.
    pub fn line(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr().lock(), "{}", harmless(line));
        });
    }
}

/// A writer, and its bar for a download. `template` is in indicatif's syntax.
pub fn download_bar(template: &str) -> (TerminalWriter, ProgressBar) {
    let writer = TerminalWriter::new(ProgressOptions {
        terminal: std::io::stderr().is_terminal(),
        ..ProgressOptions::default()
    });
    let bar = writer.bar.clone();
    set_template(&bar, template);
    (writer, bar)
}

/// Sets the layout of a bar. A template that cannot be read leaves the earlier layout.
pub(super) fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
}
