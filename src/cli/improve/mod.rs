//! `convfinqa improve`: lets a model change the prompts, and keeps a change only if it is shown to
//! help.

mod search;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use tokio::runtime::Runtime;

use finqa_journal::answers::open_answers;
use finqa_journal::run::RunFolder;
use finqa_journal::settings::{CalibrationSettings, Settings};
use finqa_report::output::terminal::{
    ProgressOptions, TerminalStyle, TerminalWriter, improvement_text,
};
use finqa_run::pipeline;
use finqa_score::analysis::{Answers, compare};
use finqa_score::improve::Power;

use super::args::{ConfigFile, PrintArgs, ReplayArgs};
use super::compare::points;
use super::{Exit, Failure, dotenv, run, settings, signals, stdout, telemetry};
use search::{PAGE, RULE, Search};

/// Arguments of `improve`.
#[derive(clap::Args, Debug)]
pub(crate) struct ImproveArgs {
    /// Earlier runs that say how often two runs differ: one with --epochs, or two of the same questions [default: they differ on 15 % of the questions]
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
    // A calibration is valid for one set of prompts only.
    settings.calibration = CalibrationSettings::default();
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
        let mut search = Search::new(&settings, proposer, power, options, &notify)?;
        search.replay = replay;
        let tracking = pipeline::tracking_server(&settings, &dotenv::variables(), &notify)?;
        let traces = telemetry::start(&settings, tracking.is_some(), &writer)?;
        signals::listen(search.stop.clone(), None, move |line| writer.say(line));
        search.traces = traces.clone();
        let ended = search.run().await;
        traces.finish().await;
        let (found, folder) = ended?;
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

/// Discordance and design effect, measured on earlier runs: on the first two passes of one run, or
/// on two runs. `None` without earlier runs.
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
                answers.rows.iter_mut().for_each(|row| row.epoch = 0);
                Ok(answers)
            };
            (pass(0)?, pass(1)?)
        }
        [a, b, ..] => (open(a)?, open(b)?),
    };
    let comparison = compare(&a, &b, RULE, true)?;
    let difference = comparison.difference();
    Ok(difference.map(|it| (it.discordance, it.design_effect())))
}
