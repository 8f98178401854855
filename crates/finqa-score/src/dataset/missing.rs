//! Lists the fields that the records of a file lack, and says what each lack makes impossible. For
//! `data check`.

use std::sync::Arc;

use finqa_core::question::page_of_record;
use finqa_core::text::counted;

use super::{Case, Dataset, RecordKind};

/// Says for each optional field how many records or questions lack it, and with what consequence;
/// one line each. Empty if nothing is missing.
pub fn missing_fields(dataset: &Dataset) -> Vec<String> {
    let records = &dataset.records;
    let all = counted(records.len(), "record");
    let mut lines = Vec::new();
    let mut say = |count: usize, of: &str, lacks: &str, so: &str| {
        if count > 0 {
            lines.push(format!("{count} of {of} {lacks}: {so}"));
        }
    };
    let pages = records.iter().filter(|record| {
        let page = &record.document.filename;
        *page == record.id() && *page == page_of_record(record.id())
    });
    say(
        pages.count(),
        &all,
        "whose `filename` is missing or is the `id`",
        "each counts as a page of its own, so records that share a page get intervals that are too \
         narrow",
    );
    let texts = records.iter().filter(|record| {
        let page = &record.document;
        page.pre_text.is_empty() && page.post_text.is_empty()
    });
    say(
        texts.count(),
        &all,
        "without `pre_text` and `post_text`",
        "the agents see the table alone",
    );
    let stand_alone: Vec<_> = records
        .iter()
        .flat_map(|record| &record.questions)
        .collect();
    let turns: Vec<_> = records.iter().flat_map(|record| &record.turns).collect();
    for (cases, noun) in [(&stand_alone, "stand-alone question"), (&turns, "turn")] {
        let all = counted(cases.len(), noun);
        let without =
            |lacks: &dyn Fn(&Arc<Case>) -> bool| cases.iter().filter(|case| lacks(case)).count();
        say(
            without(&|case| case.gold.is_empty()),
            &all,
            "without a gold",
            "asked, but not scored, and left out of an environment",
        );
        say(
            without(&|case| !case.gold.is_empty() && case.gold.program.is_none()),
            &all,
            "with a gold but no program",
            "not judged by program accuracy and program execution; `analyze` finds fewer causes",
        );
        say(
            without(&|case| !case.gold.is_empty() && case.gold.exe_ans.is_none()),
            &all,
            "with a gold but no value (`exe_ans`)",
            "not judged by execution accuracy",
        );
        let needs_answer = noun != "turn";
        say(
            without(&|case| needs_answer && case.gold.answer.is_none() && !case.gold.is_empty()),
            &all,
            "with a gold but no printed `answer`",
            "not judged by exact match and numeric match",
        );
    }
    let only_turns = records
        .iter()
        .filter(|record| record.questions.is_empty())
        .count();
    let only_questions = records
        .iter()
        .filter(|record| record.turns.is_empty())
        .count();
    let is_mixed = !stand_alone.is_empty() && !turns.is_empty();
    if is_mixed {
        say(
            only_turns,
            &all,
            "without a stand-alone question",
            "asked by `--mode conversations` only, and not in an environment",
        );
        say(
            only_questions, &all, "without a conversation", "not asked by `--mode conversations`",
        );
    }
    let doubles = records
        .iter()
        .filter(|record| record.kind == RecordKind::Double);
    let halves = doubles.filter(|record| record.turns.iter().any(|turn| turn.gold.split.is_none()));
    say(
        halves.count(),
        &all,
        "of two questions without `annotation.qa_split`",
        "the halves of the conversation are not told apart",
    );
    lines
}
