//! Decides whether colours are used and how wide text is.

use std::io::IsTerminal;

use console::Term;

use finqa_report::output::terminal::TerminalStyle;

/// The style of text on stdout. If `NO_COLOR` is set, also turns off the colours on stderr: it
/// overrides `CLICOLOR` and `CLICOLOR_FORCE`, which `console` reads itself.
pub(crate) fn style() -> TerminalStyle {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        console::set_colors_enabled_stderr(false);
    }
    let width = TerminalStyle::default().width;
    // Use at least 60 columns, even on a narrower terminal: set by hand, so that tables keep their
    // columns.
    let is_terminal = std::io::stdout().is_terminal();
    let columns = is_terminal.then(|| Term::stdout().size_checked()).flatten();
    TerminalStyle {
        width: columns.map_or(width, |(_, columns)| columns.max(60)),
    }
}
