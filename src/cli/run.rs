//! `convfinqa` and `convfinqa run`: the main job.

use std::io::{IsTerminal, Write};
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
use crate::sinks::terminal::{Progress, ProgressOptions, summary_tables};
use crate::sinks::{self, RunFolder, Summary};

use super::args::RunArgs;
use super::provider::{self, Answering};
use super::tracking::{self, Tracking};
use super::{Exit, Failure, settings, signals};

/// Events that may wait for the display before questions wait for it.
const EVENT_QUEUE: usize = 1024;

/// Runs the main job.
///
/// # Errors
/// One line for the user; [`super::exit::classify`] knows its exit code.
pub fn execute(args: &RunArgs) -> anyhow::Result<Exit> {
    let settings = settings::load(args, args.pair.model.config.as_deref())?;
    let offline = settings.is_offline();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all();
    runtime
        .build()
        .context("cannot start the runtime")?
        .block_on(main_job(args, settings, offline))
}

async fn main_job(args: &RunArgs, settings: Settings, offline: bool) -> anyhow::Result<Exit> {
    let options = ProgressOptions {
        verbose: args.verbose,
        quiet: args.quiet,
        terminal: std::io::stderr().is_terminal(),
    };
    let mut progress = Progress::new(options);
    let (events, mut received) = mpsc::channel(EVENT_QUEUE);
    let retries = events.clone();
    let observer: Observer = Arc::new(move |_node, event| {
        if let CallEvent::Retry(notice) = event {
            let reason = format!("{}: {}", notice.reason, notice.message);
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
    let tracking = tracking::tracking(&settings)?;
    if let Some(advice) = provider::advice(&settings) {
        progress.say(advice);
    }
    let dataset = provider::records(&settings, answering.is_remote(), |line| progress.say(line))?;
    let plan = Plan::new(&dataset, settings.mode, settings.history, settings.epochs)?;
    let identity = identity(&settings, &answering, &dataset, &plan);
    let (folder, journal) = match &args.resume {
        Some(run) => resume(&settings.output, run, &identity)?,
        None => begin(&settings, identity, &answering, &dataset, &plan)?,
    };
    let (said, mut heard) = mpsc::unbounded_channel();
    let sidecar = match tracking {
        Tracking::Off => None,
        Tracking::Unusable(line) => {
            progress.say(&line);
            None
        }
        Tracking::On(server) => {
            let say = Box::new(move |line| drop(said.send(line)));
            Some(Sidecar::start(server, folder.path(), plan.total(), say))
        }
    };

    let stop = Stop::default();
    let give_up = stop.abort.clone();
    let quiet = args.quiet;
    signals::listen(stop.clone(), move |line| {
        if !quiet {
            eprintln!("{line}");
        }
    });
    let scheduler = Scheduler {
        plan,
        pair: Arc::new(Pair::new(&answering.pair)?),
        concurrency: settings
            .concurrency
            .unwrap_or_else(|| default_concurrency(offline)),
        price: answering.price(),
        stop,
    };
    drop(answering);
    let run = tokio::spawn(scheduler.run(journal, events));
    loop {
        tokio::select! {
            event = received.recv() => match event {
                Some(event) => {
                    if let Some(sidecar) = &sidecar {
                        sidecar.on(&event);
                    }
                    progress.on(&event);
                }
                None => break,
            },
            Some(line) = heard.recv() => progress.say(&line),
        }
    }
    let finish = run.await.context("the run's task failed")?;
    // Whatever ended the run, what it has is written out before anything else;
    // what ended it is what the user is told first.
    let journal = Journal::open(&folder.journal())?;
    let written = write_results(&folder, &journal, Ok(&dataset)).and_then(|summary| {
        sinks::copy(&folder.file("output.csv"), &folder.last_csv())?;
        Ok(summary)
    });
    let finish = finish?;
    let summary = written?;
    let sent = match sidecar {
        Some(sidecar) => Some(sidecar.finish(ending(&finish, &summary)?, give_up).await),
        None => None,
    };
    if let Some(path) = &args.export_predictions {
        sinks::write_leaderboard(path, &journal)?;
    }
    report(args, &folder, &summary)?;
    if let Some(sent) = sent {
        tell(args, &summary, sent.as_ref());
    }
    if args.gate.junit.is_some() {
        let mut rows = Vec::with_capacity(summary.scores.questions);
        journal.for_each_row(|row| rows.push(row.as_scored()))?;
        args.gate.write(&summary.run.id, &rows)?;
    }
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
fn tell(args: &RunArgs, summary: &Summary, sent: Option<&Sent>) {
    if let Some(Sent::All(delivered)) = sent
        && !args.quiet
    {
        let line = tracking::arrived(delivered);
        if args.json {
            eprintln!("{line}");
        } else {
            // A reader that went away misses nothing of the run.
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }
    for line in tracking::missing(sent, &summary.run.id) {
        eprintln!("{line}");
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
        invented: dataset.invented,
        total: plan.total(),
        settings: toml::Table::try_from(settings)?,
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

/// Everything a run leaves behind, made from its journal.
pub(super) fn write_results(
    folder: &RunFolder,
    journal: &Journal,
    records: Result<&Dataset, &str>,
) -> anyhow::Result<Summary> {
    let summary = sinks::summarise(journal)?;
    sinks::write_csv(&folder.file("output.csv"), journal)?;
    sinks::write_transcripts(&folder.file("transcripts.jsonl"), journal)?;
    sinks::write_summary(&folder.file("summary.json"), &summary)?;
    super::report::write(&folder.report(), journal, &summary, records)?;
    Ok(summary)
}

fn report(args: &RunArgs, folder: &RunFolder, summary: &Summary) -> anyhow::Result<()> {
    let csv = folder.last_csv();
    if args.json {
        let mut stdout = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut stdout, summary)?;
        writeln!(stdout)?;
    } else if !args.quiet {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "{}", summary_tables(summary))?;
        writeln!(
            stdout,
            "Rows: {}\nRun:  {}",
            csv.display(),
            folder.path().display()
        )?;
    }
    Ok(())
}
