//! Scores conversations: how many are right in every turn, and how often another error follows an
//! error.

use std::collections::HashMap;

use serde::Serialize;

use super::row::{Row, name_hash};
use super::rule::Rule;
use finqa_core::stats::{Rate, RateTally};

/// Accuracy over conversations, by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationCard {
    pub rule: Rule,
    /// Conversations with at least one turn that has gold.
    pub conversations: usize,
    /// The number of these conversations in which a turn has no row. An interrupted run can leave
    /// such conversations.
    pub incomplete: usize,
    /// The rate of conversations in which every turn is right. Incomplete conversations are left
    /// out.
    pub whole: Option<Rate>,
    /// The probability that a turn is right if the previous turn is right.
    pub right_after_right: Option<Rate>,
    /// The probability that a turn is right if the previous turn is wrong.
    pub right_after_wrong: Option<Rate>,
    /// The number of wrong turns.
    pub errors: usize,
    /// The number of wrong turns that follow an earlier wrong turn of their conversation.
    pub errors_after_an_error: usize,
}

/// A turn that the rule can judge.
#[derive(Debug)]
struct ScoredTurn {
    number: usize,
    /// Hashes of the page and of the question.
    group: (u64, u64),
    right: bool,
}

/// The turns of a conversation in one epoch.
#[derive(Debug, Default)]
struct ConversationMarks {
    turns: Vec<ScoredTurn>,
    /// The number of turns with a row.
    asked: usize,
    /// The number of turns of the conversation, as far as its rows tell.
    length: usize,
}

impl ConversationMarks {
    /// True if every turn has a row. An interrupted run may lack some.
    fn is_complete(&self) -> bool {
        self.asked == self.length
    }
}

/// Counts rows one by one. A conversation is closed and forgotten once all its turns have a row.
#[derive(Debug, Default)]
pub(super) struct ConversationTally {
    rule: Rule,
    /// The unfinished conversations by the hash of the record's id and the epoch.
    open: HashMap<(u64, u32), ConversationMarks>,
    conversations: usize,
    incomplete: usize,
    whole: RateTally,
    after_right: RateTally,
    after_wrong: RateTally,
    errors: usize,
    first_errors: usize,
}

impl ConversationTally {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// Counts a row, if it is a turn.
    pub(super) fn add(&mut self, row: &Row) {
        let Some(number) = row.turn() else { return };
        let key = (name_hash(&row.key.id), row.epoch);
        let conversation = self.open.entry(key).or_default();
        conversation.asked += 1;
        // A file may not say how many turns there are, so count at least up to this one.
        let length = row.turns.unwrap_or(0).max(number + 1);
        conversation.length = conversation.length.max(length);
        if let Some(right) = self.rule.mark(row) {
            let group = row.group();
            conversation.turns.push(ScoredTurn {
                number,
                group,
                right,
            });
            self.errors += usize::from(!right);
        }
        // Close a conversation early only for a run. A file may contain a turn twice, or may not
        // say how many turns there are.
        let is_over = row.turns.is_some() && row.cells.is_none() && conversation.is_complete();
        if is_over && let Some(conversation) = self.open.remove(&key) {
            self.close(key.0, conversation);
        }
    }

    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Counts a conversation. Without a turn that the rule can judge, it is not counted.
    fn close(&mut self, record: u64, mut conversation: ConversationMarks) {
        // A file can have the turns in any order.
        conversation.turns.sort_by_key(|turn| turn.number);
        let turns = &conversation.turns;
        let Some(first) = turns.first() else { return };
        let right = turns.iter().all(|turn| turn.right);
        self.conversations += 1;
        self.first_errors += usize::from(!right);
        if conversation.is_complete() {
            self.whole.add((first.group.0, record), right);
        } else {
            self.incomplete += 1;
        }
        for (before, turn) in turns.iter().zip(turns.iter().skip(1)) {
            if before.number + 1 == turn.number {
                let after = if before.right {
                    &mut self.after_right
                } else {
                    &mut self.after_wrong
                };
                after.add(turn.group, turn.right);
            }
        }
    }

    /// The card; `None` if no row is a turn with gold for the rule.
    pub(super) fn finish(mut self) -> Option<ConversationCard> {
        for ((record, _), conversation) in std::mem::take(&mut self.open) {
            self.close(record, conversation);
        }
        (self.conversations > 0).then(|| ConversationCard {
            rule: self.rule,
            conversations: self.conversations,
            incomplete: self.incomplete,
            whole: self.whole.rate(),
            right_after_right: self.after_right.rate(),
            right_after_wrong: self.after_wrong.rate(),
            errors: self.errors,
            errors_after_an_error: self.errors - self.first_errors,
        })
    }
}
