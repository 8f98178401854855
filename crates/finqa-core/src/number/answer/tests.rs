use super::*;
use crate::number::same;
use crate::number::{Scale, whole};

/// The value in units, with percents and basis points as fractions.
fn units(reading: &NumberReading) -> f64 {
    reading.fraction() * reading.scale.map_or(1.0, Scale::factor)
}

fn meant(text: &str) -> Option<f64> {
    answer(text).ok().as_ref().map(units)
}

/// Forty values of different magnitudes, without separators.
const VALUES: [&str; 40] = [
    "0.5", "1", "2", "3.25", "5", "7.1", "9.99", "10", "12", "14.1", "19", "25", "45.2", "60",
    "99.5", "100", "112", "198.4", "250", "454", "812.75", "999", "1000", "1454", "1720.5", "2100",
    "3185", "4812", "5000.25", "7316", "9999", "10000", "12345", "25587.5", "181001", "206588",
    "345678.9", "1000000", "1234567.8", "98765432",
];

const DASHES: [char; 11] = [
    '-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}',
    '\u{fe58}', '\u{fe63}', '\u{ff0d}',
];

fn grouped(plain: &str, separator: &str) -> String {
    let (whole, decimals) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push_str(separator);
        }
        out.push(digit);
    }
    out + decimals
}

fn wide(text: &str) -> String {
    let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).unwrap();
    text.chars().map(wide).collect()
}

fn exponent(plain: &str, form: &str, superscript: bool) -> String {
    let value: f64 = plain.parse().unwrap();
    let written = format!("{value:e}");
    let (mantissa, power) = written.split_once('e').unwrap();
    let raised = |c: char| match c {
        '-' => '⁻',
        c => "⁰¹²³⁴⁵⁶⁷⁸⁹"
            .chars()
            .nth(c.to_digit(10).unwrap() as usize)
            .unwrap(),
    };
    let power = if superscript {
        power.chars().map(raised).collect()
    } else {
        power.to_owned()
    };
    form.replace("{m}", mantissa).replace("{e}", &power)
}

/// A value in every supported notation, each with the value that must be read.
fn notations(plain: &str) -> Vec<(String, f64)> {
    let x: f64 = plain.parse().unwrap();
    let mut out: Vec<(String, f64)> = Vec::new();
    for dash in DASHES {
        for form in [
            "{d}{x}", "{d}${x}", "${d}{x}", "{d}USD {x}", "USD {d}{x}", "fell to {d}{x}", "{x}{d}",
            "[{d}{x}]",
        ] {
            let text = form.replace("{d}", &dash.to_string()).replace("{x}", plain);
            out.push((text, -x));
        }
    }
    for separator in [",", "'", "\u{2019}", "\u{a0}", "\u{2009}", "\u{202f}"] {
        out.push((grouped(plain, separator), x));
        out.push((format!("-${}", grouped(plain, separator)), -x));
    }
    for form in [
        "{m}e{e}", "{m}E{e}", "{m} × 10^{e}", "{m} x 10^{e}", "{m}*10^{e}", "{m} * 10**{e}",
        r"{m} \times 10^{{e}}",
    ] {
        let form = exponent(plain, form, false);
        out.push((form, x));
    }
    out.push((exponent(plain, "{m} × 10{e}", true), x));
    out.push((wide(plain), x));
    out.push((wide(&format!("-{plain}%")), -x / 100.0));
    for (form, factor) in [
        ("{x}%", 0.01),
        ("{x} percent", 0.01),
        ("{x} percentage points", 0.01),
        ("{x}\u{a0}%", 0.01),
        ("{x} bps", 1e-4),
        ("{x}bps", 1e-4),
        ("{x} basis points", 1e-4),
        ("{x}k", 1e3),
        ("${x} thousand", 1e3),
        ("{x}mn", 1e6),
        ("${x}mm", 1e6),
        ("${x} mn", 1e6),
        ("${x}m", 1e6),
        ("${x} million", 1e6),
        ("{x}bn", 1e9),
        ("EUR {x} billion", 1e9),
        ("{x} bil", 1e9),
        ("{x}tn", 1e12),
        ("{x} trillion", 1e12),
        ("{x} lakh", 1e5),
        ("{x} crore", 1e7),
        ("₹{x} Cr", 1e7),
        ("**${x}** million", 1e6),
        ("**{x}**%", 0.01),
        (r"\boxed{{x}\%}", 0.01),
        (r"\boxed{\text{{x} million}}", 1e6),
        ("about ${x} million", 1e6),
        ("△{x}", -1.0),
        ("▲{x}", -1.0),
        ("▼{x}", -1.0),
        ("({x})", -1.0),
        ("(${x})", -1.0),
        ("loss of {x}", -1.0),
        ("a net loss of ${x} million", -1e6),
        ("minus {x}", -1.0),
        ("**{x}**", 1.0),
        ("__{x}__", 1.0),
        ("`{x}`", 1.0),
        ("[{x}]", 1.0),
        ("${x}$", 1.0),
        (r"$\boxed{{x}}$", 1.0),
        (r"\({x}\)", 1.0),
        ("\u{201c}{x}\u{201d}", 1.0),
        ("${x} (2019)", 1.0),
        ("{x}x", 1.0),
        ("{x} years", 1.0),
        ("{x} employees", 1.0),
        ("{x} €", 1.0),
        ("HK${x}", 1.0),
        ("In 2031, revenue was ${x}.", 1.0),
        ("$4,812 million / $198.4 million = {x}", 1.0),
        ("As of December 31, 2031: ${x}", 1.0),
    ] {
        out.push((form.replace("{x}", plain), x * factor));
    }
    out
}

/// Texts around a value in which its meaning is unclear.
const UNREADABLE: [&str; 29] = [
    "--{x}", "+-{x}", "({x}", "{x})", "<{x}", "> {x}", "±{x}", "{x} ± 0.3", "{x}+", "{x}-77",
    "{x}–77", "{x} to 77", "77, or {x}", "77 {x}", "{x} hundred", "{x} Cr", "{x} thousand million",
    "{x}¢", "{x} MEUR", "{x} kUSD", "{x}‰", "{x}:7", "10^{x}", "{x}²", "#{x}", "FY{x}", "{x}abc",
    "1,2,{x}", "rose from 77 to {x}",
];

#[test]
fn a_value_is_itself_in_every_notation() {
    for plain in VALUES {
        for (text, expected) in notations(plain) {
            let read = meant(&text);
            assert!(
                read.is_some_and(|read| same(read, expected)),
                "{text}: {read:?}"
            );
        }
        for form in UNREADABLE {
            let text = form.replace("{x}", plain);
            assert!(answer(&text).is_err(), "{text}: {:?}", answer(&text));
        }
    }
    for text in [
        "nan", "inf", "-Infinity", "½", "٤٥", "1.234,5", "12,34,567", "45,2", "1'23",
    ] {
        assert!(answer(text).is_err(), "{text}");
    }
}

proptest::proptest! {
    /// Any marks may surround the value: it is either read correctly or refused.
    #[test]
    fn marks_around_a_value_never_make_another(
        value in 1_u32..1_000_000,
        before in "[-+−–—△▲(\\[$€£<>~≈=±*_ \u{a0}]{0,3}",
        after in "[-−–—)\\]%$€+*_ ²‰\u{a0}]{0,3}",
    ) {
        let text = format!("{before}{value}{after}");
        for read in [answer(&text), whole(&text)].into_iter().flatten() {
            let size = f64::from(value);
            proptest::prop_assert!(same(read.value.abs(), size), "{}", text);
            let minus = text.contains(['-', '−', '–', '—', '△', '▲', '(']);
            proptest::prop_assert!(minus || read.value > 0.0, "{}", text);
            proptest::prop_assert_eq!(read.percent, text.contains('%'), "{}", text);
        }
    }
}

/// Forms in which models answer, taken from the replies of runs.
const ORDINARY: [&str; 40] = [
    "{x}",
    "{x}.",
    "${x}",
    "$ {x}",
    "-{x}",
    "−{x}",
    "{x}%",
    "{x} %",
    "-{x}%",
    "({x})",
    "${x} million",
    "$ {x} million",
    "{x} million",
    "${x} billion",
    "{x} thousand",
    "${x}M",
    "approximately {x}%",
    "about ${x} million",
    "~{x}%",
    "≈ {x}",
    "**{x}%**",
    "{x}x",
    "{x} years",
    "{x} million shares",
    "{x} employees",
    "${x} per share",
    "The answer is {x}%.",
    "The percentage change is {x}%.",
    "Net revenue was ${x} million in 2031.",
    "In fiscal 2031, total assets were ${x}.",
    "The ratio is {x}.",
    "an increase of {x}%",
    "a decrease of {x}%",
    "{x}% (rounded)",
    "{x} (in millions)",
    "USD {x} million",
    "{x} million dollars",
    "{x}% increase",
    "Answer: {x}",
    "It fell by {x}%.",
];

#[test]
fn ordinary_answers_keep_their_values() {
    let mut texts = 0;
    for plain in ["14.13", "0.1413", "25,587", "206588", "5"] {
        for form in ORDINARY {
            let text = form.replace("{x}", plain);
            let x: f64 = plain.replace(',', "").parse().unwrap();
            let sign = if form.starts_with(['-', '−', '(']) {
                -1.0
            } else {
                1.0
            };
            let read = answer(&text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(read.value, sign * x, "{text}");
            assert_eq!(read.percent, form.contains('%'), "{text}");
            texts += 1;
        }
    }
    assert_eq!(texts, 200);
}

#[test]
fn the_figure_that_a_sentence_means() {
    for (text, value) in [
        ("206,588 - 181,001 = 25,587", 25587.0),
        ("25,587 = 206,588 - 181,001", 25587.0),
        ("18/32 = 56.25%", 56.25),
        ("4,812/198.4 = 24.254 ≈ 24.25", 24.25),
        ("$25,587 (14.1%)", 25587.0),
        ("25,587, an increase of 14.1%", 25587.0),
        ("45.2 million, up from 40.1 million", 45.2),
        ("rose to 114 from 100", 114.0),
        ("14.1% (0.141)", 14.1),
        ("14.1% ((206,588 - 181,001) / 181,001)", 14.1),
        ("(45.2), up 5% (note 3)", -45.2),
        ("2031: (45.2)", -45.2),
        ("45.2 [r3c2, t5]", 45.2),
        ("As of 12/31/2031, revenue was $45.2 million", 45.2),
        ("from step 2: 5.5", 5.5),
        ("Q3 2031 revenue of the 3rd segment, by the 10-K: 5.5", 5.5),
        ("the 5-year total was 45.2", 45.2),
        ("2031", 2031.0),
        ("It was highest in 2031.", 2031.0),
        ("provision for loan losses of 45.2", 45.2),
        ("the net loss was 45.2", 45.2),
        ("$276,818,173, or $276.82 million", 276_818_173.0),
        ("$35,411 or 9.8%", 35_411.0),
        ("0.252:1", 0.252),
        ("the investor made 93.1% more in the first 5 years", 93.1),
        ("3 years", 3.0),
    ] {
        assert_eq!(answer(text).map(|read| read.value), Ok(value), "{text}");
    }
    for (text, reason) in [
        ("revenue rose from 100 to 114", NotRead::Several),
        ("45.2 in 2030, 47.1 in 2031", NotRead::Several),
        ("$4,812 million / $198.4 million", NotRead::Several),
        ("a = 5, b = 6", NotRead::Several),
        ("5, or 6", NotRead::Several),
        ("10–20%", NotRead::Several),
        ("10 or 20%", NotRead::Several),
        (
            "no charges in the years ended December 31, 2031 and 2030.",
            NotRead::NoNumber,
        ),
        (r"\frac{1}{2}", NotRead::Several),
        ("In 2031 the company grew.", NotRead::NoNumber),
        ("2031-12-31", NotRead::NoNumber),
        ("10-year notes", NotRead::NoNumber),
        (
            "The revenue of 2031 is not given; 2030 had 5.",
            NotRead::NoAnswer,
        ),
        ("45.2-%", NotRead::Unit),
    ] {
        assert_eq!(answer(text), Err(reason), "{text}");
    }
}

#[test]
fn a_question_may_ask_for_basis_points_or_for_a_loss() {
    let value = |text: &str, question: &str| answer(text).unwrap().value_for(question);
    assert_eq!(value("25 bps", "by how many basis points?"), 25.0);
    assert_eq!(value("25 bps", "by how much?"), 0.0025);
    assert_eq!(value("a loss of 45.2", "what was net income?"), -45.2);
    assert_eq!(value("a loss of 45.2", "what was the net loss?"), 45.2);
    assert_eq!(value("(45.2)", "what was the net loss?"), -45.2);
}

#[test]
fn yes_no_true_and_false() {
    for (text, expected) in [
        ("yes", Some(true)),
        ("No.", Some(false)),
        ("**Yes**", Some(true)),
        ("[no]", Some(false)),
        ("True", Some(true)),
        ("ＦＡＬＳＥ", Some(false)),
        (r"\boxed{\text{Yes}}", Some(true)),
        ("Yes, it rose by 5.", Some(true)),
        ("No. It fell.", Some(false)),
        ("yes — it rose", Some(true)),
        ("no (5 < 6)", Some(false)),
        ("no change", None),
        ("no. of shares", None),
        ("No. 5", None),
        ("nothing", None),
        ("", None),
    ] {
        assert_eq!(yes_or_no(text), expected, "{text}");
    }
}

#[test]
fn an_answer_is_read_in_linear_time() {
    for unit in [
        "5 ", "(5 ", "5=", "▲5", "<5", "from 5 ", "5-", "**5", "\\x5", "loss of 5 ",
    ] {
        let _ = answer(&unit.repeat(8_000 / unit.len()));
        assert!(answer(&unit.repeat(8_000)).is_err());
    }
}
