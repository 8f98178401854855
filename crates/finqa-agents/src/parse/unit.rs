//! Reads the unit of an answer from the words that models use for it.

use finqa_core::number::{Scale, Unit, UnitKind, fold, scale_of_word};

/// Reads unit words (`percent`, `%`, `USD millions`, `ratio`, `yes_no`). `None` if the text names
/// no unit (empty, `none`, `n/a`). Unknown words such as `shares` mean a plain number.
pub fn unit(words: &str) -> Option<Unit> {
    let words: String = words.trim().chars().map(fold).collect();
    let words = words.to_lowercase();
    if matches!(words.as_str(), "" | "none" | "null" | "n/a" | "na" | "-") {
        return None;
    }
    let tokens: Vec<&str> = words
        .split(|c: char| !c.is_alphanumeric() && c != '%')
        .filter(|t| !t.is_empty())
        .collect();
    let any = |names: &[&str]| tokens.iter().any(|t| names.contains(t));
    let kind = if words.contains('%') || any(&["percent", "percentage", "pct", "percents"]) {
        UnitKind::Percent
    } else if any(&["yesno", "boolean", "bool"]) || (any(&["yes"]) && any(&["no"])) {
        UnitKind::YesNo
    } else if any(&["ratio", "fraction", "decimal", "proportion", "multiple"])
        || matches!(words.as_str(), "share" | "portion" | "times" | "x")
    {
        // `share` counts only if it is the whole unit, because `dollars per share` is an amount.
        UnitKind::Ratio
    } else {
        UnitKind::Number
    };
    let scale = |token: &&str| match *token {
        "000" | "000s" => Some(Scale::Thousand),
        // A trillion is a thousand billion, which `Scale` does not have.
        token => scale_of_word(token).and_then(|(scale, power)| (power == 0).then_some(scale)),
    };
    let scale = tokens.iter().find_map(scale);
    // Only amounts have a scale. In `percent of millions`, the scale is ignored.
    let scale = scale.filter(|_| kind == UnitKind::Number);
    Some(Unit { kind, scale })
}

/// The names of units that the prompt and the schema offer.
pub(super) const NAMES: [&str; 7] = [
    "number", "thousand", "million", "billion", "percent", "ratio", "yes_no",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_words() {
        let number = |scale| {
            Some(Unit {
                kind: UnitKind::Number,
                scale,
            })
        };
        let kind = |kind| Some(Unit { kind, scale: None });
        for (words, expected) in [
            ("percent", kind(UnitKind::Percent)),
            ("%", kind(UnitKind::Percent)),
            ("percentage points", kind(UnitKind::Percent)),
            ("USD millions", number(Some(Scale::Million))),
            ("$ in millions", number(Some(Scale::Million))),
            ("million", number(Some(Scale::Million))),
            ("thousands of dollars", number(Some(Scale::Thousand))),
            ("$ bn", number(Some(Scale::Billion))),
            ("％", kind(UnitKind::Percent)),
            ("crore", number(Some(Scale::Crore))),
            ("trillion", number(None)),
            ("ratio", kind(UnitKind::Ratio)),
            ("yes_no", kind(UnitKind::YesNo)),
            ("yes/no", kind(UnitKind::YesNo)),
            ("shares", number(None)),
            ("number", number(None)),
            ("dollars per share", number(None)),
            ("dollars", number(None)),
            ("none", None),
            (" ", None),
        ] {
            assert_eq!(unit(words), expected, "{words}");
        }
    }

    #[test]
    fn the_schemas_names_are_read_as_their_units() {
        assert!(NAMES.iter().all(|name| unit(name).is_some()));
        assert_eq!(unit("yes_no").unwrap().kind, UnitKind::YesNo);
    }
}
