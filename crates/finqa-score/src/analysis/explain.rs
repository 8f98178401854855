//! Explains one wrong answer: lists the causes that fit, the most specific first. The shares within
//! which numbers count as near or as sharp are set by hand.

use crate::dataset::Outcome;
use crate::score::{Diagnostic, FeReason, Quantity, Row, Suspect, contradicting_value, suspect};
use finqa_core::number::{self, NotRead, Value, percent_forms, rounds_to, same, truncates_to};

use super::cause::{Cause, CauseFound};
use super::expression::{Formula, value_with_own_answers};
use super::places::PageFigures;
use super::programs::{difference, evidence};
use super::search::search;
use super::target::TargetNumber;

/// A miss and the evidence that may explain it.
pub(super) struct MissEvidence<'e> {
    pub row: &'e Row,
    /// Gold's program. If gold has none, it may be the program of a turn with the same value.
    pub gold_program: Option<&'e str>,
    /// The answers to earlier questions of the same record and epoch.
    pub earlier: &'e [&'e EarlierAnswer],
    /// The numbers of the page; `None` if the page is not available.
    pub places: Option<&'e PageFigures>,
}

impl MissEvidence<'_> {
    /// Gold's program as an expression.
    fn gold_formula(&self) -> Option<Formula> {
        Formula::read(self.gold_program?, self.row.table())
    }
}

/// The answer to an earlier question of the same record.
#[derive(Clone, Debug)]
pub(super) struct EarlierAnswer {
    /// The part of the record: `qa`, `qa_0`, `qa_1` or the number of a turn.
    pub part: String,
    /// The answer's number; `None` if it is not a number.
    pub own: Option<f64>,
    /// Gold's number, which the dataset rounds to 5 decimals.
    pub gold: Option<f64>,
}

impl EarlierAnswer {
    /// The number of the earlier turn; `None` for a stand-alone question.
    pub(super) fn turn(&self) -> Option<usize> {
        self.part.parse().ok()
    }
}

/// Returns the cause of a miss, followed by the other causes that fit.
pub(super) fn explain(evidence: &MissEvidence<'_>) -> Vec<CauseFound> {
    let found = slips(evidence);
    match suspect(&evidence.row.key) {
        Some(suspect) => with_suspect(suspect, found),
        None => with_contradiction(evidence.row, found),
    }
}

/// Adds the cause that gold contradicts its own program, if it does. This cause comes first if the
/// answer is the program's value or if nothing else explains the miss, and otherwise last.
fn with_contradiction(row: &Row, mut slips: Vec<CauseFound>) -> Vec<CauseFound> {
    let Some(value) = contradicting_value(row) else {
        return slips;
    };
    let answered = match (&value, TargetNumber::of(row)) {
        (Value::Number(x), Some(target)) => target.is_sharp(0.05) && target.matches_scaled(*x),
        (Value::Text(_), None) => answer(row) == Quantity::of(&value),
        _ => false,
    };
    let value = value.number().map_or_else(|| value.to_string(), plain);
    let detail = if answered {
        format!("gold's own program gives {value}, as answered")
    } else {
        format!("gold's own program gives {value}")
    };
    let found = CauseFound::new(Cause::SuspectGold, detail);
    let explained = slips
        .first()
        .is_some_and(|slip| slip.cause != Cause::Unexplained);
    if explained && !answered {
        slips.push(found);
    } else {
        slips.insert(0, found);
    }
    slips
}

/// Puts a suspect gold first if it may be why the answer differs. A gold that has only lost its
/// sign or its digits excuses only an answer that differs in these. A gold that is wrong in another
/// way has no value to compare with, so it excuses every answer.
fn with_suspect(suspect: &Suspect, slips: Vec<CauseFound>) -> Vec<CauseFound> {
    let slip = |cause| slips.iter().any(|found| found.cause == cause);
    let cause = match suspect.rule.as_str() {
        "ill_posed" => Cause::IllPosed,
        "sign" if !slip(Cause::Sign) => return slips,
        "truncated" if !slip(Cause::Truncation) => return slips,
        _ => Cause::SuspectGold,
    };
    let mut found = vec![CauseFound::new(cause, suspect.reason.clone())];
    found.extend(slips.into_iter().filter(|found| found.cause != cause));
    found
}

/// The mistakes of the answer itself, on the assumption that gold is right. Returns early if a
/// cause excludes all others, such as an answer that is not a number.
fn slips(evidence: &MissEvidence<'_>) -> Vec<CauseFound> {
    let row = evidence.row;
    if let Some(found) = no_answer(row) {
        return vec![found];
    }
    let gold = gold(row);
    let Some(target) = TargetNumber::of(row) else {
        return vec![word(row, &gold)];
    };
    if matches!(gold, Quantity::YesNo(_)) {
        return vec![CauseFound::new(
            Cause::YesNo,
            "a number instead of yes or no",
        )];
    }
    if let Some(found) = accepted(evidence, &target) {
        return vec![found];
    }
    let mut found = Vec::new();
    found.extend(stale(evidence, &target));
    found.extend(carried_over(evidence, &target));
    found.extend(diagnosed(evidence));
    // If a cause is already known, the answer's own program can tell how the mistake came about.
    // An answer without a program could only be compared with gold's program, which is a guess.
    if found.is_empty() || row.program().is_some() {
        found.extend(by_program(evidence, &target));
    }
    if found.is_empty() {
        found.push(last_resort(evidence, &gold, &target));
    }
    let mut seen = Vec::new();
    // Several steps may find the same cause. Keep the first, because it is the most specific.
    found.retain(|found| {
        let new = !seen.contains(&found.cause);
        seen.push(found.cause);
        new
    });
    found
}

/// The cause of a miss without an answer; `None` if there is an answer.
fn no_answer(row: &Row) -> Option<CauseFound> {
    let cause = match row.outcome() {
        Outcome::Answered => return None,
        Outcome::ContentFilter | Outcome::Refusal => Cause::Filtered,
        Outcome::ParseFailure => Cause::ParseFailure,
        _ => Cause::NoAnswer,
    };
    Some(CauseFound::new(
        cause,
        row.outcome().name().replace('_', " "),
    ))
}

fn gold(row: &Row) -> Quantity {
    match (&row.gold.answer, &row.gold.exe_ans, row.ground_truth()) {
        (Some(printed), _, _) => Quantity::parse(printed),
        (None, Some(value), _) => Quantity::of(value),
        (None, None, truth) => Quantity::parse(truth.as_deref().unwrap_or_default()),
    }
}

fn answer(row: &Row) -> Quantity {
    match row.value() {
        Some(value) => Quantity::of(value),
        None => Quantity::parse(&row.printed()),
    }
}

/// The cause for an answer that is not a number.
fn word(row: &Row, gold: &Quantity) -> CauseFound {
    match (gold, answer(row)) {
        (Quantity::YesNo(true), Quantity::YesNo(_)) => {
            CauseFound::new(Cause::YesNo, "no instead of yes")
        }
        (Quantity::YesNo(false), Quantity::YesNo(_)) => {
            CauseFound::new(Cause::YesNo, "yes instead of no")
        }
        (_, Quantity::YesNo(_)) => CauseFound::new(Cause::YesNo, "yes or no instead of a number"),
        (_, Quantity::Word(word)) if says_nothing_found(&word) => {
            CauseFound::new(Cause::MissingEvidence, "says that it cannot be determined")
        }
        (Quantity::YesNo(_), _) => CauseFound::new(Cause::YesNo, "words instead of yes or no"),
        _ => {
            let detail = "has no number that can be read reliably";
            let detail = match number::answer(&row.printed()) {
                Err(why) if why != NotRead::NoNumber => format!("{detail}: {why}"),
                _ => detail.to_owned(),
            };
            CauseFound::new(Cause::ParseFailure, detail)
        }
    }
}

/// True if the words of an answer contain one that says that there is none, such as "cannot" or
/// "unknown". The list is set by hand.
fn says_nothing_found(word: &str) -> bool {
    const SAYINGS: [&str; 9] = [
        "n/a", "not ", "cannot", "can't", "unknown", "insufficient", "unavailable", "unable",
        "missing",
    ];
    let word = word.to_lowercase();
    SAYINGS.iter().any(|saying| word.contains(saying))
}

/// The cause for an answer that financial equivalence accepts but the rule in use does not. `None`
/// if financial equivalence does not accept it.
fn accepted(evidence: &MissEvidence<'_>, target: &TargetNumber) -> Option<CauseFound> {
    let verdict = evidence.row.scores.financial_equivalence.as_ref()?;
    let exact = exact_gold(evidence);
    Some(match verdict.reason? {
        FeReason::PercentDecimal => CauseFound::new(
            Cause::PercentDecimal,
            match gold(evidence.row) {
                Quantity::Number(gold) if target.value.abs() < gold.value.abs() => {
                    "a fraction instead of a percentage"
                }
                _ => "a percentage instead of a fraction",
            },
        ),
        FeReason::Truncation | FeReason::Rounding | FeReason::Near => match exact {
            Some(exact) if target.matches_scaled(exact) => CauseFound::new(
                Cause::Truncation,
                "has the digits of gold's program; the published gold is truncated or rounded",
            ),
            Some(exact) if target.is_about(exact, 0.02) => CauseFound::new(
                Cause::Arithmetic,
                format!("{} instead of {}", target.value, plain(exact)),
            ),
            _ => CauseFound::new(Cause::Truncation, "truncated or rounded"),
        },
        FeReason::Exact | FeReason::YesNo => {
            CauseFound::new(Cause::Truncation, "the same value, written differently")
        }
    })
}

/// The value of gold's program before the dataset rounds it; `exe_ans` if there is no program with
/// a number as its value.
fn exact_gold(evidence: &MissEvidence<'_>) -> Option<f64> {
    let formula = evidence.gold_formula();
    let program = formula.and_then(|formula| formula.root.number());
    program.or_else(|| evidence.row.gold.exe_ans.as_ref()?.number())
}

/// The cause for an answer that repeats the answer or the gold of an earlier question. `None` for
/// any other answer, and for an answer of 0.
fn stale(evidence: &MissEvidence<'_>, target: &TargetNumber) -> Option<CauseFound> {
    // An answer of 0 says that nothing was found, which `last_resort` reports.
    if target.value.abs() <= 0.0 {
        return None;
    }
    let earlier = evidence.earlier.iter().rev().find(|earlier| {
        let values = [earlier.own, earlier.gold];
        values
            .into_iter()
            .flatten()
            .any(|value| target.matches(value))
    })?;
    let detail = match earlier.turn() {
        Some(turn) => format!("repeats the answer to turn {turn}"),
        None => "repeats the answer to the record's first question".to_owned(),
    };
    Some(CauseFound::new(Cause::StaleAnswer, detail))
}

/// The cause for an answer that would be right if the earlier turns were: the value of gold's
/// program, computed with the run's earlier answers in place of their golds. `None` if the answer
/// is another value, if the question is not a turn, or if no earlier answer differs from its gold.
fn carried_over(evidence: &MissEvidence<'_>, target: &TargetNumber) -> Option<CauseFound> {
    evidence.row.turn()?;
    let wrong: Vec<(f64, f64)> = evidence
        .earlier
        .iter()
        .filter_map(|earlier| Some((earlier.gold?, earlier.own?)))
        // Earlier answers within 1 in 10,000 of their gold count as right, as printed ones do
        // (`TargetNumber`).
        .filter(|(gold, own)| (gold - own).abs() > 1e-4 * gold.abs())
        .collect();
    let formula = evidence.gold_formula()?;
    let (Some((op, a, b)), false) = (formula.root.top(), wrong.is_empty()) else {
        return None;
    };
    let value = op
        .apply(
            value_with_own_answers(a, &wrong)?,
            value_with_own_answers(b, &wrong)?,
        )?
        .number()?;
    let carried = target.is_sharp(0.05) && target.matches_scaled(value);
    carried.then(|| {
        CauseFound::new(
            Cause::CarriedOver,
            "would be right if the earlier turns were",
        )
    })
}

/// The causes that follow from FE's diagnostics, which are the changes by which FE would accept the
/// answer.
fn diagnosed(evidence: &MissEvidence<'_>) -> Vec<CauseFound> {
    let verdict = evidence.row.scores.financial_equivalence.as_ref();
    let diagnostics = verdict.map_or(&[][..], |verdict| &verdict.diagnostics);
    let mut found: Vec<CauseFound> = diagnostics
        .iter()
        .map(|diagnostic| match diagnostic {
            Diagnostic::Sign => CauseFound::new(Cause::Sign, "the wrong sign"),
            Diagnostic::Scale => CauseFound::new(Cause::Scale, "off by a power of 1,000"),
            Diagnostic::ScaleAndSign => CauseFound::new(
                Cause::ScaleAndSign,
                "off by a power of 1,000, and the wrong sign",
            ),
            Diagnostic::AbsVsRel => {
                CauseFound::new(Cause::AbsoluteForRelative, kind_of_change(evidence))
            }
            Diagnostic::Complement => CauseFound::new(Cause::Complement, "1 - x instead of x"),
            Diagnostic::Inverse => CauseFound::new(Cause::SwappedOperands, "1 / x instead of x"),
            Diagnostic::GrowthFactor => {
                CauseFound::new(Cause::Steps, "1 + x instead of x, or the reverse")
            }
        })
        .collect();
    let row = evidence.row;
    if let (Quantity::Number(gold), Some(target)) = (gold(row), TargetNumber::of(row)) {
        // A gold of only one or two digits: the answer truncates to it, but differs by more than
        // the 3 % that FE forgives. Not a gold of 0, to which every small number truncates.
        let is_cut = truncates_to(target.value, gold.value, gold.unit);
        if found.is_empty() && is_cut && gold.value.abs() >= gold.unit {
            let detail = "gold is the answer with its decimals truncated";
            found.push(CauseFound::new(Cause::Truncation, detail));
        }
    }
    found
}

/// Names the kind of change that the answer gives, if it is a difference and gold a relative
/// change, or the reverse.
fn kind_of_change(evidence: &MissEvidence<'_>) -> &'static str {
    if evidence
        .gold_formula()
        .is_some_and(|formula| formula.quotient().is_some())
    {
        "gives the difference instead of the relative change"
    } else {
        "gives the relative change instead of the difference"
    }
}

/// The cause from the programs. The answer's own program is compared with gold's; if there is none,
/// a search looks for a change of gold's program that gives the answer.
fn by_program(evidence: &MissEvidence<'_>, target: &TargetNumber) -> Option<CauseFound> {
    let row = evidence.row;
    let mine = row
        .program()
        .and_then(|program| Formula::read(program, row.table()));
    let found_gold = gold(row);
    if let (Some(mine), Quantity::Number(gold)) = (&mine, &found_gold)
        && let Some(value) = mine.root.number()
        && !target.matches_scaled(value)
    {
        let as_gold = |x| rounds_to(x, gold.value, gold.unit) || same(x, gold.value);
        if percent_forms(value).into_iter().any(as_gold) {
            let detail = format!("its own program gives {}", plain(value));
            return Some(CauseFound::new(Cause::Arithmetic, detail));
        }
    }
    let formula = match (evidence.gold_formula(), &found_gold) {
        (Some(formula), _) => formula,
        // Without a gold program, a gold that is in a cell of the page counts as a look-up of that
        // cell.
        (None, Quantity::Number(gold)) => {
            let places = evidence.places?;
            let on_page = places
                .find(gold.value)
                .first()
                .is_some_and(|place| place.cell.is_some());
            on_page.then(|| Formula::number(gold.value, &gold.value.to_string()))?
        }
        _ => return None,
    };
    if let Some(mine) = &mine
        && let Some(found) = difference(&formula, mine, evidence.places)
    {
        return Some(found);
    }
    search(&formula, evidence.places, target)
        .or_else(|| mine.map(|mine| self::evidence(&formula, &mine, evidence.places)))
}

/// The cause if nothing else explains the miss.
fn last_resort(evidence: &MissEvidence<'_>, gold: &Quantity, target: &TargetNumber) -> CauseFound {
    let computes = |program: &str| program.contains('(');
    // An answer of 0 that no program computed says that nothing was found.
    if target.value.abs() <= 0.0 && !evidence.row.program().is_some_and(computes) {
        return CauseFound::new(Cause::MissingEvidence, "0 instead of a number");
    }
    let exact = exact_gold(evidence).or(match gold {
        Quantity::Number(gold) => Some(gold.value),
        _ => None,
    });
    if let Some(exact) = exact
        && target.is_about(exact, 0.02)
    {
        return CauseFound::new(
            Cause::Arithmetic,
            format!("{} instead of {}", target.value, plain(exact)),
        );
    }
    CauseFound::new(
        Cause::Unexplained,
        "no single change of the program explains it",
    )
}

/// Prints a number with at most five decimals.
fn plain(x: f64) -> String {
    finqa_core::number::round5(x).to_string()
}
