//! Which answers are sure: the one place that decides it. The analyst and the readers deliver
//! reasons for doubt; an answer is sure if there is none.

use std::collections::BTreeMap;

use finqa_agents::pair::{Answer, Solution};
use finqa_core::number::Scale;
use finqa_core::page::period::Times;
use finqa_core::page::{FigureTag, MONTHS, Table, position, years_in};
use finqa_core::question::Question;
use finqa_core::text::single_spaced;

use super::Session;

/// Parts of the names of elements that are of a future year, by the us-gaap taxonomy.
const SCHEDULED: [&str; 5] = [
    "InNextTwelveMonths", "NextRollingTwelveMonths", "InYear", "RemainderOfFiscalYear", "DueYear",
];

impl Session {
    /// The reason why an answer is not sure: the analyst's own, that of a second opinion, of the
    /// tags, or of the reader of the document.
    pub(super) fn doubt(&self, question: &Question, solution: &Solution) -> Option<String> {
        let answer = solution.answer.as_ref()?;
        let opinion = || opinion_caveat(solution).filter(|_| self.shows_opinion);
        let report = || {
            let document = Some(self.document()).filter(|document| document.is_report())?;
            let literals = answer.evidence.iter().map(|cited| cited.literal.as_str());
            tag_doubt(question, answer).or_else(|| document.doubt(literals))
        };
        answer.doubt.clone().or_else(opinion).or_else(report)
    }
}

/// A caveat if a second opinion that is sure disagrees.
fn opinion_caveat(solution: &Solution) -> Option<String> {
    solution.answer.as_ref()?.value.as_ref()?;
    let other = solution.opinion.as_ref()?;
    let differs = other.agrees == Some(false) && other.arbitration.is_none();
    (differs && other.is_sure()).then(|| {
        let (printed, confidence) = (single_spaced(&other.printed), other.confidence);
        format!("the second opinion is {printed}, confidence {confidence:.2}")
    })
}

/// The table of a cell of the page, and its row there.
pub fn cited_table(question: &Question, place: (usize, usize)) -> Option<(&Table, usize)> {
    question.document.page().table_of_row(place.0)
}

/// The tag of a cell of the page.
pub fn cited_tag(question: &Question, place: (usize, usize)) -> Option<&FigureTag> {
    let starts = question.document.tables.iter();
    let mut tags = starts.flat_map(|start| &start.tags);
    tags.find(|tag| (tag.row, tag.column) == place)
}

/// The reason to doubt an answer of whose figures a tag says something else than the page.
fn tag_doubt(question: &Question, answer: &Answer) -> Option<String> {
    let usual = usual_years_apart(question);
    answer.evidence.iter().find_map(|cited| {
        let place = position(&cited.id)?;
        let tag = cited_tag(question, place)?;
        let (table, row) = cited_table(question, place)?;
        // Where nothing is printed, it is the tag's.
        let printed = table.scale_at(row, place.1);
        // Shares, ratios and amounts per share have scales of their own.
        let money = tag.unit.len() == 3;
        if let Some(printed) = printed.filter(|printed| money && power(*printed) != tag.scale) {
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
        // A schedule's figures are of the years to come, their tags of the day of the report.
        if SCHEDULED.iter().any(|part| tag.concept.contains(part)) {
            return None;
        }
        let heading = &table.columns().get(place.1)?.label;
        let year = years_apart(question, tag);
        let year = year.is_none_or(|(named, apart)| apart == if named { usual } else { 0 });
        let length = months(heading).zip(tagged_months(&tag.period));
        let fits = year && length.is_none_or(|(head, tagged)| head.abs_diff(tagged) <= 1);
        (!fits).then(|| {
            format!(
                "the tag of {} is of {}, its column of {heading}",
                cited.literal, tag.period
            )
        })
    })
}

/// How many years later a tag's column is called than its period ends; and whether it is called by
/// a year alone, which may be a fiscal one.
fn years_apart(question: &Question, tag: &FigureTag) -> Option<(bool, i32)> {
    let (table, row) = cited_table(question, (tag.row, tag.column))?;
    let label = table.rows().get(row)?.label.to_lowercase();
    // An opening balance is of the day before the column's period.
    if label.contains("begin") || !years_in(&label).is_empty() {
        return None;
    }
    let heading = table.columns().get(tag.column)?.label.to_lowercase();
    let mut short = MONTHS.iter().filter_map(|month| month.get(..3));
    let named = !short.any(|month| heading.contains(month));
    let [year, month, day] = *dates(&tag.period).last()?;
    // A year of 53 weeks may end on the first days of the next.
    let end = year - i32::from(named && month == 1 && day <= 7);
    let apart = years_in(&heading).into_iter();
    let apart = apart.map(|year| i32::from(year) - end);
    Some((named, apart.min_by_key(|years| years.abs())?))
}

/// The years that most columns called by a year alone are apart from their tags.
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

/// How long a column's period is by its heading.
fn months(heading: &str) -> Option<i32> {
    let months = Times::heading(heading).0?.months?;
    // The year so far is of any length.
    (months > 0).then(|| i32::from(months))
}

/// The months of a tag's period; `None` of a point in time.
fn tagged_months(period: &str) -> Option<i32> {
    let [start, end] = *dates(period).as_slice() else {
        return None;
    };
    let days = |[year, month, day]: [i32; 3]| year * 360 + month * 30 + day;
    Some((days(end) - days(start) + 15) / 30)
}

/// The days of a tag's period: year, month, day.
fn dates(period: &str) -> Vec<[i32; 3]> {
    let date = |word: &str| {
        let parts: Option<Vec<i32>> = word.split('-').map(|part| part.parse().ok()).collect();
        <[i32; 3]>::try_from(parts?).ok()
    };
    period.split_whitespace().filter_map(date).collect()
}

/// The power of ten of a scale.
fn power(scale: Scale) -> i32 {
    match scale {
        Scale::Thousand => 3,
        Scale::Million => 6,
        Scale::Billion => 9,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use finqa_core::page::TableStart;
    use finqa_core::question::{CitedEvidence, Document, QuestionKey, QuestionKind};

    /// Its first column has a tag of 2033 of this scale, its second two tags of years that end
    /// `behind` years after its heading.
    fn question(heading: &str, unit: &str, scale: i32, behind: u16) -> Question {
        let others = [2, 2].map(|column| FigureTag {
            row: 2,
            column,
            concept: "us-gaap:Costs".to_owned(),
            period: format!("{}-10-01 to {}-09-30", 2030 + behind, 2031 + behind),
            unit: "USD".to_owned(),
            scale: 6,
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
