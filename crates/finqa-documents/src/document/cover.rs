//! Reads the cover of a report: the company, the period, and in which month its fiscal years end.

use std::collections::HashMap;
use std::sync::LazyLock;

use finqa_core::page::{Cover, MONTHS};
use finqa_core::pattern;
use finqa_core::regex;
use finqa_core::text::Pattern;
use regex::Regex;

use crate::block::Block;

/// The period that the cover of a report states: "for the fiscal year ended September 28, 2031".
static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let date = format!(r"(?:{}) \d\d?, ?\d{{4}}", MONTHS.join("|"));
    regex!(&format!(
        r"(?i)\b(?P<year>fiscal year|year|quarterly period|quarter)[- ](?:ended|ending):? (?P<date>{date})"
    ))
});

/// A fiscal year in a sentence: "in fiscal 2031". Only from 2000 on, so the sentences of an
/// older report give no fiscal year.
static FISCAL: Pattern = pattern!(r"(?i)\bfiscal (?:year )?(?P<year>20\d\d)\b");

/// Minimum number of times that sentences must name a year for it to count as the fiscal year. Set
/// by hand. When [`named_year`] was added, 673 instead of 522 of 776 questions about filings
/// without their tags were right and sure.
const LEAST_NAMED: usize = 5;

/// Reads the cover from its tags, otherwise from a table with the same names, as workbooks have,
/// otherwise from its sentences. Fields that are not found are empty.
pub(super) fn read(blocks: &[Block], tagged: &HashMap<String, String>) -> Cover {
    // Tags precede the rows of tables, and the first row with a name precedes later ones.
    let mut named = tagged.clone();
    for block in blocks {
        let Block::Table(table) = block else {
            continue;
        };
        for row in &table.rows {
            if let [label, value, ..] = row.as_slice() {
                let name: String = label.text.split_whitespace().collect();
                named
                    .entry(name.to_lowercase())
                    .or_insert_with(|| value.text.clone());
            }
        }
    }
    let text = |name: &str| named.get(name).filter(|text| !text.is_empty()).cloned();
    let texts = || {
        blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Table(_) => None,
        })
    };
    let exact = |text: &str| text.to_lowercase().contains("exact name of");
    // The name is in the line above "(Exact name of registrant as specified in its charter)".
    let registrant = texts().zip(texts().skip(1)).find(|(_, next)| exact(next));
    let stated = texts().find_map(|text| PERIOD.captures(text));
    let date = |name: &str| stated.as_ref().and_then(|found| found.name(name));
    let period_end = text("documentperiodenddate")
        .or_else(|| date("date").map(|date| date.as_str().to_owned()))
        .unwrap_or_default();
    // Only the period of an annual report ends with a fiscal year.
    let yearly = date("year").is_some_and(|of| of.as_str().to_lowercase().ends_with("year"));
    Cover {
        company: text("entityregistrantname")
            .or_else(|| registrant.map(|(name, _)| name.to_owned()))
            .unwrap_or_default(),
        fiscal_year: text("documentfiscalyearfocus")
            .and_then(|year| year.parse().ok())
            .or_else(|| named_year(texts(), date("date")?.as_str()).filter(|_| yearly)),
        year_end: text("currentfiscalyearenddate")
            .and_then(|date| month_of_digits(&date))
            .or_else(|| month_of_words(date("date")?.as_str()).filter(|_| yearly)),
        period_end,
    }
}

/// The fiscal year that an annual report names at least [`LEAST_NAMED`] times, and at least twice
/// as often as any other. `None` unless its period ends in that year or the next one. Companies
/// that end their year in January can name it after either.
fn named_year<'t>(texts: impl Iterator<Item = &'t str>, period_end: &str) -> Option<u16> {
    let mut counts: HashMap<u16, usize> = HashMap::new();
    for named in texts.flat_map(|text| FISCAL.captures_iter(text)) {
        if let Some(year) = named
            .name("year")
            .and_then(|year| year.as_str().parse().ok())
        {
            *counts.entry(year).or_default() += 1;
        }
    }
    // On a tie, `clear` below is false for either year.
    let (year, most) = counts.iter().max_by_key(|(_, count)| **count)?;
    let mut others = counts.iter().filter(|(other, _)| *other != year);
    // The date ends with its year.
    let ends: u16 = period_end
        .get(period_end.len().checked_sub(4)?..)?
        .parse()
        .ok()?;
    let apart = ends.checked_sub(*year)? <= 1;
    let clear = *most >= LEAST_NAMED && others.all(|(_, count)| 2 * count <= *most);
    (apart && clear).then_some(*year)
}

/// The month in which a fiscal year ends, from `--09-28`.
fn month_of_digits(date: &str) -> Option<u8> {
    let (month, day) = date.trim_start_matches('-').split_once('-')?;
    month_of_year_end(month.parse().ok()?, day.parse().ok()?)
}

/// The month in which a fiscal year ends, from "September 28, 2031". `None` for any other text.
fn month_of_words(date: &str) -> Option<u8> {
    let (name, day) = date.split_once(' ')?;
    let name = name.to_lowercase();
    let at = MONTHS.iter().position(|month| *month == name)?;
    let day = day.split(',').next()?;
    month_of_year_end(u8::try_from(at + 1).ok()?, day.parse().ok()?)
}

/// The month that a year's end belongs to: a fiscal year of 52 or 53 weeks that ends in the first
/// days of a month counts as that of the month before. `None` if `month` is not a month.
fn month_of_year_end(month: u8, day: u8) -> Option<u8> {
    // The month before; it is December for January.
    let last = if day <= 7 {
        (month + 10) % 12 + 1
    } else {
        month
    };
    (1..=12).contains(&month).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::html::blocks;

    /// Before, a year that ends in January was never sure without tags.
    #[test]
    fn the_fiscal_year_is_the_one_that_an_annual_report_names_most() {
        let year = |names: &[(u16, usize)]| {
            let sentences = names.iter().flat_map(|(year, count)| {
                std::iter::repeat_n(format!("<p>In fiscal {year} sales rose.</p>"), *count)
            });
            let text: String = sentences.collect();
            let page = format!("<p>For the fiscal year ended January 31, 2031</p>{text}");
            let (blocks, tagged) = blocks(&page).unwrap();
            read(&blocks, &tagged).fiscal_year
        };
        assert_eq!(year(&[(2030, 9), (2029, 4), (2031, 1)]), Some(2030));
        assert_eq!(year(&[(2031, 9), (2030, 4)]), Some(2031));
        assert_eq!(year(&[(2031, 9), (2030, 5)]), None);
        assert_eq!(year(&[(2031, 4)]), None);
        assert_eq!(year(&[(2028, 9)]), None);
    }

    #[test]
    fn a_cover_is_read_from_tags_or_sentences() {
        let tagged = "<ix:header><ix:hidden><ix:nonNumeric name='dei:CurrentFiscalYearEndDate'>--02-01</ix:nonNumeric>\
            <ix:nonNumeric name='dei:DocumentFiscalYearFocus'>2030</ix:nonNumeric></ix:hidden></ix:header>\
            <p><ix:nonNumeric name='dei:EntityRegistrantName'>Acme Corp.</ix:nonNumeric></p>";
        let plain = "<p>For the fiscal year ended January 31, 2031</p><p>Acme Corp.</p><p>(Exact name of registrant)</p>";
        for (text, fiscal_year) in [(tagged, Some(2030)), (plain, None)] {
            let (blocks, tagged) = blocks(text).unwrap();
            let cover = read(&blocks, &tagged);
            assert_eq!(
                (cover.company.as_str(), cover.year_end),
                ("Acme Corp.", Some(1))
            );
            assert_eq!(cover.fiscal_year, fiscal_year);
        }
    }
}
