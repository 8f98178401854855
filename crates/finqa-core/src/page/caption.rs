//! The unit a table is stated in: `in millions`, `$ in thousands except per share`.

use std::sync::LazyLock;

use regex::Regex;

use crate::number::Scale;
use crate::regex;
use crate::text::single_spaced;

/// The phrases that state a scale wherever they are, the most frequent first.
const PHRASES: [&str; 3] = ["in millions", "in thousands", "in billions"];

/// Currencies as units name them.
const CURRENCIES: &str = r"[$€£¥₹]|\b(?:dollars?|usd|euros?|eur|pounds|gbp|chf|sek|nok|dkk|jpy|yen|rmb|cny|inr|cad|aud)\b";

static CURRENCY: LazyLock<Regex> = LazyLock::new(|| regex!(CURRENCIES));

/// A sentence that says nothing but a unit.
static ONLY_UNIT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(&format!(
        r"(?x)^ (?: \W | {CURRENCIES} | \b (?: all | amounts | figures | numbers | values | us | u\.s
        | canadian | in | are | is | stated | expressed | shown | reported | presented | of | unless
        | otherwise | noted | indicated | except | per | share | data | and | unaudited | 000s?
        | thousands? | millions? | billions? ) \b )+ $"
    ))
});

/// The unit stated by the table or the sentence before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// As published, without parentheses: `$ in millions except per share amounts`.
    pub text: String,
    /// The scale word in it, if any; `in dollars` has none.
    pub scale: Option<Scale>,
}

impl Caption {
    /// The unit that a label names, e.g. the header's corner cell or a column label.
    pub fn in_label(label: &str) -> Option<Self> {
        parenthesised(label).or_else(|| {
            let label = label.trim();
            names_unit(&words(label)).then(|| Self::new(strip(label)))
        })
    }

    /// The unit that a sentence names in parentheses, in `… in millions :`, or with no other
    /// words than `Amounts in thousands of dollars.` has.
    pub(super) fn in_sentence(sentence: &str) -> Option<Self> {
        if let Some(found) = parenthesised(sentence) {
            return Some(found);
        }
        let text = sentence.trim().trim_end_matches([':', '.', ' ']);
        let lower = text.to_lowercase();
        if ONLY_UNIT.is_match(&lower) {
            return Some(Self::new(strip(text))).filter(|unit| unit.scale.is_some());
        }
        let start = PHRASES.iter().find_map(|phrase| lower.rfind(phrase))?;
        // Only at the end: `… rose in millions of cases` is not a caption.
        let tail = text.get(start..)?;
        let plain = tail.split_whitespace().count() == 2 || tail.to_lowercase().contains("except");
        plain.then(|| Self::new(tail))
    }

    fn new(text: &str) -> Self {
        let lower = words(text);
        let names = |scale: &Scale| {
            let digits = *scale == Scale::Thousand && lower.contains("000s");
            digits || lower.contains(scale.word())
        };
        let scales = [Scale::Million, Scale::Thousand, Scale::Billion];
        Self {
            text: single_spaced(text),
            scale: scales.into_iter().find(names),
        }
    }
}

/// The last parenthesis that names a unit.
fn parenthesised(text: &str) -> Option<Caption> {
    let mut rest = text;
    while let Some((front, inside)) = rest.rsplit_once('(') {
        let inside = inside.split(')').next().unwrap_or_default();
        if names_unit(&words(inside)) {
            return Some(Caption::new(inside.trim()));
        }
        rest = front;
    }
    None
}

/// A text in lower case, "000's" and a last "000" as "000s".
fn words(text: &str) -> String {
    let mut text = text.to_lowercase().replace(['\'', '\u{2019}'], "");
    let thousands = text.strip_suffix("000");
    if thousands.is_some_and(|before| before.is_empty() || before.ends_with([' ', '$'])) {
        text.push('s');
    }
    text
}

/// True if lower-cased text is a phrase of a unit and not an amount.
fn names_unit(lower: &str) -> bool {
    let scale = ["million", "thousand", "billion", "000s"]
        .iter()
        .any(|word| lower.contains(word));
    let money = lower.contains("in dollars") || lower.contains("in euros");
    if !scale && !money {
        return false;
    }
    // `$ 2.7 billion` is an amount, `( 000s )` is not.
    let amount = lower
        .replace("000s", "")
        .chars()
        .any(|c| c.is_ascii_digit());
    let phrase = [
        "in ", "of ", "$", "dollars", "except", "amounts", "shares", "omitted",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let alone = matches!(
        lower.trim_matches([' ', ',', ':', '(', ')']),
        "millions" | "thousands" | "billions" | "000s"
    );
    // `EUR million` is one without "in".
    let of_money = CURRENCY.is_match(lower) && ONLY_UNIT.is_match(lower);
    (phrase || alone || of_money) && !amount || PHRASES.iter().any(|phrase| lower.contains(phrase))
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
