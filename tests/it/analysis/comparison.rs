//! `compare`: pairs, flips, refusals.

use finqa_journal::answers::open_answers;
use finqa_score::analysis::{AnalysisError, Answers, Comparison, RunLetter, compare};
use finqa_score::score::Rule;

use crate::support::cli::Workplace;

const HEADER: &str = "id,question,ground_truth,prediction,latency,part,epoch,rounds,cost_usd\n";

/// Ten questions on ten pages; `answers` says which are right.
fn run(place: &Workplace, name: &str, answers: &str) -> Answers {
    let rows = answers.chars().enumerate().map(|(at, mark)| {
        let prediction = if mark == '+' { at * 10 } else { at * 10 + 7 };
        let page = "Single_X/2010/page";
        format!(
            "{page}_{at}.pdf-1,what was item {at}?,{},{prediction},{at},qa,0,1,0.5\n",
            at * 10
        )
    });
    let text = HEADER.to_owned() + &rows.collect::<String>();
    opened(place, name, &text)
}

/// The answers of a file with this text.
fn opened(place: &Workplace, name: &str, text: &str) -> Answers {
    open_answers(&place.write(name, text), None).unwrap()
}

fn by_fe<'p>(a: &'p Answers, b: &'p Answers) -> Result<Comparison<'p>, AnalysisError> {
    compare(a, b, Rule::FinancialEquivalence, false)
}

#[test]
fn pairs_fall_into_four_cells() {
    let place = Workplace::new();
    let a = run(&place, "a.csv", "+++++-----");
    let b = run(&place, "b.csv", "++-++++--+");
    let comparison = by_fe(&a, &b).unwrap();
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
    let flips = comparison.flips.iter();
    let flips: Vec<_> = flips
        .map(|flip| (flip.key.id.clone(), flip.right))
        .collect();
    let page = |number: u32| format!("Single_X/2010/page_{number}.pdf-1");
    let (a, b) = (RunLetter::A, RunLetter::B);
    let expected = [(page(2), a), (page(5), b), (page(6), b), (page(9), b)];
    assert_eq!(flips, expected);
    let spending = comparison.spending;
    assert_eq!(spending.latency.unwrap().mean_a, 4.5);
    assert_eq!(spending.rounds.unwrap().total_b, 10.0);
    assert_eq!(spending.cost_usd.unwrap().total_b, 5.0);
}

#[test]
fn a_missing_program_on_one_side_is_not_a_failure_at_programs() {
    let place = Workplace::new();
    let header = "id,ground_truth,prediction,part,program,gold_program,exe_ans\n";
    let row = "P,3,3,qa,\"add(1, 2)\",\"add(1, 2)\",3\n";
    let without = "P,3,3,qa,,\"add(1, 2)\",3\n";
    let a = opened(&place, "a.csv", &(header.to_owned() + row));
    let b = opened(&place, "b.csv", &(header.to_owned() + without));
    let judged = |a, b| by_fe(a, b).unwrap().rules.len();
    assert_eq!(judged(&a, &a), 6);
    assert_eq!(judged(&a, &b), 4);
}

#[test]
fn different_questions_are_refused_unless_told() {
    let place = Workplace::new();
    let a = run(&place, "a.csv", "+++++-----");
    let b = run(&place, "b.csv", "+++++--");
    let refused = by_fe(&a, &b).unwrap_err().to_string();
    let counts = "7 in both, 3 only in A, 0 only in B";
    assert!(refused.contains(counts), "{refused}");
    let comparison = compare(&a, &b, Rule::FinancialEquivalence, true).unwrap();
    assert_eq!(comparison.questions, 7);
    assert_eq!((comparison.a.left_out, comparison.b.left_out), (3, 0));
    let turn = "id,ground_truth,prediction,part\nSingle_X/2010/page_0.pdf-1,5,5,0\n";
    let turn = opened(&place, "c.csv", turn);
    assert!(matches!(
        compare(&a, &turn, Rule::FinancialEquivalence, true),
        Err(AnalysisError::NothingInCommon { .. })
    ));
}

#[test]
fn another_gold_or_question_under_the_same_id_is_refused() {
    let place = Workplace::new();
    let one = |name: &str, question: &str, gold: &str| {
        let text =
            format!("id,question,ground_truth,prediction,part\nP,{question},{gold},14.1,qa\n");
        opened(&place, name, &text)
    };
    let a = one("a.csv", "What was the growth?", "14.10%");
    let same = one("b.csv", "what was the growth", "14.1%");
    assert!(by_fe(&a, &same).is_ok());
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
    let place = Workplace::new();
    let epochs = |name: &str, first: &str, second: &str| {
        let text = format!(
            "id,ground_truth,prediction,part,epoch\nP,10,{first},qa,0\nP,10,{second},qa,1\n"
        );
        opened(&place, name, &text)
    };
    let a = epochs("a.csv", "10", "20");
    let b = epochs("b.csv", "20", "10");
    let comparison = by_fe(&a, &b).unwrap();
    let flips = comparison.flips.iter();
    let flips: Vec<_> = flips
        .map(|flip| (flip.epoch.as_str(), flip.right))
        .collect();
    assert_eq!(flips, [("0", RunLetter::A), ("1", RunLetter::B)]);
}

/// Five epochs of one flip gave p 0.0625, and an interval as of five questions.
#[test]
fn epochs_of_one_question_are_one_flip() {
    let place = Workplace::new();
    let epochs = |name: &str, answers: [&str; 2]| {
        let mut text = "id,ground_truth,prediction,part,epoch\n".to_owned();
        for epoch in 0..5 {
            for (at, answer) in answers.iter().enumerate() {
                text += &format!("Single_X/2010/page_{at}.pdf-1,10,{answer},qa,{epoch}\n");
            }
        }
        opened(&place, name, &text)
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
    let text = finqa_report::output::terminal::comparison_tables(
        &comparison,
        finqa_report::output::terminal::TerminalStyle::default(),
    );
    assert!(
        text.contains("2 questions on 2 pages (10 answers on each side)"),
        "{text}"
    );
}

/// The sample, answered by the embedded analyst, as the program leaves it.
#[test]
fn a_run_is_compared_by_folder_and_by_its_csv() {
    let place = Workplace::new();
    place.answer("");
    let run = place.run_folder();
    let run = run.display();
    let summary = place.summary();
    let critic = &summary["critic"];
    assert_eq!(critic["first_drafts"]["n"], critic["first_draft_n"]);
    assert_eq!(critic["first_drafts"]["hits"], critic["first_draft_hits"]);
    assert_eq!(critic["cost_usd"], "0");
    let compared = place.run(&format!("compare output {run} --json"));
    let json = compared.succeeds().json();
    assert_eq!(json["flips"], serde_json::json!([]));
    assert_eq!(json["rules"].as_array().unwrap().len(), 6);
}

#[test]
fn the_gate_passes_a_better_b_alone() {
    let place = Workplace::new();
    for (name, answers) in [("a.csv", "++++------"), ("b.csv", "+++++++++-")] {
        run(&place, name, answers);
    }
    let gated = |options: &str| place.run(&format!("compare --json {options}"));
    // Five flips, all B's: one-sided 1/32.
    let better = gated("a.csv b.csv --gate");
    assert_eq!(better.succeeds().stderr, "");
    better.prints("\"p_better\": 0.03125");
    let strict = gated("a.csv b.csv --gate=0.03");
    let level = "--gate: B is not better than A at level 0.03:";
    let words = "+50.0 points by FE, one-sided p 0.031";
    strict.fails(6, &[level, words]);
    strict.prints("\"rules\"");
    gated("b.csv a.csv --gate").ends(6);
    gated("a.csv b.csv --gate=5").fails(2, &["between 0 and 1"]);
}

#[test]
fn a_gain_or_a_margin_is_held_by_the_bound_of_b_less_a() {
    let place = Workplace::new();
    // Of 100 questions, A gets 20 right, and B 15 more.
    for (name, right) in [("a.csv", 20), ("b.csv", 35)] {
        let marks = (0..100).map(|at| if at < right { '+' } else { '-' });
        run(&place, name, &marks.collect::<String>());
    }
    let gated = |options: &str| place.run(&format!("compare {options}"));
    let passes = gated("a.csv b.csv --gate --gain 7");
    let found = "--gain: not enough data: B - A is +15.0 points by FE, with 95 % \
                 confidence at least +";
    let bound = found.replace("not enough data: ", "");
    passes.succeeds().tells(&bound).tells(", above +7.0");
    let needed = "questions in all would be needed if that is the true difference (80 % power)";
    gated("a.csv b.csv --gate --gain 13").fails(6, &[found, "not above +13.0; about", needed]);
    let worse = "not above +30.0";
    gated("a.csv b.csv --gate=0.05 --gain 30").fails(6, &["--gain: B - A is", "at most", worse]);
    // The same answers: a loss of 3.1 points would have been seen, one of 1.0 may not.
    gated("a.csv a.csv --gate --margin 3.1").ends(0);
    let equal = "at least -3.0, not above -1.0; about 300 questions in all would be needed if \
                 both are equally good";
    gated("a.csv a.csv --gate --margin 1").fails(6, &["--margin: not enough data", equal]);
    gated("a.csv b.csv --gain 1").ends(2);
    gated("a.csv b.csv --gate --gain 1 --margin 1").ends(2);
    gated("a.csv b.csv --gate --gain=-3").fails(2, &["`-3` is not a number of points"]);
}

/// The verdict was only in the page, and below 35 lines of flips there was none.
#[test]
fn the_terminal_ends_with_one_verdict() {
    let place = Workplace::new();
    for (name, answers) in [
        ("a.csv", "++++++----"),
        ("b.csv", "+++++++---"),
        ("c.csv", "----------"),
    ] {
        run(&place, name, answers);
    }
    let last = |line: &str| {
        let ran = place.run(line);
        let words = ran.succeeds().unwrapped();
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80));
        words[words.find("Verdict: ").unwrap()..].to_owned()
    };
    let verdict = last("compare a.csv b.csv");
    assert_eq!(
        verdict,
        "Verdict: no difference between A and B is shown: +10.0 [0.0, +30.0] points by FE may be \
         chance; 1 answer right on one side only, too few to say how many questions would show it. \
         Latency: median A 4.50 s, B 4.50 s; P95 A 8.55 s, B 8.55 s (n 10). Cost a question: \
         A $0.50000, B $0.50000; in all: A $5.0000, B $5.0000 (n 10)."
    );
    let same = last("compare a.csv a.csv");
    assert!(
        same.starts_with(
            "Verdict: no difference between A and B is shown: 0.0 points by FE; no answer is \
             scored differently, which a difference of up to 30.0 points leaves possible."
        ),
        "{same}"
    );
    run(&place, "d.csv", "+---++++++");
    let many = last("compare a.csv d.csv");
    assert!(many.contains("questions in all would show it"), "{many}");
    let worse = last("compare b.csv c.csv");
    assert!(
        worse.starts_with("Verdict: B is worse than A: -70.0 ["),
        "{worse}"
    );
    let json = place.run("compare b.csv c.csv --json").json();
    assert_eq!(json["verdict"]["shown"], "worse");
    assert_eq!(json["spending"]["latencies"][0]["p50"], 4.5);
}

/// Two tables and 20 flips of each side were about 110 lines.
#[test]
fn a_comparison_of_many_questions_fits_on_a_screen() {
    let place = Workplace::new();
    for (name, step) in [("a.csv", 3), ("b.csv", 2)] {
        let marks = (0..124).map(|at| if at % step == 0 { '+' } else { '-' });
        run(&place, name, &marks.collect::<String>());
    }
    let ran = place.run("compare a.csv b.csv");
    let text = &ran.succeeds().stdout;
    assert!(text.lines().count() <= 40, "{text}");
    ran.prints("\nRight only in A, by financial equiv. (FE): 21\n")
        .prints("\n… and 18 more: --html FILE and --json list them all\n")
        .prints("\n… and 38 more: ");
    let json = place.run("compare a.csv b.csv --json").json();
    assert_eq!(json["flips"].as_array().unwrap().len(), 21 + 41);
}

#[test]
fn no_worse_fails_only_where_b_is_shown_to_be_worse() {
    let place = Workplace::new();
    for (name, answers) in [
        ("a.csv", "+++++++++-"),
        ("b.csv", "++++++++--"),
        ("c.csv", "++++------"),
        ("d.csv", "+++++++++"),
    ] {
        run(&place, name, answers);
    }
    let gated = |options: &str| place.run(&format!("compare {options}"));
    let passes = gated("a.csv b.csv --no-worse --junit gate.xml");
    passes
        .succeeds()
        .tells("B is not shown to be worse than A at level 0.05");
    let junit = place.read("gate.xml");
    assert!(junit.contains("tests=\"1\" failures=\"0\""), "{junit}");
    let worse = "B is worse than A at level 0.05: -50.0 points by FE, one-sided p 0.031";
    gated("a.csv c.csv --no-worse --junit gate.xml").fails(6, &["--no-worse: ", worse]);
    let junit = place.read("gate.xml");
    assert!(
        junit.contains("failures=\"1\"") && junit.contains(worse),
        "{junit}"
    );
    gated("a.csv c.csv --no-worse=0.01").succeeds();
    gated("a.csv c.csv --no-worse --gate").ends(2);
    // Without a gate there is nothing to write, of any number of runs.
    for runs in ["a.csv c.csv", "a.csv b.csv c.csv"] {
        let refused = gated(&format!("{runs} --junit none.xml"));
        refused.ends(2);
        assert_eq!(refused.stdout, "");
    }
    assert!(!place.path("none.xml").exists());
    // A difference that may be chance passes here, and fails where no difference must be shown.
    gated("a.csv b.csv --gate --margin 5 --junit gate.xml").ends(6);
    assert!(place.read("gate.xml").contains("not enough data"));
}

#[test]
fn several_runs_are_one_table_against_the_first() {
    let place = Workplace::new();
    for (name, answers) in [
        ("a.csv", "++++++++--"),
        ("b.csv", "+++++++++-"),
        ("c.csv", "+---------"),
        ("d.csv", "+++++++++"),
    ] {
        run(&place, name, answers);
    }
    let table = place.run("compare a.csv b.csv c.csv");
    let text = &table.succeeds().stdout;
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for words in [
        "A: unknown model; a.csv (10 answers)",
        "A 10 80.0 [",
        "C 10 10.0 [",
        "-70.0 [",
        "0.016*",
        "4.50 8.55",
        "* a difference is shown",
        "No difference between A and B is shown: +10.0",
        "C is worse than A: -70.0",
    ] {
        assert!(table.unwrapped().contains(words), "no {words:?} in {text}");
    }
    let json = place.run("compare a.csv b.csv c.csv --json").json();
    assert_eq!(json["runs"][2]["verdict"]["shown"], "worse");
    assert_eq!(json["runs"][0]["verdict"], serde_json::Value::Null);
    // B has no gold for two answers, which A's rate does not depend on.
    let text = place.read("b.csv");
    let without = text.replace("item 8?,80,", "item 8?,,");
    place.write("e.csv", &without.replace("item 9?,90,", "item 9?,,"));
    for (others, n) in [("e.csv c.csv", [10, 8, 10]), ("c.csv e.csv", [10, 10, 8])] {
        let command = format!("compare a.csv {others} --json");
        let runs = &place.run(&command).json()["runs"];
        let found = [0, 1, 2].map(|at| runs[at]["n"].as_u64());
        assert_eq!(found, n.map(Some));
        assert_eq!(runs[0]["rate"], 0.8);
    }
    // The questions of all are compared, or it is an error.
    place
        .run("compare a.csv b.csv d.csv")
        .fails(3, &["9 in both"]);
    let common = place
        .run("compare a.csv b.csv d.csv --common --json")
        .json();
    assert_eq!(
        (&common["questions"], &common["runs"][0]["left_out"]),
        (&serde_json::json!(9), &serde_json::json!(1))
    );
    place
        .run("compare a.csv b.csv c.csv --gate")
        .fails(2, &["--gate is for two runs"]);
}
