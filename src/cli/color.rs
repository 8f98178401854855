//! Colours, and the width of the terminal.

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

/// The environment's variables for colours.
#[derive(Clone, Copy, Debug, Default)]
struct ColorVariables {
    /// `NO_COLOR` is set and not empty (no-color.org).
    no_color: bool,
    /// `CLICOLOR_FORCE` is set and not `0` (bixense.com/clicolors).
    force: bool,
    /// `CLICOLOR` is `0`, or `TERM` is `dumb`.
    plain: bool,
}

impl ColorVariables {
    fn read() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let is = |name, text: &str| set(name).is_some_and(|value| value == *text);
        Self {
            no_color: set("NO_COLOR").is_some(),
            force: set("CLICOLOR_FORCE").is_some_and(|value| value != *"0"),
            plain: is("CLICOLOR", "0") || is("TERM", "dumb"),
        }
    }
}

/// The option comes first, then `NO_COLOR`, then variables that force colours.
fn colored(when: ColorChoice, variables: ColorVariables, terminal: bool) -> bool {
    match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if variables.no_color => false,
        ColorChoice::Auto if variables.force => true,
        ColorChoice::Auto => terminal && !variables.plain,
    }
}

/// The style of stdout. Also sets the colours of stderr, which the progress bar uses.
pub(crate) fn style(when: ColorChoice) -> TerminalStyle {
    let variables = ColorVariables::read();
    let stdout = std::io::stdout().is_terminal();
    let color = colored(when, variables, stdout);
    console::set_colors_enabled(color);
    let stderr = std::io::stderr().is_terminal();
    console::set_colors_enabled_stderr(colored(when, variables, stderr));
    let plain = TerminalStyle::default();
    // A terminal that is narrower still gets what is laid out for 60 columns.
    let columns = stdout.then(|| Term::stdout().size_checked()).flatten();
    TerminalStyle {
        color,
        width: columns.map_or(plain.width, |(_, columns)| columns.max(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_decides_then_no_color_then_force_then_the_terminal() {
        let none = ColorVariables::default();
        let no = ColorVariables {
            no_color: true,
            force: true,
            ..none
        };
        let force = ColorVariables {
            force: true,
            plain: true,
            ..none
        };
        let plain = ColorVariables {
            plain: true,
            ..none
        };
        for terminal in [true, false] {
            assert!(colored(ColorChoice::Always, no, terminal));
            assert!(!colored(ColorChoice::Never, force, terminal));
            assert!(!colored(ColorChoice::Auto, no, terminal));
            assert!(colored(ColorChoice::Auto, force, terminal));
            assert!(!colored(ColorChoice::Auto, plain, terminal));
            assert_eq!(colored(ColorChoice::Auto, none, terminal), terminal);
        }
    }
}
