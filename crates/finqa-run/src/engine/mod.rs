//! The questions of a plan asked to their end: the scheduler, the workers of its units, and the
//! thread that writes the journal. `pipeline` makes one library call of it.

mod attempt;
mod earlier_work;
mod failures;
mod models;
mod scheduler;
mod services;
mod trace;
mod worker;
mod writer;

pub use models::RunModels;
pub use scheduler::Scheduler;
