//! The binary as a user runs it: in a folder of its own, with no variable of
//! the machine's that could change what it does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command().args(arguments))
    }

    /// As [`Self::run`], with the arguments of a command line that quotes nothing.
    pub fn run_line(&self, line: &str) -> Ran {
        self.run(&words(line))
    }

    /// As [`Self::run`], with these variables.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command();
        Ran::of(command.args(arguments).envs(variables.iter().copied()))
    }

    /// As [`Self::run`], with what a person types or pipes in.
    pub fn run_with_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        let input = self.path("stdin");
        std::fs::write(&input, stdin).unwrap();
        let file = std::fs::File::open(input).unwrap();
        Ran::of(self.command().args(arguments).stdin(file))
    }

    /// The summary of the only run.
    pub fn summary(&self) -> serde_json::Value {
        let text = std::fs::read_to_string(self.run_folder().join("summary.json")).unwrap();
        serde_json::from_str(&text).unwrap()
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

    /// Rows of a CSV as column → cell.
    pub fn rows(&self, name: &str) -> Vec<std::collections::HashMap<String, String>> {
        csv_rows(&self.path(name))
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        Self {
            code: status.code(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

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

    /// Its standard error holds this text.
    #[track_caller]
    pub fn tells(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "no {text:?} in {}", self.stderr);
        self
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let json = serde_json::from_str(&self.stdout);
        json.unwrap_or_else(|_| panic!("{:?} {} {}", self.code, self.stdout, self.stderr))
    }
}

/// The arguments of a command line that quotes nothing.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

pub fn csv_rows(path: &Path) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_path(path)
        .unwrap()
        .deserialize()
        .map(Result::unwrap)
        .collect()
}
