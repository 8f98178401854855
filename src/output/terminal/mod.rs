//! Terminal output during and after a run.

mod analysis;
mod answer;
mod calibration;
mod comparison;
mod filed;
mod improvement;
mod progress;
mod runs;
mod scores;
mod style;
mod summary;
mod writer;

pub(crate) use analysis::analysis_tables;
pub(crate) use answer::{answer_text, short_answer};
pub(crate) use calibration::calibration_text;
pub use comparison::comparison_tables;
pub(crate) use filed::table_lines;
pub(crate) use improvement::{candidate_line, improvement_text};
pub(crate) use progress::RunProgress;
pub(crate) use runs::runs_list;
pub use scores::scorecard_tables;
pub use style::TerminalStyle;
pub(crate) use style::{for_stderr, harmless, spaced};
pub(crate) use summary::summary_text;
pub(crate) use writer::{ProgressOptions, TerminalWriter, download_bar};
