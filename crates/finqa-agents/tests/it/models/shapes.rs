//! Replies in shapes of other servers: where an answer may be, what an event stream is made of,
//! how a body is compressed, which words end a generation, and what was hidden.

use std::io::Write as _;

use super::*;

/// 74,000 tokens that were not counted let $1.11 pass a limit of $0.30.
#[tokio::test]
async fn hidden_output_is_counted_wherever_its_field_stands() {
    let usage = |more: serde_json::Value| {
        let mut usage =
            json!({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100});
        usage
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        usage
    };
    for more in [
        json!({"reasoning_tokens": 73_997, "citation_tokens": 20_016}),
        json!({"thoughtsTokenCount": 73_997}),
        json!({"output_tokens_details": {"reasoning_tokens": 73_997}}),
        json!({"completion_tokens_details": {"thinking_tokens": 73_997}}),
    ] {
        let reply = Reply::chat("42").with_usage(usage(more.clone()));
        let reply = one(reply).await.0.unwrap();
        let usage = reply.usage.unwrap();
        assert_eq!(usage.output_tokens, 74_097, "{more}");
        assert!(reply.is_usage_doubtful, "{more}");
    }
    // More from the cache than was read.
    for more in [
        json!({"total_tokens": 1100, "prompt_tokens_details": {"cached_tokens": 9000}}),
        json!({"total_tokens": 1100, "prompt_cache_hit_tokens": 9000}),
        json!({"total_tokens": 1100, "cache_creation_input_tokens": 9000}),
    ] {
        let reply = Reply::chat("42").with_usage(usage(more.clone()));
        assert!(one(reply).await.0.unwrap().is_usage_doubtful, "{more}");
    }
}
