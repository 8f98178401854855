//! `convfinqa` and `convfinqa run`: the main job.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::mpsc;

use crate::config::Settings;
use crate::dataset::Dataset;
use crate::output::mlflow::{Ending, Sent, Sidecar};
use crate::output::terminal::{Look, Progress, ProgressOptions, Voice, summary_tables};
use crate::output::{self, RunFolder, Summary};
use crate::run::{Event, Finish, Identity, Journal, JournalError, Plan, RunError, Scheduler};
use crate::telemetry::Telemetry;
use finqa_agents::agents::Pair;
use finqa_agents::models::{CallEvent, Observer, PriceOf, Stop};
use finqa_agents::solve::Solver;

use super::args::RunArgs;
use super::provider::{self, Answering};
use super::results::{has_result, write_results};
use super::resume::{self, HeldRun, Resumed};
use super::tracking::{self, Tracking};
use super::{Exit, Failure, settings, signals, stdout, telemetry};

/// Events that may wait for the display before questions wait for it.
const EVENT_QUEUE: usize = 1024;

/// Runs the main job.
///
/// # Errors
/// One line for the user; [`super::exit::classify`] knows its exit code.
pub fn execute(args: &RunArgs, look: Look) -> anyhow::Result<Exit> {
    let file = args.pair.model.config.as_deref();
    let mut settings = settings::load(args, file)?;
    let resumed = match &args.resume {
        None => None,
        Some(run) => {
            let resumed = Resumed::open(&settings.output, run, args.allow_version)?;
            let own = settings::load_resumed(resume::own_settings(&resumed.run.meta), args, file)?;
            settings = Settings {
                output: settings.output,
                ..own
            };
            Some(resumed)
        }
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all();
    runtime
        .build()
        .context("cannot start the runtime")?
        .block_on(main_job(args, settings, resumed, look))
}

async fn main_job(
    args: &RunArgs,
    settings: Settings,
    resumed: Option<Resumed>,
    look: Look,
) -> anyhow::Result<Exit> {
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
    let ended = traced_job(args, settings, resumed, tracking, progress, &traces, look).await;
    // Whatever the end, what was recorded is delivered.
    traces.finish().await;
    ended
}

async fn traced_job(
    args: &RunArgs,
    settings: Settings,
    resumed: Option<Resumed>,
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
    let Job {
        run,
        records,
        asking,
    } = prepare(&settings, resumed, observer, &progress)?;
    let HeldRun {
        folder,
        journal,
        meta,
        lock: _lock,
    } = run;
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
            Some(Sidecar::start(server, folder.path(), meta.total, say))
        }
    };
    traces.write_to(&folder.file("traces.jsonl"))?;

    let stop = Stop::default();
    let give_up = stop.abort.clone();
    let voice = progress.voice();
    signals::listen(stop.clone(), move |line| voice.say(line));
    let running = asking.map(|asking| {
        let scheduler = Scheduler {
            plan: asking.plan,
            solver: asking.solver,
            concurrency: settings.concurrency.unwrap_or(asking.concurrency),
            price: asking.price,
            stop,
        };
        tokio::spawn(scheduler.run(journal, events.clone()))
    });
    drop(events);
    while let Some(event) = received.recv().await {
        if let Some(sidecar) = &sidecar {
            sidecar.on(&event);
        }
        progress.on(&event);
    }
    let finish = match running {
        Some(run) => run.await.context("the run's task failed")?,
        None => Ok(Finish::Complete),
    };
    traces.flush();
    // Whatever ended the run, what it has is written out before anything else;
    // what ended it is what the user is told first.
    let written = written(&folder, records.as_ref().map_err(String::as_str));
    let finish = finish.map_err(stopped)?;
    let (journal, summary) = written.context(
        "the answers are kept, but not every file is written; --resume writes what is missing",
    )?;
    let sent = match sidecar {
        Some(sidecar) => Some(sidecar.finish(ending(&finish, &summary)?, give_up).await),
        None => None,
    };
    let exit = write_for_ci(args, &journal, records.as_ref(), &summary)
        .and_then(|()| exit_of(args, finish, &summary));
    let printed = report(args, &folder, &summary, look);
    if let Some(sent) = sent {
        tell(args, &progress.voice(), &summary, sent.as_ref());
    }
    let exit = exit?;
    printed?;
    Ok(exit)
}

/// What this process does for a run.
struct Job {
    run: HeldRun,
    /// The records, or why they are not at hand.
    records: Result<Dataset, String>,
    /// What is asked, unless every question is answered already.
    asking: Option<Asking>,
}

struct Asking {
    plan: Plan,
    solver: Arc<dyn Solver>,
    /// Conversations in flight at a time, if the settings do not say.
    concurrency: usize,
    price: PriceOf,
}

fn prepare(
    settings: &Settings,
    resumed: Option<Resumed>,
    observer: Observer,
    progress: &Progress,
) -> anyhow::Result<Job> {
    let resumed = match resumed {
        Some(resumed) if resumed.is_answered()? => {
            let (run, records) = resumed.into_answered(settings)?;
            progress.say(&format!(
                "every question of run {} is answered; writing its files",
                run.meta.id
            ));
            return Ok(Job {
                records,
                run,
                asking: None,
            });
        }
        resumed => resumed,
    };
    let answering = provider::answering(settings, observer)?;
    if let Some(notice) = &answering.notice {
        progress.voice().warn(notice);
    }
    for line in provider::advice(settings) {
        progress.say(&line);
    }
    let located = resumed.as_ref().map(|resumed| resumed.located(settings));
    let dataset = provider::records(
        located.as_ref().unwrap_or(settings),
        answering.is_remote(),
        |line| progress.say(line),
    )?;
    let plan = Plan::new(&dataset, settings.mode, settings.history, settings.epochs)?;
    let identity = identity(settings, &answering, &dataset, &plan);
    let run = match resumed {
        Some(resumed) => resumed.into_continued(settings, &identity)?,
        None => {
            if let Some(line) = resume::unfinished(&settings.output, &identity) {
                progress.say(&line);
            }
            resume::begin(settings, identity, &answering, &dataset, &plan)?
        }
    };
    Ok(Job {
        run,
        records: Ok(dataset),
        asking: Some(Asking {
            plan,
            solver: Arc::new(Pair::new(&answering.pair)?),
            concurrency: answering.default_concurrency(),
            price: answering.price(),
        }),
    })
}

/// The run's files, made from its journal.
fn written(
    folder: &RunFolder,
    records: Result<&Dataset, &str>,
) -> anyhow::Result<(Journal, Summary)> {
    let journal = Journal::read(&folder.journal())?;
    let last = folder.last_csv();
    let summary = write_results(folder.path(), &journal, records, Some(&last))?;
    Ok((journal, summary))
}

/// Why a run stopped, and what is left of it.
fn stopped(error: RunError) -> anyhow::Error {
    let is_gone = matches!(error, RunError::Journal(JournalError::Gone { .. }));
    let error = anyhow::Error::from(error);
    if is_gone {
        return error;
    }
    error.context("the run stopped; what is answered is kept, --resume continues from there")
}

/// The files that were asked for beside the run's own.
fn write_for_ci(
    args: &RunArgs,
    journal: &Journal,
    records: Result<&Dataset, &String>,
    summary: &Summary,
) -> anyhow::Result<()> {
    if let Some(path) = &args.export_predictions {
        let dataset = records.map_err(|reason| Failure::new(Exit::Data, reason.as_str()))?;
        output::write_leaderboard(path, journal, dataset)?;
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
        unfinished => exit_of_unfinished(unfinished).map_err(Into::into),
    }
}

/// How the program ends after a run that came to no end.
fn exit_of_unfinished(finish: Finish) -> Result<Exit, Failure> {
    match finish {
        Finish::Complete => Ok(Exit::Done),
        Finish::Partial { .. } => Ok(Exit::Unanswered),
        Finish::Interrupted => Ok(Exit::Interrupted),
        Finish::Fatal(message) => Err(Failure::new(Exit::Provider, message)),
        Finish::Bug(message) => Err(Failure::new(
            Exit::Bug,
            format!(
                "this is a bug in convfinqa, please report it: {message}; \
                 what is answered is kept, --resume continues"
            ),
        )),
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

fn report(
    args: &RunArgs,
    folder: &RunFolder,
    summary: &Summary,
    look: Look,
) -> Result<(), Failure> {
    let run = folder.path();
    let csv = match has_result(summary) {
        true => folder.last_csv(),
        false => folder.file("output.csv"),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_and_an_outage_the_providers() {
        let bug = exit_of_unfinished(Finish::Bug("panicked: index 3".to_owned())).unwrap_err();
        assert_eq!(bug.exit.code(), 1);
        assert!(bug.to_string().contains("bug in convfinqa"), "{bug}");
        let fatal = exit_of_unfinished(Finish::Fatal("no key".to_owned())).unwrap_err();
        assert_eq!(fatal.exit.code(), 5);
        let partial = Finish::Partial {
            left: 3,
            reason: "bad gateway".to_owned(),
        };
        assert_eq!(exit_of_unfinished(partial).unwrap().code(), 4);
        assert_eq!(exit_of_unfinished(Finish::Interrupted).unwrap().code(), 130);
    }
}
