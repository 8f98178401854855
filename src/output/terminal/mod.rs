//! Terminal output during and after a run.

mod analysis;
mod answer;
mod calls;
mod comparison;
mod episodes;
mod progress;
mod runs;
mod style;
mod table;
mod unsent;

pub(crate) use analysis::analysis_tables;
pub(crate) use answer::{answer_text, short_answer};
pub use comparison::comparison_tables;
pub(super) use comparison::{p_value, signed, span};
pub(super) use progress::verdict_text;
pub(crate) use progress::{ProgressOptions, RunProgress, TerminalWriter};
pub(crate) use runs::runs_list;
pub use style::TerminalStyle;
pub(crate) use style::harmless;
pub use table::scorecard_tables;
pub(crate) use table::{rule_title, summary_tables};
pub(crate) use unsent::IgnoredSettings;
