//! `--dry-run`: estimates the calls, tokens and cost of a run. The run's questions are answered by
//! models that only measure their prompts, so nothing is sent or written.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::engine::RunModels;
use finqa_agents::llm::{
    ChatModel, ChatReply, ChatRequest, Cost, ModelError, Stop, Usage, in_dollars,
};
use finqa_agents::pair::{
    Backend, CRITIC, CallMemory, CriticMode, Interruption, OpinionUse, PairOptions, Solver,
    TwoAgentSolver,
};
use finqa_core::question::Question;
use finqa_core::text::grouped;
use finqa_journal::run::{Plan, RunMeta};
use finqa_journal::settings::{ExecutionEngine, Settings, Variables};

use super::job::describe;
use super::run_context::{Notify, RunNotice};
use super::unused_settings::advice;
use super::{PipelineError, selection};

/// Bytes of a prompt per token, as a range, because tables have fewer bytes per token than prose.
/// Set by hand, like the tokens per reply.
const BYTES_PER_TOKEN: Estimate<u64> = Estimate { low: 5, high: 3 };

/// Tokens per reply. Models that reason may write more than the high end.
const REPLY_TOKENS: Estimate<u64> = Estimate {
    low: 100,
    high: 600,
};

/// The two ends of an estimate. For `low` the critic accepts every first answer, for `high` it
/// accepts none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate<T> {
    pub low: T,
    pub high: T,
}

/// The estimated calls, tokens and cost of a run.
#[derive(Clone, Debug, Serialize)]
pub struct DryRun {
    pub questions: usize,
    /// Provider, address and model.
    pub model: String,
    /// Number of calls without retries and without requests that repeat an unreadable reply.
    pub calls: Estimate<u64>,
    pub input_tokens: Estimate<u64>,
    pub output_tokens: Estimate<u64>,
    /// Maximum tokens of a reply; `null` without a chat model.
    pub max_tokens: Option<u32>,
    /// US dollars; `null` if a price is not known.
    pub cost_usd: Option<Estimate<Decimal>>,
    /// The models without a known price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
}

/// Estimates the run that the settings describe.
///
/// # Errors
/// The run would be refused, or would end at a prompt that cannot be rendered.
pub async fn dry_run(
    settings: &Settings,
    recorded: Option<&RunMeta>,
    variables: &Variables,
    notify: &Notify,
) -> Result<DryRun, PipelineError> {
    let mut models = RunModels {
        // With an empty list, the built-in prices count.
        prices: Arc::new(super::prices::user_prices(settings, None, recorded)?.unwrap_or_default()),
        measure_only: true,
        ..RunModels::default()
    };
    let options = models.connect_pair(settings, variables)?;
    let note = |line: &str| notify(RunNotice::Note(line.to_owned()));
    for line in advice(settings, variables)? {
        note(&line);
    }
    let selected = selection::plan(settings, models.is_remote(), note)?;
    // Called for its errors: a calibration that the run would refuse is refused here too.
    describe(settings, &models, &options, &selected, notify)?;
    let mut plan = selected.plan;
    if let Some(chosen) = settings.shards.resolve(variables)? {
        plan.reduce_to(chosen.shard);
    }
    let end = |accepted| Assumptions::new(accepted, settings);
    let low = measure(&options, &plan, end(true)).await?;
    let high = measure(&options, &plan, end(false)).await?;
    let between = |of: &dyn Fn(&PromptTotal) -> u64| Estimate {
        low: of(&low),
        high: of(&high),
    };
    let costs = low.cost.total().zip(high.cost.total());
    Ok(DryRun {
        questions: plan.total(),
        model: models.name(),
        calls: between(&|total| total.calls),
        input_tokens: between(&|total| total.usage.input_tokens),
        output_tokens: between(&|total| total.usage.output_tokens),
        max_tokens: models.reply_limit(settings),
        cost_usd: costs.map(|(low, high)| Estimate { low, high }),
        unpriced_models: low.unpriced.union(&high.unpriced).cloned().collect(),
    })
}

/// Measures the requests for the plan under these assumptions.
async fn measure(
    options: &PairOptions,
    plan: &Plan,
    assumed: Assumptions,
) -> Result<PromptTotal, PipelineError> {
    let Backend::Llm { analyst, critic } = &options.backend else {
        return Ok(PromptTotal::default());
    };
    let accepted = assumed.accepted;
    let chosen = options.critic();
    let total = Arc::new(Mutex::new(PromptTotal::default()));
    let meter = |model: &Arc<dyn ChatModel>, total: &Arc<_>| {
        Arc::new(MeasuringModel {
            model: Arc::clone(model),
            assumed,
            total: Arc::clone(total),
        })
    };
    let mut options = options.clone();
    options.backend = Backend::Llm {
        analyst: meter(analyst, &total),
        // With `--critic rules` the checks send answers back. Here a measuring model does so in
        // their place, and its calls are not counted.
        critic: match chosen {
            CriticMode::Rules => meter(critic, &Arc::default()),
            _ => meter(critic, &total),
        },
    };
    // Neither the checks nor a second opinion could judge the answers, because the measuring model
    // makes them up.
    options.checks = false;
    options.settings.second_opinion = OpinionUse::Off;
    options.settings.critic = Some(match chosen {
        // `Auto` asks the LLM critic only about doubtful answers: at the low end about none, at
        // the high end about each.
        CriticMode::Auto if accepted => CriticMode::Rules,
        CriticMode::Auto | CriticMode::Rules if !accepted => CriticMode::Llm,
        other => other,
    });
    let agents = TwoAgentSolver::new(&options)?;
    for unit in plan.units() {
        let mut history = Vec::new();
        for planned in unit {
            let question = Arc::new(Question {
                history: history.clone(),
                ..planned.case.question.clone()
            });
            let memory = CallMemory::default();
            let asked = agents.solve(question, planned.epoch, memory, Stop::default(), &|_| {});
            let answer = match asked.await {
                Ok(solution) => solution.answer,
                Err(Interruption::Provider(solution)) => solution.answer,
                Err(Interruption::Cancelled) => None,
                // The measuring models never fail, so a prompt cannot be rendered.
                Err(Interruption::Fatal(failure)) => {
                    return Err(PipelineError::NothingAsked(failure));
                }
            };
            history.push(planned.in_history(plan.history, answer.as_ref()));
        }
    }
    let total = total.lock().clone();
    Ok(total)
}

/// The assumptions of one end of the estimate.
#[derive(Clone, Copy)]
struct Assumptions {
    /// True if the critic accepts every first answer, false if it accepts none.
    accepted: bool,
    bytes_per_token: u64,
    reply_tokens: u64,
    batched: bool,
}

impl Assumptions {
    /// The amounts to count with: the low ends of the estimates if every answer is accepted at
    /// once, otherwise the high ends.
    fn new(accepted: bool, settings: &Settings) -> Self {
        let of = |estimate: Estimate<u64>| {
            if accepted {
                estimate.low
            } else {
                estimate.high
            }
        };
        let most = settings.sampling.max_tokens.map_or(u64::MAX, u64::from);
        Self {
            accepted,
            bytes_per_token: of(BYTES_PER_TOKEN),
            reply_tokens: of(REPLY_TOKENS).min(most),
            batched: settings.batch.engine == ExecutionEngine::Batch,
        }
    }
}

/// The sum over all measured requests.
#[derive(Clone, Default)]
struct PromptTotal {
    calls: u64,
    usage: Usage,
    cost: Cost,
    unpriced: BTreeSet<String>,
}

/// A model that replies at once and measures the length of each prompt.
struct MeasuringModel {
    /// The model whose name and prices are used.
    model: Arc<dyn ChatModel>,
    assumed: Assumptions,
    /// Shared by analyst and critic, unless the critic is not counted.
    total: Arc<Mutex<PromptTotal>>,
}

impl MeasuringModel {
    /// The reply to request `number`. Its answer is that number, because the loop of rounds would
    /// end at an answer that it has already seen. Later prompts contain the words of a reply; their
    /// number is set by hand.
    fn reply(&self, request: &ChatRequest, number: u64) -> String {
        if request.node == CRITIC {
            return if self.assumed.accepted {
                "ALL_OK".to_owned()
            } else {
                format!(
                    r#"{{"findings": [{{"where": "answer", "problem": "{0}", "fix": "{0}"}}]}}"#,
                    "words of a review ".repeat(5).trim()
                )
            };
        }
        format!(
            r#"{{"evidence": [], "program": null, "steps": ["{}"], "answer": "{number}", "unit": "number", "label": "", "confidence": 0.9}}"#,
            "words of an analysis ".repeat(15).trim()
        )
    }
}

#[async_trait]
impl ChatModel for MeasuringModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn chat(&self, request: &ChatRequest, _: &Stop) -> Result<ChatReply, ModelError> {
        let bytes = serde_json::to_vec(request).map_or(0, |json| json.len() as u64);
        let usage = Usage {
            input_tokens: bytes / self.assumed.bytes_per_token,
            output_tokens: self.assumed.reply_tokens,
            ..Usage::default()
        };
        let cost = self.model.cost(&ChatReply {
            model: self.model.name().to_owned(),
            usage: Some(usage),
            attempts: 1,
            // The price of batches applies to a reply with a batch id, whatever the id is.
            batch: self.assumed.batched.then(String::new),
            ..ChatReply::default()
        });
        let mut total = self.total.lock();
        total.calls += 1;
        total.usage += usage;
        if cost.is_none() {
            total.unpriced.insert(self.model.name().to_owned());
        }
        total.cost += Cost::of_request(cost);
        Ok(ChatReply::text(self.reply(request, total.calls)))
    }
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |of: Estimate<u64>| format!("{} to {}", grouped(of.low), grouped(of.high));
        let cost = match self.cost_usd {
            Some(Estimate { low, high }) => {
                let [low, high] = [low, high].map(|cost| in_dollars(cost, 4));
                format!("{low} to {high}, without retries and without cached prompts")
            }
            None => format!(
                "unknown: no listed price of {}; --prices FILE adds one",
                self.unpriced_models.join(" and ")
            ),
        };
        write!(
            f,
            "Dry run: nothing was sent or written.\nQuestions  {}, {}\n",
            self.questions, self.model
        )?;
        let Some(max_tokens) = self.max_tokens else {
            return write!(
                f,
                "Calls      none: no chat model is asked\nCost       {cost}"
            );
        };
        write!(
            f,
            "Calls      {} (the critic accepts every first answer) to {} (it accepts none)\n\
             Tokens in  {} (prompts at {} to {} bytes per token)\n\
             Tokens out {}, at {} to {} per reply\n           \
             (more if the model reasons, at most {} a reply: --max-tokens)\n\
             Cost       {cost}",
            grouped(self.calls.low),
            grouped(self.calls.high),
            range(self.input_tokens),
            BYTES_PER_TOKEN.high,
            BYTES_PER_TOKEN.low,
            range(self.output_tokens),
            REPLY_TOKENS.low,
            REPLY_TOKENS.high,
            grouped(max_tokens.into())
        )
    }
}
