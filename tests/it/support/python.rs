//! The virtual environments of `tests/python/setup.sh`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of a virtual environment, or `None` with the reason printed.
/// `CONVFINQA_REQUIRE_PYTHON` makes a missing one a failure.
pub fn program(venv: &str, name: &str) -> Option<PathBuf> {
    let path = root().join(".venv").join(venv).join("bin").join(name);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var_os("CONVFINQA_REQUIRE_PYTHON").is_some();
    assert!(
        !required,
        ".venv/{venv} is missing: run tests/python/setup.sh"
    );
    println!("skipped: .venv/{venv} is missing; tests/python/setup.sh makes it");
    None
}

/// `tests/python/openenv_finqa.py`, an environment on `OpenEnv`'s own framework;
/// its process is ended when dropped.
pub struct Framework {
    child: Child,
    /// Where it listens.
    pub url: String,
}

impl Framework {
    /// Serves the folder `data` to so many sessions at once; `None` where the
    /// virtual environment is missing.
    pub fn start(venv: &str, data: &Path, sessions: usize) -> Option<Self> {
        let python = program(venv, "python")?;
        let mut child = Command::new(python)
            .arg("openenv_finqa.py")
            .arg(data)
            .args(["--sessions", &sessions.to_string()])
            .current_dir(root().join("tests/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let told = child.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Some(Self { child, url })
    }

    /// Ends it; gives what it complained of.
    pub fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut text = String::new();
        let mut told = self.child.stderr.take().unwrap();
        told.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Framework {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
