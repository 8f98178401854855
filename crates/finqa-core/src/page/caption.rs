//! Finds the unit that a table, a label or a sentence states: `in millions`,
//! `$ in thousands except per share`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::MONTHS;
use crate::number::{CODES, COUNTRIES, MARKS, Scale, scale_of_word, year_of};
use crate::pattern;
use crate::regex;
use crate::text::{Pattern, single_spaced};

/// Phrases that state a scale anywhere in a text. The most frequent one comes first.
const PHRASES: [&str; 3] = ["in millions", "in thousands", "in billions"];

/// Scale words that state a unit even if no currency is next to them.
const WORDS: &str =
    "thousands?|millions?|billions?|mm|mn|mln|mio|mill?|bn|bln|mrd|tsd|crores?|lakhs?|lacs?";

/// Names of currencies.
const NAMES: &str = "dollars?|euros?|pounds|yen|rupees|francs";

/// A currency as a sign, a code or a word.
static CURRENCY: LazyLock<Regex> = LazyLock::new(|| regex!(&currency()));

fn currency() -> String {
    format!(r"(?:\b(?:{COUNTRIES})|\b)?[{MARKS}]|\b(?:{CODES}|{NAMES})\b")
}

/// A scale next to something that makes it a unit: a currency, a bracket, "in", or no other words
/// in the label. Otherwise an `m` may be part of a name.
static SCALE: LazyLock<Regex> = LazyLock::new(|| {
    let mark = format!(r"(?:{COUNTRIES})?[{MARKS}]");
    let forms = [
        // "($m)", "(k tonnes)".
        format!(
            r"[(\[]\s*(?:in\s+)?(?:(?:{mark}|[a-z]{{3}}\s)\s*)?(?P<bracket>000s?|{WORDS}|k|m|cr)(?:\b|[{MARKS}])"
        ),
        // "£m", "EUR thousand", "Rs. in crore", "RMB 000s".
        format!(
            r"(?:{mark}|\b(?:{CODES}|{NAMES})\.?)\s*(?:in\s+)?(?P<money>000s?|{WORDS}|k|m|b|cr)\b"
        ),
        // "R million", "TEUR".
        format!(r"\br\s+(?P<rand>{WORDS}|m)\b"),
        format!(r"\b(?P<code>[tk])(?:(?:{CODES})\b|[{MARKS}])"),
        // "Mio. EUR", "m€", "millions of yen".
        format!(
            r"\b(?P<before>{WORDS})\.?\s*(?:of\s+)?(?:u\.?s\.?\s+)?(?:{mark}|(?:{CODES}|{NAMES})\b)"
        ),
        format!(r"\b(?P<fused>k|m)[{MARKS}]"),
        format!(r"\bin\s+(?P<words>000s?|{WORDS}|k)\b"),
        format!(r"^\W*(?P<alone>000s?|{WORDS})\W*(?:$|,)"),
    ];
    regex!(&forms.join("|"))
});

/// A text that states a unit and nothing else.
static ONLY_UNIT: Pattern = pattern!(&format!(
    r"(?x)^ (?: \W | {} | \b (?: [tk](?:{CODES}) | (?:{CODES})(?:m|k|bn|000s) | all | amounts | figures
        | numbers | values | us | u\.s | canadian | in | are | is | stated | expressed | shown
        | reported | presented | of | unless | otherwise | noted | indicated | except | per | share
        | data | and | unaudited | 000s? | {WORDS} | r | k | m | b | cr ) \b )+ $",
    currency()
));

/// The period that a line names in addition to its unit.
static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let month = MONTHS.join("|");
    let year = r"(?:19|20)\d\d";
    let day = format!(r"(?:\d\d?(?:st|nd|rd|th)?\s+(?:{month})|(?:{month})(?:\s+\d\d?)?)");
    let length = "(?:(?:financial |fiscal |half[- ])?years?|quarters?|(?:three|six|nine|twelve|\\d\\d?) months|\\d\\d weeks)";
    regex!(&format!(
        r"\b(?:for\s+)?(?:the\s+)?(?:{length}\s+(?:ended|ending|to)|as\s+(?:at|of)|at)\s+{day}(?:,?\s+{year}(?:(?:,|\s+and)\s+{year})*)?(?:$|\b)"
    ))
});

/// A unit, as stated by a table, a label or a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// The published text, without parentheses: `$ in millions except per share amounts`.
    pub text: String,
    /// The scale that the text names; `None` for `in dollars`.
    pub scale: Option<Scale>,
    /// The power of ten by which the text's word exceeds the scale. It is 3 for a trillion, which
    /// is a thousand billion.
    pub power: u32,
}

impl Caption {
    /// The unit that a label states, such as the header's corner cell or a column label. `None` if
    /// it states none.
    pub fn in_label(label: &str) -> Option<Self> {
        parenthesised(label).or_else(|| {
            let label = label.trim();
            names_unit(&words(label)).then(|| Self::new(strip(label)))
        })
    }

    /// The unit that a sentence states. It may be in parentheses, at the end of the sentence
    /// (`… in millions :`), or the whole sentence, as in `Amounts in thousands of dollars.` `None`
    /// if it states none.
    pub(super) fn in_sentence(sentence: &str) -> Option<Self> {
        if let Some(found) = parenthesised(sentence) {
            return Some(found);
        }
        let text = sentence.trim().trim_end_matches([':', '.', ' ']);
        if Self::is_alone(text) {
            return Some(Self::new(strip(text)));
        }
        let lower = text.to_lowercase();
        let start = PHRASES.iter().find_map(|phrase| lower.rfind(phrase));
        // Accept the phrase only at the end of the sentence: `… rose in millions of cases` is not a
        // caption. "in millions" has two words.
        let tail = text.get(start?..)?;
        let plain = tail.split_whitespace().count() == 2 || tail.to_lowercase().contains("except");
        plain.then(|| Self::new(tail))
    }

    /// The unit that the last words of a title state: "Statement of income, in EUR million". `None`
    /// if they state none.
    pub(super) fn at_end(title: &str) -> Option<Self> {
        let title = title.trim().trim_end_matches([':', '.', ' ']);
        let tails = title.match_indices(' ').map(|(at, _)| title.split_at(at));
        let mut tails = tails.filter(|(before, tail)| {
            let tail = tail.trim_start().to_lowercase();
            let money = CURRENCY.find(&tail).is_some_and(|found| found.start() == 0);
            // After digits, the words may belong to an amount.
            let amount = before.ends_with(|c: char| c.is_ascii_digit());
            (money || tail.starts_with("in ")) && !amount
        });
        let (_, tail) = tails.find(|(_, tail)| Self::is_alone(tail))?;
        Some(Self::new(tail))
    }

    /// The unit that the heading of a column states, if it has a scale: "Sales (in millions)",
    /// "2031 US$m". `None` for "Sales (in dollars)".
    pub(super) fn of_column(heading: &str) -> Option<Self> {
        let stated = Self::in_label(heading).filter(|unit| unit.scale.is_some());
        stated.or_else(|| {
            let (scale, power) = scale_of_label(heading)?;
            Some(Self {
                text: heading.to_owned(),
                scale: Some(scale),
                power,
            })
        })
    }

    /// True if a text states nothing but a unit with a scale, and perhaps a period: "in € million",
    /// "£m, year ended 30 September".
    pub fn is_alone(text: &str) -> bool {
        let lower = words(&PERIOD.replace(&text.to_lowercase(), ""));
        ONLY_UNIT.is_match(&lower) && scale_in(&lower).is_some()
    }

    /// The unit of a text that states nothing else.
    pub(super) fn alone(text: &str) -> Option<Self> {
        Self::is_alone(text).then(|| Self::new(text))
    }

    /// A caption with this text. It has no scale if the text names none.
    fn new(text: &str) -> Self {
        let lower = words(text);
        let names = |scale: &Scale| {
            let digits = *scale == Scale::Thousand && lower.contains("000s");
            digits || lower.contains(scale.word())
        };
        // The most frequent scale comes first, as in `PHRASES`. The first that is named counts.
        let scales = [Scale::Million, Scale::Thousand, Scale::Billion];
        let named = scales.into_iter().find(names).map(|scale| (scale, 0));
        // In brackets, a scale word counts even if nothing else makes it a unit (see `SCALE`).
        let (scale, power) = named.or_else(|| scale_in(&format!("({lower})"))).unzip();
        Self {
            text: single_spaced(text),
            scale,
            power: power.unwrap_or(0),
        }
    }
}

/// The scale that a label states for its own row or column, and the power of ten of
/// [`Caption::power`]: "Revenue ($m)", "Units (in thousands)".
pub(super) fn scale_of_label(label: &str) -> Option<(Scale, u32)> {
    scale_in(&words(label))
}

/// A label in lower case without the unit that it states: "revenue" for "Revenue USD Mil". `None`
/// if the label states no unit.
pub fn without_unit(label: &str) -> Option<String> {
    let lower = words(label);
    let found = SCALE.find(&lower)?;
    scale_in(&lower)?;
    let (before, rest) = lower.split_at_checked(found.start())?;
    Some(format!("{before} {}", rest.get(found.len()..)?))
}

/// The first scale that is a unit in a text from [`words`], and the power of [`Caption::power`].
/// `None` if there is none.
fn scale_in(lower: &str) -> Option<(Scale, u32)> {
    SCALE.captures_iter(lower).find_map(|found| {
        let start = found.get(0)?.start();
        let named = found.iter().skip(1).flatten().next()?.as_str();
        // Skip a scale word after digits, because "5 million euros" is an amount and "401(k)" is a
        // plan. A year may precede a unit.
        let last = lower.get(..start)?.split_whitespace().next_back();
        let amount = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let follows = last.is_some_and(|word| amount(word) && year_of(word).is_none());
        let named = match named {
            // "TEUR"
            "t" => "k",
            named => named,
        };
        scale_of_word(named).filter(|_| !follows)
    })
}

/// The unit in the last parenthesis that states one; `None` if none does.
fn parenthesised(text: &str) -> Option<Caption> {
    let folded = folded(text);
    let mut rest = folded.as_ref();
    while let Some((front, inside)) = rest.rsplit_once('(') {
        let inside = inside.split(')').next().unwrap_or_default();
        let lower = words(inside);
        if names_unit(&lower) || scale_in(&format!("({lower})")).is_some() && !is_amount(&lower) {
            return Some(Caption::new(inside.trim()));
        }
        rest = front;
    }
    None
}

/// Units as Japanese reports write them.
const JAPANESE: [(&str, &str); 4] = [
    ("百万円", "millions of yen"),
    ("千円", "thousands of yen"),
    ("（", "("),
    ("）", ")"),
];

/// Writes Japanese units and brackets in English.
fn folded(text: &str) -> Cow<'_, str> {
    let has = |(written, _): &(&str, &str)| text.contains(written);
    if JAPANESE.iter().any(has) {
        let fold = |text: String, (written, english): &(&str, &str)| text.replace(written, english);
        Cow::Owned(JAPANESE.iter().fold(text.to_owned(), fold))
    } else {
        Cow::Borrowed(text)
    }
}

/// Converts a text to lower case, writes Japanese units in English, and changes "000's" or a final
/// "000" to "000s".
fn words(text: &str) -> String {
    let mut text = folded(text).to_lowercase().replace(['\'', '\u{2019}'], "");
    let thousands = text.strip_suffix("000");
    if thousands.is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_digit() || c == ',')) {
        text.push('s');
    }
    text
}

/// True if a text has digits in addition to those of "000s": `$ 2.7 billion` is an amount, but
/// `( 000s )` is not.
fn is_amount(lower: &str) -> bool {
    let rest = lower.replace("000s", "");
    rest.chars().any(|c| c.is_ascii_digit())
}

/// True if a lower-case text states a unit and not an amount.
fn names_unit(lower: &str) -> bool {
    let words = ["million", "thousand", "billion", "000s"];
    let scale = words.iter().any(|word| lower.contains(word));
    let money = lower.contains("in dollars") || lower.contains("in euros");
    let phrase = [
        "in ", "of ", "$", "dollars", "except", "amounts", "shares", "omitted",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let phrase = (scale || money) && phrase && !is_amount(lower);
    let alone = ONLY_UNIT.is_match(lower)
        && (scale_in(lower).is_some() || CURRENCY.is_match(lower) && scale);
    // "Millions, except per share figures, for the year ended June 30"
    let first = lower.split(',').next().unwrap_or_default();
    let first = lower.contains("except") && ONLY_UNIT.is_match(first) && scale_in(first).is_some();
    phrase || alone || first || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

fn strip(label: &str) -> &str {
    label.trim_matches([' ', ',', ':', '(', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_name_a_unit() {
        for (before, text, after, scale) in [
            ("( ", "in millions", " )", Some(Scale::Million)),
            ("", "$ in millions", "", Some(Scale::Million)),
            ("", "in billions of dollars", "", Some(Scale::Billion)),
            ("( ", "millions", " )", Some(Scale::Million)),
            ("", "millions of dollars", "", Some(Scale::Million)),
            ("( ", "thousands of barrels", " )", Some(Scale::Thousand)),
            ("december 31 , ( ", "in dollars", " )", None),
            (
                "( ",
                "$ in thousands , except x",
                " )",
                Some(Scale::Thousand),
            ),
            ("years ended ( ", "in millions", " )", Some(Scale::Million)),
            ("costs (", "in 000\u{2019}s", ")", Some(Scale::Thousand)),
            ("loans (", "EUR million", ")", Some(Scale::Million)),
            ("", "€ thousand", "", Some(Scale::Thousand)),
            ("", "millions CHF", "", Some(Scale::Million)),
            ("costs (", "in $000", ")", Some(Scale::Thousand)),
            ("(", "000s omitted", ")", Some(Scale::Thousand)),
        ] {
            let label = format!("{before}{text}{after}");
            let caption = Caption::in_label(&label).unwrap_or_else(|| panic!("{label}"));
            assert_eq!((caption.text.as_str(), caption.scale), (text, scale));
        }
    }

    #[test]
    fn units_in_the_forms_of_the_world() {
        use Scale::{Billion, Crore, Lakh, Million, Thousand};
        for (label, scale, power) in [
            ("£m", Million, 0),
            ("€m", Million, 0),
            ("CHF m", Million, 0),
            ("SEK m", Million, 0),
            ("US$m", Million, 0),
            ("A$m", Million, 0),
            ("$M", Million, 0),
            ("$MM", Million, 0),
            ("€ million", Million, 0),
            ("EUR thousand", Thousand, 0),
            ("NOK mill.", Million, 0),
            ("¥ million", Million, 0),
            ("Millions of yen", Million, 0),
            ("($000)", Thousand, 0),
            ("£'000", Thousand, 0),
            ("RMB\u{2019}000", Thousand, 0),
            ("TEUR", Thousand, 0),
            ("kEUR", Thousand, 0),
            ("in EUR k", Thousand, 0),
            ("Mio. EUR", Million, 0),
            ("EUR mln", Million, 0),
            ("EURm", Million, 0),
            ("R million", Million, 0),
            ("$ in MM", Million, 0),
            ("USD Mil", Million, 0),
            ("USD bn", Billion, 0),
            ("(in m€)", Million, 0),
            ("Rs. in crore", Crore, 0),
            ("₹ lakh", Lakh, 0),
            (
                "Millions, except per-share figures, for the three months ended June 30,",
                Million,
                0,
            ),
        ] {
            let caption = Caption::in_label(label).unwrap_or_else(|| panic!("{label}"));
            assert_eq!(
                (caption.scale, caption.power),
                (Some(scale), power),
                "{label}"
            );
        }
    }

    #[test]
    fn a_title_ends_with_its_unit() {
        for (title, text) in [
            (
                "Acme Holdings Statement of income in EUR million",
                "in EUR million",
            ),
            ("Statement of income $ thousands", "$ thousands"),
            (
                "Statement of income, in millions of yen:",
                "in millions of yen",
            ),
        ] {
            let found = Caption::at_end(title).map(|unit| unit.text);
            assert_eq!(found.as_deref(), Some(text), "{title}");
        }
        for title in [
            "The price rose by 5 million euros", "Sales in Asia",
            "They are sold in millions of shops", "Held in dollars",
        ] {
            assert_eq!(Caption::at_end(title), None, "{title}");
        }
        assert_eq!(
            without_unit("Revenue USD Mil").as_deref(),
            Some("revenue  ")
        );
        assert_eq!(without_unit("Revenue"), None);
    }

    #[test]
    fn a_heading_names_the_scale_of_its_figures() {
        for (label, scale) in [
            ("Revenue ($m)", Some(Scale::Million)),
            ("Revenue (k€) 2023", Some(Scale::Thousand)),
            ("Units (in thousands)", Some(Scale::Thousand)),
            ("Volume (k tonnes)", Some(Scale::Thousand)),
            ("2031 £'000", Some(Scale::Thousand)),
            ("Net debt, EUR bn", Some(Scale::Billion)),
            ("Sales in millions", Some(Scale::Million)),
            ("Net Income USD Mil", Some(Scale::Million)),
            ("Revenue ($)", None),
            ("Revenue (b)", None),
            ("Length m", None),
            ("Basic EPS (cents)", None),
            ("401(k) contributions", None),
            ("A loan of 5 million euros", None),
        ] {
            let found = scale_of_label(label).map(|(scale, _)| scale);
            assert_eq!(found, scale, "{label}");
        }
    }

    #[test]
    fn labels_and_sentences_that_name_none() {
        for text in [
            "", "2009", "sales of 5 million units", "$ 2.7 billion", "useful life ( years )",
        ] {
            assert_eq!(Caption::in_label(text), None, "{text}");
        }
        for text in [
            "revenues rose to $ 5.2 million in 2009 .",
            "it sold in millions of shops .",
            "the figures are in thousands of barrels .",
            "",
        ] {
            assert_eq!(Caption::in_sentence(text), None, "{text}");
        }
    }

    #[test]
    fn sentences_that_name_a_unit() {
        for (text, scale) in [
            ("the maturities are ( in thousands ) :", Scale::Thousand),
            ("the table shows sales in millions :", Scale::Million),
            ("amounts are in millions , except x", Scale::Million),
            ("Amounts in thousands of dollars.", Scale::Thousand),
            ("£m, year ended 30 September", Scale::Million),
            (
                "EUR million, as at 31 December 2031 and 2030",
                Scale::Million,
            ),
            (
                "For the six months ended June 30, 2031, $ in thousands",
                Scale::Thousand,
            ),
            ("All figures in $ thousands", Scale::Thousand),
            ("(U.S. dollars, millions)", Scale::Million),
            ("Amounts in EUR million, unaudited", Scale::Million),
            (
                "All amounts are stated in millions of euros unless otherwise noted:",
                Scale::Million,
            ),
        ] {
            let found = Caption::in_sentence(text).and_then(|c| c.scale);
            assert_eq!(found, Some(scale), "{text}");
        }
    }
}
