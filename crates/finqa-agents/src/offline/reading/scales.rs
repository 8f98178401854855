//! The scale that a heading gives its own row or column: "Revenue ($m)", "Units (in thousands)".

use std::sync::LazyLock;

use finqa_core::number::Scale;
use regex::Regex;

/// In brackets, after a currency, or after "in": elsewhere an `m` is part of a name.
static SCALE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        [(\[]\s*(?:in\s)?\s*(?:[$€£¥]|us\$|[a-z]{3}\s)?\s*['’]?
            (?P<bracket>k|mm?|mn|mln|bn|000s?|thousands?|millions?|billions?)(?:\b|[$€£¥])
        |(?:[$€£¥]|\b(?:usd|eur|gbp|chf|sek|nok|dkk|jpy|cad|aud|inr)\s)\s*['’]?
            (?P<money>k|mm?|mn|mln|bn?|000s?|thousands?|millions?|billions?)\b
        |\b(?P<after>k|m|mn|bn)[$€£¥]
        |\bin\s(?P<words>thousands|millions|billions)\b",
    )
    .ok()
});

/// The scale that a label names as its unit.
pub(crate) fn scale_of_label(label: &str) -> Option<Scale> {
    let label = label.to_lowercase();
    let found = SCALE.as_ref()?.captures(&label)?;
    let forms = ["bracket", "money", "after", "words"];
    let unit = forms.iter().find_map(|form| found.name(form))?.as_str();
    Some(match unit {
        "b" | "bn" | "billion" | "billions" => Scale::Billion,
        "k" | "000" | "000s" | "thousand" | "thousands" => Scale::Thousand,
        _ => Scale::Million,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("Revenue ($)", None),
            ("Revenue (b)", None),
            ("Length m", None),
            ("Basic EPS (cents)", None),
        ] {
            assert_eq!(scale_of_label(label), scale, "{label}");
        }
    }
}
