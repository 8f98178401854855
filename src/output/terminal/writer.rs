//! Lines on stderr that do not tear a progress bar.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::style::harmless;

/// The options of the progress display.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProgressOptions {
    /// Every question with its answers and rounds.
    pub verbose: bool,
    /// No output at all.
    pub quiet: bool,
    /// Stderr is a terminal.
    pub terminal: bool,
    /// Stderr holds log lines and nothing else (`--log json`): no bar, and what
    /// would be said is logged.
    pub logged: bool,
}

/// Prints lines on stderr without breaking a progress bar.
#[derive(Clone, Debug)]
pub(crate) struct TerminalWriter {
    options: ProgressOptions,
    bar: ProgressBar,
}

impl TerminalWriter {
    /// A writer with a bar, which appears on a terminal once it has a length.
    pub(crate) fn new(options: ProgressOptions) -> Self {
        let target = if options.terminal && !options.quiet && !options.logged {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { options, bar }
    }

    /// The bar; lines are printed above it.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Like [`Self::bar`], with a template in indicatif's syntax.
    pub(crate) fn styled_bar(&self, template: &str) -> ProgressBar {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar()
    }

    /// Prints a line, unless `--quiet`.
    pub(crate) fn say(&self, line: &str) {
        if self.options.quiet {
        } else if self.options.logged {
            tracing::info!("{line}");
        } else {
            self.line(line);
        }
    }

    /// Prints a warning, even with `--quiet`.
    pub(crate) fn warn(&self, line: &str) {
        if self.options.logged {
            tracing::warn!("{line}");
        } else {
            self.line(line);
        }
    }

    /// Writes a line unchanged. A closed stderr does not stop the program.
    pub(crate) fn line(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr().lock(), "{}", harmless(line));
        });
    }
}
