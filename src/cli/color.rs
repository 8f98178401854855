//! When to use colours, and the width of the terminal.

use std::io::IsTerminal;

use console::Term;

use finqa_report::output::terminal::TerminalStyle;

/// The style of stdout. Also sets the colours of stderr, of errors and the progress bar.
/// `console` knows `CLICOLOR` and `CLICOLOR_FORCE`, which `NO_COLOR` overrides here.
pub(crate) fn style() -> TerminalStyle {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        console::set_colors_enabled_stderr(false);
    }
    let width = TerminalStyle::default().width;
    // A terminal that is narrower still gets what is laid out for 60 columns.
    let is_terminal = std::io::stdout().is_terminal();
    let columns = is_terminal.then(|| Term::stdout().size_checked()).flatten();
    TerminalStyle {
        width: columns.map_or(width, |(_, columns)| columns.max(60)),
    }
}
