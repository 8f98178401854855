//! The embedded analyst as a model that calls tools.
//!
//! It is a [`ChatModel`] like any other, so it runs in the same loop and sees only what a chat
//! model sees: the question and the texts of tool results. It can play against any server, because
//! it reads neither the catalog nor the gold.
//!
//! It lists the company's tables, describes those of the page that the question names, reads their
//! rows, answers, and submits the answer.

mod page;

use async_trait::async_trait;
use serde_json::{Value, json};

use finqa_agents::llm::settings::OFFLINE;
use finqa_agents::llm::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, ModelError, Role, Stop, ToolCall,
};
use finqa_core::number::{UnitKind, Value as Number, round5};
use finqa_embedded::{EmbeddedAnalyst, RankedAnswer};
use finqa_env::data::bare_question;
use finqa_env::tools::SUBMIT_ANSWER;
use finqa_score::dataset::{Document, Question, QuestionKey, QuestionKind};
use page::{TableColumns, documents, named_tables};

/// The answer submitted for a question that the analyst cannot answer. It is never right.
const NO_ANSWER: &str = "unknown";

/// The embedded analyst as a chat model that plays episodes.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedModel {
    analyst: EmbeddedAnalyst,
}

impl EmbeddedModel {
    /// The tool calls to make next, given the conversation so far.
    fn next(&self, messages: &[ChatMessage]) -> Vec<(&'static str, Value)> {
        let (question, company) = question_and_company(messages);
        let seen = ShownResults::of(messages);
        let of_table = |tool: &str, table: &str| seen.text(tool, Some(table));
        let Some(listed) = seen.text("get_descriptions", None) else {
            return vec![("get_descriptions", json!({ "company_name": company }))];
        };
        // An error of the tool is not a list. No table is then found, so `NO_ANSWER` is submitted.
        let names: Vec<String> = serde_json::from_str(listed).unwrap_or_default();
        let tables = named_tables(question, &names);
        if tables.is_empty() {
            return vec![submit(NO_ANSWER)];
        }
        let on = |tool: &'static str, table: &str| {
            (tool, json!({"company_name": company, "table_name": table}))
        };
        let unknown: Vec<_> = tables
            .iter()
            .filter(|table| of_table("get_table_info", table).is_none())
            .map(|table| on("get_table_info", table))
            .collect();
        if !unknown.is_empty() {
            return unknown;
        }
        // Here and below, tables for which the tool returned an error are left out.
        let known: Vec<TableColumns> = tables
            .iter()
            .filter_map(|table| TableColumns::read(table, of_table("get_table_info", table)?))
            .collect();
        let unread: Vec<_> = known
            .iter()
            .filter(|table| of_table("sql_query", &table.name).is_none())
            .map(|table| {
                let (tool, mut arguments) = on("sql_query", &table.name);
                if let Some(map) = arguments.as_object_mut() {
                    map.insert("query".to_owned(), table.query().into());
                }
                (tool, arguments)
            })
            .collect();
        if !unread.is_empty() {
            return unread;
        }
        let read: Vec<_> = known
            .iter()
            .filter_map(|table| table.rows(of_table("sql_query", &table.name)?))
            .collect();
        let answer = self.solve(bare_question(question), documents(&read));
        vec![submit(answer.as_deref().unwrap_or(NO_ANSWER))]
    }

    /// The most confident answer over all documents; `None` if no document has an answer.
    fn solve(&self, question: &str, documents: Vec<Document>) -> Option<String> {
        let guesses = documents.into_iter().filter_map(|document| {
            let page = self.analyst.index(&document);
            let question = Question {
                key: QuestionKey {
                    id: String::new(),
                    part: String::new(),
                },
                kind: QuestionKind::StandAlone,
                document: document.into(),
                text: question.to_owned(),
                history: Vec::new(),
            };
            self.analyst.answer(&page, &question)
        });
        guesses
            .max_by(|a, b| a.confidence.total_cmp(&b.confidence))
            .map(|guess| submission_text(&guess.best))
    }
}

fn submit(answer: &str) -> (&'static str, Value) {
    (SUBMIT_ANSWER, json!({ "answer": answer }))
}

/// The question and the company, from the first user message.
fn question_and_company(messages: &[ChatMessage]) -> (&str, &str) {
    let user = messages.iter().find(|message| message.role == Role::User);
    let text = user.map_or("", |message| message.content.as_str());
    text.rsplit_once("\n\nCompany: ").unwrap_or((text, ""))
}

/// The answer, rounded to five decimals. The answers of other runs print percentages with one
/// decimal, which is not precise enough for a grader with a tolerance of 1 %.
fn submission_text(guess: &RankedAnswer) -> String {
    let Number::Number(value) = guess.value else {
        return guess.value.to_string();
    };
    if guess.unit.kind != UnitKind::Percent {
        return round5(value).to_string();
    }
    let percent = if guess.in_percent {
        value
    } else {
        value * 100.0
    };
    format!("{}%", round5(percent))
}

/// The tool results in a conversation, each with its tool, its table and its text.
struct ShownResults<'m>(Vec<(&'m str, Option<String>, &'m str)>);

impl<'m> ShownResults<'m> {
    /// Leaves out calls without a result, and calls whose arguments are not JSON.
    fn of(messages: &'m [ChatMessage]) -> Self {
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        let results = calls.filter_map(|call| {
            let mut results = messages.iter();
            let result = results.find(|it| it.tool_call_id.as_ref() == Some(&call.id))?;
            let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
            let table = arguments.get("table_name").and_then(Value::as_str);
            let table = table.map(str::to_owned);
            Some((call.name.as_str(), table, result.content.as_str()))
        });
        Self(results.collect())
    }

    /// The first result of a call to `tool` about `table`; with `None`, of a call without a table.
    fn text(&self, tool: &str, table: Option<&str>) -> Option<&'m str> {
        let mut results = self.0.iter();
        let found = results.find(|(name, of, _)| *name == tool && of.as_deref() == table);
        found.map(|(_, _, text)| *text)
    }
}

#[async_trait]
impl ChatModel for EmbeddedModel {
    fn name(&self) -> &'static str {
        OFFLINE
    }

    async fn chat(&self, request: &ChatRequest, _stop: &Stop) -> Result<ChatReply, ModelError> {
        let made: usize = request.messages.iter().map(|m| m.tool_calls.len()).sum();
        let calls = self.next(&request.messages).into_iter().enumerate();
        let tool_calls = calls.map(|(at, (name, arguments))| ToolCall {
            // Unique in the conversation, because `ShownResults` finds a result by its call's id.
            id: format!("call_{}", made + at),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        });
        Ok(ChatReply {
            tool_calls: tool_calls.collect(),
            finish: FinishReason::ToolCalls,
            model: OFFLINE.to_owned(),
            ..ChatReply::default()
        })
    }
}
