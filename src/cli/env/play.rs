//! `convfinqa env play`: an agent plays episodes.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::ArgMatches;
use serde::Serialize;

use crate::cli::args::ConfigFile;
use crate::cli::run::{Shown, exit_of, notify, show, with_hint};
use crate::cli::{Exit, Failure, dotenv, settings, signals, telemetry, tracking};
use crate::episodes::{
    self, Address, EpisodeOptions, EpisodePlace, LocalEnvironment, ServerEnvironment, tool_specs,
};
use crate::output::terminal::{ProgressOptions, RunProgress, TerminalStyle};
use crate::output::{is_export_of, write_episodes};
use crate::run::pipeline::unused_server;
use crate::run::{
    EpisodeMeta, Notify, PipelineError, Resumed, Run, RunContext, RunKind, RunMeta, RunNotice,
    Tracking,
};
use crate::settings::{
    LogSettings, QuestionSettings, RunSettings, Settings, TraceSettings, Variables,
};
use finqa_agents::agents::Sampling;
use finqa_agents::models::{ModelSettings, Stop};
use finqa_core::files;
use finqa_env::episode::Rules;
use finqa_env::tools::{ToolLimits, Tools};

/// Tool calls after which an episode is given up, by default.
const MAX_STEPS: u32 = 20;

/// The built-in environment's name.
const SAMPLE: &str = "sample";

/// Arguments of `env play`. What is serialised is a layer of settings.
#[derive(clap::Args, Debug, Serialize)]
#[command(
    after_help = "The variables MODEL, API_BASE_URL and API_KEY of OpenEnv's inference scripts are read too; flags take precedence. The episodes are a run like any other: `runs`, `report`, `compare` and `track sync` accept it."
)]
pub struct PlayArgs {
    #[command(flatten)]
    #[serde(flatten)]
    model: ModelSettings,
    #[command(flatten)]
    #[serde(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    #[serde(flatten)]
    run: RunSettings,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigFile,
    /// Number of questions to play, each once [default: all; 100 where the model is not on
    /// loopback]
    #[arg(long, short = 'n', alias = "episodes", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip)]
    n: Option<u64>,
    /// Print each episode when it ends, and retries
    #[arg(long, short = 'v')]
    #[serde(skip)]
    verbose: bool,

    /// Address of a running server, e.g. http://127.0.0.1:8000 [default: an environment in this
    /// process]
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "data_path",
        help_heading = "Environment"
    )]
    #[serde(skip)]
    url: Option<String>,
    /// Bearer token of that server
    #[arg(
        long,
        value_name = "TOKEN",
        env = "FINQA_TOKEN",
        hide_env_values = true,
        help_heading = "Environment"
    )]
    #[serde(skip)]
    token: Option<String>,
    /// Data directory of the environment in this process, or `sample` [default: FINQA_DATA_PATH,
    /// otherwise the built-in sample]
    #[arg(long, alias = "data", value_name = "DIR", help_heading = "Environment")]
    #[serde(skip)]
    data_path: Option<OsString>,
    /// Maximum tool calls per episode [default: 20]
    #[arg(long, value_name = "N", env = "FINQA_MAX_STEPS",
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "Environment")]
    #[serde(skip)]
    max_steps: Option<u32>,

    /// Also write the episodes for trainers, a line of JSON each
    #[arg(long, alias = "out", value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    export_episodes: Option<PathBuf>,
    /// Continue an unfinished episode run with its own settings: the last one, or the one named
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", help_heading = "Output")]
    #[serde(skip)]
    resume: Option<String>,
    /// Resume a run that another version of convfinqa started
    #[arg(long, requires = "resume", help_heading = "Output")]
    #[serde(skip)]
    allow_version: bool,
    /// Print the summary as JSON to stdout, everything else to stderr
    #[arg(long, help_heading = "Output")]
    #[serde(skip)]
    json: bool,
    /// Print only errors and the requested output
    #[arg(long, short = 'q', help_heading = "Output")]
    #[serde(skip)]
    quiet: bool,

    #[command(flatten)]
    #[serde(flatten)]
    log: LogSettings,
    #[command(flatten)]
    #[serde(flatten)]
    tracing: TraceSettings,
}

/// Plays the episodes.
///
/// # Errors
/// One line for the user; [`crate::cli::exit::classify`] knows its exit code.
pub fn execute(
    args: &PlayArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let variables = variables(&args.model);
    let file = args.config.config.as_deref();
    let mut settings = settings::load_by(args, matches, file, &|name| variables.get(name))?;
    let mut resumed = None;
    if let Some(run) = &args.resume {
        let (output, kind) = (settings.run.output.clone(), RunKind::Episodes);
        let run = Resumed::open(&output, run, kind, args.allow_version)?;
        settings = settings::load_resumed(run.settings(), args, matches, file)?;
        settings.run.output = output;
        resumed = Some(run);
    }
    let run = resumed.as_ref().map(|run| run.meta().id.as_str());
    if let Some(path) = &args.export_episodes {
        refuse_foreign(path, run)?;
    }
    // These are of the main job's records.
    settings.questions = QuestionSettings::default();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(play(args, &settings, variables, resumed, style))
}

async fn play(
    args: &PlayArgs,
    settings: &Settings,
    variables: Variables,
    resumed: Option<Resumed>,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let progress = RunProgress::new(ProgressOptions {
        verbose: args.verbose,
        quiet: args.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::is_logged(settings.log.log),
    });
    let tracking = Tracking::of(settings, &variables)?;
    let place = telemetry::TraceDestination::Run {
        tracked: matches!(tracking, Tracking::On(_)),
    };
    let traces = telemetry::start(settings, place, &progress.writer())?;
    let context = RunContext {
        resumed,
        variables,
        tracking,
        traces: traces.clone(),
        notify: notify(progress.writer()),
        stop: Stop::default(),
        commit: tracking::commit(),
    };
    let ended = traced(args, settings, context, progress, style).await;
    // Whatever the end, what was recorded is delivered.
    traces.finish().await;
    ended
}

async fn traced(
    args: &PlayArgs,
    settings: &Settings,
    context: RunContext,
    mut progress: RunProgress,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let (variables, notify) = (context.variables.clone(), Arc::clone(&context.notify));
    if let Some(what) = unused_server(settings, &dotenv::variables(), &["API_KEY", "API_BASE_URL"])
    {
        let line = format!("{what}: playing with the embedded baseline; pass --model NAME");
        notify(RunNotice::Note(line));
    }
    let before = context.resumed.as_ref().map(Resumed::meta);
    let options = options(args, settings, before, &notify)?;
    let stop = context.stop.clone();
    let mut run = Run::start_job(settings, context, |settings, observer| {
        episodes::job(settings, &options, &variables, &notify, &observer)
    })?;
    let writer = progress.writer();
    signals::listen(stop, move |line| writer.say(line));
    while let Some(event) = run.next().await {
        progress.on(&event);
    }
    if let EpisodePlace::Server(server) = &options.place {
        server.close().await;
    }
    let results = run.finish().await.map_err(with_hint)?;
    if let Some(path) = &args.export_episodes {
        write_episodes(path, &results.journal, &tool_specs())?;
    }
    let shown = Shown {
        json: args.json,
        quiet: args.quiet,
        style,
    };
    show(&results, &progress.writer(), shown)?;
    Ok(exit_of(&results)?)
}

/// Where episodes are played, and how many; of a run that is resumed, `before`,
/// nothing of that may change.
fn options(
    args: &PlayArgs,
    settings: &Settings,
    before: Option<&RunMeta>,
    notify: &Notify,
) -> anyhow::Result<EpisodeOptions> {
    let was = before.and_then(|before| before.episodes.as_ref());
    let n = args.n.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let max_steps = args.max_steps.or(was.map(|was| was.max_steps));
    let (url, data_path) = match was {
        Some(was) if args.url.is_none() && args.data_path.is_none() => {
            let environment = Some(was.environment.clone());
            match was.server {
                true => (environment, None),
                false => (None, environment.map(OsString::from)),
            }
        }
        _ => (args.url.clone(), args.data_path.clone()),
    };
    let named = |name: &str| dotenv::variable(name).map(OsString::from);
    let data_path = data_path.or_else(|| named("FINQA_DATA_PATH"));
    let mut options = EpisodeOptions {
        n: n.or(was.and_then(|was| was.n)),
        max_steps: max_steps.unwrap_or(MAX_STEPS),
        ..match url {
            Some(url) => on_server(&url, args, settings, notify)?,
            None => in_process(data_path, max_steps.unwrap_or(MAX_STEPS), notify)?,
        }
    };
    if let (Some(before), Some(was)) = (before, was) {
        refuse_changes(before, was, &options)?;
        // The same data may lie elsewhere now; the run knows them by their first place.
        options.environment.clone_from(&was.environment);
    }
    Ok(options)
}

fn on_server(
    url: &str,
    args: &PlayArgs,
    settings: &Settings,
    notify: &Notify,
) -> anyhow::Result<EpisodeOptions> {
    let token = args.token.clone().filter(|token| !token.is_empty());
    let address = Address::new(url, token.map(Into::into), settings.model.allow_http)?;
    let shown = address.shown();
    let notify = Arc::clone(notify);
    let note = Box::new(move |line| notify(RunNotice::Note(line)));
    let server = ServerEnvironment::new(address, settings.sampling.seed, note);
    Ok(EpisodeOptions {
        place: EpisodePlace::Server(server),
        environment: shown.clone(),
        named: true,
        hash: shown,
        invented: false,
        n: None,
        max_steps: MAX_STEPS,
    })
}

fn in_process(
    data_path: Option<OsString>,
    max_steps: u32,
    notify: &Notify,
) -> anyhow::Result<EpisodeOptions> {
    let named = data_path.is_some();
    let folder = data_path.filter(|path| path != SAMPLE);
    let catalog = super::catalog(folder.as_deref())?;
    if let Some(line) = super::oddities(&catalog) {
        notify(RunNotice::Note(line));
    }
    let environment = match folder {
        Some(folder) => std::fs::canonicalize(folder)?
            .to_string_lossy()
            .into_owned(),
        None => SAMPLE.to_owned(),
    };
    let (hash, invented) = (catalog.hash(), catalog.invented());
    let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
    let rules = Rules {
        max_steps: u64::from(max_steps),
        ..Rules::default()
    };
    Ok(EpisodeOptions {
        place: EpisodePlace::Local(Arc::new(LocalEnvironment::new(tools, rules))),
        environment,
        named,
        hash,
        invented,
        n: None,
        max_steps,
    })
}

/// Refuses to continue a run with other episodes than it was started with.
fn refuse_changes(
    before: &RunMeta,
    was: &EpisodeMeta,
    now: &EpisodeOptions,
) -> Result<(), PipelineError> {
    let count = |n: Option<usize>| n.map_or_else(|| "not set".to_owned(), |n| n.to_string());
    let steps = (was.max_steps.to_string(), now.max_steps.to_string());
    let place = match was.server {
        true => "--url",
        false => "--data-path",
    };
    let mut changes = Vec::new();
    if before.identity.data != now.hash {
        changes.push((place, was.environment.clone(), now.environment.clone()));
    }
    changes.push(("--n", count(was.n), count(now.n)));
    changes.push(("--max-steps", steps.0, steps.1));
    changes.retain(|(_, was, now)| was != now);
    let changes = changes.iter();
    let changes: Vec<_> = changes
        .map(|(option, was, now)| format!("{option} was {was}, now {now}"))
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(PipelineError::ChangedSettings {
        id: before.id.clone(),
        changes: changes.join("; "),
    })
}

/// Refuses to replace a file of episodes that this run has not written.
fn refuse_foreign(path: &Path, run: Option<&str>) -> Result<(), Failure> {
    if let Err(error) = files::open(path)
        && error.kind() != ErrorKind::NotFound
    {
        let line = format!("{}: {error}", path.display());
        return Err(Failure::new(Exit::Usage, line));
    }
    if !path.exists() || run.is_some_and(|run| is_export_of(path, run)) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        format!(
            "{}: the file exists, and is kept; name another file. Only version 0.1 continued a file \
             of episodes: a run is continued with --resume",
            path.display()
        ),
    ))
}

/// The environment's variables, with those of `OpenEnv`'s inference scripts in
/// the places of ours.
fn variables(flags: &ModelSettings) -> Variables {
    let base_url_flag = flags.base_url.is_some();
    let value = move |name: &str| {
        let own = dotenv::variable(name);
        let other = dotenv::variable;
        // A key is for the server that it is set alongside.
        let by_api_base_url = !base_url_flag
            && other("CONVFINQA_BASE_URL").is_none()
            && other("API_BASE_URL").is_some();
        match name {
            "CONVFINQA_MODEL" => own.or_else(|| other("MODEL")),
            "CONVFINQA_BASE_URL" => own.or_else(|| other("API_BASE_URL")),
            "OPENAI_API_KEY" | "AZURE_OPENAI_API_KEY" if by_api_base_url => {
                other("API_KEY").or(own)
            }
            "OPENAI_API_KEY" => own.or_else(|| {
                let azure = other("AZURE_OPENAI_API_KEY").is_some();
                (!azure).then(|| other("API_KEY")).flatten()
            }),
            _ => own,
        }
    };
    Variables::new(value).with_file(dotenv::gave)
}
