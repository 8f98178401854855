//! What the template shows above the list of questions.

use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use crate::output::terminal::rule_title;
use crate::run::RunMeta;
use crate::run::Summary;
use crate::score::{ConversationRate, Rule, RuleRates};
use finqa_core::stats::LatencySummary;

use super::figures::{FacetRates, Histogram, PercentRate, percent};
use super::flow::Flow;
use super::list::ListedRow;

/// Everything that the template prints.
#[derive(Serialize)]
pub(super) struct ReportView<'a> {
    run: &'a RunMeta,
    /// The model's name, without where it is.
    title: &'a str,
    settings: String,
    /// Why the run is not complete, and the command that continues it.
    unfinished: Option<(String, String)>,
    answered: usize,
    questions: usize,
    pages: usize,
    without_answer: usize,
    /// Why the pages are not available.
    pages_missing: Option<&'a str>,
    headline: Option<PercentRate>,
    rules: Vec<RuleRate>,
    /// The rules that are also given without suspect golds, and how many those are.
    trusted: Vec<RuleRate>,
    suspects: usize,
    layers: Vec<LayerShare>,
    anatomy: Vec<AnswerShare>,
    wrong: Vec<FacetRates>,
    conversations: Vec<Conversation>,
    critic: &'a crate::run::CriticEffect,
    samples: Option<&'a crate::run::SampleEffect>,
    flow: Option<Flow>,
    exchange: Vec<FacetRates>,
    latency: Option<&'a LatencySummary>,
    latencies: Option<Histogram>,
    costs: Option<Histogram>,
    episodes: Option<&'a crate::run::EpisodeSummary>,
    spent: &'a crate::run::ResourceUsage,
    known_cost: f64,
    cost: String,
    left_out: Option<String>,
    missing: Option<String>,
}

/// A rule of the scorecard.
#[derive(Serialize)]
struct RuleRate {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    rate: PercentRate,
    floor: Option<Floor>,
}

#[derive(Serialize)]
struct Floor {
    percent: f64,
    answer: f64,
}

/// A count under a name, in percent of all.
#[derive(Serialize)]
struct LayerShare {
    name: &'static str,
    count: usize,
    percent: f64,
}

/// A part of all answers: those accepted for one reason, or missed for one cause.
#[derive(Serialize)]
struct AnswerShare {
    name: String,
    /// The facet that shows them, unless they are several causes in one.
    facet: Option<&'static str>,
    class: &'static str,
    /// From 0, the strongest, to 4.
    shade: usize,
    count: usize,
    /// In percent of the width.
    x: f64,
    width: f64,
}

/// What only turns can tell, by one rule.
#[derive(Serialize)]
struct Conversation {
    rule: &'static str,
    conversations: usize,
    whole: Option<PercentRate>,
    right_after_right: Option<PercentRate>,
    right_after_wrong: Option<PercentRate>,
    errors: usize,
    errors_after_an_error: usize,
    by_turn: Vec<Turn>,
}

#[derive(Serialize)]
struct Turn {
    name: String,
    rate: PercentRate,
}

impl<'a> ReportView<'a> {
    pub(super) fn of(
        summary: &'a Summary,
        rows: &[ListedRow],
        pages_missing: Option<&'a str>,
    ) -> Self {
        let scores = &summary.scores;
        let slices = |facets: &[&'static str]| -> Vec<FacetRates> {
            let found = facets
                .iter()
                .filter_map(|facet| FacetRates::of(facet, rows));
            found.filter(FacetRates::differ).collect()
        };
        let mut wrong = slices(&["part", "kind", "effort"]);
        for facet in ["cause", "diagnostic", "outcome"] {
            let found = FacetRates::by_count(facet, rows);
            wrong.extend(found.filter(|found| facet != "outcome" || found.differ()));
        }
        let mut exchange = slices(&["rounds"]);
        exchange.extend(FacetRates::by_count("stop", rows).filter(FacetRates::differ));
        exchange.extend(FacetRates::by_count("finding", rows));
        Self {
            run: &summary.run,
            title: summary.run.model(),
            settings: summary.run.settings.to_string(),
            unfinished: summary.unfinished(),
            answered: rows.len(),
            questions: scores.questions,
            pages: scores.pages,
            without_answer: summary.unanswered(),
            pages_missing,
            headline: scores
                .rates
                .get(Rule::FinancialEquivalence)
                .map(PercentRate::from),
            rules: lines(&scores.rates),
            trusted: scores
                .without_suspects
                .as_ref()
                .map(|without| lines(&without.rates))
                .unwrap_or_default(),
            suspects: scores
                .without_suspects
                .as_ref()
                .map_or(0, |without| without.suspects),
            layers: layers(&scores.layers),
            anatomy: anatomy(rows),
            wrong,
            conversations: scores.conversations.iter().map(conversation).collect(),
            critic: &summary.critic,
            samples: summary.samples.as_ref(),
            flow: Flow::of(rows),
            exchange,
            latency: scores.latency.as_ref(),
            latencies: Histogram::of(rows.iter().map(|row| row.latency)),
            costs: Histogram::of(rows.iter().filter_map(|row| row.cost)),
            episodes: summary.episodes.as_ref(),
            spent: &summary.spent,
            known_cost: summary.spent.cost.known.to_f64().unwrap_or_default(),
            cost: summary.spent.cost.to_string(),
            left_out: summary.left_out_line(),
            missing: summary.missing_line(),
        }
    }
}

/// The layers of leniency; none if they add nothing.
fn layers(layers: &[crate::score::Layer]) -> Vec<LayerShare> {
    let first = layers.first().map(|layer| layer.hits);
    if layers.iter().all(|layer| Some(layer.hits) == first) {
        return Vec::new();
    }
    let slot = |layer: &crate::score::Layer| LayerShare {
        name: layer.name,
        count: layer.hits,
        percent: 100.0 * layer.rate,
    };
    layers.iter().map(slot).collect()
}

/// Causes and reasons that are drawn apart; the rest is one part.
const APART: usize = 7;

/// All judged answers in parts: accepted ones by reason, then misses by cause.
fn anatomy(rows: &[ListedRow]) -> Vec<AnswerShare> {
    let mut parts: Vec<AnswerShare> = Vec::new();
    let n = rows.iter().filter(|row| row.right().is_some()).count();
    for (right, facet, class, rest) in [
        (true, "reason", "right", "other reasons"),
        (false, "cause", "wrong", "not analysed"),
    ] {
        let rows: Vec<&ListedRow> = rows
            .iter()
            .filter(|row| row.right() == Some(right))
            .collect();
        let mut counts: Vec<(String, usize)> = Vec::new();
        for value in rows.iter().filter_map(|row| row.facet(facet).first()) {
            match counts.iter_mut().find(|(name, _)| name == value) {
                Some((_, count)) => *count += 1,
                None => counts.push((value.clone(), 1)),
            }
        }
        counts.sort_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
        let named = counts.len();
        counts.truncate(APART);
        let shown: usize = counts.iter().map(|(_, count)| count).sum();
        let mut found: Vec<(String, Option<&'static str>, usize)> = counts
            .into_iter()
            .map(|(name, count)| (name, Some(facet), count))
            .collect();
        if rows.len() > shown {
            let name = if named > APART && !right {
                "other causes"
            } else {
                rest
            };
            found.push((name.to_owned(), None, rows.len() - shown));
        }
        for (at, (name, facet, count)) in found.into_iter().enumerate() {
            let x = parts.last().map_or(0.0, |part| part.x + part.width);
            parts.push(AnswerShare {
                name,
                facet,
                class,
                shade: at.min(4),
                count,
                x,
                width: percent(count, n),
            });
        }
    }
    parts
}

fn lines(rates: &RuleRates) -> Vec<RuleRate> {
    rates
        .iter()
        .map(|(rule, rate)| RuleRate {
            name: rule.name(),
            title: rule_title(rule),
            about: about(rule),
            rate: rate.into(),
            floor: rates
                .floor()
                .filter(|_| rule == Rule::NumericalMatch)
                .map(|floor| Floor {
                    percent: 100.0 * floor.rate,
                    answer: floor.answer,
                }),
        })
        .collect()
}

/// What a rule asks for, in a line (docs/scoring.md).
fn about(rule: Rule) -> &'static str {
    match rule {
        Rule::ExactMatch => "EM: the same string, as the LangGraph baseline compares",
        Rule::NumericalMatch => {
            "NM: within 0.5, as the LangGraph baseline compares; lenient for small numbers"
        }
        Rule::ExecutionAccuracy => {
            "the official evaluator's: the answer's value is gold's, to 5 decimals"
        }
        Rule::ProgramExecution => {
            "the official evaluator's: the predicted program yields gold's value"
        }
        Rule::ProgramAccuracy => {
            "the official evaluator's: the predicted program is gold's, symbolically"
        }
        Rule::FinancialEquivalence => {
            "FE: the same figure to a reader of reports, rounding and percent signs allowed"
        }
    }
}

fn conversation(card: &crate::score::ConversationCard) -> Conversation {
    let turn = |slice: &ConversationRate| Turn {
        name: slice.name.clone(),
        rate: slice.rate.into(),
    };
    Conversation {
        rule: rule_title(card.rule),
        conversations: card.conversations,
        whole: card.whole.map(PercentRate::from),
        right_after_right: card.right_after_right.map(PercentRate::from),
        right_after_wrong: card.right_after_wrong.map(PercentRate::from),
        errors: card.errors,
        errors_after_an_error: card.errors_after_an_error,
        by_turn: card.by_turn.iter().map(turn).collect(),
    }
}
