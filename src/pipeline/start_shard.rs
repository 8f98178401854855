//! A shard: the part of a job that this process asks, in the folder that it shares with
//! the others.

use crate::run::{RunMeta, RunShard, ShardsError, ShardsFolder, SharedPlan};
use crate::settings::{Change, ChosenShard, Layers, Origin, RunAspect, Settings};

use super::PipelineError;
use super::job::Job;
use super::locked_run::{self, LockedRun, ResumedRun, VERSION, stored_settings};

/// Characters of a plan's hash in the name of a run.
const HASH_SHOWN: usize = 12;

/// Starts a shard, or resumes it if an earlier process of the same command started it.
/// Reduces `job` to the shard's questions.
pub(super) fn start_or_resume(
    settings: &Settings,
    chosen: &ChosenShard,
    job: &mut Job,
    commit: Option<String>,
) -> Result<LockedRun, PipelineError> {
    if settings.agents.lacks_accuracy() && !settings.model.is_offline() {
        return Err(PipelineError::ShardWithoutAccuracy);
    }
    let shard = chosen.shard;
    let name = match &settings.shards.run_name {
        Some(name) => name.clone(),
        None => {
            let hash = job.meta.identity.plan.get(..HASH_SHOWN);
            let parts = hash.into_iter().chain(chosen.array_job.as_deref());
            parts.collect::<Vec<_>>().join("-")
        }
    };
    let folder = ShardsFolder::new(&settings.run.output, &name);
    let whole = RunMeta {
        id: name.clone(),
        started: jiff::Timestamp::now().to_string(),
        version: VERSION.to_owned(),
        commit: commit.clone(),
        ..job.meta.clone()
    };
    let agreed = folder.agree(SharedPlan::new(
        whole.clone(),
        &job.workload.plan,
        shard.count(),
    ))?;
    let part = RunShard {
        run: name,
        part: shard,
    };
    let mut differences = differences(&agreed.run, &whole);
    if agreed.shards != shard.count() {
        let changed = format!("it has {} shards, now {}", agreed.shards, shard.count());
        differences.insert(0, changed);
    }
    if !differences.is_empty() {
        return Err(PipelineError::OtherShards {
            shard: part,
            changes: differences.join("; "),
        });
    }
    reduce(job, part);
    let own = folder.shard(shard.index());
    if own.journal().is_file() {
        let kind = job.meta.kind();
        let resumed = ResumedRun::open_folder(own, kind).map_err(|error| match error {
            PipelineError::Journal(reason) => {
                ShardsError::unreadable(folder.name(), shard.index(), reason).into()
            }
            error => error,
        });
        return resumed?.into_continued_run(settings, &job.meta.identity);
    }
    locked_run::create_run(
        &settings.run.output,
        Some(own),
        job.meta.clone(),
        job.prompts.as_ref(),
        commit,
    )
}

/// Reduces a job to the part of a shard. Its identity stays the whole run's.
pub(super) fn reduce(job: &mut Job, shard: RunShard) {
    job.workload.plan.reduce_to(shard.part);
    job.meta.total = Some(job.workload.plan.total());
    job.meta.shard = Some(shard);
}

/// Notes that a run is resumed as another part than it is.
pub(super) fn note_change(resumed: &mut ResumedRun, chosen: Option<&ChosenShard>) {
    let was = resumed.meta().shard.as_ref().map(|shard| shard.part);
    let [was, now] = [was, chosen.map(|chosen| chosen.shard)]
        .map(|part| part.map_or_else(|| "not set".to_owned(), |part| part.to_string()));
    let change = Change::between(RunAspect::Answers, "--shard", was, now);
    resumed.add_changes(change.into_iter().collect());
}

/// The differences between two runs that change questions or answers, one line each.
pub(super) fn differences(was: &RunMeta, now: &RunMeta) -> Vec<String> {
    let words = |what: &str, was: &str, now: &str| format!("{what} was {was}, now {now}");
    if was.version != now.version {
        return vec![words("convfinqa's version", &was.version, &now.version)];
    }
    if let (Some(was), Some(now)) = (&was.commit, &now.commit)
        && was != now
    {
        return vec![words("convfinqa's commit", was, now)];
    }
    let mut changes = match (settings_of(was), settings_of(now)) {
        (Some(was), Some(now)) => was.changes(&now),
        _ => Vec::new(),
    };
    if let (Some(was), Some(now)) = (&was.episodes, &now.episodes) {
        changes.extend(was.changes(now));
    }
    let mut lines = was.identity.changed_options(&now.identity, &changes);
    if lines.is_empty() {
        lines = was.identity.changed_behind(&now.identity, &was.data);
    }
    if lines.is_empty() && was.identity != now.identity {
        lines.push("its settings differ".to_owned());
    }
    if was.prices != now.prices {
        lines.push("its prices (--prices) differ".to_owned());
    }
    lines
}

fn settings_of(meta: &RunMeta) -> Option<Settings> {
    let layers = Layers::default().table(stored_settings(meta), Origin::Run);
    layers.ok()?.settings().ok()
}
