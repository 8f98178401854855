//! Reports each unsupported sampling setting once.

use std::collections::BTreeSet;

use crate::run::left_out_line;

/// The settings reported so far.
#[derive(Debug, Default)]
pub(crate) struct IgnoredSettings(BTreeSet<String>);

impl IgnoredSettings {
    /// The notice about settings that replies were made without, leaving out
    /// those that were named before.
    pub(crate) fn add<'n>(&mut self, names: impl Iterator<Item = &'n String>) -> Option<String> {
        let new: BTreeSet<&str> = names
            .map(String::as_str)
            .filter(|name| !self.0.contains(*name))
            .collect();
        let new: Vec<&str> = new.into_iter().collect();
        self.0.extend(new.iter().map(|name| (*name).to_owned()));
        (!new.is_empty()).then(|| format!("note: {}", left_out_line(&new)))
    }
}
