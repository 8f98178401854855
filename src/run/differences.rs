//! The inputs in which two runs differ, for a comparison of their answers.

use serde::Serialize;

use crate::settings::differing;

use super::run_meta::{Identity, RunMeta};

/// A setting or an input with another value in each of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// An option, or the input in words.
    pub name: String,
    pub a: String,
    pub b: String,
}

impl RunMeta {
    /// The inputs that may change answers and differ in `other`, but for the choice of
    /// questions. Another address of a server on this machine is no difference.
    pub(crate) fn differences(&self, other: &Self) -> Vec<InputDifference> {
        let (own, theirs) = (self.identity.unplaced(), other.identity.unplaced());
        let hash = |hash: &str| match hash.get(..8) {
            Some(start) => format!("blake3 {start}…"),
            None => "none".to_owned(),
        };
        let data = |run: &Self| format!("{} ({})", run.data, hash(&run.identity.data));
        let inputs = |run: &Self, identity: &Identity| {
            let environment = run.episodes.clone().unwrap_or_default();
            [
                ("model", identity.model.clone()),
                ("critic", identity.critic.clone()),
                ("prompts", hash(&identity.prompts)),
                ("calibration", hash(&identity.calibration)),
                ("environment", environment.environment),
                ("--max-steps", environment.max_steps.to_string()),
                ("convfinqa's version", run.version.clone()),
            ]
        };
        let pairs = inputs(self, &own).into_iter().zip(inputs(other, &theirs));
        let pairs = pairs.map(|((name, a), (_, b))| (name.to_owned(), a, b));
        // The same data may have another name.
        let changed = own.data != theirs.data;
        let data = changed.then(|| ("data".to_owned(), data(self), data(other)));
        let settings = differing(&self.settings, &other.settings);
        let all = pairs.chain(data).chain(settings);
        all.filter(|(_, a, b)| a != b)
            .map(|(name, a, b)| InputDifference { name, a, b })
            .collect()
    }
}
