//! Writing a cassette: a line as soon as a call has ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use finqa_core::secrets::redact_json;

use super::CassetteError;
use super::format::{
    CassetteHeader, CassetteLine, RecordedBody, RecordedCall, RecordedRow, VERSION,
};
use super::replay::CassetteReplay;

/// A cassette that is being recorded.
#[derive(Debug)]
pub struct CassetteRecorder {
    path: PathBuf,
    secrets: Vec<SecretString>,
    /// The run's description in the continued file.
    run: Option<Value>,
    state: Mutex<RecorderState>,
}

#[derive(Debug)]
struct RecorderState {
    file: File,
    has_begun: bool,
    /// The error after which nothing is written: a line after a partial one could not be
    /// read.
    failed: Option<io::Error>,
}

impl CassetteRecorder {
    /// A new file, from which `secrets` are kept out.
    ///
    /// # Errors
    /// A file that exists or cannot be created.
    pub fn create(path: &Path, secrets: Vec<SecretString>) -> Result<Self, CassetteError> {
        let opened = OpenOptions::new().write(true).create_new(true).open(path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => CassetteError::Exists {
                path: path.to_owned(),
            },
            _ => CassetteError::Write {
                path: path.to_owned(),
                source,
            },
        })?;
        Ok(Self::of(path, secrets, file, None))
    }

    /// The file of a run that is resumed. A line that was being written when its process
    /// ended is dropped.
    ///
    /// # Errors
    /// A file that cannot be read as a cassette, or not be written.
    pub fn append(path: &Path, secrets: Vec<SecretString>) -> Result<Self, CassetteError> {
        let recorded = CassetteReplay::open(path)?;
        let error = |source| CassetteError::Write {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new().append(true).open(path).map_err(error)?;
        file.set_len(recorded.whole_lines()).map_err(error)?;
        Ok(Self::of(path, secrets, file, Some(recorded.run().cloned())))
    }

    fn of(
        path: &Path,
        secrets: Vec<SecretString>,
        file: File,
        continued: Option<Option<Value>>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            secrets,
            run: continued.clone().flatten(),
            state: Mutex::new(RecorderState {
                file,
                has_begun: continued.is_some(),
                failed: None,
            }),
        }
    }

    /// Writes the first line: the run, if there is one.
    pub fn begin(&self, run: Option<Value>) {
        self.write(
            &CassetteLine::Cassette(CassetteHeader {
                version: VERSION,
                program: format!("convfinqa {}", env!("CARGO_PKG_VERSION")),
                run,
            }),
            &[],
        );
    }

    /// Writes a call, without the further `secrets` of its connection.
    pub(in super::super) fn call(&self, mut call: RecordedCall, secrets: &[&str]) {
        for attempt in call
            .requests
            .iter_mut()
            .flat_map(|request| &mut request.attempts)
        {
            if let Some(RecordedBody::Text(text)) = &mut attempt.body
                && let Ok(json) = serde_json::from_str::<Value>(text)
            {
                // A secret may be escaped in the text.
                let mut clean = json.clone();
                redact_json(&mut clean, &self.all(secrets));
                if clean != json {
                    *text = clean.to_string();
                }
            }
        }
        self.write(&CassetteLine::Call(call), secrets);
    }

    /// Writes when a question was answered.
    pub fn row(&self, row: RecordedRow) {
        self.write(&CassetteLine::Row(row), &[]);
    }

    /// Whether everything was written.
    ///
    /// # Errors
    /// Why the file lacks some of it.
    pub fn finish(&self) -> Result<(), CassetteError> {
        let mut state = self.state.lock();
        state.failed.take().map_or(Ok(()), |source| {
            Err(CassetteError::Write {
                path: self.path.clone(),
                source,
            })
        })
    }

    /// The run's description in the continued file.
    pub fn run(&self) -> Option<&Value> {
        self.run.as_ref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn all<'s>(&'s self, secrets: &[&'s str]) -> Vec<&'s str> {
        let own = self.secrets.iter().map(ExposeSecret::expose_secret);
        own.chain(secrets.iter().copied()).collect()
    }

    /// One write for a whole line, so that a process that is killed leaves whole lines and
    /// at most one partial line at the end.
    fn write(&self, line: &CassetteLine, secrets: &[&str]) {
        let written = serde_json::to_value(line).map(|mut json| {
            redact_json(&mut json, &self.all(secrets));
            format!("{json}\n")
        });
        let mut state = self.state.lock();
        if state.failed.is_some() {
            return;
        }
        let written = written
            .map_err(io::Error::from)
            .and_then(|line| state.file.write_all(line.as_bytes()));
        match written {
            Ok(()) => state.has_begun = true,
            Err(error) => state.failed = Some(error),
        }
    }
}

impl Drop for CassetteRecorder {
    /// A run that could not be started leaves no empty file that would refuse the next.
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if !state.has_begun {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
