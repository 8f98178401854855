//! The folder of stored replies. Opens it, reads and writes its files, and finds the stored request
//! that is nearest to a missing one.
//!
//! An entry is one file. Its name is the hash of its request, and it contains the full request, so
//! that a missing entry can be explained. In a published folder the requests may have been removed
//! (`null`), because they contain the pages; the name alone then identifies the request. The folder
//! also describes the last run that used it, so that a replay needs no other option.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::Notify;

use finqa_core::files;
use finqa_core::text::{cut, single_spaced};

use crate::llm::difference::{RequestDifference, canonical};
use crate::llm::error::ModelError;
use crate::llm::types::ChatReply;
use finqa_core::error::{Kind, Kinded};

/// The version of the folder's layout. Other versions are refused.
const VERSION: u64 = 1;

/// The name of the file that marks a folder of stored replies and describes the last run.
const MARKER: &str = "replies.json";

/// The prefix of files that are not complete yet.
const UNFINISHED: &str = ".writing-";

/// A function that is called with warnings, which do not stop the run.
pub(crate) type RepliesWarning = Arc<dyn Fn(&str) + Send + Sync>;

/// The reason why a folder cannot be used for stored replies.
#[derive(Debug, Error)]
pub enum RepliesError {
    #[error("cannot use {path} for stored replies: {source}")]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} holds no stored replies")]
    Foreign { path: PathBuf },
    #[error("{path} holds replies of version {found}; this program reads version {VERSION}")]
    Version { path: PathBuf, found: u64 },
}

impl Kinded for RepliesError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}

/// The content of [`MARKER`].
#[derive(Debug, Serialize, Deserialize)]
struct FolderHeader {
    convfinqa_replies: u64,
    /// The last run, in the description of its journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Value>,
}

/// A folder of stored replies, which several processes may use at the same time.
pub struct StoredReplies {
    folder: PathBuf,
    /// True in a replay, in which nothing is sent or stored.
    pub(super) replays: bool,
    warn: RepliesWarning,
    /// True if a reply could not be stored and the user was warned.
    full: AtomicBool,
    /// The entries whose requests this process is sending. An equal request waits, so that it is
    /// paid for only once.
    asked: Mutex<HashSet<PathBuf>>,
    /// Notified when one of these requests has ended.
    ended: Notify,
}

/// A lock on an entry. Until it is dropped, no other call of this process requests the entry.
pub(super) struct KeyLock<'r> {
    replies: &'r StoredReplies,
    entry: PathBuf,
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        self.replies.asked.lock().remove(&self.entry);
        self.replies.ended.notify_waiters();
    }
}

/// The content of one file of a folder of stored replies.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCall {
    version: u64,
    /// The request; `null` if it was removed for publication.
    key: Value,
    /// The first question for which the request was sent; for messages.
    question: String,
    outcome: CallOutcome,
}

/// The outcome of a stored call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallOutcome {
    Reply(ChatReply),
    Failure(ModelError),
}

impl From<CallOutcome> for Result<ChatReply, ModelError> {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Reply(reply) => Ok(reply),
            CallOutcome::Failure(error) => Err(error),
        }
    }
}

impl StoredReplies {
    /// Opens a folder in which replies are stored and reused. The folder is created if it does not
    /// exist. `warn` is called for damaged entries and for a folder that cannot be written.
    ///
    /// # Errors
    /// If the folder cannot be created, contains other files, or has another version.
    pub fn reuse(folder: &Path, warn: RepliesWarning) -> Result<Self, RepliesError> {
        let error = |source| RepliesError::Folder {
            path: folder.to_owned(),
            source,
        };
        std::fs::create_dir_all(folder).map_err(error)?;
        if !folder.join(MARKER).exists() {
            for entry in std::fs::read_dir(folder).map_err(error)? {
                let name = entry.map_err(error)?.file_name();
                // Another process may be starting to use the same folder.
                if name != MARKER && !name.to_string_lossy().starts_with(UNFINISHED) {
                    let path = folder.to_owned();
                    return Err(RepliesError::Foreign { path });
                }
            }
            write_header(folder, None).map_err(error)?;
        }
        header(folder)?;
        Ok(Self::of(folder, false, warn))
    }

    /// Opens a folder for a replay, which uses only stored replies.
    ///
    /// # Errors
    /// If the folder contains no stored replies, or has another version.
    pub fn replay(folder: &Path) -> Result<Self, RepliesError> {
        header(folder)?;
        // No warnings: a replay writes nothing, and a damaged entry is the error of its call.
        Ok(Self::of(folder, true, Arc::new(|_| {})))
    }

    fn of(folder: &Path, replays: bool, warn: RepliesWarning) -> Self {
        Self {
            folder: folder.to_owned(),
            replays,
            warn,
            full: AtomicBool::new(false),
            asked: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// True in a replay, in which nothing is sent.
    pub fn replays(&self) -> bool {
        self.replays
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The last run that used the folder; `None` if only single questions did.
    ///
    /// # Errors
    /// The errors of [`StoredReplies::replay`].
    pub fn run(&self) -> Result<Option<Value>, RepliesError> {
        header(&self.folder).map(|header| header.run)
    }

    /// Stores the description of the run that starts to use the folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn begin_run(&self, run: Value) -> Result<(), RepliesError> {
        write_header(&self.folder, Some(run)).map_err(|source| RepliesError::Folder {
            path: self.folder.clone(),
            source,
        })
    }

    pub(super) fn warn(&self, line: &str) {
        (self.warn)(line);
    }

    /// Waits while another call of this process sends the same request, so that it is paid for only
    /// once.
    pub(super) async fn turn(&self, key: &Value) -> KeyLock<'_> {
        let entry = self.path(key);
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // Register before reading the set, so that no end is missed.
            ended.as_mut().enable();
            if self.asked.lock().insert(entry.clone()) {
                return KeyLock {
                    replies: self,
                    entry,
                };
            }
            ended.await;
        }
    }

    /// Reads the stored outcome of a request; `None` if there is none. The error names a damaged
    /// file.
    pub(super) fn read(&self, key: &Value) -> Result<Option<CallOutcome>, String> {
        let path = self.path(key);
        let read = match files::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error.to_string()),
            Ok(bytes) => parse(&bytes),
        };
        match read {
            Ok(entry) if entry.key == *key || entry.key.is_null() => Ok(Some(entry.outcome)),
            Ok(_) => Err("it is the entry of another request".to_owned()),
            Err(reason) => Err(reason),
        }
        .map_err(|reason| format!("{} is damaged ({reason})", path.display()))
    }

    /// The path of the file for a key. Its name is the hash of the key.
    fn path(&self, key: &Value) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        canonical(key, &mut hasher);
        let name = hasher.finalize().to_hex();
        // 256 subfolders, so that no folder has all files.
        let folder: String = name.chars().take(2).collect();
        self.folder.join(folder).join(format!("{name}.json"))
    }

    /// Describes the stored request that is nearest to a missing one, preferring requests of the
    /// same node.
    pub(super) fn miss(&self, asked: &Value, question: &str) -> String {
        // Entries that cannot be read are skipped: the nearest one only explains the miss.
        let nearest = entries(&self.folder)
            .filter_map(|path| parse(&files::read(&path).ok()?).ok())
            .filter(|entry| !entry.key.is_null())
            .map(|entry| {
                let found = RequestDifference::of(&entry.key, asked);
                let is_other_node = entry.key.get("node") != asked.get("node");
                ((is_other_node, found.distance), entry, found)
            })
            .min_by_key(|(rank, ..)| *rank);
        let (who, folder) = (asker(asked, question), self.folder.display());
        match nearest {
            None => format!("{folder} holds no reply to the request of {who}"),
            Some((_, entry, found)) => format!(
                "{folder} holds no reply to the request of {who}; the nearest, of {}, differs in {}",
                asker(&entry.key, &entry.question),
                found.in_words()
            ),
        }
    }

    /// Stores the outcome of a request. If it cannot be written, the user is warned once and the
    /// run continues.
    pub(super) fn store(&self, key: Value, question: &str, outcome: CallOutcome) {
        let path = self.path(&key);
        let entry = StoredCall {
            version: VERSION,
            key,
            question: question.to_owned(),
            outcome,
        };
        let written = serde_json::to_vec(&entry)
            .map_err(io::Error::from)
            .and_then(|json| {
                // Every entry is in a subfolder, so the default is never used.
                std::fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                write(&path, &json)
            });
        if let Err(error) = written
            && !self.full.swap(true, Ordering::Relaxed)
        {
            (self.warn)(&format!(
                "{} cannot be written ({error}); the run continues without storing replies",
                self.folder.display()
            ));
        }
    }
}

/// Reads the marker of a folder. If it is missing or cannot be read, the folder counts as foreign.
fn header(folder: &Path) -> Result<FolderHeader, RepliesError> {
    let path = folder.to_owned();
    let bytes = files::read(&folder.join(MARKER)).ok();
    let header = bytes.and_then(|bytes| serde_json::from_slice::<FolderHeader>(&bytes).ok());
    match header {
        None => Err(RepliesError::Foreign { path }),
        Some(header) if header.convfinqa_replies != VERSION => Err(RepliesError::Version {
            path,
            found: header.convfinqa_replies,
        }),
        Some(header) => Ok(header),
    }
}

fn write_header(folder: &Path, run: Option<Value>) -> io::Result<()> {
    let header = FolderHeader {
        convfinqa_replies: VERSION,
        run,
    };
    write(&folder.join(MARKER), &serde_json::to_vec(&header)?)
}

/// The files in the subfolders of a folder.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let children = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    children(folder).flat_map(move |folder| children(&folder))
}

/// Writes a file completely or not at all, because other processes may read the folder at the same
/// time.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Only a root or an empty path has no parent.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

fn parse(bytes: &[u8]) -> Result<StoredCall, String> {
    let entry: StoredCall = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match entry.version {
        VERSION => Ok(entry),
        other => Err(format!("it has version {other}")),
    }
}

/// The origin of a request in words for a person: `analyst of Single_A/2019/page_1.pdf-1#qa`.
fn asker(key: &Value, question: &str) -> String {
    let node = key.get("node").and_then(Value::as_str).unwrap_or_default();
    let mut words = format!("{node} of {}", cut(&single_spaced(question), 100, "…"));
    if let Some(epoch @ 1..) = key.get("epoch").and_then(Value::as_u64) {
        words.push_str(&format!(" in epoch {epoch}"));
    }
    words
}
