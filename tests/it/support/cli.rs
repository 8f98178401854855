//! Runs the binary as a user does, but in an empty folder and without the environment variables of
//! the machine, which could change what it does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use finqa_journal::run::Journal;

use super::fault_server::FaultServer;

/// The records of the built-in sample.
pub fn sample_records() -> Vec<serde_json::Value> {
    serde_json::from_str(include_str!("../../../data/sample.json")).unwrap()
}

/// A folder to run the binary in.
pub struct Workplace {
    pub folder: tempfile::TempDir,
}

/// The exit code and the output of a run of the binary.
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

    /// The binary in this folder, with no environment variable but HOME.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convfinqa"));
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    /// The binary with a key, to ask model `m` at `base_url` about the sample.
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

    /// Like [`Self::run`], with these environment variables.
    pub fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        command.given(line).ran()
    }

    /// The binary, to ask model `m` of `server` about the sample.
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

    /// Reads a file of the folder as JSON.
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

    /// The journal of the only run, opened for reading.
    pub fn journal(&self) -> Journal {
        Journal::read(&self.journal_path()).unwrap()
    }

    /// The database of the only run's journal, for a test to change.
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

    /// The rows of the last run's `output.csv` without the [`MEASURED`] columns.
    pub fn unmeasured_rows(&self) -> Vec<Row> {
        let csv = self.path("output/output.csv");
        rows_without(&csv, |column| MEASURED.contains(&column))
    }
}

impl Ran {
    /// Fails the test unless the binary ended with this code and with one error line that contains
    /// all of these words.
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

    /// Fails the test unless the binary ended with this code.
    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        let (stdout, stderr) = (&self.stdout, &self.stderr);
        assert_eq!(self.code, Some(code), "stdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Fails the test unless standard output contains this text.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text), "no {text:?} in {}", self.stdout);
        self
    }

    /// Standard output with a space for every line break.
    pub fn unwrapped(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Fails the test unless standard error contains this text.
    #[track_caller]
    pub fn tells(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in {}", self.stderr);
        self
    }

    /// The answer of `ask --json`. The exit code must be 0, or 4 if the answer has a doubt.
    #[track_caller]
    pub fn answer(&self) -> serde_json::Value {
        let answer = self.json();
        self.ends(if answer["doubt"].is_null() { 0 } else { 4 });
        answer
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let json = serde_json::from_str(&self.stdout);
        json.unwrap_or_else(|_| panic!("{:?} {} {}", self.code, self.stdout, self.stderr))
    }
}

/// Splits a command line into arguments. Single quotes enclose an argument with spaces.
pub fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.flatten().collect()
}

/// Short forms for starting a command.
pub trait CommandExt {
    /// Adds the arguments of a command line, see [`words`].
    fn given(&mut self, line: &str) -> &mut Self;

    /// Runs the command to its end.
    fn ran(&mut self) -> Ran;

    /// Starts the command and discards its output.
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

/// Sends a process a signal and returns its exit code.
#[cfg(unix)]
pub fn signal(child: &mut Child, name: &str) -> Option<i32> {
    let mut kill = Command::new("kill");
    let sent = kill.args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    child.wait().unwrap().code()
}

/// Waits until another thread or process has made the condition true.
pub fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Columns of `output.csv` that depend on time, retries or prices.
pub const MEASURED: [&str; 5] = [
    "latency", "attempts", "input_tokens", "output_tokens", "cost_usd",
];

/// The rows of a CSV file without the columns for which `is_left_out` is true.
pub fn rows_without(path: &Path, is_left_out: impl Fn(&str) -> bool) -> Vec<Row> {
    let mut rows = csv_rows(path);
    for row in &mut rows {
        row.retain(|column, _| !is_left_out(column));
    }
    rows
}

/// A row of a CSV file: the cell of each column.
pub type Row = HashMap<String, String>;

pub fn csv_rows(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path)
        .unwrap()
        .deserialize()
        .map(Result::unwrap)
        .collect()
}
