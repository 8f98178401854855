//! Settings of a run. Flags override the environment, which overrides `convfinqa.toml`, which
//! overrides the defaults.
//!
//! Each option is declared once, as a field of one of the groups of [`Settings`], with its flag,
//! help and default. Its name is a key of `convfinqa.toml`. In capitals and after `CONVFINQA_`, it
//! is the name of an environment variable. Secrets are not settings: keys are read from variables
//! of their own and are never written.

mod budget;
mod error;
mod groups;
mod keys;
mod layers;
mod shard_choice;
mod validate;
mod variables;

pub use budget::{BudgetSettings, TimeLimit};
pub use error::{ConfigError, Origin};
pub use groups::{
    BatchSettings, CalibrationSettings, ExecutionEngine, LogFormat, LogSettings, QuestionSettings,
    RunSettings, Settings, Traces,
};
pub(crate) use keys::decisive;
pub use keys::{change, flag, keys, unknown_variable, with_effects_of};
pub use layers::Layers;
pub use shard_choice::{ChosenShard, Shard, ShardSettings};
pub use variables::Variables;
