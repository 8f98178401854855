//! Decides which answers are sure; this is the only place that does. [`Session::doubts`] lists the
//! reasons for doubt. An answer without such a reason is sure.

use std::collections::BTreeMap;

use finqa_agents::pair::verify::FindingKind;
use finqa_agents::pair::{Answer, Solution, StopReason};
use finqa_core::number::{UnitKind, currency_in, currency_of_label};
use finqa_core::page::period::{Period, Times};
use finqa_core::page::{FigureTag, MONTHS, position, years_in};
use finqa_core::question::{CitedEvidence, Question};

use super::Session;
use super::cited::{cited_table, cited_tag};
use super::confirm::{SecondReading, model_doubt};
use super::statements;
use super::written::{common_unit, write};

/// Words before the currency in which a question wants its answer: "in euros", "how many dollars".
const ASKED_IN: [&str; 5] = [
    " in ", "how many ", "millions of ", "thousands of ", "billions of ",
];

/// If the embedded analyst is not sure of its answer and has less confidence than this, the answer
/// is withheld. Set by hand.
const LEAST_CONFIDENCE: f64 = 0.1;

/// Parts of the names of us-gaap elements for amounts of future years, such as debt due next year.
const SCHEDULED: [&str; 5] = [
    "InNextTwelveMonths", "NextRollingTwelveMonths", "InYear", "RemainderOfFiscalYear", "DueYear",
];

impl Session {
    /// Writes an answer as people do, and decides whether it is sure. If the question names a
    /// statement that the file seems to lack, a guess is withheld, and an otherwise sure answer is
    /// shown with that doubt, because the statement may be there under an unknown title. If the
    /// file lacks all three statements, every guess is withheld.
    pub(super) fn judge_and_write(
        &self,
        question: &Question,
        solution: &mut Solution,
        second: Option<&SecondReading>,
    ) {
        let mut doubt = self.doubt(question, solution, second);
        let unsure = solution.answer.is_none() || doubt.is_some();
        let lacking = statements::lacking(&self.absent, &question.text, unsure);
        // Only the embedded analyst makes no calls. A chat model's answer is not withheld for its
        // confidence.
        let weak = |answer: &Answer| {
            let alone = solution.calls.is_empty();
            alone
                && answer
                    .confidence
                    .is_some_and(|confidence| confidence < LEAST_CONFIDENCE)
        };
        if let (Some(answer), Some(why)) = (&solution.answer, doubt.clone())
            && weak(answer)
        {
            *solution = solution.clone().withhold(why);
            doubt = None;
        }
        // If the answer was withheld above, this reason replaces the first, and the solution still
        // keeps the withheld answer.
        match lacking {
            Some(why) if unsure => *solution = solution.clone().withhold(why),
            Some(why) => doubt = Some(why),
            None => {}
        }
        let rounds = solution.rounds.iter_mut().map(|round| &mut round.answer);
        let answers = rounds.chain(&mut solution.answer);
        answers.for_each(|answer| write(question, answer));
        if let Some(answer) = &mut solution.answer {
            answer.doubt = doubt;
        }
    }

    /// The first of the [`Self::doubts`]; `None` if the answer is sure or there is none.
    fn doubt(
        &self,
        question: &Question,
        solution: &Solution,
        second: Option<&SecondReading>,
    ) -> Option<String> {
        self.doubts(question, solution, second).next()
    }

    /// The reasons to doubt an answer, in this order: the analyst's own doubt; a check of the
    /// critic objects to its value; a chat model's answer is not confirmed; its figures are not in
    /// the currency that the question asks for; a tag of a report contradicts the page, the scale
    /// of a figure is unknown, or the reader of the report may have misread it. Each is computed
    /// only when the iterator reaches it.
    pub(super) fn doubts<'a>(
        &'a self,
        question: &'a Question,
        solution: &'a Solution,
        second: Option<&'a SecondReading>,
    ) -> impl Iterator<Item = String> + 'a {
        // An arbitrated answer is the embedded analyst's own, so it needs no confirmation.
        let is_model = !solution.calls.is_empty() && solution.stop != StopReason::Arbitrated;
        let report = |answer: &Answer| {
            let document = Some(self.document()).filter(|document| document.is_report())?;
            let literals = answer.evidence.iter().map(|cited| cited.literal.as_str());
            tag_doubt(question, answer)
                .or_else(|| unknown_scale(question, answer))
                .or_else(|| document.doubt(literals))
        };
        let model = move |answer: &Answer| {
            let doubt = model_doubt(question, answer);
            doubt.or_else(|| second?.doubt(answer))
        };
        let answers = solution.answer.iter();
        answers.flat_map(move |answer| {
            let own = std::iter::once_with(|| answer.doubt.clone());
            let of_checks = std::iter::once_with(|| objection(question, solution));
            let of_model = std::iter::once_with(move || is_model.then(|| model(answer))?);
            let unit = std::iter::once_with(move || other_currency(question, answer));
            let of_report = std::iter::once_with(move || report(answer));
            let agents = own.chain(of_checks).chain(of_model);
            agents.chain(unit).chain(of_report).flatten()
        })
    }
}

/// First words of a yes/no question. "Can you tell me net sales?" is none.
const YES_NO: [&str; 10] = [
    "is", "are", "was", "were", "did", "does", "has", "have", "had", "do",
];

/// What the checks still object to in the value of the chosen answer: a number for a yes/no question
/// or the reverse, or another value than the one that the reply states. An implausible size is not
/// among them, because some debt is more than 150 % of the equity. "Was A or B larger?" and "do you
/// know net sales?" begin like a yes/no question, but ask for something else.
fn objection(question: &Question, solution: &Solution) -> Option<String> {
    let lower = question.text.to_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    let other = lower.contains(" or ") || lower.starts_with("do you");
    let of_value = |kind: FindingKind| match kind {
        FindingKind::YesNo => YES_NO.contains(&first) && !other,
        kind => kind == FindingKind::AnswerMismatch,
    };
    let mut rounds = solution.rounds.iter();
    let chosen = rounds.find(|round| Some(round.number) == solution.chosen_round)?;
    let mut findings = chosen.findings.iter();
    let found = findings.find(|finding| of_value(finding.kind))?;
    Some(found.problem.trim_end_matches('.').to_owned())
}

/// The reason for doubt if the question asks for another currency than that of the figures. `None`
/// also if one of the two is not stated.
fn other_currency(question: &Question, answer: &Answer) -> Option<String> {
    let lower = question.text.to_lowercase();
    let currency_after = |end: usize| {
        // Two words, as in "us dollars".
        let words = lower.get(end..)?.split_whitespace().take(2);
        currency_of_label(&words.collect::<Vec<_>>().join(" "))
    };
    // A year or a place may follow the first "in": "What was revenue in 2031 in euros?"
    let asked = ASKED_IN.iter().find_map(|start| {
        let mut found = lower.match_indices(start);
        found.find_map(|(at, _)| currency_after(at + start.len()))
    })?;
    let printed = common_unit(question, answer).currency?;
    // A bare "$" may be the dollar of any country, so it agrees with "US$"; "US$" and "CA$" differ.
    let bare = asked == "$" || printed == "$";
    let same = asked == printed || bare && asked.ends_with('$') && printed.ends_with('$');
    (!same).then(|| format!("the question asks for {asked}, but the figures are in {printed}"))
}

/// The reason for doubt if the table of a cited amount states no unit, but at least half of the
/// tables of the page (set by hand) state a scale. The answer to "how many" may be a number of
/// things, which has no scale, so it is not doubted. Otherwise `None`.
fn unknown_scale(question: &Question, answer: &Answer) -> Option<String> {
    let counts = question.text.to_lowercase().starts_with("how many");
    if counts || answer.unit.kind != UnitKind::Number || answer.unit.scale.is_some() {
        return None;
    }
    let unknown = |cited: &CitedEvidence| {
        let place = position(&cited.id)?;
        let (table, row) = cited_table(question, place)?;
        let unknown = table.lacks_scale(row, place.1) && cited_tag(question, place).is_none();
        unknown.then_some(())
    };
    answer.evidence.iter().find_map(unknown)?;
    let page = question.document.page();
    let (mut scales, mut all) = (Vec::new(), 0);
    for table in page.tables() {
        all += 1;
        scales.extend(table.scale());
    }
    let scale = scales.first().filter(|_| 2 * scales.len() >= all)?;
    Some(format!(
        "the table states no unit, other tables are in {}s",
        scale.word()
    ))
}

/// The reason to doubt an answer because the tag of one of its figures contradicts the page, in
/// the scale, the year or the length of the period.
fn tag_doubt(question: &Question, answer: &Answer) -> Option<String> {
    let usual = usual_years_apart(question);
    answer.evidence.iter().find_map(|cited| {
        let place = position(&cited.id)?;
        let tag = cited_tag(question, place)?;
        let (table, row) = cited_table(question, place)?;
        // For a figure whose scale was taken from its tag, this is the scale of the tag.
        let printed = table.scale_at(row, place.1);
        // Shares, barrels, ratios and amounts per share have scales of their own.
        let money = !tag.unit.contains('/') && currency_in(&tag.unit).is_some();
        let power = u32::try_from(tag.scale);
        if let Some(printed) = printed.filter(|one| money && power != Ok(one.units().ilog10())) {
            return Some(format!(
                "the table is in {}s, but the tag of {} says 10^{}",
                printed.word(),
                cited.literal,
                tag.scale
            ));
        }
        if money && printed.is_none() && tag.scale != 0 {
            return Some(format!(
                "no scale is printed, but the tag of {} says 10^{}",
                cited.literal, tag.scale
            ));
        }
        // The columns of a schedule name future years, but the tags of its figures have the date of
        // the report.
        if SCHEDULED.iter().any(|part| tag.concept.contains(part)) {
            return None;
        }
        let heading = &table.columns().get(place.1)?.label;
        let year = years_apart(question, tag);
        let year = year.is_none_or(|(named, apart)| apart == if named { usual } else { 0 });
        let tagged = Period::of_tag(&tag.period).and_then(|period| period.months);
        let length = months(heading).zip(tagged);
        // "Sixteen weeks" in a heading counts as three months, but as four in a tag.
        let fits = year && length.is_none_or(|(head, tagged)| head.abs_diff(tagged) <= 1);
        (!fits).then(|| {
            format!(
                "the tag of {} is of {}, its column of {heading}",
                cited.literal, tag.period
            )
        })
    })
}

/// The year in the column heading of a tagged cell, minus the year in which the tag's period ends.
/// The `bool` is true if the heading names no month: its year may be a fiscal year, which may have
/// another number than the calendar year in which it ends. `None` if the two years cannot be
/// compared.
fn years_apart(question: &Question, tag: &FigureTag) -> Option<(bool, i32)> {
    let (table, row) = cited_table(question, (tag.row, tag.column))?;
    let label = table.rows().get(row)?.label.to_lowercase();
    // An opening balance is dated before its column's period, and a row whose label names a year
    // has a period of its own.
    if label.contains("begin") || !years_in(&label).is_empty() {
        return None;
    }
    let heading = table.columns().get(tag.column)?.label.to_lowercase();
    let mut short = MONTHS.iter().filter_map(|month| month.get(..3));
    let named = !short.any(|month| heading.contains(month));
    let end = Period::of_tag(&tag.period)?.end;
    // A year of 52 or 53 weeks may end in the first days of January; it counts as the year before.
    let early = end.month == Some(1) && end.day.is_some_and(|day| day <= 7);
    let end = i32::from(end.year?) - i32::from(named && early);
    let apart = years_in(&heading).into_iter();
    let apart = apart.map(|year| i32::from(year) - end);
    // If the heading names several years, one that agrees with the tag is enough.
    Some((named, apart.min_by_key(|years| years.abs())?))
}

/// The difference, as in [`years_apart`], that more than half of the tagged cells have whose column
/// heading names no month; 0 if no difference has a majority. It is −1 for a company that names a
/// fiscal year after the calendar year in which it begins.
fn usual_years_apart(question: &Question) -> i32 {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    let tags = question
        .document
        .tables
        .iter()
        .flat_map(|start| &start.tags);
    for (_, apart) in tags
        .filter_map(|tag| years_apart(question, tag))
        .filter(|(named, _)| *named)
    {
        *counts.entry(apart).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let most = counts.into_iter().find(|(_, count)| 2 * count > all);
    most.map_or(0, |(apart, _)| apart)
}

/// The number of months in the period that a heading names: 3 for "three months ended". `None` if
/// it names no period with a known length.
fn months(heading: &str) -> Option<u8> {
    let months = Times::heading(heading).0?.months?;
    // 0 means the year so far, which may have any length.
    (months > 0).then_some(months)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use finqa_core::page::TableStart;
    use finqa_core::question::{CitedEvidence, Document, QuestionKey, QuestionKind};

    /// A question about a page with two columns of figures below the line `unit`. The first column
    /// has this `heading`, and its figure has a tag with this `scale` for the year that ends in
    /// September 2033. The second column is headed 2031, and its figure has two tags for a year
    /// that ends `behind` years after 2031.
    fn question(heading: &str, unit: &str, scale: i32, behind: u16) -> Question {
        let others = [2, 2].map(|column| FigureTag {
            row: 2,
            column,
            concept: "us-gaap:Costs".to_owned(),
            period: format!("{}-10-01 to {}-09-30", 2030 + behind, 2031 + behind),
            unit: "USD".to_owned(),
            scale: 6,
            members: Vec::new(),
        });
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let document = Document {
            table: vec![
                row(["", heading, "2031"]),
                row(["Net sales", "1,204", "987"]),
                row(["Costs", "700", "600"]),
            ],
            tables: vec![TableStart {
                row: 0,
                above: vec!["Income".to_owned(), unit.to_owned()],
                tags: vec![FigureTag {
                    row: 1,
                    column: 1,
                    concept: "us-gaap:Revenues".to_owned(),
                    period: "2032-10-01 to 2033-09-30".to_owned(),
                    unit: "USD".to_owned(),
                    scale,
                    members: Vec::new(),
                }]
                .into_iter()
                .chain(others)
                .collect(),
                ..TableStart::default()
            }],
            own: true,
            ..Document::default()
        };
        Question {
            key: QuestionKey {
                id: "report.htm".to_owned(),
                part: "0".to_owned(),
            },
            kind: QuestionKind::StandAlone,
            document: Arc::new(document),
            text: "net sales?".to_owned(),
            history: Vec::new(),
        }
    }

    fn cited() -> CitedEvidence {
        CitedEvidence {
            id: "r1c1".to_owned(),
            literal: "1,204".to_owned(),
        }
    }

    #[test]
    fn a_tag_that_says_something_else_than_the_page_is_a_reason_to_doubt() {
        let of_year = "the tag of 1,204 is of 2032-10-01 to 2033-09-30, its column of";
        let millions = "the table is in millions, but the tag of 1,204 says 10^3";
        let quarter = "Three months ended September 30, 2033";
        for (heading, unit, scale, behind, doubt) in [
            ("2033", "(In millions)", 6, 0, String::new()),
            ("Fiscal 2032", "(In millions)", 6, 1, String::new()),
            (
                "Year ended September 30, 2033",
                "(In millions)",
                6,
                1,
                String::new(),
            ),
            ("2033", "(In millions)", 3, 0, millions.to_owned()),
            (
                "2033",
                "",
                6,
                0,
                "no scale is printed, but the tag of 1,204 says 10^6".to_owned(),
            ),
            ("2032", "(In millions)", 6, 0, format!("{of_year} 2032")),
            ("2033", "(In millions)", 6, 1, format!("{of_year} 2033")),
            (
                quarter,
                "(In millions)",
                6,
                0,
                format!("{of_year} {quarter}"),
            ),
        ] {
            let answer = Answer {
                evidence: vec![cited()],
                ..Answer::default()
            };
            let found = tag_doubt(&question(heading, unit, scale, behind), &answer);
            assert_eq!(
                found.unwrap_or_default(),
                doubt,
                "{heading} {scale} {behind}"
            );
        }
    }
}
