//! `convfinqa ask` about a PDF.

use crate::support::cli::Workplace;

/// One page with a table, encrypted with an empty password, and with another one.
const ENCRYPTED: &[u8] = include_bytes!("../data/filing-encrypted.pdf");
const PASSWORD: &[u8] = include_bytes!("../data/filing-password.pdf");

fn workplace(name: &str, file: &[u8]) -> Workplace {
    let place = Workplace::new();
    std::fs::write(place.path(name), file).unwrap();
    place
}

#[test]
fn an_encrypted_pdf_without_a_password_is_read() {
    let place = workplace("report.pdf", ENCRYPTED);
    let listed = place.run("ask report.pdf --list-tables");
    listed
        .succeeds()
        .prints("  1  Statements of income\n     6 rows; (In millions); 2031 | 2030\n");
}

#[test]
fn a_figure_of_a_pdf_is_sure_if_its_column_is_certain() {
    let place = workplace("report.pdf", ENCRYPTED);
    let json = |question: &str| {
        let ran = place.run(&format!("ask report.pdf '{question} in 2031?' --json"));
        ran.answer()
    };
    let employees = json("employees");
    assert_eq!(employees["evidence"][0]["literal"], "4310");
    // A row with a figure under each heading.
    assert!(employees["doubt"].is_null(), "{employees}");
    // 1,204 - 700 = 504, and 504 - 12 = 492.
    let gross = json("gross profit");
    assert_eq!(gross["plain_value"], 504_000_000.0);
    assert!(gross["doubt"].is_null(), "{gross}");
    assert_eq!(gross["evidence"][0]["table"], "Statements of income");
    assert_eq!(gross["evidence"][0]["scale"], "million");
    assert_eq!(gross["evidence"][0]["page"], 1);
}

#[test]
fn a_pdf_that_cannot_be_read_is_refused_in_one_line() {
    for (name, file, words) in [
        ("secret.pdf", PASSWORD, "it needs a password"),
        ("cut.pdf", &ENCRYPTED[..800], "it is cut off"),
        ("page.pdf", b"<html></html>", "no table with figures"),
    ] {
        let place = workplace(name, file);
        place
            .run(&format!("ask {name} why?"))
            .fails(3, &[name, words]);
    }
}
