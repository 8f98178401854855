//! The scale that a heading gives its own row or column: "Revenue ($m)", "Units (in thousands)".

use std::sync::LazyLock;

use finqa_core::number::Scale;
use finqa_core::regex;
use regex::Regex;

/// In brackets, after a currency, or after "in": elsewhere an `m` is part of a name.
static SCALE: LazyLock<Regex> = LazyLock::new(|| {
    let units = ["k", "mm?", "mn", "mln", "bn", "000s?"];
    let units = [units.as_slice(), &["thousands?", "millions?", "billions?"]].concat();
    let unit = units.join("|");
    let codes = ["usd", "eur", "gbp", "chf", "sek", "nok", "dkk"];
    let code = [codes.as_slice(), &["jpy", "cad", "aud", "inr"]]
        .concat()
        .join("|");
    let opened = r"[(\[]\s*(?:in\s)?\s*";
    let currency = r"(?:[$€£¥]|us\$|[a-z]{3}\s)?\s*['’]?";
    let forms = [
        format!(r"{opened}{currency}(?P<bracket>{unit})(?:\b|[$€£¥])"),
        format!(r"(?:[$€£¥]|\b(?:{code})\s)\s*['’]?(?P<money>{unit}|b)\b"),
        r"\b(?P<after>k|m|mn|bn)[$€£¥]".to_owned(),
        r"\bin\s(?P<words>thousands|millions|billions)\b".to_owned(),
    ];
    regex!(&forms.join("|"))
});

/// The scale that a label names as its unit.
pub(crate) fn scale_of_label(label: &str) -> Option<Scale> {
    let label = label.to_lowercase();
    let found = SCALE.captures(&label)?;
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
