//! Every miss of a run with its cause, and the counts.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::dataset::QuestionKey;
use crate::score::{FeContext, Quantity, Row, Rule, financial_equivalence, suspect};
use finqa_core::number::Value;

use super::answers::Answers;
use super::cause::{Cause, CauseFound};
use super::compare::{rule_name, shown};
use super::explain::{EarlierAnswer, MissEvidence, explain};
use super::places::PageNumbers;
use super::target::TargetNumber;

/// The misses of a run by one rule.
#[derive(Clone, Debug, Serialize)]
pub struct MissAnalysis {
    /// Where the answers were read from.
    pub path: PathBuf,
    /// The records that were read; without them pages are missing.
    pub dataset: Option<String>,
    /// The rule that says what a miss is.
    #[serde(serialize_with = "rule_name")]
    pub rule: Rule,
    /// Questions that the rule can judge.
    pub questions: usize,
    /// Questions that it cannot: they have no gold.
    pub without_gold: usize,
    /// The causes, the most frequent first.
    pub causes: Vec<CauseCount>,
    /// The misses, in the order of the answers.
    pub misses: Vec<Miss>,
    /// What could not be looked for, and in how many misses.
    pub not_looked_for: Vec<UncheckedCauses>,
}

/// How often a cause was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCount {
    pub cause: Cause,
    /// Misses with it.
    pub count: usize,
    /// Their share of all misses, from 0 to 1.
    pub share: f64,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// Which question.
    #[serde(flatten)]
    pub key: QuestionKey,
    /// Which repetition.
    pub epoch: String,
    /// Its text.
    pub question: String,
    /// What is right, as written.
    pub gold: String,
    /// What was answered, or how asking ended.
    pub answer: String,
    pub cause: Cause,
    /// The evidence.
    pub detail: String,
    /// What else fits; of a suspect gold, what the answer differs in.
    pub also: Vec<CauseFound>,
    /// The answer's program.
    pub program: Option<String>,
    /// Gold's program.
    pub gold_program: Option<String>,
    /// Why gold is suspect, by the checked-in list.
    pub suspect: Option<String>,
}

/// Causes that could not be looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UncheckedCauses {
    /// What is missing: `page`, `gold_program`, `program`.
    pub missing: &'static str,
    /// Misses without it.
    pub misses: usize,
    /// Causes that it would have shown.
    pub causes: Vec<Cause>,
}

/// Finds the cause of every miss.
#[must_use]
pub fn analyze(answers: &Answers, rule: Rule) -> MissAnalysis {
    let mut search = Searcher::new(answers);
    let judged = |row: &&Row| rule.mark(row).is_some();
    let questions = answers.rows.iter().filter(judged).count();
    let mut misses = Vec::new();
    let mut blind: BTreeMap<&'static str, usize> = BTreeMap::new();
    for row in &answers.rows {
        if rule.mark(row) != Some(false) {
            continue;
        }
        let miss = search.miss(row);
        for (missing, is) in [
            ("page", row.document.is_none()),
            ("gold_program", miss.gold_program.is_none()),
            ("program", row.program().is_none()),
        ] {
            *blind.entry(missing).or_default() += usize::from(is);
        }
        misses.push(miss);
    }
    MissAnalysis {
        path: answers.path.clone(),
        dataset: answers.dataset.clone(),
        rule,
        questions,
        without_gold: answers.rows.len() - questions,
        causes: counted(&misses),
        misses,
        not_looked_for: blind.into_iter().filter_map(told_by).collect(),
    }
}

fn told_by((missing, misses): (&'static str, usize)) -> Option<UncheckedCauses> {
    let causes: &[Cause] = match missing {
        "page" => &[Cause::WrongRow, Cause::WrongColumn, Cause::DashAsNumber],
        "gold_program" => &[
            Cause::AbsoluteForRelative,
            Cause::Operator,
            Cause::SwappedOperands,
            Cause::WrongBase,
            Cause::Steps,
        ],
        _ => &[Cause::Arithmetic, Cause::MissingEvidence],
    };
    (misses > 0).then(|| UncheckedCauses {
        missing,
        misses,
        causes: causes.to_vec(),
    })
}

fn counted(misses: &[Miss]) -> Vec<CauseCount> {
    #[allow(clippy::cast_precision_loss, reason = "counts of questions")]
    let share = |count: usize| count as f64 / misses.len().max(1) as f64;
    let mut counts: Vec<CauseCount> = Cause::ALL
        .into_iter()
        .map(|cause| {
            let count = misses.iter().filter(|miss| miss.cause == cause).count();
            CauseCount {
                cause,
                count,
                share: share(count),
            }
        })
        .filter(|count| count.count > 0)
        .collect();
    // Stable, so that equal counts stay in the order of the list.
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    counts
}

/// What explanations need besides the row: the other rows, and its page. A page is read once,
/// because rows about it follow each other; keeping all would take memory with every record.
pub(super) struct Searcher<'a> {
    answers: &'a Answers,
    by_record: HashMap<(&'a str, u32), Vec<usize>>,
    places: Option<(&'a str, Arc<PageNumbers>)>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(answers: &'a Answers) -> Self {
        let mut by_record: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, row) in answers.rows.iter().enumerate() {
            by_record
                .entry((row.key.id.as_str(), row.epoch))
                .or_default()
                .push(at);
        }
        Self {
            answers,
            by_record,
            places: None,
        }
    }

    pub(crate) fn miss(&mut self, row: &'a Row) -> Miss {
        let gold_program = self.gold_program(row);
        let earlier = self.earlier(row);
        let places = row.document.as_ref().map(|page| {
            let id = row.key.id.as_str();
            let known = self.places.take().filter(|(of, _)| *of == id);
            let (_, places) = known.unwrap_or_else(|| (id, Arc::new(PageNumbers::of(page))));
            self.places = Some((id, Arc::clone(&places)));
            places
        });
        let found = explain(&MissEvidence {
            row,
            gold_program: gold_program.as_deref(),
            earlier: &earlier,
            places: places.as_deref(),
        });
        let mut found = found.into_iter();
        let first = found
            .next()
            .unwrap_or_else(|| CauseFound::new(Cause::Unexplained, ""));
        Miss {
            key: row.key.clone(),
            epoch: row.epoch.to_string(),
            question: row.question.clone(),
            gold: row.ground_truth().unwrap_or_default().into_owned(),
            answer: shown(row),
            cause: first.cause,
            detail: first.detail,
            also: found.collect(),
            program: row.program().map(str::to_owned),
            gold_program,
            suspect: suspect(&row.key).map(|suspect| suspect.rule.clone()),
        }
    }

    /// Gold's program. The stand-alone questions of a Double record have
    /// none, but their conversation ends in it: the last turn that
    /// equals the question's answer after at least one step.
    fn gold_program(&self, row: &Row) -> Option<String> {
        if row.gold.program.is_some() {
            return row.gold.program.clone();
        }
        let printed = Quantity::parse(row.gold.answer.as_deref()?);
        let turns = self.answers.turns.get(&row.key.id)?;
        let comes_to_it = turns.iter().rev().filter_map(|turn| {
            let program = turn.program.as_deref()?;
            let context = FeContext {
                question: &row.question,
                gold_program: Some(program),
                table: row.table(),
            };
            let value = Quantity::of(turn.exe_ans.as_ref()?);
            let same = financial_equivalence(&printed, &value, &context).accepted;
            (same && program.contains('(')).then(|| program.to_owned())
        });
        comes_to_it.into_iter().next()
    }

    /// What was answered before and what would have been right there: earlier
    /// turns, the record's first question, the row before.
    fn earlier(&self, row: &Row) -> Vec<EarlierAnswer> {
        let mut earlier = Vec::new();
        let key = (row.key.id.as_str(), row.epoch);
        let others = self.by_record.get(&key).map_or(&[][..], Vec::as_slice);
        let mut note = |whose: String, row: &Row| {
            let own = TargetNumber::of(row).map(|target| target.value);
            let gold = row.gold.exe_ans.as_ref().and_then(Value::number);
            earlier.push(EarlierAnswer { whose, own, gold });
        };
        // The row before is another question; only an answer of several
        // digits is not a coincidence.
        let own = others.iter().copied().find(|at| {
            let other = self.answers.rows.get(*at);
            other.is_some_and(|other| other.key == row.key)
        });
        let before = own.and_then(|at| at.checked_sub(1));
        if let Some(before) = before.and_then(|at| self.answers.rows.get(at))
            && before.key.id != row.key.id
            && before.prediction() == row.prediction()
            && digits(&row.prediction()) >= 4
        {
            note("the row before".to_owned(), before);
        }
        for other in others.iter().filter_map(|at| self.answers.rows.get(*at)) {
            match (other.turn(), row.turn()) {
                (Some(theirs), Some(own)) if theirs < own => {
                    note(format!("turn {theirs}"), other);
                }
                (None, None) if other.key.part < row.key.part => {
                    note("the record's question before".to_owned(), other);
                }
                _ => {}
            }
        }
        earlier
    }
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}
