//! The data that the report's template prints above the list of questions.

use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;

use finqa_agents::llm::settings::OFFLINE;
use finqa_core::stats::Rate;
use finqa_journal::run::{EpisodeSummary, Summary};
use finqa_score::score::{LabelFloor, Rule, RuleRates};

use super::InProgress;
use super::figures::{BarPart, FacetRates, percent};
use super::list::ReportQuestions;
use super::risk::RiskFigure;

/// The variables of the template of the report's page.
#[derive(Serialize)]
pub(super) struct ReportView<'a> {
    /// `None` for the report of a run that has ended.
    pub(super) in_progress: Option<InProgress>,
    summary: &'a Summary,
    /// The model's name, without its address.
    title: &'a str,
    is_embedded: bool,
    /// Number of answers that the checks examined and did not accept.
    doubted: usize,
    /// Number of answers that the checks examined.
    checked: usize,
    settings: String,
    /// The reason why the run is not complete, and the command that continues it.
    unfinished: Option<(String, String)>,
    answered: usize,
    without_answer: usize,
    /// Changes since the start of the run: renewed golds, and other addresses of models.
    changes: Vec<String>,
    /// A line with the number of questions with gold; `None` if all have one.
    gold_line: Option<String>,
    /// The reason why the pages are not available; `None` if they are.
    pages_missing: Option<&'a str>,
    headline: Option<Rate>,
    rules: Vec<RuleRate>,
    /// The scores without the questions whose gold is suspect.
    trusted: Vec<RuleRate>,
    anatomy: Vec<BarPart>,
    wrong: Vec<FacetRates>,
    exchange: Vec<FacetRates>,
    episodes: Option<&'a EpisodeSummary>,
    known_cost: f64,
    cost: String,
    missing: Option<String>,
    risk: Option<RiskFigure<'a>>,
}

#[derive(Serialize)]
struct RuleRate {
    name: &'static str,
    title: &'static str,
    rate: Rate,
    floor: Option<LabelFloor>,
}

impl<'a> ReportView<'a> {
    pub(super) fn of(
        summary: &'a Summary,
        list: &ReportQuestions,
        pages_missing: Option<&'a str>,
    ) -> Self {
        let scores = &summary.scores;
        let slices = |facets: &[&'static str]| -> Vec<FacetRates> {
            let found = facets
                .iter()
                .filter_map(|facet| FacetRates::of(facet, list));
            found.filter(FacetRates::differ).collect()
        };
        let mut wrong = slices(&["part", "kind", "effort"]);
        for facet in ["cause", "diagnostic", "outcome"] {
            // If all questions have the same outcome, its figure would be a single full bar.
            let found = FacetRates::by_count(facet, list);
            wrong.extend(found.filter(|found| facet != "outcome" || found.differ()));
        }
        let mut exchange = slices(&["rounds"]);
        exchange.extend(FacetRates::by_count("stop", list).filter(FacetRates::differ));
        exchange.extend(FacetRates::by_count("finding", list));
        let [accepted, unchecked] = ["accepted", "no_verdict"].map(|wanted| {
            let mut stops = list.values("stop");
            stops
                .find(|(name, _)| *name == wanted)
                .map_or(0, |(_, value)| value.count)
        });
        let model = summary.run.model();
        let is_embedded = model == OFFLINE;
        let without_suspects = scores.without_suspects.as_ref();
        Self {
            in_progress: None,
            summary,
            title: if is_embedded {
                "Embedded analyst"
            } else {
                model
            },
            is_embedded,
            checked: list.rows.saturating_sub(unchecked),
            doubted: list.rows.saturating_sub(accepted + unchecked),
            settings: summary.run.settings.to_string(),
            unfinished: summary.unfinished(&summary.run.output()),
            answered: list.rows,
            without_answer: summary.unanswered(),
            changes: summary.run.change_lines(),
            gold_line: scores.gold_line(),
            pages_missing,
            headline: scores.rates.get(Rule::FinancialEquivalence),
            rules: lines(&scores.rates),
            trusted: without_suspects.map_or_else(Vec::new, |without| lines(&without.rates)),
            anatomy: anatomy(list),
            wrong,
            exchange,
            episodes: summary.episodes.as_ref(),
            known_cost: summary.spent.cost.known.to_f64().unwrap_or_default(),
            cost: format!("{}{}", summary.spent.cost, summary.unpriced_note()),
            missing: summary.missing_line(),
            risk: summary.risk.as_ref().map(RiskFigure::of),
        }
    }
}

/// The bar of all answers with gold: accepted answers by reason, followed by misses by cause.
fn anatomy(list: &ReportQuestions) -> Vec<BarPart> {
    let mut parts: Vec<BarPart> = Vec::new();
    // An accepted answer has exactly one reason, and a miss exactly one cause, so the parts add up
    // to the bar.
    for (facet, class) in [("reason", "right"), ("cause", "wrong")] {
        let mut values: Vec<_> = list.values(facet).collect();
        values.sort_by_key(|(_, value)| std::cmp::Reverse(value.count));
        for (at, (name, value)) in values.into_iter().enumerate() {
            parts.push(BarPart {
                name: name.clone(),
                facet,
                class,
                // The stylesheet has five shades.
                shade: at.min(4),
                count: value.count,
                x: parts.last().map_or(0.0, |part| part.x + part.width),
                width: percent(value.count, list.judged),
            });
        }
    }
    parts
}

/// The rate of each rule. Only NM has a floor, because many golds are small fractions.
fn lines(rates: &RuleRates) -> Vec<RuleRate> {
    rates
        .iter()
        .map(|(rule, rate)| RuleRate {
            name: rule.name(),
            title: rule.title(),
            rate,
            floor: rates.floor().filter(|_| rule == Rule::NumericalMatch),
        })
        .collect()
}
