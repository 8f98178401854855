//! Options that are declared once: a struct derives `clap::Args` and serde's
//! traits, and each field's `#[arg]` holds the option's name, help and default.
//! The command line, the settings file and the environment all read that struct.

use clap::builder::Resettable;
use clap::{Arg, ArgAction, Args, Command};

/// A group of options at the defaults that its fields declare.
pub fn defaults<Group: Args>() -> Group {
    let command = Group::augment_args(Command::new("defaults"))
        .no_binary_name(true)
        // Defaults are the same whatever the environment holds.
        .mut_args(|arg| arg.env(Resettable::Reset));
    let matches = command.get_matches_from(std::iter::empty::<&str>());
    Group::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Gives groups of options [`defaults`] as their `Default`.
#[macro_export]
macro_rules! declared_defaults {
    ($($group:ty),+ $(,)?) => {$(
        impl Default for $group {
            fn default() -> Self {
                $crate::options::defaults()
            }
        }
    )+};
}
pub use declared_defaults;

/// The options of a group, in the order of its fields. An option's id is its
/// key in the settings file.
pub fn declared<Group: Args>() -> Vec<Arg> {
    let command = Group::augment_args(Command::new("declared"));
    command.get_arguments().cloned().collect()
}

/// True if an option takes several values.
pub fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// True if an option takes any text, including digits: a model may be called `4`.
pub fn is_text(option: &Arg) -> bool {
    let takes = option.get_value_parser().type_id();
    takes == std::any::TypeId::of::<String>()
        || takes == std::any::TypeId::of::<std::path::PathBuf>()
}
