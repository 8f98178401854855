//! The pipeline as a library call: for tests of what a run does, where those of
//! [`super::cli`] are of what the binary prints and exits with.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use convfinqa::pipeline::{LockedRun, PipelineError, Run, RunContext, RunNotice, RunResults};
use convfinqa::run::{Finish, RunKind};
use convfinqa::settings::{Layers, Origin, Settings, Variables};

use super::cli::Workplace;
use super::fault_server::FaultServer;

/// Settings that ask model `m` of `server`, and more lines of them.
pub fn asking(server: &FaultServer, more: &str) -> String {
    let url = server.base_url();
    format!("model = 'm'\nbase_url = '{url}'\n{more}")
}

impl Workplace {
    /// The settings of a run into this folder, over the built-in sample unless
    /// `given`, lines of `convfinqa.toml`, names other data.
    pub fn settings(&self, given: &str) -> Settings {
        let output = self.path("output");
        let places = format!("data_path = 'sample'\noutput = '{}'", output.display());
        layered(places.parse().unwrap(), given)
    }

    /// Asks the questions, whatever the end.
    pub fn start(&self, given: &str) -> Result<RunResults, PipelineError> {
        run(&self.settings(given), RunContext::default())
    }

    /// Answers every question; the results are in the folder.
    #[track_caller]
    pub fn answer(&self, given: &str) -> RunResults {
        let results = self.start(given).unwrap();
        assert_eq!(results.finish, Finish::Complete);
        results
    }

    /// Answers every question, and gives the lines that the user is shown.
    #[track_caller]
    pub fn notices(&self, settings: &Settings, variables: Variables) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&lines);
        let context = RunContext {
            variables,
            notify: Arc::new(move |notice| {
                let (RunNotice::Note(line) | RunNotice::Warning(line)) = notice;
                shown.lock().unwrap().push(line);
            }),
            ..RunContext::default()
        };
        run(settings, context).unwrap();
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    /// Starts a run and drops it once `enough`, as if its process were killed.
    pub fn abandon(&self, given: &str, enough: impl Fn() -> bool) {
        runtime().block_on(async {
            let started = Run::start(&self.settings(given), RunContext::default()).await;
            let _run = started.unwrap();
            while !enough() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// Continues a run as it was started, except for what is `given`.
    pub fn resume(&self, name: &str, given: &str) -> Result<RunResults, PipelineError> {
        let resumed = LockedRun::open(&self.path("output"), name, RunKind::Questions)?;
        continued(resumed, given)
    }
}

/// Continues the run, as it was started except for what is `given`.
pub fn continued(resumed: LockedRun, given: &str) -> Result<RunResults, PipelineError> {
    let settings = layered(resumed.settings(), given);
    let context = RunContext {
        resumed: Some(resumed),
        ..RunContext::default()
    };
    run(&settings, context)
}

/// Asks the questions and waits for the end.
pub fn run(settings: &Settings, context: RunContext) -> Result<RunResults, PipelineError> {
    runtime().block_on(async { Run::start(settings, context).await?.finish().await })
}

/// Fails unless the run was refused or ended with a line that holds all of these.
#[track_caller]
pub fn refused(ended: Result<RunResults, PipelineError>, words: &[&str]) {
    let line = ended.err().expect("the run is refused").to_string();
    assert!(!line.contains('\n'), "{line}");
    for word in words {
        assert!(line.contains(word), "no {word:?} in {line}");
    }
}

fn layered(under: toml::Table, given: &str) -> Settings {
    let layers = Layers::default().table(under, Origin::Run).unwrap();
    let given = layers.table(given.parse().unwrap(), Origin::CommandLine);
    given.unwrap().settings().unwrap()
}

pub fn runtime() -> tokio::runtime::Runtime {
    finqa_agents::llm::install_crypto();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap()
}
