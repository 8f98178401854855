//! Finds a new output limit after a server refused one. The server's message may state how many
//! tokens there is room for.

use regex::Captures;

use finqa_core::pattern;
use finqa_core::text::Pattern;

/// The minimum limit that replaces a default. If there is room for less, the prompt itself is too
/// long. Set by hand.
pub(super) const LEAST: u64 = 256;

/// A limit to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LowerLimit {
    pub tokens: u32,
    /// True if this is the model's own maximum, which does not depend on the prompt.
    pub is_maximum: bool,
}

/// The limit to try after the server refused a limit of `asked` tokens with this message (in lower
/// case). It is the model's maximum, or the room that the prompt leaves, if the message states it,
/// and otherwise half of `asked`, which the caller lowers again if it is refused too. `None` if
/// fewer than `least` tokens remain, because the prompt itself is too long.
pub(super) fn lower(words: &str, asked: u32, least: u64) -> Option<LowerLimit> {
    let asked = u64::from(asked);
    let numbers = numbers(words);
    // Words about a prompt. If there are none, a number is the model's own maximum.
    let about = [
        "input tokens", "inputs", "input length", "input messages", "text input", "prompt",
        "messages", "requested", "context length", "context limit", "minute",
    ];
    let is_maximum = !about.iter().any(|word| words.contains(word));
    let stated = if is_maximum {
        numbers
            .iter()
            .filter(|it| (least..asked).contains(it))
            .max()
            .copied()
    } else {
        tokens_left_for_output(words, &numbers, asked)
    };
    let is_maximum = is_maximum && stated.is_some();
    // If the message says `at least`, the length of the prompt is not known.
    let stated = stated.filter(|room| *room < asked && !words.contains("at least"));
    let half = (asked / 2).max(least);
    let tokens = stated.unwrap_or(half);
    (least..asked).contains(&tokens).then(|| LowerLimit {
        // Below `asked`, which is a `u32`, so the conversion cannot fail.
        tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        is_maximum,
    })
}

/// The number of tokens that the prompt leaves for the output: the limit of both together minus the
/// prompt, or minus the requested total without its output `asked`. `None` if the message does not
/// state these numbers.
fn tokens_left_for_output(words: &str, numbers: &[u64], asked: u64) -> Option<u64> {
    let mut others = numbers.to_vec();
    if let Some(at) = others.iter().position(|number| *number == asked) {
        others.remove(at);
    }
    // If the message states the requested total, the prompt is that total minus the output.
    let requested = words.rsplit_once("requested");
    let total = requested.and_then(|(_, rest)| self::numbers(rest).first().copied());
    if let Some(total) = total.filter(|total| *total > asked) {
        let prompt = total - asked;
        let limits = others.iter().filter(|it| **it < total && **it != prompt);
        return Some(limits.max()?.saturating_sub(prompt));
    }
    // Otherwise, the largest number that is not a total is the limit, and the largest number below
    // it is the prompt.
    let is_total = |number: u64| others.contains(&number.saturating_sub(asked));
    let parts = others.iter().filter(|number| !is_total(**number));
    let limit = parts.clone().max()?;
    let prompt = parts.filter(|number| *number < limit).max()?;
    Some(limit - prompt)
}

/// The whole numbers in a text that are not part of a name. An exclusive limit is reduced by one.
fn numbers(text: &str) -> Vec<u64> {
    static GROUPED: Pattern = pattern!(r"\b\d{1,3}(?:,\d{3})+\b");
    static BELOW: Pattern = pattern!(r"\b(\d+) \(exclusive\)");
    let text = GROUPED.replace_all(text, |it: &Captures<'_>| {
        it.get_match().as_str().replace(',', "")
    });
    let text = BELOW.replace_all(&text, |limit: &Captures<'_>| {
        let limit = limit.get(1).and_then(|it| it.as_str().parse::<u64>().ok());
        // A number that is too large for `u64` becomes 0.
        limit.unwrap_or_default().saturating_sub(1).to_string()
    });
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c)));
    words
        .filter_map(|word| word.trim_end_matches('.').parse().ok())
        .collect()
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "tables of cases")]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_what_the_words_of_each_server_leave() {
        let together = |tokens| {
            Some(LowerLimit {
                tokens,
                is_maximum: false,
            })
        };
        let maximum = |tokens| {
            Some(LowerLimit {
                tokens,
                is_maximum: true,
            })
        };
        for (words, lower_limit) in [
            (
                "request too large for model llama-3.1-8b-instant in organization org_01 service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 7114, please reduce",
                together(2982),
            ),
            (
                "Request too large for gpt-4o on tokens per min (TPM): Limit 30,000, Requested 33,096.",
                together(1000),
            ),
            (
                "Limit 6000, Requested 12328, please reduce your message size",
                None,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9096 tokens (5000 in the messages, 4096 in the completion).",
                together(3192),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 13096 tokens (9000 in the messages, 4096 in the completion).",
                None,
            ),
            // The limit of a million was read as 1 and 48.
            (
                "This model's maximum context length is 1,048,576 tokens. However, you requested 1,050,624 tokens (1,046,528 in the messages, 4,096 in the completion).",
                together(2048),
            ),
            (
                "This endpoint's maximum context length is 8192 tokens. However, you requested about 9096 tokens (5000 of text input, 4096 in the output).",
                together(3192),
            ),
            (
                "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9096 tokens: 5000 tokens from the input messages and 4096 tokens for the completion.",
                together(3192),
            ),
            (
                "input length and max_tokens exceed context limit: 198000 + 4096 > 200000, decrease input length",
                together(2000),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 900 input tokens (4096 > 4096 - 900).",
                together(3196),
            ),
            (
                "inputs tokens + max_new_tokens must be <= 4608. Given: 1000 inputs tokens and 4096 max_new_tokens",
                together(3608),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 4096 output tokens and your prompt contains at least 4097 input tokens, for a total of at least 8193 tokens.",
                together(2048),
            ),
            (
                "reduce the length of the messages or completion",
                together(2048),
            ),
            (
                "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.",
                maximum(2048),
            ),
            (
                "max_tokens: 4096 > 2000, which is the maximum allowed number of output tokens for claude-haiku-4-5-20251001",
                maximum(2000),
            ),
            (
                "max_tokens must be less than or equal to 1024, the maximum value for max_tokens is less than the context_window for this model",
                maximum(1024),
            ),
            (
                "invalid max_tokens value, the valid range of max_tokens is [1, 2000]",
                maximum(2000),
            ),
            ("range of max_tokens should be [1,2000]", maximum(2000)),
            (
                "expected a value <= 2048, but got 4096 instead",
                maximum(2048),
            ),
            (
                "it has a maxOutputTokens value of 4096 but the supported range is from 1 (inclusive) to 2049 (exclusive)",
                maximum(2048),
            ),
            (
                "Malformed input request: #/max_tokens: 4096 is not less or equal to 2000, please reformat your input",
                maximum(2000),
            ),
            ("max_tokens is too high", together(2048)),
            // JSON that quotes another server's error does not mean the messages of a prompt.
            (
                r#"litellm.BadRequestError: AnthropicException - {"type": "error", "error": {"message": "max_tokens: 4096 > 2000, which is the maximum"}}"#,
                maximum(2000),
            ),
        ] {
            let found = lower(&words.to_lowercase(), 4096, LEAST);
            assert_eq!(found, lower_limit, "{words}");
        }
        assert_eq!(lower("too much", 300, LEAST), together(256));
        assert_eq!(lower("too much", 256, LEAST), None);
        assert_eq!(lower("too much", 100, 1), together(50));
    }
}
