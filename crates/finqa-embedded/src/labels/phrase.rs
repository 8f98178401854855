//! A question about a labelled table: its periods and the labels that it names in full are
//! single words, so that neither is mistaken for an operation.

use super::asked_spans::asked_spans;
use super::axis::{AxisLabel, label_words, without_brackets};
use super::lines::{LabelQuery, LabelledTable, is_year};
use super::quantities::{COUNTED, is_filler};
use crate::question::operations::is_operation;
use crate::question::wording::Wording;
use crate::reading::text::stem;
use crate::reading::words::is_stop;
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

const SPAN: &str = "zqspan";
const LABEL: &str = "zqlabel";
const NAME: &str = "zqname";

/// A question, or a part of one.
#[derive(Debug)]
pub(crate) struct AskedPhrase {
    pub(crate) wording: Wording,
    spans: Vec<CalendarSpan>,
    labels: Vec<Vec<String>>,
    /// Words of a label that all operands have.
    shared: Vec<String>,
}

/// A part of a question that names a quantity.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedOperand {
    pub(crate) words: Vec<String>,
    /// Words that need not be on the label.
    pub(crate) context: Vec<String>,
    pub(crate) spans: Vec<CalendarSpan>,
    /// Only percentages, or only amounts.
    pub(crate) percent: Option<bool>,
    /// What is added to it or subtracted from it.
    pub(crate) terms: Vec<(Op, NamedOperand)>,
}

impl NamedOperand {
    /// What it asks for of a period of the page, without its terms.
    pub(super) fn query(&self, span: Option<CalendarSpan>) -> LabelQuery {
        LabelQuery {
            words: self.words.clone(),
            context: self.context.clone(),
            span,
            percent: self.percent,
            parts: false,
        }
    }
}

/// Words that join the terms of an operand.
const TERMS: [(&str, Op); 5] = [
    ("plus", Op::Add),
    ("and", Op::Add),
    ("minus", Op::Subtract),
    ("less", Op::Subtract),
    ("net of", Op::Subtract),
];

/// Words of a definition in brackets, between the figures that it joins.
const DEFINING: [&str; 10] = [
    "divided by", "as a percent of", "as percent of", "over", "per", "plus", "less", "minus",
    "times", "multiplied by",
];

impl AskedPhrase {
    pub(crate) fn read(table: &LabelledTable<'_>, question: &str) -> Self {
        let (text, as_written) = with_names(table, question);
        let mut text = text.to_lowercase();
        text = text.replace("what part of", "what share of");
        if table.knows("population") {
            text = text.replace(" per capita", " per population");
        }
        let asked = asked_spans(&text);
        let mut places: Vec<_> = asked
            .parts
            .into_iter()
            .map(|at| (at, String::new()))
            .collect();
        let mut spans: Vec<CalendarSpan> = Vec::new();
        // "In which fiscal year": of years alone, that says nothing.
        let only_years = table.periods.iter().all(|span| is_year(*span));
        for named in asked.named {
            if only_years && named.span.year.is_none() && is_year(named.span) {
                places.push((named.at, " year ".to_owned()));
                continue;
            }
            let known = spans.iter().position(|span| *span == named.span);
            let at = known.unwrap_or_else(|| {
                spans.push(named.span);
                spans.len() - 1
            });
            places.push((named.at, format!(" {SPAN}{at} ")));
        }
        places.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        for (at, word) in places {
            text.replace_range(at, &word);
        }
        let slash = |label: &AxisLabel| label.name.contains(" / ");
        if !table.rows.iter().chain(&table.columns).any(slash) {
            text = text.replace(" / ", " divided by ");
        }
        let (plain, aside) = without_brackets(&text);
        let (plain, aside) = (plain.trim().to_owned(), aside.trim().to_owned());
        // A definition in brackets is what is asked for: "(gross profit divided by revenue)".
        let defined = Wording::read(&aside);
        let known = |text: &str| label_words(text).iter().any(|word| table.means(word));
        let joined = |word: &&&str| {
            let sides = defined.split(word);
            sides.is_some_and(|(left, right)| known(&left) && known(&right))
        };
        let ratio = plain.contains(" ratio");
        let pair: &[&str] = if ratio { &["to", "and"] } else { &[] };
        let defines = DEFINING.iter().chain(pair).find(joined).is_some();
        let text = match defines {
            true => {
                let of_plain = plain
                    .split_whitespace()
                    .filter(|word| word.starts_with(SPAN));
                let ratio = if ratio { "ratio of " } else { "" };
                let aside = aside.replace(" over ", " divided by ");
                format!("{ratio}{aside} {}", of_plain.collect::<Vec<_>>().join(" "))
            }
            false => text.replace(['(', ')', '[', ']'], " "),
        };
        // "The trade balance of A (exports minus imports)": both are A's.
        let shared = match defines {
            true => row_words(table, &plain, &aside),
            false => Vec::new(),
        };
        let mut labels = Vec::new();
        let text = with_commas_read(&with_labels(table, &text, &as_written, &mut labels));
        Self {
            wording: Wording::read(&text),
            spans,
            labels,
            shared,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.wording.phrase
    }

    /// All periods, in their order in the question.
    pub(crate) fn spans(&self) -> &[CalendarSpan] {
        &self.spans
    }

    /// Whether its first two periods are the ends of a longer one.
    pub(crate) fn spans_through(&self) -> bool {
        let (a, b) = (format!("{SPAN}0"), format!("{SPAN}1"));
        let joined = ["to", "through", "until", "till", "-", "\u{2013}"];
        joined
            .iter()
            .any(|word| self.wording.says(&[&format!("{a} {word} {b}")]))
            || self.wording.says(&[&format!("between {a} and {b}")])
    }

    /// A part as the name of a quantity, without the words of these operations.
    pub(crate) fn operand(
        &self,
        table: &LabelledTable<'_>,
        text: &str,
        operations: &[&[&str]],
    ) -> NamedOperand {
        let mut text = format!(" {} ", text.trim());
        for phrase in operations.iter().copied().flatten() {
            let needle = format!(" {phrase} ");
            while let Some(at) = text.find(&needle) {
                text.replace_range(at..at + needle.len(), " ");
            }
        }
        let mut operand = NamedOperand::default();
        let counts = self.wording.says(&["how many", "units"]);
        let mut noun_of_all = false;
        for word in text.split_whitespace() {
            let index = |word: &str, mark: &str| word.strip_prefix(mark)?.parse::<usize>().ok();
            if let Some(span) = index(word, SPAN).and_then(|at| self.spans.get(at)) {
                operand.spans.push(*span);
                continue;
            }
            if let Some(label) = index(word, LABEL).and_then(|at| self.labels.get(at)) {
                operand.words.extend(label.iter().cloned());
                continue;
            }
            for found in label_words(word) {
                let filler = is_filler(&found);
                // "All departments", "both regions": the noun names no label.
                if counts && found == stem("sold") && !table.knows(&found) {
                    continue;
                }
                let noun = noun_of_all && !table.knows(&found) || table.is_heading(&found);
                if filler || noun {
                    operand.context.push(found);
                } else if !operand.words.contains(&found) {
                    operand.words.push(found);
                }
            }
            noun_of_all = matches!(
                word,
                "all" | "both" | "each" | "every" | "which" | "four" | "three" | "two" | "five"
            );
        }
        // "Interest paid" is interest, and "paid" alone may be a column.
        let pay = |word: &&String| **word == stem("pay");
        if operand
            .words
            .iter()
            .any(|word| !pay(&word) && table.knows(word))
        {
            let (of_pay, words) = operand.words.into_iter().partition(|word| pay(&word));
            operand.words = words;
            operand.context.extend::<Vec<String>>(of_pay);
        }
        if counts {
            // The stem of "sold" is that of a row "Sales".
            let heading = |noun: &&str| {
                *noun != "sold" || table.columns.iter().any(|column| column.writes(noun))
            };
            let nouns = COUNTED.iter().filter(heading);
            operand
                .context
                .extend(nouns.map(|noun| stem(noun).into_owned()));
        }
        if !operand.words.is_empty() {
            operand.words.extend(self.shared.iter().cloned());
        }
        operand
    }

    /// A part as an operand of one or more terms: "A plus B". One label with all words is one
    /// term.
    pub(crate) fn terms(
        &self,
        table: &LabelledTable<'_>,
        text: &str,
        operations: &[&[&str]],
    ) -> NamedOperand {
        let whole = self.operand(table, text, operations);
        let says_all = |label: &AxisLabel| whole.words.iter().all(|word| label.says(word));
        if table.labels().any(says_all) {
            return whole;
        }
        let mut pieces = vec![(Op::Add, format!(" {} ", text.trim()))];
        for (word, op) in TERMS {
            let word = format!(" {word} ");
            let split = pieces.iter().flat_map(|(first, piece)| {
                let parts = piece.split(&word).enumerate();
                parts
                    .map(|(at, part)| (if at == 0 { *first } else { op }, format!(" {part} ")))
                    .collect::<Vec<_>>()
            });
            pieces = split.collect();
        }
        let mut terms = pieces
            .into_iter()
            .map(|(op, piece)| (op, self.operand(table, &piece, operations)))
            .collect::<Vec<_>>();
        let known = |operand: &NamedOperand| operand.words.iter().any(|word| table.means(word));
        if terms.len() < 2 || !terms.iter().all(|(_, operand)| known(operand)) {
            return whole;
        }
        for (_, operand) in &mut terms {
            operand.spans.clone_from(&whole.spans);
        }
        let (_, first) = terms.remove(0);
        NamedOperand { terms, ..first }
    }

    /// Whether it names a row or a column.
    pub(crate) fn names_label(&self, table: &LabelledTable<'_>) -> bool {
        let words = self.operand(table, self.text(), &[]).words;
        words
            .iter()
            .any(|word| table.knows(word) && !is_operation(word))
    }
}

/// The words of a text that name rows and no columns, without those of another text.
fn row_words(table: &LabelledTable<'_>, text: &str, other: &str) -> Vec<String> {
    let others = label_words(other);
    let says =
        |labels: &[AxisLabel], word: &str| labels.iter().skip(1).any(|label| label.says(word));
    let mut words = label_words(text);
    words.retain(|word| {
        says(&table.rows, word) && !says(&table.columns, word) && !others.contains(word)
    });
    words
}

/// "A, B and C" as "A and B and C".
fn with_commas_read(text: &str) -> String {
    const LONGEST: usize = 5;
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let clause = |word: &String| {
        matches!(
            &**word,
            "what" | "how" | "which" | "when" | "was" | "were" | "is" | "are" | "did" | "does"
        )
    };
    // Words to the next "and", if a list leads to it.
    let mut ahead: Option<usize> = None;
    for at in (0..words.len()).rev() {
        let Some(word) = words.get_mut(at) else {
            continue;
        };
        let listed = ahead.is_some_and(|n| n > 0 && n <= LONGEST);
        if *word == "and" {
            ahead = Some(0);
        } else if word.ends_with(',') && listed && !word.starts_with(SPAN) {
            word.pop();
            word.push_str(" and");
            ahead = Some(1);
        } else if word.ends_with(',') || clause(word) {
            ahead = None;
        } else {
            ahead = ahead.map(|n| n + 1);
        }
    }
    words.join(" ")
}

/// The question with a word for each name that it writes as the table does and that would be read
/// as something else: "IT", or an id such as "2031-07". These are returned too.
fn with_names<'t>(table: &'t LabelledTable<'_>, question: &str) -> (String, Vec<&'t AxisLabel>) {
    let words: Vec<&str> = question.split_whitespace().collect();
    let connects = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| matches!(*word, "and" | "plus" | "&") || word.ends_with(','))
    };
    let rows = || table.rows.iter().skip(1);
    let labels = || rows().chain(table.columns.iter().skip(1));
    let mut names: Vec<&AxisLabel> = Vec::new();
    let marked = words.iter().enumerate().map(|(at, word)| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let listed = word.ends_with(',') || connects(at.checked_sub(1)) || connects(Some(at + 1));
        let same = |label: &&AxisLabel| label.name.eq_ignore_ascii_case(bare);
        let abbreviation = |label: &&AxisLabel| {
            let stop = matches!(label.words.as_slice(), [word] if is_stop(word));
            stop && at > 0 && (label.name == bare || listed && same(label))
        };
        let is_id = bare.contains('-') && bare.contains(|c: char| c.is_ascii_digit());
        let mut found = labels().find(abbreviation);
        if found.is_none() && is_id {
            let ids = rows().flat_map(|row| row.keys.iter().chain([row]));
            found = ids.filter(|label| !label.words.is_empty()).find(same);
        }
        found.map_or_else(
            || (*word).to_owned(),
            |label| {
                names.push(label);
                word.replace(bare, &format!("{NAME}{}", names.len() - 1))
            },
        )
    });
    let text = marked.collect::<Vec<_>>().join(" ");
    (text, names)
}

/// The text with a word for each label that it holds in full and that has several words.
fn with_labels(
    table: &LabelledTable<'_>,
    text: &str,
    names: &[&AxisLabel],
    labels: &mut Vec<Vec<String>>,
) -> String {
    let bare = |word: &str| -> String {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '&' | '%'));
        match word {
            "&" => "and".to_owned(),
            // Its stem is that of "sales".
            "sold" => word.to_owned(),
            _ => stem(word).into_owned(),
        }
    };
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let all = table
        .rows
        .iter()
        .skip(1)
        .chain(table.columns.iter().skip(1));
    let mut known: Vec<(Vec<String>, &Vec<String>)> = all
        .filter(|label| !label.derived)
        .map(|label| {
            let stems = label.plain_name().split_whitespace().map(bare).collect();
            (stems, &label.words)
        })
        .filter(|(stems, words): &(Vec<String>, _)| {
            let several = stems.len() > 1 && words.iter().any(|word| word != "total");
            // "Variance" may be a column.
            several || matches!(stems.as_slice(), [one] if is_operation(one) && one != "total")
        })
        .collect();
    let names = names.iter().enumerate();
    known.extend(names.map(|(at, label)| (vec![format!("{NAME}{at}")], &label.words)));
    let aliases = table.aliases.iter();
    known.extend(aliases.map(|(name, words)| (name.split_whitespace().map(bare).collect(), words)));
    known.sort_by_key(|(stems, _)| std::cmp::Reverse(stems.len()));
    for (stems, of_label) in known {
        let found = words.windows(stems.len()).position(|window| {
            window
                .iter()
                .zip(&stems)
                .all(|(word, stem)| bare(word) == *stem)
        });
        if let Some(at) = found {
            labels.push(of_label.clone());
            let name = format!("{LABEL}{}", labels.len() - 1);
            // A comma after it separates it from the next.
            let comma = words
                .get(at + stems.len() - 1)
                .is_some_and(|last| last.ends_with(','));
            let marked = if comma {
                vec![name, ",".to_owned()]
            } else {
                vec![name]
            };
            words.splice(at..at + stems.len(), marked);
        }
    }
    words.join(" ")
}
