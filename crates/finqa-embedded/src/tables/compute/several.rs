//! Answers a question that lists figures: "What were sales, costs and net income in 2031?"

use std::collections::BTreeSet;

use finqa_core::number::UnitKind;
use finqa_core::page::period::Period;

use super::direct_answer::DirectAnswer;
use super::operation::answer;
use super::series::in_order;
use crate::reading::cues::Cue;
use crate::tables::find::{Amount, AmountKind};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing_if};
use crate::tables::question;
use crate::tables::question::names::NamedConcept;
use crate::tables::question::operand::Operand;
use crate::tables::question::operands::{operand, says};
use crate::tables::question::request::{Asked, Operation};
use crate::tables::question::token::Token;
use crate::tables::words::is_light;

/// The name of the answer to a question that lists figures.
pub(crate) const LIST: &str = "list";

/// A figure of a list.
struct Part {
    of: Operand,
    /// The stems of its names and words.
    said: Vec<String>,
    /// The stems behind its first name or word. They may also be about the parts before it: "sales
    /// and costs of the North".
    behind: Vec<String>,
}

impl Part {
    /// The stems that may belong to a part behind it too: "North sales and costs", "sales of pumps
    /// and valves". Without a word besides its names, it lends them only to a single word:
    /// "interest expense and income", but not "interest expense and net income".
    fn lends_to(&self, other: &Self) -> &[String] {
        if !self.of.words.is_empty() || other.said.len() == 1 {
            &self.said
        } else {
            &[]
        }
    }
}

impl Tables {
    /// What a question asks for: one result or, if none is sure, the figures that it lists.
    pub(crate) fn one_or_several(&self, asked: &Asked, text: &str) -> TableResult<DirectAnswer> {
        let found = self.compute(asked);
        let sure = matches!(&found, Ok(one) if one.doubt.is_none());
        let whole = asked.only().filter(|of| !sure && may_list(asked, of));
        let parts = whole.and_then(|whole| parts_of(&question::read(self, text), whole));
        parts.map_or(found, |parts| self.several(&parts))
    }

    /// The figures of a list, each in the same periods. If one is not sure, none is.
    fn several(&self, parts: &[Part]) -> TableResult<DirectAnswer> {
        let mut found = Vec::new();
        for Part { of, .. } in parts {
            let undated = of.of_spans(Vec::new());
            let spans = of.spans.iter().copied().map(Some);
            let latest = of.spans.is_empty().then_some(None);
            for span in spans.chain(latest) {
                found.push(self.listed_figure(&undated, span)?);
            }
        }
        let places: BTreeSet<Place> = found.iter().filter_map(Amount::place).collect();
        let twice = places.len() < found.len();
        missing_if(twice, "two of the figures are the same")?;
        for (at, part) in parts.iter().enumerate() {
            let before = parts.iter().take(at).flat_map(|one| one.lends_to(part));
            let behind = parts.iter().skip(at + 1).flat_map(|one| &one.behind);
            let lent: Vec<&str> = before.chain(behind).map(String::as_str).collect();
            if self.may_share(&part.of, &lent, &places) {
                let why = "a word of the others may be about it too";
                return Err(unsure(&part.of, why));
            }
        }
        self.in_one_unit(&found)?;
        let first = found.first().ok_or(Doubt::Open)?;
        let alike = |one: &Amount| one.kind == AmountKind::Number && one.scale == first.scale;
        let differ = !found.iter().all(alike);
        missing_if(differ, "the figures may be in different units")?;
        let year = |one: &Amount| one.at.and_then(|at| at.period?.end.year);
        let undated = parts.iter().all(|part| part.of.spans.is_empty());
        let apart = undated && found.iter().any(|one| year(one) != year(first));
        missing_if(apart, "the figures are of different years")?;
        let answers = found.into_iter();
        in_order(
            LIST,
            answers.map(|one| answer(LIST, one.expr, UnitKind::Number)),
        )
    }

    /// A figure of a list. It must be printed, and one of its labels must have all words of it.
    fn listed_figure(&self, of: &Operand, span: Option<Period>) -> TableResult<Amount> {
        let why = |why: Doubt| unsure(of, &why.why().unwrap_or_default());
        let found = self.figure(of, span).map_err(why)?;
        let readings = of.meant_readings();
        let named = found.place().is_some_and(|at| {
            self.labels_of(at).any(|label| {
                let says = |word: &String| {
                    is_light(word) || self.weights.is_of_company(word) || label.says(word)
                };
                readings.iter().any(|words| words.iter().all(says))
            })
        });
        let doubt = found.doubt.clone();
        let doubt = doubt.or_else(|| self.look_up(found.clone(), of).doubt);
        match doubt.or_else(|| self.scale_doubt(&found)) {
            Some(doubt) => Err(why(doubt)),
            None if !named => Err(unsure(of, "no label has all of its words")),
            None => Ok(found),
        }
    }

    /// True if another row or column than those found has the words of a figure with some of those
    /// that other parts may lend it, and no more. "North sales and costs" may ask for the costs of
    /// the North.
    fn may_share(&self, of: &Operand, lent: &[&str], found: &BTreeSet<Place>) -> bool {
        let readings = of.meant_readings();
        // The words of the row, of the column and of both.
        let words_of = |at: Place| {
            let labels = self.labels_of(at);
            let named = labels.map(|label| label.words.iter().filter(|word| !is_light(word)));
            let mut named: Vec<Vec<&String>> = named.map(Iterator::collect).collect();
            named.push(named.concat());
            named
        };
        let known: Vec<Vec<&String>> = found.iter().flat_map(|at| words_of(*at)).collect();
        let is_shared = |words: &[&String]| {
            readings.iter().any(|own| {
                let is_own = |word: &String| own.contains(word);
                let has = |word: &String| is_light(word) || words.contains(&word);
                own.iter().all(has)
                    && words
                        .iter()
                        .all(|word| is_own(word) || lent.contains(&word.as_str()))
                    && words.iter().any(|word| !is_own(word))
            })
        };
        let mut others = self.figures().flat_map(|one| words_of(one.place));
        !lent.is_empty() && others.any(|words| !known.contains(&words) && is_shared(&words))
    }
}

/// The doubt about a figure of a list.
fn unsure(of: &Operand, why: &str) -> Doubt {
    let name = of.spelled();
    let why = format!("{name:?} is one of several figures and not sure: {why}");
    Doubt::missing(why.trim_end_matches(": "))
}

/// True if the question may list figures, and asks for nothing else.
fn may_list(asked: &Asked, of: &Operand) -> bool {
    let more = of.both_terms || of.through || of.counts || of.percent || of.each.is_some();
    let plain = of.rows.is_empty() && of.except.is_empty() && asked.unused.is_empty();
    asked.operation == Operation::Figure && of.joins && plain && !more
}

/// The figures of a list, each in the periods of the question; `None` if it is not known that all
/// have these periods, or that the question lists all that it names.
fn parts_of(tokens: &[Token], whole: &Operand) -> Option<Vec<Part>> {
    let named = |token: &Token| !token.stems().is_empty();
    // In "total debt in 2031, loans and leases", the others may be what the first consists of.
    let first = tokens.iter().position(named)?;
    let last = tokens.iter().rposition(named)?;
    let mut inner = tokens.get(first..last)?.iter();
    let dated = inner.any(|token| token.period().is_some());
    // "Sales and net income in 2031" asks for both too, but "total debt and equity" may be a sum.
    let total = tokens.iter().any(|token| token.text.starts_with("total"));
    let asks = says(tokens, "what") && says(tokens, "is are was were") || first == 0 && !total;
    if dated || !asks || says(tokens, "how which") {
        return None;
    }
    let joins = |token: &Token| token.cue() == Some(Cue::And) || token.text == ",";
    let tokens = tokens.iter().filter(|one| one.text != "both");
    let tokens: Vec<Token> = tokens.cloned().collect();
    let parts = tokens.split(joins).filter(|part| part.iter().any(named));
    // "Total sales and net income" may ask for a sum.
    let is_total = |token: &Token| token.cue() == Some(Cue::Total);
    let says_total = |token: &Token| token.text.starts_with("total");
    let all_total = parts.clone().all(|part| part.iter().any(says_total));
    if tokens.iter().any(is_total) && !all_total {
        return None;
    }
    let parts = parts.map(|part| {
        let said = part.iter().filter(|token| named(token)).map(Token::stems);
        Some(Part {
            of: operand(part, Some(&[]))?,
            said: said.clone().flatten().cloned().collect(),
            behind: said.skip(1).flatten().cloned().collect(),
        })
    });
    let mut parts: Vec<Part> = parts.collect::<Option<_>>()?;
    let mut all = Operand::default();
    for Part { of, .. } in &parts {
        all.words.extend(of.words.iter().cloned());
        of.names.iter().for_each(|name| all.add_name(*name));
    }
    let size = |of: &Operand| (of.words.len(), of.names.len());
    let in_all = |name: &NamedConcept| all.names.iter().any(|own| own.concept == name.concept);
    let all_named = size(&all) == size(whole) && whole.names.iter().all(in_all);
    let one_time = |part: &Part| part.of.spans.is_empty() || part.of.spans == whole.spans;
    if parts.len() < 2 || !all_named || !parts.iter().all(one_time) {
        return None;
    }
    for Part { of, .. } in &mut parts {
        of.spans.clone_from(&whole.spans);
        of.statement = whole.statement;
        of.balance = whole.balance;
    }
    Some(parts)
}
