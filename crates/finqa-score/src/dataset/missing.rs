//! Lists the fields that the records of a file lack, and says what each lack makes impossible. For
//! `data check`.

use std::sync::Arc;

use finqa_core::question::page_of_record;
use finqa_core::text::counted;

use super::{Case, Dataset, Record, RecordKind};

/// Says for each optional field how many records or questions lack it, and with what consequence;
/// one line each. Empty if nothing is missing.
pub fn missing_fields(dataset: &Dataset) -> Vec<String> {
    let records = &dataset.records;
    let mut missing = MissingFields::default();
    missing.in_pages(records);
    let stand_alone: Vec<_> = records
        .iter()
        .flat_map(|record| &record.questions)
        .collect();
    let turns: Vec<_> = records.iter().flat_map(|record| &record.turns).collect();
    missing.in_golds(&stand_alone, "stand-alone question");
    missing.in_golds(&turns, "turn");
    if !stand_alone.is_empty() && !turns.is_empty() {
        missing.in_a_mode(records);
    }
    let doubles = records
        .iter()
        .filter(|record| record.kind == RecordKind::Double);
    let halves = doubles.filter(|record| record.turns.iter().any(|turn| turn.gold.split.is_none()));
    missing.add(
        halves.count(),
        &counted(records.len(), "record"),
        "of two questions without `annotation.qa_split`",
        "the halves of the conversation are not told apart",
    );
    missing.lines
}

/// The lines about what is missing so far.
#[derive(Default)]
struct MissingFields {
    lines: Vec<String>,
}

impl MissingFields {
    /// Adds a line, if the `count` of those that lack something is not 0.
    fn add(&mut self, count: usize, of: &str, lacks: &str, so: &str) {
        if count > 0 {
            self.lines.push(format!("{count} of {of} {lacks}: {so}"));
        }
    }

    /// Adds a line for records without the name of their page, and one for those without text.
    fn in_pages(&mut self, records: &[Record]) {
        let all = counted(records.len(), "record");
        let pages = records.iter().filter(|record| {
            let page = &record.document.filename;
            *page == record.id() && *page == page_of_record(record.id())
        });
        self.add(
            pages.count(),
            &all,
            "whose `filename` is missing or is the `id`",
            "each counts as a page of its own, so records that share a page get intervals that are \
             too narrow",
        );
        let texts = records.iter().filter(|record| {
            let page = &record.document;
            page.pre_text.is_empty() && page.post_text.is_empty()
        });
        self.add(
            texts.count(),
            &all,
            "without `pre_text` and `post_text`",
            "the agents see the table alone",
        );
    }

    /// Adds a line for each part that golds of these questions lack. `noun` names the questions;
    /// a "turn" needs no printed answer.
    fn in_golds(&mut self, cases: &[&Arc<Case>], noun: &str) {
        let all = counted(cases.len(), noun);
        let without =
            |lacks: &dyn Fn(&Arc<Case>) -> bool| cases.iter().filter(|case| lacks(case)).count();
        self.add(
            without(&|case| case.gold.is_empty()),
            &all,
            "without a gold",
            "asked, but not scored, and left out of an environment",
        );
        self.add(
            without(&|case| !case.gold.is_empty() && case.gold.program.is_none()),
            &all,
            "with a gold but no program",
            "not judged by program accuracy and program execution; `analyze` finds fewer causes",
        );
        self.add(
            without(&|case| !case.gold.is_empty() && case.gold.exe_ans.is_none()),
            &all,
            "with a gold but no value (`exe_ans`)",
            "not judged by execution accuracy",
        );
        let needs_answer = noun != "turn";
        self.add(
            without(&|case| needs_answer && case.gold.answer.is_none() && !case.gold.is_empty()),
            &all,
            "with a gold but no printed `answer`",
            "not judged by exact match and numeric match",
        );
    }

    /// The records that have questions for only one of the modes.
    fn in_a_mode(&mut self, records: &[Record]) {
        let all = counted(records.len(), "record");
        let only_turns = records.iter().filter(|record| record.questions.is_empty());
        self.add(
            only_turns.count(),
            &all,
            "without a stand-alone question",
            "asked by `--mode conversations` only, and not in an environment",
        );
        let only_questions = records.iter().filter(|record| record.turns.is_empty());
        self.add(
            only_questions.count(),
            &all,
            "without a conversation",
            "not asked by `--mode conversations`",
        );
    }
}
