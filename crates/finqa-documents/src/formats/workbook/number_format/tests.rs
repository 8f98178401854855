//! Tests that numbers are printed as in Excel.

use super::*;

fn shown(code: &str, number: f64) -> String {
    match NumberFormat::read(code).show(number) {
        Shown::Number { text, value, scale } => {
            let scale = scale.map(|(scale, said)| (scale.word(), said));
            match scale {
                Some((word, true)) => format!("{text} = {value} said {word}"),
                Some((word, false)) => format!("{text} = {value} {word}"),
                None => format!("{text} = {value}"),
            }
        }
        Shown::Date(part) => format!("date {part}"),
        Shown::Time => "time".to_owned(),
        Shown::Words(text) => format!("words {text:?}"),
    }
}

#[test]
fn numbers_are_printed_by_their_format() {
    for (code, number, expected) in [
        ("General", 44020.5, "44020.5 = 44020.5"),
        ("General", 0.1 + 0.2, "0.3 = 0.3"),
        ("general\" units\"", -12.0, "-12 units = -12"),
        ("0", 2.5, "3 = 2.5"),
        ("0.00", 2.675, "2.68 = 2.675"),
        ("#,##0", 1_234_567.4, "1,234,567 = 1234567.4"),
        ("#,##0.0", -1234.56, "-1,234.6 = -1234.56"),
        ("#,##0.##", 1234.5, "1,234.5 = 1234.5"),
        (
            "#,##0.00_);[Red](#,##0.00)", -1234.5, "(1,234.50) = -1234.5",
        ),
        (
            "_(* #,##0_);_(* \\(#,##0\\);_(* \"-\"??_);_(@_)",
            -5.0,
            "(5) = -5",
        ),
        (
            "_(* #,##0_);_(* \\(#,##0\\);_(* \"-\"??_);_(@_)",
            0.0,
            "words \"-\"",
        ),
        ("$#,##0", 5.0, "$5 = 5"),
        ("[$€-407] #,##0", 1500.0, "€ 1,500 = 1500"),
        ("#,##0\\ [$kr.-406]", 1500.0, "1,500 kr. = 1500"),
        ("##\\,##\\,##0", 1_234_567.0, "12,34,567 = 1234567"),
        (
            "[>=10000000]##\\,##\\,##\\,##0;[>=100000]##\\,##\\,##0;##,##0",
            123_456.0,
            "1,23,456 = 123456",
        ),
        ("000", 7.0, "007 = 7"),
        (".00", 0.5, ".50 = 0.5"),
        ("0;0;", 0.0, "words \"\""),
        ("0;-0;0;@", -3.0, "-3 = -3"),
        ("0.0;0.0", -3.0, "3.0 = -3"),
        ("0", -0.2, "0 = -0.2"),
    ] {
        assert_eq!(shown(code, number), expected, "{code} of {number}");
    }
}

#[test]
fn commas_behind_the_digits_scale_and_percents_multiply() {
    for (code, number, expected) in [
        ("#,##0,,", 39_767_948_584.0, "39,768 = 39767.948584 million"),
        ("#,##0.0,", 1_234_560.0, "1,234.6 = 1234.56 thousand"),
        ("#,##0,.0", 1_234_560.0, "1,234.6 = 1234.56 thousand"),
        ("0.0,,\"m\"", 2_450_000.0, "2.5m = 2.45 said million"),
        ("0,\"k\"", 2_450.0, "2k = 2.45 said thousand"),
        ("#,##0.0,,,\" bn\"", 5e9, "5.0 bn = 5 said billion"),
        ("#,##0,,;(#,##0,,)", -5e6, "(5) = -5 million"),
        ("0.0%", 0.148, "14.8% = 14.8"),
        ("0%;(0%)", -0.05, "(5%) = -5"),
        ("0.0\"%\"", 22.1, "22.1% = 22.1"),
        ("0.0\\%", 22.1, "22.1% = 22.1"),
        ("0.00E+00", 383_285_000_000.0, "3.83E+11 = 383285000000"),
        ("##0.0E+0", 0.00012, "1.2E-4 = 0.00012"),
        ("# ?/?", 12.5, "12 1/2 = 12.5"),
        ("# ??/??", 0.3125, "5/16 = 0.3125"),
        ("# ?/8", 2.25, "2 2/8 = 2.25"),
        ("?/?", 1.5, "3/2 = 1.5"),
        ("# ?/?", 3.0, "3 = 3"),
    ] {
        assert_eq!(shown(code, number), expected, "{code} of {number}");
    }
}

#[test]
fn dates_times_and_nothing_are_no_numbers() {
    for (code, expected) in [
        ("yyyy-mm-dd", "date d"),
        ("mmm-yy", "date m"),
        ("[$-409]mmmm\\ yyyy;@", "date m"),
        ("yyyy", "date y"),
        ("d/m/yy h:mm", "date d"),
        ("h:mm", "time"),
        ("[h]:mm:ss", "time"),
        ("mm:ss.0", "time"),
        ("\"n/a\"", "words \"n/a\""),
        (";;;", "words \"\""),
    ] {
        assert_eq!(shown(code, 47_848.0), expected, "{code}");
    }
    assert!(NumberFormat::read(";;;").is_blank() && NumberFormat::read(";;;").hides_text());
    assert!(!NumberFormat::read("0;0;;@").is_blank());
    assert!(!NumberFormat::read(";;;@").hides_text());
}
