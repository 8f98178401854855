//! `convfinqa improve`: lets a model change the prompts, and keeps a change only if runs show that
//! it helps.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use finqa_agents::llm::Stop;
use finqa_journal::answers::open_answers;
use finqa_journal::run::RunFolder;
use finqa_journal::settings::{CalibrationSettings, Settings};
use finqa_report::output::terminal::{
    ProgressOptions, RunProgress, TerminalStyle, TerminalWriter, candidate_line, improvement_text,
};
use finqa_run::improve::{PAGE, RULE, Search, SearchContext, SearchError, SearchEvent, Watch};
use finqa_run::pipeline;
use finqa_score::analysis::{Answers, compare};
use finqa_score::improve::Power;

use super::args::{ConfigFile, PrintArgs, ReplayArgs};
use super::gate::points;
use super::{Exit, Failure, dotenv, mlflow_lines, run, settings, signals, stdout, telemetry};

#[derive(clap::Args, Debug)]
pub(crate) struct ImproveArgs {
    /// Earlier runs from which to estimate on how many questions two runs differ: one run with --epochs, or two runs over the same questions [default: 15 % of the questions]
    #[arg(num_args = 0..=2)]
    earlier: Vec<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Model that proposes changes, on the analyst's server [default: the analyst's model]
    #[arg(long, value_name = "MODEL", help_heading = "Improvement")]
    proposer: Option<String>,
    /// Refuse to start unless the gate pages can detect a gain of this many points with 80 % power
    #[arg(
        long,
        value_name = "POINTS",
        default_value = "5",
        value_parser = points,
        help_heading = "Improvement"
    )]
    detect: f64,
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    stored: ReplayArgs,
    #[command(flatten)]
    print: PrintArgs,
}

/// Runs the search for better prompts and shows its result. Steps that an earlier process finished
/// are not repeated.
pub(crate) fn execute(
    args: &ImproveArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let mut settings = settings::load(&args.settings, matches, args.config.config.as_deref())?;
    if settings.model.is_offline() {
        let line = "improve needs a chat model, whose prompts it changes; pass --model NAME";
        return Err(Failure::usage(line));
    }
    let is_limited = settings.calibration.max_error.is_some();
    if settings.shards.shard.is_some() || settings.questions.only.is_some() || is_limited {
        let line = "improve does not take --shard, --only or --max-error";
        return Err(Failure::usage(line));
    }
    // A calibration is valid for one set of prompts only, and the candidates change the prompts.
    settings.calibration = CalibrationSettings::default();
    // `points` accepts 0, which is useful for --margin.
    if args.detect <= 0.0 {
        return Err(Failure::usage(
            "--detect is 0; give at least a part of a point",
        ));
    }
    let options = ProgressOptions {
        quiet: args.print.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::logs_json(settings.log.log),
        ..ProgressOptions::default()
    };
    let replay = args.stored.open()?;
    let runtime = Runtime::new().map_err(Failure::bug("cannot start the runtime"))?;
    runtime.block_on(async {
        let writer = TerminalWriter::new(options);
        let notify = run::notify(writer.clone());
        let earlier = earlier(&args.earlier, &settings.run.output)?;
        let power = Power::of(args.detect, earlier);
        let proposer = args.proposer.clone();
        let tracking = pipeline::tracking_server(&settings, &dotenv::variables(), &notify)?;
        let traces = telemetry::start(&settings, tracking.is_some(), &writer)?;
        let stop = Stop::default();
        let context = SearchContext {
            variables: dotenv::variables(),
            replay,
            stop: stop.clone(),
            traces: traces.clone(),
            watch: watch(options, &settings.run.output),
        };
        let search = Search::new(&settings, proposer, power, context).map_err(failure)?;
        signals::listen(stop, None, move |line| writer.say(line));
        let ended = search.run().await;
        traces.finish().await;
        let (found, folder) = ended.map_err(failure)?;
        if args.print.json {
            stdout::print_json(&found)?;
        } else if !args.print.quiet {
            stdout::print_words(|out| {
                writeln!(out, "{}", improvement_text(&found, style))?;
                writeln!(out, "Page:    {}", folder.join(PAGE).display())?;
                match &found.prompts {
                    Some(prompts) => writeln!(out, "Prompts: {prompts}"),
                    None => Ok(()),
                }
            })?;
        }
        Ok(Exit::Done)
    })
}

/// Shows the progress of a search: that of each run, and a line for each candidate.
fn watch(options: ProgressOptions, output: &Path) -> Watch {
    let writer = TerminalWriter::new(options);
    let notify = run::notify(writer.clone());
    let output = output.to_owned();
    let progress: Mutex<Option<RunProgress>> = Mutex::new(None);
    Arc::new(move |event| match event {
        SearchEvent::Asks(name) => {
            writer.say(&format!("asking {name}"));
            *progress.lock() = Some(RunProgress::new(options, &output));
        }
        SearchEvent::Question(event) => {
            if let Some(progress) = progress.lock().as_mut() {
                progress.on(event);
                // A command that resumes only this run would not continue the search.
                "the same command".clone_into(&mut progress.continuation);
            }
        }
        SearchEvent::Ended(results) => {
            // The next run begins with a display of its own.
            *progress.lock() = None;
            if let Some(sent) = &results.tracked {
                mlflow_lines::print(&writer, results, sent);
            }
        }
        SearchEvent::Tried(candidate) => writer.say(&candidate_line(candidate)),
        SearchEvent::Notice(notice) => notify(notice),
    })
}

/// Turns the error of a search into a failure. If a limit or a signal ended the search, the exit
/// code is that of the run in which it ended.
fn failure(error: SearchError) -> Failure {
    let exit = match &error {
        SearchError::LimitReached => Exit::BudgetReached,
        SearchError::Unfinished { finish, .. } => match run::unfinished_exit_code(finish.clone()) {
            Ok(exit) => exit,
            Err(failure) => return failure,
        },
        _ => return error.into(),
    };
    Failure {
        exit,
        ..error.into()
    }
}

/// Discordance and design effect, measured on the first two passes of one earlier run, or on two
/// earlier runs. `None` without earlier runs.
fn earlier(named: &[PathBuf], output: &Path) -> Result<Option<(f64, f64)>, Failure> {
    let open = |named: &PathBuf| -> Result<Answers, Failure> {
        Ok(open_answers(&RunFolder::answers_at(named, output)?, None)?)
    };
    let (a, b) = match named {
        [] => return Ok(None),
        [one] => {
            let pass = |epoch: u32| -> Result<Answers, Failure> {
                let mut answers = open(one)?;
                answers.rows.retain(|row| row.epoch == epoch);
                // Rows are paired by key and epoch, and those of the two passes must pair.
                answers.rows.iter_mut().for_each(|row| row.epoch = 0);
                Ok(answers)
            };
            (pass(0)?, pass(1)?)
        }
        [a, b, ..] => (open(a)?, open(b)?),
    };
    // `true`: only the questions that both have are compared.
    let comparison = compare(&a, &b, RULE, true)?;
    let difference = comparison.difference();
    Ok(difference.map(|it| (it.discordance, it.design_effect())))
}
