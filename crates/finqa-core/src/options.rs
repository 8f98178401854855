//! Lets an option be declared only once. A struct derives `clap::Args` and serde's traits, and the
//! `#[arg]` of each field has the option's name, help and default. The command line, the settings
//! file and the environment variables all use that struct.

use clap::builder::Resettable;
use clap::{Arg, ArgAction, Args, Command};

/// Creates a group of options with the defaults that its fields declare. Exits with clap's message
/// if a field has no valid default.
pub fn defaults<Group: Args>() -> Group {
    let command = Group::augment_args(Command::new("defaults"))
        .no_binary_name(true)
        // A default must not depend on environment variables.
        .mut_args(|arg| arg.env(Resettable::Reset));
    let matches = command.get_matches_from(std::iter::empty::<&str>());
    Group::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Implements `Default` with [`defaults`] for groups of options.
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

/// The options of a group, in the order of its fields. The id of an option is also its key in the
/// settings file.
pub fn declared<Group: Args>() -> Vec<Arg> {
    let command = Group::augment_args(Command::new("declared"));
    command.get_arguments().cloned().collect()
}

/// True if an option can be given several times.
pub fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// True if an option accepts any text. Its value stays a string even if it looks like a number,
/// because a model may be called `4`.
pub fn is_text(option: &Arg) -> bool {
    let takes = option.get_value_parser().type_id();
    takes == std::any::TypeId::of::<String>()
        || takes == std::any::TypeId::of::<std::path::PathBuf>()
}
