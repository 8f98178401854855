//! `compare`: pairs, flips, refusals.

use std::path::Path;

use convfinqa::analysis::{AnalysisError, Answers, Comparison, RunLetter, compare};
use convfinqa::score::Rule;

use super::{convfinqa, csv, stdout};

const HEADER: &str = "id,question,ground_truth,prediction,latency,part,epoch,rounds,cost_usd\n";

/// Ten questions on ten pages; `answers` says which are right.
fn run(folder: &Path, name: &str, answers: &str) -> Answers {
    let rows = answers.chars().enumerate().map(|(at, mark)| {
        let prediction = if mark == '+' { at * 10 } else { at * 10 + 7 };
        let page = "Single_X/2010/page";
        format!(
            "{page}_{at}.pdf-1,what was item {at}?,{},{prediction},{at},qa,0,1,0.5\n",
            at * 10
        )
    });
    let text = HEADER.to_owned() + &rows.collect::<String>();
    Answers::open(&csv(folder, name, &text), None).unwrap()
}

fn by_fe(a: &Answers, b: &Answers) -> Result<Comparison, AnalysisError> {
    compare(a, b, Rule::FinancialEquivalence, false)
}

#[test]
fn pairs_fall_into_four_cells() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a.csv", "+++++-----");
    let b = run(folder.path(), "b.csv", "++-++++--+");
    let comparison = by_fe(&a, &b).unwrap();
    assert!(!comparison.same);
    assert_eq!((comparison.questions, comparison.pages), (10, 10));
    let mut rules = comparison.rules.iter();
    let fe = rules.find(|rule| rule.rule == Rule::FinancialEquivalence);
    let fe = fe.unwrap();
    assert_eq!((fe.both, fe.only_a, fe.only_b, fe.neither), (4, 1, 3, 2));
    assert!((fe.rate_a - 0.5).abs() < 1e-12 && (fe.rate_b - 0.7).abs() < 1e-12);
    assert!((fe.difference - 0.2).abs() < 1e-12);
    // Four flips, one of them A's: 2 (C(4,0) + C(4,1)) / 2^4.
    assert!((fe.p - 0.625).abs() < 1e-12);
    assert!((fe.p_better - 0.3125).abs() < 1e-12);
    assert!(fe.interval.low < 0.2 && fe.interval.high > 0.2);
    let flips: Vec<_> = comparison
        .flips
        .iter()
        .map(|flip| (flip.key.id.as_str(), flip.right))
        .collect();
    assert_eq!(
        flips,
        [
            ("Single_X/2010/page_2.pdf-1", RunLetter::A),
            ("Single_X/2010/page_5.pdf-1", RunLetter::B),
            ("Single_X/2010/page_6.pdf-1", RunLetter::B),
            ("Single_X/2010/page_9.pdf-1", RunLetter::B),
        ]
    );
    let spending = comparison.spending;
    assert_eq!(spending.latency.unwrap().mean_a, 4.5);
    assert_eq!(spending.rounds.unwrap().total_b, 10.0);
    assert_eq!(spending.cost_usd.unwrap().total_b, 5.0);
}

#[test]
fn a_missing_program_on_one_side_is_not_a_failure_at_programs() {
    let folder = tempfile::tempdir().unwrap();
    let header = "id,ground_truth,prediction,part,program,gold_program,exe_ans\n";
    let row = "P,3,3,qa,\"add(1, 2)\",\"add(1, 2)\",3\n";
    let without = "P,3,3,qa,,\"add(1, 2)\",3\n";
    let a = csv(folder.path(), "a.csv", &(header.to_owned() + row));
    let b = csv(folder.path(), "b.csv", &(header.to_owned() + without));
    let (a, b) = (
        Answers::open(&a, None).unwrap(),
        Answers::open(&b, None).unwrap(),
    );
    let judged = |a, b| by_fe(a, b).unwrap().rules.len();
    assert_eq!(judged(&a, &a), 6);
    assert_eq!(judged(&a, &b), 4);
}

#[test]
fn different_questions_are_refused_unless_told() {
    let folder = tempfile::tempdir().unwrap();
    let a = run(folder.path(), "a.csv", "+++++-----");
    let b = run(folder.path(), "b.csv", "+++++--");
    let refused = by_fe(&a, &b).unwrap_err().to_string();
    assert!(
        refused.contains("7 in both, 3 only in A, 0 only in B") && refused.contains("--common"),
        "{refused}"
    );
    let comparison = compare(&a, &b, Rule::FinancialEquivalence, true).unwrap();
    assert_eq!(comparison.questions, 7);
    assert_eq!((comparison.a.left_out, comparison.b.left_out), (3, 0));
    let turn = "id,ground_truth,prediction,part\nSingle_X/2010/page_0.pdf-1,5,5,0\n";
    let turn = Answers::open(&csv(folder.path(), "c.csv", turn), None).unwrap();
    assert!(matches!(
        compare(&a, &turn, Rule::FinancialEquivalence, true),
        Err(AnalysisError::NothingInCommon { .. })
    ));
}

#[test]
fn another_gold_or_question_under_the_same_id_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = |name: &str, question: &str, gold: &str| {
        let text =
            format!("id,question,ground_truth,prediction,part\nP,{question},{gold},14.1,qa\n");
        Answers::open(&csv(folder.path(), name, &text), None).unwrap()
    };
    let a = one("a.csv", "What was the growth?", "14.10%");
    assert!(by_fe(&a, &one("b.csv", "what was the growth", "14.1%")).is_ok());
    for (question, gold) in [
        ("what was the growth", "14.2%"),
        ("what was the growth", "14.1"),
    ] {
        assert!(matches!(
            by_fe(&a, &one("b.csv", question, gold)),
            Err(AnalysisError::DifferentGold { .. })
        ));
    }
    assert!(matches!(
        by_fe(&a, &one("b.csv", "what was the decline?", "14.1%")),
        Err(AnalysisError::DifferentText { .. })
    ));
}

#[test]
fn repetitions_are_paired_by_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let epochs = |name: &str, first: &str, second: &str| {
        let text = format!(
            "id,ground_truth,prediction,part,epoch\nP,10,{first},qa,0\nP,10,{second},qa,1\n"
        );
        Answers::open(&csv(folder.path(), name, &text), None).unwrap()
    };
    let a = epochs("a.csv", "10", "20");
    let comparison = by_fe(&a, &epochs("b.csv", "20", "10")).unwrap();
    let flips: Vec<_> = comparison
        .flips
        .iter()
        .map(|flip| (flip.epoch.as_str(), flip.right))
        .collect();
    assert_eq!(flips, [("0", RunLetter::A), ("1", RunLetter::B)]);
}

/// Five epochs of one flip gave p 0.0625, and an interval as of five questions.
#[test]
fn epochs_of_one_question_are_one_flip() {
    let folder = tempfile::tempdir().unwrap();
    let epochs = |name: &str, answers: [&str; 2]| {
        let mut text = "id,ground_truth,prediction,part,epoch\n".to_owned();
        for epoch in 0..5 {
            for (at, answer) in answers.iter().enumerate() {
                text += &format!("Single_X/2010/page_{at}.pdf-1,10,{answer},qa,{epoch}\n");
            }
        }
        Answers::open(&csv(folder.path(), name, &text), None).unwrap()
    };
    let (a, b) = (epochs("a.csv", ["10", "10"]), epochs("b.csv", ["70", "10"]));
    let comparison = by_fe(&a, &b).unwrap();
    assert_eq!((comparison.questions, comparison.answers), (2, 10));
    let mut rules = comparison.rules.iter();
    let fe = rules.find(|rule| rule.rule == Rule::FinancialEquivalence);
    let fe = fe.unwrap();
    assert_eq!((fe.n, fe.only_a, fe.only_b), (10, 5, 0));
    assert_eq!(fe.questions, 2);
    assert!((fe.p - 1.0).abs() < 1e-12, "{}", fe.p);
    // All of A is right: no more is known of it than from two questions.
    let (low, _) = finqa_core::stats::wilson(1.0, 2.0);
    assert!((fe.interval_a.low - low).abs() < 1e-12);
    let text = convfinqa::output::terminal::comparison_tables(
        &comparison,
        convfinqa::output::terminal::TerminalStyle::default(),
    );
    assert!(
        text.contains("2 questions on 2 pages (10 answers on each side)"),
        "{text}"
    );
}

#[test]
fn answers_without_gold_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let text = "id,prediction,part\nP,10,qa\n";
    let [a, b] = ["a.csv", "b.csv"]
        .map(|name| Answers::open(&csv(folder.path(), name, text), None).unwrap());
    assert!(matches!(
        by_fe(&a, &b),
        Err(AnalysisError::NothingToCompare { questions: 1 })
    ));
}

/// The sample, answered by the embedded analyst, as the program leaves it.
#[test]
fn a_run_is_compared_by_folder_and_by_its_csv() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let ran = convfinqa(&[
        "run",
        "--data-path",
        "sample",
        "--quiet",
        "--output",
        output,
    ]);
    assert!(ran.status.success(), "{ran:?}");
    let run = std::fs::read_dir(folder.path().join("runs")).unwrap();
    let run = run.into_iter().next().unwrap().unwrap().path();
    let summary = std::fs::read(run.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    let critic = &summary["critic"];
    assert_eq!(critic["first_drafts"]["n"], critic["first_draft_n"]);
    assert_eq!(critic["first_drafts"]["hits"], critic["first_draft_hits"]);
    assert_eq!(critic["cost_usd"], "0");
    let run = run.to_str().unwrap();
    let compared = convfinqa(&["compare", output, run, "--json"]);
    assert!(compared.status.success(), "{compared:?}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&compared)).unwrap();
    assert_eq!(json["same"], true);
    assert_eq!(json["flips"], serde_json::json!([]));
    assert_eq!(json["rules"].as_array().unwrap().len(), 6);
    let compared = convfinqa(&["compare", run, run, "--rule", "nm"]);
    let text = stdout(&compared);
    assert!(text.contains("A and B are the same file or run"), "{text}");
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('│')).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn what_is_not_a_run_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let refused = convfinqa(&["compare", path, path]);
    assert_eq!(refused.status.code(), Some(3));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("journal.sqlite") && error.lines().count() == 1);
}

#[test]
fn the_gate_passes_a_better_b_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, answers) in [("a.csv", "++++------"), ("b.csv", "+++++++++-")] {
        run(folder.path(), name, answers);
    }
    let gated = |a: &str, b: &str, gate: &str| {
        let [a, b] = [a, b].map(|name| folder.path().join(name).display().to_string());
        let output = convfinqa(&["compare", &a, &b, gate, "--json"]);
        let told = String::from_utf8(output.stderr.clone()).unwrap();
        (output.status.code().unwrap(), told, stdout(&output))
    };
    // Five flips, all B's: one-sided 1/32.
    let (code, told, shown) = gated("a.csv", "b.csv", "--gate");
    assert_eq!((code, told.as_str()), (0, ""));
    assert!(shown.contains("\"p_better\": 0.03125"), "{shown}");
    let (code, told, shown) = gated("a.csv", "b.csv", "--gate=0.03");
    assert_eq!(code, 6);
    assert!(told.contains("--gate: B is not better than A at level 0.03: financial_equivalence +50.0 points, one-sided p 0.031"), "{told}");
    assert!(shown.contains("\"rules\""), "{shown}");
    assert_eq!(gated("b.csv", "a.csv", "--gate").0, 6);
    let (code, told, _) = gated("a.csv", "b.csv", "--gate=5");
    assert!(code == 2 && told.contains("between 0 and 1"), "{told}");
}
