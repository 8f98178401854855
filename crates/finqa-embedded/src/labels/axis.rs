//! The labels of a table's rows and columns, as questions name them.

use crate::reading::text::{TextToken, TokenKind, stem, tokenize};
use crate::reading::words::is_stop;
use finqa_core::page::period::{CalendarSpan, NamedSpan, spans};

/// A row or a column as questions name it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AxisLabel {
    /// As the page writes it, without periods unless it is nothing else.
    pub(crate) name: String,
    /// Its words without periods, as a question's are compared with them.
    pub(crate) words: Vec<String>,
    /// Those in brackets, which a question may leave out: units, "(loss)".
    pub(super) aside: Vec<String>,
    /// Words of the section above it.
    pub(super) section: Vec<String>,
    pub(crate) span: Option<CalendarSpan>,
    pub(crate) total: bool,
    /// Its figures are computed from others of the table.
    pub(super) derived: bool,
    /// Why such figures may not be what the label says.
    pub(super) doubt: Option<String>,
    /// Its names where several columns name the rows.
    pub(super) keys: Vec<AxisLabel>,
}

/// Stems of a label that a question leaves out without meaning another line.
const LIGHT: [&str; 6] = ["total", "net", "overall", "actual", "month", "end"];

/// Whether a stem is one that questions leave out.
pub(super) fn is_light(stem: &str) -> bool {
    LIGHT.contains(&stem)
}

/// Words of a total, also in other languages.
const TOTALS: [&str; 6] = [
    "total", "subtotal", "gesamt", "insgesamt", "summe", "totale",
];

/// The words of a text that name something, stemmed; numbers too.
pub(crate) fn label_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let named = |token: &TextToken<'_>| {
        matches!(token.kind, TokenKind::Word | TokenKind::Number) && !is_stop(&token.text)
    };
    let tokens = tokenize(&lower).into_iter().filter(named);
    let spelled = |word: String| {
        if word == "qty" {
            stem("quantity").into_owned()
        } else {
            word
        }
    };
    let mut words: Vec<String> = tokens
        .map(|token| spelled(token.text.into_owned()))
        .collect();
    words.dedup();
    words
}

/// Whether two stems are of one word: `matur` and `maturity`.
pub(crate) fn same_word(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // "Shelf" and "shelves"
    let shelf = |a: &str, b: &str| {
        a.strip_suffix('f')
            .is_some_and(|a| b.strip_suffix('v') == Some(a))
    };
    short == long
        || shelf(short, long)
        || shelf(long, short)
        || short.len() >= 5 && long.starts_with(short) && long.len() <= short.len() + 3
}

/// Whether a name is nothing but capitals.
fn is_abbreviation(name: &str) -> bool {
    !name.is_empty() && name.chars().all(char::is_uppercase)
}

impl AxisLabel {
    pub(super) fn read(name: &str, section: &str, years: &[u16]) -> Self {
        let name = name.split(" (group ").next().unwrap_or(name).trim();
        let named = spans(&name.to_lowercase());
        Self::with_periods(name, section, years, &named)
    }

    /// A name without periods: an id such as 2001 is not a year.
    pub(super) fn undated(name: &str) -> Self {
        Self::with_periods(name, "", &[], &[])
    }

    fn with_periods(name: &str, section: &str, years: &[u16], named: &[NamedSpan]) -> Self {
        let mut lower = name.to_lowercase();
        let mut span = match named {
            [one] => Some(one.span),
            _ => None,
        };
        if let ([], [year]) = (named, years) {
            span = Some(CalendarSpan::default().in_year(*year));
        }
        // Lower case may differ in length; the name is then kept in it.
        let mut shown = if lower.len() == name.len() {
            name.to_owned()
        } else {
            lower.clone()
        };
        for named in named.iter().rev() {
            lower.replace_range(named.at.clone(), " ");
            if shown.is_char_boundary(named.at.start) && shown.is_char_boundary(named.at.end) {
                shown.replace_range(named.at.clone(), " ");
            }
        }
        let (plain, aside) = without_brackets(&lower);
        let mut words = label_words(&plain);
        // "IT" is a name, "it" is not.
        if words.is_empty() && is_abbreviation(name) {
            words.push(name.to_lowercase());
        }
        let shown = finqa_core::text::single_spaced(&shown);
        let shown = if words.is_empty() { name } else { shown.trim() };
        Self {
            total: words.iter().any(|word| TOTALS.contains(&&**word)) || words == ["group"],
            name: shown.to_owned(),
            words,
            aside: label_words(&aside),
            section: label_words(section),
            span,
            derived: false,
            doubt: None,
            keys: Vec::new(),
        }
    }

    /// A line of figures that are computed.
    pub(super) fn computed(names: &[String], words: &[String], span: Option<CalendarSpan>) -> Self {
        Self {
            name: names.first().cloned().unwrap_or_default(),
            words: words.to_vec(),
            span,
            derived: true,
            ..Self::default()
        }
    }

    /// A row by its names in several columns.
    pub(super) fn joined(keys: Vec<Self>) -> Self {
        let all = |words: fn(&Self) -> &Vec<String>| keys.iter().flat_map(words).cloned().collect();
        let names = keys.iter().map(|key| key.name.as_str());
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let of_keys = keys.iter().filter_map(|key| key.span);
        Self {
            name: names.join(", "),
            words: all(|key| &key.words),
            aside: all(|key| &key.aside),
            section: Vec::new(),
            span: of_keys.reduce(CalendarSpan::and),
            total: keys.iter().any(|key| key.total),
            derived: false,
            doubt: None,
            keys,
        }
    }

    /// Whether both have the same words, of any periods.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.words == other.words && self.aside == other.aside
    }

    /// Whether it has a word, and otherwise only some of these.
    pub(super) fn names(&self, word: &str, others: &[&str]) -> bool {
        let of = |word: &str, own: &String| same_word(&stem(word), own);
        self.words.iter().any(|own| of(word, own))
            && (self.words.iter()).all(|own| others.iter().any(|other| of(other, own)))
    }

    /// Whether its name has a word as it is.
    pub(crate) fn writes(&self, word: &str) -> bool {
        let name = self.name.to_lowercase();
        name.split(|c: char| !c.is_alphabetic())
            .any(|other| other == word)
    }

    /// Its name as questions write it.
    pub(super) fn plain_name(&self) -> String {
        let (plain, _) = without_brackets(&self.name.to_lowercase());
        plain.trim().to_owned()
    }

    /// Whether it has a noun, in any form.
    pub(super) fn says_noun(&self, noun: &str) -> bool {
        self.says(&stem(noun)) || self.writes(noun)
    }

    pub(crate) fn says(&self, word: &str) -> bool {
        let all = self.words.iter().chain(&self.aside).chain(&self.section);
        all.into_iter().any(|other| same_word(other, word))
    }

    /// Whether only its section says a word, and so does not tell it from its neighbours.
    fn says_by_section(&self, word: &str) -> bool {
        let own = self.words.iter().chain(&self.aside);
        self.says(word) && !own.into_iter().any(|other| same_word(other, word))
    }

    /// The weight of its words that nobody asked for, and of those that only its section has.
    /// Words of the context excuse a label's own, but a label without them fits better.
    pub(super) fn excess(&self, asked: &[&String], context: &[&String]) -> f64 {
        let said = |words: &[&String]| words.iter().any(|word| self.says(word));
        // Labels that say none of them fit alike, however long they are.
        if !self.words.is_empty() && !said(asked) && !said(context) {
            let light = self.words.iter().all(|word| is_light(word));
            return if light { 0.5 } else { 1.0 };
        }
        let of_section = asked
            .iter()
            .filter(|word| self.says_by_section(word))
            .count();
        if !self.keys.is_empty() {
            // A column that nobody speaks of does not tell rows apart.
            let asked_for = self.keys.iter().filter(|key| {
                let mut words = asked.iter().chain(context);
                words.any(|word| key.says(word)) || key.total
            });
            return asked_for.map(|key| key.excess(asked, context)).sum();
        }
        let is_in = |words: &[&String], word: &str| words.iter().any(|o| same_word(o, word));
        let missing = |word: &&String| !is_in(asked, word);
        let weight = |word: &String| match (is_light(word), is_in(context, word)) {
            (true, true) => 0.0,
            (false, true) => 0.05,
            // "Current assets" are the total before they are net of something.
            (true, false) if word == "total" => 0.45,
            (true, false) => 0.5,
            (false, false) => 1.0,
        };
        let words: f64 = self.words.iter().filter(missing).map(weight).sum();
        #[allow(clippy::cast_precision_loss, reason = "labels are short")]
        let aside = self
            .aside
            .iter()
            .filter(|word| missing(word) && !is_in(context, word));
        let aside = aside.count() as f64;
        #[allow(clippy::cast_precision_loss, reason = "questions are short")]
        let of_section = of_section as f64;
        words + 0.1 * aside + 0.3 * of_section
    }
}

/// A text without what it has in brackets, and that.
pub(crate) fn without_brackets(text: &str) -> (String, String) {
    let (mut plain, mut aside, mut depth) = (String::new(), String::new(), 0_u32);
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => aside.push(c),
            _ => plain.push(c),
        }
        if matches!(c, '(' | ')' | '[' | ']') {
            plain.push(' ');
            aside.push(' ');
        }
    }
    (plain, aside)
}
