//! What a person sees while a run goes on and when it is over.

mod comparison;
mod progress;
mod table;

pub use comparison::comparison_tables;
pub use progress::{Progress, ProgressOptions};
pub use table::{scorecard_tables, summary_tables};
