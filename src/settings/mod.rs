//! Settings of a run: flags over environment over `convfinqa.toml` over defaults.
//!
//! Each option is declared once, as a field of one of the groups of [`Settings`],
//! with its flag, help and default. Its name is a key of `convfinqa.toml` and, in
//! capitals behind `CONVFINQA_`, an environment variable. Secrets are not
//! settings: keys are read from their own variables and are never written.

mod batch;
mod budget;
mod groups;
mod keys;
mod layers;
mod shard_choice;
mod validate;
mod variables;

pub use batch::{BatchSettings, ExecutionEngine};
pub use budget::{BudgetSettings, TimeLimit};
pub use groups::{LogSettings, QuestionSettings, RunSettings, Settings, Traces};
pub use keys::{Change, RunAspect, keys};
pub(crate) use keys::{flag, unknown_variable, with_effects_of};
pub use layers::{ConfigError, Layers, Origin};
pub use shard_choice::{ChosenShard, Shard, ShardChoice, ShardSettings};
pub use variables::Variables;
