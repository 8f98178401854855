//! From settings and variables to the two agents: which provider, which key,
//! which data, how many at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rust_decimal::Decimal;

use crate::agents::{Backend, CriticMode, OpinionUse, PairOptions, Sampling};
use crate::config::{Settings, TableStyle};
use crate::dataset::{self, Dataset, Selection, Source};
use crate::models::{self, ChatModel, Endpoint, Observer, OpenAiModel, PriceList};
use crate::prompt::{Prompts, Rendering};
use crate::run::Price;
use crate::table::Style;

use super::{Exit, Failure};

/// Records asked for by default from an endpoint that may cost money.
const PAID_DEFAULT_RECORDS: usize = 100;

/// The variable as set in the environment or in `.env`; empty is unset.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// What answers, and where it lives.
pub struct Answering {
    /// The two agents' options.
    pub pair: PairOptions,
    /// Where calls go; nowhere offline.
    endpoint: Option<Endpoint>,
    /// `offline`, or provider, address and model.
    pub name: String,
    /// The same for the critic.
    pub critic_name: String,
}

/// Sets up the pair that the settings ask for; `observer` hears of retries.
///
/// # Errors
/// A template, key or address that cannot work, in one line.
pub fn answering(settings: &Settings, observer: Observer) -> anyhow::Result<Answering> {
    let prompts = match &settings.prompts {
        Some(folder) => Prompts::from_dir(folder)?,
        None => Prompts::embedded(),
    };
    let (backend, endpoint, name, critic_name) = if settings.is_offline() {
        (Backend::Offline, None, "offline".to_owned(), String::new())
    } else {
        let analyst = chat_model(settings, &settings.model, &variable, &observer)?;
        let (endpoint, name) = (analyst.settings().endpoint(), describe(analyst.settings()));
        let analyst: Arc<dyn ChatModel> = Arc::new(analyst);
        let (critic, critic_name) = match &settings.critic_model {
            Some(model) => {
                let critic = chat_model(settings, model, &variable, &observer)?;
                let name = describe(critic.settings());
                (Arc::new(critic) as Arc<dyn ChatModel>, name)
            }
            None => (Arc::clone(&analyst), name.clone()),
        };
        (
            Backend::Llm { analyst, critic },
            Some(endpoint),
            name,
            critic_name,
        )
    };
    let pair = pair_options(settings, backend, prompts);
    let critic_name = match pair.critic {
        CriticMode::Llm => critic_name,
        CriticMode::Rules => "rules".to_owned(),
        CriticMode::Off => "off".to_owned(),
    };
    Ok(Answering {
        pair,
        endpoint,
        name,
        critic_name,
    })
}

impl Answering {
    /// Whether calls leave this machine, and so may cost money.
    pub fn is_remote(&self) -> bool {
        self.endpoint
            .is_some_and(|endpoint| endpoint != Endpoint::Loopback)
    }

    /// What calls cost: nothing offline, unknown where no price is listed.
    pub fn price(&self) -> Price {
        let endpoint = self.endpoint;
        Arc::new(move |calls| {
            let Some(endpoint) = endpoint else {
                return Some(Decimal::ZERO);
            };
            let replies = calls.iter().filter_map(|call| call.reply.as_ref());
            replies
                .map(|reply| PriceList::embedded().cost(endpoint, reply))
                .sum()
        })
    }
}

/// One model, by itself.
pub struct Single {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Where its calls go.
    pub endpoint: Endpoint,
    /// Provider, address and model.
    pub name: String,
}

/// The model that the settings name, with `variables` in the place of the
/// environment; `observer` hears of retries.
///
/// # Errors
/// A key or address that cannot work, in one line.
pub fn single(
    settings: &Settings,
    variables: &dyn Fn(&str) -> Option<String>,
    observer: &Observer,
) -> anyhow::Result<Single> {
    let model = chat_model(settings, &settings.model, variables, observer)?;
    Ok(Single {
        endpoint: model.settings().endpoint(),
        name: describe(model.settings()),
        model: Arc::new(model),
    })
}

fn chat_model(
    settings: &Settings,
    model: &str,
    variables: &dyn Fn(&str) -> Option<String>,
    observer: &Observer,
) -> anyhow::Result<OpenAiModel> {
    let flags = models::Flags {
        provider: settings.provider.as_deref().map(str::parse).transpose()?,
        base_url: settings.base_url.clone(),
        model: model.to_owned(),
    };
    let mut resolved = models::Settings::resolve(variables, &flags)?;
    resolved.timeouts.attempt = Duration::from_secs(settings.timeout);
    resolved.retry.max_attempts = settings.attempts;
    Ok(OpenAiModel::new(resolved)?.with_observer(Arc::clone(observer)))
}

/// What should be known about these settings before anything is asked.
pub fn advice(settings: &Settings) -> Option<&'static str> {
    let samples = settings.samples > 1;
    match (settings.is_offline(), settings.temperature) {
        (true, _) if samples => {
            Some("note: the embedded pair always answers alike; --samples changes nothing")
        }
        (false, None | Some(0.0)) if samples => Some(
            "note: --samples draws the same question again; give a --temperature above 0, or the samples may all be one",
        ),
        (false, _) if settings.min_confidence > 0.0 => {
            Some("note: --min-confidence holds for the embedded pair only")
        }
        (true, _) if settings.second_opinion != OpinionUse::default() => Some(
            "note: the second opinion is the embedded pair's own; with --model offline there is none",
        ),
        _ => None,
    }
}

/// Provider, address and model: part of a run's identity.
fn describe(settings: &models::Settings) -> String {
    format!(
        "{} {} {}",
        settings.provider, settings.base_url, settings.model
    )
}

fn pair_options(settings: &Settings, backend: Backend, prompts: Prompts) -> PairOptions {
    let critic = match (&backend, settings.critic) {
        // The embedded pair has no LLM; its critic is the checks.
        (Backend::Offline, CriticMode::Llm) => CriticMode::Rules,
        (_, critic) => critic,
    };
    PairOptions {
        critic,
        verify: settings.verify,
        max_rounds: settings.max_rounds,
        answer_from: settings.answer_from,
        min_confidence: settings.min_confidence,
        opinion: settings.second_opinion,
        opinion_confidence: settings.opinion_confidence,
        prompts: Arc::new(prompts),
        rendering: Rendering {
            table_style: style(settings.table_style),
        },
        sampling: Sampling {
            temperature: settings.temperature,
            max_output_tokens: settings.max_tokens,
            seed: settings.seed,
            samples: settings.samples,
        },
        ..PairOptions::new(backend)
    }
}

fn style(style: TableStyle) -> Style {
    match style {
        TableStyle::Reference => Style::Reference,
        TableStyle::Repaired => Style::Repaired,
    }
}

/// Loads and selects the records; `note` is told what was chosen by default.
///
/// # Errors
/// Data that cannot be read, a selection that finds nothing, or a paid model
/// without data.
pub fn records(settings: &Settings, remote: bool, note: impl Fn(&str)) -> anyhow::Result<Dataset> {
    let downloaded = Path::new("data/train.json");
    let source = match settings.data_path.as_deref() {
        Some("sample") => Source::Sample,
        Some(path) => Source::Path(path.into()),
        None if downloaded.is_file() => Source::Path(downloaded.to_owned()),
        None if remote => {
            return Err(Failure::new(
                Exit::Data,
                "no data: data/train.json is not there, and a model that costs money is never run on the \
                 built-in sample by accident; fetch the data with `convfinqa data download`, \
                 or name a file or `sample` with --data-path",
            )
            .into());
        }
        None => {
            note("no --data-path and no data/train.json: answering the built-in sample");
            Source::Sample
        }
    };
    let dataset = dataset::load(&source)?;
    let chosen = settings.n.is_some() || settings.range.is_some() || !settings.ids.is_empty();
    let n = match settings.n {
        Some(n) => Some(n),
        None if remote && !chosen && dataset.records.len() > PAID_DEFAULT_RECORDS => {
            note(&format!(
                "taking the first {PAID_DEFAULT_RECORDS} of {} records, for this endpoint is not on loopback; --n N for more",
                dataset.records.len()
            ));
            Some(PAID_DEFAULT_RECORDS)
        }
        None => None,
    };
    let selection = Selection {
        n,
        range: settings.range.as_deref().map(str::parse).transpose()?,
        ids: settings.ids.clone(),
        filter: settings.filter.clone(),
        shuffle: settings.shuffle,
        seed: settings.seed.unwrap_or_default(),
    };
    let chosen = dataset::select(&dataset, &selection)?;
    Ok(dataset.pick(&chosen))
}
