//! Lines on stderr that do not tear a progress bar.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::style::{for_stderr, harmless, spaced};

/// What filters of log lines name, whichever package writes them.
const TARGET: &str = "convfinqa::output::terminal::writer";

/// The options of the progress display.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgressOptions {
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
pub struct TerminalWriter {
    options: ProgressOptions,
    /// Lines are printed above it.
    pub(super) bar: ProgressBar,
}

impl TerminalWriter {
    /// A writer with a bar, which appears on a terminal once it has a length.
    pub fn new(options: ProgressOptions) -> Self {
        let target = if options.terminal && !options.quiet && !options.logged {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { options, bar }
    }

    /// Prints a line, unless `--quiet`.
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
        match self.options.logged {
            true => tracing::warn!(target: TARGET, "{}", spaced(line)),
            false => self.line(&for_stderr(line)),
        }
    }

    /// Writes a line unchanged. A closed stderr does not stop the program.
    pub fn line(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr().lock(), "{}", harmless(line));
        });
    }
}

/// A writer whose bar shows a download by a template in indicatif's syntax.
pub fn download_bar(template: &str) -> (TerminalWriter, ProgressBar) {
    let writer = TerminalWriter::new(ProgressOptions {
        terminal: std::io::stderr().is_terminal(),
        ..ProgressOptions::default()
    });
    let bar = writer.bar.clone();
    set_template(&bar, template);
    (writer, bar)
}

pub(super) fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
}
