//! The conversation so far: the earlier turns, parsed again from their questions and
//! programs, so that our own history and a given one work alike.

use finqa_core::question::HistoryEntry;

use super::slot_words::weighted;
use super::slots::{SlotQuery, SlotScorer};
use super::wording::Wording;
use crate::expr::{Expr, alike_but_for_signs};
use crate::reading::facts::Facts;
use crate::reading::text::TokenKind;
use crate::reading::words::{is_stop, is_weak};
use finqa_core::program::Op;

#[derive(Clone, Debug)]
pub(crate) struct EarlierTurn {
    pub asked: Wording,
    /// Its result, as an expression.
    pub(crate) expr: Expr,
    /// The facts of its literals, left to right.
    pub(crate) facts: Vec<usize>,
    /// Its content words, or those of the turn before if it has none.
    pub words: Vec<(u32, f64)>,
    pub(crate) years: Vec<u16>,
}

impl EarlierTurn {
    /// A plain value read from the page.
    pub(crate) fn is_look_up(&self) -> bool {
        match &self.expr {
            Expr::Leaf(_) => true,
            Expr::Step(Op::Multiply, a, b) => {
                matches!((&**a, &**b), (Expr::Leaf(_), Expr::Leaf(c)) if c.is_constant())
            }
            Expr::Step(..) => false,
        }
    }

    /// `subtract(a, b)` as a difference of two amounts.
    pub(crate) fn difference(&self) -> Option<(&Expr, &Expr)> {
        match self.expr.top() {
            Some((Op::Subtract, a, b)) => Some((a, b)),
            _ => None,
        }
    }

    /// How far the worst of its facts is behind the one that fits its question best.
    pub(crate) fn behind(&self, facts: &Facts) -> f64 {
        let query = SlotQuery {
            words: self.words.clone(),
            years: self.years.clone(),
            ..SlotQuery::default()
        };
        let mut scorer = SlotScorer::new(facts, &query);
        let mut fit = |index: usize| {
            let fact = facts.all.get(index);
            fact.map_or(f64::MIN, |fact| scorer.score(fact, index))
        };
        let best = (0..facts.all.len()).map(&mut fit).fold(f64::MIN, f64::max);
        let worst = self.facts.iter().map(|index| fit(*index));
        worst.map(|fit| best - fit).fold(0.0, f64::max)
    }

    pub(crate) fn ends_in(&self, op: Op) -> bool {
        self.expr.top().is_some_and(|(top, _, _)| top == op)
    }
}

/// The earlier turns, oldest first; turns without a readable value are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierTurns {
    pub turns: Vec<EarlierTurn>,
}

impl EarlierTurns {
    pub(crate) fn read(facts: &Facts, history: &[HistoryEntry]) -> Self {
        let mut state = Self::default();
        for entry in history {
            state.push(facts, entry);
        }
        state
    }

    /// The years of all turns.
    pub(crate) fn years(&self) -> Vec<u16> {
        let years = self.turns.iter().flat_map(|turn| turn.years.iter());
        years.copied().collect()
    }

    /// The look-ups since the last calculation, the latest first.
    pub(crate) fn latest_look_ups(&self) -> Vec<&EarlierTurn> {
        let latest = self.turns.iter().rev();
        latest.take_while(|turn| turn.is_look_up()).collect()
    }

    fn push(&mut self, facts: &Facts, entry: &HistoryEntry) {
        let program = entry.program.as_deref().and_then(Expr::parse);
        let value = || {
            entry
                .value
                .as_ref()
                .and_then(|v| Expr::literal(&v.to_string()))
        };
        let Some(mut expr) = program.or_else(value) else {
            return;
        };
        let asked = Wording::read(&facts.written(&entry.question));
        let (mut words, _) = weighted(facts, &asked.tokens);
        let bare = is_bare(&asked);
        if bare && let Some(last) = self.turns.last() {
            words.clone_from(&last.words);
        }
        let mut years = asked.years.clone();
        let query = SlotQuery {
            words: words.clone(),
            years: years.clone(),
            anchors: self.turns.last().map_or(&[][..], |t| &t.facts).into(),
            elliptical: bare,
            ..SlotQuery::default()
        };
        let mut found = Vec::new();
        locate(facts, &mut expr, &query, &mut found);
        if years.is_empty() {
            years = found
                .iter()
                .filter_map(|i| facts.all.get(*i))
                .flat_map(|f| f.years.iter().copied())
                .collect();
            years.dedup();
        }
        self.turns.push(EarlierTurn {
            asked,
            expr,
            facts: found,
            words,
            years,
        });
    }

    pub(crate) fn last(&self) -> Option<&EarlierTurn> {
        self.turns.last()
    }

    /// The `k`-th turn from the end, 0 the last.
    pub(crate) fn back(&self, k: usize) -> Option<&EarlierTurn> {
        self.turns
            .len()
            .checked_sub(k + 1)
            .and_then(|i| self.turns.get(i))
    }

    /// The latest turn that ends in an operation.
    pub(crate) fn latest(&self, op: Op) -> Option<&EarlierTurn> {
        self.turns.iter().rev().find(|turn| turn.ends_in(op))
    }

    pub(crate) fn last_difference(&self) -> Option<&EarlierTurn> {
        self.turns.iter().rev().find(|t| t.difference().is_some())
    }

    /// All facts used so far, the latest last.
    pub(crate) fn anchors(&self) -> Vec<usize> {
        self.turns
            .iter()
            .flat_map(|t| t.facts.iter().copied())
            .collect()
    }
}

/// Whether a question names nothing but years, pronouns and operations.
pub(crate) fn is_bare(asked: &Wording) -> bool {
    !asked
        .tokens
        .iter()
        .any(|t| t.kind == TokenKind::Word && !is_stop(&t.text) && !is_weak(&t.text))
}

/// Finds the facts of an expression's literals.
fn locate(facts: &Facts, expr: &mut Expr, query: &SlotQuery, found: &mut Vec<usize>) {
    let mut scorer = SlotScorer::new(facts, query);
    expr.change_leaves(&mut |leaf| {
        if leaf.is_constant() {
            return;
        }
        let best = facts
            .all
            .iter()
            .enumerate()
            .filter(|(_, f)| alike_but_for_signs(&f.literal, &leaf.literal))
            .map(|(i, f)| (i, scorer.score(f, i)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((i, _)) = best {
            leaf.source = Some(i);
            if !found.contains(&i) {
                found.push(i);
            }
        }
    });
}
