//! Collects notes for the user about the replies of a run. Examples are prompts that the server
//! truncated, and a reply by another model than the requested one. Each note appears once.

use std::collections::{BTreeMap, BTreeSet};

use finqa_agents::llm::{ChatReply, FinishReason, Role};
use finqa_agents::pair::Call;
use finqa_core::text::{counted, grouped, one_line};

/// Minimum number of suspicious replies for a note that a server truncates prompts. Set by hand:
/// one or two may be chance.
const ENOUGH: usize = 3;

/// Bytes of a prompt for which every tokenizer is assumed to need at least one token. Set by hand,
/// well above the 3 to 5 bytes that `--dry-run` assumes.
const MOST_BYTES_PER_TOKEN: usize = 12;

/// No further notes are collected once there are this many. Set by hand.
const MOST_LINES: usize = 20;

/// Collects notes from the calls of a run.
#[derive(Debug, Default)]
pub struct ReplyNotes {
    lines: BTreeSet<String>,
    replies: usize,
    /// For each agent and number of input tokens that the server reports: how many prompts have
    /// that number, and the bytes of the shortest and the longest of them. Impossibly small numbers
    /// are counted together, under 0.
    prompts: BTreeMap<(String, u64), (usize, usize, usize)>,
}

impl ReplyNotes {
    /// Collects the notes of a call. A call without a reply has none.
    pub fn add(&mut self, call: &Call) {
        let Some(reply) = &call.reply else { return };
        self.replies += 1;
        // Limited, so that a text of the server that changes with every reply does not add a line
        // for each.
        if self.lines.len() < MOST_LINES {
            self.lines.extend(notes_of_reply(reply));
        }
        // Later calls of an episode are recorded without their earlier messages, so the size of
        // their prompts is unknown.
        let is_whole = call
            .messages
            .first()
            .is_some_and(|it| it.role == Role::System);
        let tokens = reply.usage.map(|usage| usage.input_tokens);
        if let Some(tokens) = tokens.filter(|tokens| is_whole && *tokens > 0) {
            let bytes: usize = call.messages.iter().map(|it| it.content.len()).sum();
            let is_few = (bytes / MOST_BYTES_PER_TOKEN) as u64 > tokens;
            let key = (
                agent(&call.node).to_owned(),
                if is_few { 0 } else { tokens },
            );
            let prompts = self.prompts.entry(key).or_insert((0, bytes, bytes));
            *prompts = (prompts.0 + 1, prompts.1.min(bytes), prompts.2.max(bytes));
        }
    }

    /// The notes, each in one line without a full stop.
    pub fn lines(self) -> Vec<String> {
        let cut = self.cut_line();
        cut.into_iter().chain(self.lines).collect()
    }

    /// The note that the server seems to truncate prompts. Servers such as Ollama drop the front of
    /// a prompt that is too long and count the rest, so prompts of different lengths have the same
    /// token count. Counts are compared only if the longest prompt is at least 30 % longer than the
    /// shortest. Among many replies, a few have equal counts by chance, so a hundredth of all
    /// replies is required. Both shares are set by hand. Impossibly small counts are never chance,
    /// so [`ENOUGH`] of them suffice. `None` if no prompts seem to be truncated.
    fn cut_line(&self) -> Option<String> {
        let enough = ENOUGH.max(self.replies / 100);
        let is_cut = |tokens: u64, (replies, shortest, longest): (usize, usize, usize)| match tokens
        {
            0 => replies >= ENOUGH,
            _ => replies >= enough && longest * 10 >= shortest * 13,
        };
        let mut prompts = self.prompts.iter();
        let ((_, tokens), (replies, shortest, longest)) =
            prompts.find(|((_, tokens), prompts)| is_cut(*tokens, **prompts))?;
        let count = match tokens {
            0 => format!("fewer than one input token for {MOST_BYTES_PER_TOKEN} bytes"),
            tokens => format!("{} input tokens each", grouped(*tokens)),
        };
        let [shortest, longest] = [shortest, longest].map(|bytes| grouped(*bytes as u64));
        Some(format!(
            "the server seems to cut prompts: {} to prompts of {shortest} to {longest} bytes \
             count {count}; raise its context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH, \
             llama.cpp: -c, vLLM: --max-model-len)",
            counted(*replies, "reply")
        ))
    }
}

/// The agent of a node: `analyst` for `analyst_reask` and `analyst#2`.
pub fn agent(node: &str) -> &str {
    node.split(['_', '#']).next().unwrap_or(node)
}

/// A server's text, cut to 60 characters and without line breaks. Notes are shown in a terminal,
/// and are comments in `config.toml`, which a line break would end.
fn named(word: &str) -> String {
    one_line(word, 60)
}

/// The notes on a single reply: an unknown finish reason, another model, a service tier without a
/// price, contradictory token counts, and parameters that the model does not support.
fn notes_of_reply(reply: &ChatReply) -> impl Iterator<Item = String> {
    let word = match &reply.finish {
        FinishReason::Other(word) if !reply.finish.is_failure() => Some(named(word)),
        _ => None,
    };
    let word = word.map(|word| {
        let which = if word.is_empty() {
            "no".to_owned()
        } else {
            format!("the unknown `{word}` as")
        };
        format!("replies have {which} finish_reason; those that are complete are used")
    });
    let (model, tier) = (named(&reply.model), reply.unlisted_tier().map(named));
    let other = reply.asked_model.as_ref();
    let other = other.map(|asked| format!("`{model}` answered, and `{asked}` was asked for"));
    let tier = tier.map(|tier| format!("the prices do not list the service tier `{tier}`"));
    let doubt = "the server's token counts contradict each other: they are the least that fits";
    let doubt = reply.is_usage_doubtful.then(|| doubt.to_owned());
    let left_out = reply.left_out.iter();
    let left_out = left_out.map(|name| format!("{name} not sent: the model does not support it"));
    let lines = [word, other, tier, doubt].into_iter().flatten();
    lines.chain(left_out).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These texts were once shown as the server sent them, and a line break in one of them ended
    /// the comment in `config.toml`.
    #[test]
    fn words_of_a_server_stay_on_their_line_without_control_characters() {
        let reply = ChatReply {
            finish: FinishReason::Other("odd\n[model]\u{1b}]0;x\u{7}".to_owned()),
            model: "m\u{1b}[2J\nn".to_owned(),
            asked_model: Some("m".to_owned()),
            ..ChatReply::default()
        };
        let found: Vec<String> = notes_of_reply(&reply).collect();
        assert_eq!(found.len(), 2);
        for line in found {
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}
