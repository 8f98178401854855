//! Answers a question for a text of a single table: "who supplies the ladder?", "which category is
//! the ladder?", "when is the audit due?"
//!
//! The question names one row and one column, and has no other word.

use std::collections::HashSet;

use finqa_core::number::UnitKind;
use finqa_core::program::Leaf;

use super::direct_answer::DirectAnswer;
use super::operation::answer;
use crate::tables::find::FigureExpr;
use crate::tables::page::Tables;
use crate::tables::page::days::is_day;
use crate::tables::page::table::ReportTable;
use crate::tables::words::{is_light, lists, lists_stem, plain_stems};

/// The name of the answer.
pub(crate) const TEXT: &str = "text";

/// Headings of columns of persons, and what those do: "who supplies the ladder?" The forms are not
/// interchangeable: "who is supplied by Fenn?" asks for something else.
const ROLES: [(&str, &str); 8] = [
    ("supplier vendor provider", "supplies delivers provides"),
    ("owner", "owns responsible charge"),
    (
        "manager lead leader head director",
        "manages leads heads runs directs responsible charge",
    ),
    ("responsible", "responsible charge runs"),
    ("contact", "contact"),
    (
        "teacher tutor trainer coach", "teaches tutors trains coaches",
    ),
    ("customer client buyer", "buys bought ordered"),
    ("author writer", "wrote writes"),
];

/// Words around the names of a row and a column.
const AROUND: &str =
    "who whose whos who's what which when is are was the a an of for in and our please tell me";

/// Texts that say that there is none.
const NO_TEXTS: &str = "n/a na none tba tbc tbd unknown open ? x";

impl Tables {
    /// The text that a question asks for; `None` unless exactly one row and one column fit, and no
    /// word is left over.
    pub(crate) fn text_answer(&self, question: &str) -> Option<DirectAnswer> {
        let table = self.tables.first().filter(|table| table.single)?;
        let lower = question.to_lowercase().replace('\u{2019}', "'");
        let words = lower.split_whitespace();
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let said: HashSet<String> = words.iter().flat_map(|word| plain_stems(word)).collect();
        let columns = table.figure_columns().filter(|(at, _)| {
            let has_texts = table.texts().any(|(of_text, _)| of_text == *at);
            has_texts && table.figures().all(|one| one.place.column != *at)
        });
        let cells = columns.filter_map(|(at, column)| {
            let of_days = table
                .texts()
                .all(|(of_text, text)| of_text != at || is_day(text));
            let rest = words_of_row(&column.label.words, of_days, &words, &said)?;
            Some((self.row_named(table, &rest, &said)?, at))
        });
        let cells: Vec<(usize, usize)> = cells.collect();
        let [(row, column)] = *cells.as_slice() else {
            return None;
        };
        let mut texts = table.rows.get(row)?.texts.iter();
        let (_, text) = texts.find(|(at, _)| *at == column)?;
        let place = table.place(row, column);
        // The value is not shown: the label is the answer.
        let (value, literal) = (0.0, (&**text).into());
        let source = Some(place);
        let expr = FigureExpr::Leaf(Leaf {
            value,
            literal,
            source,
        });
        let found = DirectAnswer {
            label: Some(text.to_string()),
            confidence: self.reliability(&[place].into()),
            ..answer(TEXT, expr, UnitKind::Number)
        };
        (!lists(NO_TEXTS, &text.to_lowercase())).then_some(found)
    }

    /// The only row with all of these words whose label says no more than the question. `None` also
    /// for a total, and for a row with the text of other rows as its label.
    fn row_named(
        &self,
        table: &ReportTable,
        rest: &[String],
        said: &HashSet<String>,
    ) -> Option<usize> {
        let mut rows = table.body().filter(|(_, row)| {
            let label = &row.label;
            let own = label.words.iter().chain(&label.aside).chain(&*row.section);
            let asked = |word: &String| is_light(word) || said.contains(word);
            let plain = !label.total && label.period.is_none();
            let has_all = rest.iter().all(|word| own.clone().any(|own| own == word));
            plain && has_all && label.words.iter().all(asked)
        });
        let (at, _) = rows.next().filter(|_| !rest.is_empty())?;
        let only = rows.next().is_none() && !self.is_text_of_others(table, at);
        only.then_some(at)
    }
}

/// The stems of the question that must name the row, if the question asks for a column with this
/// heading; `None` if it does not, or if a word is left that has no stem, such as "many".
fn words_of_row(
    heading: &[String],
    of_days: bool,
    words: &[&str],
    said: &HashSet<String>,
) -> Option<Vec<String>> {
    let asks = |list: &str| words.first().is_some_and(|first| lists(list, first));
    let roles = ROLES.iter().filter(|(roles, _)| {
        let mut words = heading.iter();
        words.any(|word| lists_stem(roles, word))
    });
    let verbs: String = roles.flat_map(|(_, verbs)| [*verbs, " "]).collect();
    let named = !heading.is_empty() && heading.iter().all(|word| said.contains(word));
    let dated = |word: &String| said.contains(word) || lists_stem("date day", word);
    let is_asked = if asks("when") {
        of_days && heading.iter().all(dated)
    } else if asks("whose") {
        lists(&verbs, "responsible")
    } else if asks("who whos who's") {
        !verbs.is_empty() && (named || words.iter().any(|word| lists(&verbs, word)))
    } else {
        named
    };
    let rest = words.iter().filter(|word| {
        let own = plain_stems(word);
        let of_heading = !own.is_empty() && own.iter().all(|stem| heading.contains(stem));
        !(lists(AROUND, word) || lists(&verbs, word) || of_heading)
    });
    let rest: Vec<Vec<String>> = rest.map(|word| plain_stems(word)).collect();
    (is_asked && !rest.iter().any(Vec::is_empty)).then(|| rest.concat())
}
