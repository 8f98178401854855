//! Asks the questions of a plan and journals each outcome. [`Scheduler`] is the entry point, and
//! its file gives the reading order. `pipeline` calls this module and knows the outputs; this
//! module does not.

mod attempt;
mod background_tasks;
mod earlier_work;
mod failures;
mod models;
mod scheduler;
mod trace;
mod worker;
mod writer;

pub use models::RunModels;
pub use scheduler::Scheduler;
