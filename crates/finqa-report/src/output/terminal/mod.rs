//! Text for a terminal, during and after a run.
//!
//! Read `style` and `writer` first. They lay out text, escape characters that a terminal would
//! obey, and print lines above a progress bar.

mod analysis;
mod answer;
mod calibration;
mod comparison;
mod explanation;
mod filed;
mod improvement;
mod progress;
mod runs;
mod scores;
mod several;
mod style;
mod summary;
mod writer;

pub use analysis::analysis_tables;
pub use answer::{answer_text, short_answer};
pub use calibration::calibration_text;
pub use comparison::comparison_tables;
pub use explanation::explanation_text;
pub use filed::table_lines;
pub use improvement::{candidate_line, improvement_text};
pub use progress::RunProgress;
pub use runs::runs_list;
pub use scores::scorecard_tables;
pub use several::several_table;
pub use style::{TerminalStyle, for_stderr, harmless, spaced};
pub use summary::summary_text;
pub use writer::{ProgressOptions, TerminalWriter, download_bar};
