//! The earlier turns of a conversation. They are read again from their questions and programs, so
//! that the analyst's own history and a given one are treated alike.

use finqa_core::question::HistoryEntry;

use super::mention::is_name;
use super::slot_scorer::{SlotQuery, SlotScorer};
use super::slot_words::weighted;
use super::wording::Wording;
use crate::expr::{Expr, alike_but_for_signs};
use crate::reading::facts::Facts;
use finqa_core::program::Op;

/// An earlier turn: its question and its answer.
#[derive(Clone, Debug)]
pub(crate) struct EarlierTurn {
    pub asked: Wording,
    /// Its program, or its value if it has no program that can be parsed.
    pub(crate) expr: Expr,
    /// The facts of its literals from left to right, each once, as indices into `Facts::all`.
    pub(crate) facts: Vec<usize>,
    /// The words of its question with their weights. For a question that names no quantity, such as
    /// "and in 2012?", those of the turn before, if there is one.
    pub words: Vec<(u32, f64)>,
    /// The years of its question, or those of its facts if the question names none.
    pub(crate) years: Vec<u16>,
}

impl EarlierTurn {
    /// Reads a turn; `None` without a program or number. What its question leaves out is taken from
    /// `before`, the turn before it.
    fn read(facts: &Facts, entry: &HistoryEntry, before: Option<&Self>) -> Option<Self> {
        let program = entry.program.as_deref().and_then(Expr::parse);
        let value = || Expr::literal(&entry.value.as_ref()?.to_string());
        let mut expr = program.or_else(value)?;
        let asked = Wording::read(&facts.written(&entry.question));
        let (mut words, _) = weighted(facts, &asked.tokens);
        let bare = is_bare(&asked);
        if bare && let Some(before) = before {
            words.clone_from(&before.words);
        }
        let mut years = asked.years.clone();
        let query = SlotQuery {
            words: words.clone(),
            years: years.clone(),
            anchors: before.map_or(&[][..], |turn| &turn.facts).into(),
            bare,
            ..SlotQuery::default()
        };
        let used = locate(facts, &mut expr, &query);
        if years.is_empty() {
            let of_page = used.iter().filter_map(|i| facts.all.get(*i));
            years = of_page.flat_map(|fact| fact.years.to_vec()).collect();
            // Drops only repeats side by side, and keeps the order of the facts.
            years.dedup();
        }
        Some(Self {
            asked,
            expr,
            facts: used,
            words,
            years,
        })
    }

    /// True if the turn's answer is a value of the page, possibly multiplied by a constant.
    pub(crate) fn is_look_up(&self) -> bool {
        match self.expr.top() {
            None => true,
            Some((op, a, b)) => op == Op::Multiply && a.top().is_none() && b.is_constant(),
        }
    }

    /// True if its question has this word of the page.
    pub(crate) fn names(&self, word: u32) -> bool {
        self.words.iter().any(|(known, _)| *known == word)
    }

    /// The score of the fact that fits the turn's question best, minus the score of the worst fact
    /// that the turn used. A large difference suggests that the turn was answered with a wrong
    /// fact.
    pub(crate) fn misfit(&self, facts: &Facts) -> f64 {
        let query = SlotQuery {
            words: self.words.clone(),
            years: self.years.clone(),
            ..SlotQuery::default()
        };
        let mut scorer = SlotScorer::new(facts, &query);
        let all = facts.all.iter().enumerate();
        let fits: Vec<f64> = all.map(|(i, fact)| scorer.score(fact, i)).collect();
        let best = fits.iter().copied().fold(f64::MIN, f64::max);
        let used = self.facts.iter().filter_map(|i| fits.get(*i));
        used.map(|fit| best - fit).fold(0.0, f64::max)
    }

    /// True if the last step of its program is this operation.
    pub(crate) fn ends_in(&self, op: Op) -> bool {
        self.expr.top().is_some_and(|(top, _, _)| top == op)
    }
}

/// The earlier turns, oldest first. Turns without a program or number are left out.
pub(crate) fn earlier_turns(facts: &Facts, history: &[HistoryEntry]) -> Vec<EarlierTurn> {
    let mut out: Vec<EarlierTurn> = Vec::new();
    for entry in history {
        out.extend(EarlierTurn::read(facts, entry, out.last()));
    }
    out
}

/// Number of look-ups after the last calculation.
pub(crate) fn latest_look_ups(turns: &[EarlierTurn]) -> usize {
    let latest = turns.iter().rev();
    latest.take_while(|turn| turn.is_look_up()).count()
}

/// True if a question names no quantity, only years, pronouns and operations: "and in 2012?".
pub(crate) fn is_bare(asked: &Wording) -> bool {
    !asked.tokens.iter().any(is_name)
}

/// Finds the facts of an expression's literals, ignoring signs. If several facts have the same
/// literal, the one that fits the turn's question best is used; on a tie, the last.
fn locate(facts: &Facts, expr: &mut Expr, query: &SlotQuery) -> Vec<usize> {
    let mut scorer = SlotScorer::new(facts, query);
    let mut found = Vec::new();
    expr.change_leaves(&mut |leaf| {
        if leaf.is_constant() {
            return;
        }
        let all = facts.all.iter().enumerate();
        let alike = all.filter(|(_, f)| alike_but_for_signs(&f.literal, &leaf.literal));
        let scored = alike.map(|(i, f)| (i, scorer.score(f, i)));
        if let Some((i, _)) = scored.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
            leaf.source = Some(i);
            if !found.contains(&i) {
                found.push(i);
            }
        }
    });
    found
}
