//! What the models of a run share.

use std::sync::{Arc, Mutex};

use crate::settings::Settings;
use finqa_agents::models::{Cassette, Limits, Observer, ResponseCache};

use super::explain::JournaledCalls;
use super::{Notify, PipelineError, RunNotice};

/// What the models of a run share.
#[derive(Clone)]
pub(crate) struct ModelContext {
    /// Hears of retries.
    pub observer: Observer,
    pub limits: Limits,
    /// Requests are recorded to it, or answered from it.
    pub cassette: Option<Cassette>,
    /// Replies are kept in it, and given again.
    pub cache: Option<Arc<ResponseCache>>,
    /// The replies of an earlier run that take the place of every server.
    pub journaled: Option<Arc<Mutex<JournaledCalls>>>,
}

/// Opens the cache that the settings name. A cassette holds every call of a run, so a run
/// that is recorded or replayed has none.
///
/// # Errors
/// A folder that cannot be used.
pub(crate) fn cache(
    settings: &Settings,
    cassette: Option<&Cassette>,
    notify: &Notify,
) -> Result<Option<Arc<ResponseCache>>, PipelineError> {
    let folder = settings.model.cache.as_deref();
    let Some(folder) = folder.filter(|_| !settings.model.is_offline()) else {
        return Ok(None);
    };
    if cassette.is_some() {
        let line = format!(
            "note: the cache {} is not used, because a cassette holds every call",
            folder.display()
        );
        notify(RunNotice::Note(line));
        return Ok(None);
    }
    let notify = Arc::clone(notify);
    let warn = move |line: &str| notify(RunNotice::Warning(format!("warning: {line}")));
    Ok(Some(Arc::new(ResponseCache::open(folder, Arc::new(warn))?)))
}

impl ModelContext {
    /// Nobody hears of anything.
    pub(super) fn silent() -> Self {
        Self {
            observer: Arc::new(|_, _| {}),
            limits: Limits::default(),
            cassette: None,
            cache: None,
            journaled: None,
        }
    }

    pub(super) fn is_replayed(&self) -> bool {
        let cassette = self.cassette.as_ref();
        self.journaled.is_some() || cassette.is_some_and(|it| it.replay().is_some())
    }
}
