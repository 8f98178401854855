//! Questions that change one part of the one before: "and in 2022?", "what about rent?", "in
//! percent?". They are written out in full, and read like any other.

use std::ops::Range;

use super::asked_spans::asked_spans;
use super::axis::{AxisLabel, label_words};
use super::is_complete;
use super::lines::LabelledTable;
use super::phrase::AskedPhrase;
use crate::question::operations::is_operation;
use crate::question::wording::Wording;
use crate::reading::text::stem;
use finqa_core::page::period::{CalendarSpan, NamedSpan, WHOLE, spans};

/// How a question that leans on the one before begins.
pub(super) const ELLIPTICAL: [&str; 8] = [
    "and", "what about", "how about", "then", "so", "also", "but", "same for",
];

/// Words of a question without its subject.
const AROUND: [&str; 22] = [
    "what about", "how about", "what", "was", "were", "is", "are", "did", "do", "how", "about",
    "same", "for", "then", "so", "also", "but", "and", "in", "the", "of", "ok",
];

/// The question in full, if it changes one part of the last of the earlier ones.
pub(super) fn in_full(
    table: &LabelledTable<'_>,
    earlier: &[&str],
    question: &str,
) -> Option<String> {
    let mut asked: Vec<String> = Vec::new();
    for text in earlier {
        match written_out(table, &asked, text) {
            Some(text) => asked.push(text),
            None => asked.clear(),
        }
    }
    written_out(table, &asked, question)
}

fn written_out(table: &LabelledTable<'_>, asked: &[String], question: &str) -> Option<String> {
    let phrase = AskedPhrase::read(table, question);
    if is_complete(table, &phrase) {
        return Some(question.to_owned());
    }
    let before = asked.last()?;
    let wording = &phrase.wording;
    let refers = wording.says(&["that", "this", "those", "these", "it", "them", "they"]);
    let named = phrase.operand(table, phrase.text(), &[&AROUND]);
    let (operations, words): (Vec<String>, Vec<String>) =
        named.words.into_iter().partition(|word| is_operation(word));
    let elliptical = wording.starts(&ELLIPTICAL);
    match (operations.is_empty(), words.is_empty(), phrase.spans()) {
        // "And what was it in 2022?"
        (true, true, [_, ..]) if elliptical || refers => other_periods(before, question),
        _ if refers => None,
        (_, true, []) if wording.change() => {
            let [.., first, second] = asked else {
                return None;
            };
            let change = change_between(table, first, second)?;
            Some(if wording.percent() {
                format!("{change} in percent")
            } else {
                change
            })
        }
        (_, true, []) if wording.percent() => {
            let moves = Wording::read(before);
            let change = moves.change() || moves.says(&["grown", "fell", "fallen", "risen"]);
            change.then(|| format!("{} in percent", bare(before)))
        }
        (true, false, dated) if elliptical => {
            let text = other_label(table, before, question, &words)?;
            if dated.is_empty() {
                Some(text)
            } else {
                other_periods(&text, question)
            }
        }
        _ => None,
    }
}

fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(['?', '.', ' '])
}

/// The question about the periods of another one.
fn other_periods(before: &str, question: &str) -> Option<String> {
    let (lower, question) = (before.to_lowercase(), question.to_lowercase());
    let (old, new) = (spans(&lower), spans(&question));
    if old.is_empty() && new.len() == 1 {
        return Some(format!(
            "{} in {}",
            bare(before),
            question.get(new.first()?.at.clone())?
        ));
    }
    if old.len() != new.len() {
        return None;
    }
    let mut text = lower.clone();
    for (old, new) in old.iter().zip(&new).rev() {
        let part = |span: CalendarSpan| span.months.is_some_and(|months| months != WHOLE);
        // "And in 2022?" after a quarter may mean the quarter or the year.
        if part(old.span) && !part(new.span) {
            return None;
        }
        let mut written = question.get(new.at.clone())?.to_owned();
        if let (Some(year), None) = (old.span.year, new.span.year) {
            written = format!("{written} {year}");
        }
        text.replace_range(old.at.clone(), &written);
    }
    Some(text)
}

/// A word of a text and its place.
fn words_of(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let bounds = |word: &str| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        start..start + word.len()
    };
    text.split(|c: char| c.is_whitespace() || matches!(c, '?' | ',' | '(' | ')'))
        .filter(|word| !word.is_empty())
        .map(move |word| (bounds(word), stem(&word.to_lowercase()).into_owned()))
}

/// The question about another row or column, or another name of one.
fn other_label(
    table: &LabelledTable<'_>,
    before: &str,
    question: &str,
    words: &[String],
) -> Option<String> {
    let says_all = |label: &AxisLabel| {
        let mut own = words.iter().map(|word| label.words.contains(word));
        own.len() > 0 && own.all(|said| said)
    };
    let keys = (0..table.keys.len()).map(|key| {
        let rows = table.rows.iter().skip(1);
        rows.filter_map(|row| row.keys.get(key)).collect::<Vec<_>>()
    });
    let lines =
        [&table.rows, &table.columns].map(|labels| labels.iter().skip(1).collect::<Vec<_>>());
    let rows_have_keys = !table.keys.is_empty();
    let mut axes = keys.chain(lines.into_iter().skip(usize::from(rows_have_keys)));
    let axis = axes.find(|labels| labels.iter().any(|label| says_all(label)))?;
    let of_axis = |word: &String| {
        let said = axis.iter().any(|label| label.words.contains(word));
        said && !is_operation(word)
    };
    let place = |text: &str, is: &dyn Fn(&String) -> bool| -> Option<Range<usize>> {
        let found: Vec<_> = words_of(text)
            .filter(|(_, word)| is(word))
            .map(|(at, _)| at)
            .collect();
        Some(found.first()?.start..found.last()?.end)
    };
    let new = question.get(place(question, &|word| words.contains(word))?)?;
    let spans = spans(&before.to_lowercase());
    match place(before, &of_axis) {
        Some(at)
            if !spans
                .iter()
                .any(|NamedSpan { at: span, .. }| span.start < at.end && at.start < span.end) =>
        {
            let mut text = before.to_owned();
            text.replace_range(at, new);
            Some(text)
        }
        None if rows_have_keys => Some(format!("{} for {new}", bare(before))),
        _ => None,
    }
}

/// The change between two questions that differ in their period alone.
fn change_between(table: &LabelledTable<'_>, first: &str, second: &str) -> Option<String> {
    let quantity = |text: &str| -> Option<(CalendarSpan, String, String)> {
        let lower = text.to_lowercase();
        let [named] = asked_spans(&lower).named.try_into().ok()?;
        let written = lower.get(named.at.clone())?.to_owned();
        let mut rest = lower.clone();
        rest.replace_range(named.at, " ");
        let words =
            words_of(&rest).filter(|(_, word)| table.means(word) && !label_words(word).is_empty());
        let words: Vec<&str> = words.filter_map(|(at, _)| rest.get(at)).collect();
        Some((named.span, written, words.join(" ")))
    };
    let (a, b) = (quantity(first)?, quantity(second)?);
    let (early, late) = if a.0.order() <= b.0.order() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    let same = a.2 == b.2 && !a.2.is_empty() && a.0 != b.0;
    same.then(|| {
        format!(
            "what was the change in {} from {} to {}",
            a.2, early.1, late.1
        )
    })
}
