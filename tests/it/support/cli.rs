//! The binary as a user runs it: in a folder of its own, with no variable of
//! the machine's that could change what it does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use convfinqa::run::Journal;

use super::fault_server::FaultServer;

/// The records of the built-in sample.
pub fn sample_records() -> Vec<serde_json::Value> {
    serde_json::from_str(include_str!("../../../data/sample.json")).unwrap()
}

/// A folder to run the binary in.
pub struct Workplace {
    pub folder: tempfile::TempDir,
}

/// What a run of the binary gave.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Workplace {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The binary with only what it needs of the environment to start.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convfinqa"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    /// The binary with a key, asking model `m` at `base_url` about the sample.
    pub fn command_with_key(&self, key: &str, base_url: &str) -> Command {
        let mut command = self.command();
        command.env("OPENAI_API_KEY", key);
        command.args(["--model", "m", "--data-path", "sample"]);
        command.args(["--base-url", base_url]);
        command
    }

    /// Runs the binary with the arguments of a command line, see [`words`].
    pub fn run(&self, line: &str) -> Ran {
        self.run_with(line, &[])
    }

    /// As [`Self::run`], with these variables.
    pub fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        command.given(line).ran()
    }

    /// The binary, asking model `m` of `server` about the sample.
    pub fn chat_command(&self, server: &FaultServer, more: &str) -> Command {
        let mut command = self.command();
        let url = server.base_url();
        command.given(&format!(
            "--model m --base-url {url} --data-path sample {more}"
        ));
        command
    }

    /// Asks model `m` of `server` about the sample.
    pub fn chat(&self, server: &FaultServer, more: &str) -> Ran {
        self.chat_command(server, more).ran()
    }

    /// A file of JSON.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The summary of the only run.
    pub fn summary(&self) -> serde_json::Value {
        let text = std::fs::read_to_string(self.run_folder().join("summary.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The journal of the only run.
    pub fn journal_path(&self) -> PathBuf {
        self.run_folder().join("journal.sqlite")
    }

    /// The same, read.
    pub fn journal(&self) -> Journal {
        Journal::read(&self.journal_path()).unwrap()
    }

    /// Its tables, to be changed.
    pub fn journal_tables(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.journal_path()).unwrap()
    }

    /// The folder of the only run.
    pub fn run_folder(&self) -> PathBuf {
        let mut runs: Vec<_> = std::fs::read_dir(self.path("output/runs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|folder| folder.join("journal.sqlite").is_file())
            .collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    pub fn rows(&self, name: &str) -> Vec<Row> {
        csv_rows(&self.path(name))
    }

    /// The last run's rows without what is measured.
    pub fn unmeasured_rows(&self) -> Vec<Row> {
        let csv = self.path("output/output.csv");
        rows_without(&csv, |column| MEASURED.contains(&column))
    }
}

impl Ran {
    /// The run ended with this code and one line of error that holds all of these.
    #[track_caller]
    pub fn fails(&self, code: i32, words: &[&str]) {
        let errors: Vec<_> = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        assert_eq!(errors.len(), 1, "one line, not: {}", self.stderr);
        for word in words {
            assert!(errors[0].contains(word), "no {word:?} in {}", errors[0]);
        }
        assert!(
            !self.stderr.contains("panicked") && !self.stderr.contains("backtrace"),
            "{}",
            self.stderr
        );
    }

    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        self.ends(0)
    }

    /// It ended with this code.
    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        assert_eq!(self.code, Some(code), "stdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Its standard output holds this text.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no {text:?} in {}", self.stdout);
        self
    }

    /// Its standard output without the breaks of lines.
    pub fn unwrapped(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Its standard error holds this text.
    #[track_caller]
    pub fn tells(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in {}", self.stderr);
        self
    }

    /// The answer of `ask --json`; the exit code says whether it is sure.
    #[track_caller]
    pub fn answer(&self) -> serde_json::Value {
        let answer = self.json();
        self.ends(if answer["doubt"].is_null() { 0 } else { 4 });
        answer
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let json = serde_json::from_str(&self.stdout);
        json.unwrap_or_else(|_| panic!("{:?} {} {}", self.code, self.stdout, self.stderr))
    }
}

/// The arguments of a command line, in which single quotes keep an argument whole.
pub fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.flatten().collect()
}

/// A process of the binary, by one call.
pub trait CommandExt {
    fn given(&mut self, line: &str) -> &mut Self;

    /// Runs it to its end.
    fn ran(&mut self) -> Ran;

    /// Starts it, unheard.
    fn begin(&mut self) -> Child;
}

impl CommandExt for Command {
    fn given(&mut self, line: &str) -> &mut Self {
        self.args(words(line))
    }

    fn ran(&mut self) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = self.output().unwrap();
        Ran {
            code: status.code(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    fn begin(&mut self) -> Child {
        let silent = self.stdout(Stdio::null()).stderr(Stdio::null());
        silent.spawn().unwrap()
    }
}

/// Sends a process a signal, and gives the code that it exits with.
#[cfg(unix)]
pub fn signal(child: &mut Child, name: &str) -> Option<i32> {
    let mut kill = Command::new("kill");
    let sent = kill.args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    child.wait().unwrap().code()
}

/// Waits for what another thread or process does.
pub fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Columns that time, retries and prices decide.
pub const MEASURED: [&str; 5] = [
    "latency", "attempts", "input_tokens", "output_tokens", "cost_usd",
];

/// Rows of a CSV without the columns that are left out.
pub fn rows_without(path: &Path, is_left_out: impl Fn(&str) -> bool) -> Vec<Row> {
    let mut rows = csv_rows(path);
    for row in &mut rows {
        row.retain(|column, _| !is_left_out(column));
    }
    rows
}

/// A row of a CSV as column → cell.
pub type Row = HashMap<String, String>;

pub fn csv_rows(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path)
        .unwrap()
        .deserialize()
        .map(Result::unwrap)
        .collect()
}
