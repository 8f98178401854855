//! The features that a model accepts. They are published as data, and corrected when a server
//! refuses a request.
//!
//! `data/models.json` has the published features. A 400 that names a parameter corrects them for
//! the rest of the process. Neither changes the question, only the names and modes of the request.

use std::sync::OnceLock;

use serde::Deserialize;

use super::error_details::ErrorDetails;
use super::protocol::{AcceptedParameters, FormatLevel, Protocol, SystemRole, TokenLimit};
use super::provider::Endpoint;
use super::settings::OpenAiApi;

const TABLE: &str = include_str!("../../../../data/models.json");

/// Default output limit of a reply in tokens. It ends a reply that repeats itself without end. Set
/// by hand, several times what `--dry-run` assumes for a reply.
pub(super) const MAX_TOKENS: u32 = 4096;
/// Default output limit of a reply by a reasoning model in tokens, including the reasoning. Set by
/// hand.
const MAX_TOKENS_OF_REASONING: u32 = 32_768;

/// The published features of a model. A feature that is not listed is assumed to be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Capabilities {
    /// The name of the models, or the beginning of their names followed by `*`.
    #[serde(rename = "match")]
    pattern: String,
    /// True if the model reasons before it answers. It then does not accept `max_tokens`.
    pub reasoning: bool,
    /// The OpenAI API used for the model, unless `--api` names one.
    pub(super) api: OpenAiApi,
    system_role: SystemRole,
    temperature: bool,
    seed: bool,
    json_object: bool,
    json_schema: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            reasoning: false,
            api: OpenAiApi::default(),
            system_role: SystemRole::default(),
            temperature: true,
            seed: true,
            json_object: true,
            json_schema: true,
        }
    }
}

/// The content of `data/models.json`.
#[derive(Deserialize)]
struct CapabilityTable {
    models: Vec<Capabilities>,
}

/// The embedded table. It is empty only if it cannot be parsed, which a test rules out.
fn table() -> &'static [Capabilities] {
    static PARSED: OnceLock<Vec<Capabilities>> = OnceLock::new();
    PARSED.get_or_init(|| {
        serde_json::from_str::<CapabilityTable>(TABLE)
            .map(|table| table.models)
            .unwrap_or_default()
    })
}

/// The default limit of a reply of `model` in output tokens, reasoning included.
pub fn reply_limit(model: &str) -> u32 {
    Capabilities::for_model(model).reply_limit()
}

impl Capabilities {
    /// The features of `model`; the defaults if the table does not have the model. The longest
    /// matching pattern counts.
    ///
    /// A vendor's prefix (`openai/gpt-4o`) is ignored.
    pub(crate) fn for_model(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        table()
            .iter()
            .filter(|entry| match entry.pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == entry.pattern,
            })
            .max_by_key(|entry| entry.pattern.len())
            .cloned()
            .unwrap_or_default()
    }

    fn reply_limit(&self) -> u32 {
        if self.reasoning {
            MAX_TOKENS_OF_REASONING
        } else {
            MAX_TOKENS
        }
    }

    /// The first dialect to try for the model at `endpoint`. It uses everything that is not known
    /// to be refused.
    pub(super) fn dialect(&self, endpoint: Endpoint, protocol: Protocol) -> AcceptedParameters {
        let foreign = matches!(endpoint, Endpoint::Compatible | Endpoint::Loopback);
        AcceptedParameters {
            // Compatible servers ignore the newer name silently, so the limit would have no effect.
            token_limit: if foreign && !self.reasoning {
                TokenLimit::MaxTokens
            } else {
                TokenLimit::MaxCompletionTokens
            },
            // The chat templates of most compatible servers do not know the role `developer`.
            system_role: match self.system_role {
                SystemRole::Developer if foreign => SystemRole::System,
                role => role,
            },
            temperature: self.temperature,
            // The other two protocols have no seed.
            seed: self.seed && protocol == Protocol::ChatCompletions,
            cache_marks: protocol == Protocol::Messages,
            reply_limit: Some(self.reply_limit()),
            format: if self.json_schema {
                FormatLevel::JsonSchema
            } else if self.json_object {
                FormatLevel::JsonObject
            } else {
                FormatLevel::Text
            },
        }
    }
}

/// The dialect to try after a refusal with this message, and the parameter that it drops or
/// renames. `None` if the message names no such parameter. `formatted` is true if a JSON format was
/// requested.
///
/// A server that refuses both names of the token limit would cause endless changes back and forth,
/// so the caller stops at a dialect that it has already used.
pub(super) fn corrected(
    protocol: Protocol,
    dialect: AcceptedParameters,
    words: &ErrorDetails,
    formatted: bool,
) -> Option<(AcceptedParameters, &'static str)> {
    let message = words.message.to_ascii_lowercase();
    let parameter = words.parameter.as_deref().unwrap_or_default();
    let names = |name: &str| {
        if parameter.is_empty() {
            message.contains(name)
        } else {
            parameter.contains(name)
        }
    };
    let mut better = dialect;
    let about_format = formatted
        && dialect.format > FormatLevel::Text
        && is_about_format(protocol, &message, parameter);
    // A refused format comes first, because servers refuse it in other words too (a prompt that
    // lacks a word) than those of `is_unsupported`.
    let parameter = if about_format {
        better.format = match (protocol, dialect.format) {
            (Protocol::ChatCompletions | Protocol::Responses, FormatLevel::JsonSchema) => {
                FormatLevel::JsonObject
            }
            _ => FormatLevel::Text,
        };
        protocol.format_parameter()
    } else if !is_unsupported(words, &message) {
        // The caller must correct a value that is out of range. The parameter must not be dropped.
        return None;
    } else if dialect.temperature && names("temperature") {
        better.temperature = false;
        "temperature"
    } else if dialect.seed && names("seed") {
        better.seed = false;
        "seed"
    } else if dialect.cache_marks && names("cache_control") {
        better.cache_marks = false;
        "cache_control"
    } else if protocol != Protocol::ChatCompletions {
        // In the other protocols, all servers use the same names of roles and limits.
        return None;
    } else if names(".role") || (parameter.is_empty() && message.contains("role")) {
        better.system_role = match dialect.system_role {
            SystemRole::Developer => SystemRole::System,
            SystemRole::System => SystemRole::User,
            SystemRole::User => return None,
        };
        "role"
    } else {
        let (refused, other) = match dialect.token_limit {
            TokenLimit::MaxTokens => ("max_tokens", TokenLimit::MaxCompletionTokens),
            TokenLimit::MaxCompletionTokens => ("max_completion_tokens", TokenLimit::MaxTokens),
        };
        if !names(refused) {
            return None;
        }
        better.token_limit = other;
        refused
    };
    Some((better, parameter))
}

/// True if the server refuses the format of the reply. If the refusal names no parameter, the words
/// of its message decide.
fn is_about_format(protocol: Protocol, message: &str, parameter: &str) -> bool {
    const WORDS: [&str; 8] = [
        "response_format", "text.format", "response_schema",
        // A reasoning model may refuse to be forced to call a tool.
        "tool_choice", "json_schema", "json_object", "structured output", "grammar",
    ];
    // OpenAI names `messages` if the prompt lacks the word that a JSON format requires.
    parameter.starts_with(protocol.format_parameter())
        || (parameter.is_empty() || parameter == "messages")
            && WORDS.iter().any(|word| message.contains(word))
}

/// True if the server refuses a parameter, or all of its values but the default. A value that is
/// out of range does not count. The phrases are chosen by hand.
fn is_unsupported(words: &ErrorDetails, message: &str) -> bool {
    const PHRASES: [&str; 12] = [
        "deprecated", "unsupported", "not supported", "not support", "unrecognized", "unknown",
        "unexpected", "not permitted", "not allowed", "only the default", "enabled only for",
        "invalid parameter",
    ];
    let is_code = |code: &String| code.starts_with("unsupported_") || code == "unknown_parameter";
    words.codes.iter().any(is_code) || PHRASES.iter().any(|phrase| message.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::provider::Provider;

    fn first(model: &str, endpoint: Endpoint) -> AcceptedParameters {
        Capabilities::for_model(model).dialect(endpoint, Protocol::ChatCompletions)
    }

    fn correct(
        dialect: AcceptedParameters,
        body: &str,
    ) -> Option<(AcceptedParameters, &'static str)> {
        corrected(
            Protocol::ChatCompletions,
            dialect,
            &ErrorDetails::read(body.as_bytes()),
            true,
        )
    }

    #[test]
    fn the_table_parses_and_the_longest_match_counts() {
        serde_json::from_str::<CapabilityTable>(TABLE).unwrap();
        let of = Capabilities::for_model;
        for (model, json_object, json_schema, temperature) in [
            ("gpt-4", false, false, true),
            ("gpt-4-0613", false, false, true),
            ("gpt-4-1106-preview", true, false, true),
            ("gpt-4-turbo", true, false, true),
            ("gpt-4o-mini", true, true, true),
            ("gpt-4o-2024-05-13", true, false, true),
            ("llama3.2:3b", true, true, true),
            ("openai/o3-mini", true, true, false),
            ("gpt-5-chat-latest", true, true, true),
            ("claude-opus-4-8", true, true, false),
            ("claude-opus-4-6", true, true, true),
        ] {
            let found = of(model);
            let found = (found.json_object, found.json_schema, found.temperature);
            assert_eq!(found, (json_object, json_schema, temperature), "{model}");
        }
        assert!(!of("gpt-5-chat-latest").reasoning);
        assert!(of("gpt-5.4-mini").reasoning);
    }

    #[test]
    fn a_compatible_server_gets_a_conservative_dialect() {
        let own = first("gpt-4o", Endpoint::Own(Provider::OpenAi));
        assert_eq!(own.token_limit, TokenLimit::MaxCompletionTokens);
        let local = first("gpt-4o", Endpoint::Loopback);
        assert_eq!(local.token_limit, TokenLimit::MaxTokens);
        let reasoning = first("o3", Endpoint::Compatible);
        assert_eq!(reasoning.token_limit, TokenLimit::MaxCompletionTokens);
        assert_eq!(reasoning.system_role, SystemRole::System);
        assert!(!reasoning.temperature);
    }

    #[test]
    fn refused_parameters_are_renamed_or_dropped() {
        let start = first("unheard-of", Endpoint::Compatible);
        let (next, parameter) = correct(start, r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#).unwrap();
        assert_eq!(next.token_limit, TokenLimit::MaxCompletionTokens);
        assert_eq!(parameter, "max_tokens");

        let (next, _) = correct(start, r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}"#).unwrap();
        assert!(!next.temperature);

        let azure = first("unheard-of", Endpoint::Own(Provider::Azure));
        let (next, _) = correct(azure, r#"{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens","param":null}}"#).unwrap();
        assert_eq!(next.token_limit, TokenLimit::MaxTokens);

        let developer = first("o3", Endpoint::Own(Provider::OpenAi));
        let (next, _) = correct(developer, r#"{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'developer' with this model.","param":"messages[0].role","code":"unsupported_value"}}"#).unwrap();
        assert_eq!(next.system_role, SystemRole::System);

        let (next, _) = correct(
            start,
            r#"{"error":{"message":"System role not supported"}}"#,
        )
        .unwrap();
        assert_eq!(next.system_role, SystemRole::User);

        let (next, _) = correct(start, r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#).unwrap();
        assert!(!next.seed);
    }

    #[test]
    fn a_format_steps_down_to_text_and_no_further() {
        let start = first("unheard-of", Endpoint::Compatible);
        let body = r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported","param":"response_format"}}"#;
        let (object, _) = correct(start, body).unwrap();
        assert_eq!(object.format, FormatLevel::JsonObject);
        let gemini = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema': Cannot find field."}}"#;
        assert_eq!(correct(start, gemini).unwrap().0, object);
        let body = r#"{"error":{"message":"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.","param":"messages"}}"#;
        let (text, _) = correct(object, body).unwrap();
        assert_eq!(text.format, FormatLevel::Text);
        assert!(correct(text, body).is_none());
        let words = ErrorDetails::read(body.as_bytes());
        assert!(corrected(Protocol::ChatCompletions, start, &words, false).is_none());
    }

    #[test]
    fn a_value_out_of_range_is_not_dropped() {
        let start = first("gpt-4o", Endpoint::Own(Provider::OpenAi));
        for body in [
            r#"{"error":{"message":"Invalid 'temperature': decimal above maximum value. Expected a value <= 2","param":"temperature","code":"decimal_above_max_value"}}"#,
            r#"{"error":{"message":"max_tokens is too large: 99999999.","param":"max_tokens","code":null}}"#,
            r#"{"error":{"message":"you must provide messages"}}"#,
        ] {
            assert!(correct(start, body).is_none(), "{body}");
        }
    }
}
