//! Computes a measure that the question spells out: "net debt, that is all borrowings less cash".

use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::direct_answer::DirectAnswer;
use crate::reading::cues::Cue;
use crate::tables::find::{Amount, AmountKind};
use crate::tables::page::Tables;
use crate::tables::question;
use crate::tables::question::names::SumTerm;
use crate::tables::question::operand::Operand;
use crate::tables::question::operands::{has, operand};
use crate::tables::question::token::Token;
use crate::tables::words::{SaidWord, VERBS, is_light, lists};

/// The mark or words between a measure and its formula: "net debt, i.e. …". Without the words, a
/// comma may also be one of a list.
static BEGINS: Pattern = pattern!(
    r"(?i)(?P<mark> ?\(|[,:;] | [-\u{2013}\u{2014}] )(?P<said>so |(?P<taken>taking|using|counting) |(?:i\.e\.,?|that is,?|meaning|defined as|calculated as|computed as|adding up|adding|=) )?"
);

/// Words between dividend and divisor.
static OVER: Pattern = pattern!(r"(?i),? (?:over|divided by|/) ");

/// A text in brackets, which may be a formula: "free cash flow (operating cash flow less capex)".
static IN_BRACKETS: Pattern = pattern!(r" ?\((?P<inside>[^()]*)\)");

/// Nouns of measures, such as "ratio" in "efficiency ratio".
const MEASURES: &str = "ratio margin rate multiple cover coverage";

/// Other words of the names of measures. Any other word may name a part of the company: "the
/// Aerospace ratio".
const KINDS: &str = "efficiency combined loss expense cost income leverage gearing liquidity solvency \
    operating capital turnover conversion retention";

/// Signs of a formula. Without one, figures that are joined by "and" may also be a list.
const SIGNS: &[Cue] = &[Cue::Plus, Cue::Minus, Cue::Less];

/// Words for the company that the measure is about.
const OWNERS: &str = "bank bank's company company's group group's firm firm's insurer's airline's";

/// A formula over the figures that a question names.
struct Spelled {
    /// The measure as the question calls it.
    name: Operand,
    above: Vec<(Operand, bool)>,
    below: Vec<(Operand, bool)>,
}

impl Tables {
    /// The value of a formula that a question spells out, if each of its figures is found. A comma
    /// inside a printed label does not begin a formula: "Receivables, net and other". `None` also
    /// if the question repeats a whole label.
    pub(crate) fn spelled(&self, text: &str) -> Option<DirectAnswer> {
        let bare = text.trim_end_matches(['?', ' ']);
        let of = BEGINS.captures_iter(bare).find_map(|found| {
            let all = found.get(0)?;
            let formula = bare.get(all.end()..)?;
            let main = bare.get(..all.start())?;
            let mark = found.name("mark")?.as_str();
            let said = found.name("said").is_some();
            let taken = found.name("taken").is_some();
            self.read_spelled(main, formula, mark.trim_start(), said, taken)
        })?;
        if self.whole_label(text).is_some() {
            return None;
        }
        let found = self.value_of(&of)?;
        let doubt = found.doubt.clone();
        Some(self.look_up(found, &of.name).or_doubt(doubt))
    }

    /// Reads the name of a measure and its formula; `None` if either is not understood, or if the
    /// question may list figures: "net sales, cost of sales and net income". `mark` is between them,
    /// `said` is true after words such as "that is", and `taken` after a word such as "taking": the
    /// formula may then lack the divisor.
    fn read_spelled(
        &self,
        main: &str,
        formula: &str,
        mark: &str,
        said: bool,
        taken: bool,
    ) -> Option<Spelled> {
        let plainly = !said && mark.starts_with([',', ';']);
        // What begins with a digit is a year or a figure ("at December 31, 2031"), not a formula.
        if formula.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        // "Net cash (cash less debt) at December 31"
        let (formula, after) = formula.split_once(')').unwrap_or((formula, ""));
        let formula = &in_words(formula);
        let main = format!("{main} {after}");
        let main = question::read(self, &main);
        let name = self.measure_named(&main)?;
        // "Free cash flow (operating cash flow less capex)?" needs no question word. One word may
        // precede it: "And what was …".
        let asks = main.iter().take(2).any(|one| one.is_in("what how"));
        let meant = said && self.is_single_table();
        if !(asks || meant || mark == "(" && known_formula(&name).is_some()) {
            return None;
        }
        let signed = OVER.is_match(formula) || has(&question::read(self, formula), SIGNS);
        // "What were both in 2031: net sales and net income?" names no measure before the figures.
        let measures = |token: &Token| match token.cue() {
            Some(cue) => [Cue::Ratio, Cue::Total, Cue::Sum].contains(&cue) && token.text != "both",
            None => token.is_in(MEASURES),
        };
        let measured = !name.names.is_empty() || main.iter().any(measures);
        if !signed && (plainly || !measured) {
            return None;
        }
        // Brackets within the formula and a second division are not read.
        if formula.contains('(') {
            return None;
        }
        let [above, mut below] = self.sides(formula, &name)?;
        // "The quick ratio, taking cash and receivables" says only what is divided.
        if let Some((known, rest)) = name.formula().filter(|_| taken && below.is_empty()) {
            let (terms, rest) = (known.below.iter(), rest.without_words());
            below.extend(terms.map(|term| (rest.of_term(term.name), term.subtracted)));
        }
        // A single figure is not a formula.
        let figures = above.len() + below.len();
        (figures > 1).then_some(Spelled { name, above, below })
    }

    /// The measure that a question asks for; `None` if the question also names a part of the
    /// company, a change or several periods.
    fn measure_named(&self, tokens: &[Token]) -> Option<Operand> {
        let name = operand(tokens, Some(&[Cue::Ratio, Cue::Total, Cue::Sum]))?;
        let is_of_name = |word: &SaidWord| {
            is_light(&word.stem)
                || self.weights.is_of_company(&word.stem)
                || [MEASURES, KINDS, OWNERS]
                    .iter()
                    .any(|list| lists(list, &word.text))
        };
        let one = name.names.len() <= 1 && name.spans.len() <= 1 && name.each.is_none();
        let whole = name.except.is_empty() && name.statement.is_none() && !name.both_terms;
        (one && whole && name.words.iter().all(is_of_name)).then_some(name)
    }

    /// The question without a formula in brackets behind the name of a measure that has one, and the
    /// formula if it differs from the known one; `None` for other questions. Otherwise the measure
    /// would be computed, and the formula applied to it again.
    pub(crate) fn without_formula(&self, text: &str) -> Option<(String, Option<String>)> {
        let found = IN_BRACKETS.captures(text).filter(|_| self.is_report())?;
        let (all, formula) = (found.get(0)?, &in_words(found.name("inside")?.as_str()));
        let (before, after) = (text.get(..all.start())?, text.get(all.end()..)?);
        let name = operand(&question::read(self, before), None)?;
        let known = known_formula(&name)?;
        let tokens = question::read(self, formula);
        let signs = [SIGNS, &[Cue::DividedBy]].concat();
        if !OVER.is_match(formula) && !has(&tokens, &signs) {
            return None;
        }
        let is_same = |one: &(Operand, bool), other: &(Operand, bool)| {
            let words = |of: &Operand| -> Vec<String> {
                let stems = of.words.iter().map(|word| word.stem.clone());
                stems.filter(|stem| !is_light(stem)).collect()
            };
            let names = one.0.names.iter().map(|name| name.concept);
            one.1 == other.1
                && words(&one.0) == words(&other.0)
                && names.eq(other.0.names.iter().map(|name| name.concept))
        };
        let restates = self.sides(formula, &name).is_some_and(|sides| {
            sides.iter().zip(&known).all(|(said, known)| {
                let has = |one: &(Operand, bool)| said.iter().any(|other| is_same(one, other));
                said.len() == known.len() && known.iter().all(has)
            })
        });
        let other = (!restates).then(|| all.as_str().trim().to_owned());
        Some((format!("{before}{after}"), other))
    }

    /// The terms above and below the line of a formula; `None` if it divides twice or is not read.
    fn sides(&self, formula: &str, name: &Operand) -> Option<[Vec<(Operand, bool)>; 2]> {
        let mut sides = OVER.splitn(formula, 3);
        let (above, below) = (sides.next()?, sides.next());
        let below = below.map_or(Some(Vec::new()), |side| self.terms(side, name));
        if sides.next().is_some() {
            return None;
        }
        Some([self.terms(above, name)?, below?])
    }

    /// The terms of a sum, each with whether it is subtracted. `None` if a part of it is not read.
    fn terms(&self, side: &str, of: &Operand) -> Option<Vec<(Operand, bool)>> {
        let tokens = question::read(self, side);
        // In "short-term borrowings, the current portion and long-term debt", the portion is that
        // of the long-term debt.
        let side = side.to_lowercase();
        let of_debt = side.contains("long-term debt") || side.contains("long term debt");
        let (mut out, mut subtracted) = (Vec::new(), false);
        let signs = |token: &Token| matches!(token.cue(), Some(Cue::Plus | Cue::Minus | Cue::Less));
        let parts = tokens.split_inclusive(signs).flat_map(|part| {
            if self.is_one_row(part, of) {
                vec![part]
            } else {
                part.split_inclusive(joins).collect()
            }
        });
        for part in parts {
            let (own, join) = match part.split_last() {
                Some((last, own)) if joins(last) => (own, last.cue()),
                _ => (part, None),
            };
            let asks = |token: &Token| !token.is_in(VERBS) && token.cue().is_some();
            if own.iter().any(|token| !token.stems().is_empty()) {
                let mut term = operand(own, Some(&[Cue::And]))?;
                if of_debt && is_current_portion(&term) {
                    let whole = question::read(self, "current portion of long-term debt");
                    term = operand(&whole, Some(&[]))?;
                }
                if term.spans.is_empty() {
                    term.spans.clone_from(&of.spans);
                }
                out.push((term, subtracted));
            // A cue without a figure asks for more than a sum.
            } else if own.iter().any(asks) {
                return None;
            }
            match join {
                Some(Cue::Minus | Cue::Less) => subtracted = true,
                Some(Cue::Plus) => subtracted = false,
                _ => {}
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// True if the words between two signs are the label of one row with "and": "Losses and loss
    /// adjustment expenses".
    fn is_one_row(&self, part: &[Token], of: &Operand) -> bool {
        let end = part.iter().rposition(|token| !joins(token));
        let own = part.get(..end.map_or(0, |at| at + 1)).unwrap_or_default();
        let term = operand(own, Some(&[Cue::And])).filter(|term| term.joins);
        let term = term.map(|term| term.of_spans(of.spans.clone()));
        let row = term.and_then(|term| self.figure(&term, None).ok());
        row.is_some_and(|row| {
            let name = row.place().map(|at| self.full_name(at).to_lowercase());
            row.doubt.is_none() && name.is_some_and(|name| name.contains(" and "))
        })
    }

    /// The value of a formula; `None` if a term is not found or does not fit the others.
    fn value_of(&self, of: &Spelled) -> Option<Amount> {
        let sum = |terms: &[(Operand, bool)]| {
            let terms = terms.iter();
            let found = terms.map(|(of, minus)| Some((self.figure(of, None).ok()?, *minus)));
            let mut found: Vec<(Amount, bool)> = found.collect::<Option<_>>()?;
            for (one, _) in found.iter_mut().filter(|_| self.is_single_table()) {
                self.check_comparable(std::slice::from_ref(one)).ok()?;
                one.doubt = one.doubt.take().or(self.scale_doubt(one));
            }
            let mut added = found.iter().filter(|(_, minus)| !minus);
            let turned = added.next().map(|(one, _)| one.turned);
            if added.any(|(one, _)| Some(one.turned) != turned) {
                return None;
            }
            self.add_up(found)
        };
        let above = sum(&of.above)?;
        if of.below.is_empty() {
            return Some(above);
        }
        let found = above.over(sum(&of.below)?)?;
        let share = of.name.wants_percent();
        Some(Amount {
            kind: if share { AmountKind::Share } else { found.kind },
            ..found
        })
    }
}

/// A formula with words for the signs between its terms.
fn in_words(formula: &str) -> String {
    let minus = formula
        .replace(" - ", " minus ")
        .replace(" \u{2013} ", " minus ");
    minus
        .replace(" \u{2212} ", " minus ")
        .replace(" + ", " plus ")
}

/// The terms above and below the line of the formula in `concepts.txt` for the measure that an
/// operand names; `None` for other operands.
fn known_formula(name: &Operand) -> Option<[Vec<(Operand, bool)>; 2]> {
    if let Some((part, whole)) = name.quotient() {
        return Some([vec![(part, false)], vec![(whole, false)]]);
    }
    let (formula, rest) = name.formula()?;
    let rest = rest.without_words();
    let terms = |sum: &[SumTerm]| {
        let terms = sum.iter();
        terms
            .map(|term| (rest.of_term(term.name), term.subtracted))
            .collect()
    };
    Some([terms(&formula.above), terms(&formula.below)])
}

/// True for a token between two terms of a sum.
fn joins(token: &Token) -> bool {
    let cue = token.cue();
    matches!(cue, Some(Cue::And | Cue::Plus | Cue::Minus | Cue::Less)) || token.text == ","
}

/// True for "the current portion", without what it is a portion of.
fn is_current_portion(term: &Operand) -> bool {
    let says = |word: &str| term.words.iter().any(|own| own.stem == word);
    term.words.len() == 2 && says("current") && says("portion") && term.names.is_empty()
}
