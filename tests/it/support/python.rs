//! Runs programs of the virtual environments that `tests/python/setup.sh` makes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path of a program of a virtual environment. Tests that use one are ignored and have
/// `needs_python` in their path; `tests/run.sh --all` runs them.
#[track_caller]
pub fn program(venv: &str, name: &str) -> PathBuf {
    let path = root().join(".venv").join(venv).join("bin").join(name);
    assert!(
        path.exists(),
        ".venv/{venv} is missing: run tests/python/setup.sh"
    );
    path
}

/// A server that is a script of `tests/python`. Its process is killed on drop.
pub struct ScriptServer {
    child: Child,
    pub url: String,
}

impl ScriptServer {
    /// Starts `openenv_finqa.py`, an environment on `OpenEnv`'s own framework. It serves the folder
    /// `data` to at most `sessions` sessions at a time.
    pub fn framework(venv: &str, data: &Path, sessions: usize) -> Self {
        let data = data.to_str().unwrap();
        let sessions = sessions.to_string();
        Self::start(venv, &["openenv_finqa.py", data, "--sessions", &sessions])
    }

    fn start(venv: &str, arguments: &[&str]) -> Self {
        let python = program(venv, "python");
        let mut child = Command::new(python)
            .args(arguments)
            .current_dir(root().join("tests/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }

    /// Kills the server and returns what it wrote to standard error.
    pub fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
