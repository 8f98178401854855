//! When to use colours, and the width of the terminal.

use std::io::IsTerminal;

use console::Term;

use crate::output::terminal::TerminalStyle;

/// The choice of `--color`.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorChoice {
    // On a terminal, unless the environment says otherwise.
    Auto,
    // Into files and pipes too.
    Always,
    Never,
}

/// The style of stdout. Also sets the colours of stderr, of errors and the progress bar.
/// `console` knows `CLICOLOR` and `CLICOLOR_FORCE`, which `NO_COLOR` overrides here.
pub(crate) fn style(when: ColorChoice) -> TerminalStyle {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let forced = match when {
        ColorChoice::Always => Some(true),
        ColorChoice::Never => Some(false),
        ColorChoice::Auto => plain.then_some(false),
    };
    if let Some(forced) = forced {
        console::set_colors_enabled_stderr(forced);
    }
    let width = TerminalStyle::default().width;
    // A terminal that is narrower still gets what is laid out for 60 columns.
    let is_terminal = std::io::stdout().is_terminal();
    let columns = is_terminal.then(|| Term::stdout().size_checked()).flatten();
    TerminalStyle {
        width: columns.map_or(width, |(_, columns)| columns.max(60)),
    }
}
