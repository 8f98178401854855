//! `convfinqa` and `convfinqa run`, the main job. [`drive`] is the loop of every command that asks
//! the questions of a run.

use std::io::IsTerminal;
use std::sync::Arc;

use clap::ArgMatches;
use serde::Serialize;
use tokio::runtime::Runtime;

use finqa_agents::pair::{Fault, RunFailure};
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;
use finqa_journal::run::{Finish, JournalError, RunFolder, RunKind, RunMeta};
use finqa_journal::settings::Settings;
use finqa_report::output::terminal::{
    ProgressOptions, RunProgress, TerminalStyle, TerminalWriter, summary_text,
};
use finqa_run::pipeline;
use finqa_run::pipeline::{
    LockedRun, Notify, PipelineError, Run, RunContext, RunNotice, RunResults, recorded_run,
    replay_settings,
};

use super::args::{ControlArgs, RunArgs, RunDisplay, needs_model};
use super::ci::CiArgs;
use super::{Exit, Failure, dotenv, mlflow_lines, runtime, settings, signals, stdout, telemetry};

/// The parts of a run that differ between commands.
pub(super) trait RunCommand {
    async fn start(&mut self, settings: &Settings, context: RunContext) -> Result<Run, Failure>;

    /// Called when no more questions will be asked. Does nothing by default.
    async fn on_last_question(&mut self) {}

    /// Called with the results, to write further files and check thresholds. An error is returned
    /// after the summary is printed.
    fn on_results(&self, results: &RunResults) -> Result<(), Failure>;
}

pub(crate) fn execute(
    args: &RunArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let control = &args.control;
    let kind = RunKind::Questions;
    let (settings, context) = load(&args.settings, matches, control, kind)?;
    if args.dry_run {
        return dry_run(&settings, context.recorded.as_ref(), control);
    }
    let display = RunDisplay {
        verbose: args.verbose,
        print: args.control.print,
        style,
    };
    drive(&mut QuestionRun { args }, &settings, context, display)
}

/// Prints the estimated calls, tokens and cost of a run.
fn dry_run(
    settings: &Settings,
    recorded: Option<&RunMeta>,
    control: &ControlArgs,
) -> Result<Exit, Failure> {
    let writer = TerminalWriter::new(ProgressOptions {
        quiet: control.print.quiet,
        logged: telemetry::logs_json(settings.log.log),
        ..ProgressOptions::default()
    });
    let runtime = runtime()?;
    let (variables, notify) = (dotenv::variables(), notify(writer));
    let measured = pipeline::dry_run(settings, recorded, &variables, &notify);
    let measured = runtime.block_on(measured)?;
    if control.print.json {
        stdout::print_json(&measured)?;
    } else {
        stdout::print(|out| writeln!(out, "{measured}"))?;
    }
    Ok(Exit::Done)
}

struct QuestionRun<'a> {
    args: &'a RunArgs,
}

impl RunCommand for QuestionRun<'_> {
    async fn start(&mut self, settings: &Settings, context: RunContext) -> Result<Run, Failure> {
        Ok(Run::start(settings, context).await?)
    }

    fn on_results(&self, results: &RunResults) -> Result<(), Failure> {
        check_thresholds(results, &self.args.ci)
    }
}

/// Loads the settings of a command, and opens the run of this `kind` that it resumes or replays, if
/// any. The settings of that run replace the environment, `convfinqa.toml` and the defaults.
/// `flags` override them.
pub(super) fn load(
    flags: &impl Serialize,
    matches: &ArgMatches,
    control: &ControlArgs,
    kind: RunKind,
) -> Result<(Settings, RunContext), Failure> {
    let file = control.config.config.as_deref();
    let mut settings = settings::load(flags, matches, file)?;
    let output = settings.run.output.clone();
    let resumed = control.resume.as_ref();
    let resumed = resumed.map(|run| LockedRun::open(&output, run, kind));
    let resumed = resumed.transpose()?;
    let replay = control.stored.open()?;
    let recorded = replay.as_ref().map(|replay| recorded_run(replay, kind));
    let recorded = recorded.transpose()?.flatten();
    let own = match (&resumed, &recorded) {
        (Some(resumed), _) => Some(resumed.settings()),
        (None, Some(recorded)) => Some(replay_settings(recorded, &settings)?),
        (None, None) => None,
    };
    if let Some(own) = own {
        settings = settings::load_resumed(own, flags, matches, file)?;
        // The run continues where it was found, even if it was started with another output folder.
        settings.run.output = output;
    }
    needs_model(replay.as_ref(), &settings.model)?;
    let context = RunContext {
        resumed,
        replay,
        recorded,
        variables: dotenv::variables(),
        ..RunContext::default()
    };
    Ok((settings, context))
}

/// Runs `command` to its end, and shows its progress and results. `context` has the run to resume
/// or replay, and the variables. Tracking, traces and notices are set here.
pub(super) fn drive(
    command: &mut impl RunCommand,
    settings: &Settings,
    context: RunContext,
    display: RunDisplay,
) -> Result<Exit, Failure> {
    let options = ProgressOptions {
        verbose: display.verbose,
        quiet: display.print.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::logs_json(settings.log.log),
    };
    let progress = RunProgress::new(options, &settings.run.output);
    let runtime = Runtime::new().map_err(Failure::bug("cannot start the runtime"))?;
    runtime.block_on(async {
        let notify = notify(progress.writer());
        let tracking = pipeline::tracking_server(settings, &context.variables, &notify)?;
        let traces = telemetry::start(settings, tracking.is_some(), &progress.writer())?;
        let context = RunContext {
            tracking,
            traces: traces.clone(),
            notify,
            ..context
        };
        let ended = run_to_end(command, settings, context, progress, display).await;
        // Finish before an error is returned, so that the traces recorded so far are delivered.
        traces.finish().await;
        ended
    })
}

/// Starts the run, shows its progress to the end, and prints the results. Returns the exit code.
async fn run_to_end(
    command: &mut impl RunCommand,
    settings: &Settings,
    context: RunContext,
    mut progress: RunProgress,
    display: RunDisplay,
) -> Result<Exit, Failure> {
    let stop = context.stop.clone();
    let mut run = command.start(settings, context).await?;
    let writer = progress.writer();
    let timeout = settings.shards.shard.as_ref().map(|_| signals::SHARD_DRAIN);
    // Before this line, a signal ends the process at once.
    signals::listen(stop, timeout, move |line| writer.say(line));
    while let Some(event) = run.next().await {
        progress.on(&event);
    }
    command.on_last_question().await;
    let results = run.finish().await;
    let results = results.map_err(|error| with_hint(error, &progress.continuation))?;
    let thresholds = command.on_results(&results);
    report_and_exit_code(&results, thresholds, &progress.writer(), display)
}

/// Prints the summary, even if `thresholds` is an error. Returns the exit code.
pub(super) fn report_and_exit_code(
    results: &RunResults,
    thresholds: Result<(), Failure>,
    writer: &TerminalWriter,
    display: RunDisplay,
) -> Result<Exit, Failure> {
    // The error that ended the run is printed before the summary.
    let exit = exit_code(results).unwrap_or_else(|failure| {
        telemetry::print_error(&failure.message, failure.exit);
        failure.exit
    });
    if let Some(note) = &results.note {
        writer.say(&format!("note: {note}"));
    }
    let printed = print_summary(results, display);
    if let Some(sent) = &results.tracked {
        mlflow_lines::print(writer, results, sent);
    }
    // A failed threshold takes precedence over `Exit::Unanswered`.
    thresholds?;
    printed?;
    Ok(exit)
}

/// A callback that prints notices as lines on stderr.
pub(super) fn notify(writer: TerminalWriter) -> Notify {
    Arc::new(move |notice| match notice {
        RunNotice::Note(line) => writer.say(&line),
        RunNotice::Warning(line) => writer.warn(&line),
    })
}

/// Turns the error of a run into a failure, with a hint on how to continue.
fn with_hint(error: PipelineError, continuation: &str) -> Failure {
    let hint = match &error {
        PipelineError::NothingAsked(failure) => return fatal(failure.clone()),
        // Its own text says what to do.
        PipelineError::Stopped(JournalError::Gone { .. }) => None,
        PipelineError::Stopped(error) if error.kind() == Kind::Data => Some(
            "the journal cannot be read; restore it, or remove its folder and start over"
                .to_owned(),
        ),
        PipelineError::Stopped(_) => Some(format!(
            "the run stopped; its answers are kept, and {continuation} continues it"
        )),
        PipelineError::Unwritten(_) => Some(format!(
            "the answers are kept, but some files were not written; {continuation} writes them"
        )),
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.within(hint),
        None => failure,
    }
}

/// Checks the thresholds of a complete run. A shard is not checked, because `merge` checks the
/// whole run. An unfinished run ends with its own exit code, and its JUnit file says that it is not
/// judged.
pub(super) fn check_thresholds(results: &RunResults, ci: &CiArgs) -> Result<(), Failure> {
    let summary = &results.summary;
    match results.finish {
        _ if summary.run.shard.is_some() => Ok(()),
        Finish::Complete => ci.check_thresholds(&summary.scores, None),
        _ => ci.report_unjudged(&format!(
            "not judged: no outcome for {} of {}",
            summary.left(),
            counted(summary.run.total, "question")
        )),
    }
}

/// The exit code of a run. A shard that asked all of its questions exits with 0 even if some have
/// no answer, so that Slurm or Kubernetes, which started it, counts it as successful. `merge`
/// reports these questions.
fn exit_code(results: &RunResults) -> Result<Exit, Failure> {
    let is_shard = results.summary.run.shard.is_some();
    match &results.finish {
        Finish::Complete if results.summary.unanswered() > 0 && !is_shard => Ok(Exit::Unanswered),
        // Not [`Exit::Unanswered`], because the same command continues the shard.
        Finish::Partial { .. } if is_shard => Ok(Exit::Provider),
        Finish::Fatal(failure) if !is_resumable(&results.finish) => Err(Failure::usage(format!(
            "{failure}; a run cannot be resumed with other prompts, so correct the template and \
             start a new run"
        ))),
        finish => unfinished_exit_code(finish.clone()),
    }
}

/// False if the run ended at a template that cannot be rendered: it would end there again.
fn is_resumable(finish: &Finish) -> bool {
    !matches!(finish, Finish::Fatal(failure) if failure.fault == Fault::Template)
}

/// The exit code for the way in which a run ended. The answers do not affect it.
///
/// # Errors
/// The failure that ended the run.
pub(super) fn unfinished_exit_code(finish: Finish) -> Result<Exit, Failure> {
    match finish {
        Finish::Complete => Ok(Exit::Done),
        Finish::Partial { .. } => Ok(Exit::Unanswered),
        Finish::BudgetReached { .. } => Ok(Exit::BudgetReached),
        Finish::Interrupted => Ok(Exit::Interrupted),
        Finish::Fatal(failure) => Err(fatal(failure)),
        Finish::Bug(message) => Err(bug(&format!("{message}; the answers are kept"))),
    }
}

/// The failure that ended a run or a question of `ask`, with its exit code.
pub(super) fn fatal(failure: RunFailure) -> Failure {
    let RunFailure { message, fault } = failure;
    match fault {
        Fault::Provider | Fault::Failing => Failure::new(Exit::Provider, message),
        Fault::NoTools => Failure::usage(format!(
            "{message}; env play needs a model that does, or `--model offline`"
        )),
        Fault::Usage | Fault::Template => Failure::usage(message),
        Fault::Data => Failure::new(Exit::Data, message),
        Fault::Bug => bug(&message),
    }
}

fn bug(message: &str) -> Failure {
    let line = format!("this is a bug in convfinqa, please report it: {message}");
    Failure::new(Exit::Bug, line)
}

/// Prints the summary and where the results are. With `--json` it prints only the summary as JSON,
/// and with `--quiet` nothing.
fn print_summary(results: &RunResults, shown: RunDisplay) -> Result<(), Failure> {
    let RunResults {
        folder, summary, ..
    } = results;
    let run = folder.path();
    // The copy in the output folder, if the run replaced it.
    let csv = if summary.has_result() && summary.run.is_for_last_csv() {
        folder.last_csv()
    } else {
        folder.file(RunFolder::CSV)
    };
    let output = is_resumable(&results.finish).then(|| folder.output());
    if shown.print.json {
        stdout::print_json(summary)?;
    } else if !shown.print.quiet {
        stdout::print(|out| {
            writeln!(
                out,
                "{}",
                summary_text(summary, output, shown.verbose, shown.style)
            )?;
            writeln!(out, "Answers: {}", csv.display())?;
            let report = folder.file(RunFolder::REPORT);
            if report.is_file() {
                writeln!(out, "Report:  {}", report.display())?;
            }
            writeln!(out, "Run:     {}", run.display())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_and_an_outage_the_providers() {
        let bug = unfinished_exit_code(Finish::Bug("panicked: index 3".to_owned())).unwrap_err();
        assert!(bug.to_string().contains("bug in convfinqa"), "{bug}");
        let (left, reason) = (3, "bad gateway".to_owned());
        let fatal = |fault| {
            let message = String::new();
            Finish::Fatal(RunFailure { message, fault })
        };
        for (finish, code) in [
            (Finish::Bug(String::new()), 1),
            (fatal(Fault::Provider), 5),
            // `ask` once reported a bug as an error of the provider.
            (fatal(Fault::Bug), 1),
            (Finish::Partial { left, reason }, 4),
            (Finish::Interrupted, 130),
        ] {
            let exit = unfinished_exit_code(finish);
            assert_eq!(exit.unwrap_or_else(|it| it.exit).code(), code);
        }
    }
}
