//! The causes found for the LangGraph baseline's misses, against an audit of the
//! same misses by people.

use convfinqa::analysis::{Answers, Cause, analyze};
use convfinqa::score::Rule;

use crate::support::published::{file, records};

/// What the audit says: page, part, and the cause; where gold is to blame, the
/// cause beneath it.
const AUDIT: [(&str, &str, Cause, Option<Cause>); 21] = [
    ("Double_UPS/2009", "qa_1", Cause::Sign, None),
    ("RSG/2012", "qa", Cause::Sign, None),
    ("MRO/2004", "qa", Cause::Sign, None),
    ("MMM/2007", "qa", Cause::Sign, None),
    ("IQV/2018", "qa", Cause::SuspectGold, Some(Cause::Sign)),
    ("BKR/2017", "qa", Cause::PercentDecimal, None),
    ("GPN/2007", "qa_1", Cause::PercentDecimal, None),
    (
        "AAPL/2002",
        "qa",
        Cause::SuspectGold,
        Some(Cause::Truncation),
    ),
    (
        "NKE/2015",
        "qa_1",
        Cause::SuspectGold,
        Some(Cause::Truncation),
    ),
    ("D/2002", "qa", Cause::Arithmetic, None),
    ("MRO/2008", "qa", Cause::AbsoluteForRelative, None),
    ("AAPL/2010", "qa", Cause::AbsoluteForRelative, None),
    ("MRO/2011", "qa", Cause::AbsoluteForRelative, None),
    ("ADBE/2011", "qa_0", Cause::AbsoluteForRelative, None),
    ("ADBE/2009", "qa_1", Cause::ScaleAndSign, None),
    ("CDW/2015", "qa", Cause::YesNo, None),
    ("CE/2010", "qa", Cause::SuspectGold, Some(Cause::Complement)),
    (
        "STT/2011",
        "qa",
        Cause::SuspectGold,
        Some(Cause::SwappedOperands),
    ),
    ("TSCO/2017", "qa_0", Cause::SuspectGold, None),
    ("ADBE/2018", "qa_0", Cause::IllPosed, None),
    ("ADBE/2018", "qa_1", Cause::IllPosed, None),
];

/// Wrong cells, operations or golds, says the audit.
const OTHERS: [(&str, &str, Cause); 9] = [
    // The audit says: the answer of the row before.
    ("ZBH/2002", "qa", Cause::Unexplained),
    ("PNC/2014", "qa_0", Cause::Unexplained),
    ("AMT/2010", "qa_0", Cause::Unexplained),
    ("AAL/2015", "qa", Cause::SuspectGold),
    ("VLO/2018", "qa", Cause::MissingEvidence),
    ("IP/2012", "qa", Cause::Unexplained),
    ("AWK/2013", "qa_0", Cause::SuspectGold),
    ("FITB/2013", "qa", Cause::SuspectGold),
    ("NKE/2009", "qa", Cause::WrongBase),
];

#[test]
#[ignore = "needs the published files"]
fn the_causes_of_the_baselines_misses_are_those_of_the_audit() {
    let file = file("predictions/gpt4o_reflection_train100.csv");
    let data = records("train_first100.json");
    let answers = Answers::open(&file, Some(&data)).unwrap();
    let misses = analyze(&answers, Rule::NumericalMatch).misses;
    assert_eq!(misses.len(), 30);
    let found = |page: &str, part: &str| {
        let mut of = misses.iter().filter(|miss| {
            let id = miss
                .key
                .id
                .replace("Single_", "/")
                .replace("Double_", "/Double_");
            let named =
                id.contains(&format!("/{page}/")) || id.contains(&format!("Double_{page}/"));
            named && miss.key.part == part
        });
        let miss = of
            .next()
            .unwrap_or_else(|| panic!("no miss on {page} ({part})"));
        assert!(of.next().is_none(), "two misses on {page} ({part})");
        miss
    };
    for (page, part, cause, beneath) in AUDIT {
        let miss = found(page, part);
        assert_eq!(miss.cause, cause, "{page}: {miss:#?}");
        if let Some(beneath) = beneath {
            let also = miss.also.iter().map(|found| found.cause);
            assert!(
                also.into_iter().any(|also| also == beneath),
                "{page}: {miss:#?}"
            );
        }
    }
    for (page, part, cause) in OTHERS {
        let miss = found(page, part);
        assert_eq!(miss.cause, cause, "{page}: {miss:#?}");
    }
}
