//! The results of a batch, which may be larger than the memory: downloaded to files without a
//! name, and read line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::BatchClient;
use super::api::{BatchApi, BatchResult, BatchState};
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::types::Stop;

pub(super) enum ResultLine {
    Result {
        key: String,
        result: BatchResult,
    },
    /// Not a result, without a request, or longer than a reply may be.
    Unreadable,
}

/// The results of a batch that has ended.
pub(super) struct BatchResults {
    /// The output comes before the errors.
    files: Vec<BufReader<Arc<File>>>,
    at: usize,
    /// The longest line that is read.
    most_bytes: usize,
    api: &'static dyn BatchApi,
}

impl BatchClient {
    /// Downloads the results of a batch that has ended, to files in `folder`.
    pub(super) async fn results(
        &self,
        state: &BatchState,
        folder: &Path,
        stop: &Stop,
    ) -> Result<BatchResults, ModelError> {
        let mut files = Vec::new();
        for path in &state.results {
            let file = Arc::new(tempfile::tempfile_in(folder).map_err(storage_error)?);
            self.download(path, &file, stop).await?;
            files.push(BufReader::new(file));
        }
        let mut results = BatchResults {
            files,
            at: 0,
            most_bytes: self.most_bytes(),
            api: self.api(),
        };
        results.rewind().map_err(storage_error)?;
        Ok(results)
    }
}

impl BatchResults {
    /// Begins again.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.at = 0;
        let mut files = self.files.iter_mut();
        files.try_for_each(|file| file.rewind())
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> io::Result<Option<ResultLine>> {
        while let Some(file) = self.files.get_mut(self.at) {
            match line(file, self.most_bytes)? {
                None => self.at += 1,
                Some(line) if line.iter().all(u8::is_ascii_whitespace) => {}
                Some(line) => {
                    let read = serde_json::from_slice(&line).ok().and_then(|line: Value| {
                        let key = line.get("custom_id")?.as_str()?.to_owned();
                        let result = self.api.result(&line)?;
                        Some(ResultLine::Result { key, result })
                    });
                    return Ok(Some(read.unwrap_or(ResultLine::Unreadable)));
                }
            }
        }
        Ok(None)
    }
}

/// The next line of a file, cut off behind `most_bytes`, so that it is not JSON then.
fn line(file: &mut impl BufRead, most_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = u64::try_from(most_bytes).unwrap_or(u64::MAX);
    if file.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() == most_bytes && !line.ends_with(b"\n") {
        file.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

/// The error of a file of results that cannot be created or read.
pub(super) fn storage_error(error: io::Error) -> ModelError {
    let message = format!("the results of a batch: {error}");
    ModelError::new(ErrorKind::Unstored, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_results_is_read_up_to_its_limit_and_the_next_one_whole() {
        let mut file = "{\"a\": 1}\n{\"b\": 22222222}\n\n{\"c\": 3}".as_bytes();
        let mut lines = Vec::new();
        while let Some(line) = line(&mut file, 9).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(lines, ["{\"a\": 1}\n", "{\"b\": 222", "\n", "{\"c\": 3}"]);
    }
}
