use super::*;

fn value(text: &str) -> Option<f64> {
    read(text).map(|reading| reading.value)
}

#[test]
fn signs_currencies_and_parentheses() {
    for (text, expected) in [
        ("1234", Some(1234.0)),
        ("1,234.5", Some(1234.5)),
        ("$-5", Some(-5.0)),
        ("-$1,234.5", Some(-1234.5)),
        ("- 5", Some(-5.0)),
        ("-$ 5", Some(-5.0)),
        ("$ -5", Some(-5.0)),
        ("\u{2212}5", Some(-5.0)),
        ("\u{2013}5", Some(-5.0)),
        ("+5", Some(5.0)),
        ("(5.2)", Some(-5.2)),
        ("( 5.2 )", Some(-5.2)),
        ("$(5.2)", Some(-5.2)),
        ("($5.2)", Some(-5.2)),
        ("(5.2%)", Some(-5.2)),
        ("(5.2)%", Some(-5.2)),
        ("($5.2 million)", Some(-5.2)),
        (".27%", Some(0.27)),
        ("-.5", Some(-0.5)),
        ("1/2", Some(0.5)),
        ("1.5e6", Some(1.5e6)),
        ("6e-05", Some(6e-5)),
        ("usd 5", Some(5.0)),
        ("US$5", Some(5.0)),
        ("5.", Some(5.0)),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_not_certain_is_not_a_number() {
    for text in [
        "", "yes", "$-", "-", "%", "$", ",", ".", "1,2,3", "1,23", "12,34,567", "--5", "+-5",
        "- -5", "1e999", "1.2.3", "12/31/2009", "1/0", "0/0", "\u{665}", "5\u{663}", "\u{bd}",
        "5\u{b2}", "fy2010", "#0", "1__0", "1_000",
    ] {
        assert_eq!(value(text), None, "{text:?}");
    }
}

#[test]
fn the_first_number_of_a_sentence() {
    for (text, expected) in [
        ("the answer is 14.1%.", Some(14.1)),
        ("decrease of -5", Some(-5.0)),
        ("covid-19", Some(19.0)),
        ("from 2009 - 2010", Some(2009.0)),
        ("answer: - 5", Some(-5.0)),
        ("in h1 it was 7", Some(7.0)),
        ("5, or 6", Some(5.0)),
        ("(see note 5, page 3)", Some(5.0)),
        ("yes, 5", Some(5.0)),
    ] {
        assert_eq!(value(text), expected, "{text:?}");
    }
}

#[test]
fn the_datasets_doubled_cells() {
    let read = |text| read(text).unwrap();
    let doubled = read("-2913 ( 2913 )");
    assert_eq!(doubled.value, -2913.0);
    assert_eq!(&"-2913 ( 2913 )"[doubled.span.clone()], "-2913 ( 2913 )");
    let percent = read("28% ( 28 % )");
    assert_eq!((percent.value, percent.percent), (28.0, true));
    assert_eq!(read("-3.97% ( 3.97 % )").fraction(), -0.0397);
    assert_eq!(read("$ -1,234 ( 1,234 )").value, -1234.0);
    // A different number in the parentheses is a second number.
    assert_eq!(&"28 ( 29 )"[read("28 ( 29 )").span], "28");
}

#[test]
fn scale_words_are_kept_apart_from_the_value() {
    let read = |text| read(text).unwrap();
    for (text, value, scaled) in [
        ("$1.2 billion", 1.2, 1.2e9),
        ("$ 5 million", 5.0, 5e6),
        ("$5m", 5.0, 5e6),
        ("3.4bn", 3.4, 3.4e9),
        ("7 thousand", 7.0, 7e3),
        ("2 trillion", 2000.0, 2e12),
        ("5 m", 5.0, 5.0),
        ("5 millionaires", 5.0, 5.0),
    ] {
        assert_eq!(
            (read(text).value, read(text).scaled()),
            (value, scaled),
            "{text:?}"
        );
    }
    assert!(read("5 percentage points").percent);
    assert!(read("5 percent").percent);
    assert!(!read("5 percentile").percent);
}

#[test]
fn decimals_as_written_and_without_trailing_zeros() {
    let decimals = |text| {
        let reading = read(text).unwrap();
        (reading.decimals, reading.significant_decimals)
    };
    assert_eq!(decimals("14.10%"), (2, 1));
    assert_eq!(decimals("14"), (0, 0));
    assert_eq!(decimals("1.5e6"), (0, 0));
    assert_eq!(decimals("6e-05"), (5, 5));
}

#[test]
fn what_touches_the_digits_is_a_part_of_the_number_or_makes_it_none() {
    let read = |text| read(text).map(|read| (read.value, read.literal));
    for (text, value, literal) in [
        ("\u{25b3}1,250", -1250.0, "1250"),
        ("▲5 ▼3", 5.0, "5"),
        ("-USD 45.2", -45.2, "45.2"),
        ("USD-45.2", -45.2, "45.2"),
        ("45.2-", -45.2, "45.2"),
        ("\u{2011}5", -5.0, "5"),
        ("12\u{202f}345", 12345.0, "12345"),
        ("3.8E+11", 3.8e11, "3.8e11"),
        ("1.2 × 10^6", 1.2e6, "1.2e6"),
        ("3 crore", 3.0, "3"),
        ("**5**%", 5.0, "5"),
        ("form 10-k", 10.0, "10"),
        ("IFRS 15 €m", 15.0, "15"),
    ] {
        let (read_value, read_literal) = read(text).unwrap();
        assert_eq!(
            (read_value, read_literal.as_str()),
            (value, literal),
            "{text}"
        );
    }
    for text in ["5abc", "<5", "5:2", "5²", "+/-5", "+/- 5", "-45-", "$5$6"] {
        assert_eq!(read(text), None, "{text}");
    }
    // A footnote mark is not a number.
    assert_eq!(readings("Revenue(1) and Costs(2)(3)").count(), 0);
    for text in ["5 years", "(45", "45)", "5 6", "about 5", ""] {
        assert!(whole(text).is_err(), "{text}");
    }
    for text in [" $ (5.2) million ", "**5%**", "5 USD"] {
        assert!(whole(text).is_ok(), "{text}");
    }
}

#[test]
fn all_numbers_of_a_text() {
    let values: Vec<f64> = readings("from $ 5.2 million in 2008 to (3) , up 14.1% (1,2,3)")
        .map(|reading| reading.value)
        .collect();
    assert_eq!(values, [5.2, 2008.0, -3.0, 14.1]);
}

#[test]
fn long_input_is_read_in_linear_time() {
    assert!(read(&"9".repeat(1 << 20)).is_none());
    assert!(read(&format!("0.{}", "9".repeat(1 << 20))).is_some());
    for unit in [
        "-", "(", "$", "1,", "1.", "a1 ", "( ", "5 (", "- ", "\u{665}",
    ] {
        let _ = readings(&unit.repeat(50_000)).count();
    }
}
