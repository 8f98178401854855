//! Settings of a run: flags over environment over `convfinqa.toml` over
//! defaults, one plain struct at the end that knows none of its sources.
//!
//! Every key of [`Settings`] is a key of `convfinqa.toml` and, in capitals
//! behind `CONVFINQA_`, an environment variable. Secrets are not settings: keys
//! are read from their own variables and are written nowhere.

mod keys;
mod layers;
mod settings;
mod variables;

pub use keys::{Affects, Change, KEYS, Key, unknown_variable};
pub use layers::{ConfigError, Layers, Origin};
pub use settings::{Settings, TableStyle, Traces};
pub use variables::Variables;
