//! What a person sees during a run and after it.

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

pub use analysis::analysis_tables;
pub use answer::answer_text;
pub use comparison::comparison_tables;
pub(super) use comparison::{p_value, span};
pub(super) use progress::verdict_text;
pub use progress::{ProgressOptions, RunProgress, TerminalWriter};
pub use runs::runs_list;
pub use style::{TerminalStyle, harmless};
pub use table::{rule_title, scorecard_tables, summary_tables};
pub use unsent::UnsentSettings;
