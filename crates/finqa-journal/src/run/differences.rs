//! Lists the inputs of a run, so that a comparison can name those in which two runs differ.

use finqa_score::analysis::{AnsweringRun, RunInput};

use crate::settings::decisive;

use super::run_meta::RunMeta;

impl RunMeta {
    /// Describes the run that gave the answers. An address on this machine is replaced by `local`,
    /// because a local server that moved to another port is not a difference.
    pub(crate) fn as_answering(&self) -> AnsweringRun {
        let own = self.identity.unplaced();
        // 8 characters are set by hand. An empty hash, as without a calibration, is `none`.
        let hash = |hash: &str| match hash.get(..8) {
            Some(start) => format!("blake3 {start}…"),
            None => "none".to_owned(),
        };
        // Two runs without episodes both have the default, so these inputs do not differ.
        let environment = self.episodes.clone().unwrap_or_default();
        let inputs = [
            ("model", own.model),
            ("critic", own.critic),
            ("prompts", hash(&own.prompts)),
            ("calibration", hash(&own.calibration)),
            ("environment", environment.environment),
            ("--max-steps", environment.max_steps.to_string()),
            ("convfinqa's version", self.version.clone()),
        ];
        let inputs = inputs.map(|(name, value)| (name.to_owned(), value));
        let input = |(name, value)| RunInput {
            name,
            value,
            identity: None,
        };
        // Compared by the hash, because the same data may be in a file of another name.
        let data = RunInput {
            name: "data".to_owned(),
            value: format!("{} ({})", self.data, hash(&self.identity.data)),
            identity: Some(own.data),
        };
        let settings = decisive(&self.settings).map(input);
        AnsweringRun {
            model: self.model().to_owned(),
            // Only calls name these models; `open_answers` adds them for a journal.
            served: Vec::new(),
            inputs: inputs
                .into_iter()
                .map(input)
                .chain([data])
                .chain(settings)
                .collect(),
        }
    }
}
