//! `--only WHICH:RUN`: asks again those questions that an earlier run answered wrong, answered
//! wrong in some passes only, or left without an answer.

use std::collections::{HashMap, HashSet};

use finqa_journal::run::{Journal, Plan, RunFolder, RunMeta};
use finqa_journal::settings::Settings;
use finqa_score::dataset::{Dataset, Mode, Outcome, QuestionKey};
use finqa_score::score::Rule;

use super::PipelineError;

/// The questions to ask again.
pub(super) struct Only {
    /// `wrong`, `flaky` or `unanswered`.
    which: String,
    /// The run's absolute path if the user named it by a path, otherwise its id.
    run: String,
    meta: RunMeta,
    keys: HashSet<QuestionKey>,
}

/// The number of passes in which a question was asked, and their results.
#[derive(Default)]
struct Passes {
    asked: usize,
    wrong: usize,
    unanswered: usize,
}

impl Only {
    /// Finds the questions of the earlier run that `--only` names; `None` without `--only`.
    pub(super) fn of(settings: &Settings) -> Result<Option<Self>, PipelineError> {
        let Some(given) = &settings.questions.only else {
            return Ok(None);
        };
        let form = || PipelineError::OnlyForm(given.clone());
        let (which, run) = given.split_once(':').ok_or_else(form)?;
        let is_chosen: fn(&Passes) -> bool = match which {
            "wrong" => |passes| passes.wrong > 0,
            "flaky" => |passes| 0 < passes.wrong && passes.wrong < passes.asked,
            "unanswered" => |passes| passes.unanswered > 0,
            _ => return Err(form()),
        };
        let folder = RunFolder::locate(&settings.run.output, run)?;
        let run = match std::fs::canonicalize(run) {
            // As in `RunFolder::locate`, a folder without a journal is not a run, even if it has a
            // run's name.
            Ok(path) if path.join(RunFolder::JOURNAL).is_file() => path.display().to_string(),
            _ => folder.id(),
        };
        let journal = Journal::read(&folder.journal())?;
        let mut all: HashMap<QuestionKey, Passes> = HashMap::new();
        journal.for_each_row(|row| {
            // A question without an answer is wrong too, if it has gold.
            let wrong = Rule::FinancialEquivalence.mark(&row) == Some(false);
            let unanswered = row.outcome() != Outcome::Answered;
            let passes = all.entry(row.key).or_default();
            passes.asked += 1;
            passes.wrong += usize::from(wrong);
            passes.unanswered += usize::from(unanswered);
        })?;
        let chosen = all.into_iter().filter(|(_, passes)| is_chosen(passes));
        Ok(Some(Self {
            which: which.to_owned(),
            run,
            meta: journal.meta()?,
            keys: chosen.map(|(key, _)| key).collect(),
        }))
    }

    /// The value of `--only` with the run's id or path. Unlike `last`, it names the same run later
    /// too.
    pub(super) fn setting(&self) -> String {
        format!("{}:{}", self.which, self.run)
    }

    /// The mode of the earlier run; `None` if it has none.
    pub(super) fn mode(&self) -> Option<Mode> {
        let mode = self.meta.settings.get("mode")?.clone();
        mode.try_into().ok()
    }

    /// Reduces a plan over `dataset` to these questions. A conversation with one of them keeps all
    /// of its turns, because later turns depend on earlier ones.
    pub(super) fn reduce(&self, plan: &mut Plan, dataset: &Dataset) -> Result<(), PipelineError> {
        let renewed = self.meta.gold.as_ref();
        let is_renewed = renewed.is_some_and(|gold| gold.hash == dataset.hash);
        if self.meta.identity.data != dataset.hash && !is_renewed {
            return Err(PipelineError::OnlyOtherData {
                only: self.setting(),
                was: self.meta.data.clone(),
                now: dataset.source.clone(),
            });
        }
        plan.keep(&self.keys);
        match plan.total() {
            0 => Err(PipelineError::OnlyNothing(self.setting())),
            _ => Ok(()),
        }
    }
}
