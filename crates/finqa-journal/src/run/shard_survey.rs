//! Checks the shards of a run against their shared plan, and merges them into one journal. Its rows
//! are numbered in the order in which they were answered.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::settings::Shard;
use finqa_agents::pair::Call;
use finqa_score::score::{Row, Stamp};

use super::journal::{Journal, JournalEntry, JournalError};
use super::lock::RunLock;
use super::run_meta::{MergedShards, MissingPart, MovedModels, RunMeta, RunShard};
use super::shards_error::ShardsError;
use super::shards_folder::{ShardsFolder, SharedPlan};
use super::summary::{billed, unrecorded};

/// Number of entries after which a transaction is written, so that the rows of a shard are never
/// all in memory. Set by hand.
const BATCH: usize = 256;

/// The content of a run's shards, checked against their plan.
pub struct ShardSurvey<'f> {
    folder: &'f ShardsFolder,
    plan: &'f SharedPlan,
    /// The stamp of each answered question, by its index in the plan. [`ShardSurvey::take`]
    /// replaces the stamps of the shards by stamps of the merged run.
    stamps: HashMap<usize, Stamp>,
    merged: MergedShards,
    prompts: BTreeMap<String, String>,
    /// The models of shards, if they were at other addresses than the plan's.
    moved: Vec<MovedModels>,
}

impl<'f> ShardSurvey<'f> {
    /// Reads the shards. `differences` lists the differences between the description of a shard and
    /// the plan.
    pub fn take(
        folder: &'f ShardsFolder,
        plan: &'f SharedPlan,
        differences: impl Fn(&RunMeta) -> Vec<String>,
    ) -> Result<Self, ShardsError> {
        let mut survey = Self {
            folder,
            plan,
            stamps: HashMap::new(),
            merged: MergedShards {
                shards: plan.count(),
                ..MergedShards::default()
            },
            prompts: BTreeMap::new(),
            moved: Vec::new(),
        };
        for (shard, of) in plan.shards() {
            let mut questions = of;
            if let Some(journal) = survey.journal(shard)? {
                let meta = survey.readable(shard, journal.meta())?;
                survey.check(shard, &meta, differences(&meta))?;
                survey.moved.extend(meta.models_besides(&plan.run.identity));
                // A journal with more rows than the plan must not make the number negative.
                questions -= survey.count(shard, &journal)?.min(of);
            }
            if questions > 0 {
                survey.merged.missing.push(MissingPart {
                    shard: shard.index(),
                    questions,
                    of,
                });
            }
        }
        // Number the rows of all shards in the order in which they were recorded. On a tie, take
        // the order of the plan, because that of a hash map differs between processes.
        let mut order: Vec<_> = survey.stamps.iter_mut().collect();
        order.sort_unstable_by_key(|(index, stamp)| (stamp.at, **index));
        let mut last = Stamp::default();
        for (_, stamp) in order {
            last = last.next(stamp.at);
            *stamp = last;
        }
        Ok(survey)
    }

    /// The journal of a shard; `None` if the shard was never started.
    fn journal(&self, shard: Shard) -> Result<Option<Journal>, ShardsError> {
        let own = self.folder.shard(shard.index());
        if !own.journal().is_file() {
            return Ok(None);
        }
        if let Some(holder) = RunLock::holder(own.path()) {
            let problem = format!("is in use by {holder}; merge when it has ended");
            return Err(self.problem(shard, problem, false));
        }
        self.readable(shard, Journal::read(&own.journal()))
            .map(Some)
    }

    fn readable<T>(&self, shard: Shard, read: Result<T, JournalError>) -> Result<T, ShardsError> {
        let run = self.folder.name();
        read.map_err(|reason| ShardsError::unreadable(run, shard.index(), reason))
    }

    /// An error about a shard. For `is_data` see [`ShardsError::OfShard`].
    fn problem(&self, shard: Shard, problem: String, is_data: bool) -> ShardsError {
        ShardsError::OfShard {
            run: self.folder.name().to_owned(),
            shard: shard.index(),
            problem,
            is_data,
        }
    }

    /// Returns an error if the shard is another one than its folder says, or differs from the plan.
    fn check(&self, shard: Shard, meta: &RunMeta, changes: Vec<String>) -> Result<(), ShardsError> {
        let is_here = |own: &RunShard| own.part == shard && own.run == self.folder.name();
        if !meta.shard.as_ref().is_some_and(is_here) {
            let found = meta.shard.as_ref().map(ToString::to_string);
            let found = found.unwrap_or_else(|| format!("run {}", meta.id));
            let problem = format!("is not in its folder, which holds {found}");
            return Err(self.problem(shard, problem, true));
        }
        if changes.is_empty() {
            return Ok(());
        }
        let problem = format!("differs from the plan: {}", changes.join("; "));
        Err(self.problem(shard, problem, false))
    }

    /// Collects the stamps of a shard's rows, and counts the requests that it did not record.
    /// Returns the number of rows. Every row must be about a question of this shard.
    fn count(&mut self, shard: Shard, journal: &Journal) -> Result<usize, ShardsError> {
        let stamps = &mut self.stamps;
        let (mut rows, mut known, mut foreign) = (0, 0, None);
        let visited = journal.for_each_row(|row| {
            rows += 1;
            known += row.solution.calls.iter().map(billed).sum::<u64>();
            if !shard.contains(&row.key.id) {
                foreign.get_or_insert(row.key);
            }
            // The journal's writer gives every row a stamp.
            stamps.insert(row.index, row.stamp.unwrap_or_default());
        });
        self.readable(shard, visited)?;
        if let Some(key) = foreign {
            let problem = format!("has a question of another shard: {key}");
            return Err(self.problem(shard, problem, true));
        }
        let calls = self.readable(shard, journal.open_calls())?;
        known += calls.values().flatten().map(billed).sum::<u64>();
        self.merged.unrecorded += self.readable(shard, unrecorded(journal, known))?;
        // The prompts of all shards are the same: `check` has compared their hash.
        if self.prompts.is_empty() {
            self.prompts = self.readable(shard, journal.prompts())?;
        }
        Ok(rows)
    }

    /// Returns an error if questions are missing.
    pub fn refuse_missing(&self) -> Result<(), ShardsError> {
        match self.merged.missing_line() {
            None => Ok(()),
            Some(missing) => Err(ShardsError::Incomplete {
                run: self.folder.name().to_owned(),
                missing,
            }),
        }
    }

    /// Writes the merged journal to a new file.
    pub fn write(&self, to: &Path) -> Result<(), ShardsError> {
        let prompts = Some(&self.prompts).filter(|prompts| !prompts.is_empty());
        let meta = RunMeta {
            merged: Some(self.merged.clone()),
            moved: self.moved.clone(),
            ..self.plan.run.clone()
        };
        let mut merged = Journal::create(to, &meta, prompts)?;
        for (shard, _) in self.plan.shards() {
            if let Some(journal) = self.journal(shard)? {
                self.copy(shard, &journal, &mut merged)?;
            }
        }
        Ok(merged.close()?)
    }

    /// Copies to the merged journal the rows of a shard that the survey found, with their calls and
    /// the survey's stamps, and the calls of questions without an outcome.
    fn copy(&self, shard: Shard, from: &Journal, to: &mut Journal) -> Result<(), ShardsError> {
        let mut entries = Vec::with_capacity(BATCH);
        let mut written = Ok(());
        let read = from.for_each_row(|mut row: Row| {
            // This row was recorded after the survey. The next merge includes it.
            let Some(stamp) = self.stamps.get(&row.index) else {
                return;
            };
            row.stamp = Some(*stamp);
            let calls = std::mem::take(&mut row.solution.calls);
            entries.extend(entries_of(row.index, calls));
            entries.push(JournalEntry::Answer(Arc::new(row)));
            if entries.len() >= BATCH {
                // The first error is kept and returned below; nothing is written after it.
                if written.is_ok() {
                    written = to.append(&entries);
                }
                entries.clear();
            }
        });
        written?;
        self.readable(shard, read)?;
        // Calls of questions without an outcome are copied too, because they were paid for.
        for (question, calls) in self.readable(shard, from.open_calls())? {
            entries.extend(entries_of(question, calls));
        }
        Ok(to.append(&entries)?)
    }
}

fn entries_of(question: usize, calls: Vec<Call>) -> impl Iterator<Item = JournalEntry> {
    calls.into_iter().map(move |call| JournalEntry::Call {
        question,
        call: Box::new(call),
    })
}
