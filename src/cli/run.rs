//! `convfinqa` and `convfinqa run`: the main job.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::Context;
use clap::ArgMatches;

use crate::output;
use crate::output::mlflow::DeliveryOutcome;
use crate::output::terminal::{
    ProgressOptions, RunProgress, TerminalStyle, TerminalWriter, summary_tables,
};
use crate::run::pipeline::has_result;
use crate::run::{
    Finish, JournalError, Notify, PipelineError, Resumed, Run, RunContext, RunFolder, RunKind,
    RunNotice, RunResults, Summary, Tracking,
};
use crate::settings::Settings;
use finqa_agents::agents::{Fault, RunFailure};
use finqa_agents::models::Stop;

use super::args::RunArgs;
use super::{Exit, Failure, dotenv, settings, signals, stdout, telemetry, tracking};

/// Runs the main job.
///
/// # Errors
/// One line for the user; [`super::exit::classify`] knows its exit code.
pub fn execute(args: &RunArgs, matches: &ArgMatches, style: TerminalStyle) -> anyhow::Result<Exit> {
    let file = args.config.config.as_deref();
    let mut settings = settings::load(&args.settings, matches, file)?;
    let resumed = match &args.resume {
        None => None,
        Some(run) => {
            let resumed = Resumed::open(
                &settings.run.output,
                run,
                RunKind::Questions,
                args.allow_version,
            )?;
            let mut own =
                settings::load_resumed(resumed.settings(), &args.settings, matches, file)?;
            own.run.output = settings.run.output;
            settings = own;
            Some(resumed)
        }
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all();
    runtime
        .build()
        .context("cannot start the runtime")?
        .block_on(main_job(args, settings, resumed, style))
}

async fn main_job(
    args: &RunArgs,
    settings: Settings,
    resumed: Option<Resumed>,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let options = ProgressOptions {
        verbose: args.verbose,
        quiet: args.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::is_logged(settings.log.log),
    };
    let progress = RunProgress::new(options);
    let variables = dotenv::variables();
    let tracking = Tracking::of(&settings, &variables)?;
    let place = telemetry::TraceDestination::Run {
        tracked: matches!(tracking, Tracking::On(_)),
    };
    let traces = telemetry::start(&settings, place, &progress.writer())?;
    let context = RunContext {
        resumed,
        variables,
        tracking,
        traces: traces.clone(),
        notify: notify(progress.writer()),
        stop: Stop::default(),
        commit: tracking::commit(),
    };
    let ended = traced_job(args, &settings, context, progress, style).await;
    // Whatever the end, what was recorded is delivered.
    traces.finish().await;
    ended
}

async fn traced_job(
    args: &RunArgs,
    settings: &Settings,
    context: RunContext,
    mut progress: RunProgress,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let stop = context.stop.clone();
    let mut run = Run::start(settings, context).await?;
    let writer = progress.writer();
    signals::listen(stop, move |line| writer.say(line));
    while let Some(event) = run.next().await {
        progress.on(&event);
    }
    let results = run.finish().await.map_err(with_hint)?;
    let exit = write_for_ci(args, &results).and_then(|()| {
        if results.finish == Finish::Complete {
            args.gate.hold(&results.summary.scores.rates)?;
        }
        Ok(exit_of(&results)?)
    });
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        style,
    };
    let printed = show(&results, &progress.writer(), shown);
    let exit = exit?;
    printed?;
    Ok(exit)
}

/// Shows notices as lines on stderr.
pub(super) fn notify(writer: TerminalWriter) -> Notify {
    Arc::new(move |notice| match notice {
        RunNotice::Note(line) => writer.say(&line),
        RunNotice::Warning(line) => writer.warn(&line),
    })
}

/// How results are shown.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub json: bool,
    pub quiet: bool,
    pub style: TerminalStyle,
}

/// Prints what a run led to, and says where it is tracked.
pub(super) fn show(
    results: &RunResults,
    writer: &TerminalWriter,
    shown: Shown,
) -> Result<(), Failure> {
    let printed = report(results, shown);
    if let Some(sent) = &results.tracked {
        tell(writer, &results.summary, sent.as_ref(), shown);
    }
    printed
}

/// What to do about a run that could not be finished.
pub(super) fn with_hint(error: PipelineError) -> anyhow::Error {
    let hint = match &error {
        PipelineError::Stopped(JournalError::Gone { .. }) => None,
        PipelineError::Stopped(_) => {
            Some("the run stopped; what is answered is kept, --resume continues from there")
        }
        PipelineError::Unwritten(_) => Some(
            "the answers are kept, but not every file is written; --resume writes what is missing",
        ),
        _ => None,
    };
    let error = anyhow::Error::from(error);
    match hint {
        Some(hint) => error.context(hint),
        None => error,
    }
}

/// The files that were asked for in addition to the run's own.
fn write_for_ci(args: &RunArgs, results: &RunResults) -> anyhow::Result<()> {
    let RunResults {
        journal, summary, ..
    } = results;
    if let Some(path) = &args.export_predictions {
        let records = results.records.as_ref();
        let dataset = records.map_err(|reason| Failure::new(Exit::Data, reason.as_str()))?;
        output::write_leaderboard(path, journal, dataset)?;
    }
    if args.gate.junit.is_some() {
        let mut rows = Vec::with_capacity(summary.scores.questions);
        journal.for_each_row(|row| rows.push(row.without_exchange()))?;
        args.gate.write(&summary.run.id, &rows)?;
    }
    Ok(())
}

/// How the program ends.
pub(super) fn exit_of(results: &RunResults) -> Result<Exit, Failure> {
    match &results.finish {
        Finish::Complete if results.summary.unanswered() > 0 => Ok(Exit::Unanswered),
        finish => exit_of_unfinished(finish.clone()),
    }
}

/// How the program ends after a run that came to no end.
fn exit_of_unfinished(finish: Finish) -> Result<Exit, Failure> {
    match finish {
        Finish::Complete => Ok(Exit::Done),
        Finish::Partial { .. } => Ok(Exit::Unanswered),
        Finish::Interrupted => Ok(Exit::Interrupted),
        Finish::Fatal(RunFailure { message, fault }) => {
            let exit = match fault {
                Fault::Provider => Exit::Provider,
                Fault::Usage => Exit::Usage,
                Fault::Data => Exit::Data,
            };
            Err(Failure::new(exit, message))
        }
        Finish::Bug(message) => Err(Failure::new(
            Exit::Bug,
            format!(
                "this is a bug in convfinqa, please report it: {message}; \
                 what is answered is kept, --resume continues"
            ),
        )),
    }
}

/// Says where the run is seen, or what is missing there. This is beside the
/// results and never on stdout with `--json`.
fn tell(writer: &TerminalWriter, summary: &Summary, sent: Option<&DeliveryOutcome>, shown: Shown) {
    if let Some(DeliveryOutcome::All(delivered)) = sent
        && !shown.quiet
    {
        let line = tracking::arrived(delivered);
        if shown.json {
            writer.say(&line);
        } else {
            // Output that cannot be written takes nothing from the run.
            let _ = stdout::print_words(|out| writeln!(out, "{line}"));
        }
    }
    for line in tracking::missing(sent, &summary.run.id) {
        writer.warn(&line);
    }
}

fn report(results: &RunResults, shown: Shown) -> Result<(), Failure> {
    let RunResults {
        folder, summary, ..
    } = results;
    let run = folder.path();
    let csv = match has_result(summary) && summary.run.kind() == RunKind::Questions {
        true => folder.last_csv(),
        false => folder.file(RunFolder::CSV),
    };
    if shown.json {
        stdout::print_json(summary)?;
    } else if !shown.quiet {
        stdout::print(|out| {
            writeln!(out, "{}", summary_tables(summary, shown.style))?;
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
        let fatal = exit_of_unfinished(Finish::Fatal(RunFailure::of_provider("no key".to_owned())))
            .unwrap_err();
        assert_eq!(fatal.exit.code(), 5);
        let partial = Finish::Partial {
            left: 3,
            reason: "bad gateway".to_owned(),
        };
        assert_eq!(exit_of_unfinished(partial).unwrap().code(), 4);
        assert_eq!(exit_of_unfinished(Finish::Interrupted).unwrap().code(), 130);
    }
}
