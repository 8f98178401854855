//! Decides whether the model that answered is the model that was asked for.

/// True if `served` can be a name of the model `asked`. It is the same name, possibly with or
/// without its vendor's path (`openai/gpt-4o`), the date or number of its version
/// (`gpt-4o-2024-08-06`, `grok-4-0709`, `gemini-2.0-flash-001`, `claude-sonnet-4@20250514`),
/// `latest`, or a tag that only `asked` has.
pub(super) fn is_same_model(asked: &str, served: &str) -> bool {
    let [asked, served] = [asked, served].map(|name| name.trim().to_lowercase());
    let [asked, served] = [format!("/{asked}"), format!("/{served}")];
    // Both begin with a slash, so the default is never used.
    let [(asked_path, asked), (served_path, served)] =
        [&asked, &served].map(|name| name.rsplit_once('/').unwrap_or_default());
    // A name without a tag means `latest`: `llama3.2` is `llama3.2:latest`.
    let [(asked, asked_tag), (served, served_tag)] =
        [asked, served].map(|name| name.split_once(':').unwrap_or((name, "latest")));
    let [(asked, asked_version), (served, served_version)] = [asked, served].map(family);
    [(asked_path, served_path), (served_path, asked_path)]
        .iter()
        .any(|(long, short)| long.ends_with(short))
        && (asked_tag == served_tag || served_tag == "latest")
        && asked == served
        && (asked_version == served_version
            || asked_version.is_empty()
            || served_version.is_empty())
}

/// Splits a name into the name without its version, and the version. The version is empty for
/// `latest`.
fn family(name: &str) -> (&str, &str) {
    if let Some(family) = name.strip_suffix("-latest") {
        return (family, "");
    }
    // The first number may be part of the name: `gpt-4-0613`.
    let mut starts = name.match_indices(['-', '@']);
    let found = starts.find_map(|(at, _)| {
        let (family, version) = (name.get(..at)?, name.get(at + 1..)?);
        let is_number = version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
        // Groups of digits as in the examples above. Shorter numbers belong to the name.
        let lengths: Vec<usize> = version.split('-').map(str::len).collect();
        let is_version = is_number && matches!(lengths[..], [3 | 4 | 6 | 8] | [4, 2, 2]);
        is_version.then_some((family, version))
    });
    found.unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_a_path_and_a_tag_make_no_other_model_and_another_size_does() {
        for (asked, served) in [
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4", "gpt-4-0613"),
            ("GPT-4o", "gpt-4o"),
            ("grok-4", "grok-4-0709"),
            ("gemini-2.0-flash", "models/gemini-2.0-flash-001"),
            ("openai/gpt-4o", "gpt-4o-2024-08-06"),
            ("openrouter/openai/gpt-4o", "openai/gpt-4o"),
            ("claude-sonnet-4", "claude-sonnet-4@20250514"),
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
            ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
            ("mistral-large-latest", "mistral-large-2411"),
            ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
            ("llama3.2", "llama3.2:latest"),
            ("llama3.2:1b", "llama3.2:1b"),
            ("m", "m"),
        ] {
            assert!(is_same_model(asked, served), "{asked} {served}");
        }
        for (asked, served) in [
            ("gpt-4o", "gpt-4o-mini"),
            ("gpt-4o", "gpt-4o-mini-2024-07-18"),
            ("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"),
            ("gpt-4", "gpt-4-32k-0613"),
            ("claude-3", "claude-3-5"),
            ("llama-3", "llama-3-70"),
            ("llama3.2:1b", "llama3.2:3b"),
            ("llama3.2", "llama3.2:1b"),
            ("meta/llama-3-8b", "other/llama-3-8b"),
            ("grok-4", "grok-3-0709"),
            ("m", "qwen2.5-coder.gguf"),
            ("", "m"),
        ] {
            assert!(!is_same_model(asked, served), "{asked} {served}");
        }
    }
}
