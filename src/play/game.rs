//! One episode in play: the model is asked, its calls are run, what they showed
//! is told to it, until the episode is over.

use std::time::Instant;

use serde_json::{Map, Value};
use tracing::Instrument;

use super::PlayError;
use super::agent::{Agent, INSTRUCTIONS, Trouble};
use super::record::{Ending, ModelCall, Step};
use super::session::{Asked, Session, Stepped};
use super::{trace, written};
use finqa_agents::models::{
    ChatMessage, ChatReply, ChatRequest, Cost, ErrorKind, ModelError, NodeUsage, Stop, ToolCall,
};
use finqa_env::tools::SUBMIT_ANSWER;

/// What the model is told after a reply without a tool call, once an episode.
const NUDGE: &str = "You called no tool. Go on with a tool call, or call submit_answer with your \
                     final answer; your next text is taken as the answer.";

/// The node under which calls are counted.
const NODE: &str = "player";

/// A count as records have it.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// An episode in play.
pub(super) struct Game<'a> {
    pub agent: &'a Agent,
    pub started: Instant,
    /// The conversation so far is its messages.
    pub request: ChatRequest,
    pub steps: Vec<Step>,
    pub calls: Vec<ModelCall>,
    pub usage: NodeUsage,
    pub text_replies: u32,
    /// Calls that were written as text.
    pub calls_from_text: u32,
    /// Characters of tool results shown so far.
    pub shown: usize,
    pub answer: Option<String>,
    pub answer_from_text: bool,
    pub reward: Option<f64>,
    pub ground_truth: Option<String>,
    pub ending: Option<(Ending, Option<String>)>,
}

impl<'a> Game<'a> {
    pub fn new(agent: &'a Agent, asked: &Asked) -> Self {
        let user = format!("{}\n\nCompany: {}", asked.question, asked.company);
        let options = &agent.options;
        let mut request = ChatRequest::new(
            NODE,
            vec![
                ChatMessage::system(INSTRUCTIONS.trim()),
                ChatMessage::user(user),
            ],
        );
        request.temperature = options.temperature;
        request.max_output_tokens = options.max_output_tokens;
        request.seed = options.sampling_seed;
        request.tools = agent.tools().to_vec();
        Self {
            agent,
            started: Instant::now(),
            request,
            steps: Vec::new(),
            calls: Vec::new(),
            usage: NodeUsage::default(),
            text_replies: 0,
            calls_from_text: 0,
            shown: 0,
            answer: None,
            answer_from_text: false,
            reward: None,
            ground_truth: None,
            ending: None,
        }
    }

    fn end(&mut self, ending: Ending, error: Option<String>) {
        self.ending = Some((ending, error));
    }

    pub async fn run(&mut self, session: &mut Session, stop: &Stop) -> Result<(), Trouble> {
        while self.ending.is_none() {
            let Some(mut reply) = self.ask(stop).await? else {
                return Ok(());
            };
            if reply.tool_calls.is_empty()
                && let Some((thought, calls)) = written::calls(&reply.content, self.steps.len())
            {
                self.calls_from_text += count(calls.len());
                reply.content = thought;
                reply.tool_calls = calls;
            }
            let turn = async {
                if reply.tool_calls.is_empty() {
                    self.text(session, reply.content).await
                } else {
                    self.tool_calls(session, reply).await
                }
            };
            tokio::select! {
                biased;
                () = stop.abort.cancelled() => return Err(Trouble::Cancelled),
                done = turn => done.map_err(Trouble::Environment)?,
            }
        }
        Ok(())
    }

    /// Asks the model; `None` when the episode ends by its reply or its silence.
    async fn ask(&mut self, stop: &Stop) -> Result<Option<ChatReply>, Trouble> {
        match self.agent.model.chat(&self.request, stop).await {
            Ok(reply) => {
                let cost = Cost::of_reply(&reply, (self.agent.price)(&reply));
                self.usage += NodeUsage::of_reply(&reply, cost);
                self.calls.push(ModelCall {
                    requests: reply.attempts,
                    seconds: reply.latency.as_secs_f64(),
                    usage: reply.usage,
                    cost_usd: cost.total(),
                    model: reply.model.clone(),
                    finish: reply.finish.to_string(),
                    left_out: reply.left_out.clone(),
                });
                if !reply.is_withheld() {
                    return Ok(Some(reply));
                }
                match reply.refusal {
                    Some(words) => self.end(Ending::Refusal, Some(words)),
                    None => self.end(
                        Ending::ContentFilter,
                        Some("the provider's content filter stopped the reply".to_owned()),
                    ),
                }
                Ok(None)
            }
            Err(error) => {
                let cost = Cost::unknown(u64::from(error.lost));
                self.usage += NodeUsage::of_failure(error.attempts, cost);
                self.calls.push(ModelCall {
                    requests: error.attempts,
                    finish: error.kind.as_str().to_owned(),
                    cost_usd: cost.total(),
                    ..ModelCall::default()
                });
                self.failed(error).map(|()| None)
            }
        }
    }

    /// What a call that brought no answer means for the episode.
    fn failed(&mut self, error: ModelError) -> Result<(), Trouble> {
        let text = error.to_string();
        match error.kind {
            ErrorKind::Cancelled => return Err(Trouble::Cancelled),
            ErrorKind::ContentFilter => self.end(Ending::ContentFilter, Some(text)),
            ErrorKind::ContextTooLong => self.end(Ending::ContextFull, Some(text)),
            // The first request of an episode holds nothing but the tools that
            // another model would not have taken as well.
            ErrorKind::BadRequest { .. }
                if self.steps.is_empty() && text.to_lowercase().contains("tool") =>
            {
                return Err(Trouble::Fatal(PlayError::NoTools {
                    model: self.agent.model.name().to_owned(),
                    said: format!(": {text}"),
                }));
            }
            _ if error.is_fatal_for_run() => return Err(Trouble::Fatal(error.into())),
            _ => self.end(Ending::Failed, Some(text)),
        }
        Ok(())
    }

    /// A reply without a tool call: one reminder, then it is the answer.
    async fn text(&mut self, session: &mut Session, content: String) -> Result<(), PlayError> {
        self.text_replies += 1;
        let answer = content.trim().to_owned();
        self.request.messages.push(ChatMessage::assistant(content));
        if self.text_replies == 1 {
            self.request.messages.push(ChatMessage::user(NUDGE));
            return Ok(());
        }
        if answer.is_empty() {
            self.end(Ending::NoAnswer, None);
            return Ok(());
        }
        self.answer_from_text = true;
        let mut arguments = Map::new();
        arguments.insert("answer".to_owned(), answer.into());
        self.step(session, SUBMIT_ANSWER, arguments).await?;
        Ok(())
    }

    /// The calls of one reply, in its order; each gets a result, as providers want it.
    async fn tool_calls(
        &mut self,
        session: &mut Session,
        reply: ChatReply,
    ) -> Result<(), PlayError> {
        self.request.messages.push(ChatMessage {
            tool_calls: reply.tool_calls.clone(),
            ..ChatMessage::assistant(reply.content)
        });
        for call in reply.tool_calls {
            let text = if self.ending.is_some() {
                "Not run: the episode is over.".to_owned()
            } else {
                self.tool_call(session, &call).await?
            };
            self.request.messages.push(ChatMessage::tool(call.id, text));
        }
        Ok(())
    }

    async fn tool_call(
        &mut self,
        session: &mut Session,
        call: &ToolCall,
    ) -> Result<String, PlayError> {
        let text = match readable(call) {
            Ok(arguments) => self.step(session, &call.name, arguments).await?,
            Err(reason) => {
                let arguments = Value::String(call.arguments.clone());
                let span = trace::tool(&call.name, &arguments);
                let step = Step {
                    tool: call.name.clone(),
                    arguments,
                    error: Some("invalid_args".to_owned()),
                    reward: None,
                    done: false,
                };
                trace::stepped(&span, &step, &reason, Instant::now());
                self.steps.push(step);
                format!("Error: {reason}")
            }
        };
        let limit = self.agent.options.max_steps;
        if self.ending.is_none() && count(self.steps.len()) >= limit {
            self.end(
                Ending::StepLimit,
                Some(format!("{limit} steps without an answer")),
            );
        }
        Ok(self.bounded(text))
    }

    /// One step of the environment; gives what the model is told of it.
    async fn step(
        &mut self,
        session: &mut Session,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<String, PlayError> {
        let submitted = (tool == SUBMIT_ANSWER)
            .then(|| arguments.get("answer").and_then(Value::as_str))
            .flatten()
            .map(str::to_owned);
        let recorded = Value::Object(arguments.clone());
        let (span, started) = (trace::tool(tool, &recorded), Instant::now());
        let Stepped {
            text,
            error,
            reward,
            done,
            ground_truth,
        } = session
            .step(tool, arguments)
            .instrument(span.clone())
            .await?;
        let step = Step {
            tool: tool.to_owned(),
            arguments: recorded,
            error: error.as_ref().map(|(kind, _)| kind.clone()),
            reward,
            done,
        };
        if done {
            self.reward = reward;
            self.ground_truth = ground_truth.filter(|truth| !truth.is_empty());
            self.answer.clone_from(&submitted);
            match &submitted {
                Some(_) => self.end(Ending::Submitted, None),
                None => self.end(
                    Ending::StepLimit,
                    Some("the environment ended the episode".to_owned()),
                ),
            }
        }
        let told = match (text, error, submitted) {
            (Some(text), ..) => text,
            (None, Some((_, message)), _) => format!("Error: {message}"),
            (None, None, Some(answer)) => format!("Answer submitted: {answer}"),
            (None, None, None) => "(no result)".to_owned(),
        };
        trace::stepped(&span, &step, &told, started);
        self.steps.push(step);
        Ok(told)
    }

    /// A result cut to what the conversation has room for, and marked as cut.
    fn bounded(&mut self, text: String) -> String {
        let options = &self.agent.options;
        let room = options
            .result_chars
            .min(options.total_chars.saturating_sub(self.shown));
        let text = match text.char_indices().nth(room) {
            None => text,
            Some((at, _)) => {
                let rest = text.chars().count() - room;
                format!(
                    "{}\n[cut here: {rest} more characters; ask for fewer rows or columns]",
                    text.get(..at).unwrap_or_default()
                )
            }
        };
        self.shown += text.chars().count();
        text
    }
}

/// A call's arguments, if they can be sent: a JSON object, and for a submission
/// one with a text as its answer, since anything else would be graded as none.
fn readable(call: &ToolCall) -> Result<Map<String, Value>, String> {
    let text = call.arguments.trim();
    let arguments = if text.is_empty() {
        Map::new()
    } else {
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            Ok(_) => return Err("the arguments are no JSON object".to_owned()),
            Err(error) => return Err(format!("the arguments are no JSON: {error}")),
        }
    };
    if call.name == SUBMIT_ANSWER && !arguments.get("answer").is_some_and(Value::is_string) {
        return Err("submit_answer takes one argument, `answer`, which is a text".to_owned());
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_and_an_answer_is_a_text() {
        let read = |name: &str, arguments: &str| {
            readable(&ToolCall {
                id: "c".into(),
                name: name.into(),
                arguments: arguments.into(),
            })
        };
        assert!(read("get_descriptions", "").unwrap().is_empty());
        assert!(read("anything", "{\"x\": 1}").is_ok());
        for text in ["[1]", "5", "{\"x\": ", "null", "company=acme"] {
            assert!(read("get_descriptions", text).is_err(), "{text}");
        }
        assert!(read("submit_answer", "{\"answer\": \"5%\"}").is_ok());
        for text in ["{}", "{\"answer\": 5}", "{\"answer\": null}"] {
            assert!(
                read("submit_answer", text)
                    .unwrap_err()
                    .contains("`answer`"),
                "{text}"
            );
        }
    }
}
