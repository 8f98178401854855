//! Tests programs in the forms that models write.

use super::program as read;

#[test]
fn the_datasets_language_passes_untouched() {
    for text in [
        "206588",
        "-2913",
        "14%",
        "subtract(206588, 181001)",
        "subtract(206588, 181001), divide(#0, 181001)",
        "add(5.0, const_100), multiply(#0, const_m1), greater(#1, #0)",
        "table_average(net income ( loss ), none)",
        "table_max(cash, end of year, none), divide(#0, 12)",
        "exp(2, 3)",
    ] {
        assert_eq!(read(text).as_deref(), Some(text), "{text}");
    }
}

#[test]
fn variants_with_one_reading_are_converted() {
    let change = "subtract(206588, 181001), divide(#0, 181001)";
    for (text, expected) in [
        ("divide(subtract(206588, 181001), 181001)", change),
        ("(206,588 - 181,001) / 181,001", change),
        ("(206588 - 181001) / 181001 = 0.1414 ≈ 14.1%", change),
        ("subtract(206,588, 181,001), divide(#0, 181,001)", change),
        ("subtract(206588,181001)\ndivide(#0,181001)", change),
        ("add(100, 200, 300)", "add(100, 200), add(#0, 300)"),
        ("5 > 3", "greater(5, 3)"),
        ("$206,588", "206588"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn other_programs_are_left_as_written() {
    for text in [
        "add(100,200,300)",
        "add(1,234,567)",
        "percent_change(206588, 181001)",
        "subtract(206588)",
        "subtract(206588, x)",
        "divide(#3, 2)",
        "divide(#0, 2)",
        "206588, subtract(206588, 181001)",
        "subtract(206588, 181001",
        "the difference of the two",
        "75 = 80",
        "75 million = 75,000,000",
        "a = 206588; b = 181001; divide(subtract(a, b), b)",
        "average(1, 2)",
    ] {
        assert_eq!(read(text).as_deref(), Some(text), "{text}");
    }
}

#[test]
fn no_program() {
    for text in ["", "N/A", " none "] {
        assert_eq!(read(text), None);
    }
}

#[test]
fn nesting_is_bounded() {
    for deep in [
        "add(1, ".repeat(500) + "1" + &")".repeat(500),
        "(".repeat(2000) + "1" + &")".repeat(2000),
        "-".repeat(4000) + "1",
    ] {
        assert_eq!(read(&deep), Some(deep));
    }
}
