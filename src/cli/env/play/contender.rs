//! Who plays: which model, by which server and key.

use std::sync::Arc;

use crate::cli::dotenv;
use crate::play::{Baseline, PlayError};
use crate::run::pipeline::{is_remote, price, single};
use crate::settings::{self as config, Settings};
use finqa_agents::models::{
    ChatModel, Endpoint, Feature, ModelSettings, Observer, PriceOf, Support,
};

/// The environment's variables, with those of `OpenEnv`'s inference scripts in
/// the places of ours.
pub(super) struct Variables {
    base_url_flag: bool,
}

impl Variables {
    pub fn new(flags: &ModelSettings) -> Self {
        Self {
            base_url_flag: flags.base_url.is_some(),
        }
    }

    pub fn get(&self, name: &str) -> Option<String> {
        let own = dotenv::variable(name);
        let other = |name: &str| dotenv::variable(name);
        // A key is for the server that it stands beside.
        let by_api_base_url = !self.base_url_flag
            && other("CONVFINQA_BASE_URL").is_none()
            && other("API_BASE_URL").is_some();
        match name {
            "CONVFINQA_MODEL" => own.or_else(|| other("MODEL")),
            "CONVFINQA_BASE_URL" => own.or_else(|| other("API_BASE_URL")),
            "OPENAI_API_KEY" | "AZURE_OPENAI_API_KEY" if by_api_base_url => {
                other("API_KEY").or(own)
            }
            "OPENAI_API_KEY" => own.or_else(|| {
                let azure = other("AZURE_OPENAI_API_KEY").is_some();
                (!azure).then(|| other("API_KEY")).flatten()
            }),
            _ => own,
        }
    }
}

/// Who plays.
pub(super) struct Contender {
    pub model: Arc<dyn ChatModel>,
    /// Where calls go; nowhere offline.
    pub endpoint: Option<Endpoint>,
    /// `offline`, or provider, address and model.
    pub name: String,
    /// What must be known before a key is sent.
    pub notice: Option<String>,
}

impl Contender {
    /// Whether calls leave this machine, and so may cost money.
    pub fn is_remote(&self) -> bool {
        is_remote(self.endpoint)
    }

    /// What a reply costs: nothing offline, unknown where no price is listed.
    pub fn price(&self) -> PriceOf {
        price(self.endpoint)
    }
}

/// Sets up the player that the settings ask for; `observer` hears of retries.
///
/// # Errors
/// A key or address that cannot work, a model that is known to take no tools.
pub(super) fn contender(
    settings: &Settings,
    variables: &config::Variables,
    observer: &Observer,
) -> anyhow::Result<Contender> {
    if settings.model.is_offline() {
        return Ok(Contender {
            model: Arc::new(Baseline::new()),
            endpoint: None,
            name: "offline".to_owned(),
            notice: None,
        });
    }
    let single = single(settings, &settings.model.name, variables, observer)?;
    if single.model.supports(Feature::Tools) == Support::No {
        return Err(PlayError::NoTools {
            model: settings.model.name.clone(),
            said: " (data/models.json)".to_owned(),
        }
        .into());
    }
    Ok(Contender {
        model: single.model,
        endpoint: Some(single.endpoint),
        name: single.name,
        notice: single.notice,
    })
}
