//! Starts a shard, in which this process asks one part of a job. The shards of a run share a
//! folder.

use finqa_journal::run::{RunMeta, RunShard, ShardsError, ShardsFolder, SharedPlan};
use finqa_journal::settings::{ChosenShard, Settings, change};

use super::PipelineError;
use super::job::Job;
use super::locked_run::{self, LockedRun, VERSION, differences};

/// Starts a shard, or resumes it if an earlier process with the same command started it. Reduces
/// `job` to the shard's questions.
///
/// # Errors
/// The inputs differ from those that the first shard wrote down.
pub(super) fn start_or_resume(
    settings: &Settings,
    chosen: &ChosenShard,
    job: &mut Job,
) -> Result<LockedRun, PipelineError> {
    let (shard, name) = (chosen.shard, chosen.run.clone());
    let output = &settings.run.output;
    let folder = ShardsFolder::new(output, &name);
    let whole = RunMeta {
        id: name.clone(),
        started: jiff::Timestamp::now().to_string(),
        version: VERSION.to_owned(),
        ..job.meta.clone()
    };
    // The first shard writes the plan. The others are compared with it before they send anything,
    // because a difference that only `merge` finds would already have cost money.
    let plan = SharedPlan::new(whole.clone(), &job.plan, shard.count());
    let agreed = folder.agree(plan)?;
    let part = RunShard {
        run: name,
        part: shard,
    };
    let mut changes = differences_of_shards(&agreed.run, &whole);
    let [was, now] = [agreed.count(), shard.count()].map(|count| count.to_string());
    changes.extend(change("the number of shards", &was, &now));
    if !changes.is_empty() {
        return Err(PipelineError::OtherShards {
            shard: part,
            changes: changes.join("; "),
        });
    }
    reduce(job, part);
    let own = folder.shard(shard.index());
    if own.journal().is_file() {
        let opened = LockedRun::open_folder(own, job.meta.kind());
        return opened.map_err(|error| match error {
            PipelineError::Journal(reason) => {
                ShardsError::unreadable(folder.name(), shard.index(), reason).into()
            }
            error => error,
        });
    }
    let prompts = job.prompts.as_ref();
    locked_run::create_run(output, Some(own), job.meta.clone(), prompts)
}

/// Reduces a job to the part of a shard. The identity remains that of the whole run.
pub(super) fn reduce(job: &mut Job, shard: RunShard) {
    job.plan.reduce_to(shard.part);
    job.meta.total = job.plan.total();
    job.meta.shard = Some(shard);
}

/// The differences between the planned run and a shard, one line each.
pub(super) fn differences_of_shards(was: &RunMeta, now: &RunMeta) -> Vec<String> {
    let mut lines = Vec::from_iter(change("convfinqa's version", &was.version, &now.version));
    if lines.is_empty() {
        lines = differences(was, now);
    }
    if was.prices != now.prices {
        lines.push("its prices (--prices) differ".to_owned());
    }
    lines
}
