//! Plays one episode: asks the model, executes its tool calls and shows it the results, until the
//! episode is over.

use std::time::Instant;

use serde_json::{Map, Value};
use tracing::Instrument;

use super::environment::{EnvironmentError, EpisodeQuestion, EpisodeSession, StepReply};
use super::options::{INSTRUCTIONS, ToolAgentOptions};
use super::text_tool_calls::SUBMIT;
use super::{text_tool_calls, trace};
use crate::llm::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, ErrorKind, ModelError, Scope, Stop, ToolCall,
    usable_reply,
};
use crate::pair::{
    Answer, EpisodeEnd, EpisodeRecord, Fault, Interruption, RecordedCalls, RunFailure, Solution,
    StopReason, ToolStep,
};
use crate::parse::Analysis;
use finqa_core::question::Question;
use finqa_core::text::counted;

/// The message to the model after its first reply without a tool call.
const NUDGE: &str = "You called no tool. Continue with a tool call, or call submit_answer with your \
                     final answer; your next text is taken as the answer.";

/// An episode that is being played.
pub(super) struct EpisodeLoop<'a> {
    model: &'a dyn ChatModel,
    options: &'a ToolAgentOptions,
    /// The next request. Its messages are the conversation so far.
    request: ChatRequest,
    /// The number of these messages that recorded calls with a reply already contain.
    recorded: usize,
    calls: RecordedCalls,
    /// The number of characters of tool results that the model was shown so far.
    shown: usize,
    record: EpisodeRecord,
    has_ended: bool,
    /// The reason why there is no answer.
    error: Option<String>,
}

impl<'a> EpisodeLoop<'a> {
    pub(super) fn new(
        model: &'a dyn ChatModel,
        options: &'a ToolAgentOptions,
        asked: EpisodeQuestion,
        calls: RecordedCalls,
    ) -> Self {
        let messages = vec![
            ChatMessage::system(INSTRUCTIONS.trim()),
            ChatMessage::user(asked.prompt()),
        ];
        let request = ChatRequest {
            temperature: options.sampling.temperature,
            max_output_tokens: options.sampling.max_tokens,
            seed: options.sampling.seed,
            tools: options.tools.clone(),
            ..ChatRequest::new(trace::AGENT, messages)
        };
        Self {
            model,
            options,
            request,
            recorded: 0,
            calls,
            shown: 0,
            record: EpisodeRecord {
                question_id: asked.id,
                company: asked.company,
                question: asked.text,
                ..EpisodeRecord::default()
            },
            has_ended: false,
            error: None,
        }
    }

    fn finish(&mut self, end: EpisodeEnd, error: Option<String>) {
        self.record.end = end;
        self.error = error;
        self.has_ended = true;
    }

    /// Plays the episode of `question` to its end.
    pub(super) async fn play(
        mut self,
        session: &mut dyn EpisodeSession,
        question: &Question,
        stop: &Stop,
    ) -> Result<Solution, Interruption> {
        while !self.has_ended {
            let taken = match self.ask(stop).await {
                Ok(reply) if reply.is_withheld() => {
                    self.end_withheld(reply.refusal);
                    continue;
                }
                Ok(reply) => {
                    tokio::select! {
                        // Biased, so that a stopped run uses no further reply.
                        biased;
                        () = stop.abort.cancelled() => return Err(Interruption::Cancelled),
                        taken = self.turn(session, reply) => taken,
                    }
                }
                // Interrupt the question, as for an environment that fails, so that it is asked
                // again.
                Err(error) if error.scope() == Scope::Provider => Err(EnvironmentError {
                    message: error.to_string(),
                    fatal: None,
                }),
                Err(error) => {
                    self.end_failed(&error)?;
                    continue;
                }
            };
            if let Err(error) = taken {
                self.finish(EpisodeEnd::Failed, None);
                return Err(error.interrupts(self.into_solution(question)));
            }
        }
        if self.record.ground_truth.is_none() {
            // The episode is already graded, so a failure of the server does no harm here.
            self.record.ground_truth = session.ground_truth().await.unwrap_or_default();
        }
        Ok(self.into_solution(question))
    }

    /// Asks the model for the next reply, and records the call if the options say so.
    async fn ask(&mut self, stop: &Stop) -> Result<ChatReply, ModelError> {
        if !self.options.recorded {
            let reply = self.model.chat(&self.request, stop).await?;
            return usable_reply(&self.request, reply).map_err(|error| *error);
        }
        // An episode has no rounds, so each call is recorded with its own number as its round.
        let number = count(self.calls.calls.len()).saturating_add(1);
        let (request, known) = (self.request.clone(), self.recorded);
        let asked = self.calls.call(self.model, number, request, known);
        let reply = asked.await?;
        self.recorded = self.request.messages.len();
        Ok(reply)
    }

    /// Ends the episode after the provider filtered or the model refused a reply.
    fn end_withheld(&mut self, refusal: Option<String>) {
        match refusal {
            Some(words) => self.finish(EpisodeEnd::Refusal, Some(words)),
            None => self.finish(
                EpisodeEnd::ContentFilter,
                Some("the provider's content filter stopped the reply".to_owned()),
            ),
        }
    }

    /// Ends the episode after a call without an answer. Returns an error if the run must end or was
    /// stopped.
    fn end_failed(&mut self, error: &ModelError) -> Result<(), Interruption> {
        let message = error.to_string();
        let end = match (&error.kind, error.scope()) {
            (_, Scope::Cancelled) => return Err(Interruption::Cancelled),
            (ErrorKind::ContentFilter, _) => EpisodeEnd::ContentFilter,
            (ErrorKind::ContextTooLong, _) => EpisodeEnd::ContextFull,
            // After a first step, the model is known to support tools.
            (ErrorKind::ToolsUnsupported, _) if self.record.steps.is_empty() => {
                return Err(Interruption::Fatal(RunFailure {
                    message: format!("{}: {message}", self.model.name()),
                    fault: Fault::NoTools,
                }));
            }
            (_, Scope::Run) => return Err(Interruption::Fatal(RunFailure::from(error))),
            _ => EpisodeEnd::Failed,
        };
        self.finish(end, Some(message));
        Ok(())
    }

    /// Handles a reply. Runs its tool calls, which may be written as text, or else uses its text.
    async fn turn(
        &mut self,
        session: &mut dyn EpisodeSession,
        mut reply: ChatReply,
    ) -> Result<(), EnvironmentError> {
        if reply.tool_calls.is_empty() {
            let first = self.record.steps.len();
            let written = text_tool_calls::calls(&reply.content, first, &self.options.tools);
            let Some((thought, calls)) = written else {
                return self.text(session, reply.content).await;
            };
            self.record.calls_from_text += count(calls.len());
            reply.content = thought;
            reply.tool_calls = calls;
        }
        self.tool_calls(session, reply).await
    }

    /// Handles a reply without a tool call. After the first such reply the model gets a reminder;
    /// the second is used as the answer.
    async fn text(
        &mut self,
        session: &mut dyn EpisodeSession,
        content: String,
    ) -> Result<(), EnvironmentError> {
        self.record.text_replies += 1;
        let answer = content.trim().to_owned();
        self.request.messages.push(ChatMessage::assistant(content));
        if self.record.text_replies == 1 {
            self.request.messages.push(ChatMessage::user(NUDGE));
            return Ok(());
        }
        if answer.is_empty() {
            self.finish(EpisodeEnd::NoAnswer, None);
            return Ok(());
        }
        self.record.answer_from_text = true;
        let mut arguments = Map::new();
        arguments.insert("answer".to_owned(), answer.into());
        self.step(session, SUBMIT, arguments).await?;
        Ok(())
    }

    /// Runs the calls of one reply in order. Each call gets a result, even after the end of the
    /// episode, because providers require a result for every call.
    async fn tool_calls(
        &mut self,
        session: &mut dyn EpisodeSession,
        reply: ChatReply,
    ) -> Result<(), EnvironmentError> {
        self.request.messages.push(ChatMessage {
            tool_calls: reply.tool_calls.clone(),
            ..ChatMessage::assistant(reply.content)
        });
        for call in reply.tool_calls {
            let text = if self.has_ended {
                "Not run: the episode is over.".to_owned()
            } else {
                self.tool_call(session, &call).await?
            };
            self.request.messages.push(ChatMessage::tool(call.id, text));
        }
        Ok(())
    }

    /// Runs one call and returns the text for the model. A call whose arguments cannot be read does
    /// not reach the environment, but counts as a step.
    async fn tool_call(
        &mut self,
        session: &mut dyn EpisodeSession,
        call: &ToolCall,
    ) -> Result<String, EnvironmentError> {
        let text = match text_tool_calls::arguments(call) {
            Ok(arguments) => self.step(session, &call.name, arguments).await?,
            Err(reason) => {
                let arguments = Value::String(call.arguments.clone());
                let span = trace::tool(&call.name, &self.options.tools, &arguments);
                let step = ToolStep {
                    tool: call.name.clone(),
                    arguments,
                    error: Some("invalid_args".to_owned()),
                    reward: None,
                    done: false,
                };
                trace::record_step(&span, &step, &reason, Instant::now());
                self.count_step(step);
                format!("Error: {reason}")
            }
        };
        Ok(self.truncate_result(text))
    }

    /// Records a step, and ends the episode if it was the last allowed step. An answer that the
    /// environment refuses counts too, because a model could otherwise submit it again and again.
    fn count_step(&mut self, step: ToolStep) {
        self.record.steps.push(step);
        let limit = self.options.max_steps;
        if !self.has_ended && count(self.record.steps.len()) >= limit {
            self.finish(
                EpisodeEnd::StepLimit,
                Some(format!("{} without an answer", counted(limit, "step"))),
            );
        }
    }

    /// Runs one step in the environment, and returns the text that the model is shown.
    async fn step(
        &mut self,
        session: &mut dyn EpisodeSession,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<String, EnvironmentError> {
        let submitted = (tool == SUBMIT)
            .then(|| arguments.get("answer").and_then(Value::as_str))
            .flatten()
            .map(str::to_owned);
        let recorded = Value::Object(arguments.clone());
        let span = trace::tool(tool, &self.options.tools, &recorded);
        let started = Instant::now();
        let StepReply {
            text,
            error,
            reward,
            done,
            ground_truth,
        } = session
            .step(tool, arguments)
            .instrument(span.clone())
            .await?;
        let step = ToolStep {
            tool: tool.to_owned(),
            arguments: recorded,
            error: error.as_ref().map(|(kind, _)| kind.clone()),
            reward,
            done,
        };
        if done {
            self.record.reward = reward;
            self.record.ground_truth = ground_truth.filter(|truth| !truth.is_empty());
            self.record.answer.clone_from(&submitted);
            match &submitted {
                Some(_) => self.finish(EpisodeEnd::Submitted, None),
                // Without a submission, an environment ends an episode only at its own step limit.
                None => self.finish(
                    EpisodeEnd::StepLimit,
                    Some("the environment ended the episode".to_owned()),
                ),
            }
        }
        let shown = match (text, error, submitted) {
            (Some(text), ..) => text,
            (None, Some((_, message)), _) => format!("Error: {message}"),
            (None, None, Some(answer)) => format!("Answer submitted: {answer}"),
            (None, None, None) => "(no result)".to_owned(),
        };
        trace::record_step(&span, &step, &shown, started);
        self.count_step(step);
        Ok(shown)
    }

    /// Cuts a tool result to the limit for one result and to the limit for all results together. A
    /// cut result says that it was cut.
    fn truncate_result(&mut self, text: String) -> String {
        let options = self.options;
        let most = options
            .result_chars
            .min(options.total_chars.saturating_sub(self.shown));
        let text = match text.char_indices().nth(most) {
            None => text,
            Some((at, _)) => {
                let rest = text.chars().count() - most;
                format!(
                    "{}\n[cut here: {rest} more characters; ask for fewer rows or columns]",
                    text.get(..at).unwrap_or_default()
                )
            }
        };
        self.shown += text.chars().count();
        text
    }

    /// The solution of the question for which the episode was played.
    fn into_solution(mut self, question: &Question) -> Solution {
        let mut record = self.record;
        record.messages = self.request.messages.split_off(self.recorded);
        // An episode without a submission has the reward 0. An episode that failed has no reward.
        record.reward = match record.end {
            EpisodeEnd::Failed => None,
            _ => record.reward.or(Some(0.0)),
        };
        let submitted = record.end == EpisodeEnd::Submitted;
        let answer = record.answer.as_ref().filter(|_| submitted).map(|text| {
            let analysis = Analysis {
                answer: text.clone(),
                ..Analysis::default()
            };
            Answer::from_analysis(&analysis, question)
        });
        let stop = if submitted {
            // This loop has no critic.
            StopReason::NoVerdict
        } else {
            StopReason::Failed
        };
        let solution = Solution::new(record.end.outcome(), stop);
        Solution {
            answer,
            error: self.error,
            calls: self.calls.calls,
            episode: Some(Box::new(record)),
            ..solution
        }
    }
}

/// Converts a count to the type that records use.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
