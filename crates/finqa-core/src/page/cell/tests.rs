use super::*;

fn number(raw: &str) -> (String, f64, bool, bool) {
    let cell = Cell::read(raw);
    assert_eq!(cell.kind, CellKind::Number, "{raw}");
    let number = cell.number.unwrap();
    assert_eq!(number.words(), "", "{raw}");
    (
        number.literal.to_string(),
        number.value,
        number.percent,
        number.doubled,
    )
}

#[test]
fn numbers_are_read_as_they_are_filed() {
    for (raw, literal, value, percent, doubled) in [
        ("74397", "74397", 74397.0, false, false),
        ("$ 103102", "103102", 103_102.0, false, false),
        ("$103,102", "103102", 103_102.0, false, false),
        (".455", ".455", 0.455, false, false),
        ("-2913 ( 2913 )", "-2913", -2913.0, false, true),
        ("$ -50.5 ( 50.5 )", "-50.5", -50.5, false, true),
        ("28% ( 28 % )", "28%", 28.0, true, true),
        ("11.1% ( 11.1 % )", "11.1%", 11.1, true, true),
        ("( 41 ) % (  % )", "-41%", -41.0, true, true),
        ("( 39.4 )", "-39.4", -39.4, false, false),
        ("( $ 4 )", "-4", -4.0, false, false),
        ("1269242 ( c )", "1269242", 1_269_242.0, false, false),
        ("1500000 ( 3 )", "1500000", 1_500_000.0, false, false),
        ("$ 2.7 billion", "2.7", 2.7, false, false),
        ("$(12.5)", "-12.5", -12.5, false, false),
        ("($12.5)", "-12.5", -12.5, false, false),
        ("\u{2212}12.5", "-12.5", -12.5, false, false),
        ("(1.5%)", "-1.5%", -1.5, true, false),
        ("(1.5)%", "-1.5%", -1.5, true, false),
        ("1,234(1)", "1234", 1234.0, false, false),
        ("1,234*", "1234", 1234.0, false, false),
        ("3.83285E+11", "3.83285e11", 3.832_85e11, false, false),
        ("－１，２３４", "-1234", -1234.0, false, false),
        ("△1,250", "-1250", -1250.0, false, false),
        ("45.2 €", "45.2", 45.2, false, false),
    ] {
        assert_eq!(
            number(raw),
            (literal.to_owned(), value, percent, doubled),
            "{raw}"
        );
    }
}

#[test]
fn what_is_not_one_number_is_text_dash_or_nothing() {
    for (raw, kind) in [
        ("", CellKind::Empty),
        ("  ", CellKind::Empty),
        ("-", CellKind::Dash),
        ("$ -", CellKind::Dash),
        ("—", CellKind::Dash),
        ("- -", CellKind::Dash),
        ("n/a", CellKind::Text),
        ("6 months", CellKind::Text),
        ("3-20", CellKind::Text),
        ("december 31 2009", CellKind::Text),
        ("4/25/2010", CellKind::Text),
        ("31 to 150 ( 84/78 )", CellKind::Text),
        (
            "28% ( 28 % ) to 84% ( 84 % ) ( 61%/60% ( 61%/60 % ) )",
            CellKind::Text,
        ),
        ("$ 81.99 2013 $ 85.05", CellKind::Text),
        ("63 bps", CellKind::Text),
        ("<0.1", CellKind::Text),
    ] {
        assert_eq!(Cell::read(raw).kind, kind, "{raw}");
    }
}

#[test]
fn a_figure_of_a_users_table_is_understood_whole_or_not_read() {
    let read = |raw: &str| {
        let mut cell = Cell::read_as(raw, TableOrigin::Own);
        cell.check();
        cell
    };
    for (raw, value) in [
        ("'-45.2", -45.2),
        ("-USD 45", -45.0),
        ("(₹60)", -60.0),
        ("45-", -45.0),
        ("₹5 Cr", 5.0),
        ("△1,250", -1250.0),
        ("▲980", -980.0),
        ("1,234(1)", 1234.0),
    ] {
        assert_eq!(read(raw).value(), Some(value), "{raw}");
    }
    for raw in [
        "(45", "45)", "45 -", "<0.1", "45 Dr", "18 Cr", "minus 45", "> 5", "±3",
    ] {
        let cell = read(raw);
        assert_eq!((cell.kind, cell.number), (CellKind::Unread, None), "{raw}");
    }
    for (raw, number) in [
        ("5.0 years", true),
        ("about 5", true),
        ("Note 5", false),
        ("June 30, 2032", false),
        ("12/31/31", false),
        ("3-20", false),
    ] {
        let cell = read(raw);
        let found = (cell.kind, cell.number.is_some());
        assert_eq!(found, (CellKind::Text, number), "{raw}");
    }
    let up = Cell::read_among("▲980", TableOrigin::Own, true);
    assert_eq!(up.value(), Some(980.0));
}

#[test]
fn a_number_among_words_is_kept_with_them() {
    for (raw, expected) in [
        ("5.0 years", Some(("5.0", "years"))),
        ("about $ 1,234.50 each", Some(("1234.50", "about each"))),
        ("28% ( 28 % ) to 84% ( 84 % )", Some(("28%", "to 84%"))),
        ("net (1)", None),
        ("n/a", None),
        ("aa3", None),
        ("63 bps", Some(("63", "bps"))),
        ("()", None),
        ("-", None),
    ] {
        let cell = Cell::read(raw);
        let number = cell.number.as_ref();
        let found = number.map(|number| (&*number.literal, number.words()));
        assert_eq!((found, cell.value()), (expected, None), "{raw}");
    }
}
