//! `convfinqa env play`: lets an agent play episodes in an environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Serialize;

use crate::cli::args::{ControlArgs, RunDisplay};
use crate::cli::exit::with_output_hint;
use crate::cli::outputs::check_outputs;
use crate::cli::run::{RunCommand, drive, load};
use crate::cli::{Exit, Failure, dotenv};
use finqa_agents::llm::ModelSettings;
use finqa_agents::pair::Sampling;
use finqa_env::episode::EpisodeRules;
use finqa_env::tools::{ToolLimits, Tools};
use finqa_journal::run::{EpisodeMeta, RunKind};
use finqa_journal::settings::{BudgetSettings, LogSettings, RunSettings, Settings, ShardSettings};
use finqa_report::output::terminal::TerminalStyle;
use finqa_report::output::write_episodes;
use finqa_run::episodes::{
    self, Address, EpisodeEnvironment, EpisodeOptions, EpisodePlace, LocalEnvironment,
    ServerEnvironment, tool_specs,
};
use finqa_run::pipeline::{
    LockedRun, Notify, Run, RunContext, RunNotice, RunResults, unused_server,
};
use finqa_score::dataset::Source;

const EXPORT_EPISODES: &str = "--export-episodes FILE";

/// The fields that are serialised are a layer of settings.
#[derive(clap::Args, Debug, Serialize)]
#[command(
    after_help = "The episodes are recorded as a run: `runs` lists it, and `--resume`, `report`, `compare`, `analyze`, `score` and `track sync` accept it."
)]
pub(crate) struct PlayArgs {
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
    #[serde(flatten)]
    budget: BudgetSettings,
    #[command(flatten)]
    #[serde(flatten)]
    shards: ShardSettings,
    /// Number of questions to play, one episode each [default: 100 with a remote model, otherwise all; required for a server that lists no tasks]
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Environment")]
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    /// Print each episode when it ends, and each retry
    #[arg(long, short = 'v', help_heading = "Output")]
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
    /// Bearer token of the server at --url
    #[arg(
        long,
        value_name = "TOKEN",
        env = "FINQA_TOKEN",
        hide_env_values = true,
        help_heading = "Environment"
    )]
    #[serde(skip)]
    token: Option<String>,
    /// Data directory for the environment in this process, or `sample` [default: FINQA_DATA_PATH, otherwise the built-in sample unless the model is remote]
    #[arg(long, value_name = "DIR", help_heading = "Environment")]
    #[serde(skip)]
    data_path: Option<OsString>,
    /// Maximum steps per episode; `env serve` has a higher default (see "Episodes and reward" in
    /// docs/finqa-environment.md)
    #[arg(long, value_name = "N", env = "FINQA_MAX_STEPS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Environment")]
    #[serde(skip)]
    max_steps: u32,

    /// Also write the episodes as JSON lines for trainers
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    export_episodes: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    control: ControlArgs,

    #[command(flatten)]
    #[serde(flatten)]
    log: LogSettings,
}

pub(crate) fn execute(
    args: &PlayArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let (mut settings, context) = load(args, matches, &args.control, RunKind::Episodes)?;
    if args.export_episodes.is_some() && settings.shards.shard.is_some() {
        let line = "--export-episodes is for whole runs: merge the shards, then pass it to \
                    `env play --resume RUN`";
        return Err(Failure::usage(line));
    }
    let export = args.export_episodes.as_deref();
    check_outputs(&[(EXPORT_EPISODES, export)], &[&settings.run.output])?;
    settings.keep_for_episodes();
    let mut command = EpisodeRun {
        args,
        gives_steps: matches.value_source("max_steps") == Some(ValueSource::CommandLine),
        replayed: (context.recorded.as_ref()).and_then(|run| run.episodes.clone()),
        server: None,
    };
    let display = RunDisplay {
        verbose: args.verbose,
        print: args.control.print,
        style,
    };
    drive(&mut command, &settings, context, display)
}

struct EpisodeRun<'a> {
    args: &'a PlayArgs,
    /// True if `--max-steps` was given on the command line. FINQA_MAX_STEPS does not count, because
    /// an earlier run's own settings take precedence over the environment.
    gives_steps: bool,
    /// The description of the replayed run's episodes; `None` if no run is replayed.
    replayed: Option<EpisodeMeta>,
    server: Option<Arc<ServerEnvironment>>,
}

impl RunCommand for EpisodeRun<'_> {
    async fn start(&mut self, settings: &Settings, context: RunContext) -> Result<Run, Failure> {
        let notify = Arc::clone(&context.notify);
        if let Some(what) = unused_server(settings, &context.variables)? {
            let line = format!("{what}: playing with the embedded analyst; pass --model NAME");
            notify(RunNotice::Note(line));
        }
        let resumed = context.resumed.as_ref();
        let options = self.options(settings, resumed, &notify).await?;
        if let EpisodePlace::Server(server) = &options.environment.place {
            self.server = Some(Arc::clone(server));
        }
        let run = Run::start_with(settings, context, |context, models| {
            episodes::job(settings, &options, context, models)
        });
        Ok(run?)
    }

    async fn on_last_question(&mut self) {
        if let Some(server) = &self.server {
            server.close().await;
        }
    }

    fn on_results(&self, results: &RunResults) -> Result<(), Failure> {
        if let Some(path) = &self.args.export_episodes {
            write_episodes(path, &results.journal, &tool_specs())
                .map_err(with_output_hint(EXPORT_EPISODES))?;
        }
        Ok(())
    }
}

impl EpisodeRun<'_> {
    /// The environment, the number of episodes and the maximum number of steps. A resumed or
    /// replayed run uses its own values unless the command line gives others. [`Run::start_with`]
    /// refuses other values for a resumed run.
    async fn options(
        &self,
        settings: &Settings,
        resumed: Option<&LockedRun>,
        notify: &Notify,
    ) -> Result<EpisodeOptions, Failure> {
        let args = self.args;
        let was = resumed.and_then(|resumed| resumed.meta().episodes.clone());
        let was = was.or_else(|| self.replayed.clone());
        let max_steps = match &was {
            Some(was) if !self.gives_steps => was.max_steps,
            _ => args.max_steps,
        };
        let (url, data_path) = match &was {
            Some(was) if args.url.is_none() && args.data_path.is_none() => {
                let place = was.environment.clone();
                if was.server {
                    (Some(place), None)
                } else {
                    (None, Some(place.into()))
                }
            }
            _ => (args.url.clone(), args.data_path.clone()),
        };
        let variable = || dotenv::variable("FINQA_DATA_PATH").map(OsString::from);
        let data_path = data_path.or_else(variable);
        let mut options = EpisodeOptions {
            environment: match url {
                Some(url) => on_server(&url, args, settings, notify).await?,
                None => in_process(data_path, max_steps, notify)?,
            },
            n: settings.questions.n,
            max_steps,
        };
        if let (Some(resumed), Some(was)) = (resumed, was)
            && resumed.meta().identity.data == options.environment.hash
        {
            // The same data may be in another place now. The run keeps the name with which it was
            // started.
            options.environment.name = was.environment;
        }
        Ok(options)
    }
}

/// Connects to an environment on a server. Its address stands for the hash of its data, which it
/// does not tell.
async fn on_server(
    url: &str,
    args: &PlayArgs,
    settings: &Settings,
    notify: &Notify,
) -> Result<EpisodeEnvironment, Failure> {
    // An empty FINQA_TOKEN counts as unset.
    let token = args.token.clone().filter(|token| !token.is_empty());
    let address = Address::new(
        url,
        token.map(Into::into),
        dotenv::variables().allows_http(),
    )?;
    let shown = address.shown();
    let notify = Arc::clone(notify);
    let note = Box::new(move |line| notify(RunNotice::Note(line)));
    let server = ServerEnvironment::connect(address, settings.sampling.seed, note).await?;

    Ok(EpisodeEnvironment {
        place: EpisodePlace::Server(Arc::new(server)),
        name: shown.clone(),
        is_named_by_user: true,
        // A server tells neither the hash of its data nor whether they are invented.
        hash: shown,
        invented: false,
    })
}

/// An environment in this process, on the data at `data_path` or on the sample.
fn in_process(
    data_path: Option<OsString>,
    max_steps: u32,
    notify: &Notify,
) -> Result<EpisodeEnvironment, Failure> {
    let named = data_path.is_some();
    let catalog = super::catalog(data_path.as_deref())?;
    if let Some(line) = super::problems_note(&catalog) {
        notify(RunNotice::Note(line));
    }
    let name = match data_path.filter(|path| path != Source::SAMPLE) {
        // Absolute, so that a resumed run finds it from any folder. It was just read, so an error
        // is a bug.
        Some(folder) => std::fs::canonicalize(folder)
            .map_err(Failure::bug("the data's folder"))?
            .to_string_lossy()
            .into_owned(),
        None => Source::SAMPLE.to_owned(),
    };
    let (hash, invented) = (catalog.hash(), catalog.invented());
    let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
    let rules = EpisodeRules {
        max_steps: u64::from(max_steps),
        ..EpisodeRules::default()
    };
    Ok(EpisodeEnvironment {
        place: EpisodePlace::Local(Arc::new(LocalEnvironment::new(tools, rules))),
        name,
        is_named_by_user: named,
        hash,
        invented,
    })
}
