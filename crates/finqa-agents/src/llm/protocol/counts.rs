//! Reads and checks the token counts of a reply. Providers disagree on which counts include which
//! others.

use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;

use super::Protocol;
use crate::llm::types::{ChatReply, Usage};

/// The paths under `usage` of the tokens read and written.
fn names(protocol: Protocol) -> [&'static str; 2] {
    match protocol {
        Protocol::ChatCompletions => ["/prompt_tokens", "/completion_tokens"],
        Protocol::Responses | Protocol::Messages => ["/input_tokens", "/output_tokens"],
    }
}

// Gateways mix the field names of protocols, so all names of a count are tried in every protocol.

/// Tokens read from the cache. The last name is used by DeepSeek.
const CACHED: [&str; 4] = [
    "/prompt_tokens_details/cached_tokens", "/input_tokens_details/cached_tokens",
    "/cache_read_input_tokens", "/prompt_cache_hit_tokens",
];
/// Tokens written to the cache. OpenAI's models since GPT-5.6 bill the tokens that they store.
const STORED: [&str; 3] = [
    "/prompt_tokens_details/cache_write_tokens",
    "/input_tokens_details/cache_write_tokens",
    "/cache_creation_input_tokens",
];
/// Tokens of hidden reasoning. The first names are used by Perplexity and Gemini.
const REASONING: [&str; 7] = [
    "/reasoning_tokens",
    "/thoughts_token_count",
    "/thoughtsTokenCount",
    "/completion_tokens_details/reasoning_tokens",
    "/completion_tokens_details/thinking_tokens",
    "/output_tokens_details/reasoning_tokens",
    "/output_tokens_details/thinking_tokens",
];

/// Reads a count, which some servers write as a float or in quotes. `Ok(None)` if the server does
/// not state it.
fn count(usage: &Value, path: &str) -> Result<Option<u64>, ()> {
    let count = match usage.pointer(path) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            number.as_u64().or_else(|| whole?.to_u64())
        }
        Some(other) => other.as_str().and_then(|text| text.trim().parse().ok()),
    };
    count.map(Some).ok_or(())
}

/// Sets the usage of a reply. It stays unknown unless the body states both counts.
///
/// Output is hidden if `total_tokens` is above the sum of the counts, or if there is more reasoning
/// than output (xAI, Gemini). Hidden output is billed, so it is counted. A total may also leave out
/// cached tokens, or include cached tokens that the prompt's count leaves out. Counts for which
/// none of these readings fits are doubtful.
pub(super) fn read(reply: &mut ChatReply, body: &Value, protocol: Protocol) {
    let mut is_sure = true;
    let mut number = |path: &str| {
        let count = body
            .get("usage")
            .map_or(Ok(None), |usage| count(usage, path));
        is_sure &= count.is_ok();
        count.unwrap_or(None)
    };
    let [read, written] = names(protocol).map(&mut number);
    let places: [&[&str]; 4] = [&CACHED, &STORED, &REASONING, &["/total_tokens"]];
    let [cached, stored, reasoning, total] = places.map(|paths| {
        // If several names state a count, the largest is used.
        let counts = paths.iter().filter_map(|path| number(path));
        counts.max().unwrap_or_default()
    });
    // Two zeros are not real counts, because every reply takes tokens.
    let stated = read.zip(written).filter(|counts| *counts != (0, 0));
    let Some((read, written)) = stated else {
        return;
    };
    let from_cache = cached.saturating_add(stored);
    let is_apart = protocol == Protocol::Messages || from_cache > read;
    let mut input = read.saturating_add(if is_apart { from_cache } else { 0 });
    let sum = input.saturating_add(written);
    let apart = if reasoning > written { reasoning } else { 0 };
    let without = [0, cached, from_cache].map(|part| sum.saturating_sub(part));
    let hidden = match total {
        // The server states no total.
        0 => apart,
        // The output does not include the reasoning (xAI).
        _ if total == sum.saturating_add(reasoning) => reasoning,
        // The total is the sum, with or without the tokens from the cache.
        _ if without.contains(&total) => {
            is_sure &= apart == 0;
            apart
        }
        // The count of the prompt leaves out the tokens from the cache.
        _ if total == sum.saturating_add(from_cache) && !is_apart => {
            input = input.saturating_add(from_cache);
            apart
        }
        _ => {
            // Hidden output is visible only in the total (Gemini).
            is_sure &= total > sum && reasoning == 0;
            apart.max(total.saturating_sub(sum))
        }
    };
    // More cached tokens than prompt tokens is a contradiction, unless the protocol counts the two
    // separately (Messages) or the total includes both.
    is_sure &= protocol == Protocol::Messages || from_cache <= read || total >= sum;
    let usage = Usage {
        input_tokens: input,
        output_tokens: written.saturating_add(hidden),
        cached_input_tokens: cached,
        cache_write_tokens: stored,
        reasoning_tokens: reasoning.max(hidden),
    };
    let is_silent = reply.content.is_empty() && reply.tool_calls.is_empty();
    is_sure &= input > 0 && (usage.output_tokens > 0 || is_silent);
    reply.is_usage_doubtful = !is_sure;
    reply.usage = Some(usage);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The input, output, cached and reasoning tokens for this usage of a reply with text, and
    /// whether the counts are certain.
    fn of(protocol: Protocol, usage: Value) -> Option<([u64; 4], bool)> {
        let mut reply = ChatReply::text("x");
        read(&mut reply, &json!({"usage": usage}), protocol);
        let usage = reply.usage?;
        let counts = [
            usage.input_tokens, usage.output_tokens, usage.cached_input_tokens,
            usage.reasoning_tokens,
        ];
        Some((counts, !reply.is_usage_doubtful))
    }

    /// The same for a chat completion with the counts prompt, completion, total, cached, reasoning.
    fn chat(counts: [Value; 5]) -> Option<([u64; 4], bool)> {
        let [prompt, completion, total, cached, reasoning] = counts;
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        });
        of(Protocol::ChatCompletions, usage)
    }

    #[test]
    fn hidden_output_is_counted_and_contradictions_are_doubtful() {
        for (prompt, completion, total, cached, reasoning, expected, is_sure) in [
            (1000, 100, 1100, 0, 0, [1000, 100, 0, 0], true),
            (1000, 100, 1100, 400, 60, [1000, 100, 400, 60], true),
            // xAI reports reasoning separately, while in Gemini's counts only the total shows it.
            (1000, 100, 5100, 0, 4000, [1000, 4100, 0, 4000], true),
            (1000, 100, 1160, 0, 60, [1000, 160, 0, 60], true),
            (1000, 100, 5100, 400, 4000, [1000, 4100, 400, 4000], true),
            (1000, 100, 5100, 0, 0, [1000, 4100, 0, 4000], true),
            (1000, 100, 0, 0, 4000, [1000, 4100, 0, 4000], true),
            (1000, 100, 1100, 0, 4000, [1000, 4100, 0, 4000], false),
            (1000, 100, 3000, 0, 4000, [1000, 4100, 0, 4000], false),
            (1000, 100, 3000, 0, 50, [1000, 2000, 0, 1900], false),
            // The total, or the count of the prompt, leaves out the cached tokens.
            (1000, 100, 700, 400, 0, [1000, 100, 400, 0], true),
            (600, 100, 1100, 400, 0, [1000, 100, 400, 0], true),
            (100, 100, 1100, 900, 0, [1000, 100, 900, 0], true),
            (100, 100, 0, 900, 0, [1000, 100, 900, 0], false),
            (100, 100, 200, 900, 0, [1000, 100, 900, 0], false),
            (1000, 100, 900, 0, 0, [1000, 100, 0, 0], false),
            (1000, 100, 100, 0, 0, [1000, 100, 0, 0], false),
            // Both a text and a prompt take tokens, so a zero is wrong.
            (1000, 0, 1000, 0, 0, [1000, 0, 0, 0], false),
            (0, 100, 100, 0, 0, [0, 100, 0, 0], false),
        ] {
            let sent = [prompt, completion, total, cached, reasoning];
            let found = chat(sent.map(Value::from));
            assert_eq!(found, Some((expected, is_sure)), "{sent:?}");
        }
        let silent = &mut ChatReply::default();
        let usage = json!({"usage": {"prompt_tokens": 9, "completion_tokens": 0}});
        read(silent, &usage, Protocol::ChatCompletions);
        assert!(!silent.is_usage_doubtful && silent.usage.is_some());
    }

    #[test]
    fn a_count_is_a_number_however_it_is_written_or_it_is_unknown() {
        let null = || Value::Null;
        let certain = Some(([1000, 100, 0, 0], true));
        let doubtful = Some(([1000, 100, 0, 0], false));
        for (sent, expected) in [
            (
                [json!(1000.0), json!("100"), null(), null(), null()],
                certain,
            ),
            (
                [json!(1000), json!(100), json!(0), json!(0.0), json!("0")],
                certain,
            ),
            (
                [json!(1000), json!(100), json!("?"), null(), null()],
                doubtful,
            ),
            (
                [json!(1000), json!(100), json!(-1), null(), null()],
                doubtful,
            ),
            (
                [json!(1000), json!(100), json!(1100), json!([]), null()],
                doubtful,
            ),
            (
                [json!(1000), json!(100), json!(1100), null(), json!(0.5)],
                doubtful,
            ),
            // Unknown is not zero.
            ([json!(1000), null(), json!(1100), null(), null()], None),
            ([null(), json!(100), null(), null(), null()], None),
            ([json!(-1), json!(100), null(), null(), null()], None),
            ([json!(1000), json!(99.5), null(), null(), null()], None),
            ([json!(1000), json!("many"), null(), null(), null()], None),
            ([json!(1000), json!(1e300), null(), null(), null()], None),
            ([json!(0), json!(0), json!(0), null(), null()], None),
        ] {
            let said = format!("{sent:?}");
            assert_eq!(chat(sent), expected, "{said}");
        }
        for usage in [Value::Null, json!({}), json!([]), json!("12")] {
            assert_eq!(of(Protocol::ChatCompletions, usage), None);
        }
        let most = chat([u64::MAX; 5].map(Value::from));
        assert_eq!(most.map(|(counts, _)| counts), Some([u64::MAX; 4]));
    }

    #[test]
    fn the_other_protocols_are_checked_alike() {
        let usage = json!({
            "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 64},
            "output_tokens": 100, "output_tokens_details": {"reasoning_tokens": 4000},
            "total_tokens": 5100,
        });
        let found = of(Protocol::Responses, usage);
        assert_eq!(found, Some(([1000, 4100, 64, 4000], true)));
        // Anthropic counts cached tokens separately.
        let message = |output: u64, total: u64| {
            let usage = json!({
                "input_tokens": 50, "cache_read_input_tokens": 900,
                "cache_creation_input_tokens": 50, "output_tokens": output, "total_tokens": total,
                "output_tokens_details": {"thinking_tokens": 60},
            });
            of(Protocol::Messages, usage)
        };
        assert_eq!(message(100, 0), Some(([1000, 100, 900, 60], true)));
        assert_eq!(message(100, 1100), Some(([1000, 100, 900, 60], true)));
        assert_eq!(message(100, 150), Some(([1000, 100, 900, 60], true)));
        assert_eq!(message(50, 0), Some(([1000, 110, 900, 60], true)));
        assert_eq!(message(100, 500), Some(([1000, 100, 900, 60], false)));
    }
}
