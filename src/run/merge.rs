//! Several shards' journals become one: what each holds is checked against the plan that
//! they share, and the rows are copied in the order in which they were answered.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dataset::QuestionKey;
use crate::score::{Row, Stamp};
use crate::settings::Shard;
use finqa_agents::pair::Call;
use finqa_core::text::counted;

use super::identity::{RunMeta, RunShard};
use super::journal::{Journal, JournalEntry, JournalError};
use super::lock::{Holder, RunLock};
use super::shards::{ShardsFolder, SharedPlan};
use super::summary::{billed, unrecorded};

/// Questions that an error names, at most.
const SHOWN: usize = 5;
/// Entries in one transaction.
const BATCH: usize = 256;

/// The errors of merging shards.
#[derive(Debug, Error)]
pub enum MergeError {
    #[error("shard {shard} of run {run} is in use by {holder}; merge when it has ended")]
    Held {
        run: String,
        shard: u32,
        holder: Holder,
    },
    #[error(
        "shard {shard} of run {run} cannot be read ({reason}); restore it, or remove its folder \
         and repeat its command"
    )]
    Unreadable {
        run: String,
        shard: u32,
        reason: JournalError,
    },
    #[error("{folder} holds {found} instead of shard {shard} of run {run}")]
    Misplaced {
        folder: PathBuf,
        found: String,
        shard: Shard,
        run: String,
    },
    #[error("shard {shard} of run {run} differs from the plan: {changes}")]
    Differs {
        run: String,
        shard: u32,
        changes: String,
    },
    #[error("run {run} has the same questions in several shards: {questions}")]
    Doubled { run: String, questions: String },
    #[error("shard {shard} of run {run} has a question of another shard: {key}")]
    Foreign {
        run: String,
        shard: u32,
        key: QuestionKey,
    },
    #[error(
        "run {run} is not complete: {missing}; repeat these shards, or merge the others with \
         --allow-missing"
    )]
    Incomplete { run: String, missing: String },
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// The merged journal cannot be renamed to its place.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl MergeError {
    /// The error for a shard that cannot be read, because of its content or its disk.
    pub(crate) fn unreadable(run: &str, shard: u32, reason: JournalError) -> Self {
        let run = run.to_owned();
        match reason.is_data() {
            true => Self::Unreadable { run, shard, reason },
            false => Self::Journal(reason),
        }
    }

    /// True if the shards' content is at fault, and not the way they are merged.
    pub(crate) fn is_data(&self) -> bool {
        !matches!(
            self,
            Self::Held { .. } | Self::Differs { .. } | Self::Journal(_) | Self::Io { .. }
        )
    }
}

/// The shards that a merged run consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedShards {
    /// The number of shards.
    pub shards: u32,
    /// The shards of which questions are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingPart>,
    /// blake3 over which rows there are, when they were recorded, and the calls of questions
    /// without one.
    pub rows: String,
    /// Requests that killed processes had in flight: the cost of each is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
}

/// Questions of a shard that have no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    pub shard: u32,
    pub questions: usize,
    /// Questions of the shard.
    pub of: usize,
}

impl MergedShards {
    /// The number of missing questions.
    pub fn left(&self) -> usize {
        self.missing.iter().map(|part| part.questions).sum()
    }

    /// The missing questions, in one line.
    pub(crate) fn missing_line(&self) -> Option<String> {
        let parts = self.missing.iter().map(|part| {
            let MissingPart {
                shard,
                questions,
                of,
            } = part;
            match questions == of {
                true => format!("all {of} of shard {shard}"),
                false => format!("{questions} of {of} of shard {shard}"),
            }
        });
        let parts: Vec<_> = parts.collect();
        (!parts.is_empty()).then(|| {
            format!(
                "{} missing ({})",
                counted(self.left(), "question"),
                parts.join(", ")
            )
        })
    }
}

/// The content of a run's shards, checked against their plan.
pub(crate) struct ShardSurvey<'f> {
    folder: &'f ShardsFolder,
    plan: &'f SharedPlan,
    /// The timestamp of each answered question, by its place in the plan.
    stamps: HashMap<usize, Stamp>,
    merged: MergedShards,
    /// Some of the questions without an outcome.
    examples: Vec<QuestionKey>,
    prompts: BTreeMap<String, String>,
}

impl<'f> ShardSurvey<'f> {
    /// Reads what the shards hold. `differences` names what makes a shard another run
    /// than the plan's.
    pub(crate) fn take(
        folder: &'f ShardsFolder,
        plan: &'f SharedPlan,
        differences: impl Fn(&RunMeta) -> Vec<String>,
    ) -> Result<Self, MergeError> {
        let mut survey = Self {
            folder,
            plan,
            stamps: HashMap::new(),
            merged: MergedShards {
                shards: plan.shards,
                ..MergedShards::default()
            },
            examples: Vec::new(),
            prompts: BTreeMap::new(),
        };
        // Which shards each question is in, and when it was recorded in the last of them.
        let mut found: HashMap<usize, (Vec<u32>, i64)> = HashMap::new();
        let mut open = BTreeMap::new();
        let mut foreign = None;
        for shard in Shard::all(plan.shards) {
            let Some(journal) = survey.journal(shard)? else {
                continue;
            };
            let index = shard.index();
            let read = |error| survey.unreadable(index, error);
            let meta = journal.meta().map_err(read)?;
            survey.check(shard, &meta, &differences)?;
            if survey.prompts.is_empty() {
                survey.prompts = journal.prompts().map_err(read)?;
            }
            let mut known = 0;
            let visit = |row: Row| {
                known += row.solution.calls.iter().map(billed).sum::<u64>();
                let planned = plan.question(row.index);
                let own = planned == Some((&row.key, row.epoch)) && shard.contains(&row.key.id);
                if !own && foreign.is_none() {
                    foreign = Some((index, row.key.clone()));
                }
                let place = found.entry(row.index).or_default();
                place.0.push(index);
                place.1 = row.stamp.map_or(0, |stamp| stamp.at);
            };
            let read = |error| survey.unreadable(index, error);
            journal.for_each_result(visit).map_err(read)?;
            let calls = journal.open_calls().map_err(read)?;
            known += calls.values().flatten().map(billed).sum::<u64>();
            open.extend(calls);
            survey.merged.unrecorded += unrecorded(&journal, known).map_err(read)?;
        }
        survey.refuse_doubled(&found)?;
        if let Some((shard, key)) = foreign {
            let run = folder.name().to_owned();
            return Err(MergeError::Foreign { run, shard, key });
        }
        survey.order(&found, &open);
        survey.count_missing();
        Ok(survey)
    }

    /// The journal of a shard, if it was begun.
    fn journal(&self, shard: Shard) -> Result<Option<Journal>, MergeError> {
        let own = self.folder.shard(shard.index());
        if !own.journal().is_file() {
            return Ok(None);
        }
        if let Some(holder) = RunLock::holder(own.path()) {
            return Err(MergeError::Held {
                run: self.folder.name().to_owned(),
                shard: shard.index(),
                holder,
            });
        }
        Journal::read(&own.journal())
            .map(Some)
            .map_err(|error| self.unreadable(shard.index(), error))
    }

    fn unreadable(&self, shard: u32, reason: JournalError) -> MergeError {
        MergeError::unreadable(self.folder.name(), shard, reason)
    }

    fn check(
        &self,
        shard: Shard,
        meta: &RunMeta,
        differences: impl Fn(&RunMeta) -> Vec<String>,
    ) -> Result<(), MergeError> {
        let run = self.folder.name().to_owned();
        let is_here = |own: &RunShard| own.part == shard && own.run == run;
        if !meta.shard.as_ref().is_some_and(is_here) {
            let found = meta.shard.as_ref();
            return Err(MergeError::Misplaced {
                folder: self.folder.shard(shard.index()).path().to_owned(),
                found: found.map_or_else(|| format!("run {}", meta.id), ToString::to_string),
                shard,
                run,
            });
        }
        let changes = differences(meta);
        if changes.is_empty() {
            return Ok(());
        }
        Err(MergeError::Differs {
            run,
            shard: shard.index(),
            changes: changes.join("; "),
        })
    }

    fn refuse_doubled(&self, found: &HashMap<usize, (Vec<u32>, i64)>) -> Result<(), MergeError> {
        let doubled: BTreeMap<_, _> = found.iter().filter(|(_, (in_, _))| in_.len() > 1).collect();
        if doubled.is_empty() {
            return Ok(());
        }
        let named = doubled.iter().take(SHOWN).map(|(index, (shards, _))| {
            let key = self.plan.question(**index);
            let key = key.map_or_else(|| format!("question {index}"), |(key, _)| key.to_string());
            let shards: Vec<_> = shards.iter().map(ToString::to_string).collect();
            format!("{key} in shards {}", shards.join(" and "))
        });
        Err(MergeError::Doubled {
            run: self.folder.name().to_owned(),
            questions: listed(named.collect(), doubled.len()),
        })
    }

    /// Numbers the rows in the order in which they were recorded.
    fn order(
        &mut self,
        found: &HashMap<usize, (Vec<u32>, i64)>,
        open: &BTreeMap<usize, Vec<Call>>,
    ) {
        let mut order: Vec<(i64, usize)> = found.iter().map(|(i, (_, at))| (*at, *i)).collect();
        order.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        let mut last = Stamp::default();
        for (at, index) in order {
            last = last.next(at);
            self.stamps.insert(index, last);
            hasher.update(format!("{index} {at}\n").as_bytes());
        }
        // They were paid for, and more of them may follow without a row.
        for (index, calls) in open {
            hasher.update(format!("{index} open: {}\n", calls.len()).as_bytes());
        }
        self.merged.rows = hasher.finalize().to_hex().to_string();
    }

    fn count_missing(&mut self) {
        let mut parts: BTreeMap<u32, MissingPart> = BTreeMap::new();
        for index in 0..self.plan.total() {
            let Some((key, _)) = self.plan.question(index) else {
                continue;
            };
            let shard = self.plan.shard_of(key);
            let part = parts.entry(shard).or_insert(MissingPart {
                shard,
                questions: 0,
                of: 0,
            });
            part.of += 1;
            if !self.stamps.contains_key(&index) {
                part.questions += 1;
                if self.examples.len() < SHOWN {
                    self.examples.push(key.clone());
                }
            }
        }
        let incomplete = parts.into_values().filter(|part| part.questions > 0);
        self.merged.missing = incomplete.collect();
    }

    /// Refuses to merge if questions are missing.
    pub(crate) fn refuse_missing(&self) -> Result<(), MergeError> {
        let Some(line) = self.merged.missing_line() else {
            return Ok(());
        };
        let named = self.examples.iter().map(ToString::to_string).collect();
        Err(MergeError::Incomplete {
            run: self.folder.name().to_owned(),
            missing: format!("{line}: {}", listed(named, self.merged.left())),
        })
    }

    /// The merged run.
    pub(crate) fn meta(&self) -> RunMeta {
        RunMeta {
            merged: Some(self.merged.clone()),
            ..self.plan.run.clone()
        }
    }

    /// Writes the merged journal to a new file.
    pub(crate) fn write(&self, to: &Path) -> Result<(), MergeError> {
        let prompts = Some(&self.prompts).filter(|prompts| !prompts.is_empty());
        let mut merged = Journal::create(to, &self.meta(), prompts)?;
        for shard in Shard::all(self.plan.shards) {
            if let Some(journal) = self.journal(shard)? {
                self.copy(shard.index(), &journal, &mut merged)?;
            }
        }
        Ok(merged.close()?)
    }

    fn copy(&self, shard: u32, from: &Journal, to: &mut Journal) -> Result<(), MergeError> {
        let mut entries = Vec::with_capacity(BATCH);
        let mut written = Ok(());
        let read = from.for_each_row(|mut row| {
            // A row that came after the survey is for the next merge.
            let Some(stamp) = self.stamps.get(&row.index) else {
                return;
            };
            row.stamp = Some(*stamp);
            let calls = std::mem::take(&mut row.solution.calls);
            entries.extend(calls.into_iter().map(|call| JournalEntry::Call {
                question: row.index,
                call: Box::new(call),
            }));
            entries.push(JournalEntry::Answer(Arc::new(row)));
            if entries.len() >= BATCH {
                if written.is_ok() {
                    written = to.append(&entries);
                }
                entries.clear();
            }
        });
        written?;
        read.map_err(|error| self.unreadable(shard, error))?;
        let open = from.open_calls();
        // They were paid for.
        for (question, calls) in open.map_err(|error| self.unreadable(shard, error))? {
            entries.extend(calls.into_iter().map(|call| JournalEntry::Call {
                question,
                call: Box::new(call),
            }));
        }
        Ok(to.append(&entries)?)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The first few of `all` names, and the number of the others.
fn listed(mut named: Vec<String>, all: usize) -> String {
    if all > named.len() {
        named.push(format!("and {} more", all - named.len()));
    }
    named.join(", ")
}
