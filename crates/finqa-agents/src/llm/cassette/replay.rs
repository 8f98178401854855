//! Reading a cassette: strictly and once whole for an index, then a line for each call.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use finqa_core::files;
use finqa_core::text::{counted, cut, single_spaced};

use super::super::difference::{FieldDifference, canonical, differences, distance, in_words};
use super::super::protocol::ApiDialect;
use super::super::types::RequestOrigin;
use super::CassetteError;
use super::format::{CassetteLine, RecordedCall, RecordedRequest, RecordedRow, VERSION};

/// A cassette that a run is answered from.
#[derive(Debug)]
pub struct CassetteReplay {
    path: PathBuf,
    run: Option<Value>,
    calls: Vec<IndexedCall>,
    /// Calls by their first request, in recorded order.
    by_request: HashMap<blake3::Hash, Vec<usize>>,
    /// The last call that was recorded for each asker: an earlier one was lost with its
    /// process before the journal held it.
    by_origin: HashMap<(String, RequestOrigin), usize>,
    rows: HashMap<usize, RecordedRow>,
    whole: u64,
    is_cut: bool,
    file: Mutex<File>,
    replayed: Mutex<HashSet<usize>>,
}

#[derive(Debug)]
struct IndexedCall {
    line: u64,
    offset: u64,
    length: usize,
    dialect: ApiDialect,
}

/// A request to look for.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct AskedRequest<'a> {
    pub node: &'a str,
    pub origin: &'a RequestOrigin,
    pub method: &'a str,
    pub path: &'a str,
    pub body: &'a Value,
}

impl CassetteReplay {
    /// # Errors
    /// A file that cannot be read, or is not a cassette that this program reads.
    pub fn open(path: &Path) -> Result<Self, CassetteError> {
        let error = |source| CassetteError::Read {
            path: path.to_owned(),
            source,
        };
        let file = files::open(path).map_err(error)?;
        let mut lines = BufReader::new(file.try_clone().map_err(error)?);
        let mut replay = Self {
            path: path.to_owned(),
            run: None,
            calls: Vec::new(),
            by_request: HashMap::new(),
            by_origin: HashMap::new(),
            rows: HashMap::new(),
            whole: 0,
            is_cut: false,
            file: Mutex::new(file),
            replayed: Mutex::default(),
        };
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(error)? == 0 {
                break;
            }
            if bytes.last() != Some(&b'\n') && number > 1 {
                replay.is_cut = true;
                break;
            }
            replay.index(number, &bytes)?;
            replay.whole += bytes.len() as u64;
        }
        if replay.whole == 0 {
            return Err(replay.foreign("it is empty"));
        }
        Ok(replay)
    }

    fn index(&mut self, number: u64, bytes: &[u8]) -> Result<(), CassetteError> {
        if number == 1 {
            let version = version(bytes).map_err(|reason| self.foreign(reason))?;
            if version != VERSION {
                return Err(CassetteError::Version {
                    path: self.path.clone(),
                    found: version,
                });
            }
        }
        let damaged = |reason: String| CassetteError::Line {
            path: self.path.clone(),
            line: number,
            reason,
        };
        let line = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        match (line, number) {
            (CassetteLine::Cassette(header), 1) => self.run = header.run,
            (CassetteLine::Cassette(_), _) | (_, 1) => {
                return Err(damaged("it is not where a cassette has it".to_owned()));
            }
            (CassetteLine::Row(row), _) => {
                self.rows.insert(row.index, row);
            }
            (CassetteLine::Call(call), _) => {
                let Some(first) = call.requests.first() else {
                    return Err(damaged("a call without a request".to_owned()));
                };
                if call.requests.iter().any(|sent| sent.attempts.is_empty()) {
                    return Err(damaged("a request without an attempt".to_owned()));
                }
                let request = hash(&first.method, &first.path, &first.body);
                let at = self.calls.len();
                self.by_request.entry(request).or_default().push(at);
                self.by_origin.insert((call.node, call.origin), at);
                self.calls.push(IndexedCall {
                    line: number,
                    offset: self.whole,
                    length: bytes.len(),
                    dialect: call.dialect,
                });
            }
        }
        Ok(())
    }

    /// The run that was recorded, as its journal describes it.
    pub fn run(&self) -> Option<&Value> {
        self.run.as_ref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the file ends within a line, which is ignored: the recording was killed.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The recorded times of a question.
    pub fn row(&self, index: usize) -> Option<RecordedRow> {
        self.rows.get(&index).copied()
    }

    /// Bytes of whole lines.
    pub(super) fn whole_lines(&self) -> u64 {
        self.whole
    }

    /// The dialect that a call began with.
    pub(in super::super) fn dialect(
        &self,
        node: &str,
        origin: &RequestOrigin,
    ) -> Option<ApiDialect> {
        let at = self.by_origin.get(&(node.to_owned(), origin.clone()))?;
        self.calls.get(*at).map(|call| call.dialect)
    }

    /// The recorded call that begins with this request: the asker's own, else the first
    /// one that is not replayed yet; or why there is none.
    pub(in super::super) fn call(&self, asked: AskedRequest<'_>) -> Result<RecordedCall, String> {
        let request = hash(asked.method, asked.path, asked.body);
        let recorded = self.by_request.get(&request);
        let recorded = recorded.map_or(&[][..], Vec::as_slice);
        let origin = (asked.node.to_owned(), asked.origin.clone());
        let own = self.by_origin.get(&origin);
        let at = {
            let mut replayed = self.replayed.lock();
            let at = match own.filter(|at| recorded.contains(at)) {
                Some(own) => Some(*own),
                None => recorded.iter().copied().find(|at| !replayed.contains(at)),
            };
            replayed.extend(at);
            at
        };
        match at.and_then(|at| self.calls.get(at)) {
            Some(call) => self.read(call).map_err(|error| error.to_string()),
            None if recorded.is_empty() => Err(self.miss(asked)),
            None => Err(format!(
                "{} asks once more what {} holds {}",
                asker_words(asked.node, asked.origin),
                self.path.display(),
                counted(recorded.len(), "time"),
            )),
        }
    }

    fn read(&self, call: &IndexedCall) -> Result<RecordedCall, CassetteError> {
        let mut bytes = vec![0; call.length];
        let read = {
            let mut file = self.file.lock();
            file.seek(SeekFrom::Start(call.offset))
                .and_then(|_| file.read_exact(&mut bytes))
        };
        read.map_err(|source| CassetteError::Read {
            path: self.path.clone(),
            source,
        })?;
        let damaged = |reason| CassetteError::Line {
            path: self.path.clone(),
            line: call.line,
            reason,
        };
        match serde_json::from_slice(&bytes) {
            Ok(CassetteLine::Call(found)) => Ok(found),
            Ok(_) => Err(damaged("the file has changed".to_owned())),
            Err(error) => Err(damaged(error.to_string())),
        }
    }

    /// Describes the recorded request nearest to one that is not recorded.
    fn miss(&self, asked: AskedRequest<'_>) -> String {
        let nearest = self
            .calls
            .iter()
            .filter_map(|call| self.read(call).ok())
            .filter_map(|call| {
                let found = request_differences(call.requests.first()?, asked);
                let other =
                    call.node != asked.node || call.origin.question != asked.origin.question;
                Some(((other, distance(&found)), call, found))
            })
            .min_by_key(|(rank, ..)| *rank);
        let who = asker_words(asked.node, asked.origin);
        let path = self.path.display();
        match nearest {
            None => format!("{path} holds no call, and {who} asks for one"),
            Some((_, call, found)) => format!(
                "{path} does not hold the request of {who}; the nearest, of {}, differs in {}",
                asker_words(&call.node, &call.origin),
                in_words(&found)
            ),
        }
    }

    fn foreign(&self, reason: impl Into<String>) -> CassetteError {
        CassetteError::Foreign {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }
}

/// The fields in which a request differs from a recorded one.
pub(in super::super) fn request_differences(
    recorded: &RecordedRequest,
    asked: AskedRequest<'_>,
) -> Vec<FieldDifference> {
    let place = |method: &str, path: &str| Value::from(format!("{method} {path}"));
    let mut found = differences(
        &place(&recorded.method, &recorded.path),
        &place(asked.method, asked.path),
    );
    found.extend(differences(&recorded.body, asked.body));
    found
}

/// Who asks, for a person: `analyst of Single_A/2019/page_1.pdf-1#question`.
fn asker_words(node: &str, origin: &RequestOrigin) -> String {
    let mut words = format!(
        "{node} of {}",
        cut(&single_spaced(&origin.question), 100, "…")
    );
    if origin.epoch > 0 {
        words.push_str(&format!(" in epoch {}", origin.epoch));
    }
    words
}

/// The version in a first line.
fn version(line: &[u8]) -> Result<u64, String> {
    #[derive(Deserialize)]
    struct AnyCassette {
        cassette: AnyHeader,
    }
    #[derive(Deserialize)]
    struct AnyHeader {
        version: u64,
    }
    serde_json::from_slice(line)
        .map(|found: AnyCassette| found.cassette.version)
        .map_err(|_| "its first line is not a cassette's".to_owned())
}

/// The hash of a request, equal for the same JSON in any order of keys.
fn hash(method: &str, path: &str, body: &Value) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{method} {path} ").as_bytes());
    canonical(body, &mut hasher);
    hasher.finalize()
}
