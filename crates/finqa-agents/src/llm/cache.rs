//! The response cache: replies of a model kept in a folder, for requests that are made again
//! by other runs.
//!
//! An entry is one file, named by the hash of what the reply depends on and holding it in
//! full, so that a miss can be explained. Only whole answers are kept: a refusal, a filtered,
//! cut or empty answer, and a failure are asked for again.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use finqa_core::files;

use super::difference::{FieldDifference, canonical, differences, distance};
use super::error::{ErrorKind, ModelError};
use super::types::{ChatModel, ChatReply, ChatRequest, Feature, FinishReason, Stop, Support};

/// The version of the folder's layout; a newer one is refused.
const VERSION: u64 = 1;

/// The file that marks a folder as a cache.
const MARKER: &str = "convfinqa-cache.json";

/// The prefix of files that are being written.
const UNFINISHED: &str = ".writing-";

/// Called with warnings that stop nothing.
pub(crate) type CacheWarning = Arc<dyn Fn(&str) + Send + Sync>;

/// A folder that cannot be used as a cache.
#[derive(Debug, Error)]
pub enum CacheError {
    #[error("cannot use {path} as a cache: {source}")]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not a cache; name the folder that was given to --cache")]
    Foreign { path: PathBuf },
    #[error("{path} is not a cache and not empty; name a new or empty folder")]
    Occupied { path: PathBuf },
    #[error("{path} is a cache of version {found}; this program reads version {VERSION}")]
    Version { path: PathBuf, found: u64 },
}

/// A folder of replies. Several processes may use one at a time.
pub struct ResponseCache {
    folder: PathBuf,
    warn: CacheWarning,
    /// A reply could not be stored, and the warning was given.
    full: AtomicBool,
    /// One request a key is in flight at a time; the others wait for its reply.
    in_flight: Mutex<HashMap<blake3::Hash, Weak<tokio::sync::Mutex<()>>>>,
}

/// The part of a request that determines its reply: requests with equal keys share it.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheKey(Value);

impl CacheKey {
    /// The key of a request to `server`, which names provider, API, address and model.
    pub fn new(server: &str, request: &ChatRequest) -> Self {
        let mut fields = serde_json::to_value(request).unwrap_or_default();
        if let Some(fields) = fields.as_object_mut() {
            fields.shift_remove("node");
        }
        Self(json!({
            "server": server,
            // The node distinguishes the samples of one draft.
            "node": request.node,
            "epoch": request.origin.epoch,
            "repeat": request.origin.repeat,
            "request": fields,
        }))
    }

    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        canonical(&self.0, &mut hasher);
        hasher.finalize()
    }

    fn text(&self, field: &str) -> &str {
        self.0
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheEntry {
    version: u64,
    /// Seconds since 1970.
    stored: u64,
    key: Value,
    reply: ChatReply,
}

/// The content of a cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    pub entries: u64,
    pub bytes: u64,
    /// Entries by provider, address and model.
    pub servers: BTreeMap<String, u64>,
    /// Files that cannot be read as entries.
    pub damaged: u64,
    /// The times of the first and the last entry, in seconds since 1970.
    pub stored: Option<(u64, u64)>,
}

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq)]
pub enum CacheLookup {
    /// The reply in this file.
    Stored {
        file: String,
    },
    /// Nothing; the nearest entry differs in these fields.
    Nearest {
        file: String,
        differences: Vec<FieldDifference>,
    },
    Empty,
}

impl ResponseCache {
    /// Opens a cache, or makes one in a new or empty folder. `warn` hears of damaged entries
    /// and of a disk that is full.
    ///
    /// # Errors
    /// A folder that cannot be made, holds something else, or is of a newer version.
    pub fn open(folder: &Path, warn: CacheWarning) -> Result<Self, CacheError> {
        let error = |source| CacheError::Folder {
            path: folder.to_owned(),
            source,
        };
        std::fs::create_dir_all(folder).map_err(error)?;
        if !folder.join(MARKER).exists() {
            for entry in std::fs::read_dir(folder).map_err(error)? {
                let name = entry.map_err(error)?.file_name();
                // Another process may be making the same cache.
                if name != MARKER && !name.to_string_lossy().starts_with(UNFINISHED) {
                    return Err(CacheError::Occupied {
                        path: folder.to_owned(),
                    });
                }
            }
            let marker = json!({ "convfinqa_cache": VERSION }).to_string();
            write(&folder.join(MARKER), marker.as_bytes()).map_err(error)?;
        }
        Self::existing(folder, warn)
    }

    /// Opens a cache that is there.
    ///
    /// # Errors
    /// A folder that is not a cache, or is of a newer version.
    pub fn existing(folder: &Path, warn: CacheWarning) -> Result<Self, CacheError> {
        let foreign = || CacheError::Foreign {
            path: folder.to_owned(),
        };
        let marker = files::read(&folder.join(MARKER)).map_err(|_| foreign())?;
        let marker: Value = serde_json::from_slice(&marker).map_err(|_| foreign())?;
        let version = marker.get("convfinqa_cache").and_then(Value::as_u64);
        match version.ok_or_else(foreign)? {
            VERSION => Ok(Self {
                folder: folder.to_owned(),
                warn,
                full: AtomicBool::new(false),
                in_flight: Mutex::default(),
            }),
            found => Err(CacheError::Version {
                path: folder.to_owned(),
                found,
            }),
        }
    }

    /// Wraps a model so that it is asked only for replies that are not cached.
    pub fn wrap(self: &Arc<Self>, model: Arc<dyn ChatModel>, server: &str) -> Arc<dyn ChatModel> {
        Arc::new(CachedModel {
            model,
            cache: Arc::clone(self),
            server: server.to_owned(),
        })
    }

    /// The entry of a request, otherwise the nearest one, preferably of the same node.
    pub fn explain(&self, key: &CacheKey) -> CacheLookup {
        let path = self.path(key.hash());
        if let Ok(Some(_)) = read(&path, key) {
            return CacheLookup::Stored { file: name(&path) };
        }
        let nearest = self.entries().filter_map(|path| {
            let entry = parse(&files::read(&path).ok()?).ok()?;
            let found = differences(&entry.key, &key.0);
            let other = CacheKey(entry.key).text("node") != key.text("node");
            Some(((other, distance(&found)), name(&path), found))
        });
        match nearest.min_by_key(|(rank, ..)| *rank) {
            Some((_, file, differences)) => CacheLookup::Nearest { file, differences },
            None => CacheLookup::Empty,
        }
    }

    pub fn stats(&self) -> CacheStats {
        let mut stats = CacheStats::default();
        for path in self.entries() {
            let bytes = files::read(&path).unwrap_or_default();
            stats.bytes += bytes.len() as u64;
            let Ok(entry) = parse(&bytes) else {
                stats.damaged += 1;
                continue;
            };
            stats.entries += 1;
            let at = entry.stored;
            let (first, last) = stats.stored.unwrap_or((at, at));
            stats.stored = Some((first.min(at), last.max(at)));
            let server = CacheKey(entry.key).text("server").to_owned();
            *stats.servers.entry(server).or_default() += 1;
        }
        stats
    }

    /// Deletes every entry, and nothing else; says how many there were.
    ///
    /// # Errors
    /// A file that cannot be deleted.
    pub fn clear(&self) -> Result<u64, CacheError> {
        let mut deleted = 0;
        for path in self.entries() {
            std::fs::remove_file(&path).map_err(|source| CacheError::Folder { path, source })?;
            deleted += 1;
        }
        Ok(deleted)
    }

    /// The files that are named like entries.
    fn entries(&self) -> impl Iterator<Item = PathBuf> {
        let is_hex = |name: &str, length| {
            name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let folders = children(&self.folder).filter(move |path| is_hex(&name(path), 2));
        let files = folders.flat_map(|folder| children(&folder));
        files.filter(move |path| {
            name(path)
                .strip_suffix(".json")
                .is_some_and(|name| is_hex(name, 64))
        })
    }

    fn path(&self, hash: blake3::Hash) -> PathBuf {
        let name = hash.to_hex();
        let folder: String = name.chars().take(2).collect();
        self.folder.join(folder).join(format!("{name}.json"))
    }

    /// The stored reply. A damaged entry is none, and replaced by the next reply.
    fn reply(&self, key: &CacheKey) -> Option<ChatReply> {
        let path = self.path(key.hash());
        read(&path, key).unwrap_or_else(|reason| {
            (self.warn)(&format!(
                "{} is damaged ({reason}); the model is asked again",
                path.display()
            ));
            None
        })
    }

    fn store(&self, key: &CacheKey, reply: &ChatReply) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let entry = CacheEntry {
            version: VERSION,
            stored: now.unwrap_or_default().as_secs(),
            key: key.0.clone(),
            reply: reply.clone(),
        };
        let path = self.path(key.hash());
        let written = serde_json::to_vec(&entry)
            .map_err(io::Error::from)
            .and_then(|json| {
                std::fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                write(&path, &json)
            });
        if let Err(error) = written
            && !self.full.swap(true, Ordering::Relaxed)
        {
            (self.warn)(&format!(
                "the cache {} cannot be written ({error}); the run continues without storing replies",
                self.folder.display()
            ));
        }
    }

    fn request_lock(&self, hash: blake3::Hash) -> Arc<tokio::sync::Mutex<()>> {
        let mut gates = self.in_flight.lock();
        if let Some(gate) = gates.get(&hash).and_then(Weak::upgrade) {
            return gate;
        }
        gates.retain(|_, gate| gate.strong_count() > 0);
        let gate = Arc::default();
        gates.insert(hash, Arc::downgrade(&gate));
        gate
    }
}

impl std::fmt::Debug for ResponseCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseCache")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn children(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// The reply in an entry, `None` without a file, or why it is damaged.
fn read(path: &Path, key: &CacheKey) -> Result<Option<ChatReply>, String> {
    let bytes = match files::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let entry = parse(&bytes)?;
    match entry.key == key.0 {
        true => Ok(Some(entry.reply)),
        false => Err("it is the entry of another request".to_owned()),
    }
}

fn parse(bytes: &[u8]) -> Result<CacheEntry, String> {
    let entry: CacheEntry = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match entry.version {
        VERSION => Ok(entry),
        other => Err(format!("it has version {other}")),
    }
}

/// A model behind a cache.
struct CachedModel {
    model: Arc<dyn ChatModel>,
    cache: Arc<ResponseCache>,
    server: String,
}

/// True if a reply is an answer that another request would only repeat.
fn is_whole(reply: &ChatReply) -> bool {
    let ended = match &reply.finish {
        FinishReason::Stop | FinishReason::ToolCalls => true,
        // Some servers give no reason; any word that is not known may be a failure.
        FinishReason::Other(word) => word.is_empty(),
        FinishReason::Length | FinishReason::ContentFilter => false,
    };
    let says = !reply.content.trim().is_empty() || !reply.tool_calls.is_empty();
    ended && says && !reply.is_withheld()
}

#[async_trait]
impl ChatModel for CachedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn supports(&self, feature: Feature) -> Support {
        self.model.supports(feature)
    }

    fn cost(&self, reply: &ChatReply) -> Option<Decimal> {
        self.model.cost(reply)
    }

    fn sends_batches(&self) -> bool {
        self.model.sends_batches()
    }

    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError> {
        let started = Instant::now();
        let key = CacheKey::new(&self.server, request);
        let gate = self.cache.request_lock(key.hash());
        // A wave is sent when every conversation waits for it, so none may wait for the equal
        // request of another.
        let _alone = match self.model.sends_batches() {
            true => None,
            false => tokio::select! {
                biased;
                () = stop.abort.cancelled() => {
                    return Err(ModelError::new(ErrorKind::Cancelled, "stopped"));
                }
                alone = gate.lock() => Some(alone),
            },
        };
        if let Some(reply) = self.cache.reply(&key) {
            tracing::debug!(node = request.node, "reply from the cache");
            return Ok(ChatReply {
                attempts: 0,
                lost: 0,
                cached: true,
                latency: started.elapsed(),
                ..reply
            });
        }
        // Whoever waited for another call begins none once the run is stopped.
        if stop.drain.is_cancelled() {
            return Err(ModelError::new(ErrorKind::Cancelled, "stopped"));
        }
        let reply = self.model.chat(request, stop).await?;
        if is_whole(&reply) {
            self.cache.store(&key, &reply);
        }
        Ok(reply)
    }
}
