//! `convfinqa` and `convfinqa run`: the main job.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::mpsc;

use crate::agents::Pair;
use crate::config::Settings;
use crate::dataset::Dataset;
use crate::models::{CallEvent, Observer};
use crate::run::{Event, Finish, Identity, Journal, Plan, RunMeta, Scheduler, Stop};
use crate::sinks::mlflow::{Ending, Sent, Sidecar};
use crate::sinks::report::Pages;
use crate::sinks::terminal::{Look, Progress, ProgressOptions, Voice, summary_tables};
use crate::sinks::{self, CsvFile, RunFolder, Summary, Transcripts};
use crate::telemetry::Telemetry;

use super::args::RunArgs;
use super::provider::{self, Answering};
use super::report::Gathered;
use super::tracking::{self, Tracking};
use super::{Exit, Failure, settings, signals, stdout, telemetry};

/// Events that may wait for the display before questions wait for it.
const EVENT_QUEUE: usize = 1024;

/// Runs the main job.
///
/// # Errors
/// One line for the user; [`super::exit::classify`] knows its exit code.
pub fn execute(args: &RunArgs, look: Look) -> anyhow::Result<Exit> {
    let settings = settings::load(args, args.pair.model.config.as_deref())?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all();
    runtime
        .build()
        .context("cannot start the runtime")?
        .block_on(main_job(args, settings, look))
}

async fn main_job(args: &RunArgs, settings: Settings, look: Look) -> anyhow::Result<Exit> {
    let options = ProgressOptions {
        verbose: args.verbose,
        quiet: args.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::is_logged(settings.log),
    };
    let progress = Progress::new(options);
    let tracking = tracking::tracking(&settings)?;
    let place = telemetry::Place::Run {
        tracked: matches!(tracking, Tracking::On(_)),
    };
    let traces = telemetry::start(&settings, place, &progress.voice())?;
    let ended = traced_job(args, settings, tracking, progress, &traces, look).await;
    // Whatever the end, what was recorded is delivered.
    traces.finish().await;
    ended
}

async fn traced_job(
    args: &RunArgs,
    settings: Settings,
    tracking: Tracking,
    mut progress: Progress,
    traces: &Telemetry,
    look: Look,
) -> anyhow::Result<Exit> {
    let (events, mut received) = mpsc::channel(EVENT_QUEUE);
    let retries = events.clone();
    let observer: Observer = Arc::new(move |_node, event| {
        if let CallEvent::Retry(notice) = event {
            let reason = notice.words();
            let event = Event::Retry {
                attempt: notice.attempt,
                delay: notice.delay,
                reason,
            };
            // A slow display loses a notice, never a retry.
            let _ = retries.try_send(event);
        }
    });
    let answering = provider::answering(&settings, observer)?;
    if let Some(notice) = &answering.notice {
        progress.voice().warn(notice);
    }
    for line in provider::advice(&settings) {
        progress.say(&line);
    }
    let dataset = provider::records(&settings, answering.is_remote(), |line| progress.say(line))?;
    let plan = Plan::new(&dataset, settings.mode, settings.history, settings.epochs)?;
    let identity = identity(&settings, &answering, &dataset, &plan);
    let (folder, journal) = match &args.resume {
        Some(run) => resume(&settings.output, run, &identity)?,
        None => begin(&settings, identity, &answering, &dataset, &plan)?,
    };
    let sidecar = match tracking {
        Tracking::Off => None,
        Tracking::Unusable(line) => {
            progress.say(&line);
            None
        }
        Tracking::On(server) => {
            // Not through the loop below: that ends with the last question, and the
            // reason may come after it.
            let voice = progress.voice();
            let say = Box::new(move |line: String| voice.say(&line));
            Some(Sidecar::start(server, folder.path(), plan.total(), say))
        }
    };
    traces.write_to(&folder.file("traces.jsonl"))?;

    let stop = Stop::default();
    let give_up = stop.abort.clone();
    let voice = progress.voice();
    signals::listen(stop.clone(), move |line| voice.say(line));
    let scheduler = Scheduler {
        plan,
        pair: Arc::new(Pair::new(&answering.pair)?),
        concurrency: settings
            .concurrency
            .unwrap_or_else(|| default_concurrency(settings.is_offline())),
        price: answering.price(),
        stop,
    };
    drop(answering);
    let run = tokio::spawn(scheduler.run(journal, events));
    while let Some(event) = received.recv().await {
        if let Some(sidecar) = &sidecar {
            sidecar.on(&event);
        }
        progress.on(&event);
    }
    let finish = run.await.context("the run's task failed")?;
    traces.flush();
    // Whatever ended the run, what it has is written out before anything else;
    // what ended it is what the user is told first.
    let journal = Journal::open(&folder.journal())?;
    let written = write_results(&folder, &journal, Ok(&dataset)).and_then(|summary| {
        sinks::copy(&folder.file("output.csv"), &folder.last_csv())?;
        Ok(summary)
    });
    let finish =
        finish.context("the run stopped; what is answered is kept, --resume goes on from there")?;
    let summary = written?;
    let sent = match sidecar {
        Some(sidecar) => Some(sidecar.finish(ending(&finish, &summary)?, give_up).await),
        None => None,
    };
    let exit = write_for_ci(args, &journal, &dataset, &summary)
        .and_then(|()| exit_of(args, finish, &summary));
    let printed = report(args, &folder, &summary, look);
    if let Some(sent) = sent {
        tell(args, &progress.voice(), &summary, sent.as_ref());
    }
    let exit = exit?;
    printed?;
    Ok(exit)
}

/// The files that were asked for beside the run's own.
fn write_for_ci(
    args: &RunArgs,
    journal: &Journal,
    dataset: &Dataset,
    summary: &Summary,
) -> anyhow::Result<()> {
    if let Some(path) = &args.export_predictions {
        sinks::write_leaderboard(path, journal, dataset)?;
    }
    if args.gate.junit.is_some() {
        let mut rows = Vec::with_capacity(summary.scores.questions);
        journal.for_each_row(|row| rows.push(row.as_scored()))?;
        args.gate.write(&summary.run.id, &rows)?;
    }
    Ok(())
}

/// How the program ends.
fn exit_of(args: &RunArgs, finish: Finish, summary: &Summary) -> anyhow::Result<Exit> {
    match finish {
        Finish::Complete => {
            args.gate.hold(&summary.scores.rates)?;
            if summary.unanswered() > 0 {
                Ok(Exit::Unanswered)
            } else {
                Ok(Exit::Done)
            }
        }
        Finish::Interrupted => Ok(Exit::Interrupted),
        Finish::Fatal(message) => Err(Failure::new(Exit::Provider, message).into()),
    }
}

/// What a tracking server is told at the end.
///
/// # Errors
/// Only if the wiring of the agents were wrong.
pub(super) fn ending(finish: &Finish, summary: &Summary) -> anyhow::Result<Ending> {
    Ok(Ending {
        finish: finish.clone(),
        summary: summary.clone(),
        drawings: super::graph::drawings()?,
    })
}

/// Says where the run is seen, or what is missing there. This is beside the
/// results and never on stdout with `--json`.
fn tell(args: &RunArgs, voice: &Voice, summary: &Summary, sent: Option<&Sent>) {
    if let Some(Sent::All(delivered)) = sent
        && !args.quiet
    {
        let line = tracking::arrived(delivered);
        if args.json {
            voice.say(&line);
        } else {
            // Output that cannot be written takes nothing from the run.
            let _ = stdout::print_words(|out| writeln!(out, "{line}"));
        }
    }
    for line in tracking::missing(sent, &summary.run.id) {
        voice.warn(&line);
    }
}

/// Side by side: offline the cores are the limit, else the provider's patience.
fn default_concurrency(offline: bool) -> usize {
    if offline {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        8
    }
}

fn identity(
    settings: &Settings,
    answering: &Answering,
    dataset: &Dataset,
    plan: &Plan,
) -> Identity {
    Identity {
        model: answering.name.clone(),
        critic: answering.critic_name.clone(),
        data: dataset.hash.clone(),
        prompts: answering.pair.prompts.hash(),
        plan: plan.hash(),
        settings: settings.deciding(),
    }
}

fn begin(
    settings: &Settings,
    identity: Identity,
    answering: &Answering,
    dataset: &Dataset,
    plan: &Plan,
) -> anyhow::Result<(RunFolder, Journal)> {
    let id = uuid::Uuid::now_v7().to_string();
    let folder = RunFolder::create(&settings.output, &id)?;
    let meta = RunMeta {
        id,
        started: jiff::Timestamp::now().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: tracking::commit(),
        identity,
        data: dataset.source.clone(),
        data_file: RunMeta::file_of(dataset),
        invented: dataset.invented,
        total: plan.total(),
        settings: provider::kept(settings)?,
    };
    let journal = Journal::create(&folder.journal(), &meta)?;
    if !settings.is_offline() {
        let texts = answering.pair.prompts.texts(&answering.pair.rendering)?;
        journal.keep_prompts(&texts)?;
    }
    sinks::write_config(&folder.file("config.toml"), &meta)?;
    Ok((folder, journal))
}

fn resume(output: &Path, run: &str, identity: &Identity) -> anyhow::Result<(RunFolder, Journal)> {
    let folder = RunFolder::find(output, run)?;
    let journal = Journal::open(&folder.journal())?;
    let meta = journal.meta()?;
    if let Some((what, then, now)) = meta.identity.difference(identity) {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "run {} cannot be resumed: its {what} was {then}, now it is {now}; \
                 repeat the options it was started with (its config.toml), or start a new run",
                meta.id
            ),
        )
        .into());
    }
    Ok((folder, journal))
}

/// Everything a run leaves behind, made in one reading of its journal.
pub(super) fn write_results(
    folder: &RunFolder,
    journal: &Journal,
    records: Result<&Dataset, &str>,
) -> anyhow::Result<Summary> {
    let mut csv = CsvFile::create(&folder.file("output.csv"))?;
    let mut transcripts = Transcripts::create(&folder.file("transcripts.jsonl"))?;
    let pages = match records {
        Ok(dataset) => Pages::of(dataset),
        Err(reason) => Pages::missing(reason.to_owned()),
    };
    let mut gathered = Gathered::new(&pages);
    journal.for_each_row(|row| {
        csv.add(&row);
        transcripts.add(&row);
        gathered.add(&row);
    })?;
    csv.finish()?;
    transcripts.finish()?;
    let summary = gathered.tally.finish(journal.meta()?);
    sinks::write_summary(&folder.file("summary.json"), &summary)?;
    let (run, answers) = (&summary.run, gathered.answers);
    let causes = super::report::causes(folder.path(), run, answers, records.ok());
    gathered.report.write(&folder.report(), &summary, &causes)?;
    Ok(summary)
}

fn report(
    args: &RunArgs,
    folder: &RunFolder,
    summary: &Summary,
    look: Look,
) -> Result<(), Failure> {
    let (csv, run) = (folder.last_csv(), folder.path());
    if args.json {
        stdout::print_json(summary)?;
    } else if !args.quiet {
        stdout::print(|out| {
            writeln!(out, "{}", summary_tables(summary, look))?;
            writeln!(out, "Rows: {}\nRun:  {}", csv.display(), run.display())
        })?;
    }
    Ok(())
}
