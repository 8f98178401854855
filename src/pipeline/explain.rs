//! The requests that a question of an earlier run makes: its agents run again over the
//! journaled replies, so that nothing is sent.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::dataset::{HistoryEntry, Question};
use crate::run::{Journal, Plan, PlannedQuestion, RunFolder};
use crate::settings::{Layers, Origin, Variables};
use finqa_agents::llm::{
    ChatModel, ChatReply, ChatRequest, ErrorKind, Feature, ModelError, Stop, Support,
};
use finqa_agents::pair::{CallMemory, Pair};

use super::PipelineError;
use super::context::ModelContext;
use super::resume::stored_settings;
use super::setup::pair_setup;

/// A request, and the server that it goes to, as a run names it.
pub(crate) struct ServerRequest {
    pub server: String,
    pub request: ChatRequest,
}

/// The recorded replies of a question, and the requests made for them.
#[derive(Default)]
pub(crate) struct JournaledCalls {
    replies: VecDeque<(String, ChatReply)>,
    requests: Vec<ServerRequest>,
}

/// A model that gives journaled replies.
pub(super) struct JournaledModel {
    pub server: String,
    pub name: String,
    pub calls: Arc<Mutex<JournaledCalls>>,
}

#[async_trait]
impl ChatModel for JournaledModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn supports(&self, _: Feature) -> Support {
        Support::Unknown
    }

    async fn chat(&self, request: &ChatRequest, _: &Stop) -> Result<ChatReply, ModelError> {
        let mut calls = self.calls.lock();
        calls.requests.push(ServerRequest {
            server: self.server.clone(),
            request: request.clone(),
        });
        let at = calls
            .replies
            .iter()
            .position(|(node, _)| *node == request.node);
        let reply = at.and_then(|at| calls.replies.remove(at));
        let reply = reply.map(|(_, reply)| reply);
        let end = || ModelError::new(ErrorKind::Cancelled, "no further reply is journaled");
        reply.ok_or_else(end)
    }
}

/// The requests of the question `asked`, a record's id or `ID#PART`, in `run`: in its first
/// pass and with the run's settings, as this program makes them.
pub(crate) async fn requests_of(
    output: &Path,
    run: &str,
    asked: &str,
) -> Result<Vec<ServerRequest>, PipelineError> {
    let folder = RunFolder::locate(output, run)?;
    let journal = Journal::read(&folder.journal())?;
    let meta = journal.meta()?;
    let unexplained = |reason: String| PipelineError::Unexplained {
        run: meta.id.clone(),
        reason,
    };
    let layers = Layers::default().table(stored_settings(&meta), Origin::Run)?;
    let settings = layers.settings()?;
    if settings.model.is_offline() {
        return Err(unexplained("it made no model calls".to_owned()));
    }
    let dataset = meta.records().map_err(&unexplained)?;
    let plan = Plan::of(&dataset, &settings.questions)?;
    let rows = journal.rows_of(asked)?;
    let row_of = |planned: &PlannedQuestion| rows.iter().find(|row| row.index == planned.index);
    let is_asked = |planned: &PlannedQuestion| {
        let key = &planned.case.question.key;
        row_of(planned).is_some_and(|row| row.key == *key)
            && (key.id == asked || format!("{}#{}", key.id, key.part) == asked)
    };
    let unit = plan.units().find(|unit| unit.iter().any(is_asked));
    let missing = || unexplained(format!("it has not answered {asked}; name ID or ID#PART"));
    let unit = unit.ok_or_else(missing)?;
    let mut history: Vec<HistoryEntry> = Vec::new();
    let mut found = None;
    for planned in &unit {
        if is_asked(planned) {
            found = Some(planned);
            break;
        }
        let answer = row_of(planned).and_then(|row| row.solution.answer.as_ref());
        history.push(planned.in_history(plan.history, answer));
    }
    let planned = found.ok_or_else(missing)?;
    let replies = row_of(planned)
        .into_iter()
        .flat_map(|row| &row.solution.calls);
    let replies = replies.filter_map(|call| Some((call.node.clone(), call.reply.clone()?)));
    let calls = Arc::new(Mutex::new(JournaledCalls {
        replies: replies.collect(),
        requests: Vec::new(),
    }));
    let context = ModelContext {
        journaled: Some(Arc::clone(&calls)),
        ..ModelContext::silent()
    };
    let setup = pair_setup(&settings, &Variables::none(), &context)?;
    let question = Arc::new(Question {
        history,
        ..planned.case.question.clone()
    });
    // How it ends does not matter: what it asked is known.
    let _ = Pair::new(&setup.pair)?
        .ask(
            question,
            planned.epoch,
            CallMemory::default(),
            Stop::default(),
            &|_| {},
        )
        .await;
    let mut calls = calls.lock();
    Ok(std::mem::take(&mut calls.requests))
}
