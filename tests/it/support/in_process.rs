//! Runs the pipeline as a library call, for tests of what a run does. [`super::cli`] is for tests
//! of the binary's output and exit code.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use convfinqa::cli::Failure;
use finqa_journal::run::{Event, Finish, RunKind};
use finqa_journal::settings::{Layers, Origin, Settings, Variables};
use finqa_run::pipeline::{LockedRun, PipelineError, Run, RunContext, RunNotice, RunResults};

use super::cli::Workplace;
use super::fault_server::FaultServer;

/// Lines of `convfinqa.toml` that ask model `m` of `server`, followed by `more`.
pub fn asking(server: &FaultServer, more: &str) -> String {
    let url = server.base_url();
    format!("model = 'm'\nbase_url = '{url}'\n{more}")
}

impl Workplace {
    /// The settings of a run in this folder about the built-in sample. The lines of
    /// `convfinqa.toml` in `given` override them.
    pub fn settings(&self, given: &str) -> Settings {
        let output = self.path("output");
        let places = format!("data_path = 'sample'\noutput = '{}'", output.display());
        layered(places.parse().unwrap(), given)
    }

    /// Asks the questions; the run may fail or stop early.
    pub fn start(&self, given: &str) -> Result<RunResults, PipelineError> {
        run(&self.settings(given), RunContext::default())
    }

    /// Asks the questions, and fails the test unless every one is answered.
    #[track_caller]
    pub fn answer(&self, given: &str) -> RunResults {
        let results = self.start(given).unwrap();
        assert_eq!(results.finish, Finish::Complete);
        results
    }

    /// Runs to the end, and returns the notes and warnings that a user would see.
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

    /// Starts a run and drops it when `enough` is true, as if its process were killed.
    pub fn abandon(&self, given: &str, enough: impl Fn() -> bool) {
        runtime().block_on(async {
            let started = Run::start(&self.settings(given), RunContext::default()).await;
            let _run = started.unwrap();
            while !enough() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// Resumes a run with the settings it was started with, overridden by those in `given`.
    pub fn resume(&self, name: &str, given: &str) -> Result<RunResults, PipelineError> {
        let resumed = LockedRun::open(&self.path("output"), name, RunKind::Questions)?;
        continued(resumed, given)
    }

    /// Resumes a run with the settings it was started with, and calls `watch` for each event.
    pub fn resume_watched(
        &self,
        name: &str,
        mut watch: impl FnMut(&Event),
    ) -> Result<RunResults, PipelineError> {
        let resumed = LockedRun::open(&self.path("output"), name, RunKind::Questions)?;
        let settings = layered(resumed.settings(), "");
        let context = RunContext {
            resumed: Some(resumed),
            ..RunContext::default()
        };
        runtime().block_on(async {
            let mut run = Run::start(&settings, context).await?;
            while let Some(event) = run.next().await {
                watch(&event);
            }
            run.finish().await
        })
    }
}

/// Resumes an opened run with the settings it was started with, overridden by those in `given`.
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

/// Fails the test unless the run ended with an error of one line that contains all of these words.
#[track_caller]
pub fn refused(ended: Result<RunResults, PipelineError>, words: &[&str]) {
    let error = ended.err().expect("the run is refused");
    let line = Failure::from(error).message;
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
