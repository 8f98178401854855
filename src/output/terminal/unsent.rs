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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_named_once() {
        let mut ignored = IgnoredSettings::default();
        let both = ["temperature".to_owned(), "seed".to_owned()];
        assert_eq!(
            ignored.add(both[..1].iter()).unwrap(),
            "note: temperature not sent: the model does not support it"
        );
        assert!(ignored.add(both.iter()).unwrap().starts_with("note: seed "));
        assert_eq!(ignored.add(both.iter()), None);
    }
}
