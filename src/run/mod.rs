//! A run: its plan, the scheduler, the journal that makes it resumable, the
//! events that every output consumes, and the summary.
//!
//! `run` knows no sink and no provider: `cli` wires both.

mod agreement;
mod effect;
mod event;
mod health;
mod identity;
pub mod journal;
mod lock;
mod plan;
mod records;
mod replay;
mod row;
mod scheduler;
mod trace;
mod worker;
mod writer;

pub use agreement::Agreement;
pub use effect::CriticEffect;
pub use event::{Event, Finish};
pub use identity::{Identity, RunMeta};
pub use journal::{Journal, JournalError, Status};
pub use lock::{Holder, LockError, RunLock};
pub use plan::{HistoryMode, Mode, Plan, PlanError, Planned};
pub use row::{Row, Stamp};
pub use scheduler::{RunError, Scheduler};
