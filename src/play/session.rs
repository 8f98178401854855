//! An environment to play in: this process's own, or one behind a WebSocket.
//! Both are asked the same three things, so that an agent cannot tell them
//! apart.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::PlayError;
use super::address::Address;
use super::remote::Remote;
use finqa_env::episode::{Environment, Observation, Rules, StepOutcome, StepStart};
use finqa_env::tools::Tools;

/// Where episodes are played.
#[derive(Clone, Debug)]
pub enum Target {
    /// Here, over these tools.
    InProcess {
        /// The tools and, through them, the questions.
        tools: Arc<Tools>,
        /// The rules of an episode.
        rules: Rules,
    },
    /// A server that speaks `OpenEnv`'s WebSocket protocol.
    Server(Address),
}

impl Target {
    /// How many questions there are, where that can be known.
    #[must_use]
    pub fn questions(&self) -> Option<usize> {
        match self {
            Self::InProcess { tools, .. } => Some(tools.catalog().questions().len()),
            Self::Server(_) => None,
        }
    }

    /// The seed of the order of questions: without one, the order is that of the
    /// file here, and on a server one that is the same every time.
    #[must_use]
    pub fn seed(&self, asked: Option<u64>) -> Option<u64> {
        match self {
            Self::InProcess { .. } => asked,
            Self::Server(_) => Some(asked.unwrap_or_default()),
        }
    }

    /// Opens a session.
    pub(super) async fn open(&self) -> Result<Session, PlayError> {
        Ok(match self {
            Self::InProcess { tools, rules } => Session::InProcess {
                environment: Environment::in_file_order(Arc::clone(tools.catalog()), *rules),
                tools: Arc::clone(tools),
            },
            Self::Server(address) => Session::Server(Remote::open(address).await?),
        })
    }
}

/// A question as it is dealt; whatever the server says of its truth stays there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// The question's id; empty where the data have none.
    pub id: String,
    /// What an agent is asked.
    pub question: String,
    /// The company whose tables answer it.
    pub company: String,
}

/// What a step led to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stepped {
    /// The tool's text; none on the step that ends an episode.
    pub text: Option<String>,
    /// Why the call never reached a tool: kind and text.
    pub error: Option<(String, String)>,
    /// The reward, on the last step.
    pub reward: Option<f64>,
    /// Whether the episode is over.
    pub done: bool,
    /// The truth, where the answer to a submission shows it.
    pub ground_truth: Option<String>,
}

/// One session.
pub(super) enum Session {
    /// In this process.
    InProcess {
        environment: Environment,
        tools: Arc<Tools>,
    },
    /// Behind a WebSocket.
    Server(Remote),
}

impl Session {
    /// Deals the next question; a seed begins that seed's order.
    pub async fn reset(&mut self, seed: Option<u64>) -> Result<Asked, PlayError> {
        match self {
            Self::InProcess { environment, .. } => {
                environment.reset(seed, String::new());
                let state = environment.state();
                Ok(Asked {
                    id: state.question_id,
                    question: state.current_question,
                    company: state.current_company,
                })
            }
            Self::Server(remote) => remote.reset(seed).await,
        }
    }

    /// Calls a tool.
    pub async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Stepped, PlayError> {
        match self {
            Self::InProcess { environment, tools } => {
                let outcome = match environment.begin(tool, &arguments) {
                    Err(refused) => return Ok(Stepped::refused("", refused.to_string())),
                    Ok(StepStart::Answered(outcome)) => outcome,
                    Ok(StepStart::RunTool) => {
                        let (tools, name) = (Arc::clone(tools), tool.to_owned());
                        // A query may hold its thread for as long as queries may take.
                        let call = move || tools.call(&name, &arguments);
                        let result = tokio::task::spawn_blocking(call).await;
                        let result = result.map_err(|error| PlayError::Lost {
                            url: "in this process".to_owned(),
                            reason: error.to_string(),
                        })?;
                        environment.finish(tool, result)
                    }
                };
                Ok(Stepped::from(outcome))
            }
            Self::Server(remote) => remote.step(tool, arguments).await,
        }
    }

    /// Ends the session in order.
    pub async fn close(self) {
        if let Self::Server(remote) = self {
            remote.close().await;
        }
    }

    /// The truth of an episode that is over, where the server tells it.
    pub async fn ground_truth(&mut self) -> Result<Option<String>, PlayError> {
        let truth = match self {
            Self::InProcess { environment, .. } => environment.state().ground_truth,
            Self::Server(remote) => remote.ground_truth().await?,
        };
        Ok(Some(truth).filter(|truth| !truth.is_empty()))
    }
}

impl Stepped {
    /// A call that could not be made.
    pub fn refused(kind: &str, message: String) -> Self {
        Self {
            error: Some((kind.to_owned(), message)),
            ..Self::default()
        }
    }
}

impl From<StepOutcome> for Stepped {
    fn from(outcome: StepOutcome) -> Self {
        let ground_truth = outcome.metadata.get("ground_truth").and_then(Value::as_str);
        let (text, error) = match outcome.observation {
            Observation::Result { text, .. } => (Some(text), None),
            Observation::Failure { failure, .. } => {
                let kind = failure.kind.as_str().to_owned();
                (None, Some((kind, failure.message)))
            }
            Observation::Empty => (None, None),
        };
        Self {
            text,
            error,
            reward: outcome.reward,
            done: outcome.done,
            ground_truth: ground_truth.map(str::to_owned),
        }
    }
}
