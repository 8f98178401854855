//! The plan of a run: the questions to ask, their order, and the history that each one sees.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

use crate::settings::Shard;
use finqa_agents::pair::{Answer, answer_history};
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;
use finqa_score::dataset::{
    Case, Dataset, HistoryEntry, HistoryMode, Mode, QuestionKey, Record, RecordKind,
};

#[derive(Debug, Error)]
pub enum PlanError {
    #[error("{path}: no stand-alone question (qa, qa_0) in its {}", counted(*records, "record"))]
    NoQuestions { path: String, records: usize },
    #[error(
        "{path}: no conversation (annotation.dialogue_break) in its {}",
        counted(*records, "record")
    )]
    NoTurns { path: String, records: usize },
}

impl Kinded for PlanError {
    fn kind(&self) -> Kind {
        Kind::Data
    }
}

/// A question of the dataset with its index in the plan.
#[derive(Clone, Debug)]
pub struct PlannedQuestion {
    /// Index in the plan, whose order is that of every output.
    pub index: usize,
    pub case: Arc<Case>,
    pub kind: RecordKind,
    /// The epoch of the question, from 0 (`--epochs`).
    pub epoch: u32,
    /// The number of turns in its conversation; `None` for a stand-alone question.
    pub turns: Option<usize>,
}

impl PlannedQuestion {
    /// The question as later turns see it, with its answer or with gold. This is the only place
    /// where an agent is shown gold, and only for turns that are over.
    pub fn in_history(&self, mode: HistoryMode, answer: Option<&Answer>) -> HistoryEntry {
        match mode {
            HistoryMode::Own => answer_history(&self.case.question.text, answer),
            HistoryMode::Gold => self.case.as_gold_history(),
        }
    }
}

/// The questions of a run, in the order of the output. A unit is a stand-alone question or all
/// turns of a conversation. The questions of a unit are asked one after the other; several units
/// are asked at the same time.
#[derive(Clone, Debug)]
pub struct Plan {
    pub mode: Mode,
    pub history: HistoryMode,
    /// The units of the first epoch. The units of later epochs are made from them on demand.
    first_epoch: Vec<Vec<PlannedQuestion>>,
    epochs: u32,
    /// The number of questions in an epoch of the whole run. It does not change when the plan is
    /// reduced, so that a question has the same index in every shard.
    epoch_length: usize,
}

impl Plan {
    /// Plans one epoch of these questions, each in its own unit.
    pub fn from_questions(questions: Vec<PlannedQuestion>) -> Self {
        Self {
            mode: Mode::Questions,
            history: HistoryMode::Own,
            epoch_length: questions.len(),
            first_epoch: questions.into_iter().map(|planned| vec![planned]).collect(),
            epochs: 1,
        }
    }

    /// Plans `epochs` passes (at least one) over the dataset's records.
    pub fn new(
        dataset: &Dataset,
        mode: Mode,
        history: HistoryMode,
        epochs: u32,
    ) -> Result<Self, PlanError> {
        let mut first_epoch = Vec::new();
        let mut epoch_length = 0;
        for record in &dataset.records {
            for cases in split_record(record, mode) {
                let planned = cases.iter().zip(epoch_length..);
                let planned = planned.map(|(case, index)| PlannedQuestion {
                    index,
                    case: Arc::clone(case),
                    kind: record.kind,
                    epoch: 0,
                    turns: (mode == Mode::Conversations).then_some(cases.len()),
                });
                first_epoch.push(planned.collect());
                epoch_length += cases.len();
            }
        }
        if first_epoch.is_empty() {
            let (path, records) = (dataset.source.clone(), dataset.records.len());
            return Err(match mode {
                Mode::Questions => PlanError::NoQuestions { path, records },
                Mode::Conversations => PlanError::NoTurns { path, records },
            });
        }
        Ok(Self {
            mode,
            history,
            first_epoch,
            epochs: epochs.max(1),
            epoch_length,
        })
    }

    /// Keeps only the units of a shard. Each question keeps its index in the whole plan.
    pub fn reduce_to(&mut self, shard: Shard) {
        self.first_epoch.retain(|unit| {
            let first = unit.first();
            first.is_some_and(|planned| shard.contains(&planned.case.question.key.id))
        });
    }

    /// Keeps only the units that contain one of these questions. Each question keeps its index.
    pub fn keep(&mut self, keys: &HashSet<QuestionKey>) {
        self.first_epoch.retain(|unit| {
            let mut unit = unit.iter();
            unit.any(|planned| keys.contains(&planned.case.question.key))
        });
    }

    /// The unit at the index `at`, counted from 0 over all epochs; `None` beyond the last, or if
    /// there are no units.
    pub fn unit(&self, at: usize) -> Option<Vec<PlannedQuestion>> {
        let epoch = u32::try_from(at.checked_div(self.first_epoch.len())?).ok()?;
        let unit = self.first_epoch.get(at % self.first_epoch.len())?;
        let planned = unit.iter().map(|planned| PlannedQuestion {
            index: planned.index + self.epoch_length * epoch as usize,
            epoch,
            ..planned.clone()
        });
        (epoch < self.epochs).then(|| planned.collect())
    }

    /// All units, in the order of the plan.
    pub fn units(&self) -> impl Iterator<Item = Vec<PlannedQuestion>> {
        (0..).map_while(|at| self.unit(at))
    }

    /// All questions, in the order of the plan.
    pub fn questions(&self) -> impl Iterator<Item = PlannedQuestion> {
        self.units().flatten()
    }

    /// The blake3 hash, in hex, of both modes and of the epoch and key of each question in order.
    /// The texts of the questions are not in it. It is part of the run's identity, and changes with
    /// the names of the variants of [`Mode`] and [`HistoryMode`].
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?} {:?}", self.mode, self.history).as_bytes());
        for planned in self.questions() {
            let line = format!("\n{} {}", planned.epoch, planned.case.question.key);
            hasher.update(line.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The number of questions in all epochs.
    pub fn total(&self) -> usize {
        let questions: usize = self.first_epoch.iter().map(Vec::len).sum();
        questions * self.epochs as usize
    }
}

/// The units of a record. In a conversation, all turns form one unit. Without turns there is no
/// unit; the length is at least 1 because `chunks` panics for 0.
fn split_record(record: &Record, mode: Mode) -> std::slice::Chunks<'_, Arc<Case>> {
    match mode {
        Mode::Questions => record.questions.chunks(1),
        Mode::Conversations => record.turns.chunks(record.turns.len().max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_shares_its_cases_with_the_dataset_and_between_epochs() {
        let sample = finqa_score::dataset::sample().unwrap();
        for mode in [Mode::Questions, Mode::Conversations] {
            let plan = Plan::new(&sample, mode, HistoryMode::Own, 3).unwrap();
            let all: Vec<_> = plan.questions().collect();
            let (first, others) = all.split_at(all.len() / 3);
            for (one, other) in first.iter().cycle().zip(others) {
                assert!(Arc::ptr_eq(&one.case, &other.case));
                let mut of_the_dataset = sample.records.iter().flat_map(Record::cases);
                assert!(of_the_dataset.any(|case| std::ptr::eq(case, &*one.case)));
                assert_eq!(other.index, one.index + other.epoch as usize * first.len());
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn shards_partition_the_plan_by_records(count in 1_u32..60, epochs in 1_u32..3, turns: bool) {
            let sample = finqa_score::dataset::sample().unwrap();
            let mode = if turns { Mode::Conversations } else { Mode::Questions };
            let plan = Plan::new(&sample, mode, HistoryMode::Own, epochs).unwrap();
            let mut units = Vec::new();
            for shard in Shard::all(count) {
                let mut part = plan.clone();
                part.reduce_to(shard);
                proptest::prop_assert_eq!(part.total(), part.questions().count());
                units.extend(part.units());
            }
            units.sort_by_key(|unit| unit[0].index);
            let places = |units: &[Vec<PlannedQuestion>]| -> Vec<Vec<usize>> {
                let units = units.iter();
                units.map(|unit| unit.iter().map(|planned| planned.index).collect()).collect()
            };
            proptest::prop_assert_eq!(places(&units), places(&plan.units().collect::<Vec<_>>()));
        }
    }
}
