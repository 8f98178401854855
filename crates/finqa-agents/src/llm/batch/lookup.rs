//! A batch in its provider's list, and the ids of what a provider returns.

use serde_json::Value;

use super::client::{get, named, unreadable};
use super::{BatchClient, BatchRecord};
use crate::llm::error::ModelError;
use crate::llm::retry::{FailedAttempt, retry};
use crate::llm::types::Stop;

impl BatchClient {
    /// The id of a batch that an earlier process may have submitted.
    pub(super) async fn find(
        &self,
        record: &BatchRecord,
        run: &str,
        known: &[String],
        stop: &Stop,
    ) -> Result<Option<String>, ModelError> {
        let found = retry(self.settings.retry, 0, stop, &|_| {}, || {
            self.find_once(record, run, known)
        });
        let path = self.api().path();
        found
            .await
            .map_err(|error| self.located(named(error, &format!("GET {path}"))))
    }

    pub(super) async fn find_once(
        &self,
        record: &BatchRecord,
        run: &str,
        known: &[String],
    ) -> Result<Option<String>, FailedAttempt> {
        const PAGES: usize = 20;
        let api = self.api();
        let is_it = |batch: &&Value| api.is_planned(batch, record, run, known);
        let mut query = vec![("limit", "100".to_owned())];
        let mut found = None;
        for _ in 0..PAGES {
            let send = |client| get(client, api.path(), &query);
            let page = self.json(&self.attempt(&send).await?);
            let page = page.map_err(|why| FailedAttempt::permanent(unreadable(&why)))?;
            let batches = page.get("data").and_then(Value::as_array);
            let batches = batches.map(Vec::as_slice).unwrap_or_default();
            // The newest are first. Of those that may be it the oldest is taken: what another
            // run submitted later may have as many requests.
            found = batches.iter().rfind(is_it).cloned().or(found);
            let last = batches.last();
            let last = last.filter(|last| api.may_precede(last, record));
            let last = last.and_then(|last| last.get("id")?.as_str());
            let is_over = api.identifies_batches() && found.is_some();
            let more = page.get("has_more").is_some_and(|more| more == true);
            let Some(last) = last.filter(|_| more && !is_over) else {
                break;
            };
            query.truncate(1);
            query.push((api.cursor(), last.to_owned()));
        }
        let id = found.as_ref().map(id_of).transpose();
        id.map_err(|why| FailedAttempt::permanent(unreadable(&why)))
    }
}

pub(super) fn id_of(object: &Value) -> Result<String, String> {
    let id = object.get("id").and_then(Value::as_str);
    plain_id(id.ok_or("it has no `id`")?)
}

/// An id that a provider gave, if it can be a part of a path.
pub(super) fn plain_id(id: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    match !id.is_empty() && id.bytes().all(is_plain) {
        true => Ok(id.to_owned()),
        false => Err(format!("its id {id:?} cannot be a part of a path")),
    }
}
