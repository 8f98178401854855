//! What only turns can tell: where in a conversation answers go wrong, and
//! whether one error brings the next.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::dataset::RecordKind;

use super::card::Rule;
use super::marks::RowMarks;
use finqa_core::stats::Rate;

/// A rate over some of the turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationRate {
    /// Which: `0`, `look_up`, `double`, …
    pub name: String,
    /// Their rate.
    #[serde(flatten)]
    pub rate: Rate,
}

/// Accuracy over conversations, by one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationCard {
    /// The rule.
    #[serde(serialize_with = "rule_name")]
    pub rule: Rule,
    /// Conversations with at least one turn that has gold.
    pub conversations: usize,
    /// Of these, without a row for each of their turns, as an interrupted run
    /// leaves them.
    pub incomplete: usize,
    /// Conversations all of whose turns are right; the incomplete ones do not count.
    pub whole: Option<Rate>,
    /// By turn number, from 0.
    pub by_turn: Vec<ConversationRate>,
    /// By what the turn takes: `look_up`, `one_step`, `more_steps`.
    pub by_effort: Vec<ConversationRate>,
    /// `single` and `double`.
    pub by_kind: Vec<ConversationRate>,
    /// P(right | the previous turn is right).
    pub right_after_right: Option<Rate>,
    /// P(right | the previous turn is wrong).
    pub right_after_wrong: Option<Rate>,
    /// Wrong turns.
    pub errors: usize,
    /// Of these, with a wrong turn somewhere before them in the conversation.
    pub errors_after_an_error: usize,
}

fn rule_name<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.name())
}

/// A turn with its mark.
struct JudgedTurn<'r> {
    row: &'r RowMarks,
    number: usize,
    right: bool,
}

impl JudgedTurn<'_> {
    fn marked(&self) -> (u64, u64, bool) {
        (self.row.page, self.row.question, self.right)
    }
}

/// One pass over a conversation.
#[derive(Default)]
struct ConversationMarks<'r> {
    /// The turns that the rule can judge.
    turns: Vec<JudgedTurn<'r>>,
    /// How many turns have a row.
    asked: usize,
    /// How many turns it has, as far as its rows tell.
    length: usize,
}

impl ConversationMarks<'_> {
    /// Whether every turn of it was asked: an interrupted run leaves some out.
    fn is_complete(&self) -> bool {
        self.asked == self.length
    }
}

impl ConversationCard {
    /// The card by a rule; `None` if no row is a turn with gold for it.
    #[must_use]
    pub(crate) fn of(rule: Rule, rows: &[RowMarks]) -> Option<Self> {
        let mut conversations: BTreeMap<(u64, u32), ConversationMarks<'_>> = BTreeMap::new();
        for row in rows {
            let Some(number) = row.turn else { continue };
            let conversation = conversations.entry((row.record, row.epoch)).or_default();
            conversation.asked += 1;
            let length = row.turns.unwrap_or(0).max(number + 1);
            conversation.length = conversation.length.max(length);
            if let Some(right) = row.mark(rule) {
                conversation.turns.push(JudgedTurn { row, number, right });
            }
        }
        conversations.retain(|_, conversation| !conversation.turns.is_empty());
        if conversations.is_empty() {
            return None;
        }
        for conversation in conversations.values_mut() {
            conversation.turns.sort_by_key(|turn| turn.number);
        }
        let turns = || conversations.values().flat_map(|c| &c.turns);
        let after = |previous_right: bool| {
            let pairs = conversations
                .values()
                .flat_map(|c| c.turns.iter().zip(c.turns.iter().skip(1)));
            Rate::of(
                pairs
                    .filter(|(a, b)| a.right == previous_right && a.number + 1 == b.number)
                    .map(|(_, b)| b.marked()),
            )
        };
        let complete = conversations.values().filter(|c| c.is_complete());
        let whole = complete.clone().filter_map(|conversation| {
            let first = conversation.turns.first()?.row;
            let right = conversation.turns.iter().all(|turn| turn.right);
            Some((first.page, first.record, right))
        });
        let errors = turns().filter(|turn| !turn.right).count();
        let first_errors = conversations
            .values()
            .filter(|conversation| conversation.turns.iter().any(|turn| !turn.right))
            .count();
        Some(Self {
            rule,
            conversations: conversations.len(),
            incomplete: conversations.len() - complete.count(),
            whole: Rate::of(whole),
            by_turn: slices(turns(), |turn| Some(turn.number)),
            by_effort: slices(turns(), |turn| {
                let effort = turn.row.effort;
                effort.map(|effort| OrderedName(effort, effort.name()))
            }),
            by_kind: slices(turns(), |turn| {
                turn.row.kind.map(|kind| match kind {
                    RecordKind::Single => OrderedName(0, "single"),
                    RecordKind::Double => OrderedName(1, "double"),
                })
            }),
            right_after_right: after(true),
            right_after_wrong: after(false),
            errors,
            errors_after_an_error: errors - first_errors,
        })
    }
}

/// Ordered by the first, shown as the second.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct OrderedName<T>(T, &'static str);

impl<T> std::fmt::Display for OrderedName<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.1)
    }
}

fn slices<'t, 'r: 't, K: Ord + ToString>(
    turns: impl Iterator<Item = &'t JudgedTurn<'r>>,
    key: impl Fn(&JudgedTurn<'r>) -> Option<K>,
) -> Vec<ConversationRate> {
    let mut groups: BTreeMap<K, Vec<(u64, u64, bool)>> = BTreeMap::new();
    for turn in turns {
        if let Some(key) = key(turn) {
            groups.entry(key).or_default().push(turn.marked());
        }
    }
    groups
        .into_iter()
        .filter_map(|(key, marks)| {
            Some(ConversationRate {
                name: key.to_string(),
                rate: Rate::of(marks)?,
            })
        })
        .collect()
}
