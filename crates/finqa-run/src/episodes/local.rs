//! An environment in this process. Its questions and their gold are known before the run.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::question::QuestionList;
use finqa_agents::solve::{
    EnvironmentError, EpisodeQuestion, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};
use finqa_core::number::{Value as Number, literal};
use finqa_env::data::EnvQuestion;
use finqa_env::episode::{Environment, EpisodeRules, Observation, StepOutcome, StepStart};
use finqa_env::tools::Tools;
use finqa_journal::run::{PlannedQuestion, gold_of_truth};
use finqa_score::dataset::{Gold, Question};

/// An environment that runs in this process.
pub struct LocalEnvironment {
    tools: Arc<Tools>,
    rules: EpisodeRules,
    questions: QuestionList,
}

impl LocalEnvironment {
    /// An environment with these tools. Its questions are those of the tools' catalog.
    pub fn new(tools: Arc<Tools>, rules: EpisodeRules) -> Self {
        let questions = tools.catalog().questions().iter();
        let questions = QuestionList::new(questions.map(episode_question));
        Self {
            tools,
            rules,
            questions,
        }
    }

    /// Plans the first `n` questions, or all, in an order drawn from `seed`, or in the order of the
    /// file. A question that the file repeats is planned once.
    pub fn plan(&self, seed: Option<u64>, n: Option<usize>) -> Vec<PlannedQuestion> {
        let questions = self.tools.catalog().questions();
        let gold = |at| questions.get(at).map(gold).unwrap_or_default();
        self.questions.plan(seed, n, gold)
    }
}

fn episode_question(question: &EnvQuestion) -> EpisodeQuestion {
    EpisodeQuestion {
        id: question.id.clone(),
        text: question.question.clone(),
        company: question.company.clone(),
    }
}

/// The gold of a question. Its program is in the column `explanation`.
fn gold(question: &EnvQuestion) -> Gold {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    if question.typed_answer.is_empty() && question.exe_ans.is_empty() {
        // Data of builds that did not yet store the gold answer as it was typed.
        return gold_of_truth(Some(&question.answer));
    }
    Gold {
        answer: text(&question.typed_answer),
        program: text(&question.explanation),
        exe_ans: text(&question.exe_ans).map(|text| match literal(&text) {
            Some(number) => Number::Number(number),
            None => Number::Text(text),
        }),
        split: None,
    }
}

#[async_trait]
impl ToolEnvironment for LocalEnvironment {
    async fn begin(&self, question: &Question) -> Result<StartedEpisode, EnvironmentError> {
        let known = self.questions.place(question);
        let at = known.ok_or_else(|| EnvironmentError {
            message: format!("the environment has no question {}", question.key),
            fatal: None,
        })?;
        let catalog = Arc::clone(self.tools.catalog());
        let environment = Environment::on_question(catalog, self.rules, at);
        let asked = episode_question(environment.current());
        let session = LocalSession {
            environment,
            tools: Arc::clone(&self.tools),
        };
        let started: StartedEpisode = (asked, Box::new(session));
        Ok(started)
    }
}

struct LocalSession {
    environment: Environment,
    tools: Arc<Tools>,
}

#[async_trait]
impl EpisodeSession for LocalSession {
    async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<StepReply, EnvironmentError> {
        let outcome = match self.environment.begin(tool, &arguments) {
            Err(refused) => return Ok(StepReply::refused("", refused.to_string())),
            Ok(StepStart::Answered(outcome)) => outcome,
            Ok(StepStart::RunTool) => {
                let (tools, name) = (Arc::clone(&self.tools), tool.to_owned());
                // Run on a blocking thread, because a query blocks its thread until it ends or
                // reaches the time limit.
                let call = move || tools.call(&name, &arguments);
                let result = tokio::task::spawn_blocking(call).await;
                let result = result.map_err(|error| EnvironmentError {
                    message: format!("the tool {tool} failed: {error}"),
                    fatal: None,
                })?;
                self.environment.finish(tool, result)
            }
        };
        Ok(reply(outcome))
    }

    async fn ground_truth(&mut self) -> Result<Option<String>, EnvironmentError> {
        let truth = self.environment.state().ground_truth;
        Ok(Some(truth).filter(|truth| !truth.is_empty()))
    }
}

fn reply(outcome: StepOutcome) -> StepReply {
    let ground_truth = outcome.metadata.get("ground_truth").and_then(Value::as_str);
    let (text, error) = match outcome.observation {
        Observation::Result { text, .. } => (Some(text), None),
        Observation::Failure { failure, .. } => {
            let kind = failure.kind.as_str().to_owned();
            (None, Some((kind, failure.message)))
        }
        Observation::Empty => (None, None),
    };
    StepReply {
        text,
        error,
        reward: outcome.reward,
        done: outcome.done,
        ground_truth: ground_truth.map(str::to_owned),
    }
}
