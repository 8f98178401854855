//! `convfinqa env play`: an agent plays episodes.

mod contender;
mod rows;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::ArgMatches;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::output::terminal::{EpisodeProgress, Look, ProgressOptions, episode_tables};
use crate::play::{
    Address, AgentOptions, Finish, Identity, Log, PlayEvent, PlayOptions, PlaySummary, Played,
    Player, Target, instructions_hash, latest,
};
use crate::run::pipeline::{default_concurrency, unused_server};
use crate::settings::{self as config, LogSettings, Settings, TraceSettings, Traces};
use crate::telemetry::Telemetry;
use finqa_agents::agents::Sampling;
use finqa_agents::models::{CallEvent, ModelSettings, Observer, Stop};
use finqa_env::episode::Rules;
use finqa_env::tools::{ToolLimits, Tools};

use crate::cli::args::ConfigFile;
use crate::cli::{Exit, Failure, dotenv, settings, signals, stdout, telemetry};
use contender::{Contender, Variables, contender};

/// Episodes by default with a model that may cost money.
const PAID_DEFAULT_EPISODES: usize = 100;

/// Episodes by default on a server, which does not say how many questions it has
/// and might invent one after the other.
const SERVER_DEFAULT_EPISODES: usize = 10_000;

/// Events that may wait for the display before episodes wait for it.
const EVENT_QUEUE: usize = 1024;

/// Arguments of `env play`. What is serialised is a layer of settings.
#[derive(clap::Args, Debug, Serialize)]
#[command(
    after_help = "The variables MODEL, API_BASE_URL and API_KEY of OpenEnv's inference scripts are read too; flags take precedence. Without --out, each play gets its own file. With it, an existing file is continued: questions that have an episode are not played again."
)]
pub struct PlayArgs {
    /// Which model.
    #[command(flatten)]
    #[serde(flatten)]
    model: ModelSettings,
    #[command(flatten)]
    #[serde(flatten)]
    sampling: Sampling,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigFile,
    /// Number of questions to play, each once [default: all; 100 where the model is not on
    /// loopback]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(skip)]
    episodes: Option<u64>,
    /// Print each episode when it ends, and retries
    #[arg(long, short = 'v')]
    #[serde(skip)]
    verbose: bool,

    /// Address of a running server, e.g. http://127.0.0.1:8000 [default: an environment in this
    /// process]
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "data",
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
    /// else the built-in sample]
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    #[serde(skip)]
    data: Option<OsString>,
    /// Maximum tool calls per episode
    #[arg(long, value_name = "N", env = "FINQA_MAX_STEPS", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "Environment")]
    #[serde(skip)]
    max_steps: u32,

    /// Number of sessions at a time [default: 8, offline the number of cores]
    #[arg(long, short = 'j', value_name = "N", help_heading = "Provider")]
    concurrency: Option<usize>,

    /// File for the episodes, one line of JSON each [default: output/play/<id>.jsonl]
    #[arg(long, short = 'o', value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    out: Option<PathBuf>,
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
    /// Write traces next to the episodes [default: auto, when traces are also sent somewhere]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Logs and traces"
    )]
    traces: Traces,
}

/// Plays the episodes.
///
/// # Errors
/// One line for the user; [`crate::cli::exit::classify`] knows its exit code.
pub fn execute(args: &PlayArgs, matches: &ArgMatches, look: Look) -> anyhow::Result<Exit> {
    let own = Variables::new(&args.model);
    let variables = config::Variables::new(move |name| own.get(name)).with_file(dotenv::gave);
    let settings = settings::load_by(args, matches, args.config.config.as_deref(), &|name| {
        variables.get(name)
    })?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(traced(args, &settings, &variables, look))
}

/// Plays with the logs and traces that the settings ask for.
async fn traced(
    args: &PlayArgs,
    settings: &Settings,
    variables: &config::Variables,
    look: Look,
) -> anyhow::Result<Exit> {
    let progress = EpisodeProgress::new(ProgressOptions {
        verbose: args.verbose,
        quiet: args.quiet,
        terminal: std::io::stderr().is_terminal(),
        logged: telemetry::is_logged(settings.log.log),
    });
    let place = telemetry::Place::Run { tracked: false };
    let traces = telemetry::start(settings, place, &progress.voice())?;
    let ended = play(args, settings, variables, progress, &traces, look).await;
    // Whatever the end, what was recorded is delivered.
    traces.finish().await;
    ended
}

/// Where episodes are played, its name for the record, and its data if they are here.
fn target(
    args: &PlayArgs,
    settings: &Settings,
    remote_model: bool,
) -> anyhow::Result<(Target, String)> {
    if let Some(url) = &args.url {
        let token = args.token.clone().filter(|token| !token.is_empty());
        let address = Address::new(url, token.map(Into::into), settings.model.allow_http)?;
        let shown = address.shown();
        return Ok((Target::Server(address), shown));
    }
    let data = args
        .data
        .clone()
        .or_else(|| dotenv::variable("FINQA_DATA_PATH").map(OsString::from));
    let catalog = match data {
        Some(path) if path == "sample" => crate::env_data::builtin()?,
        Some(path) => super::catalog(Some(&path))?,
        None if remote_model => {
            return Err(Failure::new(
                Exit::Data,
                "no data: a model that costs money is never played on the built-in sample by accident; \
                 name a directory or `sample` with --data, or a server with --url",
            )
            .into());
        }
        None => crate::env_data::builtin()?,
    };
    let hash = catalog.hash();
    let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
    let rules = Rules {
        max_steps: u64::from(args.max_steps),
        ..Rules::default()
    };
    Ok((Target::InProcess { tools, rules }, hash))
}

fn identity(
    args: &PlayArgs,
    settings: &Settings,
    model: &Contender,
    environment: String,
    seed: Option<u64>,
) -> Identity {
    let temperature = settings
        .sampling
        .temperature
        .map(|t| format!("temperature {t}"));
    let limit = settings
        .sampling
        .max_tokens
        .map(|n| format!("max_tokens {n}"));
    let prompt = instructions_hash();
    let prompt = prompt.get(..16).unwrap_or_default();
    let parts = [temperature, limit, Some(format!("prompt {prompt}"))];
    let offline = model.endpoint.is_none();
    Identity {
        model: model.name.clone(),
        environment,
        seed,
        max_steps: args.max_steps,
        settings: if offline {
            String::new()
        } else {
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        },
    }
}

async fn play(
    args: &PlayArgs,
    settings: &Settings,
    variables: &config::Variables,
    mut progress: EpisodeProgress,
    traces: &Telemetry,
    look: Look,
) -> anyhow::Result<Exit> {
    let (events, mut received) = mpsc::channel(EVENT_QUEUE);
    let retries = events.clone();
    let observer: Observer = Arc::new(move |_node, event| {
        if let CallEvent::Retry(notice) = event {
            let event = PlayEvent::Retry {
                attempt: notice.attempt,
                delay: notice.delay,
                reason: notice.words(),
            };
            // A slow display loses a notice, never a retry.
            let _ = retries.try_send(event);
        }
    });
    let model = contender(settings, variables, &observer)?;
    drop(observer);
    if let Some(notice) = &model.notice {
        progress.voice().warn(notice);
    }
    let (target, environment) = target(args, settings, model.is_remote())?;
    let seed = target.seed(settings.sampling.seed);
    let player = Arc::new(identity(args, settings, &model, environment, seed));
    let out = args.out.clone().unwrap_or_else(|| {
        let name = format!("{}.jsonl", uuid::Uuid::now_v7());
        settings.run.output.join("play").join(name)
    });
    let (log, before) = Log::open(&out, &player)?;
    traces.write_to(&out.with_extension("traces.jsonl"))?;
    let mut lines: Vec<Arc<Played>> = before.into_iter().map(Arc::new).collect();
    let episodes = episodes(args, &model, &target);
    begin(
        args,
        settings,
        &model,
        &target,
        &lines,
        episodes,
        &mut progress,
    );

    let catalog = match &target {
        Target::InProcess { tools, .. } => Some(Arc::clone(tools.catalog())),
        Target::Server(_) => None,
    };
    let options = PlayOptions {
        episodes,
        concurrency: settings
            .run
            .concurrency
            .unwrap_or_else(|| default_concurrency(model.endpoint)),
        seed,
        agent: AgentOptions {
            max_steps: args.max_steps,
            temperature: settings.sampling.temperature,
            max_output_tokens: settings.sampling.max_tokens,
            sampling_seed: settings.sampling.seed,
            // The baseline reads results whole or not at all, and pays for none.
            ..match (&model.endpoint, &target) {
                (Some(_), _) => AgentOptions::default(),
                (None, Target::Server(_)) => AgentOptions::of_a_server(),
                (None, Target::InProcess { .. }) => AgentOptions::unbounded(),
            }
        },
    };
    let stop = Stop::default();
    let voice = progress.voice();
    signals::listen(stop.clone(), move |line| voice.say(line));
    let running = Player::new(
        target,
        Arc::clone(&model.model),
        model.price(),
        Arc::clone(&player),
        options,
    )
    .stopped_by(stop.clone());
    drop(model);
    let before = lines.clone();
    let run = tokio::spawn(async move { running.run(log, &before, events).await });
    while let Some(event) = received.recv().await {
        progress.on(&event);
    }
    progress.finish();
    let (finish, played) = run.await.context("the player's task failed")?;
    traces.flush();
    lines.extend(played);
    let complete = matches!(finish, Finish::Complete);
    let summary = PlaySummary::of(player, complete, &lines);
    let csv = rows::write(
        &out.with_extension("csv"),
        &latest(&lines),
        catalog.as_deref(),
    )?;
    let printed = report(args, &summary, &out, csv.as_deref(), look);
    let exit = match finish {
        Finish::Complete if summary.failed > 0 => Exit::Unanswered,
        Finish::Complete => Exit::Done,
        Finish::Interrupted => Exit::Interrupted,
        Finish::Fatal(error) => return Err(error.into()),
    };
    printed?;
    Ok(exit)
}

/// How many questions are to be played; `None` for all, where nobody knows how many.
fn episodes(args: &PlayArgs, model: &Contender, target: &Target) -> Option<usize> {
    let asked = args
        .episodes
        .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let there = target.questions();
    match asked.or(model.is_remote().then_some(PAID_DEFAULT_EPISODES)) {
        Some(n) => Some(there.map_or(n, |there| there.min(n))),
        None => there.or(Some(SERVER_DEFAULT_EPISODES)),
    }
}

/// Says who plays where, and begins the display.
fn begin(
    args: &PlayArgs,
    settings: &Settings,
    model: &Contender,
    target: &Target,
    before: &[Arc<Played>],
    episodes: Option<usize>,
    progress: &mut EpisodeProgress,
) {
    let done = PlaySummary::done(before);
    let left = episodes.map(|episodes| episodes.saturating_sub(done));
    progress.begin(left);
    let place = match target {
        Target::InProcess { tools, .. } => tools.catalog().source().to_owned(),
        Target::Server(address) => address.shown(),
    };
    if let Target::InProcess { tools, .. } = target
        && let Some(line) = super::oddities(tools.catalog())
    {
        progress.say(&line);
    }
    let count = left.map_or_else(
        || "all episodes".to_owned(),
        |left| format!("{left} episodes"),
    );
    if let Some(what) = unused_server(settings, &dotenv::variables(), &["API_KEY", "API_BASE_URL"])
    {
        progress.say(&format!(
            "{what}: playing with the embedded baseline; pass --model NAME"
        ));
    }
    progress.say(&format!("{} plays {count} of {place}", settings.model.name));
    if done > 0 {
        progress.say(&format!("going on: {done} are played already"));
    }
    if args.episodes.is_none() && model.is_remote() {
        progress.say(&format!(
            "at most {PAID_DEFAULT_EPISODES} episodes, for this model is not on loopback; --episodes N for more"
        ));
    }
}

/// The summary, and where it was written.
#[derive(Serialize)]
struct Report<'r> {
    #[serde(flatten)]
    summary: &'r PlaySummary,
    /// The episodes' file.
    out: &'r Path,
    /// The answers as the main job writes them; `null` where the environment was not built from `ConvFinQA`.
    csv: Option<&'r Path>,
}

fn report(
    args: &PlayArgs,
    summary: &PlaySummary,
    out: &Path,
    csv: Option<&Path>,
    look: Look,
) -> anyhow::Result<()> {
    if args.json {
        stdout::print_json(&Report { summary, out, csv })?;
    } else if !args.quiet && summary.episodes > 0 {
        stdout::print(|stdout| {
            writeln!(stdout, "{}", episode_tables(summary, look))?;
            writeln!(stdout, "Episodes: {}", out.display())?;
            match csv {
                Some(csv) => writeln!(stdout, "Rows:     {}", csv.display()),
                None => Ok(()),
            }
        })?;
    }
    Ok(())
}
