//! What a person sees while a run goes on and when it is over.

mod progress;
mod table;

pub use progress::{Progress, ProgressOptions};
pub use table::{scorecard_tables, summary_tables};
