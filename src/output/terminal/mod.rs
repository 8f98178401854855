//! What a person sees while a run goes on and when it is over.

mod analysis;
mod answer;
mod comparison;
mod episodes;
mod left_out;
mod look;
mod progress;
mod retries;
mod runs;
mod table;

pub use analysis::analysis_tables;
pub use answer::answer_text;
pub use comparison::comparison_tables;
pub(super) use comparison::{p_value, span};
pub use left_out::LeftOut;
pub use look::{Look, harmless};
pub(super) use progress::verdict_text;
pub use progress::{Progress, ProgressOptions, Voice};
pub use runs::runs_list;
pub use table::{rule_title, scorecard_tables, summary_tables};
